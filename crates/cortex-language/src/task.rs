//! A whole task: its clauses, in the order in which they are to be done.
//!
//! A text is cut at every joint, and every way of joining the pieces again is a reading; the cheapest one that accounts
//! for every word is meant. One clause that is not understood, and nothing is done.

use std::ops::Range;

use serde_json::Value;

use crate::language::{LANGUAGES, Language};
use crate::problem::Problem;
use crate::reading::{Call, Clause, Context, Miss, Reader, Reading, Strength};
use crate::robot::{ParameterKind, Robot, Usage};
use crate::sentence::{self, Word};
use crate::slips;
use crate::talk::{self, Talk};
use crate::tokens::{Kind, MAX_TOKENS};

/// Most pieces between joints; a longer task is better said in several.
pub const MAX_PIECES: usize = 200;
/// Most pieces that one clause is made of.
const PIECES_OF_CLAUSE: usize = 8;
/// So close a clause must have come to an order to be one that is corrected.
const CORRECTED_FROM: usize = 4;
/// Most problems that are told.
const PROBLEMS_TOLD: usize = 3;

/// One thing that a task asks for.
#[derive(Debug, Clone, PartialEq)]
pub enum Part {
    /// A tool is called.
    Call {
        /// What is called.
        call: Call,
        /// The words that ask for it, as written.
        clause: String,
    },
    /// What another part brings is spoken.
    Tell {
        /// The tool that speaks.
        tool: usize,
        /// The parameter that takes the text.
        parameter: String,
        /// Most characters of the text.
        limit: Option<u64>,
        /// Which part brings it, by its index.
        of: usize,
        /// The words that ask for it, as written.
        clause: String,
    },
    /// Something is said that wants an answer and no act.
    Talk(Talk),
}

/// What a task means.
#[derive(Debug, Clone, PartialEq)]
pub enum Understanding {
    /// Every word is accounted for.
    Understood(Vec<Part>),
    /// One of several things is meant, or the words are nearly those of an order.
    Unsure {
        /// The words that are not clear.
        clause: String,
        /// What may be meant, each as the calls of the whole task.
        offers: Vec<Vec<Part>>,
    },
    /// These clauses can't be done as they stand, and why.
    Refused(Vec<(String, Problem)>),
    /// There is no clause in it.
    Empty,
    /// A quotation mark without its partner.
    Unclosed,
    /// Too many words or clauses.
    TooLong,
}

/// How a piece is joined to the one before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Joint {
    /// By "and" or a comma: it may belong to the same clause.
    Soft,
    /// By "then" or the end of a sentence.
    Strong,
    /// By "before".
    Before,
    /// By "after" or "once".
    After,
    /// It takes the place of what was said.
    Correction,
}

#[derive(Debug, Clone)]
struct Piece {
    range: Range<usize>,
    joint: Joint,
}

/// The best reading of the pieces up to here.
#[derive(Debug, Clone)]
struct Node {
    cost: f64,
    /// Without its last clause.
    cost_before: f64,
    clauses: Vec<Taken>,
    place: Option<Value>,
}

impl Node {
    /// With one more clause.
    fn with(&self, cost: f64, taken: Taken) -> Self {
        let mut clauses = self.clauses.clone();
        clauses.push(taken);
        Self { cost: self.cost + cost, cost_before: self.cost, clauses, place: self.place.clone() }
    }

    /// What was read so far, the last first.
    fn readings(&self) -> Vec<&Reading> {
        self.clauses
            .iter()
            .rev()
            .filter_map(|taken| match &taken.meaning {
                Meaning::Read(readings) => readings.first(),
                _ => None,
            })
            .collect()
    }
}

/// A clause as it was read.
#[derive(Debug, Clone)]
struct Taken {
    range: Range<usize>,
    joint: Joint,
    meaning: Meaning,
}

#[derive(Debug, Clone)]
enum Meaning {
    Nothing,
    Read(Vec<Reading>),
    /// What these find is to be spoken.
    Announced(Vec<Reading>),
    /// What was found last is to be spoken.
    AnnouncedLast,
    Talk(Talk),
    /// Something that is told beside an order: why it is given.
    Told,
    Missed(Miss),
}

