//! The one actor that owns the queue of tasks, the stop latch and the tools on offer. It never waits for anything slow,
//! so that a stop is always heard at once.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use cortex_core::{CancelReason, goal};
use cortex_protocol::{
    CloudEvent, GoalClass, MissionEvent, MissionId, MissionResult, MissionStatus, SessionId, Submission, ToolName,
    ToolSpec, Usage,
};
use tokio::sync::{Notify, mpsc, oneshot, watch};
use tokio::time::Instant;

use crate::drive::{Correction, Reporter, Request, Shared, run_mission};
use crate::envelope::{Envelope, new_mission_id};
use crate::offer::{Offer, ProviderId};
use crate::sessions::Sessions;
use crate::tape::Tape;
use crate::{CorrectionRefusal, MISSION_EVENTS, MissionTicket, Place, QueuePolicy, Rejection, StopReport};

/// Corrections that may wait for the mission that runs; it takes each at once.
const CORRECTIONS: usize = 8;

const RECOVERING: &str = "what an earlier life of Cortex may have left running is being ended";

/// What the desk is told.
pub(crate) enum DeskMessage {
    Submit {
        submission: Submission,
        place: Place,
        reply: oneshot::Sender<Result<MissionTicket, Rejection>>,
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
        reply: oneshot::Sender<StopReport>,
    },
    /// Ends everything and takes no tasks, until [`Work`](Self::Work).
    Rest {
        because: String,
        reply: oneshot::Sender<StopReport>,
    },
    Work,
    /// What an earlier life left was ended, as far as it could be.
    Recovered,
    Resume {
        reply: oneshot::Sender<bool>,
    },
    Offer {
        provider: ProviderId,
        tools: Vec<ToolSpec>,
    },
    ShutDown,
}

/// A task that waits.
struct Waiting {
    id: MissionId,
    submission: Submission,
    reporter: Reporter,
    result: oneshot::Sender<MissionResult>,
    /// Until when it waits for the end of a pause.
    pause_ends: Option<Instant>,
}

/// The mission that runs.
struct Running {
    id: MissionId,
    cancel: watch::Sender<Option<CancelReason>>,
    corrections: mpsc::Sender<Correction>,
    result: oneshot::Sender<MissionResult>,
    /// The conversation that it belongs to, and what was asked.
    turn: Option<(SessionId, String)>,
}

/// Whether tasks are taken.
#[derive(PartialEq, Eq)]
enum Door {
    Open,
    Stopped,
    /// Something that a task began is not known to be at rest. A second task on top of it would be two on one robot.
    Unsettled,
    ShuttingDown,
}

pub(crate) struct Desk {
    /// As it was last set; a mission keeps the one that it began with.
    shared: Arc<Shared>,
    latest: watch::Receiver<Arc<Shared>>,
    offer: watch::Sender<Arc<Offer>>,
    offered: BTreeMap<ProviderId, Vec<ToolSpec>>,
    door: Door,
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
    /// Something that was not known to be at rest was asked again.
    settled: Arc<Notify>,
    /// Who waits for a stop, and how many missions it ended so far.
    stops: Vec<(oneshot::Sender<StopReport>, usize)>,
}

impl Desk {
    pub(crate) fn new(latest: watch::Receiver<Arc<Shared>>, offer: watch::Sender<Arc<Offer>>) -> Self {
        // One mission runs at a time, so one result at a time comes back.
        let (done, ended) = mpsc::channel(1);
        let shared = Arc::clone(&latest.borrow());
        Self {
            is_recovering: shared.journal.is_kept(),
            shared,
            latest,
            offer,
            offered: BTreeMap::new(),
            door: Door::Open,
            off_duty: None,
            waiting: VecDeque::new(),
            running: None,
            sessions: Sessions::default(),
            done,
            ended,
            contained: false,
            settled: Arc::default(),
            stops: Vec::new(),
        }
    }

