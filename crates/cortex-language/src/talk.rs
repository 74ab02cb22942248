//! Talk that asks for no act: greetings, thanks, names, abilities, lists of values.

use std::ops::Range;

use crate::language::Language;
use crate::robot::{self, ParameterKind, Robot};
use crate::sentence::Word;
use crate::tokens::Kind;

/// Most words of a name.
const NAME_WORDS: usize = 3;

/// The subject of talk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Talk {
    /// A greeting.
    Greeting,
    /// Thanks or praise.
    Thanks,
    /// A farewell.
    Goodbye,
    /// The name and nature of the robot.
    Name,
    /// The abilities of the robot.
    Abilities,
    /// What the robot can't do.
    Limits,
    /// That nothing is to be done after all.
    Cancel,
    /// Small talk.
    Smalltalk,
    /// The values of parameters: each the index of a tool and the name of a parameter.
    Values(Vec<(usize, String)>),
}

impl Talk {
    /// Returns true if it is only what people say to each other.
    pub(crate) fn is_courtesy(&self) -> bool {
        matches!(self, Self::Greeting | Self::Thanks | Self::Goodbye | Self::Smalltalk)
    }
}

/// The words as talk, where every one of them belongs to a pattern without a name in it.
pub(crate) fn exact(words: &[Word], robot: &Robot, language: &Language) -> Option<Talk> {
    find(words, robot, language, false)
}

/// The words as talk, where some of them may be a name.
pub(crate) fn loose(words: &[Word], robot: &Robot, language: &Language) -> Option<Talk> {
    find(words, robot, language, true)
}

fn find(words: &[Word], robot: &Robot, language: &Language, with_names: bool) -> Option<Talk> {
    let bare: Vec<&Word> = words.iter().filter(|word| word.kind != Kind::Mark).collect();
    for bare in shortened(&bare, language) {
        for (about, patterns) in &language.talk {
            for pattern in patterns {
                let asked = std::cell::RefCell::new(Vec::new());
                let may_be = |slot: &str, range: Range<usize>| {
                    let words = bare.get(range).unwrap_or_default();
                    match slot {
                        "values" => {
                            let words: Vec<Word> = words.iter().copied().cloned().collect();
                            let values = values(&words, robot, language);
                            let found = !values.is_empty();
                            *asked.borrow_mut() = values;
                            found
                        }
                        "deed" => words.len() <= NAME_WORDS + 1 && words.iter().all(|word| word.kind == Kind::Word),
                        _ => {
                            with_names && words.len() <= NAME_WORDS && words.iter().all(|word| word.kind == Kind::Word)
                        }
                    }
                };
                // Which values the words name is asked last.
                let may_be_values = |slot: &str, range: Range<usize>| slot == "values" || may_be(slot, range);
                if pattern.whole(bare, &may_be_values).is_none() || pattern.whole(bare, &may_be).is_none() {
                    continue;
                }
                return Some(match about.as_str() {
                    "greeting" => Talk::Greeting,
                    "thanks" => Talk::Thanks,
                    "goodbye" => Talk::Goodbye,
                    "name" => Talk::Name,
                    "cancel" => Talk::Cancel,
                    "abilities" => Talk::Abilities,
                    "limits" => Talk::Limits,
                    "values" => {
                        let asked = asked.into_inner();
                        Talk::Values(if asked.is_empty() { places(robot) } else { asked })
                    }
                    _ => Talk::Smalltalk,
                });
            }
        }
    }
    None
}

/// The words, and the words without an address before or after them.
fn shortened<'w, W: AsRef<str>>(words: &'w [W], language: &Language) -> Vec<&'w [W]> {
    let mut several = vec![words];
    let mut rest = words;
    loop {
        let opener = language.frames.openers.length(rest);
        if opener == 0 || opener >= rest.len() {
            break;
        }
        rest = rest.get(opener..).unwrap_or_default();
        several.push(rest);
    }
    for begin in several.clone() {
        let mut rest = begin;
        loop {
            let closer = language.frames.closers.length_at_end(rest);
            if closer == 0 || closer >= rest.len() {
                break;
            }
            rest = rest.get(..rest.len() - closer).unwrap_or_default();
            several.push(rest);
        }
    }
    several
}

/// The parameters with values that the words name: "rooms", "places you can go to".
fn values(words: &[Word], robot: &Robot, language: &Language) -> Vec<(usize, String)> {
    let concepts = robot::concepts_of(words, language);
    // "Which room is this?" asks for one of them.
    if words.iter().any(|word| language.words.starts.has(&word.text)) {
        return Vec::new();
    }
    if concepts.is_empty() || concepts.len() > 3 {
        return Vec::new();
    }
    let mut found = Vec::new();
    let Some(first) = concepts.first() else { return found };
    for (index, tool) in robot.those(&robot.index.with_values(first)) {
        for parameter in &tool.parameters {
            let choices = match &parameter.kind {
                ParameterKind::Choice(choices) => Some(choices),
                ParameterKind::Number(kind) if kind.whole && kind.unit.is_none() && kind.maximum.is_some() => None,
                _ => continue,
            };
            let in_values = |word: &String| choices.is_some_and(|choices| choices.are(word));
            let names = |word: &String| {
                parameter.words.contains(word)
                    || parameter.described.contains(word)
                    || tool.nouns.contains(word)
                    || in_values(word)
            };
            if concepts.iter().all(names) {
                found.push((index, parameter.name.clone()));
            }
        }
    }
    // "Which rooms do you know?", where no parameter calls them so.
    let articles = words.iter().take_while(|word| language.is_article(&word.text)).count();
    let kinds = language.words.place_kinds.length(words.get(articles..).unwrap_or_default()) + articles == words.len();
    if found.is_empty() && kinds { places(robot) } else { found }
}

/// The places to which the robot drives.
fn places(robot: &Robot) -> Vec<(usize, String)> {
    robot
        .those(&robot.index.goes)
        .flat_map(|(index, tool)| {
            let choices = tool.parameters.iter().filter(|it| matches!(it.kind, ParameterKind::Choice(_)));
            choices.map(move |parameter| (index, parameter.name.clone()))
        })
        .collect()
}
