//! German is data: the facts by which it differs from English, each by a sentence.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, reason = "a test fails by panicking")]

#[path = "support/corpus.rs"]
mod corpus;

use cortex_language::{Understanding, understand};

/// The calls that a text asks for, or an empty text where nothing is done at once.
fn read(robot: &str, text: &str) -> String {
    let tools = corpus::tools(robot);
    match understand(&corpus::robot(&tools), text) {
        Understanding::Understood(parts) => corpus::shown(&parts, &tools),
        _ => String::new(),
    }
}

#[test]
fn words_are_put_together_as_in_german() {
    for (robot, text, call) in [
        // A particle at the end, a verb at the end, and one that is joined with "zu".
        ("home", "schalte das Licht im Bad aus", r#"light-turn_off {"room":"bathroom"}"#),
        ("home", "kannst du das Licht im Bad ausschalten?", r#"light-turn_off {"room":"bathroom"}"#),
        ("home", "Wäre es möglich, das Licht im Bad auszuschalten?", r#"light-turn_off {"room":"bathroom"}"#),
        // Words that are joined to one, and umlauts that are written out.
        ("home", "Küchenlicht an", r#"light-turn_on {"room":"kitchen"}"#),
        ("home", "KUECHENLICHT AN", r#"light-turn_on {"room":"kitchen"}"#),
        // Whoever is spoken to.
        ("home", "Fahren Sie bitte ins Bad.", r#"base-go_to {"place":"bathroom"}"#),
        ("home", "fährst du bitte ins Bad?", r#"base-go_to {"place":"bathroom"}"#),
        // Numbers.
        ("hotel", "stell die Helligkeit auf fünfundsiebzig Prozent", r#"display-set_brightness {"brightness_pct":75}"#),
        ("hotel", "öffne die 2. Schublade", r#"drawers-open {"drawer":2}"#),
        ("hotel", "drehe dich um 45,5 Grad nach rechts", r#"base-turn {"angle_deg":-45.5}"#),
        // The order of a text of its own.
        ("home", "sag allen, dass das Essen fertig ist", r#"speaker-say {"text":"das Essen ist fertig"}"#),
    ] {
        assert_eq!(read(robot, text), call, "{text}");
    }
}

#[test]
fn what_is_not_asked_for_is_not_done() {
    for (robot, text) in [
        ("home", "bring mich nicht in die Kueche"),
        ("home", "komm aus der Küche"),
        ("home", "der Roboter schaltet das Licht aus"),
        ("home", "mach Kuchen"),
        ("hotel", "öffne Schublade zweidrei"),
        ("home", "sag allen, dass der Hund den Knochen frisst"),
    ] {
        assert_eq!(read(robot, text), "", "{text}");
    }
}

#[test]
fn a_third_language_is_refused() {
    let robot = corpus::robot(&corpus::tools("home"));
    for text in ["va dans la cuisine et allume la lumière", "ve a la cocina y enciende la luz", "台所へ行って"] {
        assert!(matches!(understand(&robot, text), Understanding::Refused(_)), "{text}");
    }
}

#[test]
fn english_is_read_as_before() {
    assert_eq!(read("home", "turn the light in the kitchen on"), r#"light-turn_on {"room":"kitchen"}"#);
    assert_eq!(read("home", "an office light"), "");
}