    /// Runs until it is told to shut down, or every client is gone.
    pub(crate) async fn run(mut self, mut inbox: mpsc::Receiver<DeskMessage>) {
        let mut has_clients = true;
        let mut containment = self.shared.containment.clone();
        let settled = Arc::clone(&self.settled);
        while self.door != Door::ShuttingDown || self.running.is_some() {
            let pause_end = self.next_pause_end();
            tokio::select! {
                biased;
                Some(result) = self.ended.recv() => self.on_ended(result),
                Ok(()) = containment.changed() => {
                    containment.mark_unchanged();
                    self.contained = true;
                    if self.door == Door::Unsettled {
                        self.settle();
                    }
                    self.on_contained();
                }
                () = settled.notified() => self.on_settled(),
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
            DeskMessage::Submit { submission, place, reply } => {
                // A client that left before the answer still has its mission; it can be cancelled like any other.
                let _ = reply.send(self.submit(submission, place));
            }
            DeskMessage::Cancel { mission, reply } => {
                let _ = reply.send(self.cancel(&mission));
            }
            DeskMessage::Correct { mission, correction } => self.correct(mission, correction),
            DeskMessage::Stop { reply } => {
                if matches!(self.door, Door::Open | Door::Unsettled) {
                    self.door = Door::Stopped;
                }
                self.halt(reply);
            }
            DeskMessage::Rest { because, reply } => {
                self.off_duty = Some(because);
                self.halt(reply);
            }
            DeskMessage::Work => self.off_duty = None,
            DeskMessage::Recovered => self.on_recovered(),
            DeskMessage::Resume { reply } => {
                let was_stopped = matches!(self.door, Door::Stopped | Door::Unsettled);
                if was_stopped {
                    self.door = Door::Open;
                    let journal = self.shared.journal.clone();
                    self.shared.tracker.spawn(journal.end_calls(self.shared.leftovers.forget()));
                }
                let _ = reply.send(was_stopped);
            }
            DeskMessage::Offer { provider, tools } => {
                self.offered.insert(provider, tools);
                let offer = self.offer.borrow().rebuilt(&self.offered);
                for problem in &offer.problems {
                    tracing::warn!("{problem}");
                }
                self.offer.send_replace(Arc::new(offer));
            }
            DeskMessage::ShutDown => {
                self.door = Door::ShuttingDown;
                self.end_all(CancelReason::ShutDown);
            }
        }
    }

    fn submit(&mut self, submission: Submission, place: Place) -> Result<MissionTicket, Rejection> {
        match self.door {
            Door::Open => {}
            Door::Stopped => return Err(Rejection::Stopped),
            Door::Unsettled => return Err(Rejection::Unsettled { tools: self.shared.leftovers.names() }),
            Door::ShuttingDown => return Err(Rejection::ShuttingDown),
        }
        if let Some(because) = &self.off_duty {
            return Err(Rejection::Inactive { because: because.clone() });
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
        let (client, events) = mpsc::channel::<Arc<CloudEvent>>(MISSION_EVENTS);
        let (result, answer) = oneshot::channel();
        let mut origin = submission.origin.clone();
        if let Some(session) = &submission.session {
            origin.session_id = session.as_str().to_owned();
        }
        let envelope = Envelope::new(self.shared.config.source.clone(), id.clone(), origin);
        let tape = self.shared.config.tape.as_ref();
        let tape = tape.map(|settings| Tape::begin(settings, &envelope, &self.shared.tracker));
        let mut reporter = Reporter::new(envelope, tape, client, self.shared.events.clone());
        reporter.report(MissionEvent::Accepted { task: submission.task.clone(), session: submission.session.clone() });
        let waiting_before = if place == Place::Last { self.waiting.len() } else { 0 };
        let ahead = waiting_before + usize::from(self.running.is_some());
        if ahead > 0 {
            reporter.report(MissionEvent::Queued { ahead: u32::try_from(ahead).unwrap_or(u32::MAX) });
        }
        let mut waiting = Waiting { id: id.clone(), submission, reporter, result, pause_ends: None };
        if let Some(because) = paused {
            waiting.begin_pause(because, self.patience());
        }
        match place {
            Place::Last => self.waiting.push_back(waiting),
            Place::Next | Place::Now => self.waiting.push_front(waiting),
        }
        if let (Place::Now, Some(running)) = (place, &self.running) {
            running.cancel.send_replace(Some(CancelReason::Client));
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
        let (cancel, cancelled) = watch::channel(None);
        let (corrections, corrected) = mpsc::channel(CORRECTIONS);
        let done = self.done.clone();
        let Submission { task, session, .. } = next.submission;
        let earlier = session.as_ref().map(|session| self.sessions.earlier(session)).unwrap_or_default();
        let class = goal::classify(&task);
        let turn = session.clone().map(|session| (session, task.clone()));
        let request = Request { id: next.id.clone(), task, session, earlier };
        let mission = run_mission(Arc::clone(&self.shared), request, next.reporter, cancelled, corrected);
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
        self.running = Some(Running { id: next.id, cancel, corrections, result: next.result, turn });
    }

    fn on_ended(&mut self, result: MissionResult) {
        self.shared = Arc::clone(&self.latest.borrow_and_update());
        let not_stopped = result.not_stopped.clone();
        if let Some(running) = self.running.take() {
            if let Some((session, task)) = running.turn {
                self.sessions.ended(&session, task, &result);
            }
            // The client may have left.
            let _ = running.result.send(result);
        }
        for (reply, missions_ended) in std::mem::take(&mut self.stops) {
            self.report_stop(reply, not_stopped.clone(), missions_ended);
        }
        if !not_stopped.is_empty() && self.door == Door::Open {
            self.door = Door::Unsettled;
            self.end_waiting("An earlier task left something that did not confirm that it is at rest.");
            if self.contained {
                self.settle();
            }
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
        if self.door == Door::Open && !self.shared.leftovers.names().is_empty() {
            self.door = Door::Unsettled;
            self.end_waiting("Something that an earlier life of Cortex left did not confirm that it is at rest.");
        }
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

    /// Once nothing is in quarantine any more, asks what is not known to be at rest again: a component that has come back
    /// can say so. Does not wait.
    fn settle(&self) {
        if !self.shared.containment.borrow().quarantined().is_empty() {
            return;
        }
        let (shared, settled) = (Arc::clone(&self.shared), Arc::clone(&self.settled));
        self.shared.tracker.spawn(async move {
            let (_, at_rest) = shared.leftovers.halt(shared.config.calls.halt_timeout).await;
            shared.journal.clone().end_calls(at_rest).await;
            settled.notify_one();
        });
    }

    /// Takes tasks again where everything has said that it is at rest.
    fn on_settled(&mut self) {
        if self.door == Door::Unsettled && self.shared.leftovers.names().is_empty() {
            tracing::info!("what an earlier task left has confirmed that it is at rest; tasks are taken again");
            self.door = Door::Open;
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
            end_without_run(waiting, MissionStatus::Failed, text);
        }
    }

    fn cancel(&mut self, mission: &MissionId) -> bool {
        if let Some(running) = self.running.as_ref().filter(|running| running.id == *mission) {
            running.cancel.send_replace(Some(CancelReason::Client));
            return true;
        }
        let Some(index) = self.waiting.iter().position(|waiting| waiting.id == *mission) else { return false };
        if let Some(waiting) = self.waiting.remove(index) {
            end_waiting(waiting, "The task was cancelled before it began.");
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

    /// Ends everything, and reports when it is at rest.
    fn halt(&mut self, reply: oneshot::Sender<StopReport>) {
        let ended = self.end_all(CancelReason::Stop);
        if self.running.is_some() {
            self.stops.push((reply, ended));
        } else {
            self.report_stop(reply, Vec::new(), ended);
        }
    }

    /// Halts what earlier missions may have left moving, and reports. The desk does not wait for it.
    fn report_stop(&self, reply: oneshot::Sender<StopReport>, mut not_stopped: Vec<ToolName>, missions_ended: usize) {
        let shared = Arc::clone(&self.shared);
        self.shared.tracker.spawn(async move {
            let (going_on, at_rest) = shared.leftovers.halt(shared.config.calls.halt_timeout).await;
            shared.journal.clone().end_calls(at_rest).await;
            not_stopped.extend(going_on);
            not_stopped.sort();
            not_stopped.dedup();
            // Who asked may have left.
            let _ = reply.send(StopReport { not_stopped, missions_ended });
        });
    }

    /// Cancels what runs and ends what waits; how many missions that were.
    fn end_all(&mut self, reason: CancelReason) -> usize {
        let text = match reason {
            CancelReason::Client => "The task was cancelled before it began.",
            CancelReason::Stop => "The robot was stopped before the task began.",
            CancelReason::ShutDown => "Cortex is shutting down; the task was not begun.",
        };
        let mut ended = 0;
        if let Some(running) = &self.running {
            running.cancel.send_replace(Some(reason));
            ended += 1;
        }
        ended + self.end_waiting(text)
    }

    /// Ends every task that waits; how many that were.
    fn end_waiting(&mut self, text: &str) -> usize {
        let count = self.waiting.len();
        for waiting in self.waiting.drain(..) {
            end_waiting(waiting, text);
        }
        count
    }
}

impl Waiting {
    fn begin_pause(&mut self, because: String, patience: Duration) {
        self.pause_ends = Instant::now().checked_add(patience);
        self.reporter.report(MissionEvent::Paused { because, patience });
    }

    fn end_pause(&mut self) {
        if self.pause_ends.take().is_some() {
            self.reporter.report(MissionEvent::Unpaused);
        }
    }
}

/// Never comes where there is no end.
async fn pause_over(end: Option<Instant>) {
    match end {
        Some(end) => tokio::time::sleep_until(end).await,
        None => std::future::pending().await,
    }
}

fn end_waiting(waiting: Waiting, text: &str) {
    end_without_run(waiting, MissionStatus::Cancelled, text.to_owned());
}

fn end_without_run(mut waiting: Waiting, status: MissionStatus, text: String) {
    let class = goal::classify(&waiting.submission.task);
    let result = without_run(class, status, text);
    waiting.reporter.report(MissionEvent::Finished { result: result.clone() });
    if let Some(tape) = &mut waiting.reporter.tape {
        tape.close(result.status);
    }
    // The client may have left.
    let _ = waiting.result.send(result);
}

/// The result of a task of which nothing ran.
fn without_run(class: GoalClass, status: MissionStatus, output: String) -> MissionResult {
    MissionResult {
        status,
        class,
        output,
        steps: Vec::new(),
        execution: cortex_protocol::execution::ExecutionReport::default(),
        corrections: Vec::new(),
        not_stopped: Vec::new(),
        usage: Usage::default(),
        duration: Duration::ZERO,
    }
}
