//! A task as clauses, each of which asks for one thing.
//!
//! "then", "after that", full stops and line breaks always divide. "and", "but" and commas may belong to what is to be
//! said, so they divide only where what follows is a command by its own, or where what precedes is one that is
//! complete.

use std::ops::Range;

use super::tokens::{Kind, Token};

/// Most pieces between dividing words; a longer task is better said in several.
pub(super) const MAX_PIECES: usize = 200;

/// One clause: its tokens without courtesies, and whether it is asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Clause {
    pub(super) range: Range<usize>,
    pub(super) asks: bool,
}

/// What a judge thinks of some tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fit {
    /// A command, complete.
    Complete,
    /// A command that ends in words of the person's own.
    Open,
    /// A command with a wrong value.
    Wrong,
    /// None.
    No,
}

/// More pieces than [`MAX_PIECES`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TooMany;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Joint {
    Strong,
    Soft,
}

struct Piece {
    range: Range<usize>,
    /// How it is joined to the piece before.
    joint: Joint,
    asks: bool,
}

/// Courtesies and words of order before a command.
const LEADS: [&[&str]; 41] = [
    &["i", "would", "like", "you", "to"],
    &["i'd", "like", "you", "to"],
    &["i", "want", "you", "to"],
    &["i", "need", "you", "to"],
    &["your", "task", "is", "to"],
    &["would", "you", "mind"],
    &["would", "you"],
    &["could", "you"],
    &["can", "you"],
    &["will", "you"],
    &["you", "should"],
    &["you", "can"],
    &["do", "you", "know"],
    &["go", "ahead", "and"],
    &["and", "then"],
    &["as", "well", "as"],
    &["thank", "you"],
    &["thanks"],
    &["please"],
    &["kindly"],
    &["hey"],
    &["hi"],
    &["hello"],
    &["dear"],
    &["robot"],
    &["emergency"],
    &["let's"],
    &["ok"],
    &["okay"],
    &["now"],
    &["just"],
    &["also"],
    &["and"],
    &["then"],
    &["first"],
    &["firstly"],
    &["next"],
    &["finally"],
    &["lastly"],
    &["afterwards"],
    &[","],
];

/// Courtesies after a command.
const TRAILS: [&[&str]; 9] = [
    &["if", "you", "please"],
    &["thank", "you"],
    &["for", "me"],
    &["right", "now"],
    &["please"],
    &["thanks"],
    &["robot"],
    &["now"],
    &[","],
];

/// Divides the tokens of a task. `judge` says whether some tokens, courtesies aside, are a command.
pub(super) fn clauses(tokens: &[Token], judge: &dyn Fn(&[Token]) -> Fit) -> Result<Vec<Clause>, TooMany> {
    let pieces = pieces(tokens);
    if pieces.len() > MAX_PIECES {
        return Err(TooMany);
    }
    let judged = |range: &Range<usize>| judge(tokens.get(stripped(tokens, range.clone())).unwrap_or_default());
    let mut clauses: Vec<Clause> = Vec::new();
    // What the last clause is, as far as it goes: found out once, since only its end changes.
    let mut last_fit: Option<Fit> = None;
    for piece in pieces {
        if stripped(tokens, piece.range.clone()).is_empty() {
            // A mere courtesy.
            continue;
        }
        let divides = match (piece.joint, clauses.last()) {
            (Joint::Strong, _) | (_, None) => true,
            (Joint::Soft, Some(last)) => {
                let fit = *last_fit.get_or_insert_with(|| judged(&last.range));
                matches!(fit, Fit::Complete | Fit::Wrong) || judged(&piece.range) != Fit::No
            }
        };
        match clauses.last_mut() {
            Some(last) if !divides => {
                last.range.end = piece.range.end;
                last.asks = piece.asks;
                // Text stays text however long it gets; anything else is looked at again.
                last_fit = last_fit.filter(|fit| *fit == Fit::Open);
            }
            _ => {
                clauses.push(Clause { range: piece.range, asks: piece.asks });
                last_fit = None;
            }
        }
    }
    for clause in &mut clauses {
        clause.range = stripped(tokens, clause.range.clone());
    }
    Ok(clauses)
}

/// The tokens without the courtesies before them, and without a "please" after them.
fn stripped(tokens: &[Token], range: Range<usize>) -> Range<usize> {
    let Range { mut start, mut end } = range;
    while let Some(lead) = LEADS.iter().find(|lead| begins_with(tokens.get(start..end), lead)) {
        start += lead.len();
    }
    while end > start + 1 && tokens.get(end - 1).is_some_and(|last| last.is("please") || last.is_mark(",")) {
        end -= 1;
    }
    start..end
}

