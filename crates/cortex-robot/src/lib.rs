//! The robot of this process: its place on the ROS graph, and the robot of a recipe that Cortex itself brings up and keeps
//! alive.
//!
//! [`Robot`] joins and leaves the graph, with everything that looks at it: node, discovery, endpoints, tools. [`supervision`]
//! is where the monitor meets ROS and the missions: it reads the recipe with what it says to Cortex, tells the monitor what
//! ROS shows, does over ROS what the monitor wants done, tells the missions, and is the gate in front of the tools.
//!
//! This crate does not own decisions about failures (`cortex-monitor`), the thread and the processes (`cortex-supervisor`,
//! `cortex-process`), the actions of a recipe as tools (`cortex-custom-actions`), nor its events (`cortex-events`).
//!
//! Begin with [`Robot::discover`], then [`supervision::Supervision`].

mod robot;
pub mod supervision;

pub use robot::{Robot, end_ros, join};
