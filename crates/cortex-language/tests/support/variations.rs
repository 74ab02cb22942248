//! Variations of sentences that are read as they must be. What a variation must do follows from what the sentence does,
//! so that nobody has to write it down.
#![allow(dead_code, reason = "each user takes what it needs")]

use cortex_language::{Call, Part, Robot, Understanding, understand};

use crate::corpus::{self, ToolEntry, Verdict, judge, lines, shown};

/// The sets whose sentences are varied.
const SETS: [&str; 6] = ["seen", "former", "more", "later", "tricky", "everyday"];
/// Words for what was said before: what they mean changes with what stands before them.
const REFERRING: [&str; 34] = [
    "it",
    "there",
    "that",
    "this",
    "one",
    "ones",
    "again",
    "back",
    "both",
    "them",
    "same",
    "other",
    "here",
    "too",
    "also",
    "these",
    "those",
    "its",
    "then",
    "first",
    "before",
    "after",
    "once",
    "when",
    "another",
    "rest",
    "all",
    "everything",
    "instead",
    "else",
    "more",
    "no",
    "not",
    "if",
];

/// How a sentence is varied.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Two of them are joined: both are done, in their order.
    Joined,
    /// It is forbidden, put off, doubted or told of: nothing is done.
    Withheld,
    /// A word that belongs to nothing stands in it: nothing is done.
    Disturbed,
    /// One of two is left open: nothing is done.
    Either,
    /// It is taken back or replaced: the second is done, or nothing.
    Corrected,
}

impl Kind {
    pub(crate) const ALL: [Self; 5] = [Self::Joined, Self::Withheld, Self::Disturbed, Self::Either, Self::Corrected];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Joined => "joined",
            Self::Withheld => "withheld",
            Self::Disturbed => "disturbed",
            Self::Either => "either",
            Self::Corrected => "corrected",
        }
    }
}

const JOINTS: [&str; 7] = [
    "{a} and {b}",
    "{a}, then {b}",
    "{a}. {b}.",
    "{a} and then {b}",
    "first {a}, then {b}",
    "{a}, {b}",
    "{a} and after that {b}",
];
const WITHHELD: [&str; 22] = [
    "don't {a}",
    "do not {a}",
    "never {a}",
    "please don't {a}",
    "whatever you do, don't {a}",
    "I didn't say {a}",
    "don't you dare {a}",
    "{a} tomorrow",
    "{a} at seven",
    "{a} in ten minutes",
    "tomorrow {a}",
    "later {a}",
    "{a} if it rains",
    "{a} when Anna comes home",
    "if Anna comes home {a}",
    "unless it is raining {a}",
    "Anna told me to {a}",
    "what would happen if you were to {a}?",
    "how do I {a}?",
    "why did you {a}?",
    "she asked you to {a} yesterday",
    "I wonder whether I should {a}",
];
const STRANGE: [&str; 8] = ["giraffe", "purple", "almost", "tomorrow", "except", "parliament", "sideways", "nobody"];
const EITHER: [&str; 4] = ["{a} or {b}", "either {a} or {b}", "{a}, or maybe {b}", "maybe {a}"];
const CORRECTED: [&str; 5] =
    ["{a}, no, {b}", "{a}. No wait, {b}", "{a} - sorry, I mean {b}", "don't {a}, {b}", "instead of {a}, {b}"];

struct Said {
    text: String,
    calls: Vec<Call>,
    /// True if it hands over words of the person's own.
    is_text: bool,
    refers: bool,
}

fn calls(understanding: &Understanding) -> Option<Vec<Call>> {
    let Understanding::Understood(parts) = understanding else { return None };
    let call = |part: &Part| match part {
        Part::Call { call, .. } => Some(call.clone()),
        _ => None,
    };
    parts.iter().map(call).collect()
}

fn said(robot: &Robot, name: &str, tools: &[ToolEntry]) -> Vec<Said> {
    let mut all: Vec<Said> = Vec::new();
    for set in SETS.iter().filter(|set| corpus::folder().join(name).join(format!("{set}.jsonl")).exists()) {
        for line in lines(name, set).into_iter().filter(|line| line.kind == "command") {
            let understanding = understand(robot, &line.say);
            if judge(&line, &understanding, tools) != Verdict::Right {
                continue;
            }
            let Some(calls) = calls(&understanding) else { continue };
            let text = line.say.trim().trim_end_matches(['.', '!', '?', ' ']).to_owned();
            let words: Vec<String> =
                text.to_lowercase().split(|next: char| !next.is_alphanumeric()).map(str::to_owned).collect();
            let is_text = calls.iter().flat_map(|call| call.arguments.values()).any(|value| {
                value.as_str().is_some_and(|value| {
                    let stands = |tool: &ToolEntry| tool.parameters.to_string().contains(&format!("\"{value}\""));
                    !tools.iter().any(stands)
                })
            });
            let refers = words.iter().any(|word| REFERRING.contains(&word.as_str()));
            let is_plain =
                calls.len() <= 2 && !text.contains(['.', '?', '!', '"', ':', ';', '(', '-']) && words.len() < 14;
            if is_plain {
                all.push(Said { text, calls, is_text, refers });
            }
        }
    }
    all
}

