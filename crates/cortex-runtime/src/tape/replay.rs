//! Runs a mission again: gives a new machine what the tape says that the old one was given, and compares what it wants
//! done. Nothing is carried out.

use std::collections::VecDeque;
use std::time::Duration;

use cortex_core::mission::MissionSetup;
use cortex_core::{ChatRequest, Effect, Mission};

use super::record::{Body, Entry};
use super::{Reader, TapeError};

/// No mission has to do with longer times: ten years.
const LONGEST: Duration = Duration::from_secs(10 * 365 * 24 * 3600);

/// What came of a replay.
#[derive(Debug, Clone, PartialEq)]
pub struct Replay {
    /// How many inputs were given.
    pub inputs: u64,
    /// How many effects were the same.
    pub effects: u64,
    /// Requests to the model, among the effects, that would be worded differently now: that changes no decision.
    pub reworded: u64,
    /// Effects that were cut from the tape: that there was one is known, but not whether it is the same.
    pub cut: u64,
    /// How it ended.
    pub ending: Ending,
}

/// How a replay ended.
#[derive(Debug, Clone, PartialEq)]
pub enum Ending {
    /// At the mission's end, and all was the same.
    Same,
    /// At the end of a tape that breaks off, and all was the same until there.
    BrokenOff,
    /// The tape was recorded of a task that never began.
    NeverBegan,
    /// It can't go on: an input was cut from the tape.
    InputCut {
        /// Where.
        line: u64,
    },
    /// The machine would now do something else.
    Different(Box<Difference>),
}

/// Where the machine would now do something else.
#[derive(Debug, Clone, PartialEq)]
pub struct Difference {
    /// The line of the tape: of the recorded effect, or of the input that had no further one.
    pub line: u64,
    /// What it did. None: nothing more.
    pub recorded: Option<Effect>,
    /// What it does now. None: nothing more.
    pub now: Option<Effect>,
}

/// The machine, and what it wants done for the last input.
struct Run {
    mission: Mission,
    wanted: VecDeque<Effect>,
    input_line: u64,
    replay: Replay,
}

/// Replays a tape.
///
/// # Errors
/// When the tape can't be read.
pub fn replay(reader: &mut Reader) -> Result<Replay, TapeError> {
    let mut run: Option<Run> = None;
    let mut is_closed = false;
    while let Some((record, _)) = reader.next_record()? {
        let line = reader.line();
        let is_input = record.event == "input";
        let body = reader.body(&record)?;
        if let (None, Body::Entry(Entry::Setup { setup })) = (&run, &body) {
            let replay = Replay { inputs: 0, effects: 0, reworded: 0, cut: 0, ending: Ending::BrokenOff };
            check_setup(line, setup)?;
            let mission = Mission::new(setup.clone().into_owned());
            run = Some(Run { mission, wanted: VecDeque::new(), input_line: line, replay });
            continue;
        }
        is_closed = is_closed || matches!(body, Body::Entry(Entry::Closed { .. }));
        if let Body::Entry(Entry::Input { at, .. }) = &body {
            check_times(line, *at)?;
        }
        // What comes before the setup is of the time of waiting.
        let Some(run) = &mut run else { continue };
        let met = match body {
            Body::Entry(Entry::Input { at, input }) => run.give(line, |mission| mission.handle(at, input.into_owned())),
            Body::Entry(Entry::Effect { effect }) => run.compare(line, effect.into_owned()),
            Body::Published(event) => run.compare(line, Effect::Report { event }),
            Body::Entry(Entry::Cut { .. }) if is_input => Some(Ending::InputCut { line }),
            Body::Entry(Entry::Cut { .. }) => run.skip(line),
            Body::Entry(Entry::Closed { .. }) => run.nothing_left(),
            Body::Entry(
                Entry::Opened { .. } | Entry::Setup { .. } | Entry::Repaired { .. } | Entry::Disputed { .. },
            ) => None,
        };
        if let Some(ending) = met {
            run.replay.ending = ending;
            return Ok(run.replay.clone());
        }
    }
    let Some(mut run) = run else {
        return Ok(Replay { inputs: 0, effects: 0, reworded: 0, cut: 0, ending: Ending::NeverBegan });
    };
    if is_closed {
        run.replay.ending = Ending::Same;
    }
    Ok(run.replay)
}

/// Whether both ask the model the same, in other words.
fn is_reworded(recorded: &Effect, now: &Effect) -> bool {
    let (Effect::AskModel { request: then, chat: recorded }, Effect::AskModel { request: now, chat }) = (recorded, now)
    else {
        return false;
    };
    let names = |chat: &ChatRequest| chat.tools.iter().map(|tool| tool.name.clone()).collect::<Vec<_>>();
    then == now && recorded.purpose == chat.purpose && names(recorded) == names(chat)
}

/// The longest time that bounds the mission.
fn longest_bound(setup: &MissionSetup) -> Duration {
    let limits = &setup.limits;
    [limits.max_duration, limits.continue_timeout, limits.halt_timeout, limits.progress_interval, limits.stall_after]
        .into_iter()
        .fold(Duration::ZERO, Duration::max)
}

/// Anybody may have written the tape, and no machine reckons with the end of time.
pub(super) fn check_setup(line: u64, setup: &MissionSetup) -> Result<(), TapeError> {
    check_times(line, longest_bound(setup))
}

pub(super) fn check_times(line: u64, time: Duration) -> Result<(), TapeError> {
    if time <= LONGEST {
        return Ok(());
    }
    Err(TapeError::Unreadable { line, problem: format!("a time of {} s is none of a mission", time.as_secs()) })
}

impl Run {
    fn give(&mut self, line: u64, handle: impl FnOnce(&mut Mission) -> Vec<Effect>) -> Option<Ending> {
        if let Some(different) = self.nothing_left() {
            return Some(different);
        }
        self.replay.inputs += 1;
        self.input_line = line;
        self.wanted = handle(&mut self.mission).into();
        None
    }

    fn compare(&mut self, line: u64, recorded: Effect) -> Option<Ending> {
        let now = self.wanted.pop_front();
        if now.as_ref() == Some(&recorded) {
            self.replay.effects += 1;
            return None;
        }
        if now.as_ref().is_some_and(|now| is_reworded(&recorded, now)) {
            self.replay.effects += 1;
            self.replay.reworded += 1;
            return None;
        }
        Some(Ending::Different(Box::new(Difference { line, recorded: Some(recorded), now })))
    }

    /// An effect that was cut.
    fn skip(&mut self, line: u64) -> Option<Ending> {
        self.replay.cut += 1;
        match self.wanted.pop_front() {
            Some(_) => None,
            None => Some(Ending::Different(Box::new(Difference { line, recorded: None, now: None }))),
        }
    }

    /// Before the next input, and at the end, everything that is wanted now must have been recorded.
    fn nothing_left(&mut self) -> Option<Ending> {
        let now = self.wanted.pop_front()?;
        Some(Ending::Different(Box::new(Difference { line: self.input_line, recorded: None, now: Some(now) })))
    }
}
