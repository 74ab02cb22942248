//! Looks once more at what was read: each value of the robot that the text names has to stand in a call.
//!
//! The clauses are read one by one, and each accounts for its words. A value that nevertheless stands in no call was taken
//! for something else than what it is, and the person is asked.

use std::collections::BTreeSet;

use serde_json::Value;

use super::{Part, RuledOut, Task};
use crate::robot::{self, Choices, ParameterKind};
use crate::sentence::Word;
use crate::tokens::{Kind, compact};

impl Task<'_> {
    /// Returns true if the text names a value that stands in no call.
    pub(super) fn leaves_out(&self, parts: &[Part], ruled_out: &[(String, RuledOut)]) -> bool {
        let calls: Vec<_> = parts
            .iter()
            .filter_map(|part| match part {
                Part::Call { call, .. } => Some(call),
                Part::If { .. } | Part::Tell { .. } | Part::Talk(_) => None,
            })
            .collect();
        let mut said: BTreeSet<String> = calls.iter().flat_map(|call| call.arguments.values()).map(plain).collect();
        for (_, ruled_out) in ruled_out {
            match ruled_out {
                RuledOut::Call(call) => said.extend(call.arguments.values().map(plain)),
                RuledOut::Values(values) => said.extend(values.iter().cloned()),
            }
        }
        let texts: Vec<String> = said.iter().filter(|text| text.contains(' ')).map(|text| compact(text)).collect();
        let tools: Vec<_> = calls.iter().filter_map(|call| self.reader.robot.tool(call.tool)).collect();
        if self.excepts_or_corrects() {
            return false;
        }
        let mut at = 0;
        while let Some(rest) = self.words.get(at..).filter(|rest| !rest.is_empty()) {
            let Some((values, length)) = self.values_at(rest) else {
                at += 1;
                continue;
            };
            let words = rest.get(..length).unwrap_or_default();
            let written = compact(&self.reader.written(words));
            // "The fume hood" is the hood that a tool is named after.
            let last =
                words.get(length.saturating_sub(1)..).and_then(|last| robot::next_concept(last, self.reader.language));
            let is_named_after =
                |tool: &robot::Tool| last.as_ref().is_some_and(|(last, _)| tool.name_nouns.contains(last));
            let is_noun = robot::concepts_of(words, self.reader.language).iter().all(|concept| {
                tools.iter().any(|tool| {
                    // A description may name values that are not meant: "blue_spot = blue light".
                    tool.nouns.contains(concept)
                        || (length == 1 || is_named_after(tool))
                            && (tool.described.contains(concept)
                                || tool.parameters.iter().any(|parameter| parameter.words.contains(concept)))
                })
            });
            let is_there =
                values.iter().any(|value| said.contains(value)) || texts.iter().any(|text| text.contains(&written));
            if !is_there && !is_noun {
                return true;
            }
            at += length;
        }
        false
    }

    /// Returns true if something is named that is not meant: "all but the kitchen", "the hall, no, the office".
    fn excepts_or_corrects(&self) -> bool {
        let language = self.reader.language;
        (1..self.words.len()).any(|at| {
            let rest = self.words.get(at..).unwrap_or_default();
            language.words.exceptions.length(rest) > 0 || language.frames.corrections.length(rest) > 0
        })
    }

    /// The values of the robot's choices that begin here, the longest ones, and the number of their words.
    pub(super) fn values_at(&self, words: &[Word]) -> Option<(Vec<String>, usize)> {
        let language = self.reader.language;
        let first = words.first().filter(|word| matches!(word.kind, Kind::Word | Kind::Number))?;
        if language.empty(words) > 0
            || language.words.people.length(words) > 0
            || language.words.persons.length(words) > 0
            || language.is_plain_role(&first.text)
            || language.weighty(&first.text)
        {
            return None;
        }
        let mut found: Vec<(String, usize)> = Vec::new();
        let parameters = self.reader.robot.tools.iter().flat_map(|tool| &tool.parameters);
        for choices in parameters.filter_map(|parameter| match &parameter.kind {
            ParameterKind::Choice(choices) => Some(choices),
            _ => None,
        }) {
            found.extend(self.read_choice(choices, words));
        }
        let longest = found.iter().map(|(_, length)| *length).max()?;
        let values = found.into_iter().filter(|(_, length)| *length == longest).map(|(value, _)| value).collect();
        Some((values, longest))
    }

    /// A value that names a thing. A state or a number alone may mean anything else.
    fn read_choice(&self, choices: &Choices, words: &[Word]) -> Option<(String, usize)> {
        let (value, length) = choices.read(words, self.reader.language)?;
        let said = words.get(..length)?;
        let language = self.reader.language;
        // A shed may be a verb, a tool shed is none.
        let is_name = said.len() > 1 && said.iter().all(|word| word.number.is_none());
        let is_thing = is_name
            || said.iter().any(|word| {
                word.number.is_none()
                    && word.text.chars().count() > 2
                    && language.state(std::slice::from_ref(word)).is_none()
                    && language.verbs(&word.stem).is_empty()
            });
        is_thing.then(|| Some((plain(choices.value(value)?), length)))?
    }
}

fn plain(value: &Value) -> String {
    robot::spoken(value).to_lowercase()
}
