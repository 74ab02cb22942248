//! Runs a mission again: gives a new machine what the tape says that the old one was given, and compares what it wants
//! done. Nothing is carried out. [`replay`] does it at once, [`Rerun`] question by question to the model.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use cortex_core::mission::{MissionSetup, RequestId};
use cortex_core::{ChatReply, ChatRequest, Effect, Input, Mission, ModelError};
use cortex_protocol::{MissionEvent, MissionResult};

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
    /// When the last input was given.
    at: Duration,
    /// The requests to the model that are under way.
    asked: BTreeMap<u32, Asked>,
    replay: Replay,
}

/// A request to the model that is on the tape.
struct Asked {
    chat: ChatRequest,
    /// The same as this Cortex words it, where that is different.
    reworded: Option<ChatRequest>,
    since: Duration,
}

/// A reply of the model that is on the tape, and that the machine gets next.
struct NextReply {
    line: u64,
    at: Duration,
    request: RequestId,
    reply: Result<ChatReply, ModelError>,
    asked: Asked,
}

/// A question to a model, as it came up in a recorded mission.
pub struct Question<'r> {
    /// The machine that is about to get the reply. A clone of it shows what follows from another reply.
    pub mission: &'r Mission,
    /// The line of the tape on which the reply is.
    pub line: u64,
    /// When the reply came, since the mission began.
    pub at: Duration,
    /// Matches the reply.
    pub request: RequestId,
    /// What was asked, as recorded.
    pub asked: &'r ChatRequest,
    /// The same as this Cortex words it, where that is different.
    pub reworded: Option<&'r ChatRequest>,
    /// What the model replied.
    pub reply: &'r Result<ChatReply, ModelError>,
    /// How long that took.
    pub took: Duration,
}

/// What a tape says of its mission, as far as it was read.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Told {
    /// What was to be done.
    pub task: String,
    /// The model that was asked. Empty where the tape is older than its name.
    pub model: String,
    /// Its one result. None: the tape breaks off, or was not read to its end.
    pub result: Option<MissionResult>,
    /// Whether a person says that it did not do what was asked.
    pub is_disputed: bool,
}

/// A tape that is replayed, question by question.
pub struct Rerun<'r> {
    reader: &'r mut Reader,
    run: Option<Run>,
    next: Option<NextReply>,
    told: Told,
    is_closed: bool,
    is_over: bool,
}

impl<'r> Rerun<'r> {
    /// Begins with the first line.
    pub fn of(reader: &'r mut Reader) -> Self {
        Self { reader, run: None, next: None, told: Told::default(), is_closed: false, is_over: false }
    }

