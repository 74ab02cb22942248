//! The real engine: the program as a process, with a real model (SmolLM2-135M-Instruct) and with tiny ones of random weights that
//! the tests make. `cargo xtask local-model` says where the real one lies.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test fails by panicking"
)]

mod conversations;
mod model_file;
mod program;
mod refusals;
mod shapes;
mod speed;
