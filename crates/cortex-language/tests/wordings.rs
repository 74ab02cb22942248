//! The form in which words are known again.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, reason = "a test fails by panicking")]

#[path = "support/corpus.rs"]
mod corpus;

use cortex_language::wording;

fn known_as(robot: &str, text: &str) -> Option<String> {
    wording(&corpus::robot(&corpus::tools(robot)), text)
}

#[test]
fn case_courtesies_and_slips_make_no_other_wording() {
    for (robot, said, words) in [
        ("hotel", "scan the tag on the bag", "scan the tag on the bag"),
        ("hotel", "Could you please scan the tag on the bag?", "scan the tag on the bag"),
        ("hotel", "SCAN THE TAG ON THE BAG, thanks!", "scan the tag on the bag"),
        ("hotel", "scan the tag on teh bag", "scan the tag on the bag"),
        ("home", "don't paint the kitchn", "do not paint the kitchen"),
        ("home", "say \"Merry Christmas\" nicely", "say \"Merry Christmas\" nicely"),
        ("warehouse", "get the dock doors 2 and 4 moving", "get the dock doors 2 and 4 moving"),
        ("home", "Bitte die Küche hell machen!", "die kueche hell machen"),
    ] {
        assert_eq!(known_as(robot, said).as_deref(), Some(words), "{said}");
    }
}

#[test]
fn another_value_or_another_word_is_another_wording() {
    for (robot, one, other) in [
        ("home", "get the kitchen light going", "get the bedroom light going"),
        ("hotel", "screen to 40 percent", "screen to 50 percent"),
        ("hotel", "the top floor", "the floor"),
        ("home", "say \"hello\" nicely", "say \"Hello\" nicely"),
        ("home", "get the light off", "get the light on"),
    ] {
        assert_ne!(known_as(robot, one), known_as(robot, other), "{one} / {other}");
    }
}

#[test]
fn what_means_something_else_another_time_is_no_wording() {
    for (robot, said) in [
        ("home", "get over there"),
        ("hotel", "take it up to the lobby"),
        ("hotel", "scan the tag on this bag"),
        ("hotel", "the other drawer"),
        ("home", "back to where you were"),
        ("home", "bring my mug to the kitchen"),
        ("home", "the usual light"),
        ("home", "light up the next room"),
        ("home", "mach das an"),
        ("home", "fahr wieder dorthin"),
        ("home", "please"),
        ("home", ""),
    ] {
        assert_eq!(known_as(robot, said), None, "{said}");
    }
}

#[test]
fn courtesies_that_hold_a_speaker_are_taken_off_first() {
    let said = "I'd like you to get the kitchen light going for me";
    assert_eq!(known_as("home", said).as_deref(), Some("get the kitchen light going"));
}
