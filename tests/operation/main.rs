//! Cortex as its operators meet it: the command line, launch files, the lifecycle, the log and the status.

mod command_line;
mod demo;
mod documents;
mod identity;
mod launch_files;
mod logs;
mod managed_node;
mod memory;
mod skills;
mod status;
