//! The picture of a Cortex as the view knows it: a reducer. It does no input or output and knows no clock: the time is a
//! value in the input, counted from the moment at which the view began.

mod log;
mod mission;
mod stop;
#[cfg(test)]
mod tests;

use std::collections::VecDeque;
use std::time::Duration;

use cortex_protocol::mission::MissionEvent;
use cortex_protocol::overview::{MissionOverview, MissionPhase, Overview};
use cortex_protocol::{CommandOutcome, LogLevel, OpenQuestion};

pub(crate) use log::{Log, LogLine, Tone};
pub(crate) use mission::fraction;
pub(crate) use mission::{MissionView, StepView};
pub(crate) use stop::{StopState, StopWay};

use crate::incident::{SaveError, SavedIncident};
use crate::wire::{Basis, Frame, ReceivedEvent, RequestError, Seen, StopAnswer, You};

/// Without a frame for so long, the picture is frozen: the server sends one every 250 ms.
pub(crate) const FROZEN_AFTER: Duration = Duration::from_secs(1);
/// Missions whose events are kept.
const MISSIONS: usize = 16;

/// What reaches the model from outside.
#[derive(Debug)]
pub(crate) enum Update {
    /// A frame of the live stream.
    Frame(Box<Frame>),
    /// Events of a mission that began before the view did.
    History(Vec<ReceivedEvent>),
    /// There is no connection. It is being made again.
    Lost {
        /// Why.
        reason: String,
    },
    /// A command was answered.
    Answered(Result<CommandOutcome, RequestError>),
    /// A STOP that was sent as a request of its own was answered.
    StopAnswered(Result<CommandOutcome, RequestError>),
    /// An incident was saved, or was not.
    IncidentSaved(Result<SavedIncident, SaveError>),
}

/// Something that people are told once, in the line above the keys.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Notice {
    /// In words.
    pub text: String,
    /// How it is meant.
    pub tone: Tone,
}

/// An open question, and when it ends.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct QuestionView {
    /// As the server has it.
    pub open: OpenQuestion,
    /// When its time is over.
    pub until: Duration,
}

#[derive(Debug, Clone, Copy)]
struct LastFrame {
    number: u64,
    at_ms: u64,
    received: Duration,
}

/// See the module.
#[derive(Debug, Default)]
pub(crate) struct Model {
    frame: Option<LastFrame>,
    /// Why there is no connection.
    lost: Option<String>,
    overview: Option<Box<Overview>>,
    basis: Basis,
    questions: Vec<QuestionView>,
    you: Option<You>,
    stop: StopState,
    notice: Option<Notice>,
    missions: VecDeque<MissionView>,
    log: Log,
}

impl Model {
    /// Takes what has come.
    pub(crate) fn apply(&mut self, update: Update, now: Duration) {
        match update {
            Update::Frame(frame) => self.take_frame(*frame, now),
            Update::History(events) => {
                for event in &events {
                    self.take_event(event);
                }
            }
            Update::Lost { reason } => self.lost = Some(reason),
            Update::Answered(Ok(CommandOutcome::Stopped(outcome))) => self.stop.answered(Ok(outcome)),
            Update::Answered(Ok(outcome)) => self.note(Tone::Good, said(&outcome)),
            Update::Answered(Err(RequestError::Refused(error))) => {
                self.note(Tone::Bad, format!("Refused: {}", error.reason));
            }
            Update::Answered(Err(RequestError::Failed(problem))) => {
                self.note(Tone::Bad, format!("No answer, so it may have happened; look. {problem}"));
            }
            Update::StopAnswered(answer) => self.take_stop(answer),
            Update::IncidentSaved(Ok(saved)) => {
                self.note(Tone::Good, format!("The incident is in {}", saved.path.display()));
            }
            Update::IncidentSaved(Err(error)) => self.note(Tone::Bad, format!("The incident was not saved: {error}")),
        }
    }

    /// Tells the person something.
    pub(crate) fn note(&mut self, tone: Tone, text: impl Into<String>) {
        self.notice = Some(Notice { text: text.into(), tone });
    }

    /// Forgets what the person was told.
    pub(crate) fn clear_note(&mut self) {
        self.notice = None;
    }

    fn take_frame(&mut self, frame: Frame, now: Duration) {
        self.lost = None;
        // Those of the first frame were shown before, or are of the time before this view.
        let is_first = frame.you.is_some();
        for line in frame.logs.iter().filter(|line| !is_first && line.level >= LogLevel::Warn) {
            self.log.add(LogLine::of_node(line));
        }
        self.frame = Some(LastFrame { number: frame.frame, at_ms: frame.at_ms, received: now });
        if let Some(you) = frame.you {
            self.you = Some(you);
        }
        if let Some(overview) = frame.overview {
            self.overview = Some(overview);
        }
        if let Some(basis) = frame.basis {
            self.stop.robot_is(basis.stopped, basis.stops);
            self.basis = basis;
        }
        if let Some(questions) = frame.questions {
            let view = |open: OpenQuestion| QuestionView { until: now + open.left, open };
            self.questions = questions.into_iter().map(view).collect();
        }
        if frame.missed > 0 {
            let text = format!("{} events before this cannot be had any more", frame.missed);
            self.log.add(LogLine::new(Tone::Warning, text));
        }
        for event in &frame.events {
            self.take_event(event);
        }
        match frame.stop {
            Some(StopAnswer::Outcome(outcome)) => self.take_stop(Ok(outcome)),
            Some(StopAnswer::Error(error)) => self.take_stop(Err(RequestError::Refused(error))),
            None => {}
        }
        if let Some(part) = frame.unreadable.first() {
            let text = format!("This program cannot read the '{part}' of that Cortex. Use the program of its version.");
            self.note(Tone::Bad, text);
        }
    }

