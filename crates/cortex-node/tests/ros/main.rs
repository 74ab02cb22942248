//! Tests on real ROS. Each runs in a process and on a domain of its own: see `cortex_ros_client::testing`.

#[cfg(test)]
mod operators;
