//! Which parameter a value is meant for.

use serde_json::{Value, json};

use super::clause::{Clause, Draft, Miss};
use crate::reflex::numbers;
use crate::reflex::slots::{self, Parameter, ParameterKind};

/// Words before a number that carry nothing.
pub(super) const BEFORE_NUMBERS: [&str; 5] = ["by", "for", "with", "at", "is"];

impl Clause<'_, '_> {
    /// Gives the value that begins at `at` to the one parameter that takes it; returns how many tokens it has.
    pub(super) fn assign_value(&self, draft: &mut Draft, at: usize) -> Result<Option<usize>, Miss> {
        let Some(rest) = self.tokens.get(at..) else { return Ok(None) };
        let open: Vec<&Parameter> =
            self.tool.parameters.iter().filter(|it| !draft.arguments.contains_key(&it.name)).collect();
        let mut choices: Vec<(&Parameter, &Value, usize)> = Vec::new();
        for parameter in &open {
            if let ParameterKind::Choice(values) = &parameter.kind
                && let Some((value, length)) = slots::read_choice(values, rest)
            {
                choices.push((parameter, value, length));
            }
        }
        let longest = choices.iter().map(|(_, _, length)| *length).max();
        choices.retain(|(_, _, length)| Some(*length) == longest);
        if let [(parameter, value, length)] = choices.as_slice() {
            draft.arguments.insert(parameter.name.clone(), (*value).clone());
            draft.has_object = true;
            return Ok(Some(*length));
        }
        if let Some(said) = numbers::read(rest)
            && let Some((parameter, kind)) = self.number_parameter(&open, &said, at)
        {
            let value = kind
                .take(&said)
                .map_err(|mismatch| self.mismatch(draft.matched + 1, parameter, mismatch, at, said.length))?;
            draft.arguments.insert(parameter.name.clone(), value);
            draft.has_object = true;
            draft.has_number = true;
            return Ok(Some(said.length));
        }
        let mut flags = open.iter().filter(|it| it.kind == ParameterKind::Flag);
        if let (Some(parameter), None) = (flags.next(), flags.next())
            && let Some(flag) = rest.first().and_then(slots::read_flag)
        {
            draft.arguments.insert(parameter.name.clone(), json!(flag));
            return Ok(Some(1));
        }
        Ok(None)
    }

    /// The one parameter that a number is meant for: the only one, the only one of its unit, the one that is named
    /// just before, or the only one that must be said.
    pub(super) fn number_parameter<'p>(
        &self,
        open: &[&'p Parameter],
        said: &numbers::Said,
        at: usize,
    ) -> Option<(&'p Parameter, &'p slots::NumberKind)> {
        let numbers: Vec<(&Parameter, &slots::NumberKind)> = open
            .iter()
            .filter_map(|parameter| match &parameter.kind {
                ParameterKind::Number(kind) => Some((*parameter, kind)),
                _ => None,
            })
            .collect();
        if let [only] = numbers.as_slice() {
            return Some(*only);
        }
        let only = |fits: &dyn Fn(&Parameter, &slots::NumberKind) -> bool| {
            let mut fitting = numbers.iter().filter(|(parameter, kind)| fits(parameter, kind));
            fitting.next().filter(|_| fitting.next().is_none()).copied()
        };
        let before = self.tokens.get(at.saturating_sub(3)..at).unwrap_or_default();
        only(&|_, kind| said.unit.is_some() && kind.unit.map(|unit| unit.dimension) == said.unit.map(|it| it.dimension))
            .or_else(|| only(&|parameter, _| before.iter().any(|token| parameter.words.contains(&token.canon))))
            .or_else(|| only(&|parameter, _| said.unit.is_none() && parameter.required))
    }
}
