//! One clause held against one tool by one of its verbs: each word has its place, or there is no call.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::fit::{Fit, Strength};
use super::names::may_take_name;
use super::{Context, Core, Miss, Reader, Reading, Sought, Spot};
use crate::language::{Extreme, Guard};
use crate::numbers::{self, Dimension, Unit};
use crate::problem::Problem;
use crate::robot::{self, NumberKind, ParameterKind, Tool};
use crate::sentence::Word;
use crate::tokens::Kind;

/// A call that is not complete yet.
#[derive(Debug, Clone, Default)]
pub(super) struct Draft {
    /// The values of each parameter, by its index; several where the clause names several.
    pub(super) values: BTreeMap<usize, Vec<Value>>,
    /// Values that are left out of "all".
    pub(super) excepted: Vec<Value>,
    /// Number of values and words of the tool that were said.
    pub(super) matched: usize,
    pub(super) described: usize,
    /// True if a word of the tool's own name was said, besides its verb.
    pub(super) names_tool: bool,
    pub(super) names_method: bool,
    /// True if only a part of the component's name was said, and by another word.
    pub(super) names_loosely: bool,
    pub(super) says_value: bool,
    pub(super) says_state: bool,
    pub(super) all: bool,
    pub(super) refers: bool,
    /// True if it is done for whoever speaks: "get me ...".
    pub(super) has_recipient: bool,
    pub(super) repeats: u32,
    pub(super) leftover: Vec<usize>,
    pub(super) wrong: Option<Problem>,
    pub(super) role: Option<String>,
    pub(super) excepts: bool,
    /// The state that the verb asks for.
    pub(super) gives: Option<String>,
    /// True if a number may say how far something goes, or where to.
    pub(super) is_vague_change: bool,
    /// True if a number was said in a unit that is not the same everywhere.
    pub(super) is_ambiguous: bool,
    /// The parameter that took a number which may be a time of the day: "at seven".
    pub(super) may_be_time: Option<usize>,
    /// True if a number was said with its unit.
    pub(super) measured: bool,
    /// The direction that was said for a number.
    pub(super) sign: Option<f64>,
    /// A bound that was said instead of a number.
    pub(super) extreme: Option<Extreme>,
    /// The parameter of the last value, and where that ended.
    pub(super) last: Option<usize>,
    pub(super) value_end: Option<usize>,
}

