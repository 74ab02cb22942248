//! Conditions that the robot can check: "if the kitchen light is on, turn it off, otherwise go to the hall".
//!
//! A text with a condition is cut into stretches: orders without one, and conditions with what is done if they hold and
//! if they do not. Each stretch is read as a text of its own, in the light of those before it. Where any of them is not
//! understood whole, or may be cut in several ways that all mean something, nothing is done at once.

mod frames;
mod look;

use self::frames::Segment;
use super::clauses::place_of;
use super::follow_ups::Earlier;
use super::{Joint, MAX_PIECES, Meaning, Node, Part, Taken, Task, Understanding};
use crate::condition::Condition;
use crate::reading::Reading;
use crate::sentence::Word;

/// Most words of a text with a condition.
const WORDS_AT_MOST: usize = 120;
/// Most ways of understanding one text that are kept.
const WAYS: usize = 8;

/// What was understood of a text so far.
#[derive(Debug, Clone)]
struct Story {
    /// What was read last, for words that refer to it.
    node: Node,
    /// Each way in which it may be meant.
    ways: Vec<Vec<Part>>,
    /// True if a person has to say which way is meant.
    unclear: bool,
    /// True if a condition came before.
    conditional: bool,
}

/// An order, as it is done under a condition or beside one.
#[derive(Debug)]
struct Branch {
    ways: Vec<Vec<Part>>,
    unclear: bool,
    readings: Vec<Reading>,
    /// Where its last clause begins.
    last: usize,
    /// How many of its clauses ask for something.
    clauses: usize,
}

/// A condition, and what depends on it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Choice<'w> {
    condition: &'w [Word],
    negated: bool,
    /// True if what opens it may speak of a time as well.
    may_be_time: bool,
    then: &'w [Word],
    otherwise: Option<&'w [Word]>,
}

