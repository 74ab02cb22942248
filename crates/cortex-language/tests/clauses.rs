//! Several clauses, and the order in which they are done.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, reason = "a test fails by panicking")]

#[path = "support/corpus.rs"]
mod corpus;

use corpus::{robot, shown, tools};
use cortex_language::{Understanding, beginning, understand};

/// The calls that a robot of the corpus makes of a sentence, in short: what is to be asked begins with a question mark.
fn calls(name: &str, text: &str) -> String {
    let tools = tools(name);
    match understand(&robot(&tools), text) {
        Understanding::Understood(parts) => shown(&parts, &tools),
        Understanding::Unsure { offers, .. } => {
            format!("? {}", offers.iter().map(|it| shown(it, &tools)).collect::<Vec<_>>().join(" OR "))
        }
        _ => "refused".to_owned(),
    }
}

const GATE_SHUT: &str = r#"gates-set {"gate":"main_gate","state":"closed"}"#;
const TO_BARN: &str = r#"base-go_to {"place":"barn"}"#;
const COOP_DARK: &str = r#"lights-set {"area":"chicken_coop","state":"off"}"#;

#[test]
fn before_and_after_put_clauses_in_order() {
    let first_gate = format!("{GATE_SHUT} | {TO_BARN}");
    for text in [
        "shut the main gate before you go to the barn",
        "before you go to the barn, shut the main gate",
        "before you go to the barn shut the main gate",
        "just before driving to the barn please shut the main gate",
        "once you've shut the main gate, go to the barn",
        "after you have shut the main gate go to the barn",
        "go to the barn after you've shut the main gate",
        "go to the barn when you are done shutting the main gate",
        "go to the barn once done shutting the main gate",
        "go to the barn, but shut the main gate first",
        "go to the barn, but before that shut the main gate",
    ] {
        assert_eq!(calls("farm", text), first_gate, "{text}");
    }
}

#[test]
fn what_opens_a_sentence_belongs_to_what_follows() {
    let all = format!("{COOP_DARK} | {GATE_SHUT} | {TO_BARN}");
    for text in [
        "turn off the coop light, and before you go to the barn, shut the main gate",
        "turn off the coop light. Before you go to the barn, shut the main gate.",
        "before you go to the barn, turn off the coop light and shut the main gate",
        "turn off the coop light, and once you've shut the main gate, go to the barn",
    ] {
        assert_eq!(calls("farm", text), all, "{text}");
    }
}

#[test]
fn an_order_that_may_be_either_is_asked_about() {
    for text in [
        "go to the barn and turn off the coop light after you've shut the main gate",
        "turn off the coop light, after you've shut the main gate, and go to the barn",
        "before you go to the barn, shut the main gate, then turn off the coop light",
    ] {
        let reply = calls("farm", text);
        assert!(reply.starts_with("? ") && reply.contains(" OR "), "{text}: {reply}");
    }
}

#[test]
fn things_that_say_all_there_is_to_say_are_done() {
    assert_eq!(calls("farm", "coop light off"), COOP_DARK);
    assert_eq!(calls("farm", "main gate shut, then off to the barn"), format!("{GATE_SHUT} | {TO_BARN}"));
    // Which of both is meant to be where is not said.
    assert!(calls("farm", "shut the main gate, barn").starts_with("? "));
}

#[test]
fn waiting_somewhere_corrects_nothing() {
    let honk = r#"horn-honk {} | drive-go_to {"location":"packing"}"#;
    assert_eq!(calls("warehouse", "honk and wait for me at packing"), honk);
}

#[test]
fn a_question_takes_in_no_order() {
    assert_eq!(calls("museum", "see if the gate is open and close it if it is"), "refused");
}

#[test]
fn one_of_a_few_things_is_asked_about() {
    for (name, text, offers) in [
        ("farm", "open the gate", 3),
        ("home", "go to the kitchen or the bedroom", 2),
        ("home", "turn off one of the lights", 6),
        ("hotel", "shut one of the drawers", 4),
        ("lab", "go to the bench", 3),
        ("arm", "pick the mug up", 2),
    ] {
        let reply = calls(name, text);
        assert!(reply.starts_with("? "), "{text}: {reply}");
        assert_eq!(reply.split(" OR ").count(), offers, "{text}: {reply}");
    }
    // Thirteen places are too many to be asked about, and what is not to be done is not offered.
    assert_eq!(calls("hotel", "go to the place"), "refused");
    assert_eq!(calls("farm", "don't open the gate"), "refused");
    assert_eq!(calls("farm", "if it rains shut the gate"), "refused");
}