/// A row of numbers that looks like chance and is always the same.
struct Row(u64);

impl Row {
    fn below(&mut self, most: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as usize) % most.max(1)
    }
}

/// Varies the sentences of all robots; tells of each that is done otherwise. Returns how many were varied.
pub(crate) fn vary(kind: Kind, mut otherwise: impl FnMut(&str, &str, &str, &str)) -> usize {
    let mut total = 0;
    let mut row = Row(7);
    for name in corpus::ROBOTS {
        let tools = corpus::tools(name);
        let robot = corpus::robot(&tools);
        let said = said(&robot, name, &tools);
        if said.len() < 2 {
            continue;
        }
        let list = |calls: &[Call]| {
            let parts: Vec<Part> =
                calls.iter().map(|call| Part::Call { call: call.clone(), clause: String::new() }).collect();
            shown(&parts, &tools)
        };
        let mut try_one = |text: String, allowed: &[Vec<Call>]| {
            total += 1;
            let understanding = understand(&robot, &text);
            let acts = |part: &Part| match part {
                Part::Call { call, .. } => tools[call.tool].kind == "act",
                Part::If { .. } | Part::Tell { .. } => true,
                Part::Talk(_) => false,
            };
            if let Understanding::Understood(parts) = &understanding
                && parts.iter().any(acts)
                && !calls(&understanding)
                    .is_some_and(|made| allowed.iter().any(|calls| plainly(calls) == plainly(&made)))
            {
                let wanted: Vec<String> = allowed.iter().map(|calls| list(calls)).collect();
                otherwise(name, &text, &wanted.join(" OR "), &shown(parts, &tools));
            }
        };
        for one in &said {
            let lower = lowered(&one.text);
            let mut other = || -> Option<&Said> {
                (0..20).map(|_| &said[row.below(said.len())]).find(|it| !it.refers && it.calls != one.calls)
            };
            match kind {
                Kind::Joined if !one.is_text => {
                    for joint in JOINTS {
                        let Some(other) = other() else { continue };
                        let all: Vec<Call> = one.calls.iter().chain(&other.calls).cloned().collect();
                        // "Before A, B and C" may do C before A as well.
                        let (first, last) = one.calls.split_at(one.calls.len() - 1);
                        let between = first.iter().chain(&other.calls).chain(last).cloned().collect();
                        let text = joint.replace("{a}", &one.text).replace("{b}", &lowered(&other.text));
                        let is_before =
                            lower.starts_with("before") || lower.contains(" before ") || lower.contains(" after ");
                        try_one(text, &if is_before { vec![all, between] } else { vec![all] });
                    }
                }
                Kind::Withheld if !one.is_text => {
                    for frame in WITHHELD {
                        try_one(frame.replace("{a}", &lower), &[]);
                    }
                }
                Kind::Disturbed if !one.is_text => {
                    let words: Vec<&str> = one.text.split(' ').collect();
                    for at in 1..=words.len() {
                        let strange = STRANGE[(at + one.text.len()) % STRANGE.len()];
                        let mut words = words.clone();
                        words.insert(at, strange);
                        try_one(words.join(" "), &[]);
                    }
                }
                Kind::Either if !one.is_text => {
                    for frame in EITHER {
                        let Some(other) = other() else { continue };
                        try_one(frame.replace("{a}", &one.text).replace("{b}", &lowered(&other.text)), &[]);
                    }
                }
                Kind::Corrected if !one.is_text => {
                    for frame in CORRECTED {
                        let Some(other) = other() else { continue };
                        let text = frame.replace("{a}", &lower).replace("{b}", &lowered(&other.text));
                        try_one(text, std::slice::from_ref(&other.calls));
                    }
                }
                _ => {}
            }
        }
    }
    total
}

/// The calls, with texts without their last mark, and without an order that is given twice in a row.
fn plainly(calls: &[Call]) -> Vec<Call> {
    let mut plain: Vec<Call> = Vec::new();
    for call in calls {
        let mut call = call.clone();
        for value in call.arguments.values_mut() {
            if let Some(text) = value.as_str() {
                *value = text.trim_end_matches(['?', '!', '.']).into();
            }
        }
        if plain.last() != Some(&call) {
            plain.push(call);
        }
    }
    plain
}

fn lowered(text: &str) -> String {
    let mut letters = text.chars();
    match letters.next() {
        Some(first) if letters.clone().next().is_some_and(char::is_lowercase) => {
            first.to_lowercase().chain(letters).collect()
        }
        _ => text.to_owned(),
    }
}
