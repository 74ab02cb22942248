//! From a task to what is to be done, whole or not at all: one clause that is not understood, and nothing is.

use serde_json::{Map, Value};

use super::clauses::{self, Clause, Fit};
use super::lexicon::Guard;
use super::matching::{self, Call};
use super::problem::Problem;
use super::questions::{self, Manner};
use super::references::{self, Referent, Wish};
use super::tokens::{self, Kind, MAX_TOKENS, Token};
use super::toolbox::{Toolbox, Usage};
use super::tours;

/// Most problems that are told.
const PROBLEMS_TOLD: usize = 3;

/// One thing to be done.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Intent {
    /// A tool is called.
    Call { tool: usize, arguments: Map<String, Value>, clause: String },
    /// What another intent brings is spoken.
    Tell { tool: usize, parameter: String, limit: Option<u64>, of: usize, clause: String },
    /// The person asks what can be done.
    Help,
}

/// Why nothing is to be done.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Misread {
    /// There is no clause in it.
    Empty,
    /// A quotation mark without its partner.
    Unclosed,
    /// Too many words or clauses.
    TooLong,
    /// These clauses, with what is wrong with each.
    Problems(Vec<(String, Problem)>),
}

/// What the task asks for: as it stands, or at each of several places.
pub(super) fn read(toolbox: &Toolbox<'_>, task: &str) -> Result<Vec<Intent>, Misread> {
    let plain = read_plain(toolbox, task);
    match plain {
        Err(Misread::Problems(_)) => tours::tour(toolbox, task).unwrap_or(plain),
        other => other,
    }
}

/// What the task asks for as it stands.
pub(super) fn read_plain(toolbox: &Toolbox<'_>, task: &str) -> Result<Vec<Intent>, Misread> {
    let tokens = tokens::tokens(task).map_err(|_| Misread::Unclosed)?;
    // A task in quotation marks, as shells and forms may leave them.
    if let [only] = tokens.as_slice()
        && only.kind == Kind::Quoted
        && only.word.len() < task.len()
    {
        return read_plain(toolbox, &only.word);
    }
    if tokens.len() > MAX_TOKENS {
        return Err(Misread::TooLong);
    }
    let judge = |tokens: &[Token]| judge(toolbox, task, tokens);
    let clauses = clauses::clauses(&tokens, &judge).map_err(|_| Misread::TooLong)?;
    if clauses.is_empty() {
        return Err(Misread::Empty);
    }
    let mut reading = Reading { toolbox, intents: Vec::new() };
    let mut problems = Vec::new();
    let is_alone = clauses.len() == 1;
    for Clause { range, asks } in clauses {
        let tokens = tokens.get(range).unwrap_or_default();
        let written = written(task, tokens);
        let standing = match (asks, is_alone) {
            (true, _) => Standing::Asked,
            (false, true) => Standing::Alone,
            (false, false) => Standing::Among,
        };
        let taken = meaning(toolbox, task, tokens, standing).and_then(|meaning| reading.take(meaning, &written));
        if let Err(problem) = taken {
            problems.push((written, problem));
        }
    }
    if problems.is_empty() {
        Ok(reading.intents)
    } else {
        problems.truncate(PROBLEMS_TOLD);
        Err(Misread::Problems(problems))
    }
}

/// The part of the task that the tokens stand for.
fn written(task: &str, tokens: &[Token]) -> String {
    let span = tokens.first().zip(tokens.last()).and_then(|(first, last)| task.get(first.start..last.end));
    span.unwrap_or_default().to_owned()
}

/// What a clause means, apart from what it refers to.
enum Meaning<'t> {
    Help,
    Call(Call),
    Wish {
        referent: Referent<'t>,
        aloud: bool,
    },
    /// A question that is also to be spoken.
    Announce(Call),
}

/// How a clause stands in its task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Standing {
    /// A mark says that it is asked.
    Asked,
    /// It is the whole task, without such a mark.
    Alone,
    /// Among others.
    Among,
}

