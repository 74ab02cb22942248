//! Sentences that are read as they must be, put off, forbidden, left open, corrected, joined and disturbed: what is done
//! then follows from what they do alone.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, reason = "a test fails by panicking")]

#[path = "support/corpus.rs"]
mod corpus;
#[path = "support/variations.rs"]
mod variations;

use variations::{Kind, vary};

/// At most so many of a thousand do something else. What is left can mean both.
fn at_most(per_thousand: usize, kind: Kind) {
    let mut otherwise: Vec<String> = Vec::new();
    let total = vary(kind, |robot, text, wanted, shown| {
        otherwise.push(format!("[{robot}] {text}\n    wanted: {wanted}\n    reply:  {shown}"));
    });
    println!("{}: {} of {total}", kind.name(), otherwise.len());
    assert!(total > 4000, "{total} variations");
    assert!(otherwise.len() * 1000 <= per_thousand * total, "{total} varied:\n{}", otherwise.join("\n"));
}

#[test]
fn what_is_forbidden_put_off_or_told_of_is_not_done() {
    at_most(1, Kind::Withheld);
}

#[test]
fn one_of_two_is_never_chosen() {
    at_most(0, Kind::Either);
}

#[test]
fn two_orders_are_both_done_in_their_order() {
    at_most(2, Kind::Joined);
}

#[test]
fn what_is_taken_back_is_not_done() {
    at_most(8, Kind::Corrected);
}

#[test]
fn a_word_that_belongs_to_nothing_stops_an_order() {
    at_most(62, Kind::Disturbed);
}
