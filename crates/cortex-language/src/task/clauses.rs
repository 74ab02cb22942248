//! Joins the pieces of a text to clauses, in the cheapest way that accounts for every word.

use std::ops::Range;

use serde_json::Value;

use super::{CORRECTED_FROM, Joint, LEAST_MISSED, Meaning, Node, PIECES_OF_CLAUSE, Piece, Taken, Task, answers};
use crate::language::Lead;
use crate::problem::Problem;
use crate::reading::{Call, Clause, Context, End, Miss, Reading, Sought, Strength};
use crate::robot::{ParameterKind, Robot};
use crate::sentence::Word;
use crate::talk::{self};
use crate::tokens::Kind;

impl Task<'_> {
    /// The cheapest way to join the pieces to clauses.
    pub(super) fn best(&self, pieces: &[Piece]) -> Vec<Taken> {
        self.best_from(Node::start(self.earlier), pieces).clauses.into_vec()
    }

    /// The same, after what was read before.
    pub(super) fn best_from(&self, start: Node, pieces: &[Piece]) -> Node {
        let mut nodes: Vec<Option<Node>> = vec![None; pieces.len() + 1];
        if let Some(first) = nodes.first_mut() {
            *first = Some(start);
        }
        let mut alone: Vec<Option<bool>> = vec![None; pieces.len()];
        let asking: Vec<bool> = pieces
            .iter()
            .map(|piece| {
                let words = self.words.get(piece.range.clone()).unwrap_or_default();
                self.reader.core(words, End::Courtesies).asks || self.opens_condition(words)
            })
            .collect();
        for end in 1..=pieces.len() {
            let mut best: Option<Node> = None;
            for begin in (0..end).rev().take(PIECES_OF_CLAUSE) {
                let joined = pieces.get(begin + 1..end).unwrap_or_default();
                let asks = asking.get(begin + 1..end).unwrap_or_default().contains(&true);
                if joined.iter().any(|piece| piece.joint != Joint::Soft) || asks {
                    break;
                }
                let Some(Some(node)) = nodes.get(begin) else { continue };
                let Some((first, last)) = pieces.get(begin).zip(pieces.get(end - 1)) else { continue };
                let range = first.range.start..last.range.end;
                let bound = best.as_ref().map_or(f64::INFINITY, |best| best.cost);
                let next = self.extended(node, bound, first.joint, range, end - begin, &mut |reading| {
                    // Text that takes in what is an order by itself, and a question that does.
                    let is_text = || {
                        reading
                            .calls
                            .iter()
                            .any(|call| self.reader.robot.tool(call.tool).is_some_and(|it| it.text.is_some()))
                    };
                    let answers = || reading.calls.iter().all(|call| answers(self.reader.robot, call));
                    let is_second = || !is_text() && self.begins_deed(first);
                    (reading.is_open() || answers() || is_second())
                        && joined.iter().any(|piece| self.begins_deed(piece))
                        || reading.is_open()
                            && (begin + 1..end).any(|at| {
                                let slot = alone.get_mut(at);
                                slot.is_some_and(|known| *known.get_or_insert_with(|| self.is_order(pieces.get(at))))
                            })
                });
                if let Some(next) = next.filter(|next| next.cost < bound) {
                    best = Some(next);
                }
            }
            if let Some(slot) = nodes.get_mut(end) {
                *slot = best;
            }
        }
        nodes.pop().flatten().unwrap_or_else(|| Node::start(self.earlier))
    }

    /// Returns true if a piece begins with a verb by which something of this robot acts.
    pub(super) fn begins_deed(&self, piece: &Piece) -> bool {
        self.begins_with_deed(self.words.get(piece.range.clone()).unwrap_or_default())
    }

    pub(super) fn begins_with_deed(&self, words: &[Word]) -> bool {
        let core = self.reader.core(words, End::Courtesies).words;
        let hits = crate::robot::hits(core.get(..4.min(core.len())).unwrap_or_default(), self.reader.language);
        // "... and in the bedroom" begins with no verb, whatever is joined to it.
        let is_place = core.first().is_some_and(|first| self.reader.language.is_plain_role(&first.text));
        core.len() > 1
            && !is_place
            && hits.iter().filter(|hit| hit.at.first() == Some(&0)).any(|hit| {
                let light = self.reader.language.sense_of(&hit.key).is_some_and(|sense| sense.light);
                light || self.reader.robot.index.verb(&hit.key).is_some_and(|tools| tools.acts)
            })
    }

    pub(super) fn is_order(&self, piece: Option<&Piece>) -> bool {
        let Some(words) = piece.and_then(|piece| self.words.get(piece.range.clone())) else { return false };
        match self.reader.clause(words, Context::default()) {
            Clause::Read(readings) => readings.iter().any(|it| !it.is_open()),
            // "... and don't go there", "... and go to the garage" are orders all the same, which are then refused.
            Clause::Missed(miss) => {
                let is_value = matches!(
                    miss.problem,
                    Problem::UnknownValue { .. } | Problem::OutOfBounds { .. } | Problem::Unit { .. }
                );
                is_value
                    || (miss.closeness >= 3
                        && matches!(miss.problem, Problem::Guarded { guard: crate::language::Guard::Negation, .. }))
            }
            Clause::Empty => false,
        }
    }

    /// Returns true if an order of its own is joined to what the words begin with.
    fn holds_order(&self, words: &[Word]) -> bool {
        let joints = &self.reader.language.words.joints;
        let begins = |at: &usize| {
            let before = words.get(at - 1);
            before.is_some_and(|it| it.is_mark(",") || joints.has(&it.text))
                && words.get(*at).is_some_and(|it| !it.is_punctuation())
        };
        (1..words.len()).filter(begins).any(|at| {
            let rest = words.get(at..).unwrap_or_default();
            let context = Context { sought: Sought::Certain, ..Context::default() };
            self.begins_with_deed(rest) || matches!(self.reader.clause(rest, context), Clause::Read(_))
        })
    }

    /// The node with one more clause; none if it surely costs no less than `bound`.
    pub(super) fn extended(
        &self,
        node: &Node,
        bound: f64,
        joint: Joint,
        range: Range<usize>,
        pieces: usize,
        swallows: &mut dyn FnMut(&Reading) -> bool,
    ) -> Option<Node> {
        let words = self.words.get(range.clone()).unwrap_or_default();
        #[expect(clippy::cast_precision_loss, reason = "a handful of pieces")]
        let joined = (pieces - 1) as f64;
        let said = talk::exact(words, self.reader.robot, self.reader.language).filter(|_| joint != Joint::Correction);
        if let Some(talk) = said {
            // What is said in between wants nothing done.
            return Some(node.with(0.6, Taken { range, joint, meaning: Meaning::Talk(talk) }));
        }
        if let Some((cost, meaning)) = self.announcement(node, words) {
            return Some(node.with(cost + joined, Taken { range, joint, meaning }));
        }
        if let Some(node) = self.repeated(node, words).filter(|_| joint != Joint::Correction) {
            return Some(node);
        }
        if joint != Joint::Correction && self.is_only_polite(words) {
            return Some(node.with(0.3 + joined, Taken { range, joint, meaning: Meaning::Nothing }));
        }
        if node.clauses.is_empty() && self.interjects(&range) {
            return Some(node.with(0.3, Taken { range, joint, meaning: Meaning::Nothing }));
        }
        if joint != Joint::Correction
            && let Some(ruled_out) = self.ruled_out(words)
        {
            return Some(node.with(1.0 + joined, Taken { range, joint, meaning: Meaning::RuledOut(ruled_out) }));
        }
        // A correction may take the place of a clause that was missed.
        let is_cheap = joint == Joint::Correction || node.cost + LEAST_MISSED + joined < bound;
        let sought = if is_cheap { Sought::CallsOrReasons } else { Sought::Calls };
        let (cost, meaning) = self.meaning(node, joint, words, joined, sought, swallows);
        if sought == Sought::Calls && matches!(meaning, Meaning::Missed(_)) {
            return self.split(node, joint, range);
        }
        let next = self.joined(node, Taken { range: range.clone(), joint, meaning }, cost);
        // "Before you go to the office turn the light off": nothing but the verb says where the second begins.
        let is_open = matches!(next.clauses.last().map(|it| &it.meaning), Some(Meaning::Read(it)) if it.iter().any(Reading::is_open));
        let known = if is_open { f64::INFINITY } else { next.cost };
        Some(self.split(node, joint, range).filter(|split| split.cost < known).unwrap_or(next))
    }

    /// Reads some words in the light of the words before; returns the cost and the meaning.
    pub(super) fn meaning(
        &self,
        node: &Node,
        joint: Joint,
        words: &[Word],
        joined: f64,
        sought: Sought,
        swallows: &mut dyn FnMut(&Reading) -> bool,
    ) -> (f64, Meaning) {
        let with_unit = (joint == Joint::Correction).then(|| self.with_unit(node, words)).flatten();
        let words = with_unit.as_deref().unwrap_or(words);
        let earlier = node.readings();
        let context = Context {
            before: earlier.first().copied(),
            earlier: &earlier,
            place: node.place.as_ref(),
            is_subordinate: joint.is_subordinate() || self.goes_on_in_gerunds(node),
            corrects: joint == Joint::Correction,
            is_led: self.goes_on_led(node),
            // "See if it is open and close it if it is" does not go on with the question.
            asks: self.goes_on_asking(node, joint) && !self.opens_condition(words) && !self.begins_with_deed(words),
            sought,
        };
        let clause = self.reader.clause(words, context);
        // What only a word for things speaks for is no better than a tour.
        let is_weak = |reading: &Reading| reading.score.strength <= Strength::Related && reading.places == 0;
        let may_tour = match &clause {
            Clause::Missed(_) => true,
            Clause::Read(readings) => readings.iter().all(is_weak),
            Clause::Empty => false,
        };
        if may_tour && let Some(tour) = self.tour(words) {
            return tour;
        }
        if matches!(clause, Clause::Missed(_))
            && let Some(readings) = self.due(words, context)
        {
            return (1.5 + joined * 1.2, Meaning::Read(readings));
        }
        match clause {
            Clause::Empty => (0.0, Meaning::Nothing),
            // "Once the door is open" is a condition, and no look.
            Clause::Read(readings)
                if (joint.is_subordinate() || self.opens_condition(words))
                    && (self.is_condition(words)
                        || readings.iter().any(|it| it.calls.iter().any(|call| answers(self.reader.robot, call)))) =>
            {
                (30.0, Meaning::Missed(conditional(words)))
            }
            Clause::Read(readings) => {
                let open = readings.first().is_some_and(Reading::is_open);
                let swallowed = readings.first().is_some_and(&mut *swallows);
                let joining = joined * if open { 0.2 } else { 1.2 };
                let is_doubtful = readings.iter().any(|it| it.doubtful);
                // "Bedroom and bathroom lights off" and "I need the hall and the kitchen light on" name no place to go to.
                let core = self.reader.core(words, End::Courtesies);
                let is_fragment = readings.iter().all(Reading::is_by_things_alone)
                    && (core.words.len() < 3 || joined < 1.0 && core.lead == Some(Lead::Verb));
                let goes_on = readings.iter().all(|it| it.score.strength == Strength::Things && it.verb.is_some());
                let doubt = if swallowed { 40.0 } else { 0.0 }
                    + if readings.len() > 1 { 2.0 } else { 0.0 }
                    + if is_doubtful { 0.5 } else { 0.0 }
                    + if is_fragment || goes_on { 0.3 } else { 0.0 };
                (1.0 + joining + doubt + if open { 0.3 } else { 0.0 }, Meaning::Read(readings))
            }
            // "Hey Bramble, ...": whoever is spoken to.
            Clause::Missed(_) if self.names_somebody(words) => (0.5, Meaning::Nothing),
            // "Once it is dark" is no reason.
            Clause::Missed(_) if matches!(joint, Joint::After | Joint::AfterNext) && self.is_condition(words) => {
                (8.0, Meaning::Missed(conditional(words)))
            }
            // "Dinner is ready, go to the kitchen": what is told ends before the order.
            Clause::Missed(_) if self.is_told(words) && !self.holds_order(words) => (8.0 + joined * 2.5, Meaning::Told),
            Clause::Missed(miss) if sought == Sought::CallsOrReasons => {
                if let Some(readings) = self.without_purpose(words, context) {
                    return (3.0 + joined, Meaning::Read(readings));
                }
                if let [likely] = miss.nearly.as_slice()
                    && likely.is_sure
                    && joined < 1.0
                {
                    return (8.0, Meaning::Read(vec![Reading::of(likely.calls.clone())]));
                }
                #[expect(clippy::cast_precision_loss, reason = "a small number")]
                let closeness = miss.closeness.min(16) as f64;
                let cost = match miss.nearly.first() {
                    Some(likely) => 14.0 - likely.score.min(8.0) * 0.75 + joined,
                    None => 30.0 - closeness * 0.5 + joined * 0.1,
                };
                (cost, Meaning::Missed(miss))
            }
            Clause::Missed(miss) => (30.0, Meaning::Missed(miss)),
        }
    }

    /// "Hey Bramble", "thanks, Ada": a greeting and a name.
    pub(super) fn names_somebody(&self, words: &[Word]) -> bool {
        let language = self.reader.language;
        let bare: Vec<&Word> = words.iter().filter(|word| word.kind == Kind::Word).collect();
        let greeting = language.words.greets.length(&bare);
        let name = bare.get(greeting..).unwrap_or_default();
        greeting > 0 && matches!(name, [only] if language.verbs(&only.stem).is_empty()) && bare.len() == words.len()
    }

    /// Returns true if somebody only stops short before an order: "wait, open drawer 2". "Wait, then open it" waits.
    fn interjects(&self, range: &Range<usize>) -> bool {
        let language = self.reader.language;
        let words = self.words.get(range.clone()).unwrap_or_default();
        let after = self.words.get(range.end..).unwrap_or_default();
        let goes_on = after.first().is_some_and(|mark| mark.is_mark(","))
            && after.get(1..).is_some_and(|rest| !rest.is_empty() && language.words.sequence.length(rest) == 0);
        goes_on && language.words.interjections.length(words) == words.len()
    }

    /// "Go to the hall, twice".
    pub(super) fn repeated(&self, node: &Node, words: &[Word]) -> Option<Node> {
        let bare = self.reader.core(words, End::Courtesies).words;
        let again = self.reader.language.words.again.length(words);
        let (times, length) = if again > 0 && again == words.len() {
            (2, bare.len())
        } else {
            self.reader.repeats(bare).filter(|(times, _)| *times > 1)?
        };
        let Meaning::Read(readings) = &node.clauses.last().filter(|_| length == bare.len())?.meaning else {
            return None;
        };
        // "A metre forward and a metre back, twice": both may be meant.
        let is_joined = node.clauses.last().is_some_and(|last| last.joint == Joint::Soft) && node.readings().len() > 1;
        let repeat = |reading: &Reading| {
            let doubtful = reading.doubtful || is_joined;
            Reading { doubtful, ..reading.repeated(times) }
        };
        let repeated = readings.iter().map(repeat).collect();
        let mut node = node.clone();
        node.cost += 0.1;
        if let Some(last) = node.clauses.last() {
            let last = Taken { meaning: Meaning::Read(repeated), ..last.clone() };
            node.clauses = node.clauses.without_last().with(last);
        }
        Some(node)
    }

    /// The node with one more clause, which may add to the one before, or take its place.
    pub(super) fn joined(&self, node: &Node, mut taken: Taken, cost: f64) -> Node {
        let words = self.words.get(taken.range.clone()).unwrap_or_default();
        // "No, um, could we do full speed": what stands between says nothing.
        let says_value =
            |range: Range<usize>| self.words.get(range).is_some_and(|it| self.reader.value_alone(it).is_some());
        let is_empty = |last: &&Taken| {
            last.joint == Joint::Correction
                && matches!(last.meaning, Meaning::Nothing)
                && !says_value(last.range.clone())
        };
        if node.clauses.last().filter(is_empty).is_some() && taken.joint == Joint::Soft {
            taken.joint = Joint::Correction;
        }
        let soft = taken.joint == Joint::Soft;
        let before = node.last_reading();
        let mut clauses = node.clauses.clone();
        // "The lamp on. Hm, no, off": what carries nothing is not corrected.
        while taken.joint == Joint::Correction && matches!(clauses.last().map(|it| &it.meaning), Some(Meaning::Nothing))
        {
            clauses = clauses.without_last();
        }
        // "Get the shaker going, 250 rpm": what is added belongs to the same call. "Rows one to three, drive them all":
        // the rows were only named.
        let belongs = |reading: &Reading| {
            let keeps = |before: &Reading| {
                let mut values = before.calls.iter().flat_map(|call| call.arguments.values());
                values.all(|value| reading.calls.iter().any(|call| call.arguments.values().any(|it| it == value)))
            };
            let named = before
                .is_some_and(|it| it.score.strength == Strength::Things && it.tool() == reading.tool() && keeps(it));
            let answers = reading.calls.iter().any(|call| answers(self.reader.robot, call));
            (reading.amends && !answers) || (reading.refers && named)
        };
        // "Mow the lawn and the orchard, 70 mm": nobody says whether the lawn is mown so, too.
        let others = node.readings();
        if let Meaning::Read(readings) = &mut taken.meaning
            && soft
        {
            for reading in readings.iter_mut() {
                let other = others.get(usize::from(reading.amends)).filter(|other| other.tool() == reading.tool());
                reading.doubtful |= other.is_some_and(|other| says_more(reading, other));
            }
        }
        if soft && matches!(&taken.meaning, Meaning::Read(readings) if readings.iter().all(belongs)) {
            clauses = clauses.without_last();
        }
        if let (true, Some(last)) = (soft, node.clauses.last()) {
            self.repeat_both(last, &mut taken.meaning);
        }
        let mut cost = cost;
        let corrects = taken.joint == Joint::Correction && !node.clauses.is_empty();
        if corrects && let Some(clauses) = self.corrected_earlier(&clauses, &taken) {
            return Node { cost: node.cost + cost, cost_before: node.cost, clauses, ..node.clone() };
        }
        if corrects {
            self.doubt_correction(node, &mut taken);
        }
        let base = if corrects {
            // What was not even nearly an order is not corrected: "whatever you do, no copper".
            let is_close = match clauses.last().map(|taken| &taken.meaning) {
                // What is forbidden, put off or left open stays so.
                Some(Meaning::Missed(_)) if self.is_guarded(clauses.last()) => false,
                Some(Meaning::RuledOut(_)) => false,
                Some(Meaning::Missed(miss)) => miss.closeness >= CORRECTED_FROM,
                _ => true,
            };
            let corrected = clauses.last().filter(|_| is_close).map(|taken| &taken.meaning);
            if let Some(reading) = self.corrected(corrected, &mut taken.meaning, words) {
                // "Say merry christmas, no, happy new year."
                cost = 1.3;
                taken.meaning = Meaning::Read(vec![reading]);
            }
            if is_close {
                clauses = clauses.without_last();
                node.cost_before
            } else {
                node.cost
            }
        } else {
            node.cost
        };
        let place = match &taken.meaning {
            Meaning::Read(readings) => place_of(self.reader.robot, readings).or_else(|| node.place.clone()),
            _ => node.place.clone(),
        };
        Node { cost: base + cost, cost_before: base, clauses: clauses.with(taken), place, ..node.clone() }
    }

    /// "Open and close the gripper three times": both are repeated.
    pub(super) fn repeat_both(&self, before: &Taken, meaning: &mut Meaning) {
        let verb_alone =
            self.reader.core(self.words.get(before.range.clone()).unwrap_or_default(), End::Courtesies).words.len()
                == 1;
        let (Meaning::Read(earlier), Meaning::Read(readings)) = (&before.meaning, meaning) else { return };
        let ([earlier], [reading]) = (earlier.as_slice(), readings.as_mut_slice()) else { return };
        let same = reading.calls.iter().all(|call| Some(call) == reading.calls.first());
        let component =
            |it: &Reading| it.tool().and_then(|tool| self.reader.robot.tool(tool)).map(|tool| &tool.component);
        if verb_alone && same && reading.calls.len() > 1 && component(earlier) == component(reading) {
            let (one, times) = (reading.calls.first().cloned(), reading.calls.len());
            let pair: Vec<Call> = earlier.calls.iter().cloned().chain(one.clone()).collect();
            reading.calls = one.into_iter().chain((1..times).flat_map(|_| pair.clone())).collect();
        }
    }

    /// "Would you mind closing the door and then driving to the hall?"
    pub(super) fn goes_on_in_gerunds(&self, node: &Node) -> bool {
        let first = node.clauses.first().and_then(|taken| self.words.get(taken.range.clone()));
        first.is_some_and(|words| self.reader.core(words, End::Courtesies).lead == Some(crate::language::Lead::Gerund))
    }

    /// "If you please": said to whoever does it, and no condition.
    fn is_only_polite(&self, words: &[Word]) -> bool {
        let bare: Vec<&Word> = words.iter().filter(|word| !word.is_punctuation()).collect();
        let frames = &self.reader.language.frames;
        let opens = bare.first().is_some_and(|first| self.reader.language.facts.hints.conditions.has(&first.text));
        opens && (frames.closers.length(&bare) == bare.len() || frames.courtesies.length(&bare) == bare.len())
    }

    /// "Would you mind closing the drawers and then driving to the hall?": what was asked for as an order goes on as one.
    fn goes_on_led(&self, node: &Node) -> bool {
        let words = |taken: &Taken| self.words.get(taken.range.clone());
        node.clauses.last_first().filter_map(words).any(|words| self.reader.core(words, End::Courtesies).lead.is_some())
    }

    /// Returns true if what comes next belongs to a question: "are the hall and the kitchen light on?"
    pub(super) fn goes_on_asking(&self, node: &Node, joint: Joint) -> bool {
        if node.clauses.is_empty() {
            return self.goes_on_asking_after(&node.earlier);
        }
        let Some(last) = node.clauses.last().filter(|_| joint == Joint::Soft) else { return false };
        let words = self.words.get(last.range.clone()).unwrap_or_default();
        self.reader.core(words, End::Courtesies).asks
    }
}

