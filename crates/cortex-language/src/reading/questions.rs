//! The looks that answer a question.
//!
//! A look moves nothing, so that not every word needs a place. But the tool has to tell of what is asked: "how heavy is
//! it?" is answered by what tells of a weight, or by nothing. What the words ask about are the topics of the language.

use std::collections::BTreeMap;

use serde_json::Value;

use super::asked::{Asked, Hit, JOINT};
use super::cover::Draft;
use super::fit::Fit;
use super::likely::THING;
use super::{Call, Context, Core, Reader};
use crate::numbers;
use crate::robot::{Parameter, ParameterKind, Tool, Usage};
use crate::sentence::Word;
use crate::tokens::Kind;

/// So much has to speak for a look, less what the words that it leaves over weigh.
const ANSWERED_FROM: f64 = 2.5;
/// So much has to speak for one for which the robot goes somewhere: that is asked about.
const ASKED_FROM: f64 = 1.5;
/// So much less speaks for a look that lacks a value.
const LACKING: f64 = 1.5;
/// So far behind the best one another look has to be.
const MARGIN: f64 = 0.75;
/// So much of what speaks for a look the words left over may take away.
const LEFT_OVER_AT_MOST: f64 = 0.7;
/// What a word left over takes away, of its weight.
const LEFT_OVER: f64 = 0.8;
/// Of what is said for certain, a hint counts so much.
const HINT: f64 = 0.6;
/// How a topic stands by itself: "how is the tank?"
const STATUS: &str = "status";
/// Where the robot is, and what it sees from there.
const LOCATION: &str = "location";
pub(super) const SIGHT: &str = "sight";
pub(super) const PEOPLE: &str = "people";
const POWER: &str = "power";
const TEMPERATURE: &str = "temperature";
const WEIGHT: &str = "weight";
/// What is asked of the robot itself, whatever else is said.
const OF_ROBOT: [&str; 5] = [POWER, LOCATION, SIGHT, PEOPLE, "jobs"];
/// So much speaks for a tool that is named.
const NAMED: f64 = 0.8;
const PRESENCE: &str = "presence";
const SEARCH: &str = "search";

/// The looks that answer a question.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Answer {
    pub(crate) calls: Vec<Call>,
    /// True if the robot has to go somewhere to look, which nobody said.
    pub(crate) goes: bool,
}