impl Task<'_> {
    /// The text as orders of which some depend on what the robot finds. None: it has no such condition, or one that can't
    /// be checked.
    pub(super) fn conditional(&self) -> Option<Understanding> {
        let segments = self.segments();
        let is_conditional = segments.iter().any(|segment| self.opens(segment.words) || self.goes_on(segment.words));
        if !is_conditional || self.words.len() > WORDS_AT_MOST || self.corrects() {
            return None;
        }
        let mut story =
            Story { node: Node::start(self.earlier), ways: vec![Vec::new()], unclear: false, conditional: false };
        let mut at = 0;
        while at < segments.len() {
            let taken = self.next(&mut story, segments.get(at..)?)?;
            at += taken;
        }
        if !story.conditional || story.ways.iter().any(|parts| asks_twice(parts)) {
            return None;
        }
        story.ways.iter_mut().for_each(without_looking_twice);
        match story.ways.as_slice() {
            [only] if !story.unclear => Some(Understanding::Understood(only.clone())),
            _ => {
                let clause = self.reader.written(self.words);
                Some(Understanding::Unsure { clause, offers: story.ways })
            }
        }
    }

    /// Returns true if something is taken back: nobody can say whether the condition is.
    fn corrects(&self) -> bool {
        let language = self.reader.language;
        (1..self.words.len()).any(|at| {
            let rest = self.words.get(at..).unwrap_or_default();
            let length = language.frames.corrections.length(rest);
            let otherwise = language.conditions.or_not(rest) > 0;
            let breaks = at.checked_sub(1).and_then(|at| self.words.get(at)).is_some_and(Word::is_punctuation);
            length > 0 && !otherwise && (length > 1 || breaks)
        })
    }

    /// Takes the next stretches; returns how many.
    fn next(&self, story: &mut Story, segments: &[Segment<'_>]) -> Option<usize> {
        let first = segments.first()?;
        let found = self.choices(segments);
        if found.is_empty() {
            if self.opens(first.words) || (story.conditional && self.depends(first.words)) {
                return None;
            }
            *story = self.plain(story, first.words)?;
            return Some(1);
        }
        let mut stories: Vec<(Story, usize)> = Vec::new();
        for frame in found {
            for read in self.taken(story, &frame) {
                let is_new = !stories.iter().any(|(other, _)| calls_of(&other.ways) == calls_of(&read.ways));
                if is_new && stories.len() < WAYS {
                    stories.push((read, frame.segments));
                }
            }
        }
        let segments = stories.first()?.1;
        if stories.iter().any(|(_, other)| *other != segments) {
            return None;
        }
        let unclear = stories.len() > 1 || stories.iter().any(|(read, _)| read.unclear);
        let ways = stories.into_iter().flat_map(|(read, _)| read.ways).take(WAYS).collect();
        // What comes later may depend on what is done only perhaps.
        *story = Story { node: Node::start(&Earlier::default()), ways, unclear, conditional: true };
        Some(segments)
    }

    /// Everything that the frame may mean, after what came before it.
    fn taken(&self, story: &Story, frame: &frames::Frame<'_>) -> Vec<Story> {
        let mut story = story.clone();
        story.unclear |= frame.unclear;
        let mut found = Vec::new();
        if frame.trails {
            found.extend(self.trailing(&story, frame));
        } else if let Some(before) = self.before(&story, frame.before) {
            found.extend(self.leading(&before, &frame.choice));
        }
        if let Some(after) = frame.after {
            found = found.iter().filter_map(|story| self.plain(story, after)).collect();
        }
        found
    }

    /// The orders before the condition, if there are any.
    fn before(&self, story: &Story, words: &[Word]) -> Option<Story> {
        if self.is_polite(words) { Some(story.clone()) } else { self.plain(story, words) }
    }

    /// An order without a condition.
    fn plain(&self, story: &Story, words: &[Word]) -> Option<Story> {
        let branch = self.branch(&story.node, words)?;
        if story.conditional && self.depends(words) {
            return None;
        }
        let ways = combined(&story.ways, &branch.ways);
        let node = seeded(&story.node, &branch.readings, self);
        Some(Story { node, ways, unclear: story.unclear || branch.unclear, conditional: story.conditional })
    }

    /// "If it is on, turn it off": the condition is read before what depends on it.
    fn leading(&self, story: &Story, choice: &Choice<'_>) -> Option<Story> {
        let (condition, reading) = self.condition(choice, &story.node)?;
        let node = self.beyond(&story.node, &condition, &reading);
        let then = self.branch(&node, choice.then)?;
        let mut story = self.decided(story, &condition, then, choice.otherwise, &node)?;
        story.unclear |= reading.doubtful;
        Some(story)
    }

    /// The node after a condition: "if you are not in the hall, drive there".
    fn beyond(&self, node: &Node, condition: &Condition, reading: &Reading) -> Node {
        let mut node = seeded(node, std::slice::from_ref(reading), self);
        node.place = condition.place().cloned().or(node.place);
        node
    }

    /// "Turn it off if it is on": what depends on the condition is read before it. Of several orders before a condition,
    /// the last one depends on it, or all of them.
    fn trailing(&self, story: &Story, frame: &frames::Frame<'_>) -> Vec<Story> {
        let choice = &frame.choice;
        let Some(all) = self.branch(&story.node, choice.then) else { return Vec::new() };
        let mut scopes: Vec<(Option<Story>, &[Word])> = vec![(Some(story.clone()), choice.then)];
        if all.clauses > 1 {
            let (before, last) = choice.then.split_at(all.last.min(choice.then.len()));
            scopes.push((self.plain(story, self.trimmed(before)), last));
        }
        let mut found = Vec::new();
        for (before, then) in scopes {
            let read = || {
                let before = before?;
                let then = self.branch(&before.node, then)?;
                let node = seeded(&before.node, &then.readings, self);
                let (condition, reading) = self.condition(choice, &node)?;
                // "Say call me if you are late": it may belong to the text.
                let is_open = then.readings.iter().any(Reading::is_open);
                let mut story = self.decided(&before, &condition, then, choice.otherwise, &node)?;
                story.unclear |= is_open || reading.doubtful;
                Some(story)
            };
            found.extend(read());
        }
        found
    }

    fn decided(
        &self,
        story: &Story,
        condition: &Condition,
        then: Branch,
        otherwise: Option<&[Word]>,
        node: &Node,
    ) -> Option<Story> {
        let otherwise = match otherwise {
            Some(words) => self.branch(node, words)?,
            None => Branch { ways: vec![Vec::new()], unclear: false, readings: Vec::new(), last: 0, clauses: 0 },
        };
        let choices: Vec<Vec<Part>> = then
            .ways
            .iter()
            .flat_map(|then| otherwise.ways.iter().map(move |otherwise| (then, otherwise)))
            .map(|(then, otherwise)| {
                let (then, otherwise) = (then.clone(), otherwise.clone());
                vec![Part::If { condition: condition.clone(), then, otherwise }]
            })
            .collect();
        Some(Story {
            node: Node::start(&Earlier::default()),
            ways: combined(&story.ways, &choices),
            unclear: story.unclear || then.unclear || otherwise.unclear,
            conditional: true,
        })
    }

    /// Reads an order as a text of its own, after what was read before.
    fn branch(&self, node: &Node, words: &[Word]) -> Option<Branch> {
        let all = words;
        let words = self.trimmed(words);
        let offset = words.first().and_then(|first| all.iter().position(|it| it.span == first.span)).unwrap_or(0);
        let task = Task { reader: self.reader, words, earlier: self.earlier };
        let pieces = task.pieces();
        if pieces.is_empty() || pieces.len() > MAX_PIECES {
            return None;
        }
        let seeds = node.clauses.last_first().count();
        let clauses = task.best_from(node.clone(), &pieces).clauses.into_vec();
        if clauses.iter().take(seeds).any(|taken| taken.range != (0..0)) || clauses.len() <= seeds {
            return None;
        }
        let own: Vec<Taken> = clauses.into_iter().skip(seeds).collect();
        let asks: Vec<&Taken> = own
            .iter()
            .filter(|taken| matches!(taken.meaning, Meaning::Read(_) | Meaning::Announced(_) | Meaning::AnnouncedLast))
            .collect();
        let readings = asks
            .iter()
            .filter_map(|taken| match &taken.meaning {
                Meaning::Read(readings) | Meaning::Announced(readings) => readings.first().cloned(),
                _ => None,
            })
            .collect();
        let last = offset + asks.last().map_or(0, |taken| taken.range.start);
        let count = asks.len();
        let (ways, unclear) = match task.result(own) {
            Understanding::Understood(parts) => (vec![parts], false),
            Understanding::Unsure { offers, .. } => (offers, true),
            _ => return None,
        };
        let is_whole = |parts: &Vec<Part>| {
            !parts.is_empty()
                && parts.iter().enumerate().all(|(at, part)| match part {
                    Part::Call { .. } => true,
                    Part::Tell { of, .. } => *of < at,
                    Part::Talk(_) | Part::If { .. } => false,
                })
        };
        ways.iter().all(is_whole).then_some(Branch { ways, unclear, readings, last, clauses: count })
    }

    /// Returns true if the words refer to what was said before, or go on with it.
    fn depends(&self, words: &[Word]) -> bool {
        let language = self.reader.language;
        let marks = words.iter().take_while(|word| word.is_punctuation()).count();
        let begins = words.get(marks..).unwrap_or_default();
        language.words.sequence.length(begins) > 0
            || (0..words.len()).any(|at| {
                let rest = words.get(at..).unwrap_or_default();
                language.words.things.length(rest) > 0 || language.words.places.length(rest) > 0
            })
    }
}