impl Reader<'_> {
    /// The clause held against one tool. None where it is not meant at all.
    pub(super) fn cover(
        &self,
        index: usize,
        tool: &Tool,
        core: Core<'_>,
        fit: &Fit,
        context: Context<'_>,
    ) -> Option<Result<Reading, Miss>> {
        let draft = self.drafted(tool, core, fit, context);
        if context.sought == Sought::Calls && self.is_missed(tool, fit, &draft) {
            return None;
        }
        self.finish(index, tool, core, fit, context, draft)
    }

    /// The clause with each word in its place, as far as it has one.
    pub(super) fn drafted(&self, tool: &Tool, core: Core<'_>, fit: &Fit, context: Context<'_>) -> Draft {
        let words = core.words;
        let says = || fit.key.as_ref().and_then(|key| self.language.sense_of(key)?.state.clone());
        let mut draft = Draft { repeats: 1, gives: fit.gives.clone().or_else(says), ..Draft::default() };
        let mut at = 0;
        while at < words.len() {
            if fit.at.contains(&at) {
                at += 1;
                continue;
            }
            at += self.take(tool, core, at, fit, context, &mut draft).max(1);
            if context.sought == Sought::Calls && self.is_missed(tool, fit, &draft) {
                break;
            }
        }
        draft
    }

    /// Returns true if something was said that rules out a call.
    fn is_missed(&self, tool: &Tool, fit: &Fit, draft: &Draft) -> bool {
        draft.wrong.is_some() || (!draft.leftover.is_empty() && !may_take_name(tool, fit))
    }

    /// Accounts for the words at `at`; returns how many they are.
    fn take(
        &self,
        tool: &Tool,
        core: Core<'_>,
        at: usize,
        fit: &Fit,
        context: Context<'_>,
        draft: &mut Draft,
    ) -> usize {
        let language = self.language;
        let words = core.words;
        let spot = Spot::at(core.spots, at);
        let Some(rest) = words.get(at..) else { return 1 };
        let Some(word) = rest.first() else { return 1 };
        // The words up to the next part of the verb.
        let free = rest.iter().enumerate().take_while(|(offset, _)| !fit.at.contains(&(at + offset))).count();
        let rest = rest.get(..free).unwrap_or_default();
        match word.kind {
            Kind::Mark => {
                if !word.is_punctuation() {
                    draft.leftover.push(at);
                }
                return 1;
            }
            Kind::Quoted => return self.take_quoted(tool, words, at, draft),
            Kind::Word | Kind::Number => {}
        }
        if self.is_part_of_verb(words, at, fit) {
            return 1;
        }
        if language.facts.hints.belonging.has(&word.text)
            && let Some(at) = self.place_parameter(tool, context, draft)
        {
            draft.values.insert(at, context.place.into_iter().cloned().collect());
            draft.matched += 1;
            return 1;
        }
        // "Get yourself out of here" picks nothing up.
        let picks = || tool.verbs.iter().any(|verb| self.names(&verb.key, "pick"));
        if language.facts.hints.reflexive.has(&word.text) && !fit.asks && picks() {
            draft.leftover.push(at);
            return 1;
        }
        if spot.modifies
            && let Some(length) = self.take_modifier(tool, words, at, rest, fit, draft)
        {
            return length;
        }
        if let Some(length) = self.take_value(tool, words, at, rest, spot, draft) {
            draft.role = None;
            draft.value_end = Some(at + length);
            return length;
        }
        // "The packing area" is packing.
        if draft.value_end == Some(at) && language.words.kinds.has(&word.text) {
            return 1;
        }
        // "What does the camera do?" asks for what something does, and not for what it sees.
        if language.asks_for_deed(words, at) && !tool.described.contains(&word.stem) {
            draft.leftover.push(at);
            return 1;
        }
        if let Some(length) = self.take_degree(words, at, fit, draft) {
            return length;
        }
        if spot.measures
            && let Some(length) = self.take_measure(tool, rest, fit, context, draft)
        {
            return length;
        }
        if spot.state
            && let Some(length) = self.take_state(tool, words, rest, fit, draft)
        {
            return length;
        }
        if spot.noun
            && let Some((concept, length)) = robot::next_concept(rest, language)
            && let Some(length) = self.take_noun(tool, words, at, &concept, length, fit, draft)
        {
            return length;
        }
        if spot.refers
            && let Some(length) = self.take_reference(tool, rest, fit, context, draft)
        {
            return length;
        }
        if let Some(length) = self.take_code(tool, words, at, draft) {
            draft.value_end = Some(at + length);
            return length;
        }
        if let Some(length) = self.take_empty(tool, words, at, rest, fit, context, draft) {
            return length;
        }
        draft.leftover.push(at);
        1
    }

    /// Takes words about the whole clause: repetitions and exceptions.
    fn take_modifier(
        &self,
        tool: &Tool,
        words: &[Word],
        at: usize,
        rest: &[Word],
        fit: &Fit,
        draft: &mut Draft,
    ) -> Option<usize> {
        let language = self.language;
        let word = rest.first()?;
        // "Again and again" has no end.
        let endless = language
            .guards()
            .iter()
            .filter(|(guard, _)| *guard == Guard::Timing)
            .map(|(_, it)| it.length(rest))
            .max()
            .unwrap_or(0);
        if endless > 1 {
            draft.leftover.extend(at..at + endless);
            return Some(endless);
        }
        // "All the way up", where a number is set or a state given.
        if let Some((extreme, length)) = language.extreme(rest)
            && (bounded(tool).is_some() || (extreme == Extreme::Farthest && fit.gives.is_some()))
        {
            draft.extreme = Some(extreme);
            return Some(length);
        }
        // "10 cm left and back again" undoes what was done; how, nothing here says.
        let before = at.checked_sub(1).and_then(|before| words.get(before));
        let undoes = before.is_some_and(|word| language.facts.hints.backward.has(&word.text));
        if undoes && language.words.again.length(rest) > 0 {
            draft.leftover.push(at);
            return Some(1);
        }
        // What is said more than once.
        if let Some((times, length)) = self.repeats(rest) {
            let counted = tool.parameters.iter().position(|it| self.is_count(it));
            match counted.filter(|index| !draft.values.contains_key(index) && self.counts(tool, rest)) {
                Some(index) => {
                    draft.values.insert(index, vec![json!(times)]);
                    draft.says_value = true;
                    draft.matched += 1;
                }
                None => draft.repeats = draft.repeats.max(times),
            }
            return Some(length);
        }
        let excepted = language
            .words
            .exceptions
            .length(rest)
            .max(usize::from(draft.all && language.facts.hints.but.has(&word.text)));
        // The bar of a hotel is a place.
        if excepted > 0 && rest.len() > excepted && self.value_length(rest) == 0 {
            draft.excepts = true;
            return Some(excepted);
        }
        // "One of the drawers" is none of them.
        let chosen = language
            .guards()
            .iter()
            .filter(|(guard, _)| *guard == Guard::Choice)
            .map(|(_, it)| it.length(rest))
            .max()
            .unwrap_or(0);
        if chosen > 1 {
            draft.leftover.extend(at..at + chosen);
            return Some(chosen);
        }
        if fit.asks {
            let around = language.words.around.length(rest);
            if around > 0 {
                return Some(around);
            }
        }
        None
    }

    /// "Open the vent a little": by how much, nobody says. "A little chime" is only small.
    fn take_degree(&self, words: &[Word], at: usize, fit: &Fit, draft: &mut Draft) -> Option<usize> {
        let degree = self.language.words.degrees.length(words.get(at..)?);
        let next = words.get(at + degree).filter(|_| degree > 0);
        let ends = degree > 0 && next.is_none_or(|next| next.kind != Kind::Word || next.number.is_some());
        if !ends || fit.asks {
            return None;
        }
        draft.is_vague_change = true;
        Some(degree)
    }

    /// "All" and "both", a direction, a unit, "that" before a thing.
    fn take_measure(
        &self,
        tool: &Tool,
        rest: &[Word],
        fit: &Fit,
        context: Context<'_>,
        draft: &mut Draft,
    ) -> Option<usize> {
        let language = self.language;
        let word = rest.first()?;
        let both = language.words.both.length(rest);
        if both > 0 && !fit.goes_on {
            match self.two_before(tool, context) {
                Some((at, two)) if !draft.values.contains_key(&at) && fit.strength > Strength::Things => {
                    draft.values.insert(at, two);
                    draft.says_value = true;
                }
                _ => draft.all = true,
            }
            return Some(both);
        }
        let all = language.words.all.length(rest);
        if all > 0 && !fit.goes_on {
            draft.all = true;
            // "Every room" is every place to go to, whatever the robot calls them.
            let kind = rest.get(all..).map_or(0, |after| self.kind_of_place(after));
            if self.goes(tool) && kind > 0 {
                return Some(all + kind);
            }
            // "All four bays" are all, if there are four; the number names none of them.
            let counted = rest.get(all).filter(|next| next.number.is_some() && rest.len() > all + 1);
            if let Some(number) = counted.and_then(|next| next.number) {
                if !tool.parameters.iter().any(|it| it.kind.counts(number)) {
                    draft.wrong = Some(Problem::Unknown);
                }
                return Some(all + 1);
            }
            return Some(all);
        }
        // "Right" alone is a direction only to what turns or moves that way.
        let bare = (word.text.as_str(), 1);
        // "Two metres back", but not "back down to the floor".
        let counts = |from| rest.get(from..).is_some_and(|it| numbers::read(it, language).is_some());
        let is_back = language.facts.hints.backward.has(&word.text) && (draft.measured || (1..rest.len()).any(counts));
        let back = is_back.then_some(("backward", 1));
        let directions = [language.state(rest), Some(bare).filter(|_| language.empty(rest) == 0), back];
        let signed =
            |(state, length): (&str, usize)| Some((tool.parameters.iter().find_map(|it| it.signs.get(state))?, length));
        if let Some((sign, length)) = directions.into_iter().flatten().find_map(signed) {
            // "Left 90 degrees, a quarter turn to the right" is more than one order.
            if draft.sign.is_some_and(|other| other.signum() * sign.signum() < 0.0) {
                return None;
            }
            draft.sign = Some(*sign);
            draft.matched += 1;
            return Some(length);
        }
        // "That pallet", "this bag".
        if language.words.things.has(&word.text) && language.facts.hints.pointing.has(&word.text) {
            let noun = rest.get(1..).and_then(|after| robot::next_concept(after, language));
            if noun.is_some_and(|(noun, _)| tool.nouns.contains(&noun) || tool.described.contains(&noun)) {
                return Some(1);
            }
        }
        // The unit with which a name ends that engineers type: `target_c`.
        let is_unit = language.unit(&word.text).or_else(|| numbers::unit_of_name(&word.text)).is_some();
        if is_unit && tool.parameters.iter().any(|it| it.spelling.len() > 1 && it.spelling.contains(&word.text)) {
            return Some(1);
        }
        None
    }

    /// Words that carry nothing here: those that ask, that mark a place, and the few that never do.
    #[expect(clippy::too_many_arguments, reason = "what is known of the clause so far")]
    fn take_empty(
        &self,
        tool: &Tool,
        words: &[Word],
        at: usize,
        rest: &[Word],
        fit: &Fit,
        context: Context<'_>,
        draft: &mut Draft,
    ) -> Option<usize> {
        let language = self.language;
        let word = rest.first()?;
        if fit.asks {
            let asking = language.words.questions.length(rest);
            // "Is somebody in there?" asks about a place where the robot may not be.
            let before = at.checked_sub(1).and_then(|before| words.get(before));
            let is_place =
                language.words.places.length(rest) > 0 && before.is_some_and(|it| language.is_plain_role(&it.text));
            if is_place && context.place.is_some() && !self.is_there(context) {
                draft.leftover.push(at);
            }
            // "Describe it" does not ask whether it is something: it refers to what was said before.
            let refers = language.words.things.length(rest) >= asking && !self.asks(words);
            if asking > 0 && !refers {
                if language.words.persons.has(&word.text) && !self.sees_people(tool) {
                    draft.leftover.push(at);
                }
                return Some(asking);
            }
            if let Some((concept, length)) = robot::next_concept(rest, language)
                && language.empty(std::slice::from_ref(word)) == 0
                && language.quality(&word.text).is_some_and(|it| self.tells_of(tool, it))
            {
                let _ = concept;
                draft.matched += 1;
                draft.names_method = true;
                return Some(length);
            }
        }
        // Who comes from somewhere does not go there.
        if language.facts.hints.origin.length(rest) > 0 && !self.takes_origin(tool, &word.text) {
            draft.leftover.push(at);
            return Some(1);
        }
        if language.weighty(&word.text) {
            // "Light off everywhere" is no order to switch it on; "out of the kitchen" leads nowhere.
            let state = language.state(std::slice::from_ref(word)).and_then(|(state, _)| language.opposite(state));
            let is_opposite = state.is_some_and(|other| {
                fit.gives.as_deref() == Some(other) || fit.needs_state.iter().any(|it| it == other)
            });
            let goes = tool.verbs.iter().any(|verb| self.names(&verb.key, "go"));
            if is_opposite || (goes && fit.strength < Strength::Phrase) {
                draft.leftover.push(at);
                return Some(1);
            }
            // "From" says from where, and something must follow.
            let value_follows = rest.get(1..).is_some_and(|after| self.begins_value(tool, after));
            if !value_follows {
                draft.leftover.push(at);
            }
            draft.role = Some(word.text.clone());
            return Some(1);
        }
        let empty = language.empty(rest);
        if empty > 0 && !self.stands_for_thing(rest) {
            return Some(empty);
        }
        if language.is_plain_role(&word.text) {
            // It marks what comes next, and something must.
            let after = rest.get(1..).unwrap_or_default();
            if language.words.again.length(after) == after.len() && !fit.asks {
                draft.leftover.push(at);
            }
            draft.role = Some(word.text.clone());
            return Some(1);
        }
        // "Bring me ...", "show us ...".
        let is_recipient = language.facts.hints.recipients.has(&word.text)
            && at.checked_sub(1).is_some_and(|before| {
                let is_verb = |word: &Word| {
                    language.form(&word.text) == crate::language::Form::Gerund && !language.verbs(&word.stem).is_empty()
                };
                fit.at.contains(&before) || words.get(before).is_some_and(is_verb)
            });
        if is_recipient {
            draft.has_recipient = true;
            return Some(1);
        }
        // "The goats get two kilos".
        let receives = language.words.receives.length(rest);
        if receives > 0
            && fit.strength == Strength::Things
            && !fit.asks
            && draft.says_value
            && numbers::read(rest.get(receives..)?, language).is_some_and(|said| said.unit.is_some())
        {
            return Some(receives);
        }
        if language.facts.hints.links.has(&word.text) && at + 1 < words.len() {
            return Some(1);
        }
        None
    }
}

/// The one number of the tool that measures how far, how much of it or how fast, between two bounds; and its index.
pub(super) fn bounded(tool: &Tool) -> Option<(usize, &NumberKind)> {
    let mut numbers = tool.parameters.iter().enumerate().filter_map(|(at, parameter)| match &parameter.kind {
        ParameterKind::Number(kind) => Some((at, kind)),
        _ => None,
    });
    let measures = |unit: Unit| {
        matches!(unit.dimension, Dimension::Length | Dimension::Share | Dimension::Speed | Dimension::Rotation)
    };
    let has_bounds =
        |kind: &NumberKind| kind.minimum.is_some() && kind.maximum.is_some() && kind.unit.is_some_and(measures);
    numbers.next().filter(|(_, kind)| has_bounds(kind) && numbers.next().is_none())
}
