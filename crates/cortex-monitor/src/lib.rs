//! Keeps the components of a robot alive: what is wrong, what is done about it, and what pauses meanwhile.
//!
//! Pure, as the mission machine is: time comes in with each input, what is to be done goes out as [`Effect`]s, the state
//! is `serde`, and the same inputs always give the same effects. So nothing that hangs outside can make it hang.
//!
//! - [`health`]: what can be wrong; [`evidence`]: what is known of one component, and what that says;
//!   [`progress`]: whether it gets on;
//!   [`flap_damping`]: what keeps a flapping one from being trusted;
//! - [`ladder`]: which action comes next; [`restart_rate_limiter`]: what keeps all of them together from doing harm;
//! - [`dependencies`]: who pauses when somebody is lost;
//! - [`machine`]: the whole of it, `(state, input) -> effects`;
//! - [`events`]: what the robot does by itself when something happens;
//! - [`clock`]: why a pause of this process is not taken for the silence of all others.

pub mod clock;
pub mod dependencies;
mod diagnostics;
pub mod events;
pub mod evidence;
pub mod flap_damping;
pub mod health;
pub mod ladder;
pub mod machine;
pub mod progress;
pub mod restart_rate_limiter;
mod sanitize;

pub use health::{Ending, FailureKind, Health, LifecycleState, Severity, Symptom};
pub use machine::{ActionResult, AttemptId, Effect, Input, Monitor, MonitorEvent, ProcessNumber, Transition};
