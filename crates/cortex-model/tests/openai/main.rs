//! The adapter of OpenAI-compatible endpoints against a real server.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test fails by panicking"
)]

mod endpoint;
mod http_server;
mod stream;