/// The tokens without the courtesies after them.
pub(super) fn without_trails(tokens: &[Token]) -> &[Token] {
    let mut rest = tokens;
    while let Some(trail) = TRAILS.iter().find(|trail| ends_with(rest, trail) && rest.len() > trail.len()) {
        rest = rest.get(..rest.len() - trail.len()).unwrap_or_default();
    }
    rest
}

fn begins_with(tokens: Option<&[Token]>, words: &[&str]) -> bool {
    tokens.and_then(|tokens| tokens.get(..words.len())).is_some_and(|tokens| same(tokens, words))
}

fn ends_with(tokens: &[Token], words: &[&str]) -> bool {
    let start = tokens.len().checked_sub(words.len());
    start.and_then(|start| tokens.get(start..)).is_some_and(|tokens| same(tokens, words))
}

fn same(tokens: &[Token], words: &[&str]) -> bool {
    tokens.iter().zip(words).all(|(token, word)| token.kind != Kind::Quoted && token.word == *word)
}

/// The stretches between everything that may divide.
fn pieces(tokens: &[Token]) -> Vec<Piece> {
    let mut pieces: Vec<Piece> = Vec::new();
    let mut begin = 0;
    let mut joint = Joint::Strong;
    let mut at = 0;
    while at < tokens.len() {
        let Some((found, length)) = divider(tokens, at, begin) else {
            at += 1;
            continue;
        };
        let asks = tokens.get(at).is_some_and(|token| token.is_mark("?"));
        if at > begin {
            pieces.push(Piece { range: begin..at, joint, asks });
            joint = found;
        } else if found == Joint::Strong {
            joint = Joint::Strong;
        }
        at += length;
        begin = at;
    }
    if begin < tokens.len() {
        pieces.push(Piece { range: begin..tokens.len(), joint, asks: false });
    }
    pieces
}

/// What divides at this token, and how many tokens it takes.
fn divider(tokens: &[Token], at: usize, begin: usize) -> Option<(Joint, usize)> {
    let token = tokens.get(at)?;
    let next = tokens.get(at + 1);
    match (token.kind, token.word.as_str()) {
        // As in `camera.exposure`: no sentence ends in the midst of a name.
        (Kind::Mark, ".") if is_within_a_word(tokens, at) => None,
        (Kind::Mark, "." | ";" | "!" | "?" | "\n") => Some((Joint::Strong, 1)),
        (Kind::Mark, "," | "&") => Some((Joint::Soft, 1)),
        (Kind::Word, "then" | "afterwards") => Some((Joint::Strong, 1)),
        (Kind::Word, "after") if next.is_some_and(|next| next.is("that")) => Some((Joint::Strong, 2)),
        (Kind::Word, "and" | "but") if at > begin => Some((Joint::Soft, 1)),
        _ => None,
    }
}

/// Whether nothing, no space either, is between a mark and the words on both sides of it.
fn is_within_a_word(tokens: &[Token], at: usize) -> bool {
    let (before, mark, after) = (at.checked_sub(1).and_then(|at| tokens.get(at)), tokens.get(at), tokens.get(at + 1));
    let is_word = |token: &&Token| matches!(token.kind, Kind::Word | Kind::Number);
    match (before.filter(is_word), mark, after.filter(is_word)) {
        (Some(before), Some(mark), Some(after)) => before.end == mark.start && mark.end == after.start,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::super::tokens::tokens;
    use super::*;

    /// Commands start with `go`; `say` takes whatever follows.
    fn judge(tokens: &[Token]) -> Fit {
        match tokens.first().map(|first| first.word.as_str()) {
            Some("go") => Fit::Complete,
            Some("say") => Fit::Open,
            _ => Fit::No,
        }
    }

    fn divided(task: &str) -> Vec<String> {
        let tokens = tokens(task).unwrap();
        let words =
            |range: Range<usize>| tokens[range].iter().map(|token| token.word.as_str()).collect::<Vec<_>>().join(" ");
        clauses(&tokens, &judge).unwrap().into_iter().map(|clause| words(clause.range)).collect()
    }

    #[test]
    fn tasks_are_divided_where_commands_begin() {
        for (task, expected) in [
            ("go a, then go b and say hello", &["go a", "go b", "say hello"][..]),
            ("say hello and welcome", &["say hello and welcome"]),
            ("say hello, my friend, and go away", &["say hello , my friend", "go away"]),
            ("please, could you go a and dance", &["go a", "dance"]),
            ("dance and sing", &["dance and sing"]),
            ("go a. After that go b!\nFinally, go c", &["go a", "go b", "go c"]),
            ("say hello then dance", &["say hello", "dance"]),
            ("first go a, next go b, finally go c, please", &["go a", "go b", "go c"]),
            ("I would like you to go a", &["go a"]),
            ("please", &[]),
            (", . ; and then", &[]),
        ] {
            assert_eq!(divided(task), expected, "{task}");
        }
    }
}
