//! Varies sentences that are read as they must be, and shows what is then done otherwise than the variation says:
//! `cargo run -p cortex-language --example variations -- [KIND]`.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, reason = "a tool for developers")]

#[path = "../tests/support/corpus.rs"]
mod corpus;
#[path = "../tests/support/variations.rs"]
mod variations;

use variations::{Kind, vary};

fn main() {
    let only = std::env::args().nth(1);
    for kind in Kind::ALL {
        if only.as_ref().is_some_and(|only| *only != kind.name()) {
            continue;
        }
        let mut wrong = 0;
        let total = vary(kind, |robot, text, expected, shown| {
            wrong += 1;
            println!("[{robot} {}] {text}\n    wanted: {expected}\n    reply:  {shown}", kind.name());
        });
        println!("{}: {total} varied, {wrong} otherwise", kind.name());
    }
}
