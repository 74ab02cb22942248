//! The clause as one of the tool's own sentences: `go to {place}`.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use super::fit::Strength;
use super::misses::missing;
use super::{Call, Context, Core, Miss, Reader, Reading, Score};
use crate::language::{Form, Frame, Lead};
use crate::numbers;
use crate::problem::Problem;
use crate::robot::{self, Parameter, ParameterKind, Piece, Tool, is_passed_over};
use crate::sentence::{self, Word};
use crate::tokens::Kind;

/// So many words of its own a pattern must have before a place where a name needs no quotation marks.
const WORDS_BEFORE_NAMES: usize = 2;

impl Reader<'_> {
    /// The clause as one of the tool's own sentences, word by word.
    pub(super) fn by_phrase(
        &self,
        index: usize,
        tool: &Tool,
        phrase: &[Piece],
        core: Core<'_>,
        context: Context<'_>,
    ) -> Option<Result<Reading, Miss>> {
        let words = core.words;
        let mut arguments = Map::new();
        let mut at = 0;
        let mut matched = 0;
        let mut has_text = false;
        let mut text_at = None;
        let mut is_loose = false;
        for (position, piece) in phrase.iter().enumerate() {
            match piece {
                Piece::Word(stem) => {
                    while words.get(at).is_some_and(|word| word.stem != *stem && self.may_pass(word)) {
                        at += 1;
                    }
                    if words.get(at).is_none() && !arguments.is_empty() {
                        return self.unfilled(index, tool, phrase.get(position..)?, matched);
                    }
                    let word = words.get(at).filter(|word| word.kind != Kind::Quoted && word.stem == *stem)?;
                    // "Went to the kitchen" tells of something.
                    let tells = position == 0
                        && !core.asks
                        && !self.language.verbs(stem).is_empty()
                        && match self.language.form(&word.text) {
                            Form::Plain => false,
                            Form::Gerund => core.lead != Some(Lead::Gerund) && !context.is_subordinate,
                            Form::Past => !context.is_subordinate,
                        };
                    if tells {
                        return None;
                    }
                    matched += 1;
                    at += 1;
                }
                Piece::Slot(slot) => {
                    let parameter = tool.parameters.get(*slot)?;
                    let following = phrase.get(position + 1);
                    let handed = |frame: Frame| frame == Frame::Say || matched >= WORDS_BEFORE_NAMES;
                    let spoken = tool.text.is_some_and(|(text, frame)| text == *slot && handed(frame));
                    let (value, end, is_text) = match parameter.kind {
                        ParameterKind::Text(limit) if spoken && following.is_none() => self.spoken(words, at, limit)?,
                        _ => match self.slot(parameter, &tool.name_nouns, words, at, following, matched)? {
                            Ok(slot) => slot,
                            Err(problem) => {
                                let closeness = (matched + arguments.len()) * 2;
                                return Some(Err(Miss { closeness, problem, nearly: Vec::new() }));
                            }
                        },
                    };
                    // "Raise the forks by 10 cm" says no height.
                    if let ParameterKind::Number(kind) = &parameter.kind
                        && self.is_absolute(tool, kind)
                        && (at..end).any(|from| self.says_change(words, from, words.get(end..).unwrap_or_default()))
                    {
                        return None;
                    }
                    let said = words.get(at..end).unwrap_or_default();
                    let said: Vec<Word> = said.iter().filter(|word| !self.may_pass(word)).cloned().collect();
                    is_loose |= self.is_loose(&value, &said);
                    has_text |= is_text;
                    text_at = text_at.or(is_text.then_some(at));
                    arguments.insert(parameter.name.clone(), value);
                    at = end;
                }
            }
        }
        // Beyond a pattern nothing may stand.
        if words.get(at..).unwrap_or_default().iter().any(|word| !self.may_pass(word)) {
            return None;
        }
        for parameter in tool.parameters.iter().filter(|it| it.required) {
            if !arguments.contains_key(&parameter.name) {
                arguments.insert(parameter.name.clone(), parameter.default.clone()?);
            }
        }
        let arguments_doubt = text_at.is_some_and(|from| {
            let text = words.get(from..).unwrap_or_default();
            (self.is_doubtful_text(text) || self.asks_kindly(text) || self.may_say_when(text, Frame::Say))
                && !self.is_courtesy(text)
        });
        // Of free text, the frame counts that reads most out of it.
        let score = Score {
            closed: !has_text,
            strength: if has_text { Strength::Own } else { Strength::Phrase },
            matched: if has_text { matched } else { matched + arguments.len() },
            described: 0,
        };
        Some(Ok(Reading {
            calls: vec![Call { tool: index, arguments }],
            score,
            verb: tool.verbs.first().map(|it| it.key.clone()),
            amends: false,
            doubtful: has_text && arguments_doubt || is_loose,
            refers: false,
            places: 0,
        }))
    }

    /// The rest of the clause as a text.
    fn spoken(&self, words: &[Word], at: usize, limit: Option<u64>) -> Option<(Value, usize, bool)> {
        let text = self.free_text(words, at..words.len())?;
        let fits = text.chars().count() as u64 <= limit.unwrap_or(u64::MAX);
        let is_quoted = matches!(words.get(at..), Some([only]) if only.kind == Kind::Quoted);
        fits.then(|| (json!(text), words.len(), !is_quoted))
    }

    fn may_pass(&self, word: &Word) -> bool {
        is_passed_over(word, self.language) || word.is_punctuation()
    }

    /// Fills one place of a pattern; returns the value, where the next piece begins, and whether it is free text.
    fn slot(
        &self,
        parameter: &Parameter,
        nouns: &BTreeSet<String>,
        words: &[Word],
        at: usize,
        following: Option<&Piece>,
        matched: usize,
    ) -> Option<Result<(Value, usize, bool), Problem>> {
        // Of a person's own words nothing is left out but what marks a noun.
        let is_open = matches!(parameter.kind, ParameterKind::Text(_) | ParameterKind::Any);
        let passes = |word: &&Word| if is_open { self.language.is_article(&word.text) } else { self.may_pass(word) };
        let begin = at + words.get(at..)?.iter().take_while(passes).count();
        let rest = words.get(begin..)?;
        let end = || match following {
            None => Some(words.len()),
            Some(Piece::Word(stem)) => (begin..words.len()).find(|at| {
                words.get(*at).is_some_and(|word| word.kind == Kind::Word && word.stem == *stem)
                    && !sentence::is_glued(self.text, words, *at)
            }),
            Some(Piece::Slot(_)) => None,
        };
        let found = match &parameter.kind {
            ParameterKind::Choice(choices) => {
                // "The light" of a robot with a work light and others is none of them.
                let is_noun = |length: usize, from: usize| {
                    let said = robot::concepts_of(words.get(from..from + length).unwrap_or_default(), self.language);
                    matches!(said.as_slice(), [only] if nouns.contains(only))
                };
                let (value, length, from) = choices
                    .read(words.get(at..)?, self.language)
                    .map(|(value, length)| (value, length, at))
                    .or_else(|| choices.read(rest, self.language).map(|(value, length)| (value, length, begin)))?;
                let value = choices.value(value)?;
                let is_whole = self.is_whole(value, words.get(from)?);
                (is_whole || !is_noun(length, from)).then(|| (value.clone(), from + length, false))
            }
            ParameterKind::Number(kind) => {
                let said = numbers::read(rest, self.language)?;
                Some((kind.take(&said).ok()?, begin + said.length, false))
            }
            ParameterKind::Flag => {
                let (state, length) = self.language.state(rest)?;
                Some((json!(self.language.truth(state)?), begin + length, false))
            }
            ParameterKind::Text(limit) => {
                // What is said may end before the rest of the pattern does.
                let end = end().or_else(|| (matched >= WORDS_BEFORE_NAMES).then_some(words.len()))?;
                let text = words.get(begin..end).filter(|text| !text.is_empty())?;
                let quoted = match text {
                    [only] if only.kind == Kind::Quoted => Some(only.text.clone()),
                    _ => None,
                };
                let written = self.written(text);
                let is_name = matched >= WORDS_BEFORE_NAMES && !written.contains(char::is_whitespace);
                // Free text of speech is read by its frames, any other only where it is marked.
                let value = parameter.shaped(&quoted.clone().or_else(|| is_name.then_some(written))?)?;
                (value.chars().count() as u64 <= limit.unwrap_or(u64::MAX))
                    .then(|| (json!(value), end, quoted.is_none()))
            }
            ParameterKind::Any => {
                let end = end()?;
                let text = words.get(begin..end).filter(|text| !text.is_empty())?;
                match self.any_value(text) {
                    Some(value) => Some((value, end, false)),
                    None if matched >= WORDS_BEFORE_NAMES => return Some(Err(self.no_value(parameter, text))),
                    None => None,
                }
            }
            ParameterKind::Other => None,
        };
        found.map(Ok)
    }

    /// Why the words are no value of a parameter that takes a number, on or off, or a text.
    fn no_value(&self, parameter: &Parameter, words: &[Word]) -> Problem {
        let measured =
            numbers::read(words, self.language).is_some_and(|said| said.length == words.len() && said.unit.is_some());
        if measured {
            Problem::Unit { parameter: parameter.label.clone(), said: self.written(words) }
        } else {
            Problem::TextNotMarked
        }
    }

    /// Explains a sentence that ends before all the places of its pattern are filled.
    fn unfilled(&self, index: usize, tool: &Tool, rest: &[Piece], matched: usize) -> Option<Result<Reading, Miss>> {
        let open = rest.iter().find_map(|piece| match piece {
            Piece::Slot(slot) => tool.parameters.get(*slot).filter(|it| it.required && it.default.is_none()),
            Piece::Word(_) => None,
        });
        let open = open.filter(|_| matched >= WORDS_BEFORE_NAMES)?;
        Some(Err(Miss { closeness: (matched + 1) * 2, problem: missing(index, open), nearly: Vec::new() }))
    }

    /// Reads a value for a parameter that takes a number, on or off, or a text. A text of several words stands in
    /// quotation marks; a number has no unit, since nothing tells in which one it is taken.
    fn any_value(&self, words: &[Word]) -> Option<Value> {
        if words.len() == 1
            && let Some((state, 1)) = self.language.state(words)
            && let Some(truth) = self.language.truth(state)
        {
            return Some(json!(truth));
        }
        if let Some(said) = numbers::read(words, self.language).filter(|said| said.length == words.len()) {
            if said.unit.is_some() {
                return None;
            }
            // `0` and `0.0` are not the same for a node.
            let is_float = self.written(words).contains('.') || said.value.fract() != 0.0;
            let whole = !is_float && said.value.abs() < 9e15;
            #[expect(clippy::cast_possible_truncation, reason = "whole and below 9e15")]
            return Some(if whole { json!(said.value as i64) } else { json!(said.value) });
        }
        match words {
            [only] if only.kind == Kind::Quoted => Some(json!(only.text)),
            _ => {
                let written = self.written(words);
                let is_one = !written.is_empty() && !written.contains(char::is_whitespace);
                (is_one && self.guarded(words).is_none()).then(|| json!(written))
            }
        }
    }
}
