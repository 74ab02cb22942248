//! The one actor that owns the queue of tasks, the stop latch and the tools on offer. It never waits for anything slow,
//! so that a stop is always heard at once.
//!
//! - `messages`: messages to it; `waiting`: tasks that wait; `clients`: calls without a mission; `stopping`: stops, and what is not known to be at rest;
//! - `by_hand`: the mission beside the others that the holder of the controls runs;
//! - `offering`: the tools of the registered providers.

mod by_hand;
mod clients;
mod messages;
mod offering;
mod stopping;
mod waiting;

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use cortex_core::CancelReason;
use cortex_language::task_class;
use cortex_protocol::{Control, MissionEvent, MissionId, MissionResult, MissionStatus, SessionId, Submission};
use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::Instant;

use crate::config::QueuePolicy;
use crate::envelope::{Envelope, new_mission_id};
use crate::event_log::OpenMission;
use crate::mission_request::{Request, Revision, RevisionRefusal, Work};
use crate::mission_task::{Reporter, run_mission};
use crate::readiness::{Readiness, Rejection};
use crate::shared::Shared;
use crate::tape::Tape;
use crate::tool_registry::{Offered, ToolRegistry};
pub use clients::CallReadiness;
use clients::Clients;
pub(crate) use messages::QueueMessage;
pub use messages::{MissionTicket, Place};
use stopping::Stop;
use waiting::{Waiting, pause_over, without_run};

/// Revisions that may wait for the mission that runs; it takes each at once.
const REVISIONS: usize = 8;

const RECOVERING: &str = "what an earlier life of Cortex may have left running is being ended";

/// The mission that runs.
struct Running {
    id: MissionId,
    end: watch::Sender<Option<CancelReason>>,
    revisions: mpsc::Sender<Revision>,
    /// Until it has ended here, too, those who follow it wait.
    _open: OpenMission,
    result: oneshot::Sender<MissionResult>,
    /// The task and its conversation, should a person dispute what comes of it.
    about: (String, Option<SessionId>),
}

/// A mission that has ended.
struct Ended {
    id: MissionId,
    result: MissionResult,
    /// It ended by a flaw, so that nothing is known of what it had begun.
    is_lost: bool,
}

/// Whether tasks are taken.
#[derive(PartialEq, Eq)]
enum Admission {
    Open,
    Stopped,
    ShuttingDown,
}

pub(crate) struct MissionQueue {
    /// As it was last set; a mission keeps the one that it began with.
    shared: Arc<Shared>,
    latest: watch::Receiver<Arc<Shared>>,
    registry: watch::Sender<Arc<ToolRegistry>>,
    offered: Offered,
    admission: Admission,
    /// Why the robot is stopped from the beginning, until that is undone or another stop comes.
    stopped_earlier: Option<String>,
    /// Whether what an earlier life left is still being ended.
    is_recovering: bool,
    /// Why no tasks are taken although tasks are admitted. None: they are.
    inactive_because: Option<String>,
    waiting: VecDeque<Waiting>,
    running: Option<Running>,
    /// What the holder of the controls runs beside it.
    by_hand: Option<Running>,
    done: mpsc::Sender<Ended>,
    ended: mpsc::Receiver<Ended>,
    /// Whether the monitor has had a word on the components since the mission began.
    contained: bool,
    /// The stops that wait for the end of the mission that runs.
    stops: Vec<Stop>,
    clients: Clients,
    /// What is told of [`refusal`](Self::refusal) and of what tasks wait for.
    readiness: watch::Sender<Readiness>,
}

impl MissionQueue {
    pub(crate) fn new(
        latest: watch::Receiver<Arc<Shared>>,
        registry: watch::Sender<Arc<ToolRegistry>>,
        call_readiness: watch::Sender<CallReadiness>,
        readiness: watch::Sender<Readiness>,
    ) -> Self {
        // One mission runs at a time, or two with one by hand. Whoever brings a result waits.
        let (done, ended) = mpsc::channel(1);
        let shared = Arc::clone(&latest.borrow());
        let stopped_earlier = shared.config.stopped.clone();
        let mut mission_queue = Self {
            is_recovering: shared.journal.is_kept(),
            shared,
            latest,
            registry,
            offered: Offered::new(),
            admission: if stopped_earlier.is_some() { Admission::Stopped } else { Admission::Open },
            stopped_earlier,
            inactive_because: None,
            waiting: VecDeque::new(),
            running: None,
            by_hand: None,
            done,
            ended,
            contained: false,
            stops: Vec::new(),
            clients: Clients::new(call_readiness),
            readiness,
        };
        mission_queue.note_call_readiness();
        mission_queue
    }

