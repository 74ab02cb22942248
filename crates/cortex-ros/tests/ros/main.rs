//! Tests on real ROS, with peers in Python. Each runs in a process and on a domain of its own:
//! see `cortex_ros_client::testing`.

#[cfg(test)]
mod actions;
#[cfg(test)]
mod any_node;
#[cfg(test)]
mod any_robot;
#[cfg(test)]
mod components;
#[cfg(test)]
mod endpoints;
#[cfg(test)]
mod graph;
#[cfg(test)]
mod halts;
#[cfg(test)]
mod inside_stop;
#[cfg(test)]
mod monitoring;
#[cfg(test)]
mod support;
#[cfg(test)]
mod tasks;
#[cfg(test)]
mod watching;
