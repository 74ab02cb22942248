//! How ROS 2 writes names and command lines, for programs that link no ROS.
//!
//! - [`InterfaceName`]: the checked name of a message, service or action, `package/msg/Name`;
//! - [`Convention`]: how messages of a type are written for models and people, as a configuration names it;
//! - [`arguments`]: the part of a command line that belongs to ROS.
//!
//! It does not own the interfaces themselves, which are loaded from an installed ROS (`cortex-interfaces`).

pub mod arguments;
mod convention;
#[cfg(test)]
mod fuzzed;
mod name;

pub use convention::Convention;
pub use name::{InterfaceKind, InterfaceName, InvalidName};
