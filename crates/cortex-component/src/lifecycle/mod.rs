//! The lifecycle of a managed node (design.ros2.org, "Managed nodes").
//!
//! - [`state`]: the state machine as one table, pure;
//! - `driver`: walks the machine, runs the author's hooks, one transition at a time;
//! - `endpoints`: the standard services and the event topic.

pub(crate) mod driver;
pub(crate) mod endpoints;
pub mod state;

pub use state::{Outcome, State, Transition};
