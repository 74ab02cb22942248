//! What a clause refers to instead of saying it: "tell me what you see", "read it out", "report back".

use super::tokens::{Kind, Token};

/// Something to be told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Referent<'t> {
    /// What is seen now.
    Sight,
    /// What was seen.
    PastSight,
    /// The surroundings, which are to be looked at but not spoken of.
    Scene,
    /// What came of the last look or question.
    Last,
    /// The answer to a question.
    Answer(&'t [Token]),
    /// The reading that is named.
    Reading(&'t [Token]),
}

/// A wish to be told something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Wish<'t> {
    pub(super) referent: Referent<'t>,
    /// Whether it is to be spoken, where the robot can speak; else the answer carries it.
    pub(super) aloud: bool,
}

const VERBS: [&str; 10] = ["tell", "say", "report", "describe", "announce", "speak", "explain", "read", "give", "show"];
/// Words between the verb and what is told.
const BETWEEN: [&str; 12] =
    ["me", "us", "everyone", "everybody", "all", "back", "out", "aloud", "loud", "about", "of", "loudly"];
/// What stands for the last result.
const RESULTS: [&str; 8] = ["it", "that", "this", "them", "result", "results", "answer", "findings"];
/// What stands for the surroundings.
const SCENES: [&str; 8] = ["surroundings", "scene", "room", "area", "environment", "view", "here", "everything"];
/// Besides a word for seeing, all that "what you can see around you" may hold.
const SIGHT_WORDS: [&str; 26] = [
    "what",
    "everything",
    "you",
    "can",
    "could",
    "do",
    "did",
    "are",
    "have",
    "there",
    "here",
    "around",
    "is",
    "in",
    "front",
    "of",
    "now",
    "currently",
    "right",
    "the",
    "room",
    "from",
    "your",
    "all",
    "that",
    "surroundings",
];
const FINDING: [&str; 8] = ["find", "found", "notice", "noticed", "spot", "spotted", "seeing", "visible"];
const PAST: [&str; 7] = ["saw", "seen", "found", "noticed", "spotted", "did", "observed"];

/// What is to be told, if the clause is such a wish.
pub(super) fn wish(tokens: &[Token]) -> Option<Wish<'_>> {
    if tokens.iter().any(|token| token.kind == Kind::Quoted) {
        return None;
    }
    let words: Vec<&str> = tokens.iter().map(|token| token.word.as_str()).collect();
    if let Some(referent) = sight(&words).filter(|_| words.first() == Some(&"what")) {
        return Some(Wish { referent, aloud: false });
    }
    let (verb, mut at) = match words.as_slice() {
        ["let", "me" | "us", "know", ..] => ("tell", 3),
        [verb, ..] if VERBS.contains(verb) => (*verb, 1),
        _ => return None,
    };
    let mut to_someone = false;
    while let Some(word) = words.get(at).filter(|word| BETWEEN.contains(word)) {
        to_someone |= matches!(*word, "me" | "us");
        at += 1;
    }
    let mut end = words.len();
    while end > at && words.get(end - 1).is_some_and(|word| matches!(*word, "aloud" | "loud" | "out" | "back" | ",")) {
        end -= 1;
    }
    let object = words.get(at..end)?;
    let bare: Vec<&str> = object.iter().copied().filter(|word| !matches!(*word, "the" | "your" | "a")).collect();
    let aloud = !matches!(verb, "give" | "show");
    let told = |referent| Some(Wish { referent, aloud });
    match bare.as_slice() {
        [] if verb == "describe" => told(Referent::Sight),
        [] if matches!(verb, "tell" | "report") && (to_someone || verb == "report") => told(Referent::Last),
        [word] if RESULTS.contains(word) => told(Referent::Last),
        ["what", "it", "says" | "said" | "is"] => told(Referent::Last),
        [scene] if verb == "describe" && SCENES.contains(scene) => told(Referent::Scene),
        _ => match sight(object) {
            Some(referent) => told(referent),
            None => answer(verb, tokens.get(at..end)?),
        },
    }
}

/// "What you see", in its many forms.
fn sight(words: &[&str]) -> Option<Referent<'static>> {
    let first = words.first()?;
    if !matches!(*first, "what" | "everything" | "all") {
        return None;
    }
    let sees = |word: &str| super::lexicon::canon(word) == "see" || FINDING.contains(&word);
    if !words.iter().all(|word| SIGHT_WORDS.contains(word) || sees(word)) {
        return None;
    }
    let is_there = *first == "what"
        && words.contains(&"is")
        && words.iter().any(|word| matches!(*word, "there" | "around" | "front"));
    if !(words.iter().any(|word| sees(word)) || is_there) {
        return None;
    }
    Some(if words.iter().any(|word| PAST.contains(word)) { Referent::PastSight } else { Referent::Sight })
}

/// "Tell me how full the battery is", "announce the battery level". Told in the answer; spoken only if it is to be said.
fn answer<'t>(verb: &str, tokens: &'t [Token]) -> Option<Wish<'t>> {
    let aloud = matches!(verb, "say" | "speak" | "announce");
    let (first, rest) = tokens.split_first()?;
    let referent = if first.is("whether") || (first.is("if") && !aloud) {
        Referent::Answer(rest)
    } else if super::questions::begins(tokens) {
        Referent::Answer(tokens)
    } else if aloud && (first.is("the") || first.is("your")) {
        Referent::Reading(tokens)
    } else {
        return None;
    };
    (verb != "read").then_some(Wish { referent, aloud })
}

#[cfg(test)]
mod tests {
    use super::super::tokens::tokens;
    use super::*;

    #[test]
    fn wishes_are_told_from_texts_and_commands() {
        for (clause, expected) in [
            ("tell me what you see", Some((Referent::Sight, true))),
            ("describe what you can see around you", Some((Referent::Sight, true))),
            ("say what you saw", Some((Referent::PastSight, true))),
            ("tell me what is in front of you", Some((Referent::Sight, true))),
            ("what do you see", Some((Referent::Sight, false))),
            ("show me what you see", Some((Referent::Sight, false))),
            ("describe it", Some((Referent::Last, true))),
            ("read it out loud", Some((Referent::Last, true))),
            ("report back", Some((Referent::Last, true))),
            ("tell me", Some((Referent::Last, true))),
            ("tell me the result", Some((Referent::Last, true))),
            ("describe the surroundings", Some((Referent::Scene, true))),
            ("say hello", None),
            ("tell me a joke", None),
            ("say \"what you see\"", None),
            ("read the label", None),
            ("tell", None),
            ("say if I am late", None),
            ("what is love", None),
        ] {
            let tokens = tokens(clause).unwrap();
            assert_eq!(wish(&tokens).map(|wish| (wish.referent, wish.aloud)), expected, "{clause}");
        }
        let question = tokens("tell me how full the battery is").unwrap();
        let Some(Wish { referent: Referent::Answer(rest), aloud: false }) = wish(&question) else {
            panic!("{:?}", wish(&question))
        };
        assert_eq!(rest.first().map(|token| token.word.as_str()), Some("how"));
    }
}
