//! From what a clause says to the calls that it asks for.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::cover::{Draft, bounded};
use super::fit::{Fit, Strength};
use super::misses::{mismatched, missing};
use super::{Call, Context, Core, Miss, Reader, Reading, Score, spoken};
use crate::language::{Extreme, Lead};
use crate::numbers::{self, Said};
use crate::problem::Problem;
use crate::robot::{self, Choices, NumberKind, ParameterKind, Source, Tool, Usage, VerbHit};
use crate::sentence::Word;

/// Most calls that one clause makes: "all drawers", "five times".
const CALLS_AT_MOST: usize = 64;
/// Most whole numbers that "all" stands for.
const NUMBERS_AT_MOST: f64 = 32.0;

impl Reader<'_> {
    /// Everything accounted for, and every value given that must be given: the calls.
    pub(super) fn finish(
        &self,
        index: usize,
        tool: &Tool,
        core: Core<'_>,
        fit: &Fit,
        context: Context<'_>,
        mut draft: Draft,
    ) -> Option<Result<Reading, Miss>> {
        // "All" of what has nothing to choose from.
        if draft.all
            && !draft.names_tool
            && (draft.described == 0 || tool.parameters.is_empty())
            && !draft.refers
            && (tool.parameters.is_empty() || !fit.goes_on && fit.strength == Strength::Things)
        {
            return None;
        }
        // "Wait, except open drawer 2": nothing is left out where not all are meant.
        let is_of_several = context.before.is_some_and(|before| before.calls.len() > 1 || fit.goes_on);
        let is_plural = |word: &Word| {
            let concept = robot::meaning(word, self.language);
            word.text != word.stem && word.text.ends_with('s') && tool.name_nouns.contains(&concept)
        };
        let says_several = draft.all || is_of_several || core.words.iter().any(is_plural);
        if draft.excepts && (draft.excepted.is_empty() || !says_several) && !fit.asks {
            return None;
        }
        let verb_matched = usize::from(fit.strength >= Strength::Related);
        let closeness = draft.matched * 2 + draft.described + verb_matched * 3;
        let says_something = draft.matched + draft.described > 0
            || fit.strength >= Strength::Described
            || (fit.asks && self.is_the_look(tool, core))
            || (fit.is_lent && !draft.leftover.is_empty() && self.wants_choice(tool, &draft));
        if !says_something {
            return None;
        }
        match self.settled(tool, core, fit, &mut draft) {
            Ok(true) => {}
            Ok(false) => return None,
            Err(problem) => draft.wrong = Some(problem),
        }
        // A number or a value that does not fit says nothing of a tool that nothing else asks for.
        if draft.wrong.is_some() && fit.strength == Strength::Things && !draft.names_tool && !fit.goes_on {
            return None;
        }
        if let Some(problem) = draft.wrong {
            return Some(Err(Miss { closeness: closeness + 2, problem, nearly: Vec::new() }));
        }
        let goes = tool.verbs.iter().any(|verb| self.names(&verb.key, "go"));
        // "Get us the lift" is no drive to the lifts.
        if draft.has_recipient && goes && fit.strength == Strength::Things {
            return None;
        }
        let answers = tool.usage != Usage::Step || tool.looks;
        if answers && !self.asks_for_look(tool, core, fit, &draft) {
            return None;
        }
        if !answers && fit.strength == Strength::Things && core.lead.is_none() && self.is_statement(core.words) {
            return None;
        }
        if !answers && fit.strength == Strength::Things && !(draft.says_value || draft.says_state) {
            return None;
        }
        let mut has_text = false;
        if !draft.leftover.is_empty() {
            match self.name(tool, core, fit, &draft) {
                Some((parameter, text)) => {
                    draft.values.insert(parameter, vec![json!(text)]);
                    has_text = true;
                }
                None => {
                    let nearly = self.either(index, tool, core, fit, context, &draft);
                    let miss = self.unexplained(tool, core.words, &draft, closeness);
                    return Some(Err(Miss { nearly, ..miss }));
                }
            }
        }
        draft.refers |= self.is_state_alone(tool, &draft, context);
        if !answers && self.says_when(tool, fit, &mut draft) {
            return Some(Err(self.unexplained(tool, core.words, &draft, closeness)));
        }
        let calls = self.calls(index, tool, &draft, context, fit.goes_on);
        let tours = draft.all && draft.repeats == 1 && self.goes(tool);
        let missed = |problem| {
            let nearly = self.either(index, tool, core, fit, context, &draft);
            Miss { closeness, problem, nearly }
        };
        Some(calls.map_err(missed).map(|calls| Reading {
            places: if tours { calls.len() } else { 0 },
            calls,
            score: Score {
                closed: !has_text,
                strength: if self.is_the_look(tool, core) && fit.asks {
                    fit.strength.max(Strength::Described)
                } else {
                    fit.strength
                },
                matched: draft.matched + fit.at.len().saturating_sub(1),
                described: draft.described,
            },
            verb: fit.key.clone(),
            amends: fit.goes_on && (draft.excepts || self.adds(tool, &draft, context)),
            // "I need the hall" is no order to go there.
            doubtful: self.is_doubtful(tool, core.words, fit, &draft, context)
                || goes && fit.strength == Strength::Things && fit.key.is_none() && core.lead == Some(Lead::Verb),
            refers: draft.refers,
        }))
    }

    /// "Open the vent at seven" says when, and not how far. "Put the sound at three" sets it; with another verb a person is
    /// asked.
    fn says_when(&self, tool: &Tool, fit: &Fit, draft: &mut Draft) -> bool {
        let Some(parameter) = draft.may_be_time.and_then(|at| tool.parameters.get(at)) else { return false };
        let sets = ["set", "adjust", "change"].iter().any(|it| fit.key.as_ref().is_some_and(|key| self.names(key, it)));
        let is_light = fit.key.as_ref().and_then(|key| self.language.sense_of(key)).is_some_and(|it| it.light);
        if sets || is_light {
            return false;
        }
        draft.is_ambiguous = true;
        !parameter.required || fit.gives.is_some() || draft.extreme.is_some() || draft.says_state
    }

    /// "Turn the kitchen light off and then on": the other state of the same thing.
    fn is_state_alone(&self, tool: &Tool, draft: &Draft, context: Context<'_>) -> bool {
        let before = context.before.and_then(Reading::tool).and_then(|index| self.robot.tool(index));
        let same = before.is_some_and(|it| it.component == tool.component && !tool.component.is_empty());
        same && draft.says_state && draft.matched == 1 && draft.described == 0 && draft.values.is_empty()
    }

    /// Returns true if a value has to be chosen that nothing of the clause is.
    fn wants_choice(&self, tool: &Tool, draft: &Draft) -> bool {
        tool.parameters.iter().enumerate().any(|(at, it)| {
            let open = it.required && it.default.is_none() && !draft.values.contains_key(&at);
            open && matches!(it.kind, ParameterKind::Choice(_))
        })
    }

    /// Gives the parameters what the verb says by itself. Returns false if the fit wants more said than is said.
    pub(super) fn settled(&self, tool: &Tool, core: Core<'_>, fit: &Fit, draft: &mut Draft) -> Result<bool, Problem> {
        // The state that the verb asks for.
        if let Some(state) = &fit.gives {
            // A switch for something else is off as well: "kill the lamp" is about its colour, and not about its blinking.
            let (flags, others): (Vec<_>, Vec<_>) = tool
                .parameters
                .iter()
                .enumerate()
                .partition(|(_, it)| it.kind == ParameterKind::Flag && !it.words.contains(state));
            let mut open = others.into_iter().chain(flags).filter(|(at, _)| !draft.values.contains_key(at));
            if let Some((at, value)) = open.find_map(|(at, it)| Some((at, self.stated(it, state)?))) {
                draft.values.insert(at, vec![value]);
                draft.says_state = true;
            }
        }
        self.implied(tool, core.words, fit, draft)?;
        let gave = fit.strength != Strength::Related || fit.gives.is_none() || draft.says_state;
        Ok(gave
            && (fit.needs_state.is_empty() || fit.may_lack_state || draft.says_state || self.is_started(tool, draft))
            && (!fit.needs_value || draft.says_value)
            && (!fit.needs_unit || draft.measured)
            && (!fit.needs_object || draft.matched > 0 || (draft.described > 0 && !fit.is_others))
            && (!fit.needs_name || draft.names_tool || draft.refers)
            && (!fit.needs_measure || self.says_measure(tool, draft)))
    }

    /// "Shaker at 300 rpm" starts it: nothing else takes how fast it is to run.
    fn is_started(&self, tool: &Tool, draft: &Draft) -> bool {
        let says = |(at, it): (usize, &robot::Parameter)| {
            it.required && matches!(it.kind, ParameterKind::Number(_)) && draft.values.contains_key(&at)
        };
        draft.names_tool && draft.measured && tool.parameters.iter().enumerate().any(says)
    }

    /// "How many slots are there" asks nobody which of them is in front.
    pub(super) fn counts_in_vain(&self, tool: &Tool, core: Core<'_>) -> bool {
        let counts = (0..core.words.len())
            .find_map(|at| {
                let rest = core.words.get(at..)?;
                let length = self.language.words.counts.length(rest);
                (length > 0).then(|| rest.get(length).is_none_or(|next| numbers::unit(&next.text).is_none()))
            })
            .unwrap_or(false);
        let has_count = |word: &String| tool.described.contains(word) || tool.nouns.contains(word);
        counts && !self.language.of_tools().words.counted.0.iter().any(has_count)
    }

    /// Returns true if a tool that looks is asked for by what it looks at.
    fn asks_for_look(&self, tool: &Tool, core: Core<'_>, fit: &Fit, draft: &Draft) -> bool {
        // "Check each room" looks at none of them.
        if draft.all && tool.parameters.is_empty() {
            return false;
        }
        if self.counts_in_vain(tool, core) {
            return false;
        }
        if core.asks && self.asks_of_other(tool, core.words) && fit.strength < Strength::Described {
            return false;
        }
        let about_it = draft.names_tool || draft.described > 0 || self.is_the_look(tool, core);
        if fit.asks {
            return fit.strength > Strength::Related || about_it || draft.names_method;
        }
        // "Drawer 3" asks for nothing; "battery level" does; "charge" is an order, even where only a level is known by
        // that word.
        let is_word =
            core.words.len() == 1 && draft.names_tool && !self.is_deed(core) && !self.is_deed_at(core.words, 0);
        fit.strength > Strength::Things
            || is_word
            || (draft.names_method
                && draft.described == 0
                && draft.role.is_none()
                && !(core.words.len() == 1 && self.is_deed_at(core.words, 0)))
    }

    /// Returns true if what was said belongs to the call before: "mow the lawn, at 60 millimetres".
    pub(super) fn adds(&self, tool: &Tool, draft: &Draft, context: Context<'_>) -> bool {
        let said = |name: &String| {
            context.before.is_some_and(|before| before.calls.iter().any(|call| call.arguments.contains_key(name)))
        };
        !draft.values.is_empty()
            && draft.values.keys().all(|at| tool.parameters.get(*at).is_some_and(|it| !said(&it.name)))
    }

    /// Returns true if a number or a state was said.
    pub(super) fn says_measure(&self, tool: &Tool, draft: &Draft) -> bool {
        draft.says_state
            || draft.values.keys().any(|at| {
                tool.parameters
                    .get(*at)
                    .is_some_and(|it| matches!(it.kind, ParameterKind::Number(_) | ParameterKind::Flag))
            })
    }

    /// "Turn around" says how far; "back up" says which way.
    pub(super) fn implied(&self, tool: &Tool, words: &[Word], fit: &Fit, draft: &mut Draft) -> Result<(), Problem> {
        for (index, parameter) in tool.parameters.iter().enumerate() {
            let verb_says =
                fit.at.iter().any(|at| words.get(*at).is_some_and(|word| self.names_parameter(word, parameter)));
            if parameter.kind == ParameterKind::Flag && verb_says {
                draft.values.entry(index).or_insert_with(|| vec![json!(true)]);
            }
        }
        let sense = fit.key.as_ref().and_then(|key| self.language.sense_of(key));
        if let Some((at, value)) = sense.and_then(|sense| self.value_of_verb(tool, sense))
            && !draft.values.contains_key(&at)
        {
            draft.values.insert(at, vec![value]);
            draft.says_value = true;
        }
        if let Some((at, kind)) = bounded(tool)
            && let Some(bound) = draft.extreme.and_then(|extreme| bound_of(extreme, tool.parameters.get(at), kind, fit))
            && !draft.values.contains_key(&at)
        {
            let said = Said { value: bound, unit: None, length: 1, is_ordinal: false };
            if let Ok(value) = kind.take(&said) {
                draft.values.insert(at, vec![value]);
                draft.says_value = true;
                draft.matched += 1;
            }
        }
        let way = fit.gives.as_ref().and_then(|state| tool.parameters.iter().find_map(|it| it.signs.get(state)));
        let Some(sign) = draft.sign.or(way.copied()) else { return Ok(()) };
        draft.says_state |= way.is_some();
        for (at, parameter) in tool.parameters.iter().enumerate().filter(|(_, it)| !it.signs.is_empty()) {
            let ParameterKind::Number(kind) = &parameter.kind else { continue };
            for value in draft.values.get_mut(&at).into_iter().flatten() {
                let signed = value.as_f64().map(|value| value.abs() * sign).unwrap_or_default();
                let said = Said { value: signed, unit: None, length: 1, is_ordinal: false };
                *value = kind.take(&said).map_err(|mismatch| mismatched(parameter, mismatch, signed.to_string()))?;
            }
        }
        Ok(())
    }

    /// Returns true if the words are a verb by which something of this robot acts.
    pub(super) fn is_deed(&self, core: Core<'_>) -> bool {
        let acts = |hit: &VerbHit| self.robot.index.verb(&hit.key).is_some_and(|tools| tools.acts);
        robot::hits(core.words, self.language).iter().any(acts)
    }

    /// Returns true if a word is a verb of the lexicon that means something alone.
    pub(super) fn is_deed_at(&self, words: &[Word], at: usize) -> bool {
        let Some(word) = words.get(at) else { return false };
        self.language.verbs(&word.stem).iter().any(|form| {
            form.head.len() == 1
                && form.tail.is_empty()
                && self.language.sense(form.sense).is_some_and(|sense| !sense.light)
        })
    }

    /// Returns true if the tool looks at whatever there is, and is asked what that is: "what do you see?"
    pub(super) fn is_the_look(&self, tool: &Tool, core: Core<'_>) -> bool {
        let general = tool.verbs.iter().any(|verb| verb.source == Source::Own && self.names(&verb.key, "look"));
        let asks_what = core.words.iter().any(|word| self.language.facts.hints.asked.has(&word.text));
        general && asks_what && tool.needs_nothing() && tool.looks
    }

    /// The calls, one for each combination of the values.
    pub(super) fn calls(
        &self,
        index: usize,
        tool: &Tool,
        draft: &Draft,
        context: Context<'_>,
        goes_on: bool,
    ) -> Result<Vec<Call>, Problem> {
        // "Kitchen every go": nobody goes to one place and to all of them.
        let is_place = |at: &usize| match tool.parameters.get(*at).map(|it| &it.kind) {
            Some(ParameterKind::Choice(choices)) => !self.is_state(choices),
            _ => false,
        };
        if draft.all && !draft.refers && self.goes(tool) && draft.values.keys().any(is_place) {
            return Err(Problem::Unknown);
        }
        let mut values = draft.values.clone();
        if (draft.all && !draft.refers) || !draft.excepted.is_empty() {
            let filled = values.len();
            self.fill_all(tool, draft, &mut values);
            // All but one, where nothing says what all of them are.
            if !draft.excepted.is_empty() && values.len() == filled {
                return Err(Problem::Unknown);
            }
        }
        if draft.refers || goes_on {
            let said: Vec<usize> = values.keys().copied().collect();
            // "It" is a thing or its number, never how far or how much of something.
            let measures = |at: usize| matches!(tool.parameters.get(at).map(|it| &it.kind), Some(ParameterKind::Number(kind)) if kind.unit.is_some());
            for (at, value) in self.referred(tool, context).into_iter().filter(|(at, _)| goes_on || !measures(*at)) {
                let several = values.entry(at).or_default();
                if !said.contains(&at) && !several.contains(&value) {
                    several.push(value);
                }
            }
        }
        let mut calls = vec![Map::new()];
        for (at, parameter) in tool.parameters.iter().enumerate() {
            match values.get(&at) {
                Some(several) if !several.is_empty() => {
                    calls = calls
                        .iter()
                        .flat_map(|call| {
                            several.iter().map(move |value| {
                                let mut call: Map<String, Value> = call.clone();
                                call.insert(parameter.name.clone(), value.clone());
                                call
                            })
                        })
                        .take(CALLS_AT_MOST + 1)
                        .collect();
                }
                _ if parameter.required => match &parameter.default {
                    Some(default) => {
                        for call in &mut calls {
                            call.insert(parameter.name.clone(), default.clone());
                        }
                    }
                    None => return Err(missing(index, parameter)),
                },
                _ => {}
            }
        }
        let repeated: Vec<Call> = (0..draft.repeats)
            .flat_map(|_| calls.iter().map(|arguments| Call { tool: index, arguments: arguments.clone() }))
            .collect();
        if repeated.len() > CALLS_AT_MOST {
            return Err(Problem::Unknown);
        }
        Ok(repeated)
    }

    /// Returns true if the values are states: on or off, open or closed.
    fn is_state(&self, choices: &Choices) -> bool {
        choices.values.iter().all(|value| {
            let name = spoken(value);
            let words: Vec<&str> = name.split(' ').collect();
            self.language.of_tools().state(&words).is_some_and(|(_, length)| length == words.len())
        })
    }

    /// "All drawers": the value that stands for all, or each of them.
    pub(super) fn fill_all(&self, tool: &Tool, draft: &Draft, values: &mut BTreeMap<usize, Vec<Value>>) {
        for (at, parameter) in tool.parameters.iter().enumerate() {
            if values.contains_key(&at) {
                continue;
            }
            // A value that is left out may stand for all of them.
            if tool.absent_is_all && !parameter.required && draft.excepted.is_empty() {
                break;
            }
            let every: Vec<Value> = match &parameter.kind {
                // "All" is said of things, never of the states that they are in.
                ParameterKind::Choice(choices) if !self.is_state(choices) => {
                    let whole = ["everywher", "all", "every", "everything", "both"];
                    let all = whole.iter().find_map(|name| choices.named(name));
                    match all.and_then(|all| choices.value(all)) {
                        Some(all) if draft.excepted.is_empty() => vec![all.clone()],
                        all => {
                            let no_value = |value: &&Value| {
                                let name = spoken(value);
                                Some(*value) != all && !["off", "none", "blank"].contains(&name.as_str())
                            };
                            choices.values.iter().filter(no_value).cloned().collect()
                        }
                    }
                }
                ParameterKind::Number(kind)
                    if kind.whole && kind.unit.is_none() && (parameter.required || !draft.excepted.is_empty()) =>
                {
                    match (kind.minimum, kind.maximum) {
                        (Some(least), Some(most)) if most - least < NUMBERS_AT_MOST => {
                            #[expect(clippy::cast_possible_truncation, reason = "at most 32 apart")]
                            let (least, most) = (least as i64, most as i64);
                            (least..=most).map(|it| json!(it)).collect()
                        }
                        _ => Vec::new(),
                    }
                }
                _ => Vec::new(),
            };
            let every: Vec<Value> = every.into_iter().filter(|value| !draft.excepted.contains(value)).collect();
            if !every.is_empty() {
                values.insert(at, every);
                break;
            }
        }
    }
}

/// The bound that is said instead of a number; none where nothing says which.
fn bound_of(extreme: Extreme, parameter: Option<&robot::Parameter>, kind: &NumberKind, fit: &Fit) -> Option<f64> {
    match (extreme, fit.gives.as_deref()) {
        (Extreme::Lowest, Some("up" | "high")) | (Extreme::Highest, Some("down" | "low")) => None,
        (Extreme::Lowest, _) | (Extreme::Farthest, Some("down" | "low")) => kind.minimum,
        (Extreme::Highest, _) | (Extreme::Farthest, Some("up" | "high")) => kind.maximum,
        // "500 is fully open."
        (Extreme::Farthest, Some(state)) => {
            let names = |names: &Vec<String>| names.iter().any(|name| name == state);
            parameter?.aliases.iter().find(|(it, _)| names(it)).map(|(_, value)| *value)
        }
        (Extreme::Farthest, None) => None,
    }
}
