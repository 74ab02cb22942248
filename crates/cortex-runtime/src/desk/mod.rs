//! The one actor that owns the queue of tasks, the stop latch and the tools on offer. It never waits for anything slow,
//! so that a stop is always heard at once.
//!
//! - `waiting`: tasks that wait; `clients`: calls without a mission; `stopping`: stops, and what is not known to be at rest;
//! - `offering`: the tools of the registered providers.

mod clients;
mod offering;
mod stopping;
mod waiting;

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use cortex_core::CancelReason;
use cortex_core::mission::Reopened;
use cortex_language::task_class;
use cortex_protocol::{
    MissionEvent, MissionId, MissionResult, MissionStatus, SessionId, StopOutcome, Submission, ToolSpec,
};
use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::Instant;

use crate::calls::Weight;
use crate::drive::{Correction, Reporter, Request, Shared, run_mission};
use crate::envelope::{Envelope, new_mission_id};
use crate::event_log::OpenMission;
use crate::offer::{Audience, Offer, Offered};
use crate::providers::ProviderId;
use crate::sessions::Sessions;
use crate::tape::Tape;
use crate::{CorrectionRefusal, MissionTicket, Place, QueuePolicy, Readiness, Rejection};
pub use clients::Duty;
use clients::{Clients, LeaveReply};
use stopping::Stop;
use waiting::{Waiting, pause_over, without_run};

/// Corrections that may wait for the mission that runs; it takes each at once.
const CORRECTIONS: usize = 8;

const RECOVERING: &str = "what an earlier life of Cortex may have left running is being ended";

/// What the desk is told.
pub(crate) enum DeskMessage {
    Submit {
        submission: Submission,
        place: Place,
        /// The mission that the task reopens.
        reopens: Option<Box<Reopened>>,
        reply: oneshot::Sender<Result<MissionTicket, Rejection>>,
    },
    /// Whether the mission runs or waits.
    IsOpen {
        mission: MissionId,
        reply: oneshot::Sender<bool>,
    },
    Cancel {
        mission: MissionId,
        reply: oneshot::Sender<bool>,
    },
    Correct {
        mission: Option<MissionId>,
        correction: Correction,
    },
    Stop {
        reply: oneshot::Sender<StopOutcome>,
    },
    /// Ends everything and takes no tasks, until [`Work`](Self::Work).
    Rest {
        because: String,
        reply: oneshot::Sender<StopOutcome>,
    },
    Work,
    /// What an earlier life left was ended, as far as it could be.
    Recovered,
    Resume {
        reply: oneshot::Sender<bool>,
    },
    /// A client wants to make a call.
    Call {
        weight: Weight,
        reply: LeaveReply,
    },
    /// What a client has called did not confirm that it is at rest.
    Left,
    Offer {
        provider: ProviderId,
        audience: Audience,
        tools: Vec<ToolSpec>,
    },
    ShutDown,
}

/// The mission that runs.
struct Running {
    id: MissionId,
    end: watch::Sender<Option<CancelReason>>,
    corrections: mpsc::Sender<Correction>,
    /// Until it has ended here, too, those who follow it wait.
    _open: OpenMission,
    result: oneshot::Sender<MissionResult>,
    /// The conversation that it belongs to, and what was asked.
    turn: Option<(SessionId, String)>,
    /// The task and its conversation, should a person dispute what comes of it.
    about: (String, Option<SessionId>),
}

/// Whether tasks are taken.
#[derive(PartialEq, Eq)]
enum Door {
    Open,
    Stopped,
    ShuttingDown,
}

pub(crate) struct Desk {
    /// As it was last set; a mission keeps the one that it began with.
    shared: Arc<Shared>,
    latest: watch::Receiver<Arc<Shared>>,
    offer: watch::Sender<Arc<Offer>>,
    offered: Offered,
    door: Door,
    /// Why the robot is stopped from the beginning, until that is undone or another stop comes.
    stopped_earlier: Option<String>,
    /// Whether what an earlier life left is still being ended.
    is_recovering: bool,
    /// Why no tasks are taken although the door is open. None: they are.
    off_duty: Option<String>,
    waiting: VecDeque<Waiting>,
    running: Option<Running>,
    sessions: Sessions,
    done: mpsc::Sender<MissionResult>,
    ended: mpsc::Receiver<MissionResult>,
    /// Whether the monitor has had a word on the components since the mission began.
    contained: bool,
    /// The stops that wait for the end of the mission that runs.
    stops: Vec<Stop>,
    clients: Clients,
    /// What is told of [`refusal`](Self::refusal) and of what tasks wait for.
    readiness: watch::Sender<Readiness>,
}

