//! The lifecycle of a managed node (design.ros2.org, "Managed nodes"), for nodes of this process.
//!
//! - [`state`]: the state machine as one table, pure;
//! - [`driver`]: walks the machine, one transition at a time, and has the node do what each one means;
//! - `services`: the standard services and the event topic, so that any manager can drive the node.

pub mod driver;
mod services;
pub mod state;

pub use driver::{Announce, Lifecycle, Managed};
pub use services::{announcer, serve};
pub use state::{Outcome, State, Transition};
