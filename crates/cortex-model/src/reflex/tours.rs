//! "check each room and tell me what you see": a task that is done at each place that the robot says it can go to.
//!
//! The places are the values that the tool which drives takes, in its order; none is invented. What is done at one place
//! is read for each of them as a task of its own, and the readings must be the same but for the place.

use serde_json::{Map, Value};

use super::clauses::MAX_PIECES;
use super::matching;
use super::reader::{self, Intent, Misread};
use super::slots::{self, ParameterKind};
use super::tokens::{Kind, Token, tokens};
use super::toolbox::Toolbox;

/// What can be meant by "every ...".
const PLACES: [&str; 6] = ["room", "rooms", "place", "places", "location", "locations"];
/// What a patrol goes through, where the places are not named.
const GROUNDS: [&str; 6] = ["house", "home", "building", "flat", "floor", "rooms"];
/// Words before the verb, and around what it is about, that carry nothing.
const CARRY_NOTHING: [&str; 22] = [
    "please", "can", "could", "would", "will", "you", "robot", "kindly", "now", "hey", "hello", "the", "a", "an", "in",
    "into", "to", "at", "of", "around", "through", ",",
];
/// Words after which something is done once, after the tour.
const AFTERWARDS: [&str; 3] = ["then", "afterwards", "finally"];

/// A task that is done at each place.
#[derive(Debug, PartialEq)]
struct Tour<'t> {
    looks: Looks,
    /// What else is done at each place. May be empty.
    there: &'t str,
    /// What is done once, after the tour. May be empty.
    afterwards: &'t str,
}

/// Whether the robot looks around at each place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Looks {
    No,
    IfItCan,
    Yes,
    /// And says what it sees.
    AndTells,
}

/// A drive to one of the places.
struct Drive {
    /// As a person says it.
    said: String,
    /// With what the tool is called.
    arguments: Map<String, Value>,
}

/// What the task asks for, if it is a tour. `None` if it is none, or the robot can't drive anywhere.
pub(super) fn tour(toolbox: &Toolbox<'_>, task: &str) -> Option<Result<Vec<Intent>, Misread>> {
    let tokens = tokens(task).ok()?;
    let tour = read(task, &tokens)?;
    let (tool, drives) = drives(toolbox)?;
    let looks = match tour.looks {
        Looks::No => "",
        Looks::IfItCan if toolbox.looking().is_none() => "",
        Looks::IfItCan | Looks::Yes => "look around",
        Looks::AndTells => "look around and tell me what you see",
    };
    Some(written_out(toolbox, tool, &drives, &[looks, tour.there], tour.afterwards))
}

fn written_out(
    toolbox: &Toolbox<'_>,
    tool: usize,
    drives: &[Drive],
    there: &[&str],
    afterwards: &str,
) -> Result<Vec<Intent>, Misread> {
    let mut intents: Vec<Intent> = Vec::new();
    let mut done_first: Option<Vec<Intent>> = None;
    for Drive { said: place, arguments } in drives {
        let said: Vec<&str> =
            std::iter::once(place.as_str()).chain(there.iter().copied()).filter(|part| !part.is_empty()).collect();
        let read = reader::read_plain(toolbox, &said.join(" and "))?;
        let Some((drive, done)) = read.split_first() else { return Err(Misread::Empty) };
        let is_drive =
            matches!(drive, Intent::Call { tool: called, arguments: with, .. } if *called == tool && with == arguments);
        let is_same = done_first.as_ref().is_none_or(|first| first == done);
        if !is_drive || !is_same {
            // The name of a place that reads as something else.
            return Err(Misread::Empty);
        }
        done_first.get_or_insert_with(|| done.to_vec());
        append(&mut intents, read);
        if intents.len() > MAX_PIECES {
            return Err(Misread::TooLong);
        }
    }
    if !afterwards.is_empty() {
        append(&mut intents, reader::read_plain(toolbox, afterwards)?);
    }
    Ok(intents)
}

/// Appends what was read by itself: what it refers to moves with it.
fn append(intents: &mut Vec<Intent>, read: Vec<Intent>) {
    let before = intents.len();
    intents.extend(read.into_iter().map(|intent| match intent {
        Intent::Tell { tool, parameter, limit, of, clause } => {
            Intent::Tell { tool, parameter, limit, of: of + before, clause }
        }
        other => other,
    }));
}

/// The tool that drives, with what is said and what is called for each of its places.
fn drives(toolbox: &Toolbox<'_>) -> Option<(usize, Vec<Drive>)> {
    toolbox.tools.iter().enumerate().find_map(|(index, tool)| {
        let choices = tool.parameters.iter().filter_map(|parameter| match &parameter.kind {
            ParameterKind::Choice(values) => Some((parameter, values)),
            _ => None,
        });
        let mut drives = choices.map(|(parameter, values)| {
            let drive = |value: &Value| {
                let said = format!("go to {}", slots::spoken(value));
                let call = matching::command(toolbox, &said, &tokens(&said).ok()?).ok()?;
                let is_meant = call.tool == index && call.arguments.get(&parameter.name) == Some(value);
                is_meant.then_some(Drive { said, arguments: call.arguments })
            };
            values.iter().filter_map(drive).collect::<Vec<_>>()
        });
        drives.find(|drives| !drives.is_empty()).map(|drives| (index, drives))
    })
}

