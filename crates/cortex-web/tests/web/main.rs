//! The server as clients meet it: over TCP, before a scripted robot.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests and what supports them"
)]

#[path = "../support/mod.rs"]
mod support;

mod commands;
mod control;
mod first_load;
mod hostile;
mod incident;
mod live;
mod logs;
mod missions;
mod robot;
mod skills;
mod stop;
mod tls;
mod trust;
mod users;
mod webhooks;