fn meaning<'t>(
    toolbox: &Toolbox<'_>,
    task: &str,
    tokens: &'t [Token],
    standing: Standing,
) -> Result<Meaning<'t>, Problem> {
    let bare = clauses::without_trails(tokens);
    if asks_for_help(bare) {
        return Ok(Meaning::Help);
    }
    if let Some(Wish { referent, aloud }) = references::wish(bare) {
        let (question, manner) = match referent {
            Referent::Answer(question) => (question, Manner::Asked),
            Referent::Reading(reading) => (reading, Manner::Named),
            referent => return Ok(Meaning::Wish { referent, aloud }),
        };
        match questions::question(toolbox, question, manner) {
            Ok(call) if aloud => return Ok(Meaning::Announce(call)),
            Ok(call) => return Ok(Meaning::Call(call)),
            // "Say what is love" may still be a text.
            Err(_) if aloud => {}
            Err(problem) => return Err(matching::guarded(bare).unwrap_or(problem)),
        }
    }
    let problem = match matching::command(toolbox, task, tokens) {
        Ok(call) => return Ok(Meaning::Call(call)),
        Err(problem) if bare.len() == tokens.len() => problem,
        Err(_) => match matching::command(toolbox, task, bare) {
            Ok(call) => return Ok(Meaning::Call(call)),
            Err(problem) => problem,
        },
    };
    let begins = questions::begins(bare) || bare.first().is_some_and(|first| first.canon == "read");
    let asked = standing == Standing::Asked || begins;
    let manner = if asked { Manner::Asked } else { Manner::Named };
    let problem = match questions::question(toolbox, bare, manner) {
        // "Inspect the camera and the battery" does not ask for the battery's level.
        Ok(_) if !asked && standing == Standing::Among => problem,
        Ok(call) => return Ok(Meaning::Call(call)),
        Err(several @ Problem::Several { .. }) if asked => several,
        Err(unanswerable) if asked && matches!(problem, Problem::Unknown) => unanswerable,
        Err(_) => problem,
    };
    // What can't be honoured is told before what is merely unknown.
    match problem {
        Problem::OutOfBounds { .. } | Problem::Unit { .. } | Problem::Several { .. } | Problem::Unsayable { .. } => {
            Err(problem)
        }
        other => Err(matching::guarded(bare).unwrap_or(other)),
    }
}

fn asks_for_help(tokens: &[Token]) -> bool {
    let words: Vec<&str> =
        tokens.iter().map(|token| token.word.as_str()).filter(|word| !matches!(*word, "me" | "all")).collect();
    matches!(
        words.as_slice(),
        ["help"]
            | ["what", "can" | "could", "you", "do"]
            | ["what", "do", "you", "do"]
            | ["what", "you", "can", "do"]
            | ["tell", "what", "you", "can", "do"]
            | ["what", "are", "your", "abilities" | "skills" | "capabilities" | "tools" | "commands"]
            | ["show" | "list", "your", "abilities" | "skills" | "capabilities" | "tools" | "commands"]
            | ["list", "tools" | "commands"]
    )
}

/// What some tokens are, for dividing a task.
fn judge(toolbox: &Toolbox<'_>, task: &str, tokens: &[Token]) -> Fit {
    match meaning(toolbox, task, tokens, Standing::Among) {
        Ok(Meaning::Call(call)) if call.is_open() => Fit::Open,
        Ok(_) => Fit::Complete,
        Err(
            Problem::UnknownValue { .. }
            | Problem::OutOfBounds { .. }
            | Problem::Unit { .. }
            | Problem::Several { .. }
            | Problem::Unsayable { .. },
        ) => Fit::Wrong,
        // "... and don't go there": a command all the same, which is then refused.
        Err(Problem::Guarded { guard: Guard::Negation, .. }) => {
            let rest = without_negation(tokens);
            let is_command = rest.len() < tokens.len() && judge(toolbox, task, rest) != Fit::No;
            if is_command { Fit::Wrong } else { Fit::No }
        }
        Err(_) => Fit::No,
    }
}

