//! Where a condition begins and ends, and what depends on it.

use super::Choice;
use crate::sentence::{self, Word};
use crate::task::Task;

/// A sentence, or a part of one with a condition of its own.
#[derive(Debug, Clone, Copy)]
pub(super) struct Segment<'w> {
    pub(super) words: &'w [Word],
    /// True if a question mark ends it.
    pub(super) asks: bool,
}

/// One way to cut a segment at its condition.
#[derive(Debug, Clone, Copy)]
pub(super) struct Frame<'w> {
    /// What is done before the condition is checked.
    pub(super) before: &'w [Word],
    pub(super) choice: Choice<'w>,
    /// What is done whatever the condition is.
    pub(super) after: Option<&'w [Word]>,
    /// True if the condition stands after what depends on it.
    pub(super) trails: bool,
    /// True if a person has to say whether this is meant.
    pub(super) unclear: bool,
    /// How many segments it takes.
    pub(super) segments: usize,
}

/// The beginning of a condition: where it stands, its words, and whether the opposite is meant.
#[derive(Debug, Clone, Copy)]
struct Opener {
    at: usize,
    length: usize,
    negated: bool,
    may_be_time: bool,
}

impl Task<'_> {
    /// The sentences; a second condition in one begins another segment.
    pub(super) fn segments(&self) -> Vec<Segment<'_>> {
        let mut found = Vec::new();
        let mut start = 0;
        for (at, word) in self.words.iter().enumerate() {
            let glued = word.is_mark(".") && sentence::is_glued(self.reader.text, self.words, at);
            if !glued && [".", ";", "!", "?", "\n"].iter().any(|mark| word.is_mark(mark)) {
                self.cut(self.words.get(start..at).unwrap_or_default(), word.is_mark("?"), &mut found);
                start = at + 1;
            }
        }
        self.cut(self.words.get(start..).unwrap_or_default(), false, &mut found);
        found
    }

    fn cut<'w>(&self, words: &'w [Word], asks: bool, found: &mut Vec<Segment<'w>>) {
        if words.iter().all(Word::is_punctuation) {
            return;
        }
        let openers = self.openers(words);
        let mut start = 0;
        for opener in openers.iter().skip(1) {
            let before = words.get(start..opener.at).unwrap_or_default();
            let trimmed = self.without_joints(before);
            if trimmed.len() < before.len() && !trimmed.is_empty() {
                found.push(Segment { words: trimmed, asks: false });
                start = opener.at;
            }
        }
        found.push(Segment { words: words.get(start..).unwrap_or_default(), asks });
    }

    /// Returns true if a condition begins in the words.
    pub(super) fn opens(&self, words: &[Word]) -> bool {
        !self.openers(words).is_empty()
    }

    /// Returns true if the words depend on a condition that was named before.
    pub(super) fn goes_on(&self, words: &[Word]) -> bool {
        let conditions = &self.reader.language.conditions;
        (0..words.len()).any(|at| words.get(at..).is_some_and(|rest| conditions.so_far(rest) > 0))
            || conditions.so_then.length(self.without_marks(words)) > 0
    }

    /// The beginnings of conditions. "Tell me if" asks, and "if so" goes on.
    fn openers(&self, words: &[Word]) -> Vec<Opener> {
        let language = self.reader.language;
        let conditions = &language.conditions;
        let mut found = Vec::new();
        let mut at = 0;
        let begin = words.iter().take_while(|word| word.is_punctuation()).count();
        while let Some(rest) = words.get(at..).filter(|rest| !rest.is_empty()) {
            let asks = if rest.len() > 1 { language.words.openings.length(rest) } else { 0 };
            let passed = conditions.asks_whether.length(rest).max(if asks > 1 { asks } else { 0 });
            let passed = passed.max(conditions.so_far(rest)).max(conditions.or_not(rest));
            let (plain, negated) = (conditions.opens.length(rest), conditions.opens_negated.length(rest));
            let inverted = if at == begin { conditions.inverted.length(rest) } else { 0 };
            let length = plain.max(negated).max(inverted);
            if passed >= length && passed > 0 {
                at += passed;
            } else if length > 0 {
                let may_be_time = conditions.timed.length(rest) == length;
                found.push(Opener { at, length, negated: negated > plain.max(inverted), may_be_time });
                at += length;
            } else {
                at += 1;
            }
        }
        found
    }

    /// Every way to cut the first segment at its condition, with what goes on with it in the next ones.
    pub(super) fn choices<'w>(&self, segments: &[Segment<'w>]) -> Vec<Frame<'w>> {
        let Some(first) = segments.first() else { return Vec::new() };
        let mut found = Vec::new();
        match self.openers(first.words).as_slice() {
            [] => {
                self.after_question(segments, &mut found);
                self.after_look(segments, &mut found);
            }
            [opener] => self.around(segments, *opener, &mut found),
            _ => {}
        }
        found
    }

    /// "Is the light on? If so, turn it off."
    fn after_question<'w>(&self, segments: &[Segment<'w>], found: &mut Vec<Frame<'w>>) {
        let conditions = &self.reader.language.conditions;
        let [first, second, ..] = segments else { return };
        let rest = self.without_marks(second.words);
        let so = conditions.so_far(rest);
        let then = if first.asks { conditions.so_then.length(rest) } else { 0 };
        let length = so.max(then);
        if length == 0 || !(first.asks || conditions.asks_whether.length(first.words) > 0) {
            return;
        }
        let asked = conditions.asks_whether.length(first.words);
        let condition = first.words.get(asked..).unwrap_or_default();
        let rest = rest.get(length..).unwrap_or_default();
        let (then, otherwise, more) = self.with_otherwise(rest, segments.get(2));
        let choice = Choice { condition, negated: false, may_be_time: false, then, otherwise };
        found.push(Frame { before: &[], choice, after: None, trails: false, unclear: false, segments: 2 + more });
    }

    /// "See if the light is on, and if it is, turn it off"; "see if the gate is open and close it if it is".
    fn after_look<'w>(&self, segments: &[Segment<'w>], found: &mut Vec<Frame<'w>>) {
        let conditions = &self.reader.language.conditions;
        let Some(first) = segments.first() else { return };
        let words = first.words;
        let looks = |at: &usize| words.get(*at..).is_some_and(|rest| conditions.asks_whether.length(rest) > 0);
        let Some(begin) = (0..words.len()).find(looks) else { return };
        let rest = words.get(begin..).unwrap_or_default();
        let rest = rest.get(conditions.asks_whether.length(rest)..).unwrap_or_default();
        let before = self.without_joints(words.get(..begin).unwrap_or_default());
        let so = |at: &usize| rest.get(*at..).is_some_and(|rest| conditions.so_far(rest) > 0);
        let Some(at) = (1..rest.len()).find(so) else { return };
        let length = rest.get(at..).map_or(0, |rest| conditions.so_far(rest));
        let (asked, after) = (rest.get(..at).unwrap_or_default(), rest.get(at + length..).unwrap_or_default());
        if self.is_polite(after) {
            for cut in 1..asked.len() {
                let (condition, then) = asked.split_at(cut);
                if self.without_joints(condition).len() < condition.len() {
                    let condition = self.without_joints(condition);
                    let choice = Choice { condition, negated: false, may_be_time: false, then, otherwise: None };
                    found.push(Frame { before, choice, after: None, trails: false, unclear: false, segments: 1 });
                }
            }
            return;
        }
        let (then, otherwise, more) = self.with_otherwise(after, segments.get(1));
        let choice =
            Choice { condition: self.without_joints(asked), negated: false, may_be_time: false, then, otherwise };
        found.push(Frame { before, choice, after: None, trails: false, unclear: false, segments: 1 + more });
    }

    /// "If it is on, turn it off", "turn it off if it is on".
    fn around<'w>(&self, segments: &[Segment<'w>], opener: Opener, found: &mut Vec<Frame<'w>>) {
        let Some(first) = segments.first() else { return };
        let Opener { at, length, negated, may_be_time } = opener;
        let before = first.words.get(..at).unwrap_or_default();
        let rest = first.words.get(at + length..).unwrap_or_default();
        let (rest, otherwise, more) = self.with_otherwise(rest, segments.get(1));
        let trimmed = self.without_joints(before);
        let is_first = self.is_polite(before);
        let is_linked = trimmed.len() < before.len();
        let links_by_word = before.get(trimmed.len()..).unwrap_or_default().iter().any(|word| !word.is_punctuation());
        let frame =
            |choice| Frame { before: &[], choice, after: None, trails: false, unclear: false, segments: 1 + more };
        if is_first || is_linked {
            let before = if is_first { &[] } else { trimmed };
            for (condition, then) in self.cuts(rest) {
                found.push(Frame { before, ..frame(Choice { condition, negated, may_be_time, then, otherwise }) });
            }
        }
        if is_first || links_by_word {
            return;
        }
        let choice = Choice { condition: rest, negated, may_be_time, then: trimmed, otherwise };
        found.push(Frame { trails: true, ..frame(choice) });
        // "Turn it off if it is on and go to the hall": nobody says whether the drive depends on it.
        if otherwise.is_some() {
            return;
        }
        for cut in 1..rest.len() {
            let (condition, after) = rest.split_at(cut);
            let condition = self.without_joints(condition);
            if condition.len() < cut {
                let choice = Choice { condition, negated, may_be_time, then: trimmed, otherwise: None };
                found.push(Frame { trails: true, after: Some(after), unclear: true, ..frame(choice) });
            }
        }
    }

    /// Every cut between a condition and what depends on it: at a comma, at "then", or before a verb.
    fn cuts<'w>(&self, words: &'w [Word]) -> Vec<(&'w [Word], &'w [Word])> {
        let language = self.reader.language;
        let mut found = Vec::new();
        for at in 1..words.len() {
            let (condition, rest) = words.split_at(at);
            let Some(word) = rest.first() else { break };
            let is_break = word.is_mark(",") || word.is_mark(":");
            let then = language.conditions.thens.length(rest);
            let begins = word.kind == crate::tokens::Kind::Word && {
                let is_verb = !language.verbs(&word.stem).is_empty();
                is_verb || language.leads.iter().any(|(_, lead)| lead.prefix(rest).is_some_and(|length| length > 0))
            };
            if is_break || then > 0 || begins {
                found.push((condition, rest));
            }
            // What stands after a comma belongs to no condition.
            if is_break {
                break;
            }
        }
        found
    }

    /// What depends on a condition, what is done otherwise, and how many more segments that takes.
    fn with_otherwise<'w>(
        &self,
        words: &'w [Word],
        next: Option<&Segment<'w>>,
    ) -> (&'w [Word], Option<&'w [Word]>, usize) {
        let conditions = &self.reader.language.conditions;
        for at in 1..words.len() {
            let (then, rest) = words.split_at(at);
            let length = conditions.or_not(rest);
            if length > 0 {
                return (self.without_joints(then), rest.get(length..), 0);
            }
        }
        let rest = next.map(|next| self.without_marks(next.words)).unwrap_or_default();
        match conditions.or_not(rest) {
            0 => (words, None, 0),
            length => (words, rest.get(length..), 1),
        }
    }

    /// The words without what joins them to those before and after them.
    pub(super) fn trimmed<'w>(&self, words: &'w [Word]) -> &'w [Word] {
        let language = self.reader.language;
        let mut rest = self.without_joints(words);
        loop {
            let mark = usize::from(rest.first().is_some_and(Word::is_punctuation));
            let length = mark.max(language.conditions.thens.length(rest)).max(language.words.joints.length(rest));
            if length == 0 {
                return rest;
            }
            rest = rest.get(length..).unwrap_or_default();
        }
    }

    fn without_marks<'w>(&self, words: &'w [Word]) -> &'w [Word] {
        words.get(words.iter().take_while(|word| word.is_punctuation()).count()..).unwrap_or_default()
    }

    /// The words without joints at their end.
    fn without_joints<'w>(&self, words: &'w [Word]) -> &'w [Word] {
        let language = self.reader.language;
        let mut rest = words;
        loop {
            let mark = usize::from(rest.last().is_some_and(Word::is_punctuation));
            let joint = language.words.joints.length_at_end(rest).max(language.words.sequence.length_at_end(rest));
            let length = mark.max(joint);
            if length == 0 {
                return rest;
            }
            rest = rest.get(..rest.len() - length).unwrap_or_default();
        }
    }

    /// Returns true if the words want nothing done.
    pub(super) fn is_polite(&self, words: &[Word]) -> bool {
        let language = self.reader.language;
        let said: Vec<&Word> = words.iter().filter(|word| !word.is_punctuation()).collect();
        let courtesy = language.frames.courtesies.length(&said) == said.len();
        let opener = language.frames.openers.length(&said) == said.len() || language.empty(words) == words.len();
        said.is_empty() || courtesy || opener
    }
}
