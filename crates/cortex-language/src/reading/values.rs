//! Values in a sentence, and the parameters that take them.

use serde_json::{Value, json};

use super::cover::Draft;
use super::misses::mismatched;
use super::{Reader, Spot, spoken};
use crate::numbers::{self, Said};
use crate::problem::Problem;
use crate::robot::{self, NumberKind, Parameter, ParameterKind, Tool};
use crate::sentence::Word;
use crate::tokens::Kind;

/// A parameter, its values or why it has none, and how many words say them.
type Found = (usize, Result<Vec<Value>, Problem>, usize);

impl Reader<'_> {
    /// Returns true if what follows begins with a value of the tool.
    pub(crate) fn begins_value(&self, tool: &Tool, words: &[Word]) -> bool {
        let skipped = words.iter().take_while(|word| self.language.is_article(&word.text)).count();
        let rest = words.get(skipped..).unwrap_or_default();
        tool.parameters.iter().any(|parameter| match &parameter.kind {
            ParameterKind::Choice(choices) => choices.read(rest, self.language).is_some(),
            ParameterKind::Number(_) => numbers::read(rest, self.language).is_some(),
            _ => false,
        })
    }

    /// "Twice", "three times".
    pub(crate) fn repeats(&self, rest: &[Word]) -> Option<(u32, usize)> {
        let language = self.language;
        let again = language.words.again.length(rest);
        if again > 0 {
            return Some((1, again));
        }
        let repeats = &language.words.repeats;
        let both = |phrase: &str| match rest {
            [first, second, ..] => phrase.split_once(' ') == Some((&first.text, &second.text)),
            _ => false,
        };
        if let Some((_, times)) = repeats.iter().find(|(phrase, _)| both(phrase)) {
            return Some((*times, 2));
        }
        if let Some(times) = rest.first().and_then(|first| repeats.get(&first.text)) {
            return Some((*times, 1));
        }
        let number = rest.first()?.number?;
        let times = rest.get(1..).map_or(0, |after| language.words.times.length(after));
        let whole = number.fract() == 0.0 && (1.0..=20.0).contains(&number);
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "whole, from 1 to 20")]
        (times > 0 && whole).then_some((number as u32, 1 + times))
    }

    /// Returns true if the tool has a parameter that counts: "ring the bell three times" is one call of it.
    pub(super) fn counts(&self, tool: &Tool, rest: &[Word]) -> bool {
        let has = tool.parameters.iter().any(|parameter| self.is_count(parameter));
        has && rest.first().is_some_and(|first| self.language.words.again.length(std::slice::from_ref(first)) == 0)
    }

    pub(super) fn is_count(&self, parameter: &Parameter) -> bool {
        let counts =
            ["time", "count", "repetition", "repeat", "cycle", "round", "ring", "amount", "number", "quantity"];
        matches!(&parameter.kind, ParameterKind::Number(kind) if kind.whole && kind.unit.is_none())
            && parameter.words.iter().any(|word| counts.contains(&word.as_str()))
    }

    pub(super) fn take_quoted(&self, tool: &Tool, words: &[Word], at: usize, draft: &mut Draft) -> usize {
        let Some(word) = words.get(at) else { return 1 };
        let text = tool.parameters.iter().position(|it| matches!(it.kind, ParameterKind::Text(_) | ParameterKind::Any));
        let choice = tool.parameters.iter().enumerate().find_map(|(index, parameter)| match &parameter.kind {
            ParameterKind::Choice(choices) => {
                let inner = crate::sentence::words(&word.text, self.language).ok()?;
                let (value, length) = choices.read(&inner, self.language)?;
                (length == inner.len()).then(|| Some((index, choices.value(value)?.clone())))?
            }
            _ => None,
        });
        if let Some((index, value)) = choice {
            draft.values.entry(index).or_default().push(value);
            draft.says_value = true;
            draft.matched += 1;
        } else if let Some(index) = text.filter(|index| !draft.values.contains_key(index)) {
            draft.values.insert(index, vec![json!(word.text)]);
            draft.says_value = true;
            draft.matched += 1;
        } else {
            draft.leftover.push(at);
        }
        1
    }

    /// Gives the value that begins here, and those that are joined to it, to the parameter that takes it.
    pub(super) fn take_value(
        &self,
        tool: &Tool,
        words: &[Word],
        at: usize,
        rest: &[Word],
        spot: Spot,
        draft: &mut Draft,
    ) -> Option<usize> {
        let has_names = |it: &Parameter| matches!(it.kind, ParameterKind::Choice(_)) || !it.aliases.is_empty();
        if !spot.number && !tool.parameters.iter().any(has_names) {
            return None;
        }
        let (parameter, values, mut length) = self.value(tool, words, at, rest, draft, None)?;
        let mut all = match values {
            Ok(values) => values,
            Err(problem) => {
                draft.wrong = Some(problem);
                return Some(length);
            }
        };
        // "The kitchen and the hall", "1, 2 and 4", "one to three".
        loop {
            let after = rest.get(length..).unwrap_or_default();
            let joint = self
                .language
                .words
                .joints
                .length(after)
                .max(usize::from(after.first().is_some_and(|it| it.is_mark(","))));
            let marks = after.get(joint..).map_or(0, |more| self.language.words.joints.length(more).min(1));
            let joint = if joint > 0 { joint + marks } else { 0 };
            let (ranges, joint) = if joint > 0 {
                (false, joint)
            } else {
                (true, usize::from(after.first().is_some_and(|it| self.language.facts.counting.ranges.has(&it.text))))
            };
            if joint == 0 {
                break;
            }
            let more = after.get(joint..).unwrap_or_default();
            let skipped = more.iter().take_while(|word| {
                word.kind == Kind::Word
                    && (self.language.is_article(&word.text)
                        || (!ranges && self.language.is_plain_role(&word.text) && word.number.is_none())
                        || self.language.number(&word.text).is_none()
                            && self.language.facts.counting.number.has(&word.text))
            });
            let skipped = skipped.count();
            // "... and drawer 3": the noun of what is numbered is said again.
            let more = more.get(skipped..).unwrap_or_default();
            let noun = robot::next_concept(more, self.language)
                .filter(|(concept, _)| {
                    !ranges
                        && (tool.nouns.contains(concept)
                            || self.parameter(tool, parameter).is_some_and(|it| it.words.contains(concept)))
                })
                .map_or(0, |(_, length)| length);
            let attempt = |from: usize| {
                let tail = more.get(from..)?;
                let (index, values, length) = self.value(tool, words, at, tail, draft, Some(parameter))?;
                (index == parameter).then_some((values.ok()?, from + length))
            };
            let Some((next, taken)) = attempt(0).or_else(|| attempt(noun).filter(|_| noun > 0)) else { break };
            if ranges {
                let (Some(first), Some(last)) =
                    (all.last().and_then(Value::as_i64), next.first().and_then(Value::as_i64))
                else {
                    break;
                };
                let is_range = self
                    .parameter(tool, parameter)
                    .is_some_and(|it| matches!(&it.kind, ParameterKind::Number(kind) if kind.whole));
                if !(is_range && first < last && last - first < 32) {
                    break;
                }
                all.extend((first + 1..=last).map(|it| json!(it)));
            } else {
                all.extend(next);
            }
            length += joint + skipped + taken;
        }
        if draft.excepts {
            draft.excepted.extend(all);
        } else {
            draft.values.entry(parameter).or_default().extend(all);
            draft.matched += 1;
        }
        draft.measured |= numbers::read(rest, self.language).is_some_and(|said| said.unit.is_some());
        draft.says_value = true;
        Some(length)
    }

    /// Returns true if the word is one of the parameter's name.
    pub(super) fn names_parameter(&self, word: &Word, parameter: &Parameter) -> bool {
        parameter.words.contains(&robot::meaning(word, self.language))
    }

    /// Returns true if the word is all that a value is called.
    pub(super) fn is_whole(&self, value: &Value, word: &Word) -> bool {
        let tools = self.language.of_tools();
        if self.language.is_of_tools() {
            tools.stem(&spoken(value)) == word.stem
        } else {
            tools.concept(&spoken(value)) == robot::meaning(word, self.language)
        }
    }

    pub(super) fn parameter<'t>(&self, tool: &'t Tool, index: usize) -> Option<&'t Parameter> {
        tool.parameters.get(index)
    }

    /// The value that begins with the first word, and the parameter that it is meant for.
    pub(super) fn value(
        &self,
        tool: &Tool,
        words: &[Word],
        at: usize,
        rest: &[Word],
        draft: &Draft,
        only: Option<usize>,
    ) -> Option<Found> {
        // "The one in bay 3" counts nothing, and "this one" is no dock 1.
        let hints = &self.language.facts.hints;
        let singles = |word: &Word| self.language.is_article(&word.text) || hints.singled.has(&word.text);
        let stands = |word: Option<&Word>| word.is_some_and(|word| hints.ones.has(&word.text));
        let before = at.checked_sub(1).and_then(|before| words.get(before));
        if stands(rest.first()) && before.is_some_and(singles)
            || stands(rest.get(1)) && rest.first().is_some_and(singles)
        {
            return None;
        }
        let open = |index: &usize| match only {
            Some(only) => *index == only,
            None => !draft.values.contains_key(index) || draft.excepts,
        };
        let before = words.get(at.saturating_sub(3)..at).unwrap_or_default();
        let mut found: Vec<(usize, Value, usize)> = Vec::new();
        for index in (0..tool.parameters.len()).filter(open) {
            let Some(parameter) = tool.parameters.get(index) else { continue };
            match &parameter.kind {
                ParameterKind::Choice(choices) => {
                    let article = usize::from(rest.first().is_some_and(|first| self.language.is_article(&first.text)));
                    let direct = choices.read(rest, self.language);
                    let read = direct.or_else(|| {
                        let (value, length) = choices.read(rest.get(article..)?, self.language)?;
                        Some((value, length + article))
                    });
                    // "The light" of a robot with a work light and others is none of them.
                    let is_noun = read.is_some_and(|(_, length)| {
                        let said = robot::concepts_of(rest.get(..length).unwrap_or_default(), self.language);
                        matches!(said.as_slice(), [only] if tool.name_nouns.contains(only))
                    });
                    if let Some((value, length)) = read
                        && let Some(value) = choices.value(value)
                        && (!is_noun || rest.first().is_some_and(|first| self.is_whole(value, first)))
                    {
                        found.push((index, value.clone(), length));
                    }
                }
                ParameterKind::Number(kind) => {
                    for (names, number) in &parameter.aliases {
                        if let Some(length) = self.named(names, rest)
                            && let Ok(value) =
                                kind.take(&Said { value: *number, unit: None, length, is_ordinal: false })
                        {
                            found.push((index, value, length));
                        }
                    }
                }
                _ => {}
            }
        }
        let longest = found.iter().map(|(_, _, length)| *length).max();
        found.retain(|(_, _, length)| Some(*length) == longest);
        if found.len() > 1 {
            let hints = draft.role.as_ref().and_then(|role| self.language.roles.get(role));
            let hinted: Vec<(usize, Value, usize)> = found
                .iter()
                .filter(|(index, _, _)| {
                    tool.parameters.get(*index).is_some_and(|parameter| {
                        let named = before.iter().any(|word| self.names_parameter(word, parameter));
                        let hinted = hints.is_some_and(|hints| parameter.words.iter().any(|word| hints.contains(word)));
                        named || hinted
                    })
                })
                .cloned()
                .collect();
            if !hinted.is_empty() {
                found = hinted;
            } else if !draft.role.as_ref().is_some_and(|role| self.language.facts.hints.origin.has(role)) {
                // What is moved comes first, then from where, then to where: as the tool lists them.
                let required: Vec<(usize, Value, usize)> = found
                    .iter()
                    .filter(|(index, _, _)| tool.parameters.get(*index).is_some_and(|it| it.required))
                    .cloned()
                    .collect();
                if !required.is_empty() {
                    found = required;
                }
            }
        }
        if let Some((index, value, length)) = found.first() {
            return Some((*index, Ok(vec![value.clone()]), *length));
        }
        self.number(tool, words, at, rest, draft, only)
    }

    /// Returns true if the words say a name, and how many of them do.
    pub(super) fn named(&self, names: &[String], rest: &[Word]) -> Option<usize> {
        let mut at = 0;
        for name in names {
            let (concept, length) = robot::next_concept(rest.get(at..)?, self.language)?;
            if concept != *name {
                // "Basement" for "the basement floor" of a description, but not the other way round.
                return None;
            }
            at += length;
        }
        (at > 0).then_some(at)
    }

    pub(super) fn number(
        &self,
        tool: &Tool,
        words: &[Word],
        at: usize,
        rest: &[Word],
        draft: &Draft,
        only: Option<usize>,
    ) -> Option<Found> {
        let ordinal = rest.first().and_then(|first| first.ordinal).map(|value| Said {
            value,
            unit: None,
            length: 1,
            is_ordinal: true,
        });
        if let Some(found) = self.half(tool, rest, draft, only) {
            return Some(found);
        }
        let mut said = numbers::read(rest, self.language).or(ordinal)?;
        // "Three times" of a tool that counts.
        let times = rest.get(said.length..).map_or(0, |after| self.language.words.times.length(after));
        let open: Vec<(usize, &Parameter, &NumberKind)> = tool
            .parameters
            .iter()
            .enumerate()
            .filter(|(index, _)| only.map_or_else(|| !draft.values.contains_key(index), |only| *index == only))
            .filter_map(|(index, parameter)| match &parameter.kind {
                ParameterKind::Number(kind) => Some((index, parameter, kind)),
                _ => None,
            })
            .collect();
        let pick = |fits: &dyn Fn(&Parameter, &NumberKind) -> bool| {
            let mut fitting = open.iter().filter(|(_, parameter, kind)| fits(parameter, kind));
            fitting.next().filter(|_| fitting.next().is_none()).copied()
        };
        let before = words.get(at.saturating_sub(3)..at).unwrap_or_default();
        let last_before = at.checked_sub(1).and_then(|before| words.get(before));
        let after = rest.get(said.length..).and_then(|after| robot::next_concept(after, self.language));
        let hints = draft.role.as_ref().and_then(|role| self.language.roles.get(role));
        let chosen = if times > 0 {
            pick(&|parameter, _| self.is_count(parameter))
        } else if let [only] = open.as_slice() {
            Some(*only)
        } else {
            pick(&|_, kind| {
                said.unit.is_some() && kind.unit.map(|unit| unit.dimension) == said.unit.map(|it| it.dimension)
            })
            .or_else(|| pick(&|parameter, _| last_before.is_some_and(|word| self.names_parameter(word, parameter))))
            .or_else(|| pick(&|parameter, _| before.iter().any(|word| self.names_parameter(word, parameter))))
            .or_else(|| pick(&|parameter, _| after.as_ref().is_some_and(|(word, _)| parameter.words.contains(word))))
            .or_else(|| {
                pick(&|parameter, _| hints.is_some_and(|hints| parameter.words.iter().any(|word| hints.contains(word))))
            })
            .or_else(|| {
                pick(&|parameter, kind| said.unit.is_none() && parameter.required && (!said.is_ordinal || kind.whole))
            })
            .or_else(|| {
                pick(&|parameter, kind| said.unit.is_none() && kind.unit.is_none() && kind.whole && parameter.required)
            })
        };
        let (index, parameter, kind) = chosen?;
        if said.is_ordinal && !(kind.whole && kind.unit.is_none()) {
            return None;
        }
        // "Three drops": what is counted is the parameter's own name.
        if times > 0 {
            said.length += times;
        } else if let Some((word, length)) = after.filter(|_| said.unit.is_none())
            && parameter.words.contains(&word)
            && last_before.is_none_or(|before| !self.names_parameter(before, parameter))
        {
            said.length += length;
        }
        match kind.take(&said) {
            Ok(value) => Some((index, Ok(vec![value]), said.length)),
            Err(mismatch) => {
                let written = self.written(rest.get(..said.length).unwrap_or_default());
                Some((index, Err(mismatched(parameter, mismatch, written)), said.length))
            }
        }
    }

    /// "Open the vent halfway": half of a share that goes from nothing to all.
    fn half(&self, tool: &Tool, rest: &[Word], draft: &Draft, only: Option<usize>) -> Option<Found> {
        let length = self.language.words.halves.length(rest);
        if length == 0
            || numbers::read(rest, self.language).is_some_and(|said| said.length > length || said.unit.is_some())
        {
            return None;
        }
        let mut shares = tool.parameters.iter().enumerate().filter_map(|(index, parameter)| match &parameter.kind {
            ParameterKind::Number(kind)
                if only.map_or_else(|| !draft.values.contains_key(&index), |only| only == index)
                    && kind.unit.is_some_and(|unit| unit.dimension == numbers::Dimension::Share) =>
            {
                Some((index, kind))
            }
            _ => None,
        });
        let (index, kind) = shares.next().filter(|_| shares.next().is_none())?;
        let middle = f64::midpoint(kind.minimum?, kind.maximum?);
        let value = kind.take(&Said { value: middle, unit: None, length, is_ordinal: false }).ok()?;
        Some((index, Ok(vec![value]), length))
    }

    /// The value that a state is for a parameter.
    pub(super) fn stated(&self, parameter: &Parameter, state: &str) -> Option<Value> {
        match &parameter.kind {
            ParameterKind::Flag => {
                let says = |word: &str| parameter.words.iter().any(|it| it == word);
                if says(state) {
                    Some(json!(true))
                } else if self.language.opposite(state).is_some_and(says) {
                    Some(json!(false))
                } else {
                    self.language.truth(state).map(Value::Bool)
                }
            }
            ParameterKind::Choice(choices) => choices.named(state).and_then(|index| choices.value(index)).cloned(),
            // "Close the blinds", where the tool sets by how much they are open.
            ParameterKind::Number(kind) => {
                let share = kind.unit.is_some_and(|unit| unit.dimension == numbers::Dimension::Share);
                let says = |word: &str| {
                    parameter.words.iter().any(|it| {
                        self.language.of_tools().state(&[it.as_str()]).map_or(it.as_str(), |(state, _)| state) == word
                    })
                };
                let full = if says(state) {
                    kind.maximum?
                } else if self.language.opposite(state).is_some_and(says) {
                    kind.minimum?
                } else {
                    return None;
                };
                share.then(|| kind.take(&Said { value: full, unit: None, length: 1, is_ordinal: false }).ok())?
            }
            _ => None,
        }
    }
}
