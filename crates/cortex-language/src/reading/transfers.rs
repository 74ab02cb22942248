//! A thing that is to be brought from one place to another, by a robot that has one tool to pick it up, one to put it
//! down and perhaps one to drive: "bring the tip box from bench 1 to the sink", "put the red mug on the tray".
//!
//! As anywhere, each word has its place, or nothing is read.

use serde_json::{Map, Value};

use super::fit::Strength;
use super::{Call, Context, Core, Reader, Reading, Score};
use crate::robot::{self, Key, ParameterKind, Tool, Transfer, Usage};
use crate::sentence::Word;
use crate::tokens::Kind;

/// Most things that one clause brings.
const THINGS_AT_MOST: usize = 4;

/// What a clause says of a thing to be brought.
#[derive(Debug, Clone, Default)]
struct Errand {
    things: Vec<Value>,
    /// The thing is the one that was picked up before.
    refers: bool,
    names_thing: bool,
    source: Option<Value>,
    target: Option<Value>,
    /// It is for whoever speaks, or for somebody else.
    has_recipient: bool,
    matched: usize,
}

/// Where a place stands in a clause.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Side {
    Source,
    Target,
}

impl Reader<'_> {
    /// The clause as a thing to be brought somewhere.
    pub(super) fn transfer(&self, core: Core<'_>, context: Context<'_>) -> Option<Reading> {
        if core.asks {
            return None;
        }
        let mut hits = robot::hits(core.words, self.language);
        hits.retain(|hit| !hit.lent);
        let begin = self.verb_position(core.words);
        let mut ways: Vec<(Option<Key>, Vec<usize>, bool)> = Vec::new();
        for hit in hits.iter().filter(|hit| hit.at.first().copied() == begin) {
            let Some(sense) = self.language.sense_of(&hit.key) else { continue };
            let picks = matches!(sense.name.as_str(), "pick" | "fetch");
            let brings = matches!(sense.name.as_str(), "place" | "put_back" | "leave" | "deliver" | "carry" | "move");
            if picks || brings || sense.light {
                ways.push((Some(hit.key.clone()), hit.at.clone(), picks));
            }
        }
        // "The whisk's in the sink" is no order.
        if !self.is_statement(core.words) {
            ways.push((None, Vec::new(), false));
        }
        self.robot.transfers.iter().find_map(|transfer| {
            ways.iter().find_map(|(key, at, picks)| {
                let errand = self.errand(transfer, core.words, at, *picks, context)?;
                self.brought(transfer, &errand, key.clone(), context)
            })
        })
    }

    /// The thing and the places of the clause, if it says nothing else.
    fn errand(
        &self,
        transfer: &Transfer,
        words: &[Word],
        verb: &[usize],
        picks: bool,
        context: Context<'_>,
    ) -> Option<Errand> {
        let language = self.language;
        let (pick, place) = (self.robot.tool(transfer.pick)?, self.robot.tool(transfer.place)?);
        let drive = transfer.drive.and_then(|index| self.robot.tool(index));
        let mut errand = Errand::default();
        let mut side: Option<Side> = None;
        let mut at = 0;
        while let Some(word) = words.get(at) {
            let rest = words.get(at..)?;
            if verb.contains(&at) {
                at += 1;
                continue;
            }
            if word.kind == Kind::Mark {
                if !word.is_punctuation() {
                    return None;
                }
                at += 1;
                continue;
            }
            let spots = match side {
                Some(Side::Target) if choice(place).is_some() => Some(place),
                Some(_) => drive,
                None => None,
            };
            if let (Some(now), Some((value, length))) = (side, spots.and_then(|tool| self.choice_at(tool, rest))) {
                let slot = if now == Side::Source { &mut errand.source } else { &mut errand.target };
                if slot.replace(value).is_some() {
                    return None;
                }
                side = None;
                errand.matched += 1;
                at += length;
                continue;
            }
            // "Hand me the mug", "for Anna".
            let is_first = picks && at.checked_sub(1).is_some_and(|before| verb.contains(&before));
            let recipient = self.recipient(rest, is_first);
            if recipient > 0 && side.is_none() {
                errand.has_recipient = true;
                at += recipient;
                continue;
            }
            let articles = rest.iter().take_while(|word| language.is_article(&word.text)).count();
            if side.is_some() && articles > 0 {
                at += articles;
                continue;
            }
            if side.is_none()
                && let Some((value, length)) = self.choice_at(pick, rest)
            {
                errand.things.push(value);
                errand.matched += 1;
                at += length;
                continue;
            }
            let concept = robot::next_concept(rest, language);
            if let (None, Some((concept, length))) = (choice(pick), &concept)
                && side.is_none()
                && pick.nouns.contains(concept)
                && !errand.names_thing
            {
                errand.names_thing = true;
                errand.matched += 1;
                at += length;
                continue;
            }
            let things = language.words.things.length(rest);
            if self.points_at_thing(pick, rest) {
                at += 1;
                continue;
            }
            if side.is_none() && things > 0 && errand.things.is_empty() {
                errand.refers = true;
                at += things;
                continue;
            }
            // "There" is where the robot was sent before.
            let places = language.words.places.length(rest);
            if places > 0 && choice(place).is_none() && errand.target.is_none() {
                errand.target = Some(context.place?.clone());
                at += places;
                continue;
            }
            if let Some((next, length)) = self.side(rest, picks) {
                side = Some(next);
                at += length;
                continue;
            }
            let joined = language.words.joints.length(rest);
            if joined > 0 && !errand.things.is_empty() && self.choice_at(pick, rest.get(joined..)?).is_some() {
                at += joined;
                continue;
            }
            let skipped =
                language.empty(rest).max(language.words.belongs.length(rest)).max(language.words.here.length(rest));
            if skipped == 0 || (verb.is_empty() && language.words.belongs.length(rest) == 0 && side.is_some()) {
                return None;
            }
            at += skipped;
        }
        (side.is_none() && errand.things.len() <= THINGS_AT_MOST).then_some(errand)
    }

    /// "That pallet", "this mug".
    fn points_at_thing(&self, pick: &Tool, words: &[Word]) -> bool {
        let Some((word, after)) = words.split_first() else { return false };
        self.language.facts.hints.pointing.has(&word.text)
            && (self.choice_at(pick, after).is_some()
                || robot::next_concept(after, self.language).is_some_and(|(noun, _)| pick.nouns.contains(&noun)))
    }

    /// The number of words that say for whom a thing is brought.
    fn recipient(&self, words: &[Word], is_first: bool) -> usize {
        let hints = &self.language.facts.hints;
        if words.first().is_some_and(|first| hints.recipients.has(&first.text)) {
            return 1;
        }
        let marks = self.language.words.for_whom.length(words);
        let rest = words.get(marks..).unwrap_or_default();
        let end = rest.iter().take(2).take_while(|word| word.kind == Kind::Word).count();
        let is_somebody =
            |people: &[Word]| self.are_people(people) || matches!(people, [only] if hints.recipients.has(&only.text));
        let people = (1..=end).rev().find(|end| rest.get(..*end).is_some_and(is_somebody));
        people.filter(|_| marks > 0 || is_first).map_or(0, |people| marks + people)
    }

    /// "Hand me the mug": it is picked up and held out, where one position of the robot is for that.
    pub(super) fn handed(&self, core: Core<'_>, context: Context<'_>) -> Option<Reading> {
        const HANDS_OVER: [&str; 3] = ["handover", "handov", "hand over"];
        if self.robot.transfers.is_empty() {
            return None;
        }
        let begin = self.verb_position(core.words);
        let hits = robot::hits(core.words, self.language);
        let is_given = |hit: &robot::VerbHit| self.names(&hit.key, "give");
        let brings = |hit: &robot::VerbHit| self.names(&hit.key, "fetch") || self.names(&hit.key, "deliver");
        let gives =
            |hit: &&robot::VerbHit| !hit.lent && hit.at.first().copied() == begin && (is_given(hit) || brings(hit));
        let held_out = self.robot.tools.iter().enumerate().find_map(|(index, tool)| {
            let parameter = choice(tool)?;
            let ParameterKind::Choice(choices) = &parameter.kind else { return None };
            let named = HANDS_OVER.iter().find_map(|name| choices.named(name))?;
            let arguments = Map::from_iter([(parameter.name.clone(), choices.value(named)?.clone())]);
            Some(Call { tool: index, arguments })
        })?;
        let ways =
            self.robot.transfers.iter().flat_map(|transfer| hits.iter().filter(gives).map(move |hit| (transfer, hit)));
        ways.into_iter().find_map(|(transfer, hit)| {
            let errand = self.errand(transfer, core.words, &hit.at, true, context)?;
            let [thing] = errand.things.as_slice() else { return None };
            // "Hand over the mug", "hand Anna the mug", "hand me the mug".
            let is_for_somebody = errand.has_recipient || hit.at.len() > 1 && is_given(hit);
            if !is_for_somebody || errand.source.is_some() || errand.target.is_some() {
                return None;
            }
            let is_held = self.held(transfer, context).flatten().as_ref() == Some(thing);
            let pick = Call { tool: transfer.pick, arguments: argument(self.robot.tool(transfer.pick)?, Some(thing))? };
            let calls = if is_held { vec![held_out.clone()] } else { vec![pick, held_out.clone()] };
            Some(Reading { verb: Some(hit.key.clone()), ..Reading::of(calls) })
        })
    }

    /// A value of the tool's choice at the beginning, after an article.
    fn choice_at(&self, tool: &Tool, words: &[Word]) -> Option<(Value, usize)> {
        let articles = words.iter().take_while(|word| self.language.is_article(&word.text)).count();
        let ParameterKind::Choice(choices) = &choice(tool)?.kind else { return None };
        let (value, length) = choices.read(words.get(articles..)?, self.language)?;
        Some((choices.value(value)?.clone(), length + articles))
    }

    /// What a preposition says of the place that follows it, and the number of its words.
    fn side(&self, words: &[Word], picks: bool) -> Option<(Side, usize)> {
        let sources = self.language.words.sources.length(words);
        if sources > 0 {
            return Some((Side::Source, sources));
        }
        let targets = self.language.words.targets.length(words);
        if targets > 0 {
            return Some((Side::Target, targets));
        }
        let rests = self.language.words.rests.length(words);
        (rests > 0).then_some((if picks { Side::Source } else { Side::Target }, rests))
    }

    /// The calls of an errand that is said completely.
    fn brought(
        &self,
        transfer: &Transfer,
        errand: &Errand,
        verb: Option<Key>,
        context: Context<'_>,
    ) -> Option<Reading> {
        let (pick, place) = (self.robot.tool(transfer.pick)?, self.robot.tool(transfer.place)?);
        let drive = transfer.drive.and_then(|index| Some((index, self.robot.tool(index)?)));
        let held = self.held(transfer, context);
        let names = !errand.things.is_empty() || errand.names_thing;
        // "Carry it to the sink, leave it there": it is put down once.
        if let Some(before) = context.before
            && errand.refers
            && !names
            && errand.target.is_some()
            && errand.target.as_ref() == context.place
            && held.is_none()
            && before.calls.last().is_some_and(|last| last.tool == transfer.place)
        {
            return Some(Reading { amends: true, ..before.clone() });
        }
        // "It" is what the robot holds.
        let is_known = names || (errand.refers && held.is_some());
        if !is_known {
            return None;
        }
        // "Put the salt on the tray, and the pepper too."
        let errand = &self.completed(transfer, errand, verb.is_none(), context);
        // "Get the box from bench 1": what becomes of it is said later, if at all.
        let Some(target) = errand.target.clone() else {
            let [thing] = errand.things.as_slice() else { return None };
            // To somebody whose place nobody knows it is not brought.
            if errand.has_recipient {
                return None;
            }
            let (index, tool) = drive.filter(|_| held.is_none())?;
            let calls = vec![
                Call { tool: index, arguments: argument(tool, Some(errand.source.as_ref()?))? },
                Call { tool: transfer.pick, arguments: argument(pick, Some(thing))? },
            ];
            let score = Score { closed: true, strength: Strength::Own, matched: errand.matched, described: 0 };
            return Some(Reading { calls, score, verb, amends: false, doubtful: false, refers: false, places: 0 });
        };
        let things: Vec<Option<Value>> =
            if errand.things.is_empty() { vec![None] } else { errand.things.iter().cloned().map(Some).collect() };
        let mut calls = Vec::new();
        for thing in things {
            let holds = match (&held, &thing) {
                (Some(held), Some(thing)) => held.as_ref() == Some(thing),
                (Some(_), None) => true,
                (None, _) => false,
            };
            if !holds {
                if let Some(source) = &errand.source {
                    let (index, tool) = drive?;
                    calls.push(Call { tool: index, arguments: argument(tool, Some(source))? });
                }
                calls.push(Call { tool: transfer.pick, arguments: argument(pick, thing.as_ref())? });
            }
            if choice(place).is_some() {
                calls.push(Call { tool: transfer.place, arguments: argument(place, Some(&target))? });
            } else {
                let (index, tool) = drive?;
                calls.push(Call { tool: index, arguments: argument(tool, Some(&target))? });
                calls.push(Call { tool: transfer.place, arguments: Map::new() });
            }
        }
        let score = Score { closed: true, strength: Strength::Own, matched: errand.matched, described: 0 };
        // "Leave the pallet there" is said of one that the robot holds, as far as one can tell.
        let leaves = verb.as_ref().is_some_and(|key| self.names(key, "leave") || self.names(key, "place"));
        let doubtful = leaves && choice(pick).is_none() && held.is_none();
        Some(Reading { calls, score, verb, amends: false, doubtful, refers: errand.refers, places: 0 })
    }

    /// The errand with the place to which the thing before was brought, where only another thing is said.
    fn completed(&self, transfer: &Transfer, errand: &Errand, goes_on: bool, context: Context<'_>) -> Errand {
        let target = || {
            let last = context.before?.calls.last().filter(|call| call.tool == transfer.place)?;
            last.arguments.values().next().or(context.place).cloned()
        };
        let open = goes_on && errand.target.is_none() && errand.source.is_none() && !errand.things.is_empty();
        let target = if open { target() } else { errand.target.clone() };
        Errand { target, ..errand.clone() }
    }

    /// Returns true if the tool fetches something, so that the robot holds it.
    fn takes_out(&self, tool: &Tool) -> bool {
        let takes = |verb: &robot::Verb| {
            verb.source == robot::Source::Own
                && ["pick", "fetch", "take_from", "unload"].iter().any(|it| self.names(&verb.key, it))
        };
        tool.usage == Usage::Step && !tool.looks && tool.verbs.iter().any(takes)
    }

    /// What the robot holds after what was read before: a thing, or something that it has no name for.
    fn held(&self, transfer: &Transfer, context: Context<'_>) -> Option<Option<Value>> {
        // What is corrected was not done.
        let earlier = context.earlier.get(usize::from(context.corrects)..).unwrap_or_default();
        let calls = earlier.iter().flat_map(|reading| reading.calls.iter().rev());
        for call in calls {
            if call.tool == transfer.place {
                return None;
            }
            if call.tool == transfer.pick {
                return Some(call.arguments.values().next().cloned());
            }
            // What was taken out of a rack is held as well.
            if self.robot.tool(call.tool).is_some_and(|tool| self.takes_out(tool)) {
                return Some(None);
            }
        }
        None
    }
}

/// The one choice that the tool needs.
fn choice(tool: &Tool) -> Option<&robot::Parameter> {
    tool.parameters.iter().find(|it| it.required && matches!(it.kind, ParameterKind::Choice(_)))
}

/// The arguments of a tool that takes one choice or none. None if a choice that it needs was not said.
fn argument(tool: &Tool, value: Option<&Value>) -> Option<Map<String, Value>> {
    match choice(tool) {
        None => Some(Map::new()),
        Some(parameter) => Some(Map::from_iter([(parameter.name.clone(), value?.clone())])),
    }
}
