//! What a verb says besides what is to be done: a value, a place, a switch, or what is to be stopped.

use serde_json::Value;

use super::fit::{Fit, Strength};
use super::{Core, Reader};
use crate::language::{Form, Sense};
use crate::numbers;
use crate::robot::{Key, ParameterKind, Source, Tool, Usage, VerbHit};
use crate::sentence::{self, Word};

impl Reader<'_> {
    /// The value that a verb says by itself, and the parameter that takes it: to turn around is to turn by 180 degrees,
    /// to speak up is to be louder, and who charges goes to the charger.
    pub(super) fn value_of_verb(&self, tool: &Tool, sense: &Sense) -> Option<(usize, Value)> {
        let tools = self.language.of_tools();
        let words = |text: &String| sentence::words(text, tools).unwrap_or_default();
        let number = sense.says.iter().find_map(|text| {
            let said = numbers::read(&words(text), tools)?;
            tool.parameters.iter().enumerate().find_map(|(at, it)| match &it.kind {
                ParameterKind::Number(kind) => {
                    let same = kind.unit.map(|unit| unit.dimension) == said.unit.map(|unit| unit.dimension);
                    Some((at, kind.take(&said).ok().filter(|_| same)?))
                }
                _ => None,
            })
        });
        let places = if self.goes(tool) { sense.places.as_slice() } else { &[] };
        number.or_else(|| {
            sense.says.iter().chain(places).find_map(|text| {
                let words = words(text);
                tool.parameters.iter().enumerate().find_map(|(at, it)| {
                    let ParameterKind::Choice(choices) = &it.kind else { return None };
                    let (value, length) = choices.read(&words, tools)?;
                    (length == words.len()).then(|| Some((at, choices.value(value)?.clone())))?
                })
            })
        })
    }

    /// Returns true if the verb says a value of the tool, and nothing of the robot does by itself what it asks for.
    pub(super) fn says_choice(&self, tool: &Tool, sense: &Sense, key: &Key) -> bool {
        let is_done = self.robot.index.verb(key).is_some_and(|users| users.acts);
        !is_done
            && self.value_of_verb(tool, sense).is_some_and(|(at, _)| {
                tool.parameters.get(at).is_some_and(|it| matches!(it.kind, ParameterKind::Choice(_)))
            })
    }

    /// "Blink yellow", where the tool is told whether to blink.
    pub(super) fn by_flag(&self, tool: &Tool, hit: &VerbHit, core: Core<'_>, fit: &Fit) -> Option<Fit> {
        let [only] = hit.at.as_slice() else { return None };
        let word = core.words.get(*only)?;
        let acts = tool.usage == Usage::Step && !tool.looks;
        let is_flag = tool.parameters.iter().any(|it| it.kind == ParameterKind::Flag && self.names_parameter(word, it));
        let is_word = matches!(hit.key, Key::Word(_));
        (acts && is_flag && is_word).then(|| Fit {
            strength: Strength::Related,
            needs_value: true,
            needs_object: true,
            ..fit.clone()
        })
    }

    /// "Stop watering the lettuce", where another tool of the same component waters: what ends it is asked for.
    pub(super) fn by_stopping(&self, tool: &Tool, core: Core<'_>, hits: &[VerbHit]) -> Option<Fit> {
        let ends = |state: &str| matches!(state, "stop" | "off" | "closed");
        let own_state = |tool: &Tool, wanted: &dyn Fn(&str) -> bool| {
            let states = tool.verbs.iter().filter(|verb| verb.source == Source::Own);
            states.filter_map(|verb| self.language.sense_of(&verb.key)?.state.as_deref()).any(wanted)
        };
        if tool.usage != Usage::Step || tool.looks || tool.component.is_empty() || !own_state(tool, &ends) {
            return None;
        }
        let (stop, doing, at) = self.stopping(core.words, hits)?;
        let does = |users: &[u32]| {
            self.robot.those(users).any(|(_, other)| {
                other.component == tool.component
                    && !std::ptr::eq(other, tool)
                    && other.verbs.iter().any(|verb| doing.contains(&verb.key) && verb.source == Source::Own)
            })
        };
        let is_done = doing.iter().filter_map(|key| self.robot.index.verb(key)).any(|users| does(&users.tools));
        is_done.then(|| Fit { strength: Strength::Own, key: Some(stop), at, ..Fit::by_things() })
    }

    /// The verb that ends something at the beginning, what is to end, and the words of both.
    pub(super) fn stopping(&self, words: &[Word], hits: &[VerbHit]) -> Option<(Key, Vec<Key>, Vec<usize>)> {
        let begin = self.verb_position(words)?;
        let stops = |hit: &&VerbHit| hit.at.first() == Some(&begin) && self.names(&hit.key, "stop");
        let stop = hits.iter().filter(stops).max_by_key(|hit| hit.at.len())?;
        let after = stop.at.last()? + 1;
        let articles = words.get(after..)?.iter().take_while(|word| self.language.is_article(&word.text)).count();
        let doing = after + articles;
        let is_gerund = words.get(doing).is_some_and(|word| self.language.form(&word.text) == Form::Gerund);
        let keys = hits.iter().filter(|hit| hit.at == [doing]).map(|hit| hit.key.clone()).collect();
        let at = stop.at.iter().copied().chain(after..=doing).collect();
        is_gerund.then_some((stop.key.clone(), keys, at))
    }

    /// Returns true if the state is one of two between which the tool, or another of its component, leaves the choice.
    pub(super) fn has_counterpart(&self, tool: &Tool, state: &str, own: &[&str]) -> bool {
        let is_other = |other: &str| {
            self.language.opposite(state) == Some(other)
                || matches!((state, other), ("start", "stop") | ("stop", "start"))
        };
        let has = |other: &Tool| {
            other.component == tool.component
                && !std::ptr::eq(other, tool)
                && other.verbs.iter().any(|verb| {
                    let sense = self.language.sense_of(&verb.key).and_then(|sense| sense.state.as_deref());
                    verb.source == Source::Own && sense.is_some_and(is_other)
                })
        };
        // What does both ways is told by its value which.
        !own.iter().any(|other| is_other(other)) && self.robot.tools.iter().any(has)
    }
}