impl Desk {
    pub(crate) fn new(
        latest: watch::Receiver<Arc<Shared>>,
        offer: watch::Sender<Arc<Offer>>,
        duty: watch::Sender<Duty>,
        readiness: watch::Sender<Readiness>,
    ) -> Self {
        // One mission runs at a time, so one result at a time comes back.
        let (done, ended) = mpsc::channel(1);
        let shared = Arc::clone(&latest.borrow());
        let stopped_earlier = shared.config.stopped.clone();
        let mut desk = Self {
            is_recovering: shared.journal.is_kept(),
            shared,
            latest,
            offer,
            offered: Offered::new(),
            door: if stopped_earlier.is_some() { Door::Stopped } else { Door::Open },
            stopped_earlier,
            off_duty: None,
            waiting: VecDeque::new(),
            running: None,
            sessions: Sessions::default(),
            done,
            ended,
            contained: false,
            stops: Vec::new(),
            clients: Clients::new(duty),
            readiness,
        };
        desk.note_duty();
        desk
    }

    /// Runs until it is told to shut down, or every client is gone.
    pub(crate) async fn run(mut self, mut inbox: mpsc::Receiver<DeskMessage>) {
        let mut has_clients = true;
        let mut containment = self.shared.containment.clone();
        let mut providers = self.shared.providers.watch();
        while self.door != Door::ShuttingDown || self.running.is_some() {
            self.note_readiness();
            let pause_end = self.next_pause_end();
            tokio::select! {
                biased;
                Some(result) = self.ended.recv() => self.on_ended(result),
                Ok(()) = containment.changed() => {
                    containment.mark_unchanged();
                    self.contained = true;
                    self.settle();
                    self.on_contained();
                }
                Ok(()) = providers.changed() => self.on_providers_changed(),
                () = pause_over(pause_end) => self.end_what_was_paused_too_long(),
                message = inbox.recv(), if has_clients => {
                    has_clients = message.is_some();
                    self.on_message(message.unwrap_or(DeskMessage::ShutDown));
                }
            }
        }
    }

    fn on_message(&mut self, message: DeskMessage) {
        self.shared = Arc::clone(&self.latest.borrow_and_update());
        match message {
            DeskMessage::Submit { submission, place, reopens, reply } => {
                // A client that left before the answer still has its mission; it can be cancelled like any other.
                let _ = reply.send(self.submit(submission, place, reopens));
            }
            DeskMessage::IsOpen { mission, reply } => {
                let runs = self.running.as_ref().is_some_and(|running| running.id == mission);
                let _ = reply.send(runs || self.waiting.iter().any(|waiting| waiting.id == mission));
            }
            DeskMessage::Cancel { mission, reply } => {
                let _ = reply.send(self.cancel(&mission));
            }
            DeskMessage::Correct { mission, correction } => self.correct(mission, correction),
            DeskMessage::Stop { reply } => {
                if self.door == Door::Open {
                    self.door = Door::Stopped;
                }
                self.stopped_earlier = None;
                self.note_duty();
                self.halt(reply);
            }
            DeskMessage::Rest { because, reply } => {
                self.off_duty = Some(because);
                self.note_duty();
                self.halt(reply);
            }
            DeskMessage::Work => {
                self.off_duty = None;
                self.note_duty();
            }
            DeskMessage::Recovered => self.on_recovered(),
            DeskMessage::Resume { reply } => {
                let was_stopped = self.resume();
                self.note_duty();
                let _ = reply.send(was_stopped);
            }
            DeskMessage::Call { weight, reply } => self.on_call(weight, reply),
            DeskMessage::Left => self.settle(),
            DeskMessage::Offer { provider, audience, tools } => self.on_offer(provider, audience, tools),
            DeskMessage::ShutDown => {
                self.door = Door::ShuttingDown;
                self.note_duty();
                self.end_all(CancelReason::ShutDown);
            }
        }
    }

    /// Why no task is taken, whatever it is. None: they are.
    fn refusal(&self) -> Option<Rejection> {
        match self.door {
            Door::Open => {}
            Door::Stopped => {
                let earlier = self.stopped_earlier.clone();
                return Some(earlier.map_or(Rejection::Stopped, |why| Rejection::StoppedEarlier { why }));
            }
            Door::ShuttingDown => return Some(Rejection::ShuttingDown),
        }
        self.off_duty.as_ref().map(|because| Rejection::Inactive { because: because.clone() })
    }

