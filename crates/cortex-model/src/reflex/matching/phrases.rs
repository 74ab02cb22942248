//! The clause as one of the tool's own sentences: `go to {place}`.

use serde_json::json;

use super::Source;
use super::clause::{Attempt, Clause, Draft, Miss};
use super::values::BEFORE_NUMBERS;
use crate::reflex::numbers;
use crate::reflex::problem::Problem;
use crate::reflex::slots::{self, ParameterKind};
use crate::reflex::tokens::Kind;
use crate::reflex::toolbox::Piece;

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
                    Some(Piece::Word(word)) => {
                        begin + rest.iter().position(|token| token.kind == Kind::Word && token.canon == *word)?
                    }
                    Some(Piece::Slot(_)) => return None,
                };
                if end == begin {
                    return said_before.then(|| Err(self.missing(draft.matched, parameter)));
                }
                draft.has_text |= !matches!(rest, [only] if only.kind == Kind::Quoted);
                let colon = usize::from(self.token(begin).is_some_and(|next| next.is_mark(":")) && begin + 1 < end);
                let begin = if self.tool.speech == Some(slot) { begin } else { begin + colon };
                let verb = self.skip_fillers(0);
                if self.tool.speech != Some(slot) && !self.hands_over_text(verb, begin, end) {
                    return Some(Err(Miss::new(draft.matched + 2, Problem::TextNotMarked)));
                }
                self.free_text(slot, *limit, begin, end)
                    .map_err(|problem| Miss::new(draft.matched + 2, problem))
                    .map(|text| (text, end))
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
