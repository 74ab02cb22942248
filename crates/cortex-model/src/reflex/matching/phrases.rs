//! The clause as one of the tool's own sentences: `go to {place}`.

use serde_json::{Value, json};

use super::clause::{Attempt, Clause, Draft, Miss};
use super::values::BEFORE_NUMBERS;
use super::{Source, guarded};
use crate::reflex::numbers;
use crate::reflex::problem::Problem;
use crate::reflex::slots::{self, NumberKind, Parameter, ParameterKind};
use crate::reflex::tokens::Kind;
use crate::reflex::toolbox::Piece;

/// So many words of its own a pattern must have before a place where a name needs no quotation marks.
const WORDS_BEFORE_NAMES: usize = 2;

impl Clause<'_, '_> {
    /// The clause as one of the tool's own sentences.
    pub(super) fn by_phrase(&self, phrase: &[Piece]) -> Attempt {
        let mut draft = self.draft();
        let mut at = 0;
        for (position, piece) in phrase.iter().enumerate() {
            match piece {
                Piece::Word(word) => {
                    while self.token(at).is_some_and(|token| token.is_filler() && token.canon != *word) {
                        at += 1;
                    }
                    self.token(at).filter(|token| token.kind != Kind::Quoted && token.canon == *word)?;
                    draft.matched += 1;
                    self.mark(&mut draft, at, at + 1);
                    at += 1;
                }
                Piece::Slot(slot) => match self.slot(&mut draft, *slot, at, phrase.get(position + 1..)?)? {
                    Ok(after) => at = after,
                    Err(miss) => return Some(Err(miss)),
                },
            }
        }
        Some(self.finish(draft, Source::Phrase))
    }

    /// Fills one place of a pattern from the tokens at `at`; returns where the next piece begins.
    pub(super) fn slot(
        &self,
        draft: &mut Draft,
        slot: usize,
        at: usize,
        following: &[Piece],
    ) -> Option<Result<usize, Miss>> {
        let parameter = self.parameter(slot)?;
        let begin = if self.tool.speech == Some(slot) { at } else { self.skip_fillers(at) };
        let said_before = draft.matched > 0;
        if begin >= self.tokens.len() {
            return said_before.then(|| Err(self.missing(draft.matched, parameter)));
        }
        let rest = self.tokens.get(begin..)?;
        let filled = match &parameter.kind {
            ParameterKind::Choice(values) => match slots::read_choice(values, rest) {
                Some((value, length)) => Ok((value.clone(), begin + length)),
                None => {
                    let end = match following.first() {
                        // Without what follows in the pattern, the clause does not follow it at all.
                        Some(Piece::Word(word)) => begin + rest.iter().position(|token| token.canon == *word)?,
                        Some(Piece::Slot(_)) | None => self.tokens.len(),
                    };
                    Err(self.unknown_value(draft.matched, parameter, values, begin, end))
                }
            },
            ParameterKind::Number(kind) => {
                let before = rest.first().filter(|first| BEFORE_NUMBERS.contains(&first.word.as_str()));
                let begin = begin + usize::from(before.is_some());
                let said = numbers::read(self.tokens.get(begin..)?)?;
                match kind.take(&said) {
                    Ok(value) => Ok((value, begin + said.length)),
                    Err(mismatch) => Err(self.mismatch(draft.matched, parameter, mismatch, begin, said.length)),
                }
            }
            ParameterKind::Flag => Ok((json!(slots::read_flag(rest.first()?)?), begin + 1)),
            ParameterKind::Text(limit) => {
                let end = match following.first() {
                    None => self.tokens.len(),
                    Some(Piece::Word(word)) => match self.next_word(word, begin) {
                        Some(end) => end,
                        None => return self.breaks_off(draft, following),
                    },
                    Some(Piece::Slot(_)) => return None,
                };
                if end == begin {
                    return said_before.then(|| Err(self.missing(draft.matched, parameter)));
                }
                draft.has_text |= !matches!(rest, [only] if only.kind == Kind::Quoted);
                let colon = usize::from(self.token(begin).is_some_and(|next| next.is_mark(":")) && begin + 1 < end);
                let begin = if self.tool.speech == Some(slot) { begin } else { begin + colon };
                let verb = self.skip_fillers(0);
                // Where the words of the pattern stand before it, one word that belongs together can only be a name.
                let is_name = draft.matched >= WORDS_BEFORE_NAMES && self.is_one_word(begin, end);
                if self.tool.speech != Some(slot) && !is_name && !self.hands_over_text(verb, begin, end) {
                    return Some(Err(Miss::new(draft.matched + 2, Problem::TextNotMarked)));
                }
                self.free_text(slot, *limit, begin, end)
                    .map_err(|problem| Miss::new(draft.matched + 2, problem))
                    .map(|text| (text, end))
            }
            ParameterKind::Any => {
                let end = match following.first() {
                    None => self.tokens.len(),
                    Some(Piece::Word(word)) => self.next_word(word, begin)?,
                    Some(Piece::Slot(_)) => return None,
                };
                if end == begin {
                    return said_before.then(|| Err(self.missing(draft.matched, parameter)));
                }
                self.any_value(parameter, draft.matched, begin, end).map(|value| (value, end))
            }
            ParameterKind::Other => return None,
        };
        Some(filled.map(|(value, end)| {
            self.mark(draft, at, end);
            draft.arguments.insert(parameter.name.clone(), value);
            draft.has_object = true;
            end
        }))
    }

