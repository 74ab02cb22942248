//! The command line of `cortex`, and the commands that need no ROS. Nothing here links ROS: the program `cortex` starts, helps,
//! and reads records on a machine that has none.
//!
//! This crate owns all commands with their arguments ([`Arguments`], [`arguments`]), what of them is done without ROS
//! ([`without_ros`]), the way to the program that does the rest ([`ros_program`]), the first look at the environment
//! ([`environment`]), and printing for people ([`printing`], [`visible_text`]).
//!
//! It does not own the commands that talk to a robot or to a running Cortex over ROS (`cortex-commands`), nor `cortex run`
//! (`cortex-on-ros`).
//!
//! Begin with [`without_ros`].

// First: its macros take the place of the standard library's in every module after it.
#[macro_use]
pub mod printing;

pub mod arguments;
mod command;
mod doctor;
mod embedder;
pub mod environment;
mod eval;
mod guard;
mod knowledge;
mod memory;
mod pdf;
pub mod policy_report;
mod progress;
pub mod recipe;
mod recipe_layer;
pub mod ros_program;
mod skill;
mod tape;
mod tape_exchanges;
pub mod visible_text;
mod without_ros;
mod wordings;
mod yes_or_no;

pub use command::{Arguments, Command, StartArguments};
pub use embedder::embedder;
pub use guard::guard;
pub use knowledge::document_store;
pub use without_ros::{Outcome, without_ros};
