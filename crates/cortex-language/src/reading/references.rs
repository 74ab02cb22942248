//! Words for what was said before: "it", "there", "that one".

use serde_json::Value;

use super::cover::Draft;
use super::fit::{Fit, Strength};
use super::{Call, Context, Reader, Reading};
use crate::robot::{ParameterKind, Tool, Usage};
use crate::sentence::Word;
use crate::tokens::Kind;

impl Reader<'_> {
    /// A word for what was said before: "it", "there".
    pub(super) fn take_reference(
        &self,
        tool: &Tool,
        rest: &[Word],
        fit: &Fit,
        context: Context<'_>,
        draft: &mut Draft,
    ) -> Option<usize> {
        let language = self.language;
        let places = language.words.places.length(rest);
        if places > 0 {
            let before = context.place?;
            if let Some(index) = self.place_parameter(tool, context, draft) {
                draft.values.insert(index, vec![before.clone()]);
                draft.matched += 1;
                return Some(places);
            }
            // Who only spoke of a place has not sent the robot there.
            if !self.is_there(context) {
                return None;
            }
            let takes_place =
                tool.verbs.iter().any(|verb| language.sense_of(&verb.key).is_some_and(|it| it.name == "go"));
            return (!takes_place).then_some(places);
        }
        let here = language.words.here.length(rest);
        if here > 0 {
            let needs_choice =
                tool.parameters.iter().any(|it| it.required && matches!(it.kind, ParameterKind::Choice(_)));
            return (!needs_choice).then_some(here);
        }
        let things = language.words.things.length(rest).max(usize::from(self.stands_for_thing(rest)));
        if things > 0 {
            // "The one in the hall", where only the verb says of what.
            // "Pick it up", where nothing else can be meant.
            let answers = tool.looks || tool.usage != Usage::Step;
            let alone = tool.parameters.is_empty() && fit.strength >= Strength::Described && !answers;
            let of_it = context.before.and_then(Reading::tool).and_then(|index| self.robot.tool(index));
            if alone && of_it.is_none_or(|other| other.component != tool.component) {
                return Some(things);
            }
            let is_one = language.facts.hints.ones.length(rest) > 0;
            if is_one && (fit.strength >= Strength::Described || !fit.needs_state.is_empty()) {
                return Some(things);
            }
            let of_component = |reading: &&&Reading| {
                let other = reading.tool().and_then(|index| self.robot.tool(index));
                other.is_some_and(|other| other.component == tool.component && !tool.component.is_empty())
            };
            let shares = context.earlier.iter().any(|reading| of_component(&reading));
            let same_values = self.referred(tool, context).iter().any(|(index, _)| !draft.values.contains_key(index));
            if shares || same_values {
                draft.refers = true;
                draft.matched += 1;
                return Some(things);
            }
        }
        None
    }

    /// "Open drawer 4, now drawer 2, now close both": the two things that were named before, and the parameter that takes
    /// them.
    pub(super) fn two_before(&self, tool: &Tool, context: Context<'_>) -> Option<(usize, Vec<Value>)> {
        let of_component =
            |call: &&Call| self.robot.tool(call.tool).is_some_and(|other| other.component == tool.component);
        tool.parameters.iter().enumerate().find_map(|(at, parameter)| {
            let calls = context.earlier.iter().rev().flat_map(|reading| &reading.calls).filter(of_component);
            let mut named: Vec<Value> = Vec::new();
            for value in calls.filter_map(|call| call.arguments.get(&parameter.name)) {
                if !named.contains(value) {
                    named.push(value.clone());
                }
            }
            (named.len() == 2).then_some((at, named))
        })
    }

    /// The parameter of the tool that takes the last place that was said.
    pub(super) fn place_parameter(&self, tool: &Tool, context: Context<'_>, draft: &Draft) -> Option<usize> {
        let place = context.place?;
        tool.parameters.iter().enumerate().position(|(index, parameter)| {
            matches!(&parameter.kind, ParameterKind::Choice(choices) if choices.values.contains(place))
                && !draft.values.contains_key(&index)
        })
    }

    /// Returns true if the robot was sent to the last place that was said.
    pub(super) fn is_there(&self, context: Context<'_>) -> bool {
        let goes = |tool: &Tool| tool.verbs.iter().any(|verb| self.names(&verb.key, "go"));
        let mut calls = context.earlier.iter().flat_map(|reading| reading.calls.iter().rev());
        let driven = calls.find(|call| self.robot.tool(call.tool).is_some_and(goes));
        driven.is_some_and(|call| call.arguments.values().any(|value| Some(value) == context.place))
    }

    /// Returns the number of words that speak of places in general, as after "every": "single room", "of the places".
    pub(crate) fn kind_of_place(&self, words: &[Word]) -> usize {
        let passed = words.iter().take_while(|word| self.language.is_article(&word.text)).count();
        let kind = words.get(passed..).map_or(0, |rest| self.language.words.place_kinds.length(rest));
        if kind > 0 { passed + kind } else { 0 }
    }

    /// Returns true if an article stands for a thing: no noun follows it before the next part of the verb.
    pub(crate) fn stands_for_thing(&self, rest: &[Word]) -> bool {
        let noun = |word: &Word| {
            let says = word.number.is_some() || word.ordinal.is_some() || !self.language.knows(&word.text);
            word.kind != Kind::Mark && (says || self.language.is_noun(&word.text))
        };
        let demonstratives = &self.language.facts.hints.demonstratives;
        rest.first().is_some_and(|first| demonstratives.has(&first.text))
            && !rest.get(1..).unwrap_or_default().iter().any(noun)
    }

    /// The values of what was said before that this tool takes, too.
    pub(super) fn referred(&self, tool: &Tool, context: Context<'_>) -> Vec<(usize, Value)> {
        let is_its = |reading: &&Reading| {
            reading
                .tool()
                .and_then(|index| self.robot.tool(index))
                .is_some_and(|other| other.component == tool.component)
        };
        let own = context.earlier.iter().copied().find(is_its);
        let Some(before) = own.or(context.before) else { return Vec::new() };
        let calls = || before.calls.iter();
        tool.parameters
            .iter()
            .enumerate()
            .flat_map(|(index, parameter)| calls().map(move |call| (index, parameter, call)))
            .filter_map(|(index, parameter, call)| {
                let value = call.arguments.get(&parameter.name)?;
                let takes = match &parameter.kind {
                    ParameterKind::Choice(choices) => choices.values.contains(value),
                    ParameterKind::Number(_) => value.is_number(),
                    ParameterKind::Text(_) => value.is_string() && tool.text.is_none(),
                    _ => false,
                };
                takes.then(|| (index, value.clone()))
            })
            .collect()
    }
}