    /// A clause that follows the pattern so far and has ended lacks the value that comes next.
    fn breaks_off(&self, draft: &Draft, following: &[Piece]) -> Option<Result<usize, Miss>> {
        let next = following.iter().find_map(|piece| match piece {
            Piece::Slot(slot) => self.parameter(*slot),
            Piece::Word(_) => None,
        })?;
        (draft.matched > WORDS_BEFORE_NAMES).then(|| Err(self.missing(draft.matched + 2, next)))
    }

    /// Where a word of the pattern comes next that stands for itself: not the "of" in `time_of_day`.
    fn next_word(&self, word: &str, from: usize) -> Option<usize> {
        let stands_apart = |at: usize| {
            let before = at.checked_sub(1).and_then(|before| self.token(before));
            let between = before.zip(self.token(at)).and_then(|(before, token)| self.task.get(before.end..token.start));
            between.is_none_or(|between| between.contains(char::is_whitespace))
        };
        let is_it = |at: &usize| {
            self.token(*at).is_some_and(|token| token.kind == Kind::Word && token.canon == word) && stands_apart(*at)
        };
        (from..self.tokens.len()).find(is_it)
    }

    /// Whether these tokens were written without a space between them, as `camera.exposure_ms`.
    fn is_one_word(&self, from: usize, to: usize) -> bool {
        let written = self.written(from, to);
        let quotes = self.tokens.get(from..to).is_some_and(|all| all.iter().any(|token| token.kind == Kind::Quoted));
        !quotes && !written.is_empty() && !written.contains(char::is_whitespace)
    }

    /// What is said for a parameter that takes a number, on or off, or a text. A text of several words stands in
    /// quotation marks; a number has no unit, since nothing tells in which one it is taken.
    fn any_value(&self, parameter: &Parameter, matched: usize, from: usize, to: usize) -> Result<Value, Miss> {
        let tokens = self.tokens.get(from..to).unwrap_or_default();
        if let [only] = tokens
            && let Some(flag) = slots::read_flag(only)
        {
            return Ok(json!(flag));
        }
        if let Some(said) = numbers::read(tokens).filter(|said| said.length == tokens.len()) {
            let kind = NumberKind { whole: said.unit.is_none() && said.value.fract() == 0.0, ..NumberKind::default() };
            // `0` and `0.0` are not the same for a node.
            let is_float = self.written(from, to).contains('.');
            let kind = NumberKind { whole: kind.whole && !is_float, ..kind };
            return kind.take(&said).map_err(|mismatch| self.mismatch(matched, parameter, mismatch, from, said.length));
        }
        let is_quoted = matches!(tokens, [only] if only.kind == Kind::Quoted);
        if !is_quoted && !self.is_one_word(from, to) {
            return Err(Miss::new(matched + 2, Problem::TextNotMarked));
        }
        guarded(tokens).map_or_else(|| Ok(json!(self.text(from, to))), |problem| Err(Miss::new(matched + 2, problem)))
    }

    /// Beyond a pattern only further values count, with the names of their parameters.
    pub(super) fn assign_rest(&self, draft: &mut Draft) -> Result<Vec<usize>, Miss> {
        let mut leftover = Vec::new();
        let mut at = 0;
        while let Some(token) = self.token(at) {
            if draft.used.get(at).copied().unwrap_or_default() || token.is_filler() {
                at += 1;
            } else if let Some(length) = self.assign_value(draft, at)? {
                self.mark(draft, at, at + length);
                at += length;
            } else {
                let parameter = self.tool.parameters.iter().any(|it| it.words.contains(&token.canon));
                let next_is_number = self.tokens.get(at + 1..).is_some_and(|rest| numbers::read(rest).is_some());
                let carries_nothing = BEFORE_NUMBERS.contains(&token.word.as_str()) && (next_is_number || parameter);
                if !(parameter || carries_nothing) {
                    leftover.push(at);
                }
                at += 1;
            }
        }
        Ok(leftover)
    }
}
