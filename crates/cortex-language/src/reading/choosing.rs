//! What a clause may mean that leaves open which of a few things is meant: "open the gate", "the hall or the kitchen". It
//! is never done, but a person is asked.

use serde_json::{Value, json};

use super::cover::Draft;
use super::fit::{Fit, Strength};
use super::{Context, Core, Likely, Reader, spoken};
use crate::language::Guard;
use crate::robot::{self, NumberKind, Parameter, ParameterKind, Tool};
use crate::sentence::{self, Word};

/// Most things of which a person is asked which one is meant.
const FEW: usize = 6;
/// What speaks for each of them.
const SCORE: f64 = 6.0;

impl Reader<'_> {
    /// The calls for each of the few things of which one is meant.
    pub(super) fn either(
        &self,
        index: usize,
        tool: &Tool,
        core: Core<'_>,
        fit: &Fit,
        context: Context<'_>,
        draft: &Draft,
    ) -> Vec<Likely> {
        let may_choose = |(guard, _)| matches!(guard, Guard::Choice | Guard::Reference);
        let is_meant = fit.strength >= Strength::Related || draft.names_tool;
        if !is_meant || !self.guarded(core.words).is_none_or(may_choose) {
            return Vec::new();
        }
        let found = self.alternatives(tool, core.words, draft).or_else(|| self.open(tool, core.words, draft));
        let Some((at, values)) = found else { return Vec::new() };
        let with = |value: Value| {
            let mut draft = draft.clone();
            draft.values.insert(at, vec![value]);
            let calls = self.calls(index, tool, &draft, context, fit.goes_on).ok()?;
            Some(Likely { calls, score: SCORE, is_sure: false })
        };
        values.into_iter().filter_map(with).collect()
    }

    /// "The kitchen or the bedroom".
    fn alternatives(&self, tool: &Tool, words: &[Word], draft: &Draft) -> Option<(usize, Vec<Value>)> {
        let or = *draft.leftover.first()?;
        let is_or = |at: &usize| words.get(*at).is_some_and(|word| self.language.words.choices.has(&word.text));
        let after = words.get(or + 1..).filter(|_| is_or(&or))?;
        let skipped = after
            .iter()
            .take_while(|word| self.language.is_article(&word.text) || self.language.is_plain_role(&word.text))
            .count();
        tool.parameters.iter().enumerate().find_map(|(at, parameter)| {
            let ParameterKind::Choice(choices) = &parameter.kind else { return None };
            let said = draft.values.get(&at).filter(|said| said.len() < FEW)?;
            let (value, length) = choices.read(after.get(skipped..)?, self.language)?;
            let all_read = draft.leftover.iter().all(|left| *left <= or + skipped + length);
            all_read.then(|| Some((at, said.iter().chain([choices.value(value)?]).cloned().collect())))?
        })
    }

    /// The values of what is left open, if the words that are left over speak of no other.
    fn open(&self, tool: &Tool, words: &[Word], draft: &Draft) -> Option<(usize, Vec<Value>)> {
        let mut left: Vec<usize> = draft.leftover.clone();
        for at in 0..words.len() {
            let chosen = words.get(at..).map_or(0, |rest| self.language.words.choices.length(rest));
            left.retain(|it| !(at..at + chosen).contains(it));
        }
        let chooses = left.len() < draft.leftover.len();
        let is_open = |at: usize, it: &Parameter| it.default.is_none() && !draft.values.contains_key(&at);
        let all = || tool.parameters.iter().enumerate().filter(|(at, it)| is_open(*at, it));
        let mut open: Vec<(usize, &Parameter)> = all().filter(|(_, it)| it.required).collect();
        if open.is_empty() && chooses {
            open = all().filter(|(_, it)| matches!(it.kind, ParameterKind::Choice(_))).collect();
        }
        let [(at, parameter)] = open.as_slice() else { return None };
        let values: Vec<Value> = match &parameter.kind {
            ParameterKind::Choice(choices) => {
                let said: Vec<Word> = left.iter().filter_map(|at| words.get(*at)).cloned().collect();
                let said = robot::concepts_of(&said, self.language);
                let tools = self.language.of_tools();
                let names_all = |value: &&Value| {
                    let name = sentence::words(&spoken(value), tools).unwrap_or_default();
                    let concepts = robot::concepts_of(&name, tools);
                    said.iter().all(|it| concepts.contains(it))
                };
                let speaks = left.is_empty() || !said.is_empty();
                choices.values.iter().filter(names_all).filter(|_| speaks).cloned().collect()
            }
            ParameterKind::Number(kind) if left.is_empty() => few(kind),
            _ => Vec::new(),
        };
        let least = if left.is_empty() { 2 } else { 1 };
        (least..=FEW).contains(&values.len()).then_some((*at, values))
    }
}

/// The numbers of a few things: drawers 1 to 4.
fn few(kind: &NumberKind) -> Vec<Value> {
    match (kind.minimum, kind.maximum) {
        (Some(least), Some(most)) if kind.whole && kind.unit.is_none() && most - least < 6.0 => {
            #[expect(clippy::cast_possible_truncation, reason = "at most six, one after the other")]
            let (least, most) = (least as i64, most as i64);
            (least..=most).map(|it| json!(it)).collect()
        }
        _ => Vec::new(),
    }
}
