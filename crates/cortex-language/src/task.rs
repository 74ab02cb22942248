//! A whole task: its clauses, in the order in which they are to be done.
//!
//! A text is cut at every joint, and every way of joining the pieces again is a reading; the cheapest one that accounts
//! for every word is meant. One clause that is not understood, and nothing is done.

mod announcements;
mod audit;
mod beginning;
mod clauses;
mod conditional;
mod contrast;
mod corrections;
mod due;
mod follow_ups;
mod nodes;
mod order;
mod pieces;
mod questions;
mod result;
mod splits;
mod told;
mod tours;
mod withheld;

use std::ops::Range;

pub use self::beginning::{Beginning, beginning};
pub use self::follow_ups::understand_after;

use self::contrast::RuledOut;
use self::follow_ups::Earlier;
use self::nodes::Node;
use crate::condition::Condition;
use crate::kin;
use crate::language::Language;
use crate::languages;
use crate::problem::Problem;
use crate::reading::{Call, Miss, Reader, Reading};
use crate::robot::{Robot, Usage};
use crate::sentence::{self, Word};
use crate::slips;
use crate::talk::{self, Talk};
use crate::tokens::{Kind, MAX_TOKENS};

/// Most pieces between joints; a longer task is better said in several.
pub const MAX_PIECES: usize = 200;
/// Most pieces that one clause is made of.
const PIECES_OF_CLAUSE: usize = 8;
/// No clause of several pieces that is missed costs less, without its joints.
const LEAST_MISSED: f64 = 7.9;
/// So close a clause must have come to an order to be one that is corrected.
const CORRECTED_FROM: usize = 4;
/// Most problems that are told.
const PROBLEMS_TOLD: usize = 3;

/// One thing that a task asks for.
#[derive(Debug, Clone, PartialEq)]
pub enum Part {
    /// A tool is called.
    Call {
        /// The call.
        call: Call,
        /// The words that ask for it, as written.
        clause: String,
    },
    /// The result of another part is spoken.
    Tell {
        /// The tool that speaks.
        tool: usize,
        /// The parameter that takes the text.
        parameter: String,
        /// Most characters of the text.
        limit: Option<u64>,
        /// The index of the part that brings it.
        of: usize,
        /// The words that ask for it, as written.
        clause: String,
    },
    /// Something is done only if the robot finds that a condition holds.
    If {
        /// The condition.
        condition: Condition,
        /// What is done if it holds.
        then: Vec<Part>,
        /// What is done if it does not.
        otherwise: Vec<Part>,
    },
    /// Something is said that wants an answer and no act.
    Talk(Talk),
}

/// The meaning of a task.
#[derive(Debug, Clone, PartialEq)]
pub enum Understanding {
    /// Every word is accounted for.
    Understood(Vec<Part>),
    /// One of several things is meant, or the words are nearly those of an order.
    Unsure {
        /// The words that are not clear.
        clause: String,
        /// The possible meanings, each as the calls of the whole task.
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

/// The joint between a piece and the one before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Joint {
    /// By "and" or a comma: it may belong to the same clause.
    Soft,
    /// By "then" or the end of a sentence.
    Strong,
    /// By "before", after what is done before it: "A before B".
    Before,
    /// By "after" or "once", after what is done after it: "A after B".
    After,
    /// By "before" where a sentence begins, so that what follows is done before it: "before B, A".
    BeforeNext,
    /// By "after" or "once" where a sentence begins: "once B, A".
    AfterNext,
    /// It is done before what was said earlier: "..., but turn the light on first".
    First,
    /// It takes the place of what was said.
    Correction,
}

impl Joint {
    /// Returns true if what follows only says when something else is done.
    fn is_subordinate(self) -> bool {
        matches!(self, Self::Before | Self::After | Self::BeforeNext | Self::AfterNext)
    }