    /// Runs until it is told to shut down, or every client is gone.
    pub(crate) async fn run(mut self, mut inbox: mpsc::Receiver<QueueMessage>) {
        let mut has_clients = true;
        let mut availability = self.shared.availability.clone();
        let mut providers = self.shared.providers.watch();
        while self.admission != Admission::ShuttingDown || self.is_running() {
            self.note_readiness();
            let (pause_end, lease_end) = (self.next_pause_end(), self.shared.config.gate.lease_ends());
            tokio::select! {
                biased;
                Some(ended) = self.ended.recv() => self.on_ended(ended),
                Ok(()) = availability.changed() => {
                    availability.mark_unchanged();
                    self.contained = true;
                    self.settle();
                    self.on_availability_changed();
                }
                Ok(()) = providers.changed() => self.on_providers_changed(),
                () = pause_over(pause_end) => self.end_what_was_paused_too_long(),
                () = pause_over(lease_end) => self.shared.config.gate.end_lease_if_over(),
                message = inbox.recv(), if has_clients => {
                    has_clients = message.is_some();
                    self.on_message(message.unwrap_or(QueueMessage::ShutDown));
                }
            }
        }
    }

    fn on_message(&mut self, message: QueueMessage) {
        self.shared = Arc::clone(&self.latest.borrow_and_update());
        match message {
            QueueMessage::Submit { submission, place, work, reply } => {
                // A client that left before the answer still has its mission; it can be cancelled like any other.
                let _ = reply.send(self.submit(submission, place, work));
            }
            QueueMessage::IsOpen { mission, reply } => {
                let runs = self.runs(&mission).is_some();
                let _ = reply.send(runs || self.waiting.iter().any(|waiting| waiting.id == mission));
            }
            QueueMessage::Cancel { mission, reply } => {
                let _ = reply.send(self.cancel(&mission));
            }
            QueueMessage::Revise { mission, revision } => self.revise(mission, revision),
            QueueMessage::Stop { reply } => {
                if self.admission == Admission::Open {
                    self.admission = Admission::Stopped;
                }
                self.stopped_earlier = None;
                self.note_call_readiness();
                self.halt(reply);
            }
            QueueMessage::Rest { because, reply } => {
                self.inactive_because = Some(because);
                self.note_call_readiness();
                self.halt(reply);
            }
            QueueMessage::Work => {
                self.inactive_because = None;
                self.note_call_readiness();
            }
            QueueMessage::Recovered => self.on_recovered(),
            QueueMessage::Resume { reply } => {
                let was_stopped = self.resume();
                self.note_call_readiness();
                let _ = reply.send(was_stopped);
            }
            QueueMessage::Call { risk_class, reply } => self.on_call(risk_class, reply),
            QueueMessage::Left => self.settle(),
            QueueMessage::OfferTools { provider, audience, tools } => self.on_offer(provider, audience, tools),
            QueueMessage::ShutDown => {
                self.admission = Admission::ShuttingDown;
                self.note_call_readiness();
                self.end_all(CancelReason::ShutDown);
            }
        }
    }

