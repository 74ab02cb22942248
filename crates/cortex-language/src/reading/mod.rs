//! One clause of a sentence held against what the robot can do.
//!
//! Every word is accounted for, or there is no reading: a verb that asks for the tool, a value of a parameter, a noun of
//! the tool, or one of the few words that carry nothing.
//!
//! - `courtesies`: what people say around an order;
//! - `choosing`: which of a few things is left open; `chosen`: the best of what was found;
//! - `candidates`: the tools that a clause can ask for at all;
//! - `cover`: one clause held against one tool by one of its verbs; `values`, `measures`, `nouns` and `references` for what its words
//!   say;
//! - `names`: words of the person's own as a value;
//! - `calls`: what it then asks for, and `doubts` whether a person is asked first; `misses`: why it asks for nothing;
//!   `likely`: what to ask about then;
//! - `questions`: the looks that answer a question; `asked` for what it asks about;
//! - `spots`: what the words of a clause may say to any tool;
//! - `phrases`: the clause as one of the tool's own sentences; `order` for other languages than the tools';
//! - `transfers`: a thing that is picked up, brought and put down;
//! - `texts`: texts that a frame of speech or writing hands over; `frames` for where they stand, `reported` for their
//!   order;
//! - `fit`: whether a verb asks for a tool.

use std::cmp::Reverse;

use serde_json::{Map, Value};

mod asked;
mod calls;
mod candidates;
mod choosing;
mod chosen;
mod courtesies;
mod cover;
mod doubts;
mod fit;
mod frames;
mod likely;
mod meant;
mod measures;
mod misses;
mod names;
mod nouns;
mod order;
mod phrases;
mod questions;
mod references;
mod reported;
mod spots;
mod texts;
mod transfers;
mod values;

use crate::language::{Frame, Guard, Language, Lead};
use crate::problem::Problem;
use crate::robot::{self, Key, Robot, Tool, Usage, VerbHit};
use crate::sentence::{self, Word};
use crate::tokens::Kind;

use self::candidates::ToolSet;

pub(crate) use fit::Strength;
pub(crate) use questions::Answer;
pub(crate) use spots::Spot;

/// A call that a clause asks for.
#[derive(Debug, Clone, PartialEq)]
pub struct Call {
    /// Index of the tool.
    pub tool: usize,
    /// Complete, as the tool's schema wants it.
    pub arguments: Map<String, Value>,
}

/// The fit of a clause to a tool; greater is better.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(crate) struct Score {
    /// True if every word is accounted for without free text.
    pub(crate) closed: bool,
    pub(crate) strength: Strength,
    /// Values said, and words of the tool itself.
    pub(crate) matched: usize,
    /// Words of its description.
    pub(crate) described: usize,
}

/// One meaning of a clause.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Reading {
    pub(crate) calls: Vec<Call>,
    pub(crate) score: Score,
    /// The verb by which it was asked for.
    pub(crate) verb: Option<Key>,
    /// True if it only adds to the calls of the clause before.
    pub(crate) amends: bool,
    /// True if a person is to be asked whether this is meant.
    pub(crate) doubtful: bool,
    /// True if it says more of what the clause before only named.
    pub(crate) refers: bool,
    /// The number of places to each of which it drives; 0 if it names them one by one.
    pub(crate) places: usize,
}

impl Reading {
    /// These calls, of which nothing else is known.
    pub(crate) fn of(calls: Vec<Call>) -> Self {
        let score = Score { closed: true, strength: Strength::Own, matched: 1, described: 0 };
        Self { calls, score, verb: None, amends: false, doubtful: false, refers: false, places: 0 }
    }

    pub(crate) fn tool(&self) -> Option<usize> {
        self.calls.first().map(|call| call.tool)
    }

    /// Returns true if neither a verb nor a clause before says what is to be done.
    pub(crate) fn is_by_things_alone(&self) -> bool {
        self.score.strength == Strength::Things && self.verb.is_none() && !self.amends
    }

    /// Returns true if it is what a question most likely asks, and words of it are left over.
    pub(crate) fn is_guessed(&self) -> bool {
        self.score.matched + self.score.described == 0 && self.score.strength == Strength::Things
    }

    /// The same, several times.
    pub(crate) fn repeated(&self, times: u32) -> Self {
        let calls = (0..times).flat_map(|_| self.calls.iter().cloned()).collect();
        Self { calls, ..self.clone() }
    }

    /// Returns true if it ends in words of the person's own.
    pub(crate) fn is_open(&self) -> bool {
        !self.score.closed
    }
}

/// Calls that a clause may ask for, to be confirmed by a person.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Likely {
    pub(crate) calls: Vec<Call>,
    /// What speaks for them, less what the words that they leave over weigh.
    pub(crate) score: f64,
    /// True if the words left over say nothing that could make it something else.
    pub(crate) is_sure: bool,
}

/// Why there is no call, and how close the clause came to one.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Miss {
    pub(crate) closeness: usize,
    pub(crate) problem: Problem,
    /// The calls for a person to confirm: the clause but for words that nothing accounts for.
    pub(crate) nearly: Vec<Likely>,
}

