//! All of this crate that touches loaded libraries and the memory of their messages. The only unsafe code.
//!
//! What holds everything up: a [`Layout`](layout::Layout) is made in [`introspection`] only, from the description that
//! the package's own compiler wrote, and checked there; and [`Memory`](memory::Memory) is made in [`memory`] only, zeroed
//! and initialised by the package's own function. From these two come the safe views, [`view`] to read and [`edit`] to
//! write, that the rest of the crate uses. Whether a value is one that a field may have is not decided here.

pub(crate) mod edit;
pub(crate) mod element;
pub(crate) mod handle;
pub(crate) mod introspection;
pub(crate) mod layout;
pub(crate) mod library;
pub(crate) mod memory;
pub(crate) mod serialized;
pub(crate) mod view;
