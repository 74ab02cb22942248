//! The programs of the simulation over real ROS.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test whose set-up fails ends here, and says why"
)]

mod contract;
mod misbehave;
mod navigation;
mod processes;
mod robot;
mod support;
