//! Values in a sentence, and the parameters that take them.

use serde_json::{Value, json};

use super::cover::Draft;
use super::{Reader, Spot, spoken};
use crate::numbers::{self, Said, Unit};
use crate::phrases::PhraseSet;
use crate::problem::Problem;
use crate::robot::{self, Parameter, ParameterKind, Tool};
use crate::sentence::Word;
use crate::tokens::Kind;

/// A parameter, its values or why it has none, and how many words say them.
pub(super) type Found = (usize, Result<Vec<Value>, Problem>, usize);

impl Reader<'_> {
    /// Returns true if what follows begins with a value of the tool.
    pub(crate) fn begins_value(&self, tool: &Tool, words: &[Word]) -> bool {
        let skipped = words.iter().take_while(|word| self.language.is_article(&word.text)).count();
        let rest = words.get(skipped..).unwrap_or_default();
        tool.parameters.iter().any(|parameter| match &parameter.kind {
            ParameterKind::Choice(choices) => choices.read(rest, self.language).is_some(),
            ParameterKind::Number(_) => numbers::read(rest, self.language).is_some(),
            ParameterKind::Text(_) if parameter.takes_code() => {
                rest.first().is_some_and(|word| parameter.shaped(&self.written(std::slice::from_ref(word))).is_some())
            }
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
        } else if let Some(index) = text.filter(|index| !draft.values.contains_key(index))
            && let Some(text) = tool.parameters.get(index).and_then(|it| it.shaped(&word.text))
        {
            draft.values.insert(index, vec![json!(text)]);
            draft.says_value = true;
            draft.matched += 1;
        } else {
            draft.leftover.push(at);
        }
        1
    }

    /// "A1 of the sample plate", "sample plate A1": a word of the shape that a text must have.
    pub(super) fn take_code(&self, tool: &Tool, words: &[Word], at: usize, draft: &mut Draft) -> Option<usize> {
        let word = words.get(at).filter(|word| word.kind == Kind::Word)?;
        let written = self.written(std::slice::from_ref(word));
        let open: Vec<(usize, &Parameter)> = tool
            .parameters
            .iter()
            .enumerate()
            .filter(|(index, it)| it.takes_code() && !draft.values.contains_key(index))
            .collect();
        let hints = draft.role.as_ref().and_then(|role| self.language.roles.get(role));
        let before = draft.last.filter(|_| draft.value_end == Some(at)).and_then(|last| tool.parameters.get(last));
        let fits = |(_, it): &&(usize, &Parameter)| match (before, hints) {
            (Some(before), _) => it.words.iter().any(|word| before.words.contains(word)),
            (None, Some(hints)) => it.words.iter().any(|word| hints.contains(word)),
            (None, None) => open.len() == 1,
        };
        let mut fitting = open.iter().filter(fits);
        let (index, parameter) = *fitting.next().filter(|_| fitting.next().is_none())?;
        let text = parameter.shaped(&written)?;
        draft.values.insert(index, vec![json!(text)]);
        draft.says_value = true;
        draft.matched += 1;
        draft.role = None;
        Some(1)
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
        // "Up 10 centimetres, 15 mm to the right" is no list.
        let is_measure = |it: &Parameter| matches!(&it.kind, ParameterKind::Number(kind) if kind.unit.is_some());
        let is_measured = self.parameter(tool, parameter).is_some_and(is_measure);
        if !is_measured {
            length += self.listed(tool, words, at, rest.get(length..).unwrap_or_default(), parameter, draft, &mut all);
        }
        if draft.excepts {
            draft.excepted.extend(all);
        } else {
            // "The one for the lettuce and water the lettuce" is more than one order.
            let is_new = |(at, value): (usize, &Value)| !all.iter().take(at).any(|before| before == value);
            if !all.iter().enumerate().all(is_new) {
                return None;
            }
            draft.values.entry(parameter).or_default().extend(all);
            draft.matched += 1;
        }
        let loose = |value: &Value| self.is_loose(value, rest.get(..length).unwrap_or_default());
        draft.is_ambiguous |= draft.values.values().flatten().any(loose);
        let unit = numbers::read(rest, self.language).and_then(|said| said.unit);
        if self.may_be_time(words, at) {
            draft.may_be_time = Some(parameter);
        }
        draft.measured |= unit.is_some();
        draft.is_vague_change |= self.is_vague_change(tool, words, at, parameter, draft);
        draft.is_ambiguous |= unit.is_some_and(Unit::is_ambiguous);
        draft.says_value = true;
        draft.last = Some(parameter);
        let said = robot::concepts_of(rest.get(..length).unwrap_or_default(), self.language);
        draft.names_tool |= said.iter().any(|word| tool.name_nouns.contains(word));
        Some(length)
    }

    /// "The kitchen and the hall", "1, 2 and 4", "one to three": the values that are joined to the first one. Returns the
    /// number of their words.
    #[expect(clippy::too_many_arguments, reason = "what is known of the clause so far")]
    fn listed(
        &self,
        tool: &Tool,
        words: &[Word],
        at: usize,
        rest: &[Word],
        parameter: usize,
        draft: &Draft,
        all: &mut Vec<Value>,
    ) -> usize {
        let mut length = 0;
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
        length
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
                    if let Some((value, mut length)) = read
                        && let Some(value) = choices.value(value)
                        && (!is_noun || rest.first().is_some_and(|first| self.is_whole(value, first)))
                    {
                        // The "x" of "100x".
                        let next = rest.get(length).filter(|_| value.is_number());
                        length +=
                            usize::from(next.is_some_and(|it| self.language.facts.counting.magnifies.has(&it.text)));
                        found.push((index, value.clone(), length));
                    }
                }
                ParameterKind::Number(kind) => {
                    // A state is taken as one.
                    let is_state = |names: &[String]| matches!(names, [only] if self.language.of_tools().state(&[only.as_str()]).is_some());
                    for (names, number) in parameter.aliases.iter().filter(|(names, _)| !is_state(names)) {
                        if let Some(length) = self.named(names, rest)
                            && let Ok(value) =
                                kind.take(&Said { value: *number, unit: None, length, is_ordinal: false })
                        {
                            // "The bottom one" is one thing, and not the first.
                            let ones = &self.language.facts.hints.ones;
                            let is_one = rest.get(length).is_some_and(|next| ones.has(&next.text));
                            found.push((index, value, length + usize::from(is_one)));
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
            let ends = &self.language.of_tools().words;
            let word = rest.get(at)?;
            let is_end = |names: &PhraseSet, said: &PhraseSet| names.has(name) && said.has(&word.text);
            let same = is_end(&ends.lowest_names, &self.language.words.lowest_names)
                || is_end(&ends.highest_names, &self.language.words.highest_names);
            if concept != *name && !same {
                // "Basement" for "the basement floor" of a description, but not the other way round.
                return None;
            }
            at += length;
        }
        (at > 0).then_some(at)
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
                    // "On" says nothing of what may be left out: whether it blinks.
                    self.language.truth(state).filter(|_| parameter.required).map(Value::Bool)
                }
            }
            ParameterKind::Choice(choices) => choices.named(state).and_then(|index| choices.value(index)).cloned(),
            // "Close the blinds", where the tool sets by how much they are open, or says which number is shut.
            ParameterKind::Number(kind) => {
                let is_share = kind.unit.is_some_and(|unit| unit.dimension == numbers::Dimension::Share);
                let names = |names: &[String]| match names {
                    [only] => only == state,
                    // Forks that are fully up at 4500 are not there once they are raised.
                    [how, what] => is_share && what == state && self.language.of_tools().words.farthest.has(how),
                    _ => false,
                };
                if let Some((_, value)) = parameter.aliases.iter().find(|(it, _)| names(it)) {
                    return kind.take(&Said { value: *value, unit: None, length: 1, is_ordinal: false }).ok();
                }
                let share = kind.unit.is_some_and(|unit| unit.dimension == numbers::Dimension::Share);
                let says = |word: &str| {
                    parameter.words.iter().any(|it| {
                        self.language.of_tools().state(&[it.as_str()]).map_or(it.as_str(), |(state, _)| state) == word
                    })
                };
                // "0 is shut".
                let is_alias = |names: &Vec<String>| {
                    let tools = self.language.of_tools();
                    matches!(names.as_slice(), [only] if only == state || tools.state(&[only.as_str()]).is_some_and(|(it, _)| it == state))
                };
                if let Some((_, value)) = parameter.aliases.iter().find(|(names, _)| is_alias(names)) {
                    return kind.take(&Said { value: *value, unit: None, length: 1, is_ordinal: false }).ok();
                }
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
