//! The programs of the simulation over real ROS.

mod contract;
mod misbehave;
mod navigation;
mod processes;
mod robot;
mod support;