#[test]
fn what_is_corrected_need_not_be_said_last() {
    assert_eq!(
        calls("farm", "go to the greenhouse and shut the main gate, sorry, I meant the barn"),
        format!("? {TO_BARN} | {GATE_SHUT}")
    );
}

#[test]
fn regression_a_place_that_nobody_named_switched_every_light() {
    for text in ["turn the light in there off", "kill the light there"] {
        assert_eq!(calls("home", text), "? light-turn_off {}");
    }
    let said = calls("home", "go to the kitchen and turn the light in there off");
    assert_eq!(said, r#"base-go_to {"place":"kitchen"} | light-turn_off {"room":"kitchen"}"#);
    assert_eq!(calls("warehouse", "pick up the pallet there"), "? pallet-pick_up {}");
}

/// What is read of the beginning, and the rest.
fn begun(text: &str) -> Option<(String, String)> {
    let tools = tools("farm");
    let begun = beginning(&robot(&tools), text)?;
    Some((shown(&begun.parts, &tools), begun.rest))
}

#[test]
fn the_beginning_is_read_where_the_rest_comes_after_it() {
    let first_gate = format!("{GATE_SHUT} | {TO_BARN}");
    for (text, parts, rest) in [
        ("go to the barn, then cheer everybody up", TO_BARN, "cheer everybody up"),
        ("go to the barn and then compose a haiku about it", TO_BARN, "compose a haiku about it"),
        ("shut the main gate, then go to the barn. Then dance with the hens.", &first_gate, "dance with the hens."),
        (
            "Go to the barn. Afterwards, dance with the hens and then sing.",
            TO_BARN,
            "dance with the hens and then sing.",
        ),
    ] {
        assert_eq!(begun(text), Some((parts.to_owned(), rest.to_owned())), "{text}");
    }
}

#[test]
fn nothing_is_begun_where_the_rest_may_say_something_of_it() {
    for text in [
        "go to the barn unless the hens are asleep",
        "go to the barn, then, if the hens are asleep, come back",
        "go to the barn and cheer everybody up",
        "go to the barn. Tiptoe.",
        "go to the barn, then do not frobnicate",
        "go to the barn, then frobnicate, but shut the main gate first",
        "go to the barn, then frobnicate, but shut the main gate before you do",
        "go to the barn, then no, wait, frobnicate",
        "frobnicate, then go to the barn",
        "go to the barn, then sing. First make sure the way is free.",
        "go to the barn, then sing. Drive slowly.",
        "go to the barn, then sing, drive slowly",
        "go to the barn, then make sure that nobody was in the way",
        "go to the barn, on the way frobnicate",
        "go to the barn when you are done frobnicating",
        "go to the barn once done singing",
        "go to the barn after that song",
        "go to the barn, and finally be careful with the hens",
        "go to the barn, then be careful with the hens",
        "go to the barn, then again the house is nearer",
        "Fahr in die Scheune, wenn du fertig bist mit Tanzen.",
        "Fahr in die Scheune im Anschluss an die Fütterung.",
        "Fahr in die Scheune, und zum Schluss pass auf die Hühner auf.",
        "Fahr in die Scheune, dann bitte rückwärts.",
        "go to the barn, then wait for my sign to do it",
        "Fahr in die Scheune, dann tanz mit den Hühnern. Schließ vorher das Tor.",
        "Fahr in die Scheune, dann frag mich vorher um Erlaubnis.",
        "Fahr in die Scheune, dann tanz, warte zuerst auf mein Zeichen.",
        "Fahr in die Scheune, dann prüfe vor dem Losfahren den Weg.",
        "Fahr in die Scheune, dann tanz, allerdings langsam.",
        "when the hens are asleep go to the barn, then frobnicate tomorrow",
        "go to the barn",
        "cheer everybody up",
        "",
    ] {
        assert_eq!(begun(text), None, "{text}");
    }
}