/// Reads a task as a tour.
fn read<'t>(task: &'t str, tokens: &[Token]) -> Option<Tour<'t>> {
    let (begin, end) = every_place(tokens)?;
    let verb = telling(tokens.get(..begin)?);
    let mut rest = tokens.get(end..)?;
    let looks = match verb.as_slice() {
        ["go" | "drive" | "move" | "come" | "navigate" | "head" | "travel" | "walk" | "visit"] => Looks::No,
        ["patrol" | "tour" | "survey" | "explore"] => Looks::IfItCan,
        ["check" | "inspect" | "examine" | "look" | "search"] => Looks::Yes,
        ["look" | "search", "for", _, ..] | ["find", _, ..] => Looks::Yes,
        ["tell", "me", "what", "see"] | ["what", "do", "see"] => Looks::AndTells,
        _ => return None,
    };
    // "search every room for the cup"
    if rest.first().is_some_and(|first| first.is("for")) && matches!(verb.as_slice(), ["look" | "search" | "check"]) {
        let end = rest.iter().position(|token| token.kind == Kind::Mark || token.is("and")).unwrap_or(rest.len());
        rest = rest.get(end..)?;
    }
    let after = |token: &Token| AFTERWARDS.iter().any(|word| token.is(word)) || is_end(token);
    let split = rest.iter().position(after).unwrap_or(rest.len());
    let there = joined(rest.get(..split)?)?;
    let afterwards = rest.get(split..)?;
    let skipped = afterwards.iter().take_while(|token| after(token) || token.is_mark(",")).count();
    Some(Tour { looks, there: written(task, there), afterwards: written(task, afterwards.get(skipped..)?) })
}

/// What is said of each place, after "and" or a comma; nothing else may follow the places.
fn joined(tokens: &[Token]) -> Option<&[Token]> {
    let joints = tokens.iter().take_while(|token| token.is("and") || token.is_mark(",")).count();
    (joints > 0 || tokens.is_empty()).then(|| tokens.get(joints..)).flatten()
}

fn is_end(token: &Token) -> bool {
    [".", ";", "!", "?", "\n"].iter().any(|mark| token.is_mark(mark))
}

/// Where the task speaks of every place: from which token to before which.
fn every_place(tokens: &[Token]) -> Option<(usize, usize)> {
    let word =
        |at: usize| tokens.get(at).filter(|token| token.kind == Kind::Word).map_or("", |token| token.word.as_str());
    for at in 0..tokens.len() {
        let length = match (word(at), word(at + 1), word(at + 2), word(at + 3)) {
            ("everywhere", ..) => 1,
            ("every" | "each" | "all", noun, ..) if PLACES.contains(&noun) => 2,
            ("every" | "all", "single" | "the", noun, _) if PLACES.contains(&noun) => 3,
            ("each" | "all", "of", "the", noun) if PLACES.contains(&noun) => 4,
            ("room", "by", "room", _) => 3,
            ("from", "room", "to", "room") => 4,
            ("patrol", "the", ground, _) if GROUNDS.contains(&ground) => return Some((at + 1, at + 3)),
            ("patrol", "", ..) => return Some((at + 1, at + 1)),
            _ => continue,
        };
        return Some((at, at + length));
    }
    None
}

/// The words that carry something.
fn telling(tokens: &[Token]) -> Vec<&str> {
    tokens.iter().map(|token| token.word.as_str()).filter(|word| !CARRY_NOTHING.contains(word)).collect()
}

/// The part of the task that the tokens stand for.
fn written<'t>(task: &'t str, tokens: &[Token]) -> &'t str {
    let span = tokens.first().zip(tokens.last()).and_then(|(first, last)| task.get(first.start..last.end));
    span.unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tour_is_known_by_its_places() {
        let tour = |looks, there, afterwards| Some(Tour { looks, there, afterwards });
        for (task, expected) in [
            ("patrol", tour(Looks::IfItCan, "", "")),
            ("please patrol the house.", tour(Looks::IfItCan, "", "")),
            ("Patrol all rooms, then go to the dock", tour(Looks::IfItCan, "", "go to the dock")),
            ("go to every room and say hello", tour(Looks::No, "say hello", "")),
            ("can you visit all of the rooms?", tour(Looks::No, "", "")),
            ("check each room and tell me what you see", tour(Looks::Yes, "tell me what you see", "")),
            ("look for the red cup in every room", tour(Looks::Yes, "", "")),
            ("search everywhere for the cup, and say hello. Then stop", tour(Looks::Yes, "say hello", "stop")),
            ("tell me what you see in every single room", tour(Looks::AndTells, "", "")),
            ("check every room except the kitchen", None),
            ("don't check every room", None),
            ("close all doors", None),
            ("dance in every room", None),
            ("go to the kitchen", None),
        ] {
            assert_eq!(read(task, &tokens(task).unwrap()), expected, "{task}");
        }
    }
}