/// The ways without the words that ask for them.
fn calls_of(ways: &[Vec<Part>]) -> Vec<Vec<Part>> {
    let plain = |part: &Part| match part.clone() {
        Part::Call { call, .. } => Part::Call { call, clause: String::new() },
        Part::If { condition, then, otherwise } => {
            let condition = Condition { clause: String::new(), ..condition };
            let mut branches = calls_of(&[then, otherwise]).into_iter();
            let (then, otherwise) = (branches.next().unwrap_or_default(), branches.next().unwrap_or_default());
            Part::If { condition, then, otherwise }
        }
        other => other,
    };
    ways.iter().map(|parts| parts.iter().map(plain).collect()).collect()
}

/// "Check the gate, and if it is open, close it" looks once.
fn without_looking_twice(parts: &mut Vec<Part>) {
    let looks = |pair: &[Part]| matches!(pair, [Part::Call { call, .. }, Part::If { condition, .. }] if *call == condition.look);
    let tells = parts.iter().any(|part| matches!(part, Part::Tell { .. }));
    if let Some(at) = parts.windows(2).position(looks).filter(|_| !tells) {
        parts.remove(at);
    }
}

/// "If it is on turn it off, and if it is off turn it on": what is done for one condition decides the next one.
fn asks_twice(parts: &[Part]) -> bool {
    parts.windows(2).any(|pair| match pair {
        [Part::If { condition: one, .. }, Part::If { condition: other, .. }] => one.look == other.look,
        _ => false,
    })
}

/// The node after these readings: what comes next may refer to them.
fn seeded(node: &Node, readings: &[Reading], task: &Task<'_>) -> Node {
    let mut node = node.clone();
    for reading in readings {
        let meaning = Meaning::Read(vec![reading.clone()]);
        node.place = place_of(task.reader.robot, std::slice::from_ref(reading)).or(node.place);
        node.clauses = node.clauses.with(Taken { range: 0..0, joint: Joint::Strong, meaning });
    }
    node
}

/// Each way of what came before, with each of what comes next.
fn combined(before: &[Vec<Part>], next: &[Vec<Part>]) -> Vec<Vec<Part>> {
    let joined = |before: &Vec<Part>, next: &Vec<Part>| {
        let shifted = next.iter().cloned().map(|part| match part {
            Part::Tell { tool, parameter, limit, of, clause } => {
                Part::Tell { tool, parameter, limit, of: of + before.len(), clause }
            }
            other => other,
        });
        before.iter().cloned().chain(shifted).collect()
    };
    before.iter().flat_map(|before| next.iter().map(move |next| joined(before, next))).take(WAYS).collect()
}
