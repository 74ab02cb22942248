//! What is said of an order without giving it: "don't drive to A and then B", "why did you stop and turn?", "Anna told me
//! to close the gate".
//!
//! Words that withhold an order hold for the whole sentence that they begin, whatever is joined or corrected in it. What
//! they govern is never done, however well it is read.

use std::ops::Range;

use super::{Meaning, Taken, Task, answers};
use crate::language::{Guard, Lead};
use crate::problem::Problem;
use crate::reading::{End, Reading};
use crate::tokens::Kind;

/// In the first words of a sentence stands what withholds it: "my mother in law told me to ...".
const WITHHELD_WITHIN: usize = 6;

impl Task<'_> {
    /// Why an order that was read is not given, if the words before it say so.
    pub(super) fn withheld(&self, clauses: &[Taken]) -> Vec<(String, Problem)> {
        let governed = self.governed();
        let mut problems: Vec<(String, Problem)> = Vec::new();
        for taken in clauses.iter().filter(|taken| self.acts(taken)) {
            if let Some((range, guard)) = governed.iter().find(|(range, _)| range.contains(&taken.range.start)) {
                let written = |range: Range<usize>| self.reader.written(self.words.get(range).unwrap_or_default());
                let word = written(range.start..range.start + 1);
                problems.push((written(taken.range.clone()), Problem::Guarded { guard: *guard, word }));
            }
        }
        problems
    }

    /// Returns true if something is done for the clause that is more than a look.
    fn acts(&self, taken: &Taken) -> bool {
        let acts = |reading: &Reading| reading.calls.iter().any(|call| !answers(self.reader.robot, call));
        match &taken.meaning {
            Meaning::Read(readings) | Meaning::Announced(readings) => readings.iter().any(acts),
            _ => false,
        }
    }

    /// The stretches of the text in which no order is given.
    fn governed(&self) -> Vec<(Range<usize>, Guard)> {
        let ends = |at: &usize| {
            let mark = self.words.get(*at);
            mark.is_some_and(|mark| {
                mark.kind == Kind::Mark && [".", ";", "!", "?", "\n"].iter().any(|it| mark.is_mark(it))
            })
        };
        let mut found = Vec::new();
        let mut start = 0;
        while start < self.words.len() {
            let end = (start..self.words.len()).find(ends).unwrap_or(self.words.len());
            found.extend(self.governed_in(start..end));
            start = end + 1;
        }
        found
    }

    fn governed_in(&self, sentence: Range<usize>) -> Option<(Range<usize>, Guard)> {
        let words = self.words.get(sentence.clone())?;
        let lists = &self.reader.language.words;
        let core = self.reader.core(words, End::Kept);
        let begin = core.words.first().and_then(|first| words.iter().position(|word| word.span == first.span))?;
        let rest = |at: usize| words.get(at..).unwrap_or_default();
        let begins = |at: &usize| *at == begin || words.get(at - 1).is_some_and(|mark| mark.is_mark(","));
        let forbidden = (begin..words.len()).filter(begins).find(|at| lists.forbids.length(rest(*at)) > 0);
        if let Some(begin) = forbidden.filter(|_| core.lead != Some(Lead::Place)) {
            let forbids = lists.forbids.length(rest(begin));
            // "Don't go to the hall, go to the kitchen": what is forbidden ends before another order.
            let after = |at: &usize| {
                let mark = words.get(at - 1).is_some_and(|mark| mark.is_mark(","));
                let turns = self.reader.language.words.turns.length(rest(*at)) > 0;
                turns || mark && self.begins_with_deed(rest(*at)) && lists.joints.length(rest(*at)) == 0
            };
            let end = (begin + forbids..words.len()).find(after).unwrap_or(words.len());
            return Some((sentence.start + begin..sentence.start + end, Guard::Negation));
        }
        let reach = if core.lead.is_some() { begin + 1 } else { WITHHELD_WITHIN };
        let from = if core.lead.is_some() { begin } else { 0 };
        let at = (from..reach.min(words.len())).find(|at| lists.withholds.length(rest(*at)) > 0)?;
        Some((sentence.start + at..sentence.end, Guard::Report))
    }

    /// A word that leaves open when something is done or which of two things is, outside of texts and of what is only told.
    pub(super) fn left_open(&self, clauses: &[Taken]) -> Option<String> {
        if !clauses.iter().any(|taken| self.acts(taken)) {
            return None;
        }
        let passes = |taken: &&Taken| match &taken.meaning {
            Meaning::Read(readings) => readings.iter().any(|it| it.is_open() || self.reader.hands_text(it)),
            _ => false,
        };
        let is_told = |taken: &&Taken| matches!(taken.meaning, Meaning::Told);
        let within = |at: usize, those: &[&Taken]| those.iter().any(|taken| taken.range.contains(&at));
        let texts: Vec<&Taken> = clauses.iter().filter(passes).collect();
        let told: Vec<&Taken> = clauses.iter().filter(is_told).collect();
        let language = self.reader.language;
        let opens = |at: usize| {
            let rest = self.words.get(at..).unwrap_or_default();
            let length = language.words.eithers.length(rest);
            let is_other = || language.frames.corrections.length(rest) > length || language.empty(rest) > length;
            let is_closer = || {
                let after = (length..=rest.len().min(4)).rev();
                after.into_iter().any(|end| rest.get(..end).is_some_and(|it| language.frames.closers.length(it) == end))
            };
            let is_either = length > 0 && !is_other() && !is_closer();
            is_either || language.words.timings.length(rest) > 0 && !within(at, &told) && !self.is_in_courtesy(at)
        };
        let at = (0..self.words.len()).find(|at| !within(*at, &texts) && opens(*at))?;
        Some(self.reader.written(self.words.get(at..=at)?))
    }

    /// "As soon as you can" says nothing of when.
    fn is_in_courtesy(&self, at: usize) -> bool {
        let frames = &self.reader.language.frames;
        (at.saturating_sub(3)..=at).any(|from| {
            let lengths = 1..=6;
            lengths.rev().filter(|length| from + length > at).any(|length| {
                self.words.get(from..from + length).is_some_and(|it| {
                    frames.closers.length(it) == length
                        || frames.courtesies.length(it) == length
                        || frames.openers.length(it) == length
                })
            })
        })
    }
}
