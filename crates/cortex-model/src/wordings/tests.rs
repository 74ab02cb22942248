use super::*;

const NOW: &str = "2026-11-24T11:20:00Z";

fn accepted(words: &str, means: &str) -> Lesson {
    Lesson::Accepted { words: words.to_owned(), means: means.to_owned(), by: "cli:anna".to_owned() }
}

fn read(text: &str) -> (Wordings, Vec<String>) {
    let (wordings, bad) = Wordings::read(text.as_bytes());
    (wordings, bad.iter().map(ToString::to_string).collect())
}

#[test]
fn what_was_learnt_is_read_again_as_it_was_written() {
    let mut wordings = Wordings::default();
    assert!(wordings.take(&accepted("ring the \"big\" bell", "ring the bell"), NOW));
    assert!(wordings.take(&Lesson::Used { words: "Ring the \"big\" bell!".to_owned() }, NOW));
    let text = String::from_utf8(wordings.written()).unwrap();
    let line = r#"{"words":"ring the \"big\" bell","means":"ring the bell","accepted":"2026-11-24T11:20:00Z","by":"cli:anna","used":1}"#;
    assert_eq!(text, format!("{HEADER}\n{line}\n"));
    assert_eq!(read(&text), (wordings, vec![]));
}

#[test]
fn a_line_that_a_person_has_written_counts() {
    let (wordings, bad) = read(r#"{"words": "Ring it out.", "means": "ring the bell", "accepted": "2026-01-31"}"#);
    assert!(bad.is_empty(), "{bad:?}");
    let known = wordings.find("ring it  out").unwrap();
    assert_eq!(
        (known.means.as_str(), known.day(), known.by.as_str(), known.used),
        ("ring the bell", "2026-01-31", "", 0)
    );
    assert!(wordings.find("ring it").is_none());
}

#[test]
fn bad_lines_are_named_kept_and_not_used() {
    let good = r#"{"words": "ring", "means": "ring the bell", "accepted": "2026-01-31"}"#;
    let long = "x".repeat(MOST_CHARACTERS + 1);
    for (line, says) in [
        ("ring = bell", "line 3: expected value"),
        (r#"{"words": "a", "means": "b"}"#, "missing field `accepted`"),
        (r#"{"words": "a", "means": "b", "accepted": "yesterday"}"#, "'accepted' is no date"),
        (r#"{"words": "a", "means": "b", "accepted": "2026-01-31", "calls": 1}"#, "unknown field `calls`"),
        (r#"{"words": "a", "words": "b", "means": "b", "accepted": "2026-01-31"}"#, "duplicate field"),
        (r#"{"words": "a", "means": "b\u0007", "accepted": "2026-01-31"}"#, "control characters"),
        (r#"{"words": "?", "means": "b", "accepted": "2026-01-31"}"#, "says nothing"),
        (r#"{"words": "a", "means": "b", "accepted": "2026-01-31", "used": -1}"#, "invalid value"),
        (r#"{"words": "RING", "means": "b", "accepted": "2026-01-31"}"#, "line 2 has the same words"),
        (&format!(r#"{{"words": "a", "means": "{long}", "accepted": "2026-01-31"}}"#), "longer than 300"),
    ] {
        let text = format!("# mine\n{good}\n{line}\n\n");
        let (wordings, bad) = read(&text);
        assert_eq!(wordings.len(), 1, "{line}");
        assert!(matches!(bad.as_slice(), [only] if only.starts_with("line 3: ") && only.contains(says)), "{bad:?}");
        assert!(bad[0].contains("fix: "), "{bad:?}");
        let rewritten = String::from_utf8(wordings.written()).unwrap();
        let is_kept = rewritten.starts_with("# mine\n") && rewritten.contains(line);
        assert!(is_kept, "a person may want to correct it: {rewritten}");
    }
    let (wordings, bad) = Wordings::read(b"\xff\xfe\n\0\n");
    assert_eq!((wordings.len(), bad.len(), wordings.written().as_slice()), (0, 2, &b"\xff\xfe\n\0\n"[..]));
}

#[test]
fn the_number_is_bounded_and_the_least_used_makes_room() {
    let line = |number: usize, used: usize| {
        format!(r#"{{"words": "w{number}", "means": "m", "accepted": "2026-01-31", "used": {used}}}"#)
    };
    let lines: Vec<String> = (0..=MAX_WORDINGS).map(|number| line(number, usize::from(number != 7))).collect();
    let (mut wordings, bad) = read(&lines.join("\n"));
    assert_eq!((wordings.len(), bad.len()), (MAX_WORDINGS, 1), "{bad:?}");
    assert!(wordings.take(&accepted("a new one", "m"), NOW));
    assert_eq!(wordings.len(), MAX_WORDINGS);
    assert!(wordings.find("w7").is_none() && wordings.find("w8").is_some() && wordings.find("a new one").is_some());
}

#[test]
fn what_is_disputed_or_forgotten_is_gone_and_what_was_said_last_counts() {
    let mut wordings = Wordings::default();
    wordings.take(&accepted("ring", "ring the bell"), NOW);
    wordings.take(&accepted("ring", "ring the gong"), NOW);
    assert_eq!(wordings.iter().map(|it| it.means.as_str()).collect::<Vec<_>>(), ["ring the gong"]);
    assert!(wordings.take(&Lesson::Disputed { words: "ring".to_owned() }, NOW));
    assert!(wordings.is_empty());
    for unknown in [Lesson::Disputed { words: "ring".to_owned() }, Lesson::Used { words: "ring".to_owned() }] {
        assert!(!wordings.take(&unknown, NOW), "{unknown:?}");
    }
    assert!(!wordings.take(&accepted("ring\u{7}", "m"), NOW), "no file would take it");
}
