//! The log of Cortex. Results go to standard output.
//!
//! What is logged is chosen by a person ([`cortex_ros_client::logging`]), or else by `log_level` of the configuration, which
//! may be set while Cortex runs; then it counts alone.

use cortex_config::LogLevel;
pub use cortex_ros_client::logging::flush;
use cortex_ros_client::logging::{self, Logger};

/// The name that lines have on standard error.
const NAME: &str = "cortex";

/// The node logs what happens; the other commands only what went wrong. `ros` are the ROS arguments of the process.
pub fn start(is_node: bool, ros: &[String]) {
    logging::start(Logger { name: NAME, is_node, default: if is_node { "info" } else { "error" }, ros });
}

/// Follows the configuration at start, where no person has chosen for this process.
pub fn configure(level: LogLevel) {
    logging::configure(level.name());
}

/// Follows what was set while Cortex runs.
pub fn set(level: LogLevel) {
    logging::set(level.name());
}