/// Where the robot is after this.
pub(super) fn place_of(robot: &Robot, readings: &[Reading]) -> Option<Value> {
    let [reading] = readings else { return None };
    // A place is what the robot can drive to, whatever was done there.
    let is_place = |value: &&Value| {
        robot.those(&robot.index.goes).any(|(_, tool)| {
            tool.parameters.iter().any(
                |parameter| matches!(&parameter.kind, ParameterKind::Choice(choices) if choices.values.contains(value)),
            )
        })
    };
    // A robot that brings something ends where it drove last.
    let last = reading.calls.last()?;
    let driven = || {
        let mut calls = reading.calls.iter().rev();
        calls.find(|call| robot.index.goes.iter().any(|tool| *tool as usize == call.tool))
    };
    let of = |call: &Call| call.arguments.values().find(is_place).cloned();
    of(last).or_else(|| of(driven()?))
}

/// Returns true if something is said of what only goes on with the same verb that was not said of what came before.
fn says_more(reading: &Reading, other: &Reading) -> bool {
    let had: Vec<&String> = other.calls.iter().flat_map(|call| call.arguments.keys()).collect();
    let has_more = reading.calls.iter().any(|call| call.arguments.keys().any(|name| !had.contains(&name)));
    has_more && reading.score.strength == Strength::Things
}

/// Why what is told after "once" can't be waited for.
fn conditional(words: &[Word]) -> Miss {
    let guard = crate::language::Guard::Condition;
    let word = words.first().map(|word| word.text.clone()).unwrap_or_default();
    Miss { closeness: 0, problem: Problem::Guarded { guard, word }, nearly: Vec::new() }
}