    /// The next question to the model of which the reply is on the tape. The machine gets this reply when the next question
    /// is asked for. None: there is none any more, or the machine has decided otherwise than recorded.
    ///
    /// # Errors
    /// When the tape can't be read.
    pub fn next_question(&mut self) -> Result<Option<Question<'_>>, TapeError> {
        self.give_reply();
        while !self.is_over && self.next.is_none() {
            self.read_line()?;
        }
        let (Some(run), Some(next)) = (&self.run, &self.next) else { return Ok(None) };
        Ok(Some(Question {
            mission: &run.mission,
            line: next.line,
            at: next.at,
            request: next.request,
            asked: &next.asked.chat,
            reworded: next.asked.reworded.as_ref(),
            reply: &next.reply,
            took: next.at.saturating_sub(next.asked.since),
        }))
    }

    /// What the tape says of its mission, as far as it was read.
    #[must_use]
    pub fn told(&self) -> &Told {
        &self.told
    }

    /// What has come of the replay so far.
    #[must_use]
    pub fn outcome(&self) -> Replay {
        let nothing = Replay { inputs: 0, effects: 0, reworded: 0, cut: 0, ending: Ending::NeverBegan };
        self.run.as_ref().map_or(nothing, |run| run.replay.clone())
    }

    fn give_reply(&mut self) {
        let Some(NextReply { line, at, request, reply, .. }) = self.next.take() else { return };
        self.give(line, at, Input::ModelReplied { request, reply });
    }

    fn give(&mut self, line: u64, at: Duration, input: Input) {
        let Some(run) = &mut self.run else { return };
        let ending = run.give(line, at, input);
        self.end(ending);
    }

    fn end(&mut self, ending: Option<Ending>) {
        if let (Some(run), Some(ending)) = (&mut self.run, ending) {
            run.replay.ending = ending;
            self.is_over = true;
        }
    }

    fn read_line(&mut self) -> Result<(), TapeError> {
        let Some((record, _)) = self.reader.next_record()? else {
            self.is_over = true;
            if let (Some(run), true) = (&mut self.run, self.is_closed) {
                run.replay.ending = Ending::Same;
            }
            return Ok(());
        };
        let line = self.reader.line();
        let is_input = record.event == "input";
        let body = self.reader.body(&record)?;
        if let (None, Body::Entry(Entry::Setup { setup, model })) = (&self.run, &body) {
            check_setup(line, setup)?;
            self.told.task.clone_from(&setup.task);
            self.told.model = model.clone().into_owned();
            self.run = Some(Run::new(Mission::new(setup.clone().into_owned()), line));
            return Ok(());
        }
        self.is_closed = self.is_closed || matches!(body, Body::Entry(Entry::Closed { .. }));
        self.told.is_disputed = self.told.is_disputed || matches!(body, Body::Entry(Entry::Disputed { .. }));
        if let Body::Entry(Entry::Input { at, .. }) = &body {
            check_times(line, *at)?;
        }
        // What comes before the setup is of the time of waiting.
        let Some(run) = &mut self.run else { return Ok(()) };
        let met = match body {
            Body::Entry(Entry::Input { at, input }) => {
                self.take_input(line, at, input.into_owned());
                return Ok(());
            }
            Body::Entry(Entry::Effect { effect }) => {
                if let Effect::Finish { result } = effect.as_ref() {
                    self.told.result = Some(result.clone());
                }
                run.compare(line, effect.into_owned())
            }
            Body::Published(event) => run.compare(line, Effect::Report { event }),
            Body::Entry(Entry::Cut { .. }) if is_input => Some(Ending::InputCut { line }),
            Body::Entry(Entry::Cut { .. }) => run.skip(line),
            Body::Entry(Entry::Closed { .. }) => run.nothing_left(),
            Body::Entry(
                Entry::Opened { .. } | Entry::Setup { .. } | Entry::Repaired { .. } | Entry::Disputed { .. },
            ) => None,
        };
        self.end(met);
        Ok(())
    }

    /// Gives the machine an input. A reply of the model is held back, so that another one can be tried first.
    fn take_input(&mut self, line: u64, at: Duration, input: Input) {
        let Some(run) = &mut self.run else { return };
        match input {
            Input::ModelReplied { request, reply } => match run.asked.remove(&request.0) {
                Some(asked) => self.next = Some(NextReply { line, at, request, reply, asked }),
                None => self.give(line, at, Input::ModelReplied { request, reply }),
            },
            input => self.give(line, at, input),
        }
    }
}