    /// The same joint where a sentence begins.
    fn opening(self) -> Self {
        match self {
            Self::Before => Self::BeforeNext,
            Self::After => Self::AfterNext,
            other => other,
        }
    }
}

#[derive(Debug, Clone)]
struct Piece {
    range: Range<usize>,
    joint: Joint,
}

/// A clause as it was read.
#[derive(Debug, Clone)]
struct Taken {
    range: Range<usize>,
    joint: Joint,
    meaning: Meaning,
}

impl Taken {
    /// The first of its readings, if it was read.
    fn reading(&self) -> Option<&Reading> {
        match &self.meaning {
            Meaning::Read(readings) => readings.first(),
            _ => None,
        }
    }
}

#[derive(Debug, Clone)]
enum Meaning {
    Nothing,
    Read(Vec<Reading>),
    /// The findings of these are to be spoken.
    Announced(Vec<Reading>),
    /// The last finding is to be spoken.
    AnnouncedLast,
    Talk(Talk),
    /// Something that is told beside an order: why it is given.
    Told,
    /// Something that is named only to rule it out.
    RuledOut(RuledOut),
    Missed(Miss),
}

/// A text as it was read: its meaning, and the readings of its clauses, the last first.
struct Text {
    understanding: Understanding,
    readings: Vec<Reading>,
    written: String,
    /// True if it ends as a question.
    asks: bool,
}

impl From<Understanding> for Text {
    fn from(understanding: Understanding) -> Self {
        Self { understanding, readings: Vec::new(), written: String::new(), asks: false }
    }
}

/// Reads a text that is said to the robot.
#[must_use]
pub fn understand(robot: &Robot, text: &str) -> Understanding {
    read(robot, text, &Earlier::default()).understanding
}

fn read(robot: &Robot, text: &str, earlier: &Earlier) -> Text {
    let mut first: Option<Text> = None;
    for language in languages::of_text(text) {
        let read = read_in(robot, language, text, earlier);
        if !matches!(read.understanding, Understanding::Refused(_) | Understanding::Empty) {
            return read;
        }
        first.get_or_insert(read);
    }
    first.unwrap_or_else(|| Understanding::Empty.into())
}

fn read_in(robot: &Robot, language: &Language, text: &str, earlier: &Earlier) -> Text {
    let Ok(mut words) = sentence::words(text, language) else { return Understanding::Unclosed.into() };
    // A task in quotation marks, as shells and forms may leave it.
    if let [only] = words.as_slice()
        && only.kind == Kind::Quoted
        && only.text.len() < text.len()
    {
        return read_in(robot, language, &only.text.clone(), earlier);
    }
    if words.len() > MAX_TOKENS {
        return Understanding::TooLong.into();
    }
    tidy(&mut words, robot, language);
    if let Some(talk) = talk::exact(&words, robot, language) {
        return Understanding::Understood(vec![Part::Talk(talk)]).into();
    }
    let task = Task { reader: Reader { robot, language, text }, words: &words, earlier };
    if let Some(understanding) = task.encore() {
        return understanding.into();
    }
    if let Some(understood) = task.conditional() {
        return understood.into();
    }
    let pieces = task.pieces();
    if pieces.len() > MAX_PIECES {
        return Understanding::TooLong.into();
    }
    let clauses = task.best(&pieces);
    let readings: Vec<Reading> = clauses.iter().rev().filter_map(Taken::reading).cloned().collect();
    let understanding = task.result(clauses);
    let asks = text.trim_end().ends_with('?');
    let written = text.trim().to_owned();
    if let Some((understanding, calls)) = task.answer_instead(&understanding) {
        return Text { understanding, readings: vec![Reading::of(calls)], written, asks };
    }
    if matches!(understanding, Understanding::Refused(_) | Understanding::Empty)
        && let Some(talk) = talk::loose(&words, robot, language)
    {
        return Understanding::Understood(vec![Part::Talk(talk)]).into();
    }
    if matches!(understanding, Understanding::Refused(_))
        && let Some(words) = kin::replaced(&words, robot, language)
        && let Some(offers) = by_kin(&Task { reader: task.reader, words: &words, earlier })
    {
        return Understanding::Unsure { clause: task.reader.written(task.words), offers }.into();
    }
    Text { understanding, readings, written, asks }
}

/// Leaves out what only looks like something that is said, and corrects typing slips.
pub(crate) fn tidy(words: &mut Vec<Word>, robot: &Robot, language: &Language) {
    without_dots(words, language);
    without_stutter(words);
    slips::corrected(words, robot, language);
}

/// What is meant if some words stand for others of the robot, for a person to confirm.
fn by_kin(task: &Task<'_>) -> Option<Vec<Vec<Part>>> {
    let clauses = task.best(&task.pieces());
    let calls = |parts: &[Part]| parts.iter().any(|part| matches!(part, Part::Call { .. }));
    match task.result(clauses) {
        Understanding::Understood(parts) if calls(&parts) => Some(vec![parts]),
        Understanding::Unsure { offers, .. } => Some(offers),
        _ => None,
    }
}

/// "Dr. Smith", "T. rex": the dot ends no sentence.
fn without_dots(words: &mut Vec<Word>, language: &Language) {
    let is_short = |word: &Word| {
        word.kind == Kind::Word
            && (language.words.abbreviations.has(&word.text)
                || (word.text.chars().count() == 1 && word.text.chars().all(char::is_alphabetic)))
    };
    let dots: Vec<usize> = (1..words.len().saturating_sub(1))
        .filter(|at| {
            let triple = words.get(at - 1..at + 2);
            matches!(triple, Some([word, dot, next]) if dot.is_mark(".") && is_short(word) && next.kind == Kind::Word)
        })
        .collect();
    dots.into_iter().rev().for_each(|at| drop(words.remove(at)));
}

/// "Whoa whoa", "go go go": what begins a sentence is said once. "Say knock knock" is not.
fn without_stutter(words: &mut Vec<Word>) {
    let mut begins = true;
    words.dedup_by(|next, word| {
        begins = begins && next.text == word.text || word.kind == Kind::Mark;
        begins && next.kind == Kind::Word && next.number.is_none() && next.text == word.text
    });
}

struct Task<'t> {
    reader: Reader<'t>,
    words: &'t [Word],
    /// What was done before the text.
    earlier: &'t Earlier,
}

/// Returns true if a tool only answers.
pub(crate) fn answers(robot: &Robot, call: &Call) -> bool {
    robot.tool(call.tool).is_some_and(|tool| tool.looks || tool.usage != Usage::Step)
}