/// The tokens without "don't", "do not" or "never" before them.
fn without_negation(tokens: &[Token]) -> &[Token] {
    let skipped = match tokens {
        [first, second, ..] if first.is("do") && second.is("not") => 2,
        [first, ..] if first.is("don't") || first.is("dont") || first.is("never") || first.is("not") => 1,
        _ => 0,
    };
    tokens.get(skipped..).unwrap_or_default()
}

/// The intents so far, and what they can be referred to by.
struct Reading<'c, 'r> {
    toolbox: &'c Toolbox<'r>,
    intents: Vec<Intent>,
}

impl Reading<'_, '_> {
    fn take(&mut self, meaning: Meaning<'_>, clause: &str) -> Result<(), Problem> {
        match meaning {
            Meaning::Help => self.intents.push(Intent::Help),
            Meaning::Call(call) => self.call(call.tool, call.arguments, clause),
            Meaning::Announce(call) => {
                self.call(call.tool, call.arguments, clause);
                self.tell(self.intents.len() - 1, clause);
            }
            Meaning::Wish { referent, aloud } => {
                let of = match referent {
                    Referent::Sight => self.look(clause, false)?,
                    Referent::PastSight => self.look(clause, true)?,
                    Referent::Scene => {
                        let tool = self.toolbox.looking().ok_or(Problem::NothingToSeeWith)?;
                        self.call(tool, Map::new(), clause);
                        return Ok(());
                    }
                    Referent::Last => self.last_finding().ok_or(Problem::NothingToTell)?,
                    Referent::Answer(_) | Referent::Reading(_) => return Err(Problem::Unanswerable),
                };
                if aloud {
                    self.tell(of, clause);
                }
            }
        }
        Ok(())
    }

    fn call(&mut self, tool: usize, arguments: Map<String, Value>, clause: &str) {
        self.intents.push(Intent::Call { tool, arguments, clause: clause.to_owned() });
    }

    /// Speaks of another intent's result, where the robot can speak; the answer carries it in any case.
    fn tell(&mut self, of: usize, clause: &str) {
        if let Some((tool, parameter)) = self.toolbox.speaking() {
            let limit = match parameter.kind {
                super::slots::ParameterKind::Text(limit) => limit,
                _ => None,
            };
            let parameter = parameter.name.clone();
            self.intents.push(Intent::Tell { tool, parameter, limit, of, clause: clause.to_owned() });
        }
    }

    /// The look that is meant: the last one, or a new one if there was none or something was done since.
    fn look(&mut self, clause: &str, past: bool) -> Result<usize, Problem> {
        let last = self.intents.iter().rposition(|intent| self.looks(intent));
        let later = self.intents.get(last.map_or(0, |last| last + 1)..).unwrap_or_default();
        let is_stale = later.iter().any(|intent| self.acts(intent));
        match last.filter(|_| past || !is_stale) {
            Some(last) => Ok(last),
            None => {
                let tool = self.toolbox.looking().ok_or(Problem::NothingToSeeWith)?;
                self.call(tool, Map::new(), clause);
                Ok(self.intents.len() - 1)
            }
        }
    }

    /// The last intent that brings something to tell.
    fn last_finding(&self) -> Option<usize> {
        self.intents.iter().rposition(|intent| match intent {
            Intent::Call { tool, .. } => {
                self.toolbox.get(*tool).is_some_and(|tool| tool.looks || tool.usage != Usage::Step)
            }
            Intent::Tell { .. } | Intent::Help => false,
        })
    }

    fn looks(&self, intent: &Intent) -> bool {
        matches!(intent, Intent::Call { tool, .. } if self.toolbox.get(*tool).is_some_and(|tool| tool.looks))
    }

    /// Whether the intent may change what is seen.
    fn acts(&self, intent: &Intent) -> bool {
        matches!(intent, Intent::Call { tool, .. } if self.toolbox.get(*tool)
            .is_some_and(|tool| tool.usage == Usage::Step && tool.speech.is_none() && !tool.looks))
    }
}