    /// Tells others whether tasks are taken, where that has changed.
    fn note_readiness(&self) {
        let readiness = match (self.refusal(), self.paused()) {
            (Some(rejection), _) => Readiness::Refusing(rejection),
            (None, Some(because)) => Readiness::Waiting { because },
            (None, None) => Readiness::Ready,
        };
        self.readiness.send_if_modified(|known| {
            let is_news = *known != readiness;
            if is_news {
                *known = readiness;
            }
            is_news
        });
    }

    fn submit(
        &mut self,
        submission: Submission,
        place: Place,
        reopens: Option<Box<Reopened>>,
    ) -> Result<MissionTicket, Rejection> {
        if let Some(rejection) = self.refusal() {
            return Err(rejection);
        }
        // Before it is on the tape, in the events or in the journal: it may be of any length.
        let (bytes, most) = (submission.task.len(), self.shared.config.limits.max_task_bytes);
        if bytes > most {
            return Err(Rejection::TooLong { bytes, most });
        }
        let paused = self.paused();
        let is_held_up = self.running.is_some() || (paused.is_some() && !self.waiting.is_empty());
        if is_held_up && place == Place::Last {
            match self.shared.config.queue {
                QueuePolicy::Reject => return Err(Rejection::Busy),
                QueuePolicy::Queue { length } if self.waiting.len() >= length => {
                    return Err(Rejection::QueueFull { waiting: self.waiting.len() });
                }
                QueuePolicy::Queue { .. } => {}
            }
        }
        let id = new_mission_id();
        let (result, answer) = oneshot::channel();
        let mut origin = submission.origin.clone();
        if let Some(session) = &submission.session {
            origin.session_id = session.as_str().to_owned();
        }
        let envelope = Envelope::new(self.shared.config.source.clone(), id.clone(), origin);
        let tape = self.shared.config.tape.as_ref();
        let tape = tape.map(|settings| Tape::begin(settings, &envelope, &self.shared.tracker));
        let mut reporter = Reporter::new(envelope, tape, Arc::clone(&self.shared.events));
        let open = self.shared.events.open(&id);
        let events = self.shared.events.of_mission(id.clone());
        reporter.report(MissionEvent::Accepted { task: submission.task.clone(), session: submission.session.clone() });
        let waiting_before = if place == Place::Last { self.waiting.len() } else { 0 };
        let ahead = waiting_before + usize::from(self.running.is_some());
        if ahead > 0 {
            reporter.report(MissionEvent::Queued { ahead: u32::try_from(ahead).unwrap_or(u32::MAX) });
        }
        let mut waiting = Waiting { id: id.clone(), submission, reopens, reporter, open, result, pause_ends: None };
        if let Some(because) = paused {
            waiting.begin_pause(because, self.patience());
        }
        match place {
            Place::Last => self.waiting.push_back(waiting),
            Place::Next | Place::Now => self.waiting.push_front(waiting),
        }
        if let (Place::Now, Some(running)) = (place, &self.running) {
            running.end.send_replace(Some(CancelReason::Client));
        }
        self.begin_next();
        Ok(MissionTicket { id, events, result: answer })
    }

    /// Begins the task that has waited longest, if none runs.
    fn begin_next(&mut self) {
        if self.running.is_some() || self.door != Door::Open || self.paused().is_some() {
            return;
        }
        let Some(next) = self.waiting.pop_front() else { return };
        let (end, ended) = watch::channel(None);
        let (corrections, corrected) = mpsc::channel(CORRECTIONS);
        let done = self.done.clone();
        let Submission { task, session, .. } = next.submission;
        let earlier = session.as_ref().map(|session| self.sessions.earlier(session)).unwrap_or_default();
        let class = task_class::classify(&task);
        let turn = session.clone().map(|session| (session, task.clone()));
        let about = (task.clone(), session.clone());
        let request = Request { id: next.id.clone(), task, session, earlier, reopens: next.reopens };
        let mission = run_mission(Arc::clone(&self.shared), request, next.reporter, ended, corrected);
        let running = self.shared.tracker.spawn(mission);
        self.shared.tracker.spawn(async move {
            let result = running.await.unwrap_or_else(|problem| {
                tracing::error!("the mission's task ended without a result: {problem}");
                without_run(class, MissionStatus::Failed, "The task ended by a flaw of Cortex. See the log.".to_owned())
            });
            // The desk outlives its missions.
            let _ = done.send(result).await;
        });
        self.contained = false;
        self.running =
            Some(Running { id: next.id, end, corrections, _open: next.open, result: next.result, turn, about });
    }

