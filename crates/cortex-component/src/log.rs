//! Where a component's log goes.

use cortex_ros_client::arguments::split;
use cortex_ros_client::logging::{self, Logger};

/// Has what the component logs with the crate `tracing` go where logs of ROS nodes go, unless the program logs in another way
/// already. `name` is that of its node.
pub fn log(name: &str) {
    let ros = split(std::env::args_os().map(|argument| argument.to_string_lossy().into_owned())).ros;
    logging::start(Logger { name, is_node: true, default: "info", ros: &ros });
}