    fn take_event(&mut self, received: &ReceivedEvent) {
        let Some(event) = &received.event else {
            let text =
                format!("an event that this program does not know: {}", received.id().unwrap_or("without an id"));
            return self.log.add(LogLine::new(Tone::Warning, text));
        };
        let known = self.missions.iter().position(|mission| mission.id == event.subject);
        let at = known.unwrap_or_else(|| {
            if self.missions.len() >= MISSIONS {
                self.missions.pop_front();
            }
            self.missions.push_back(MissionView::new(event.subject.clone()));
            self.missions.len() - 1
        });
        let Some(mission) = self.missions.get_mut(at) else { return };
        if !mission.take(event) {
            return;
        }
        let line = LogLine { since_ms: Some(mission.since_begin(event)), ..LogLine::of(event) };
        let is_progress = matches!(event.data.payload, MissionEvent::Progress { .. });
        if is_progress { self.log.add_progress(&event.subject, line) } else { self.log.add(line) }
    }

    fn take_stop(&mut self, answer: Result<CommandOutcome, RequestError>) {
        let unclear = || RequestError::Failed("the answer was not that of a stop".to_owned());
        self.stop.answered(answer.and_then(|outcome| match outcome {
            CommandOutcome::Stopped(outcome) => Ok(outcome),
            _ => Err(unclear()),
        }));
    }

    /// Takes note that the person says STOP, and says how it is to be sent.
    pub(crate) fn begin_stop(&mut self, now: Duration) -> StopWay {
        let way = if self.frozen(now).is_some() { StopWay::Request } else { StopWay::Socket };
        self.stop.begin(way, self.basis.stops, now);
        way
    }

    /// Returns true once for a STOP that was sent on the live stream and is to be sent again as a request of its own,
    /// because nothing came of it.
    pub(crate) fn must_repeat_stop(&mut self, now: Duration) -> bool {
        let is_frozen = self.frozen(now).is_some();
        self.stop.must_repeat(is_frozen, now)
    }

    /// For how long there was no frame, if that is too long. Zero: there was none yet.
    #[must_use]
    pub(crate) fn frozen(&self, now: Duration) -> Option<Duration> {
        let Some(frame) = self.frame else { return Some(Duration::ZERO) };
        let silence = now.saturating_sub(frame.received);
        (silence > FROZEN_AFTER || self.lost.is_some()).then_some(silence)
    }

    /// Why there is no connection, if there is none.
    #[must_use]
    pub(crate) fn lost(&self) -> Option<&str> {
        self.lost.as_deref()
    }

    /// What whoever looks at the model now has seen.
    #[must_use]
    pub(crate) fn seen(&self) -> Option<Seen> {
        Some(Seen { frame: self.frame?.number, basis: self.basis.clone() })
    }

    /// The time of the robot's machine, in milliseconds since 1970.
    #[must_use]
    pub(crate) fn robot_ms(&self, now: Duration) -> u64 {
        self.frame.map_or(0, |frame| frame.at_ms.saturating_add(millis(now.saturating_sub(frame.received))))
    }

    /// The overview, once there is one.
    #[must_use]
    pub(crate) fn overview(&self) -> Option<&Overview> {
        self.overview.as_deref()
    }

    /// The open questions.
    #[must_use]
    pub(crate) fn questions(&self) -> &[QuestionView] {
        &self.questions
    }

    /// Who the server takes this client for.
    #[must_use]
    pub(crate) fn you(&self) -> Option<&You> {
        self.you.as_ref()
    }

    /// What came of STOP.
    #[must_use]
    pub(crate) fn stop(&self) -> &StopState {
        &self.stop
    }

    /// What the person was told last.
    #[must_use]
    pub(crate) fn notice(&self) -> Option<&Notice> {
        self.notice.as_ref()
    }

    /// What has happened, as lines.
    #[must_use]
    pub(crate) fn log(&self) -> &Log {
        &self.log
    }

    /// The mission that runs, or else the last one that was seen; from its events, from the overview, or from both.
    #[must_use]
    pub(crate) fn mission(&self) -> Option<(Option<&MissionView>, Option<&MissionOverview>)> {
        let shown = self.basis.mission.as_ref();
        let missions = self.overview.as_ref().map_or(&[][..], |overview| &overview.missions);
        let last = || self.missions.back().map(|mission| &mission.id);
        let ended = || missions.iter().rev().find(|mission| matches!(mission.phase, MissionPhase::Ended(_)));
        let id = shown.or_else(last).or_else(|| ended().map(|mission| &mission.id))?;
        let view = self.missions.iter().rev().find(|mission| mission.id == *id);
        let overview = missions.iter().find(|mission| mission.id == *id);
        (view.is_some() || overview.is_some()).then_some((view, overview))
    }
}

fn said(outcome: &CommandOutcome) -> String {
    match outcome {
        CommandOutcome::Submitted { .. } => "The task was taken.".to_owned(),
        CommandOutcome::Cancelled { .. } => "The mission was told to end.".to_owned(),
        CommandOutcome::Revised { .. } => "The mission takes the revision.".to_owned(),
        CommandOutcome::Answered { .. } => "The answer counts.".to_owned(),
        CommandOutcome::Reopened { .. } => "The mission was reopened.".to_owned(),
        other => other.to_string(),
    }
}

pub(crate) fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
