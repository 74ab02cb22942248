//! Why a clause asks for nothing, and what it nearly asks for.

use serde_json::Value;

use super::cover::Draft;
use super::{Miss, Reader, spoken};
use crate::problem::Problem;
use crate::robot::{Choices, Mismatch, Parameter, ParameterKind, Tool};
use crate::sentence::Word;

impl Reader<'_> {
    /// Explains words that nothing accounts for.
    pub(super) fn unexplained(&self, tool: &Tool, words: &[Word], draft: &Draft, closeness: usize) -> Miss {
        let left: Vec<Word> = draft.leftover.iter().filter_map(|at| words.get(*at)).cloned().collect();
        let (first, last) = (draft.leftover.first().copied().unwrap_or(0), draft.leftover.last().copied().unwrap_or(0));
        let said = self.written(words.get(first..=last).unwrap_or_default());
        let words_of = &self.language.words;
        let refers = |word: &Word| words_of.things.has(&word.text) || words_of.places.has(&word.text);
        if !left.is_empty() && left.iter().all(refers) {
            let problem = Problem::Guarded { guard: crate::language::Guard::Reference, word: said };
            return Miss { closeness: closeness + 1, problem, nearly: Vec::new() };
        }
        let mut open = tool.parameters.iter().enumerate().filter_map(|(at, parameter)| match &parameter.kind {
            ParameterKind::Choice(choices) if parameter.required && !draft.values.contains_key(&at) => {
                Some((parameter, choices))
            }
            _ => None,
        });
        if let (Some((parameter, choices)), None) = (open.next(), open.next()) {
            // "Bring the cup to the garage", where the cup is a text of its own.
            let takes_text = tool.parameters.iter().any(|it| matches!(it.kind, ParameterKind::Text(_)));
            let range = words.get(first..=last).unwrap_or_default();
            let marked = range.iter().rposition(|word| self.language.is_plain_role(&word.text)).filter(|_| takes_text);
            let said = marked.and_then(|at| range.get(at + 1..)).map_or(said, |range| {
                let articles = range.iter().take_while(|word| self.language.is_article(&word.text)).count();
                self.written(range.get(articles..).unwrap_or_default())
            });
            let similar = similar(choices, &said).map(spoken);
            let problem = Problem::UnknownValue {
                parameter: parameter.label.clone(),
                said,
                choices: choices.values.iter().map(spoken).collect(),
                similar,
            };
            return Miss { closeness: closeness + 1, problem, nearly: Vec::new() };
        }
        let closeness = closeness.saturating_sub(left.len());
        Miss { closeness, problem: Problem::UnknownWords { words: said }, nearly: Vec::new() }
    }
}

/// Why a number is no value of a parameter.
pub(super) fn mismatched(parameter: &Parameter, mismatch: Mismatch, said: String) -> Problem {
    let parameter = parameter.label.clone();
    match mismatch {
        Mismatch::OutOfBounds(bounds) => Problem::OutOfBounds { parameter, said, bounds },
        Mismatch::Unit | Mismatch::UnknownUnit => Problem::Unit { parameter, said },
    }
}

/// Explains a missing value.
pub(super) fn missing(tool: usize, parameter: &Parameter) -> Problem {
    let wanted = match &parameter.kind {
        ParameterKind::Choice(choices) => {
            format!(", one of: {}", crate::listed(&choices.values.iter().map(spoken).collect::<Vec<_>>()))
        }
        ParameterKind::Flag => ", on or off".to_owned(),
        ParameterKind::Number(kind) => format!(", {}", kind.bounds()),
        ParameterKind::Text(_) | ParameterKind::Any => String::new(),
        ParameterKind::Other => return Problem::Unsayable { tool, parameter: parameter.label.clone() },
    };
    Problem::Missing { tool, parameter: parameter.label.clone(), wanted }
}

/// The choice that someone may have meant who wrote this with a typing error.
pub(super) fn similar<'v>(choices: &'v Choices, said: &str) -> Option<&'v Value> {
    let said = crate::tokens::compact(said);
    choices.values.iter().find(|value| crate::slips::is_slip(&said, &crate::tokens::compact(&spoken(value))))
}
