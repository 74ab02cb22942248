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
use crate::robot;
use crate::sentence::Word;
use crate::tokens::Kind;

impl Task<'_> {
    /// Why an order that was read is not given, if the words around it say so.
    pub(super) fn withheld(&self, clauses: &[Taken]) -> Vec<(String, Problem)> {
        let governed = self.governed(clauses);
        let written = |range: Range<usize>| self.reader.written(self.words.get(range).unwrap_or_default());
        let why = |taken: &Taken| {
            let governs = |(range, guard): &&(Range<usize>, Guard)| {
                range.contains(&taken.range.start)
                    || *guard == Guard::Report && taken.range.contains(&range.start) && !self.is_text(taken)
            };
            let (range, guard) = governed.iter().find(governs)?;
            let word = written(range.start..range.start + 1);
            Some((written(taken.range.clone()), Problem::Guarded { guard: *guard, word }))
        };
        clauses.iter().filter(|taken| self.acts(taken) && !self.holds_still(taken)).filter_map(why).collect()
    }

    /// Returns true if something is done for the clause that is more than a look.
    fn acts(&self, taken: &Taken) -> bool {
        let acts = |reading: &Reading| reading.calls.iter().any(|call| !answers(self.reader.robot, call));
        match &taken.meaning {
            Meaning::Read(readings) | Meaning::Announced(readings) => readings.iter().any(acts),
            _ => false,
        }
    }

    fn is_text(&self, taken: &Taken) -> bool {
        match &taken.meaning {
            Meaning::Read(readings) => readings.iter().any(|it| it.is_open() || self.reader.hands_text(it)),
            _ => false,
        }
    }

    /// "Don't move another inch", "do not go faster than 5 km/h": a verb that forbids by itself, or one that stops.
    fn holds_still(&self, taken: &Taken) -> bool {
        let words = self.words.get(taken.range.clone()).unwrap_or_default();
        let core = self.reader.core(words, End::Courtesies).words;
        let hits = robot::hits(core, self.reader.language);
        let lists = &self.reader.language.words;
        let forbids = lists.forbids.length(core).max(lists.contrasts.length(core)) > 0;
        let is_own = |reading: &Reading| {
            let by_verb = hits.iter().any(|hit| Some(&hit.key) == reading.verb.as_ref() && hit.at.first() == Some(&0));
            let stops = reading.verb.as_ref().is_some_and(|key| self.reader.names(key, "stop"));
            stops || forbids && by_verb
        };
        matches!(&taken.meaning, Meaning::Read(readings) if readings.iter().all(is_own))
    }

    /// The stretches of the text in which no order is given.
    fn governed(&self, clauses: &[Taken]) -> Vec<(Range<usize>, Guard)> {
        let ends = |at: &usize| {
            let mark = self.words.get(*at);
            mark.is_some_and(|it| it.kind == Kind::Mark && [".", ";", "!", "?", "\n"].iter().any(|end| it.is_mark(end)))
        };
        let mut found = Vec::new();
        let mut start = 0;
        while start < self.words.len() {
            let end = (start..self.words.len()).find(ends).unwrap_or(self.words.len());
            found.extend(self.governed_in(start..end));
            start = end + 1;
        }
        let texts: Vec<&Taken> = clauses.iter().filter(|taken| self.is_text(taken)).collect();
        found.retain(|(range, _)| !texts.iter().any(|taken| taken.range.contains(&range.start)));
        found
    }

    fn governed_in(&self, sentence: Range<usize>) -> Vec<(Range<usize>, Guard)> {
        let words = self.words.get(sentence.clone()).unwrap_or_default();
        let lists = &self.reader.language.words;
        let rest = |at: usize| words.get(at..).unwrap_or_default();
        let core = self.reader.core(words, End::Kept);
        let begin = core.words.first().and_then(|first| words.iter().position(|word| word.span == first.span));
        let is_mark = |at: usize| words.get(at).is_some_and(|mark| mark.is_mark(",") || mark.is_mark(":"));
        let begins = |at: usize| {
            let is_begin = Some(at) == begin && core.lead != Some(Lead::Place);
            // "..., don't forget to close it" asks for it.
            let is_led = || {
                self.reader.core(rest(at), End::Kept).words.first().map(|it| &it.span)
                    != words.get(at).map(|it| &it.span)
            };
            is_begin || at > 0 && is_mark(at - 1) && !is_led()
        };
        let turns = |at: &usize| lists.turns.length(rest(*at)) > 0;
        let mut found = Vec::new();
        for at in (0..words.len()).filter(|at| begins(*at)) {
            let (forbids, contrasts) = (lists.forbids.length(rest(at)), lists.contrasts.length(rest(at)));
            if forbids > 0 {
                // "Don't go to the hall, go to the kitchen": what is forbidden ends before another order.
                let is_other = |at: &usize| turns(at) || is_mark(at - 1) && self.begins_order(rest(*at));
                let end = (at + forbids..words.len()).find(is_other).unwrap_or(words.len());
                found.push((sentence.start + at..sentence.start + end, Guard::Negation));
            } else if contrasts > 0 {
                let is_other = |at: &usize| turns(at) || is_mark(*at);
                let end = (at + contrasts..words.len()).find(is_other).unwrap_or(words.len());
                found.push((sentence.start + at..sentence.start + end, Guard::Negation));
            }
        }
        if let Some(at) = (begin.unwrap_or(0)..words.len()).find(|at| lists.withholds.length(rest(*at)) > 0) {
            found.push((sentence.start + at..sentence.end, Guard::Report));
        }
        found
    }

    /// Returns true if another order begins here, by its verb or by where to: "..., straight to reception".
    fn begins_order(&self, words: &[Word]) -> bool {
        let joined = self.reader.language.words.joints.length(words) > 0;
        !joined && (self.begins_with_deed(words) || self.reader.core(words, End::Kept).lead == Some(Lead::Place))
    }

    /// A word that leaves open when something is done or which of two things is, outside of texts and of what is only told.
    pub(super) fn left_open(&self, clauses: &[Taken]) -> Option<String> {
        if !clauses.iter().any(|taken| self.acts(taken)) {
            return None;
        }
        let is_told = |taken: &&Taken| matches!(taken.meaning, Meaning::Told);
        let within = |at: usize, those: &[&Taken]| those.iter().any(|taken| taken.range.contains(&at));
        let texts: Vec<&Taken> = clauses.iter().filter(|taken| self.is_text(taken)).collect();
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
        // A mode that is called "daily" is a value.
        let is_value = |at: usize| self.words.get(at..).is_some_and(|rest| self.reader.value_length(rest) > 0);
        let at = (0..self.words.len()).find(|at| !within(*at, &texts) && opens(*at) && !is_value(*at))?;
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
