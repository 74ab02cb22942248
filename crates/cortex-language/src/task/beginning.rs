//! The beginning of a text whose end is not understood: "go to the kitchen, then cheer everybody up".

use super::{Earlier, Joint, Part, Piece, Task, Understanding, read_in, tidy};
use crate::language::Guard;
use crate::languages;
use crate::reading::Reader;
use crate::robot::Robot;
use crate::sentence;
use crate::tokens::{Kind, MAX_TOKENS};

/// The beginning of a text, and the rest of it as written.
#[derive(Debug, Clone, PartialEq)]
pub struct Beginning {
    /// What it asks for first.
    pub parts: Vec<Part>,
    /// What it asks for afterwards.
    pub rest: String,
}

/// Reads as much of a text as comes, by its words, before the rest of it: up to a "then". The rest must be one sentence, and
/// hold nothing that might be about the beginning, such as "unless", "but first", "slowly" or "make sure". None where nothing is
/// left that way.
#[must_use]
pub fn beginning(robot: &Robot, text: &str) -> Option<Beginning> {
    languages::of_text(text).into_iter().find_map(|language| {
        let mut words = sentence::words(text, language).ok().filter(|words| words.len() <= MAX_TOKENS)?;
        tidy(&mut words, robot, language);
        let task = Task { reader: Reader { robot, language, text }, words: &words, earlier: &Earlier::default() };
        let pieces = task.pieces();
        (1..pieces.len()).rev().find_map(|at| {
            let (before, rest) = pieces.split_at(at);
            let end = before.last()?.range.end;
            let start = task.afterwards(end, rest)?;
            let written = task.reader.written(words.get(..end)?);
            match read_in(robot, language, &written, &Earlier::default()).understanding {
                Understanding::Understood(parts) => {
                    Some(Beginning { parts, rest: task.reader.written(words.get(start..)?) })
                }
                _ => None,
            }
        })
    })
}

impl Task<'_> {
    /// Where these pieces, which follow the word `end`, begin after their "then"; None unless they are done after all that
    /// stands before them, and say nothing of it.
    fn afterwards(&self, end: usize, rest: &[Piece]) -> Option<usize> {
        let first = rest.first()?.range.start;
        let afterwards = &self.reader.language.words.afterwards;
        let then = |at: usize| {
            let length = afterwards.length(self.words.get(at..).unwrap_or_default());
            (length > 0).then_some(at + length)
        };
        let start = (end..=first).filter_map(then).next_back()?.max(first);
        let start = start + self.words.get(start..)?.iter().take_while(|word| word.kind == Kind::Mark).count();
        let words = self.words.get(start..)?;
        let goes_on = rest.iter().all(|piece| matches!(piece.joint, Joint::Soft | Joint::Strong));
        let is_one_sentence =
            !words.iter().rev().skip_while(|word| word.kind == Kind::Mark).any(|word| word.kind == Kind::Mark);
        let changes_nothing = self.reader.guarded(words).is_none_or(|(guard, _)| guard == Guard::Reference);
        let (sets, but) = (&self.reader.language.words, &self.reader.language.facts.hints.but);
        let looks_back = |at: usize| sets.looking_back.length(words.get(at..).unwrap_or_default()) > 0;
        let only_afterwards = !(0..words.len()).any(looks_back) && !words.iter().any(|word| but.has(&word.text));
        (goes_on && is_one_sentence && changes_nothing && only_afterwards).then_some(start)
    }
}
