//! Whether a person is asked before a clause is done that all words account for.

use serde_json::Value;

use super::cover::Draft;
use super::fit::{Fit, Strength};
use super::{Context, Reader, spoken};
use crate::robot::{self, Parameter, ParameterKind, Tool, Usage};
use crate::sentence::{self, Word};

impl Reader<'_> {
    /// Returns true if things alone ask for an act, and neither a state that was said nor a place to go to tells which.
    pub(super) fn is_doubtful(
        &self,
        tool: &Tool,
        words: &[Word],
        fit: &Fit,
        draft: &Draft,
        context: Context<'_>,
    ) -> bool {
        let acts = tool.usage == Usage::Step && !tool.looks;
        let goes = tool.verbs.iter().any(|verb| self.names(&verb.key, "go"));
        // "Make the beacon green", "three kilos for the sheep": nothing else of this robot takes these.
        let is_made = fit.key.is_some() && draft.names_tool && draft.says_value;
        let is_complete =
            || tool.parameters.iter().enumerate().all(|(at, it)| !it.required || draft.values.contains_key(&at));
        // "Forks to 120 mm", but not "forks up 120 mm", which may be up to or by so much.
        let says_which = draft.values.len() > 1 || draft.sign.is_some() || (draft.names_tool && !draft.says_state);
        let is_measured = says_which && draft.measured && is_complete();
        // "The main gate and the yard gate open": the first one was no place to go to.
        let shares_state = context.before.is_some_and(|before| {
            let mut values = before.calls.iter().flat_map(|call| call.arguments.values());
            before.verb.is_none()
                && before.tool().is_some_and(|it| self.robot.tool(it).is_some_and(|it| self.goes(it)))
                && values.any(|value| {
                    tool.parameters
                        .iter()
                        .any(|it| matches!(&it.kind, ParameterKind::Choice(choices) if choices.values.contains(value)))
                })
        });
        let tells = (draft.says_state && draft.names_tool && !switches_more(tool, draft))
            || goes
            || is_made
            || is_measured
            || (says_whole_call(tool, draft) && !shares_state)
            || (fit.key.is_some() && context.before.is_some());
        // "Shut the yard gate", where a valve closes by its name: only the gate is a yard's.
        let says_which = draft.measured || (draft.says_state && (draft.says_value || draft.refers));
        let lent = fit.strength == Strength::Described && fit.is_others && !says_which;
        // Who hands something to somebody does more than to pick it up.
        let picks = tool.verbs.iter().any(|verb| self.names(&verb.key, "pick"));
        // "A chime, please", where another tool plays one.
        let is_value = match fit.at.as_slice() {
            [only] => words.get(*only).is_some_and(|word| {
                let sense = fit.key.as_ref().and_then(|key| self.language.sense_of(key));
                sense.is_none_or(|sense| sense.state.is_none()) && self.is_value_of_other(tool, word)
            }),
            _ => false,
        };
        // A verb that means something else first is asked about, but for what only drives.
        let lent = lent || is_value || (draft.has_recipient && picks) || (fit.is_lent && !goes && !is_measured);
        // "The light" of a robot with an ultraviolet lamp may be another one.
        let is_loosely_named = draft.names_loosely && draft.described == 0 && !draft.says_value;
        acts && ((fit.strength == Strength::Things && !tells)
            || lent
            || draft.is_ambiguous
            || draft.is_vague_change
            || is_loosely_named)
    }

    /// "The grass" for the front lawn: a part of what the value is called, and by another word.
    pub(super) fn is_loose(&self, value: &Value, words: &[Word]) -> bool {
        let is_number = words.iter().any(|word| word.number.is_some() || word.ordinal.is_some());
        if !value.is_string() || !self.language.is_of_tools() || is_number {
            return false;
        }
        let said = robot::concepts_of(words, self.language);
        let parts = sentence::words(&spoken(value), self.language).unwrap_or_default();
        let concepts = robot::concepts_of(&parts, self.language);
        let is_head = concepts.len() > 1 && concepts.last() == said.last() && said.len() == 1;
        is_head && parts.last().is_some_and(|last| !words.iter().any(|word| word.stem == last.stem))
    }

    /// Returns true if the word is all that a value of another tool is called.
    fn is_value_of_other(&self, tool: &Tool, word: &Word) -> bool {
        let others =
            self.robot.those(self.robot.index.value(&word.stem)).filter(|(_, other)| !std::ptr::eq(*other, tool));
        let mut parameters = others.flat_map(|(_, other)| &other.parameters);
        parameters.any(|parameter| match &parameter.kind {
            ParameterKind::Choice(choices) => choices.values.iter().any(|value| self.is_whole(value, word)),
            _ => false,
        })
    }
}

/// "Barn light on", "incubator to 37", "left 45 degrees": all that has to be said of a call is said, and a name, a
/// parameter or several values tell which call it is. A bare number tells nothing.
fn says_whole_call(tool: &Tool, draft: &Draft) -> bool {
    let number = |at: &usize| match tool.parameters.get(*at).map(|it| &it.kind) {
        Some(ParameterKind::Number(kind)) => Some(kind.unit.is_some()),
        _ => None,
    };
    let is_measured = draft.measured || draft.extreme.is_some() || !draft.values.keys().any(|at| number(at).is_some());
    // "Drawer 3" says which, and not what is to be done with it.
    let said: Vec<bool> = draft.values.keys().filter_map(number).collect();
    let counts = !is_measured && !said.is_empty() && !said.contains(&true);
    let names = draft.names_tool || draft.described > 0;
    let tells = (names && !counts) || (is_measured && (draft.values.len() > 1 || draft.sign.is_some()));
    let is_whole = tool.parameters.iter().enumerate().all(|(at, it)| !it.required || draft.values.contains_key(&at));
    draft.says_value && tells && is_whole && !switches_more(tool, draft)
}

/// "Light on white" need not blink: what is on there may be the light.
fn switches_more(tool: &Tool, draft: &Draft) -> bool {
    let switches = |(at, it): (usize, &Parameter)| {
        it.kind == ParameterKind::Flag && !it.required && draft.values.contains_key(&at)
    };
    draft.says_state && draft.values.len() > 1 && tool.parameters.iter().enumerate().any(switches)
}