/// The readings and the place before a clause.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Context<'c> {
    /// The reading just before.
    pub(crate) before: Option<&'c Reading>,
    /// Everything that was read before, the last first.
    pub(crate) earlier: &'c [&'c Reading],
    /// The last place that was driven to.
    pub(crate) place: Option<&'c Value>,
    /// True if it stands after "before" or "after", where a verb may end in -ing.
    pub(crate) is_subordinate: bool,
    /// True if it corrects what was read just before.
    pub(crate) corrects: bool,
    /// True if it goes on with a question.
    pub(crate) asks: bool,
    /// True if it goes on with what was asked for as an order: "could you ...".
    pub(crate) is_led: bool,
    pub(crate) sought: Sought,
}

/// The answers for which a clause is read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Sought {
    /// Calls, or why there are none.
    #[default]
    CallsOrReasons,
    /// Calls. Why there are none does not matter, since another reading of the same words is better than any miss.
    Calls,
    /// Calls by every word alone: nothing that is only likely.
    Certain,
}

/// The meaning of a clause.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Clause {
    /// Nothing but courtesies.
    Empty,
    /// One of these, all equally well; usually it is only one.
    Read(Vec<Reading>),
    /// Nothing, and why.
    Missed(Miss),
}

/// Reads clauses of one text.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Reader<'r> {
    pub(crate) robot: &'r Robot,
    pub(crate) language: &'r Language,
    pub(crate) text: &'r str,
}

/// The words of a clause that carry something, and how they are put.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Core<'w> {
    pub(crate) words: &'w [Word],
    /// The frame before the clause, if there is one.
    pub(crate) lead: Option<Lead>,
    /// True if it asks.
    pub(crate) asks: bool,
    /// For each of the words, if it was looked up, what it may say to any tool.
    pub(crate) spots: &'w [Spot],
}

/// A clause that is held against tools.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Held<'w> {
    pub(crate) core: Core<'w>,
    /// The verbs in it.
    pub(crate) hits: &'w [VerbHit],
    /// With what may be the end of a text.
    pub(crate) said: Core<'w>,
    pub(crate) said_hits: &'w [VerbHit],
    pub(crate) context: Context<'w>,
}

/// What is taken off at the end of a clause.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    /// All that people say after an order: "please", "now", "first".
    Courtesies,
    /// Only what is said to whoever does it: a text may end in the others.
    Polite,
    /// Nothing.
    Kept,
}

impl<'r> Reader<'r> {
    /// Reads one clause.
    pub(crate) fn clause(&self, words: &[Word], context: Context<'_>) -> Clause {
        let mut found: Vec<Reading> = Vec::new();
        let mut closest: Option<Miss> = None;
        let mut core = self.core(words, End::Courtesies);
        if context.is_subordinate {
            let arrived = self.language.words.arrived.length(core.words);
            if arrived > 0 && arrived == core.words.len() {
                return Clause::Empty;
            }
            let arrives = self.language.words.arrivals.length(core.words);
            if arrives > 0 && arrives < core.words.len() {
                core.words = core.words.get(arrives..).unwrap_or_default();
                core.lead = Some(Lead::Place);
                core.asks = false;
            } else if core.words.first().is_some_and(|first| self.language.facts.hints.subordinate.has(&first.text)) {
                core.words = core.words.get(1..).unwrap_or_default();
            }
        }
        // "Go home and then ready", where "ready" is a pose.
        let value = context.before.and_then(|_| self.value_alone(words)).filter(|_| core.words.is_empty());
        if let Some(value) = value {
            core = Core { words: value, lead: None, asks: false, spots: &[] };
        }
        if core.words.is_empty() {
            return Clause::Empty;
        }
        found.extend(self.as_declared(words, core, context));
        if !found.is_empty() {
            return self.chosen(found, None, words, core, context);
        }
        if let Some(clause) = self.by_idiom(core.words, context) {
            return clause;
        }
        // What looks like a courtesy may be what is to be said, and the other way round.
        let with_end = self.core(words, End::Kept);
        let mut cores = vec![core];
        if with_end.words.len() > core.words.len() && !context.is_subordinate {
            cores.push(with_end);
        }
        let said = self.core(words, End::Polite);
        for core in cores {
            let said = if core.words.len() < with_end.words.len() { said } else { core };
            let asks = core.lead.is_none() && (core.asks || (context.asks && !asked_for(&core)));
            let spots = self.spots(core.words);
            let core = Core { asks, spots: &spots, ..core };
            let hits = robot::hits(core.words, self.language);
            let other_hits = (said.words.len() != core.words.len()).then(|| robot::hits(said.words, self.language));
            let said_hits = other_hits.as_ref().unwrap_or(&hits);
            let clause = Held { core, hits: &hits, said, said_hits, context };
            let candidates = self.candidates(&clause, false);
            let mut nearest: Option<(usize, Miss)> = None;
            let hold = |tools: &ToolSet, found: &mut Vec<Reading>, nearest: &mut Option<(usize, Miss)>| {
                for index in tools.iter() {
                    let Some(tool) = self.robot.tool(index) else { continue };
                    self.held_against(index, tool, &clause, &mut |attempt| match attempt {
                        Ok(reading) => found.push(reading),
                        Err(miss) => {
                            let is_nearer = nearest.as_ref().is_none_or(|(at, other)| {
                                (miss.closeness, Reverse(index)) > (other.closeness, Reverse(*at))
                            });
                            if is_nearer {
                                *nearest = Some((index, miss));
                            }
                        }
                    });
                }
            };
            hold(&candidates.first(), &mut found, &mut nearest);
            // The others are only missed, and that matters where nothing better is found.
            let is_read = context.sought == Sought::Calls || found.iter().any(|reading| reading.score.closed);
            let others = candidates.second(nearest.as_ref().map(|(_, miss)| miss.closeness));
            if let Some(others) = others.filter(|_| !is_read) {
                hold(others, &mut found, &mut nearest);
            }
            if let Some((_, miss)) = nearest
                && closest.as_ref().is_none_or(|other| miss.closeness > other.closeness)
            {
                closest = Some(miss);
            }
            if !found.is_empty() {
                break;
            }
        }
        self.chosen(found, closest, words, core, context)
    }

