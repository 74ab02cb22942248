//! Texts that go on with the task before them.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, reason = "a test fails by panicking")]

#[path = "support/corpus.rs"]
mod corpus;

use corpus::shown;
use cortex_language::{Understanding, understand_after};

/// The calls, or "? " and the offers, or the kind of what was understood.
fn after(robot: &str, before: &str, text: &str) -> String {
    let tools = corpus::tools(robot);
    match understand_after(&corpus::robot(&tools), before, text) {
        Understanding::Understood(parts) => shown(&parts, &tools),
        Understanding::Unsure { offers, .. } => {
            format!("? {}", offers.iter().map(|offer| shown(offer, &tools)).collect::<Vec<_>>().join(" OR "))
        }
        _ => "refused".to_owned(),
    }
}

#[test]
fn it_and_there_stand_for_what_the_task_before_named() {
    for (before, text, calls) in [
        ("turn on the kitchen light", "turn it off again", r#"light-turn_off {"room":"kitchen"}"#),
        ("turn on the kitchen light", "and now the bedroom one", r#"light-turn_on {"room":"bedroom"}"#),
        ("go to the kitchen", "turn on the light in there", r#"light-turn_on {"room":"kitchen"}"#),
        ("go to the kitchen", "is the light on there?", r#"light-is_on {"room":"kitchen"}"#),
        ("is the light in the bedroom on?", "turn it on", r#"light-turn_on {"room":"bedroom"}"#),
        ("is the light in the bedroom on?", "and in the kitchen?", r#"light-is_on {"room":"kitchen"}"#),
        ("mach das Licht in der Küche an", "mach es wieder aus", r#"light-turn_off {"room":"kitchen"}"#),
    ] {
        assert_eq!(after("home", before, text), calls, "{text}, after: {before}");
    }
}

#[test]
fn all_of_a_task_is_done_again() {
    for text in ["again", "do it again please", "once more"] {
        let again = after("home", "go to the kitchen and say hi", text);
        assert_eq!(again, r#"base-go_to {"place":"kitchen"} | speaker-say {"text":"hi"}"#, "{text}");
    }
}

#[test]
fn a_place_alone_may_be_for_the_robot_or_for_what_it_did() {
    let bedroom = r#"? light-turn_on {"room":"bedroom"} OR base-go_to {"place":"bedroom"}"#;
    for text in ["and the bedroom", "no, the bedroom", "the bedroom too"] {
        assert_eq!(after("home", "turn on the kitchen light", text), bedroom, "{text}");
    }
    assert_eq!(after("home", "go to the kitchen", "the bedroom"), r#"base-go_to {"place":"bedroom"}"#);
}

#[test]
fn a_text_that_says_everything_means_what_it_says() {
    assert_eq!(after("home", "turn on the kitchen light", "go to the office"), r#"base-go_to {"place":"office"}"#);
    assert_eq!(after("home", "turn on the kitchen light", "thanks"), "Thanks");
    for before in ["turn on the kitchen light", "go to the kitchen", "say hello"] {
        let asked = after("home", before, "is the light in the bedroom on?");
        assert_eq!(asked, r#"light-is_on {"room":"bedroom"}"#, "after: {before}");
        assert_eq!(
            after("home", before, "are any lights on?"),
            r#"light-is_on {"room":"everywhere"}"#,
            "after: {before}"
        );
    }
}

#[test]
fn nothing_is_referred_to_in_a_task_that_was_not_understood() {
    for before in ["dance the tango", "don't turn on the kitchen light", "hello"] {
        assert_eq!(after("home", before, "turn it off again").find("kitchen"), None, "{before}");
    }
    assert_eq!(after("home", "", "again"), "refused");
}
