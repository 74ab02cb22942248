//! Joins the readings of all clauses to one understanding, in the order in which they are done.

use std::collections::BTreeSet;

use super::order::{Ordered, Way};
use super::{Joint, Meaning, PROBLEMS_TOLD, Part, RuledOut, Taken, Task, Understanding, answers};
use crate::problem::Problem;
use crate::reading::{Call, End, Miss, Reading, Strength};
use crate::talk::Talk;

/// Most ways of doing a task that are kept.
const OFFERS: usize = 12;
/// Most words that say what is done next: "and after that".
const SEQUENCE_WORDS: usize = 4;

impl Task<'_> {
    /// Joins the clauses to one understanding.
    pub(super) fn result(&self, clauses: Vec<Taken>) -> Understanding {
        let mut problems: Vec<(String, Problem)> = Vec::new();
        let mut ways: Vec<Way> = Vec::new();
        let mut ruled_out: Vec<(String, RuledOut)> = Vec::new();
        let mut unclear = self.left_open(&clauses);
        let has_acts = clauses.iter().any(|taken| matches!(taken.meaning, Meaning::Read(_)));
        let has_orders = clauses.iter().any(|taken| !matches!(taken.meaning, Meaning::Nothing | Meaning::Talk(_)));
        let tools: BTreeSet<usize> = clauses.iter().filter_map(tool_of).collect();
        let is_mixed = tools.len() > 1;
        problems.extend(self.withheld(&clauses));
        let (mut after_text, mut asked) = (false, None);
        for taken in clauses {
            let clause = self.reader.written(self.words.get(taken.range.clone()).unwrap_or_default());
            let parts = |calls: &[Call]| -> Vec<Part> {
                calls.iter().map(|call| Part::Call { call: call.clone(), clause: clause.clone() }).collect()
            };
            let offers: Vec<Vec<Part>> = match &taken.meaning {
                // "Say stop, look and listen": what follows a text may belong to it.
                Meaning::Nothing => {
                    let is_polite = self.is_courtesy(taken.range.clone());
                    let words = self.words.get(taken.range.clone()).unwrap_or_default();
                    // "Ready, then home": a courtesy, or a pose of this robot.
                    let is_value = has_acts
                        && matches!(self.reader.value_alone(words), Some([only]) if !self.reader.is_direction(only));
                    if is_value || after_text && taken.joint == Joint::Soft && !is_polite {
                        unclear.get_or_insert_with(|| clause.clone());
                    }
                    continue;
                }
                Meaning::Told if has_acts && self.is_reason(&taken) => continue,
                // It may be more than a reason; that is for the person to say.
                Meaning::Told if has_acts => {
                    unclear.get_or_insert_with(|| clause.clone());
                    continue;
                }
                Meaning::Told => {
                    problems.push((clause, Problem::Unknown));
                    continue;
                }
                Meaning::RuledOut(this) => {
                    ruled_out.push((clause, this.clone()));
                    continue;
                }
                Meaning::Talk(Talk::Cancel) if has_orders => {
                    problems.push((
                        clause.clone(),
                        Problem::Guarded { guard: crate::language::Guard::Negation, word: clause },
                    ));
                    continue;
                }
                Meaning::Talk(_) if has_orders => continue,
                Meaning::Talk(talk) => vec![vec![Part::Talk(talk.clone())]],
                Meaning::Read(readings) => readings.iter().map(|reading| parts(&reading.calls)).collect(),
                Meaning::Announced(readings) => {
                    let told =
                        |reading: &Reading| parts(&reading.calls).into_iter().chain(self.told(&clause)).collect();
                    readings.iter().map(told).collect()
                }
                Meaning::AnnouncedLast => vec![self.told(&clause).into_iter().collect()],
                Meaning::Missed(Miss { problem, nearly, .. }) if nearly.is_empty() => {
                    problems.push((clause, problem.clone()));
                    continue;
                }
                Meaning::Missed(Miss { nearly, .. }) => {
                    unclear.get_or_insert_with(|| clause.clone());
                    nearly.iter().map(|likely| parts(&likely.calls)).collect()
                }
            };
            if offers.len() > 1
                || self.is_unclear(&taken, &ways, is_mixed, after_text)
                || self.asks_other(&taken, asked)
            {
                unclear.get_or_insert_with(|| clause.clone());
            }
            after_text = matches!(&taken.meaning, Meaning::Read(readings) if readings.iter().any(Reading::is_open));
            let asks = self.reader.core(self.words.get(taken.range.clone()).unwrap_or_default(), End::Courtesies).asks;
            asked = tool_of(&taken).filter(|_| asks);
            if self.is_said_twice(&taken, ways.last()) {
                continue;
            }
            ways.push((taken, offers));
        }
        let done: Vec<Part> = ways.iter().flat_map(|(_, offers)| offers.iter().flatten().cloned()).collect();
        problems.extend(self.forbidden(&ruled_out, &done));
        if !problems.is_empty() {
            return Understanding::Refused(told_once(problems));
        }
        self.ordered(ways, &ruled_out, unclear)
    }

    /// The clauses in the order in which they are done; `unclear` is what a person is asked about.
    fn ordered(&self, ways: Vec<Way>, ruled_out: &[(String, RuledOut)], mut unclear: Option<String>) -> Understanding {
        let Ordered { first: ways, second } = self.in_order(ways);
        let ways = self.with_tours(ways);
        if ways.is_empty() {
            return Understanding::Empty;
        }
        if second.is_some() {
            unclear.get_or_insert_with(|| self.reader.written(self.words));
        }
        match unclear {
            None => {
                let parts = self.without_echoes(
                    ways.into_iter().flat_map(|offers| offers.into_iter().next().unwrap_or_default()).collect(),
                );
                if self.leaves_out(&parts, ruled_out) {
                    let clause = self.reader.written(self.words);
                    return Understanding::Unsure { clause, offers: vec![parts] };
                }
                Understanding::Understood(parts)
            }
            Some(clause) => {
                let mut offers = self.whole_tasks(ways, ruled_out);
                offers.extend(second.into_iter().flat_map(|ways| self.whole_tasks(self.with_tours(ways), ruled_out)));
                Understanding::Unsure { clause, offers }
            }
        }
    }

    /// Returns true if a person is to be asked whether a clause is meant, after those that were read before it.
    fn is_unclear(&self, taken: &Taken, ways: &[Way], is_mixed: bool, after_text: bool) -> bool {
        let Meaning::Read(readings) = &taken.meaning else { return false };
        // What corrects something else says too little by things alone.
        let is_vague = is_mixed && taken.joint == Joint::Correction;
        // "Before you put the whisk away, stir with it": what it is stands after it.
        let refers = readings.iter().any(|it| it.refers);
        let turns = matches!(ways.last(), Some((Taken { joint: Joint::BeforeNext, .. }, _)));
        // "Charge afterwards, first the bar": what comes first is said last.
        let first = self.words.get(taken.range.clone()).and_then(<[_]>::first).and_then(|word| word.ordinal);
        let begins_late = first == Some(1.0) && !ways.is_empty() && is_by_things(taken);
        readings.iter().any(|it| it.doubtful)
            || is_vague && readings.iter().all(Reading::is_by_things_alone)
            || is_mixed && self.is_bare(taken, after_text)
            || refers && turns
            || begins_late
            || self.points_elsewhere(taken, ways)
            || says_more_of_the_same(readings, ways)
    }

    /// "Stop the shaker, switch it off", where only a lamp can be switched off: what was named just before is nothing that the
    /// tool acts on.
    fn points_elsewhere(&self, taken: &Taken, ways: &[Way]) -> bool {
        let Meaning::Read(readings) = &taken.meaning else { return false };
        let words = self.words.get(taken.range.clone()).unwrap_or_default();
        let things = &self.reader.language.words.things;
        let points = (0..words.len()).any(|at| words.get(at..).is_some_and(|rest| things.length(rest) > 0));
        let component = |call: &Call| self.reader.robot.tool(call.tool).map(|tool| &tool.component);
        let goes = |call: &Call| self.reader.robot.tool(call.tool).is_some_and(|tool| self.reader.goes(tool));
        let acts = |call: &&Call| !goes(call) && !answers(self.reader.robot, call);
        let named: Vec<_> = ways
            .iter()
            .flat_map(|(_, offers)| offers.iter().flatten())
            .filter_map(|part| match part {
                Part::Call { call, .. } => Some(call),
                _ => None,
            })
            .filter(acts)
            .filter_map(component)
            .collect();
        let shares =
            |reading: &Reading| reading.calls.iter().any(|call| component(call).is_some_and(|it| named.contains(&it)));
        points && !named.is_empty() && readings.iter().all(|it| !it.refers && !it.is_open() && !shares(it))
    }

    /// What is ruled out and not replaced by an order of its kind.
    fn forbidden(&self, ruled_out: &[(String, RuledOut)], done: &[Part]) -> Vec<(String, Problem)> {
        let guard = crate::language::Guard::Negation;
        let negation = self.reader.guarded(self.words).filter(|(found, _)| *found == guard);
        let word = |clause: &String| negation.as_ref().map_or_else(|| clause.clone(), |(_, word)| word.clone());
        let forbidden = ruled_out.iter().filter(|(_, this)| !self.is_replaced(this, done));
        forbidden.map(|(clause, _)| (clause.clone(), Problem::Guarded { guard, word: word(clause) })).collect()
    }

    /// "Spin round and face the other way" turns round once: the verbs say the same by themselves.
    fn is_said_twice(&self, taken: &Taken, before: Option<&(Taken, Vec<Vec<Part>>)>) -> bool {
        let read = |taken: &'_ Taken| match &taken.meaning {
            Meaning::Read(readings) => readings.first().cloned(),
            _ => None,
        };
        let (Some(this), Some(other)) = (read(taken), before.and_then(|(before, _)| read(before))) else {
            return false;
        };
        let sense = this.verb.as_ref().and_then(|key| self.reader.language.sense_of(key));
        // "The hen house, can you drive there?": what was only named is what is done. A metre and a metre are two.
        let words = self.words.get(taken.range.clone()).unwrap_or_default();
        let is_named = [&this, &other].into_iter().any(Reading::is_by_things_alone)
            || taken.joint == Joint::Strong && !self.begins_with_deed(words);
        let measures = |call: &Call| call.arguments.values().any(serde_json::Value::is_number);
        let goes = |call: &Call| self.reader.robot.tool(call.tool).is_some_and(|tool| self.reader.goes(tool));
        let is_same_place = this.calls.iter().all(|call| goes(call) && !call.arguments.is_empty());
        if (is_named || is_same_place) && this.calls == other.calls && !this.calls.iter().any(measures) {
            return true;
        }
        taken.joint == Joint::Soft
            && this.verb == other.verb
            && this.calls == other.calls
            && sense.is_some_and(|sense| !sense.says.is_empty())
    }

    /// Every way of doing the whole task, without those that drop a value that was named where another one does not.
    fn whole_tasks(&self, ways: Vec<Vec<Vec<Part>>>, ruled_out: &[(String, RuledOut)]) -> Vec<Vec<Part>> {
        let mut offers: Vec<Vec<Part>> = vec![Vec::new()];
        for several in ways {
            offers = offers
                .iter()
                .flat_map(|before| several.iter().map(move |next| before.iter().chain(next).cloned().collect()))
                .take(OFFERS)
                .collect();
        }
        let (whole, partial): (Vec<_>, Vec<_>) =
            offers.into_iter().partition(|parts| !self.leaves_out(parts, ruled_out));
        if whole.is_empty() { partial } else { whole }
    }

    /// Returns true if things alone ask for something that other clauses may be about: "turn the light on, kitchen". What
    /// is said to be done first or next, and where to, stands for itself.
    fn is_bare(&self, taken: &Taken, after_text: bool) -> bool {
        let Meaning::Read(readings) = &taken.meaning else { return false };
        let words = self.words.get(taken.range.clone()).unwrap_or_default();
        let goes = |reading: &Reading| {
            reading.tool().and_then(|tool| self.reader.robot.tool(tool)).is_some_and(|tool| self.reader.goes(tool))
        };
        let is_placed =
            || words.iter().any(|word| self.reader.language.is_plain_role(&word.text)) || self.is_in_row(&taken.range);
        readings.iter().all(Reading::is_by_things_alone)
            && (after_text || readings.iter().any(Reading::is_guessed) || readings.iter().any(goes) && !is_placed())
    }

    /// Returns true if the clause is said to be done first, or joined to what is done next: "first ...", "... then ...".
    fn is_in_row(&self, range: &std::ops::Range<usize>) -> bool {
        let sequence = &self.reader.language.words.sequence;
        let begins = |at: usize| self.words.get(at..).is_some_and(|rest| sequence.length(rest) > 0);
        let follows = (1..=SEQUENCE_WORDS).any(|back| {
            let before = range.start.checked_sub(back).and_then(|from| self.words.get(from..range.start));
            before.is_some_and(|words| sequence.length(words) == back)
        });
        follows || begins(range.end) || begins(range.end + 1)
    }

    /// Returns true if what goes on after a question asks something else, and does not say so: "is it open, both taken?"
    fn asks_other(&self, taken: &Taken, asked: Option<usize>) -> bool {
        let Meaning::Read(readings) = &taken.meaning else { return false };
        let words = self.words.get(taken.range.clone()).unwrap_or_default();
        taken.joint == Joint::Soft
            && asked.is_some()
            && readings
                .iter()
                .any(|it| it.tool() != asked && it.calls.iter().all(|call| answers(self.reader.robot, call)))
            && !self.reader.core(words, End::Courtesies).asks
    }

    /// Returns true if the words are said to whoever does it, and want nothing done.
    fn is_courtesy(&self, range: std::ops::Range<usize>) -> bool {
        let words: Vec<_> =
            self.words.get(range).unwrap_or_default().iter().filter(|word| !word.is_punctuation()).collect();
        let language = self.reader.language;
        words.is_empty()
            || language.frames.courtesies.length_at_end(&words) == words.len()
            || language.empty(&words) == words.len()
    }

    /// Does at every place what is joined to a tour: "visit every room and say what you see", but not "visit every room,
    /// then say hello".
    fn with_tours(&self, ways: Vec<Way>) -> Vec<Vec<Vec<Part>>> {
        let mut done: Vec<Vec<Vec<Part>>> = Vec::new();
        let mut places = 0;
        for (taken, offers) in ways {
            if let (Joint::Soft, [there], Some([tour])) =
                (taken.joint, offers.as_slice(), done.last_mut().map(Vec::as_mut_slice))
                && self.at_each_place(tour, places, there)
            {
                continue;
            }
            places = match &taken.meaning {
                Meaning::Read(readings) => readings.first().filter(|it| self.only_goes(it)).map_or(0, |it| it.places),
                _ => 0,
            };
            done.push(offers);
        }
        done
    }

    /// "Whoa, stop!" stops once.
    pub(super) fn without_echoes(&self, parts: Vec<Part>) -> Vec<Part> {
        let stops = |call: &Call| {
            let tool = self.reader.robot.tool(call.tool);
            tool.is_some_and(|tool| tool.verbs.iter().any(|verb| self.reader.names(&verb.key, "stop")))
        };
        // "Bring it to the shelf and put it down there": what was brought was put down.
        let places = |call: &Call| self.reader.robot.transfers.iter().any(|transfer| transfer.place == call.tool);
        let mut kept: Vec<Part> = Vec::new();
        for part in parts {
            // Nor does "look around and describe it" look twice.
            // "Is it still on in the hall, the light?" asks once.
            let repeats = |call: &Call, last: &Call| {
                call.tool == last.tool
                    && answers(self.reader.robot, call)
                    && call.arguments.iter().all(|(name, value)| last.arguments.get(name) == Some(value))
            };
            let is_echo = matches!((&part, kept.last()), (Part::Call { call, .. }, Some(Part::Call { call: last, .. })) if repeats(call, last));
            let is_echo = is_echo
                || matches!((&part, kept.last()), (Part::Call { call, .. }, Some(Part::Call { call: last, .. })) if call == last && (stops(call) || places(call) || answers(self.reader.robot, call)));
            if !is_echo {
                kept.push(part);
            }
            // "The spoon onto the tray, not the whisk, the spoon."
            let brought_twice = matches!(kept.as_slice(), [.., Part::Call { call: pick, .. }, Part::Call { call: place, .. }, Part::Call { call: next, .. }, Part::Call { call: last, .. }]
                if pick == next && place == last && places(place));
            if brought_twice {
                kept.truncate(kept.len() - 2);
            }
        }
        // What is to be spoken is what the last look before it brought.
        let finds: Vec<bool> = kept
            .iter()
            .map(|part| matches!(part, Part::Call { call, .. } if answers(self.reader.robot, call)))
            .collect();
        for (index, part) in kept.iter_mut().enumerate() {
            if let Part::Tell { of, .. } = part {
                *of = finds.get(..index).and_then(|before| before.iter().rposition(|finds| *finds)).unwrap_or_default();
            }
        }
        kept
    }
}