/// What a text said to the robot means.
#[must_use]
pub fn understand(robot: &Robot, text: &str) -> Understanding {
    let mut first: Option<Understanding> = None;
    for language in LANGUAGES.iter() {
        let read = read(robot, language, text);
        let understood = !matches!(read, Understanding::Refused(_) | Understanding::Empty);
        if understood || LANGUAGES.len() == 1 {
            return read;
        }
        first.get_or_insert(read);
    }
    first.unwrap_or(Understanding::Empty)
}

fn read(robot: &Robot, language: &Language, text: &str) -> Understanding {
    let Ok(mut words) = sentence::words(text, language) else { return Understanding::Unclosed };
    // A task in quotation marks, as shells and forms may leave it.
    if let [only] = words.as_slice()
        && only.kind == Kind::Quoted
        && only.text.len() < text.len()
    {
        return read(robot, language, &only.text.clone());
    }
    if words.len() > MAX_TOKENS {
        return Understanding::TooLong;
    }
    // "Whoa whoa", "go go go".
    words.dedup_by(|next, word| next.kind == Kind::Word && next.number.is_none() && next.text == word.text);
    slips::corrected(&mut words, robot, language);
    if let Some(talk) = talk::exact(&words, robot, language) {
        return Understanding::Understood(vec![Part::Talk(talk)]);
    }
    let task = Task { reader: Reader { robot, language, text }, words: &words };
    let pieces = task.pieces();
    if pieces.len() > MAX_PIECES {
        return Understanding::TooLong;
    }
    let clauses = task.best(&pieces);
    let result = task.result(clauses);
    if matches!(result, Understanding::Refused(_) | Understanding::Empty)
        && let Some(talk) = talk::loose(&words, robot, language)
    {
        return Understanding::Understood(vec![Part::Talk(talk)]);
    }
    result
}

struct Task<'t> {
    reader: Reader<'t>,
    words: &'t [Word],
}

