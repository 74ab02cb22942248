//! The commands of `cortex` that need ROS: they talk to a running Cortex or look at the robot. Everything but `cortex run`.
//!
//! This crate owns one module for each command, and the connection to a running Cortex. Each command is a function that takes its arguments, prints its results to standard output, and
//! returns the exit status: 0 success, 1 the task or a check failed, 130 cancelled; an error where it could not be tried.
//!
//! It does not own the command line and what needs no ROS, which are in `cortex-command-line`, nor the dispatch, which is in
//! `cortex-on-ros`, nor the services and topics that commands use, which are in `cortex-ros`.
//!
//! Begin with `send`, the client of a task, and `doctor`.

// Its printing macros take the place of the standard library's.
#[macro_use(print, println, eprint, eprintln)]
extern crate cortex_command_line;

use cortex_command_line::arguments;

mod absence;
mod call;
mod configuration;
mod connection;
mod doctor;
mod inspect;
mod models;
mod plan;
mod questions;
mod recipe;
mod revise;
mod send;
mod status;
mod stop;
mod stopped;
mod tools;
mod visit;

pub use call::call;
pub use doctor::doctor;
pub use inspect::inspect;
pub use models::models;
pub use plan::plan;
pub use questions::{answer, approve, deny, dispute, pending};
pub use recipe::recipe;
pub use revise::revise;
pub use send::send;
pub use status::status;
pub use stop::{resume, stop};
pub use tools::tools;
