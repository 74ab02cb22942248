//! The types of messages, services and actions of the packages that Cortex builds with: `std_msgs::msg::String`.
//!
//! Types of more packages are in the crate `r2r`, of the version that this one is built with, and fit here, too.

pub use r2r::{
    action_msgs, builtin_interfaces, cortex_msgs, diagnostic_msgs, geometry_msgs, lifecycle_msgs, nav_msgs,
    rcl_interfaces, rosgraph_msgs, sensor_msgs, std_msgs, std_srvs, unique_identifier_msgs,
};