/// Replays a tape.
///
/// # Errors
/// When the tape can't be read.
pub fn replay(reader: &mut Reader) -> Result<Replay, TapeError> {
    let mut rerun = Rerun::of(reader);
    while rerun.next_question()?.is_some() {}
    Ok(rerun.outcome())
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

/// What is wanted now, without what tapes of an earlier Cortex do not have: the tools and events of a query for context, and the
/// names of the skills that fired. The machine decides nothing by them. Where they were recorded, they are compared.
fn as_recorded(mut now: Effect, recorded: &Effect) -> Effect {
    match (&mut now, recorded) {
        (Effect::GatherContext { query: now, .. }, Effect::GatherContext { query: recorded, .. }) => {
            clear_unless_recorded(&mut now.tools, &recorded.tools);
            clear_unless_recorded(&mut now.events, &recorded.events);
        }
        (
            Effect::Report { event: MissionEvent::ContextGathered { skills: now, .. } },
            Effect::Report { event: MissionEvent::ContextGathered { skills: recorded, .. } },
        ) => clear_unless_recorded(now, recorded),
        _ => {}
    }
    now
}

fn clear_unless_recorded<Entry>(now: &mut Vec<Entry>, recorded: &[Entry]) {
    if recorded.is_empty() {
        now.clear();
    }
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
    fn new(mission: Mission, line: u64) -> Self {
        let replay = Replay { inputs: 0, effects: 0, reworded: 0, cut: 0, ending: Ending::BrokenOff };
        let (wanted, asked) = (VecDeque::new(), BTreeMap::new());
        Self { mission, wanted, input_line: line, at: Duration::ZERO, asked, replay }
    }

    fn give(&mut self, line: u64, at: Duration, input: Input) -> Option<Ending> {
        if let Some(different) = self.nothing_left() {
            return Some(different);
        }
        self.replay.inputs += 1;
        self.input_line = line;
        self.at = at;
        self.wanted = self.mission.handle(at, input).into();
        None
    }

    fn compare(&mut self, line: u64, recorded: Effect) -> Option<Ending> {
        let now = self.wanted.pop_front().map(|now| as_recorded(now, &recorded));
        let is_same = now.as_ref() == Some(&recorded);
        let is_reworded = !is_same && now.as_ref().is_some_and(|now| is_reworded(&recorded, now));
        if !is_same && !is_reworded {
            return Some(Ending::Different(Box::new(Difference { line, recorded: Some(recorded), now })));
        }
        self.replay.effects += 1;
        self.replay.reworded += u64::from(is_reworded);
        self.note_request(recorded, now.filter(|_| is_reworded));
        None
    }

    /// Keeps what the model was asked until its reply comes.
    fn note_request(&mut self, recorded: Effect, reworded: Option<Effect>) {
        match recorded {
            Effect::AskModel { request, chat } => {
                let reworded = match reworded {
                    Some(Effect::AskModel { chat, .. }) => Some(chat),
                    _ => None,
                };
                self.asked.insert(request.0, Asked { chat, reworded, since: self.at });
            }
            Effect::AbandonModel { request } => {
                self.asked.remove(&request.0);
            }
            _ => {}
        }
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

#[cfg(test)]
mod tests {
    use cortex_core::ContextQuery;
    use cortex_core::mission::GatheringId;
    use cortex_protocol::TaskClass;

    use super::*;

    fn gather(tools: &[&str], events: &[&str]) -> Effect {
        let query = ContextQuery {
            tools: tools.iter().map(|tool| (*tool).into()).collect(),
            events: events.iter().map(|event| (*event).to_owned()).collect(),
            ..ContextQuery::new("go", TaskClass::Action)
        };
        Effect::GatherContext { gathering: GatheringId(1), query }
    }

    fn gathered(skills: &[&str]) -> Effect {
        let skills = skills.iter().map(|skill| (*skill).to_owned()).collect();
        Effect::Report { event: MissionEvent::ContextGathered { found: Vec::new(), missing: Vec::new(), skills } }
    }

    /// Every tape of a task that a tool declares was different.
    #[test]
    fn regression_what_older_tapes_do_not_have_is_not_compared_with_them() {
        let now = gather(&["base.go_to"], &["step.failed"]);
        for (recorded, is_same) in [
            (gather(&[], &[]), true),
            (gather(&["base.go_to"], &[]), true),
            (gather(&["base.go_to"], &["step.failed"]), true),
            (gather(&["camera.look"], &[]), false),
            (gather(&["base.go_to"], &["low_battery"]), false),
            (gathered(&[]), false),
        ] {
            assert_eq!(as_recorded(now.clone(), &recorded) == recorded, is_same, "{recorded:?}");
        }
        let now = gathered(&["round"]);
        for (recorded, is_same) in [(gathered(&[]), true), (gathered(&["round"]), true), (gathered(&["tour"]), false)] {
            assert_eq!(as_recorded(now.clone(), &recorded) == recorded, is_same, "{recorded:?}");
        }
    }
}