    /// Why no task is taken, whatever it is. None: they are.
    fn refusal(&self) -> Option<Rejection> {
        match self.admission {
            Admission::Open => {}
            Admission::Stopped => {
                let earlier = self.stopped_earlier.clone();
                return Some(earlier.map_or(Rejection::Stopped, |why| Rejection::StoppedEarlier { why }));
            }
            Admission::ShuttingDown => return Some(Rejection::ShuttingDown),
        }
        self.inactive_because.as_ref().map(|because| Rejection::Inactive { because: because.clone() })
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

    fn submit(&mut self, submission: Submission, place: Place, work: Work) -> Result<MissionTicket, Rejection> {
        if let Some(rejection) = self.refusal() {
            return Err(rejection);
        }
        // Before it is on the tape, in the events or in the journal: it may be of any length.
        let (bytes, most) = (submission.task.len(), self.shared.config.limits.max_task_bytes);
        if bytes > most {
            return Err(Rejection::TooLong { bytes, most });
        }
        let paused = self.paused();
        let held = work.held().cloned();
        if matches!(work, Work::ByHand { .. }) {
            self.check_by_hand(held.as_ref(), paused.as_ref())?;
        }
        let is_held_up = self.running.is_some() || (paused.is_some() && !self.waiting.is_empty());
        if is_held_up && held.is_none() && place == Place::Last {
            match self.shared.config.queue {
                QueuePolicy::Reject => return Err(Rejection::Busy),
                QueuePolicy::Queue { length } if self.waiting.len() >= length => {
                    return Err(Rejection::QueueFull { waiting: self.waiting.len() });
                }
                QueuePolicy::Queue { .. } => {}
            }
        }
        let id = new_mission_id();
        if held.as_ref().is_some_and(|held| !self.shared.config.gate.begin_by_hand(&id, held)) {
            return Err(Rejection::Paused { because: by_hand::LOST.to_owned() });
        }
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
        if ahead > 0 && held.is_none() {
            reporter.report(MissionEvent::Queued { ahead: u32::try_from(ahead).unwrap_or(u32::MAX) });
        }
        let control = Control::default();
        let mut waiting =
            Waiting { id: id.clone(), submission, work, reporter, open, result, pause_ends: None, control };
        if held.is_some() {
            self.by_hand = Some(self.begin(waiting));
            return Ok(MissionTicket { id, events, result: answer });
        }
        let control = self.control();
        if !control.is_autonomous() {
            waiting.note_control(&control);
        } else if let Some(because) = paused {
            waiting.begin_pause(because, self.patience());
        }
        // It is told of what changes from now on.
        waiting.control = control;
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
        if self.running.is_some() || self.admission != Admission::Open || self.paused().is_some() {
            return;
        }
        let Some(next) = self.waiting.pop_front() else { return };
        self.contained = false;
        self.running = Some(self.begin(next));
    }

    /// Begins a task.
    fn begin(&self, next: Waiting) -> Running {
        let (end, ended) = watch::channel(None);
        let (revisions, revised) = mpsc::channel(REVISIONS);
        let done = self.done.clone();
        let Submission { task, session, .. } = next.submission;
        let class = task_class::classify(&task);
        let about = (task.clone(), session.clone());
        let request = Request { id: next.id.clone(), task, session, work: next.work };
        let mission = run_mission(Arc::clone(&self.shared), request, next.reporter, ended, revised);
        let running = self.shared.tracker.spawn(mission);
        let id = next.id.clone();
        self.shared.tracker.spawn(async move {
            let (result, is_lost) = match running.await {
                Ok(result) => (result, false),
                Err(problem) => {
                    tracing::error!("the mission's task ended without a result: {problem}");
                    let words = "The task ended by a flaw of Cortex. See the log.".to_owned();
                    (without_run(class, MissionStatus::Failed, words), true)
                }
            };
            // The mission queue outlives its missions.
            let _ = done.send(Ended { id, result, is_lost }).await;
        });
        Running { id: next.id, end, revisions, _open: next.open, result: next.result, about }
    }

    fn on_ended(&mut self, ended: Ended) {
        self.shared = Arc::clone(&self.latest.borrow_and_update());
        let Ended { id, result, is_lost } = ended;
        let not_stopped = result.not_stopped.clone();
        let by_hand = self.by_hand.take_if(|by_hand| by_hand.id == id);
        if by_hand.is_some() {
            self.shared.config.gate.end_by_hand(&id, !is_lost && not_stopped.is_empty());
        }
        if let Some(running) = by_hand.or_else(|| self.running.take_if(|running| running.id == id)) {
            // Before the next one of its conversation begins.
            self.shared.config.conversations.end(&running.id, &result);
            let (task, session) = running.about;
            self.shared.ended.note(running.id, task, session, &result);
            // The client may have left.
            let _ = running.result.send(result);
        }
        self.stops.iter_mut().for_each(|stop| stop.not_stopped.extend_from_slice(&not_stopped));
        if !self.is_running() {
            std::mem::take(&mut self.stops).into_iter().for_each(|stop| self.report_stop(stop));
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
        let availability = self.shared.availability.borrow();
        availability.control().reason().or(availability.paused()).map(str::to_owned)
    }

    /// Who has the controls.
    fn control(&self) -> Control {
        self.shared.availability.borrow().control().clone()
    }

    fn patience(&self) -> Duration {
        self.shared.config.limits.pause_patience
    }

    /// What an earlier life left is at rest, or is among the unconfirmed halts.
    fn on_recovered(&mut self) {
        self.is_recovering = false;
        self.answer_early_calls();
        self.on_availability_changed();
    }

    /// Other things are kept from the missions than before. The mission that runs is told so itself.
    fn on_availability_changed(&mut self) {
        let (patience, control) = (self.patience(), self.control());
        self.note_call_readiness();
        self.waiting.iter_mut().for_each(|waiting| waiting.note_control(&control));
        match self.paused() {
            Some(_) if !control.is_autonomous() => {}
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
        if let Some(running) = self.runs(mission) {
            running.end.send_replace(Some(CancelReason::Client));
            return true;
        }
        let Some(index) = self.waiting.iter().position(|waiting| waiting.id == *mission) else { return false };
        if let Some(waiting) = self.waiting.remove(index) {
            waiting.end(MissionStatus::Cancelled, "The task was cancelled before it began.".to_owned());
        }
        true
    }

    /// Hands a revision to the mission, which answers. The mission queue does not wait for it.
    fn revise(&self, mission: Option<MissionId>, revision: Revision) {
        let meant = mission.as_ref().map_or(self.running.as_ref(), |mission| self.runs(mission));
        if let Some(running) = meant {
            if let Err(mpsc::error::TrySendError::Full(revision)) = running.revisions.try_send(revision) {
                revision.refuse(RevisionRefusal::Busy);
            }
            // A mission that has just ended drops the revision, and with it the way to answer.
            return;
        }
        let waits = mission.as_ref().filter(|mission| self.waiting.iter().any(|waiting| waiting.id == **mission));
        revision.refuse(match waits {
            Some(mission) => RevisionRefusal::Waiting { mission: mission.clone() },
            None => RevisionRefusal::NotRunning { mission },
        });
    }
}