/// "Come with me, stay close, half a metre": the same call once more with more said of it.
fn says_more_of_the_same(readings: &[Reading], ways: &[Way]) -> bool {
    let Some((_, offers)) = ways.last() else { return false };
    let last = offers.iter().filter_map(|parts| parts.last()).filter_map(|part| match part {
        Part::Call { call, .. } => Some(call),
        _ => None,
    });
    let first = readings.iter().filter_map(|reading| reading.calls.first());
    let adds = |call: &Call, before: &Call| {
        let keeps = before.arguments.iter().all(|(name, value)| call.arguments.get(name) == Some(value));
        call.tool == before.tool && keeps && call.arguments.len() > before.arguments.len()
    };
    // "Add a job from dock 1 to the cold store, cold store, now": nothing new is said.
    let says_nothing = |reading: &Reading| reading.score.strength == Strength::Things && reading.verb.is_some();
    let repeats = readings.iter().filter(|it| says_nothing(it)).filter_map(|reading| reading.calls.first());
    first.into_iter().any(|call| last.clone().any(|before| adds(call, before)))
        || repeats.into_iter().any(|call| last.clone().any(|before| call == before))
}

/// Returns true if things alone ask for what was read.
fn is_by_things(taken: &Taken) -> bool {
    matches!(&taken.meaning, Meaning::Read(readings) if readings.iter().all(|it| it.score.strength == Strength::Things))
}

fn tool_of(taken: &Taken) -> Option<usize> {
    taken.reading().and_then(Reading::tool)
}

/// The first few problems: what is said ten times is explained once.
fn told_once(problems: Vec<(String, Problem)>) -> Vec<(String, Problem)> {
    let mut told: Vec<(String, Problem)> = Vec::new();
    for problem in problems {
        if told.len() < PROBLEMS_TOLD && !told.contains(&problem) {
            told.push(problem);
        }
    }
    told
}
