//! The commands of `cortex` that talk to a running Cortex, look at the robot, or need neither: everything but `cortex run`.
//!
//! This crate owns one module for each command, their [`arguments`], the connection to a running Cortex, and printing for
//! people ([`printing`]). Each command is a function that takes its arguments, prints its results to standard output, and
//! returns the exit status: 0 success, 1 the task or a check failed, 130 cancelled; an error where it could not be tried.
//!
//! It does not own the list of all commands and their dispatch, which is in the binary (`crates/cortex`), nor the services
//! and topics that commands use, which are in `cortex-ros`.
//!
//! Begin with `send`, the client of a task, and `doctor`.

// First: its macros take the place of the standard library's in every module after it.
#[macro_use]
pub mod printing;

pub mod arguments;
mod call;
mod configuration;
mod connection;
mod doctor;
mod inspect;
mod plan;
mod policy_report;
mod questions;
mod recipe;
mod revise;
mod send;
mod status;
mod stop;
mod stopped;
mod tape;
mod tools;
mod wordings;

pub use call::call;
pub use doctor::doctor;
pub use inspect::inspect;
pub use plan::plan;
pub use questions::{answer, approve, deny, dispute, pending};
pub use recipe::recipe;
pub use revise::revise;
pub use send::send;
pub use status::status;
pub use stop::{resume, stop};
pub use tape::tape;
pub use tools::tools;
pub use wordings::wordings;
