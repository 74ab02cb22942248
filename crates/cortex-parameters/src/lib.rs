//! The configuration of Cortex as the parameters of its node.
//!
//! This crate owns the choice of those parameters of a node that are meant for Cortex ([`node_parameters`]), and each key as a
//! declared parameter with its bounds and words, and whether it may change while Cortex runs ([`declared`]). It does not own
//! the keys themselves, which are in `cortex-config`.

mod declared;
mod overrides;

pub use declared::declared;
pub use overrides::{AUTOSTART, node_parameters};