    /// Everything that the clause may mean to one tool.
    fn held_against(&self, index: usize, tool: &Tool, clause: &Held<'_>, take: &mut dyn FnMut(Result<Reading, Miss>)) {
        let Held { core, said, context, .. } = *clause;
        let answers = tool.looks || tool.usage != Usage::Step;
        if core.asks && !answers {
            return;
        }
        for phrase in tool.phrases.iter().filter(|_| self.language.is_of_tools()) {
            if let Some(attempt) = self.by_phrase(index, tool, phrase, core, context) {
                take(attempt);
            }
        }
        if let Some(attempt) = self.by_text(index, tool, said, clause.said_hits, context) {
            take(attempt);
        }
        for fit in self.fits(tool, core, clause.hits, context) {
            if let Some(attempt) = self.cover(index, tool, core, &fit, context) {
                take(attempt);
            }
        }
    }

    /// Returns true if the reading does something.
    fn acts(&self, reading: &Reading) -> bool {
        let tool = reading.tool().and_then(|index| self.robot.tool(index));
        tool.is_some_and(|tool| !tool.looks && tool.usage == Usage::Step)
    }

    /// Returns true if the reading hands a text to what speaks or shows it.
    pub(crate) fn hands_text(&self, reading: &Reading) -> bool {
        let hands = |call: &Call| self.robot.tool(call.tool).is_some_and(|tool| tool.text.is_some());
        reading.calls.iter().any(hands)
    }

    /// Returns true if the words begin like a question.
    pub(crate) fn asks(&self, words: &[Word]) -> bool {
        let opening = self.language.words.openings.length(words);
        opening > 0 && !self.says_courtesy(words)
    }

    /// "Say how are you?" hands over a text.
    fn says_courtesy(&self, words: &[Word]) -> bool {
        let says = words.first().is_some_and(|first| {
            self.language.verbs(&first.stem).iter().any(|form| {
                let sense = self.language.sense(form.sense);
                form.head.len() == 1 && form.tail.is_empty() && sense.is_some_and(|it| it.frame == Some(Frame::Say))
            })
        });
        let rest = words.get(1..).unwrap_or_default();
        says && self.is_courtesy(rest)
    }

    /// The first word of the clause that forbids a guess, the gravest kind first; else what was found.
    fn gravest(&self, words: &[Word], found: Problem) -> Problem {
        match found {
            Problem::OutOfBounds { .. }
            | Problem::Unit { .. }
            | Problem::Several { .. }
            | Problem::Unsayable { .. } => found,
            other => self.guarded(words).map_or(other, |(guard, word)| Problem::Guarded { guard, word }),
        }
    }

    /// The word that forbids a guess.
    pub(crate) fn guarded(&self, words: &[Word]) -> Option<(Guard, String)> {
        let guard = |at: usize| {
            let rest = words.get(at..).unwrap_or_default();
            if rest.first().is_none_or(|first| first.kind != Kind::Word) {
                return None;
            }
            self.language
                .guards()
                .iter()
                .filter(|(_, phrases)| phrases.length(rest) > 0)
                .map(|(guard, phrases)| (*guard, rest.get(..phrases.length(rest)).map(joined).unwrap_or_default()))
                .next()
        };
        (0..words.len()).filter_map(guard).min_by_key(|(guard, _)| *guard)
    }

    /// The words as they were written.
    pub(crate) fn written(&self, words: &[Word]) -> String {
        sentence::written(self.text, words).trim().to_owned()
    }
}

/// Returns true if something stands before the clause that makes it an order.
fn asked_for(core: &Core<'_>) -> bool {
    core.lead.is_some()
}

fn joined(words: &[Word]) -> String {
    words.iter().map(|word| word.text.as_str()).collect::<Vec<_>>().join(" ")
}

/// A choice as a person says it.
pub(crate) fn spoken(value: &Value) -> String {
    robot::spoken(value)
}