impl Reader<'_> {
    /// The looks that answer the question, if the words ask one. `before` is what was looked at just before.
    pub(crate) fn answer(&self, words: &[Word], before: &[Call]) -> Option<Answer> {
        let asked = self.asked(words, before)?;
        let mut found: Vec<(f64, Option<Answer>)> = Vec::new();
        for index in 0..self.robot.len() {
            let Some(tool) = self.robot.tool(index).filter(|tool| tool.looks || tool.usage != Usage::Step) else {
                continue;
            };
            found.extend(self.answered_by(index, tool, &asked));
        }
        found.sort_by(|(one, _), (other, _)| other.total_cmp(one));
        let mut found = found.into_iter();
        let (best, answer) = found.next()?;
        // What lacks a value is asked for all the same.
        found.next().is_none_or(|(other, _)| other <= best - MARGIN).then_some(answer)?
    }

    /// How surely the tool tells of a topic.
    pub(super) fn tells(&self, tool: &Tool, topic: &str) -> f64 {
        if topic == LOCATION && !tool.parameters.is_empty() {
            return 0.0;
        }
        let takes_people = || {
            let is_person = |it: &Parameter| matches!(&it.kind, ParameterKind::Choice(choices) if choices.named("person").is_some());
            tool.parameters.iter().any(is_person) || (tool.parameters.is_empty() && self.sees_people(tool))
        };
        let words = self.language.told_by(topic);
        // What tells of the temperature of a room does not tell where the robot is.
        let named = || {
            [POWER, TEMPERATURE, WEIGHT]
                .iter()
                .any(|other| self.language.told_by(other).iter().any(|word| tool.name_nouns.contains(word)))
        };
        let has = |nouns: &std::collections::BTreeSet<String>| words.iter().any(|word| nouns.contains(word));
        if has(&tool.name_nouns) || (topic == PEOPLE && takes_people()) {
            3.0
        } else if has(&tool.nouns) {
            2.5
        } else if topic == LOCATION && named() {
            0.0
        } else if words
            .iter()
            .any(|word| tool.described.contains(word) && !self.language.of_tools().roles.contains_key(word))
        {
            2.0
        } else {
            0.0
        }
    }

    /// What speaks for an answer by this tool, and the answer.
    fn answered_by(&self, index: usize, tool: &Tool, asked: &Asked) -> Option<(f64, Option<Answer>)> {
        let spots = self.spots(&asked.words);
        let core = Core { words: &asked.words, lead: None, asks: true, spots: &spots };
        let fit = Fit { asks: true, ..Fit::by_things() };
        let mut draft = self.drafted(tool, core, &fit, Context::default());
        // What is asked of everything is answered by no single thing.
        let is_single = draft.all && tool.parameters.is_empty();
        if draft.wrong.is_some()
            || draft.excepts
            || is_single
            || (self.tells(tool, SIGHT) == 0.0 && self.counts_in_vain(tool, core))
        {
            return None;
        }
        let is_told = asked.topics.iter().flat_map(|hit| &hit.topics).any(|topic| self.tells(tool, topic) > 0.0);
        let words = asked.words.get(asked.start..).unwrap_or_default();
        if self.asks_of_other(tool, words) && (!is_told || self.tells(tool, LOCATION) > 0.0) {
            return None;
        }
        draft.leftover.retain(|at| *at >= asked.start);
        let topics = self.told_topics(tool, asked, &draft)?;
        // What finds a thing does not tell what is in it, nor how much of it there is.
        let measures =
            asked.words.get(asked.start).is_some_and(|first| self.language.words.determiners.has(&first.text));
        let only_finds = topics.keys().all(|topic| [SEARCH, SIGHT, PRESENCE, STATUS].contains(topic));
        if measures && only_finds && tool.parameters.iter().any(|it| it.required) {
            return None;
        }
        let left = self.left_over(tool, asked, &draft, &topics)?;
        // "Is it over 30 in the oven?" asks for what the oven measures.
        let compared = if left.compares && draft.names_tool { 1.0 } else { 0.0 };
        let said: f64 = topics.values().sum::<f64>() + compared + if draft.names_tool { NAMED } else { 0.0 };
        #[expect(clippy::cast_precision_loss, reason = "a handful of words")]
        let evidence = 2.0 * draft.matched as f64 + 0.5 * draft.described.min(3) as f64 + said;
        let is_about = draft.matched > 0
            || topics.contains_key(PEOPLE)
            || asked.topics.iter().any(|hit| hit.topics.iter().any(|it| topics.contains_key(it.as_str())));
        // To go there is asked about, so that less has to speak for it.
        let (is_about, needed) = if left.place.is_some() { (true, ASKED_FROM) } else { (is_about, ANSWERED_FROM) };
        if !is_about || said < 1.0 || evidence - left.weight < needed || left.weight > evidence * LEFT_OVER_AT_MOST {
            return None;
        }
        // "Is it on, and is somebody in there?": where the robot is not.
        let elsewhere = |at: usize| {
            let is_place = asked.words.get(at..).is_some_and(|rest| self.language.words.places.length(rest) > 0);
            let before = at.checked_sub(1).and_then(|before| asked.words.get(before));
            is_place && before.is_some_and(|before| self.language.is_plain_role(&before.text))
        };
        if self.tells(tool, SIGHT) > 0.0 && (0..asked.words.len()).any(elsewhere) {
            return None;
        }
        // Who orders a look says all of it.
        let is_certain = asked.topics.iter().any(|hit| hit.topics.iter().any(|it| topics.contains_key(it.as_str())));
        if asked.is_ordered && (left.weight > 0.0 || !is_certain) {
            return None;
        }
        let gone_on = self.fill(tool, asked, &mut draft)?;
        let goes = left.place.is_some();
        let calls = self.calls(index, tool, &draft, Context::default(), false).ok();
        let calls = calls.map(|calls| left.place.into_iter().chain(calls).collect());
        let lacking = if calls.is_none() { LACKING } else { 0.0 };
        Some((evidence + gone_on - lacking - left.weight, calls.map(|calls| Answer { calls, goes })))
    }

    /// "Are you still at dock 1?" asks where the robot is, and not what stands there; "has the lorry arrived at dock four?"
    /// does not ask for the robot.
    pub(super) fn asks_of_other(&self, tool: &Tool, words: &[Word]) -> bool {
        let language = self.language;
        let said = &language.words;
        let Some((first, rest)) = words.split_first() else { return false };
        if !said.told.has(&first.text) {
            return false;
        }
        let tells_place = self.tells(tool, LOCATION) > 0.0;
        let is_robot = rest.first().is_some_and(|word| language.facts.hints.addressed.has(&word.text));
        let role = rest.iter().skip(1).find(|word| language.empty(std::slice::from_ref(word)) == 0);
        let is_at = role.is_some_and(|role| language.is_plain_role(&role.text));
        let is_article = |word: &Word| language.is_article(&word.text) && !said.addressed.has(&word.text);
        let is_thing = rest.first().is_some_and(is_article);
        let only_place = tells_place && self.tells(tool, SIGHT) == 0.0;
        is_robot && is_at && !tells_place || is_thing && only_place
    }

    /// The topics of the question of which the tool tells; none if it does not tell of one that is asked about.
    fn told_topics<'a>(&self, tool: &Tool, asked: &'a Asked, draft: &Draft) -> Option<BTreeMap<&'a str, f64>> {
        let mut told: BTreeMap<&str, f64> = BTreeMap::new();
        for hit in &asked.topics {
            // "How full is the battery" asks for its charge as well.
            let hinted = asked
                .hints
                .iter()
                .filter(|hint| hint.range.start <= hit.range.start && hit.range.end <= hint.range.end);
            let mut is_told = hinted.flat_map(|hint| &hint.topics).any(|topic| self.tells(tool, topic) > 0.0);
            for topic in &hit.topics {
                let tells = self.tells(tool, topic);
                if tells > 0.0 {
                    is_told = true;
                    told.insert(topic, tells);
                }
            }
            let names = |at: usize| {
                let word = asked.words.get(at);
                word.is_some_and(|word| !self.language.words.questions.has(&word.text) && !draft.leftover.contains(&at))
            };
            if !is_told && hit.range.end > asked.start && !hit.range.clone().any(names) {
                return None;
            }
        }
        for hint in asked.hints.iter().flat_map(|hint| &hint.topics) {
            let tells = HINT * self.tells(tool, hint);
            if tells > 0.0 {
                told.entry(hint).or_insert(tells);
            } else if hint == STATUS && draft.matched > 0 {
                told.entry(hint).or_insert(1.0);
            }
        }
        // "And in the barn?"
        let goes_on =
            asked.before.iter().any(|call| self.robot.tool(call.tool).is_some_and(|it| std::ptr::eq(it, tool)));
        if told.is_empty() && goes_on && draft.says_value {
            told.insert(STATUS, 2.0);
        }
        Some(told)
    }

    /// What the words weigh that the tool leaves over, and where it has to go; none if one of them asks for something else.
    fn left_over(&self, tool: &Tool, asked: &Asked, draft: &Draft, topics: &BTreeMap<&str, f64>) -> Option<LeftOver> {
        let language = self.language;
        let words = asked.words.as_slice();
        let is_told = |at: &usize| {
            let covers =
                |hit: &Hit| hit.range.contains(at) && hit.topics.iter().any(|it| topics.contains_key(it.as_str()));
            asked.topics.iter().chain(&asked.hints).any(covers)
        };
        let is_seen = asked.topics.iter().any(|hit| hit.topics.iter().any(|topic| topic == SIGHT));
        let sees_all = topics.contains_key(SIGHT) && tool.parameters.is_empty();
        let takes_others = self.takes_others(tool, asked, draft, topics);
        let mut left = LeftOver { weight: 0.0, place: None, compares: false };
        let mut end = 0;
        for at in draft.leftover.iter().copied().filter(|at| !is_told(at)) {
            let (Some(word), Some(rest)) = (words.get(at), words.get(at..)) else { continue };
            if at < end || word.kind == Kind::Mark {
                continue;
            }
            if let Some((call, length)) = self.place(rest) {
                end = at + length;
                if !topics.contains_key(LOCATION) {
                    let is_local = self.tells(tool, SIGHT) > 0.0 || tool.described.contains("front");
                    left.place = Some(call).filter(|_| is_local && left.place.is_none());
                    left.place.as_ref()?;
                }
                continue;
            }
            if let Some(length) = self.threshold(words, at) {
                end = at + length;
                left.compares = true;
                continue;
            }
            let before = at.checked_sub(1).and_then(|before| words.get(before));
            let is_asked = before.is_some_and(|before| language.words.determiners.has(&before.text));
            // Who did something is told by nothing.
            if language.words.persons.has(&word.text) && language.words.determiners.has(&word.text) {
                return None;
            }
            let passes = language.words.questions.has(&word.text) || language.is_article(&word.text);
            if passes && language.state(std::slice::from_ref(word)).is_none() {
                continue;
            }
            // Where something is is told by what finds it.
            let is_found =
                topics.contains_key(SEARCH) && draft.says_value && tool.parameters.iter().any(|it| it.required);
            let length = self.value_length(rest);
            if is_found && length > 0 {
                end = at + length;
                continue;
            }
            // "The battery of the mower" is another one.
            let back =
                words.get(..at).unwrap_or_default().iter().rev().take_while(|word| language.is_article(&word.text));
            let is_owner = back.into_iter().any(|word| language.words.possessives.has(&word.text));
            let is_other = is_owner || length > 0 || self.has_value(rest);
            let is_state = language.weighty(&word.text) && language.state(std::slice::from_ref(word)).is_some();
            if is_asked || is_other || is_state || word.number.is_some() || language.words.positions.has(&word.text) {
                return None;
            }
            // Of two things that are joined both are asked about.
            let joint = words.get(..at).unwrap_or_default().iter().rposition(|word| word.stem == JOINT);
            let is_second =
                |joint: usize| (joint..at).all(|at| words.get(at..).is_none_or(|rest| self.value_length(rest) == 0));
            if draft.says_value && joint.is_some_and(is_second) {
                return None;
            }
            let weight = self.weight(word);
            if weight >= THING && !takes_others && !sees_all && !self.is_all_over(words, at) {
                return None;
            }
            if !sees_all || !(is_seen || left.place.is_some()) {
                // "... on the floor": where it is said to be matters less.
                let role = words.get(..at).unwrap_or_default().iter().rfind(|word| !language.is_article(&word.text));
                let is_place = role.is_some_and(|role| language.is_plain_role(&role.text));
                left.weight += LEFT_OVER * weight * if is_place { 0.5 } else { 1.0 };
            }
        }
        Some(left)
    }

    /// Returns true if a thing that the tool does not know may be said beside what it tells: "is your battery good for the
    /// tour?" Of one that takes a value, or that measures something else, it asks for what the tool does not tell.
    fn takes_others(&self, tool: &Tool, asked: &Asked, draft: &Draft, topics: &BTreeMap<&str, f64>) -> bool {
        let is_open = |(at, it): (usize, &Parameter)| {
            matches!(it.kind, ParameterKind::Choice(_) | ParameterKind::Number(_)) && !draft.values.contains_key(&at)
        };
        let asks = |topic: &&str| asked.topics.iter().any(|hit| hit.topics.iter().any(|it| it == topic));
        let of_robot =
            OF_ROBOT.iter().filter(|topic| topics.contains_key(**topic)).any(asks) || topics.contains_key(PEOPLE);
        let names = |at: usize| {
            let concept = asked.words.get(at..).and_then(|rest| crate::robot::next_concept(rest, self.language));
            concept.is_some_and(|(concept, _)| tool.component.contains(&concept))
        };
        !tool.parameters.iter().enumerate().any(is_open) && (of_robot || (0..asked.words.len()).any(names))
    }

    /// Returns true if the word belongs to "in the whole house".
    fn is_all_over(&self, words: &[Word], at: usize) -> bool {
        let ends =
            |begin: usize| words.get(begin..).map_or(0, |rest| begin + self.language.words.everywhere.length(rest));
        (0..=at).any(|begin| ends(begin) > at)
    }

    /// "Over 800 kg", "more than half": what something is compared with. Returns the number of words.
    fn threshold(&self, words: &[Word], at: usize) -> Option<usize> {
        let rest = words.get(at..)?;
        let compares = self.language.words.thresholds.length(rest);
        let said = numbers::read(rest.get(compares..)?, self.language)?;
        let is_compared = || {
            (1..=at.min(2)).any(|back| {
                words.get(at - back..at).is_some_and(|it| self.language.words.thresholds.length(it) == back)
            })
        };
        (compares > 0 || said.unit.is_some() || is_compared()).then_some(compares + said.length)
    }

    /// The place that begins here, as the call that goes there, and the number of its words.
    fn place(&self, words: &[Word]) -> Option<(Call, usize)> {
        let articles = words.iter().take_while(|word| self.language.is_article(&word.text)).count();
        self.robot.those(&self.robot.index.goes).find_map(|(tool, it)| {
            let mut needed = it.parameters.iter().filter(|it| it.required);
            let parameter = needed.next().filter(|_| needed.next().is_none())?;
            let ParameterKind::Choice(choices) = &parameter.kind else { return None };
            let (value, length) = choices.read(words.get(articles..)?, self.language)?;
            let arguments = [(parameter.name.clone(), choices.value(value)?.clone())].into_iter().collect();
            Some((Call { tool, arguments }, articles + length))
        })
    }

    /// Gives the parameters what the question means by "anybody", "any of the drawers" and "it". Returns what it means
    /// that the values of the question before fit; none if the question asks for people and for something else.
    fn fill(&self, tool: &Tool, asked: &Asked, draft: &mut Draft) -> Option<f64> {
        let language = self.language;
        let words = asked.words.as_slice();
        let any = |says: &dyn Fn(&[Word]) -> bool| (0..words.len()).any(|at| words.get(at..).is_some_and(says));
        let asks_for_people = any(&|rest| language.words.persons.length(rest) > 0);
        for (at, parameter) in tool.parameters.iter().enumerate() {
            let ParameterKind::Choice(choices) = &parameter.kind else { continue };
            let person = choices.named("person").and_then(|person| choices.value(person));
            let Some(person) = person.filter(|_| asks_for_people) else { continue };
            let several = draft.values.entry(at).or_insert_with(|| vec![person.clone()]);
            if !several.contains(person) {
                return None;
            }
        }
        let names = |rest: &[Word]| {
            let length = language.words.quantifiers.length(rest);
            let after = rest.get(length..).unwrap_or_default();
            let skipped = after.iter().take_while(|word| language.empty(&[word]) > 0).count();
            let concept = after.get(skipped..).and_then(|after| crate::robot::next_concept(after, language));
            length > 0
                && concept.is_some_and(|(concept, _)| {
                    tool.nouns.contains(&concept) || tool.parameters.iter().any(|it| it.words.contains(&concept))
                })
        };
        let all_over = any(&|rest| language.words.everywhere.length(rest) > 0);
        draft.all |= any(&names) || (all_over && draft.values.is_empty());
        // Without a value, all of them are meant, unless there is one for all.
        let whole = |it: &Parameter| {
            let is_whole =
                |name: &&str| matches!(&it.kind, ParameterKind::Choice(choices) if choices.named(name).is_some());
            it.required || ["everywher", "all"].iter().any(is_whole)
        };
        draft.all &= tool.absent_is_all || tool.parameters.iter().any(whole);
        let mut fitting = 0.0;
        let refers = any(&|rest| language.words.things.length(rest) > 0);
        for (at, parameter) in tool.parameters.iter().enumerate() {
            if draft.all || draft.values.contains_key(&at) || !(parameter.required || refers) {
                continue;
            }
            let mut said: Vec<Value> = Vec::new();
            for value in asked.before.iter().filter_map(|call| call.arguments.get(&parameter.name)) {
                if !said.contains(value) {
                    said.push(value.clone());
                }
            }
            if !said.is_empty() {
                draft.values.insert(at, said);
                fitting += 1.0;
            }
        }
        Some(fitting)
    }
}

/// What an answer leaves over of a question.
struct LeftOver {
    weight: f64,
    /// The call that goes to where the tool has to look.
    place: Option<Call>,
    /// True if something is compared with a number.
    compares: bool,
}
