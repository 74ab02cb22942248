//! A simulated home robot made of real ROS 2 processes.
//!
//! - [`world`]: the home, from a file: rooms, doors, what there is to see; checked; [`moved`]: what people moved since;
//! - [`route`]: the way from where the robot is to a room; [`motion`]: driving it; [`charge`]: the battery. Pure;
//! - [`floor`]: the map; [`pursuit`]: following a path; [`velocity`]: what the wheels make of commands. Pure;
//! - [`picture`]: what a camera sees; [`questions`]: answers about what is seen. Pure;
//! - [`components`]: the parts of the robot, each a ROS 2 node in a process of its own;
//! - [`launch`]: starts, watches and stops those processes; [`child`]: the side of the started process.

pub mod charge;
pub mod child;
pub mod components;
pub mod floor;
pub mod launch;
pub mod motion;
pub mod moved;
pub mod picture;
pub mod pursuit;
pub mod questions;
pub mod route;
pub mod velocity;
pub mod world;