    fn on_ended(&mut self, result: MissionResult) {
        self.shared = Arc::clone(&self.latest.borrow_and_update());
        let not_stopped = result.not_stopped.clone();
        if let Some(running) = self.running.take() {
            if let Some((session, task)) = running.turn {
                self.sessions.ended(&session, task, &result);
            }
            let (task, session) = running.about;
            self.shared.ended.note(running.id, task, session, &result);
            // The client may have left.
            let _ = running.result.send(result);
        }
        for stop in std::mem::take(&mut self.stops) {
            self.report_stop(stop, not_stopped.clone());
        }
        // The monitor may have had a word since the call was given up: its component has come back.
        if !not_stopped.is_empty() && self.contained {
            self.settle();
        }
        self.begin_next();
    }

    /// Why no task begins, if none does.
    fn paused(&self) -> Option<String> {
        if self.is_recovering {
            return Some(RECOVERING.to_owned());
        }
        self.shared.containment.borrow().paused().map(str::to_owned)
    }

    fn patience(&self) -> Duration {
        self.shared.config.limits.pause_patience
    }

    /// What an earlier life left is at rest, or is among the leftovers.
    fn on_recovered(&mut self) {
        self.is_recovering = false;
        self.answer_early_calls();
        self.on_contained();
    }

    /// The monitor keeps other things from the missions than before. The mission that runs is told so itself.
    fn on_contained(&mut self) {
        let patience = self.patience();
        match self.paused() {
            Some(because) => {
                for waiting in self.waiting.iter_mut().filter(|waiting| waiting.pause_ends.is_none()) {
                    waiting.begin_pause(because.clone(), patience);
                }
            }
            None => {
                self.waiting.iter_mut().for_each(Waiting::end_pause);
                self.begin_next();
            }
        }
    }

    fn next_pause_end(&self) -> Option<Instant> {
        self.waiting.iter().filter_map(|waiting| waiting.pause_ends).min()
    }

    fn end_what_was_paused_too_long(&mut self) {
        let now = Instant::now();
        let because = self.paused().unwrap_or_default();
        let seconds = self.patience().as_secs_f64();
        let is_over = |waiting: &Waiting| waiting.pause_ends.is_some_and(|end| end <= now);
        let (over, waiting): (VecDeque<_>, VecDeque<_>) =
            std::mem::take(&mut self.waiting).into_iter().partition(is_over);
        self.waiting = waiting;
        for waiting in over {
            let text = format!("The missions were paused for {seconds} s, the most that a task waits: {because}.");
            waiting.end(MissionStatus::Failed, text);
        }
    }

    fn cancel(&mut self, mission: &MissionId) -> bool {
        if let Some(running) = self.running.as_ref().filter(|running| running.id == *mission) {
            running.end.send_replace(Some(CancelReason::Client));
            return true;
        }
        let Some(index) = self.waiting.iter().position(|waiting| waiting.id == *mission) else { return false };
        if let Some(waiting) = self.waiting.remove(index) {
            waiting.end(MissionStatus::Cancelled, "The task was cancelled before it began.".to_owned());
        }
        true
    }

    /// Hands a correction to the mission, which answers. The desk does not wait for it.
    fn correct(&self, mission: Option<MissionId>, correction: Correction) {
        let is_meant = |id: &MissionId| mission.as_ref().is_none_or(|mission| mission == id);
        if let Some(running) = self.running.as_ref().filter(|running| is_meant(&running.id)) {
            if let Err(mpsc::error::TrySendError::Full(correction)) = running.corrections.try_send(correction) {
                correction.refuse(CorrectionRefusal::Busy);
            }
            // A mission that has just ended drops the correction, and with it the way to answer.
            return;
        }
        let waits = mission.as_ref().filter(|mission| self.waiting.iter().any(|waiting| waiting.id == **mission));
        correction.refuse(match waits {
            Some(mission) => CorrectionRefusal::Waiting { mission: mission.clone() },
            None => CorrectionRefusal::NotRunning { mission },
        });
    }
}