impl Task<'_> {
    /// The words between the joints.
    fn pieces(&self) -> Vec<Piece> {
        let language = self.reader.language;
        let mut pieces: Vec<Piece> = Vec::new();
        let mut start = 0;
        let mut joint = Joint::Strong;
        let mut at = 0;
        let mut lead_end = 0;
        while let Some(word) = self.words.get(at) {
            let rest = self.words.get(at..).unwrap_or_default();
            let ends = [".", ";", "!", "?", "\n"].iter().any(|mark| word.is_mark(mark));
            let comma = word.is_mark(",");
            // What stands in the middle corrects, what stands at the beginning is a courtesy.
            let corrections = if at > 0 { language.frames.corrections.length(rest) } else { 0 };
            // "A hundred and eighty", "two and a half", and the "and" of a courtesy divide nothing.
            let number = |offset: isize| {
                at.checked_add_signed(offset).and_then(|at| self.words.get(at)).and_then(|it| it.number)
            };
            let half = rest.get(1).is_some_and(|it| it.is("a")) && rest.get(2).is_some_and(|it| it.is("half"));
            if word.is("and")
                && (half || (number(-1).is_some_and(|it| it >= 100.0) && number(1).is_some_and(|it| it < 100.0)))
            {
                at += 1;
                continue;
            }
            // "Every light but the hall's".
            let so_far = self.words.get(start..at).unwrap_or_default();
            let says_all = (0..so_far.len())
                .any(|from| so_far.get(from..).is_some_and(|rest| language.words.all.length(rest) > 0));
            if word.is("but") && says_all {
                at += 1;
                continue;
            }
            if at == lead_end && (corrections == 0 || at == 0) {
                let led = self.led(rest);
                if led > 0 {
                    at += led;
                    lead_end = at;
                    continue;
                }
            }
            // "Again and again" is one word.
            let endless = language.words.timings.length(rest);
            if endless > 1 {
                at += endless;
                continue;
            }
            let corrects =
                corrections > 0 && rest.len() > corrections && (corrections > 1 || self.follows_break(at, start));
            let (found, length) = if ends {
                (Some(Joint::Strong), 1)
            } else if corrects {
                (Some(Joint::Correction), corrections)
            } else if language.words.sequence.length(rest) > 0 {
                (Some(Joint::Strong), language.words.sequence.length(rest))
            } else if language.words.before.length(rest) > 0 && !self.is_told_later(at) {
                (Some(Joint::Before), language.words.before.length(rest))
            } else if language.words.after.length(rest) > 0 {
                (Some(self.after(at, language.words.after.length(rest))), language.words.after.length(rest))
            } else if comma {
                (Some(Joint::Soft), 1)
            } else if language.words.joints.length(rest) > 0 {
                (Some(Joint::Soft), language.words.joints.length(rest))
            } else {
                (None, 1)
            };
            if let Some(found) = found {
                if at > start {
                    pieces.push(Piece { range: start..at, joint });
                    joint = found;
                } else {
                    // Several in a row: the one that says most counts.
                    joint = stronger(joint, found);
                }
                start = at + length;
                lead_end = start;
            }
            at += length;
        }
        if start < self.words.len() {
            pieces.push(Piece { range: start..self.words.len(), joint });
        }
        pieces
    }

    /// How many words of a courtesy begin here which itself holds a joint: "be a dear and".
    fn led(&self, rest: &[Word]) -> usize {
        let language = self.reader.language;
        let leads = language.leads.iter().filter_map(|(_, pattern)| pattern.prefix(rest)).max().unwrap_or(0);
        let led = leads.max(language.frames.openers.length(rest));
        // "Go and then ..." is no courtesy.
        if rest.get(led).is_some_and(|next| language.words.sequence.length(std::slice::from_ref(next)) > 0) {
            return 0;
        }
        if led < rest.len() { led } else { 0 }
    }

    /// Whether a single word of correction follows a comma or stands before a value.
    fn follows_break(&self, at: usize, start: usize) -> bool {
        let comma =
            at.checked_sub(1).and_then(|before| self.words.get(before)).is_some_and(|before| before.kind == Kind::Mark);
        comma || at > start
    }

    /// "And after go to the hall" only goes on; "after you have gone to the hall" comes first.
    fn after(&self, at: usize, length: usize) -> Joint {
        let next = self.words.get(at + length);
        let language = self.reader.language;
        let subject = next.is_some_and(|next| {
            ["you", "i", "it", "we", "that", "this", "having", "the"].contains(&next.text.as_str())
        });
        let gerund = next.is_some_and(|next| language.form(&next.text) != crate::language::Form::Plain);
        if at > 0 && !subject && !gerund && self.words.get(at).is_some_and(|word| word.is("after")) {
            Joint::Strong
        } else {
            Joint::After
        }
    }

    fn is_told_later(&self, at: usize) -> bool {
        // "The day before", "before noon" are times.
        self.words.get(at + 1).is_none()
    }

    /// The cheapest way to join the pieces to clauses.
    fn best(&self, pieces: &[Piece]) -> Vec<Taken> {
        let start = Node { cost: 0.0, cost_before: 0.0, clauses: Vec::new(), place: None };
        let mut nodes: Vec<Option<Node>> = vec![None; pieces.len() + 1];
        if let Some(first) = nodes.first_mut() {
            *first = Some(start);
        }
        let mut alone: Vec<Option<bool>> = vec![None; pieces.len()];
        for end in 1..=pieces.len() {
            let mut best: Option<Node> = None;
            for begin in (0..end).rev().take(PIECES_OF_CLAUSE) {
                let joined = pieces.get(begin + 1..end).unwrap_or_default();
                let asks = |piece: &&Piece| self.reader.asks(self.words.get(piece.range.clone()).unwrap_or_default());
                if joined.iter().any(|piece| piece.joint != Joint::Soft) || joined.iter().any(|piece| asks(&piece)) {
                    break;
                }
                let Some(Some(node)) = nodes.get(begin).cloned() else { continue };
                let Some((first, last)) = pieces.get(begin).zip(pieces.get(end - 1)) else { continue };
                let range = first.range.start..last.range.end;
                let next = self.extended(&node, first.joint, range, end - begin, &mut |reading| {
                    // Text that takes in what is an order by itself.
                    reading.is_open() && joined.iter().any(|piece| self.begins_deed(piece))
                        || reading.is_open()
                            && (begin + 1..end).any(|at| {
                                let slot = alone.get_mut(at);
                                slot.is_some_and(|known| *known.get_or_insert_with(|| self.is_order(pieces.get(at))))
                            })
                });
                if best.as_ref().is_none_or(|best| next.cost < best.cost) {
                    best = Some(next);
                }
            }
            if let Some(slot) = nodes.get_mut(end) {
                *slot = best;
            }
        }
        nodes.pop().flatten().map(|node| node.clauses).unwrap_or_default()
    }

    /// Whether a piece begins with a verb by which something of this robot acts.
    fn begins_deed(&self, piece: &Piece) -> bool {
        let words = self.words.get(piece.range.clone()).unwrap_or_default();
        let core = self.reader.core(words, true).words;
        let hits = crate::robot::hits(core.get(..4.min(core.len())).unwrap_or_default(), self.reader.language);
        core.len() > 1
            && hits.iter().filter(|hit| hit.at.first() == Some(&0)).any(|hit| {
                let light = self.reader.language.sense_of(&hit.key).is_some_and(|sense| sense.light);
                light
                    || self.reader.robot.tools.iter().any(|tool| {
                        tool.usage == Usage::Step && !tool.looks && tool.verbs.iter().any(|verb| verb.key == hit.key)
                    })
            })
    }

    fn is_order(&self, piece: Option<&Piece>) -> bool {
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

    /// The node with one more clause.
    fn extended(
        &self,
        node: &Node,
        joint: Joint,
        range: Range<usize>,
        pieces: usize,
        swallows: &mut dyn FnMut(&Reading) -> bool,
    ) -> Node {
        let words = self.words.get(range.clone()).unwrap_or_default();
        #[expect(clippy::cast_precision_loss, reason = "a handful of pieces")]
        let joined = (pieces - 1) as f64;
        let said = talk::exact(words, self.reader.robot, self.reader.language).filter(|_| joint != Joint::Correction);
        if let Some(talk) = said {
            // What is said in between wants nothing done.
            return node.with(0.6, Taken { range, joint, meaning: Meaning::Talk(talk) });
        }
        if let Some((cost, meaning)) = self.announcement(node, words) {
            return node.with(cost + joined, Taken { range, joint, meaning });
        }
        if let Some(node) = self.repeated(node, words) {
            return node;
        }
        let (cost, meaning) = self.meaning(node, joint, words, joined, swallows);
        self.joined(node, Taken { range, joint, meaning }, cost)
    }

    /// What some words mean after what was read before, and what that costs.
    fn meaning(
        &self,
        node: &Node,
        joint: Joint,
        words: &[Word],
        joined: f64,
        swallows: &mut dyn FnMut(&Reading) -> bool,
    ) -> (f64, Meaning) {
        let earlier = node.readings();
        let context = Context {
            before: earlier.first().copied(),
            earlier: &earlier,
            place: node.place.as_ref(),
            is_subordinate: matches!(joint, Joint::Before | Joint::After) || self.goes_on_in_gerunds(node),
            corrects: joint == Joint::Correction,
            asks: self.goes_on_asking(node, joint),
        };
        match self.reader.clause(words, context) {
            Clause::Empty => (0.0, Meaning::Nothing),
            // "Once the door is open" is a condition, and no look.
            Clause::Read(readings)
                if matches!(joint, Joint::Before | Joint::After)
                    && (self.is_condition(words)
                        || readings.iter().any(|it| it.calls.iter().any(|call| answers(self.reader.robot, call)))) =>
            {
                let guard = crate::language::Guard::Condition;
                let word = words.first().map(|word| word.text.clone()).unwrap_or_default();
                let problem = Problem::Guarded { guard, word };
                (30.0, Meaning::Missed(Miss { closeness: 0, problem, nearly: None }))
            }
            Clause::Read(readings) => {
                let open = readings.first().is_some_and(Reading::is_open);
                let swallowed = readings.first().is_some_and(&mut *swallows);
                let joining = joined * if open { 0.2 } else { 1.2 };
                let doubt = if swallowed { 40.0 } else { 0.0 } + if readings.len() > 1 { 2.0 } else { 0.0 };
                (1.0 + joining + doubt + if open { 0.3 } else { 0.0 }, Meaning::Read(readings))
            }
            // "Hey Bramble, ...": whoever is spoken to.
            Clause::Missed(_) if self.names_somebody(words) => (0.5, Meaning::Nothing),
            Clause::Missed(_) if self.is_told(words) => (8.0, Meaning::Told),
            Clause::Missed(miss) => {
                #[expect(clippy::cast_precision_loss, reason = "a small number")]
                let closeness = miss.closeness.min(16) as f64;
                (30.0 - closeness * 0.5 + joined * 0.1, Meaning::Missed(miss))
            }
        }
    }

    /// "When it is dark": what is told after "when" and "once", unless it is told of the robot itself.
    fn is_condition(&self, words: &[Word]) -> bool {
        self.is_told(words) && !self.reader.core(words, true).words.first().is_some_and(|first| first.is("you"))
    }

    /// "I've got a train to catch": a subject, and a verb that tells something of it. Nothing that forbids a guess.
    fn is_told(&self, words: &[Word]) -> bool {
        let language = self.reader.language;
        let core = self.reader.core(words, true).words;
        let begins = language.words.subjects.length(core) > 0;
        let tells =
            (1..core.len().min(6)).any(|at| core.get(at..).is_some_and(|rest| language.words.told.length(rest) > 0));
        let guarded = self.reader.guarded(core).is_some_and(|(guard, _)| guard != crate::language::Guard::Negation);
        begins && tells && !guarded && self.reader.core(words, true).lead.is_none()
    }

    /// "Hey Bramble", "thanks, Ada": a greeting and a name.
    fn names_somebody(&self, words: &[Word]) -> bool {
        let language = self.reader.language;
        let bare: Vec<&Word> = words.iter().filter(|word| word.kind == Kind::Word).collect();
        let greeting = language.words.greets.length(&bare);
        let name = bare.get(greeting..).unwrap_or_default();
        greeting > 0 && matches!(name, [only] if language.verbs(&only.stem).is_empty()) && bare.len() == words.len()
    }

    /// "Go to the hall, twice".
    fn repeated(&self, node: &Node, words: &[Word]) -> Option<Node> {
        let bare = self.reader.core(words, true).words;
        let (times, length) = self.reader.repeats(bare).filter(|(times, _)| *times > 1)?;
        let Meaning::Read(readings) = &node.clauses.last().filter(|_| length == bare.len())?.meaning else {
            return None;
        };
        let repeated = readings.iter().map(|reading| reading.repeated(times)).collect();
        let mut node = node.clone();
        node.cost += 0.1;
        if let Some(last) = node.clauses.last_mut() {
            last.meaning = Meaning::Read(repeated);
        }
        Some(node)
    }

    /// The node with one more clause, which may add to the one before, or take its place.
    fn joined(&self, node: &Node, mut taken: Taken, cost: f64) -> Node {
        let words = self.words.get(taken.range.clone()).unwrap_or_default();
        let soft = taken.joint == Joint::Soft;
        let before = node.readings().first().copied();
        let mut clauses = node.clauses.clone();
        // "Get the shaker going, 250 rpm": what is added belongs to the same call. "Rows one to three, drive them all":
        // the rows were only named.
        let belongs = |reading: &Reading| {
            let named = before.is_some_and(|it| it.score.strength == Strength::Things && it.tool() == reading.tool());
            reading.amends || (reading.refers && named)
        };
        if soft && matches!(&taken.meaning, Meaning::Read(readings) if readings.iter().all(belongs)) {
            clauses.pop();
        }
        if let (true, Some(last)) = (soft, node.clauses.last()) {
            self.repeat_both(last, &mut taken.meaning);
        }
        let mut cost = cost;
        let corrects = taken.joint == Joint::Correction && !node.clauses.is_empty();
        let base = if corrects {
            // What was not even nearly an order is not corrected: "whatever you do, no copper".
            let is_close = match clauses.last().map(|taken| &taken.meaning) {
                Some(Meaning::Missed(miss)) => miss.closeness >= CORRECTED_FROM,
                _ => true,
            };
            let corrected = if is_close { clauses.pop().map(|taken| taken.meaning) } else { None };
            if let Some(reading) = self.corrected(corrected.as_ref(), &mut taken.meaning, words) {
                // "Say merry christmas, no, happy new year."
                cost = 1.3;
                taken.meaning = Meaning::Read(vec![reading]);
            }
            if is_close { node.cost_before } else { node.cost }
        } else {
            node.cost
        };
        let place = match &taken.meaning {
            Meaning::Read(readings) => self.place(readings).or_else(|| node.place.clone()),
            _ => node.place.clone(),
        };
        clauses.push(taken);
        Node { cost: base + cost, cost_before: base, clauses, place }
    }

    /// "Open and close the gripper three times": both are repeated.
    fn repeat_both(&self, before: &Taken, meaning: &mut Meaning) {
        let verb_alone =
            self.reader.core(self.words.get(before.range.clone()).unwrap_or_default(), true).words.len() == 1;
        let (Meaning::Read(earlier), Meaning::Read(readings)) = (&before.meaning, meaning) else { return };
        let ([earlier], [reading]) = (earlier.as_slice(), readings.as_mut_slice()) else { return };
        let same = reading.calls.iter().all(|call| Some(call) == reading.calls.first());
        if verb_alone && same && reading.calls.len() > 1 {
            let (one, times) = (reading.calls.first().cloned(), reading.calls.len());
            let pair: Vec<Call> = earlier.calls.iter().cloned().chain(one.clone()).collect();
            reading.calls = one.into_iter().chain((1..times).flat_map(|_| pair.clone())).collect();
        }
    }

    /// What takes the place of what was said: it keeps what it leaves unsaid, or is another text.
    fn corrected(&self, old: Option<&Meaning>, new: &mut Meaning, words: &[Word]) -> Option<Reading> {
        let Some(Meaning::Read(old)) = old else { return None };
        match new {
            Meaning::Read(new) => {
                complete(new, old);
                None
            }
            Meaning::Missed(_) => match old.as_slice() {
                [old] => self.reader.other_text(old, words),
                _ => None,
            },
            _ => None,
        }
    }

    /// "Say what you see", "look around, then read it out loud": what is found is to be spoken.
    fn announcement(&self, node: &Node, words: &[Word]) -> Option<(f64, Meaning)> {
        let language = self.reader.language;
        self.speaker()?;
        let core = self.reader.core(words, true).words;
        let speaks = crate::robot::hits(core, language)
            .into_iter()
            .filter(|hit| hit.at.first() == Some(&0))
            .filter(|hit| {
                language.sense_of(&hit.key).is_some_and(|sense| sense.frame == Some(crate::language::Frame::Say))
            })
            .map(|hit| hit.at.len())
            .max();
        let reads_out = language.words.reads_out.length(core);
        let length = speaks.unwrap_or(0).max(reads_out);
        let rest = core.get(length..).filter(|_| length > 0)?;
        let things = language.words.things.length(rest).max(language.words.results.length(rest));
        let after = rest.get(things..).unwrap_or_default();
        if things > 0 && language.words.aloud.length(after) == after.len() {
            let found = node.clauses.iter().any(|taken| self.finds(&taken.meaning));
            return found.then_some((1.0, Meaning::AnnouncedLast));
        }
        // "Say how are you?" hands over a text.
        let is_talk = talk::exact(rest, self.reader.robot, language).is_some();
        if self.reader.asks(rest) && !is_talk {
            let context = Context { asks: true, ..Context::default() };
            if language.words.past_sight.length(rest) == rest.len()
                && node.clauses.iter().any(|taken| self.finds(&taken.meaning))
            {
                return Some((1.0, Meaning::AnnouncedLast));
            }
            if let Clause::Read(readings) = self.reader.clause(rest, context)
                && readings.iter().all(|it| it.calls.iter().all(|call| answers(self.reader.robot, call)))
            {
                return Some((1.0, Meaning::Announced(readings)));
            }
        }
        None
    }

    /// Whether the clause brings something to tell.
    fn finds(&self, meaning: &Meaning) -> bool {
        match meaning {
            Meaning::Read(readings) | Meaning::Announced(readings) => {
                readings.iter().any(|it| it.calls.iter().any(|call| answers(self.reader.robot, call)))
            }
            _ => false,
        }
    }

    /// The tool that speaks, the parameter that takes the text, and its most characters.
    fn speaker(&self) -> Option<(usize, String, Option<u64>)> {
        let speaks = |(index, tool): (usize, &crate::robot::Tool)| {
            let (slot, frame) = tool.text?;
            let parameter = tool.parameters.get(slot).filter(|_| frame == crate::language::Frame::Say)?;
            let limit = match parameter.kind {
                ParameterKind::Text(limit) => limit,
                _ => None,
            };
            Some((index, parameter.name.clone(), limit))
        };
        let mut speakers = self.reader.robot.tools.iter().enumerate().filter_map(speaks);
        speakers.next().filter(|_| speakers.next().is_none())
    }

    /// "Would you mind closing the door and then driving to the hall?"
    fn goes_on_in_gerunds(&self, node: &Node) -> bool {
        let first = node.clauses.first().and_then(|taken| self.words.get(taken.range.clone()));
        first.is_some_and(|words| self.reader.core(words, true).lead == Some(crate::language::Lead::Gerund))
    }

    /// Whether what comes next belongs to a question: "are the hall and the kitchen light on?"
    fn goes_on_asking(&self, node: &Node, joint: Joint) -> bool {
        let Some(last) = node.clauses.last().filter(|_| joint == Joint::Soft) else { return false };
        let words = self.words.get(last.range.clone()).unwrap_or_default();
        self.reader.core(words, true).asks
    }

    /// Where the robot is after this.
    fn place(&self, readings: &[Reading]) -> Option<Value> {
        let [reading] = readings else { return None };
        let call = reading.calls.last()?;
        let language = Language::english()?;
        let goes = |tool: &&crate::robot::Tool| {
            tool.verbs.iter().any(|verb| language.sense_of(&verb.key).is_some_and(|sense| sense.name == "go"))
        };
        // A place is what the robot can drive to, whatever was done there.
        let is_place = |value: &&Value| {
            self.reader.robot.tools.iter().filter(goes).any(|tool| {
                tool.parameters.iter().any(|parameter| matches!(&parameter.kind, ParameterKind::Choice(choices) if choices.values.contains(value)))
            })
        };
        call.arguments.values().find(is_place).cloned()
    }

    /// What the clauses come to.
    fn result(&self, clauses: Vec<Taken>) -> Understanding {
        let mut problems: Vec<(String, Problem)> = Vec::new();
        let mut ways: Vec<(Taken, Vec<Vec<Part>>)> = Vec::new();
        let mut unclear: Option<String> = None;
        let is_alone = clauses
            .iter()
            .filter(|taken| !matches!(taken.meaning, Meaning::Nothing | Meaning::Talk(_) | Meaning::Told))
            .count()
            < 2;
        let has_acts = clauses.iter().any(|taken| matches!(taken.meaning, Meaning::Read(_)));
        let has_orders = clauses.iter().any(|taken| !matches!(taken.meaning, Meaning::Nothing | Meaning::Talk(_)));
        let by_things = |taken: &Taken| matches!(&taken.meaning, Meaning::Read(readings) if readings.iter().all(|it| it.score.strength == Strength::Things));
        let is_mixed = clauses.iter().any(|taken| matches!(taken.meaning, Meaning::Read(_)) && !by_things(taken));
        for taken in clauses {
            let clause = self.reader.written(self.words.get(taken.range.clone()).unwrap_or_default());
            let parts = |calls: &[Call]| -> Vec<Part> {
                calls.iter().map(|call| Part::Call { call: call.clone(), clause: clause.clone() }).collect()
            };
            let offers: Vec<Vec<Part>> = match &taken.meaning {
                Meaning::Nothing => continue,
                // Whether it is only a reason is for the person to say.
                Meaning::Told if has_acts => {
                    unclear.get_or_insert_with(|| clause.clone());
                    continue;
                }
                Meaning::Told => {
                    problems.push((clause, Problem::Unknown));
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
                Meaning::Missed(Miss { problem, nearly, .. }) => match nearly {
                    // A clause among others is not left out.
                    Some(call) if is_alone => {
                        unclear.get_or_insert_with(|| clause.clone());
                        vec![parts(std::slice::from_ref(call))]
                    }
                    _ => {
                        problems.push((clause, problem.clone()));
                        continue;
                    }
                },
            };
            // Among other orders, things alone say too little.
            let vague = matches!(&taken.meaning, Meaning::Read(readings) if is_mixed && readings.iter().all(Reading::is_by_things_alone));
            let doubtful = matches!(&taken.meaning, Meaning::Read(readings) if readings.iter().any(|it| it.doubtful));
            if offers.len() > 1 || vague || doubtful {
                unclear.get_or_insert_with(|| clause.clone());
            }
            ways.push((taken, offers));
        }
        if !problems.is_empty() {
            problems.truncate(PROBLEMS_TOLD);
            return Understanding::Refused(problems);
        }
        in_order(&mut ways);
        let ways: Vec<Vec<Vec<Part>>> = ways.into_iter().map(|(_, offers)| offers).collect();
        if ways.is_empty() {
            return Understanding::Empty;
        }
        match unclear {
            None => Understanding::Understood(self.without_echoes(
                ways.into_iter().flat_map(|offers| offers.into_iter().next().unwrap_or_default()).collect(),
            )),
            Some(clause) => {
                let mut offers: Vec<Vec<Part>> = vec![Vec::new()];
                for several in ways {
                    offers = offers
                        .iter()
                        .flat_map(|before| several.iter().map(move |next| before.iter().chain(next).cloned().collect()))
                        .take(12)
                        .collect();
                }
                Understanding::Unsure { clause, offers }
            }
        }
    }
}

impl Task<'_> {
    /// "Whoa, stop!" stops once.
    fn without_echoes(&self, parts: Vec<Part>) -> Vec<Part> {
        let stops = |call: &Call| {
            let tool = self.reader.robot.tool(call.tool);
            tool.is_some_and(|tool| tool.verbs.iter().any(|verb| self.reader.names(&verb.key, "stop")))
        };
        let mut kept: Vec<Part> = Vec::new();
        for part in parts {
            // Nor does "look around and describe it" look twice.
            let is_echo = matches!((&part, kept.last()), (Part::Call { call, .. }, Some(Part::Call { call: last, .. })) if call == last && (stops(call) || answers(self.reader.robot, call)));
            if !is_echo {
                kept.push(part);
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

    /// The part that speaks of the last look.
    fn told(&self, clause: &str) -> Option<Part> {
        let (tool, parameter, limit) = self.speaker()?;
        Some(Part::Tell { tool, parameter, limit, of: 0, clause: clause.to_owned() })
    }
}

/// "Before you go, say goodbye" says goodbye first; "say goodbye after you have closed the door" closes the door first.
fn in_order(ways: &mut [(Taken, Vec<Vec<Part>>)]) {
    let mut at = 0;
    while at < ways.len() {
        let joint = ways.get(at).map(|(taken, _)| taken.joint);
        match joint {
            Some(Joint::Before) if at == 0 && ways.len() > 1 => {
                ways.swap(0, 1);
                at += 1;
            }
            Some(Joint::After) if at > 0 => ways.swap(at - 1, at),
            _ => {}
        }
        at += 1;
    }
}

/// What a correction leaves unsaid stays as it was.
fn complete(new: &mut [Reading], old: &[Reading]) {
    let Some(old) = old.first().and_then(|reading| reading.calls.last()) else { return };
    for call in new.iter_mut().flat_map(|reading| reading.calls.iter_mut()).filter(|call| call.tool == old.tool) {
        for (name, value) in &old.arguments {
            call.arguments.entry(name.clone()).or_insert_with(|| value.clone());
        }
    }
}

fn stronger(one: Joint, other: Joint) -> Joint {
    let rank = |joint: Joint| match joint {
        Joint::Soft => 0,
        Joint::Strong => 1,
        Joint::After | Joint::Before => 2,
        Joint::Correction => 3,
    };
    if rank(other) > rank(one) { other } else { one }
}

/// Whether a tool only answers.
pub(crate) fn answers(robot: &Robot, call: &Call) -> bool {
    robot.tool(call.tool).is_some_and(|tool| tool.looks || tool.usage != Usage::Step)
}
