//! What is named only to rule it out: "don't go to the office, go to the kitchen", "not the hall, the bedroom".
//!
//! It says nothing that is not said by the order beside it, so it counts only where that order is of the same kind and
//! does something else. A prohibition that stands alone stays one, and nothing is done.

use super::{Part, Task};
use crate::reading::{Call, Clause, Context, End, Sought};
use crate::robot::{self, ParameterKind};
use crate::sentence::Word;

/// What is not to be done, or not meant.
#[derive(Debug, Clone)]
pub(super) enum RuledOut {
    Call(Call),
    /// Any of these values of the robot, in words.
    Values(Vec<String>),
}

impl Task<'_> {
    /// What the words rule out, where they do nothing else.
    pub(super) fn ruled_out(&self, words: &[Word]) -> Option<RuledOut> {
        let language = self.reader.language;
        let marks = words.iter().take_while(|word| word.is_punctuation()).count();
        let words = words.get(marks..)?;
        let negation = language.words.contrasts.length(words);
        let rest = self.reader.core(words.get(negation..).filter(|_| negation > 0)?, End::Courtesies).words;
        let articles = rest.iter().take_while(|word| language.is_article(&word.text)).count();
        let thing = rest.get(articles..).filter(|thing| !thing.is_empty())?;
        if let Some((values, length)) = self.values_at(thing)
            && length == thing.len()
        {
            return Some(RuledOut::Values(values));
        }
        let context = Context { sought: Sought::Calls, ..Context::default() };
        let Clause::Read(readings) = self.reader.clause(rest, context) else { return None };
        match readings.as_slice() {
            [reading] if !reading.is_open() => match reading.calls.as_slice() {
                [call] => Some(RuledOut::Call(call.clone())),
                _ => None,
            },
            _ => None,
        }
    }

    /// Returns true if an order of the same kind does something else, and none does what is ruled out.
    pub(super) fn is_replaced(&self, ruled_out: &RuledOut, parts: &[Part]) -> bool {
        let mut calls = parts.iter().filter_map(|part| match part {
            Part::Call { call, .. } => Some(call),
            Part::If { .. } | Part::Tell { .. } | Part::Talk(_) => None,
        });
        match ruled_out {
            RuledOut::Call(no) => {
                let mut calls = calls.filter(|call| call.tool == no.tool).peekable();
                calls.peek().is_some() && calls.all(|call| call.arguments != no.arguments)
            }
            RuledOut::Values(no) => {
                let mut others = 0;
                let keeps = calls.all(|call| {
                    let Some(tool) = self.reader.robot.tool(call.tool) else { return false };
                    tool.parameters.iter().all(|parameter| {
                        let ParameterKind::Choice(choices) = &parameter.kind else { return true };
                        let is_value = |value: &serde_json::Value| no.contains(&robot::spoken(value).to_lowercase());
                        let Some(said) = call.arguments.get(&parameter.name) else { return true };
                        others += usize::from(choices.values.iter().any(is_value) && !is_value(said));
                        !is_value(said)
                    })
                });
                keeps && others > 0
            }
        }
    }
}
