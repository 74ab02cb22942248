//! A model in a file: the other side of the process, which is a real one and behaves badly (`scripted.sh`).

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test fails by panicking"
)]

mod process;
mod standing_in;
mod support;
