//! Drives the mission machine on tokio.
//!
//! - [`Runtime`]: what clients hold: submit, cancel, stop, resume, watch;
//! - `desk`: the one actor that owns the queue of tasks, the stop latch and the tools on offer;
//! - `drive`: the actor of one running mission;
//! - `client`: a call without a mission;
//! - `calls`: the one way to make a call, for missions and clients; `claims`: who holds what meanwhile;
//! - `dispatch`: one call of a tool, with its time-out, its cancellation and its one outcome;
//! - [`Gate`]: which components may be called, and what is under way in each, decided in one place;
//! - `process_end`: calls that end with the process of their component;
//! - `conditions`: what is watched before, while and after a call;
//! - `journal`: what is open, for the next life of Cortex; what an earlier one left is ended at the start;
//! - `leftovers`: calls that are not known to be at rest, for the next stop;
//! - `meters`: what the robot spends while a mission runs;
//! - `not_written`: why the tape or the journal does not have something;
//! - `providers`: the registered providers of tools, each with its handle; `offer`: their tools, merged;
//! - `questions`: the open questions to people, and the way of an answer to its mission;
//! - `robot_state`: what the rules of policy ask of the robot and of the time;
//! - `disputes`: missions that a person reopens;
//! - `envelope`: what happens, as CloudEvents; `event_log`: the newest of them, for those who follow;
//! - `commands`: what clients ask for, carried out;
//! - [`Settings`]: what may change while it runs;
//! - [`tape`]: the record of each mission: written before something moves, read back, replayed.
//!
//! Everything is spawned on one tracker and ends with [`Runtime::shut_down`].

mod calls;
mod claims;
mod client;
mod commands;
mod conditions;
mod desk;
mod dispatch;
mod disputes;
mod drive;
mod dry_run;
mod envelope;
mod event_log;
mod gate;
mod journal;
mod leftovers;
mod meters;
mod not_written;
mod offer;
mod process_end;
mod providers;
mod questions;
mod readiness;
mod robot_state;
mod sessions;
mod settings;
pub mod tape;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use cortex_core::mission::{CorrectionProblem, Reopened};
use cortex_core::{ApprovalSettings, ChatModel, Containment, MissionLimits, Policy, ToolProvider, ToolSet};
use cortex_protocol::{
    Answer, ComponentName, EventId, MissionId, MissionResult, OpenQuestion, Origin, QuestionId, StopOutcome, Submission,
};
use thiserror::Error;
use tokio::sync::{broadcast, mpsc, oneshot, watch};
use tokio_util::task::TaskTracker;

pub use crate::desk::Duty;
use crate::desk::{Desk, DeskMessage};
pub use crate::dispatch::{CallBounds, run_call};
pub use crate::disputes::DisputeRefusal;
use crate::drive::Correction;
pub use crate::dry_run::DryRun;
use crate::event_log::EventLog;
pub use crate::event_log::Events;
pub use crate::gate::{CallListener, Gate};
pub use crate::journal::{JournalSettings, StopRecord};
pub use crate::leftovers::UnconfirmedHalt;
pub use crate::meters::Meter;
pub use crate::offer::Offer;
use crate::providers::Providers;
pub use crate::providers::{ProviderHandle, ProviderId};
pub use crate::questions::AnswerRefusal;
pub use crate::readiness::{Readiness, Rejection};
pub use crate::settings::Settings;
pub use crate::tape::TapeSettings;

/// Messages that may wait for the desk. Clients wait when it is full; the desk never waits for anything slow.
const DESK_CAPACITY: usize = 256;
/// Sentences that may wait to be published.
const OUTPUTS: usize = 64;

/// What is done with a task that comes while another one runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QueuePolicy {
    /// It is refused with the reason.
    Reject,
    /// It waits, behind at most `length` - 1 others.
    Queue {
        /// Most tasks that wait.
        length: usize,
    },
}

/// How the runtime works.
#[derive(Debug, Clone)]
pub struct RuntimeConfig {
    /// The `source` of its events: `/{robot}/cortex`.
    pub source: String,
    /// What the robot is, in words for the model. May be empty.
    pub identity: String,
    /// The bounds of each mission.
    pub limits: MissionLimits,
    /// What is done with a second task.
    pub queue: QueuePolicy,
    /// The bounds of each call.
    pub calls: CallBounds,
    /// How long a request to the model may take in all, whatever the model's own bounds are.
    pub model_timeout: Duration,
    /// Where missions are recorded. None: nowhere.
    pub tape: Option<TapeSettings>,
    /// Where it is noted what is open, so that the next life of Cortex can end what this one leaves. None: nowhere.
    pub journal: Option<JournalSettings>,
    /// Why the robot is stopped from the beginning, in words for people: it was stopped before Cortex was started again.
    /// None: it is not.
    pub stopped: Option<String>,
    /// What measures the way and the energy that the robot spends.
    pub meters: Vec<Meter>,
    /// Which calls are allowed, which ask a person, and which are denied.
    pub policy: Policy,
    /// How people are asked.
    pub approval: ApprovalSettings,
    /// Decides which components may be called.
    pub gate: Gate,
}

impl Default for RuntimeConfig {
    fn default() -> Self {
        Self {
            source: "/robot/cortex".to_owned(),
            identity: String::new(),
            limits: MissionLimits::default(),
            queue: QueuePolicy::Queue { length: 4 },
            calls: CallBounds::default(),
            model_timeout: Duration::from_secs(300),
            tape: None,
            journal: None,
            stopped: None,
            meters: Vec::new(),
            policy: Policy::default(),
            approval: ApprovalSettings::default(),
            gate: Gate::default(),
        }
    }
}

/// When a task begins that comes while others run or wait.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Place {
    /// After those that wait.
    #[default]
    Last,
    /// After the one that runs, before those that wait; the length of the queue does not keep it out.
    Next,
    /// As [`Place::Next`], and the one that runs is ended.
    Now,
}

/// Fixes what an earlier crash has torn.
fn fix(folder: &tape::Folder) {
    match folder.fix() {
        Ok(fixed) => fixed.iter().for_each(|mission| tracing::warn!("the tape of {mission} was torn; it is fixed")),
        Err(problem) => tracing::warn!("the tapes can't be looked through: {problem}"),
    }
}

/// A task that was taken.
#[derive(Debug)]
pub struct MissionTicket {
    /// Its id.
    pub id: MissionId,
    /// What happens, in order. Closes after the last event. A client that lags far behind loses events, never the
    /// result.
    pub events: Events,
    /// The one result.
    pub result: oneshot::Receiver<MissionResult>,
}

/// Why a correction was not taken.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum CorrectionRefusal {
    /// No mission runs, or not this one.
    #[error("{}", not_running(.mission.as_ref()))]
    NotRunning {
        /// The one that was meant. None: the one that runs.
        mission: Option<MissionId>,
    },
    /// It waits for others.
    #[error("the task {mission} has not begun; cancel it and send another")]
    Waiting {
        /// Which.
        mission: MissionId,
    },
    /// Corrections come faster than they can be taken.
    #[error("many corrections are under way; wait for their answers")]
    Busy,
    /// The mission does not take it.
    #[error("{reason}")]
    Refused {
        /// Why.
        reason: CorrectionProblem,
    },
    /// Cortex is going down.
    #[error("Cortex is shutting down")]
    ShuttingDown,
}

fn not_running(mission: Option<&MissionId>) -> String {
    match mission {
        Some(mission) => format!("no task {mission} runs"),
        None => "no task runs".to_owned(),
    }
}

/// A handle to the runtime. Clones share it.
#[derive(Clone)]
pub struct Runtime {
    desk: mpsc::Sender<DeskMessage>,
    events: Arc<EventLog>,
    outputs: broadcast::Sender<String>,
    offer: watch::Receiver<Arc<Offer>>,
    shared: Arc<watch::Sender<Arc<drive::Shared>>>,
    gate: Gate,
    duty: watch::Receiver<Duty>,
    readiness: watch::Receiver<Readiness>,
    tracker: TaskTracker,
}

impl Runtime {
    /// Starts the runtime on the current tokio runtime. Tools come with the providers that [`register`](Self::register).
    #[must_use]
    pub fn start(config: RuntimeConfig, model: Arc<dyn ChatModel>) -> Self {
        let (desk, inbox) = mpsc::channel(DESK_CAPACITY);
        let tapes = config.tape.as_ref().map(|tape| tape::Folder::new(tape.directory.clone()));
        let events = Arc::new(EventLog::new(tapes));
        let (outputs, _) = broadcast::channel(OUTPUTS);
        let (offer_sender, offer) = watch::channel(Arc::new(Offer::default()));
        let gate = config.gate.clone();
        let (duty_sender, duty) = watch::channel(Duty::default());
        let (readiness_sender, readiness) = watch::channel(Readiness::Ready);
        let tracker = TaskTracker::new();
        if let Some(tape) = &config.tape {
            envelope::continue_after(&tape.directory);
            let folder = tape::Folder::new(tape.directory.clone());
            tracker.spawn_blocking(move || fix(&folder));
        }
        let journal = journal::Journal::new(config.journal.clone());
        let providers = Arc::new(Providers::default());
        let robot_state = robot_state::StateWatch::begin(&config.policy, &providers, &tracker);
        let shared = watch::Sender::new(Arc::new(drive::Shared {
            journal,
            config,
            model,
            providers,
            events: Arc::clone(&events),
            outputs: outputs.clone(),
            offer: offer.clone(),
            containment: gate.containment(),
            tracker: tracker.clone(),
            claims: Arc::default(),
            leftovers: Arc::default(),
            questions: Arc::default(),
            ended: Arc::default(),
            robot_state,
        }));
        let first = Arc::clone(&shared.borrow());
        if first.journal.is_kept() {
            let desk = desk.clone();
            tracker.spawn(async move {
                // However it ends: tasks must not wait for ever.
                let _ = tokio::spawn(journal::recover(first)).await;
                // A desk that is closed needs not know.
                let _ = desk.send(DeskMessage::Recovered).await;
            });
        }
        tracker.spawn(Desk::new(shared.subscribe(), offer_sender, duty_sender, readiness_sender).run(inbox));
        Self { desk, events, outputs, offer, shared: Arc::new(shared), gate, duty, readiness, tracker }
    }

    /// Registers a provider of tools, which stays until its handle is dropped. The handle offers its tools.
    pub fn register(&self, provider: Arc<dyn ToolProvider>) -> ProviderHandle {
        let providers = Arc::clone(&self.shared.borrow().providers);
        ProviderHandle::register(provider, providers, self.desk.clone())
    }

    /// Hands in a task.
    ///
    /// # Errors
    /// Why it was not taken. A task that was taken gets exactly one result.
    pub async fn submit(&self, submission: Submission) -> Result<MissionTicket, Rejection> {
        self.submit_at(Place::Last, submission).await
    }

    /// As [`submit`](Self::submit), at a place of its own. For what the robot's owner has decided beforehand; people wait for
    /// their turn.
    ///
    /// # Errors
    /// As [`submit`](Self::submit).
    pub async fn submit_at(&self, place: Place, submission: Submission) -> Result<MissionTicket, Rejection> {
        let (reply, answer) = oneshot::channel();
        let message = DeskMessage::Submit { submission, place, reopens: None, reply };
        self.desk.send(message).await.map_err(|_| Rejection::ShuttingDown)?;
        answer.await.unwrap_or(Err(Rejection::ShuttingDown))
    }

    /// Hands in a task anew whose mission a person disputes.
    pub(crate) async fn submit_reopening(
        &self,
        submission: Submission,
        reopens: Reopened,
    ) -> Result<MissionTicket, Rejection> {
        let (reply, answer) = oneshot::channel();
        let message = DeskMessage::Submit { submission, place: Place::Last, reopens: Some(Box::new(reopens)), reply };
        self.desk.send(message).await.map_err(|_| Rejection::ShuttingDown)?;
        answer.await.unwrap_or(Err(Rejection::ShuttingDown))
    }

    /// Whether the mission runs or waits.
    pub(crate) async fn is_open(&self, mission: &MissionId) -> bool {
        let (reply, answer) = oneshot::channel();
        let message = DeskMessage::IsOpen { mission: mission.clone(), reply };
        // A closed desk has none.
        self.desk.send(message).await.is_ok() && answer.await.unwrap_or(false)
    }

    /// Ends one mission, running or waiting. `false` if there is none of that id. Does not wait for its end.
    pub async fn cancel(&self, mission: MissionId) -> bool {
        let (reply, answer) = oneshot::channel();
        if self.desk.send(DeskMessage::Cancel { mission, reply }).await.is_err() {
            return false;
        }
        answer.await.unwrap_or(false)
    }

    /// Corrects the task of a mission; `None` is the one that runs. What moves is halted, and the mission plans anew; this
    /// does not wait for it. Answers with the mission that was corrected.
    ///
    /// # Errors
    /// Why the correction was not taken. Nothing has changed then.
    pub async fn correct(
        &self,
        mission: Option<MissionId>,
        text: String,
        origin: Origin,
    ) -> Result<MissionId, CorrectionRefusal> {
        let (reply, answer) = oneshot::channel();
        let message = DeskMessage::Correct { mission: mission.clone(), correction: Correction { text, origin, reply } };
        self.desk.send(message).await.map_err(|_| CorrectionRefusal::ShuttingDown)?;
        // The mission ended before it came to the correction.
        answer.await.unwrap_or(Err(CorrectionRefusal::NotRunning { mission }))
    }

    /// Halts everything, also what earlier missions left behind, and takes no task until [`resume`](Self::resume). Comes
    /// back when all is at rest, or the time to halt is over; names what did not halt.
    ///
    /// # Errors
    /// [`Rejection::ShuttingDown`] when nobody is there to stop anything: then nothing is known.
    pub async fn stop(&self) -> Result<StopOutcome, Rejection> {
        let (reply, answer) = oneshot::channel();
        self.desk.send(DeskMessage::Stop { reply }).await.map_err(|_| Rejection::ShuttingDown)?;
        answer.await.map_err(|_| Rejection::ShuttingDown)
    }

    /// Ends every mission, as [`stop`](Self::stop) does, and refuses tasks with the reason until [`work`](Self::work). A
    /// stop that a person has latched stays latched.
    ///
    /// # Errors
    /// [`Rejection::ShuttingDown`], as [`stop`](Self::stop).
    pub async fn rest(&self, because: impl Into<String> + Send) -> Result<StopOutcome, Rejection> {
        let (reply, answer) = oneshot::channel();
        let message = DeskMessage::Rest { because: because.into(), reply };
        self.desk.send(message).await.map_err(|_| Rejection::ShuttingDown)?;
        answer.await.map_err(|_| Rejection::ShuttingDown)
    }

    /// Takes tasks again after [`rest`](Self::rest). What a person has stopped stays stopped.
    pub async fn work(&self) {
        // A closed desk takes no tasks any more.
        let _ = self.desk.send(DeskMessage::Work).await;
    }

    /// Whether tasks are taken now, and if not, why: a task that is handed in now is refused with the same words.
    #[must_use]
    pub fn readiness(&self) -> Readiness {
        let readiness = self.readiness.borrow().clone();
        readiness.limited_by(self.shared.borrow().leftovers.names())
    }

    /// Changes what missions begin with from now on. The one that runs is not touched.
    pub fn reconfigure(&self, settings: Settings) {
        self.shared.send_modify(|shared| *shared = Arc::new(shared.with(settings)));
    }

    /// Takes tasks again, and forgets what did not confirm that it is at rest: a person has looked. `false` if nothing
    /// was refused because of a stop or of that.
    pub async fn resume(&self) -> bool {
        let (reply, answer) = oneshot::channel();
        if self.desk.send(DeskMessage::Resume { reply }).await.is_err() {
            return false;
        }
        answer.await.unwrap_or(false)
    }

    /// Keeps the missions from a component that has failed. From now on nothing of it is called; what it was doing is halted
    /// and has failed as lost. Missions that need it are told why, and wait for it for a while or plan without it; the rest
    /// goes on. Says it again with another reason, where it is in quarantine already.
    ///
    /// Like everything that the monitor says, this never waits and is never lost.
    pub fn quarantine(&self, component: ComponentName, because: String) {
        self.gate.change(|now| now.quarantine(component, &because));
    }

    /// Lets the missions have a component again. A stand-in keeps its place until it is told otherwise.
    pub fn release(&self, component: &ComponentName) {
        self.gate.change(|now| now.release(component));
    }

    /// Gives a component's place to another (`None`: back to itself). While a stand-in has it, a call of
    /// `{component}.{method}` goes to `{stand_in}.{method}`, where that takes the same arguments and has the same effect; what
    /// has no such method can't be called.
    pub fn substitute(&self, component: &ComponentName, by: Option<ComponentName>) {
        self.gate.change(|now| now.substitute(component, by.as_ref()));
    }

    /// Begins no step any more, in any mission. What runs goes on to its end; tasks are taken, and wait. A task that has
    /// waited for [`MissionLimits::pause_patience`] fails with this reason.
    pub fn pause(&self, because: String) {
        self.gate.change(|now| now.pause(&because));
    }

    /// Goes on after a [`pause`](Self::pause).
    pub fn unpause(&self) {
        self.gate.change(Containment::unpause);
    }

    /// What is kept from the missions now.
    #[must_use]
    pub fn containment(&self) -> Containment {
        self.gate.containment().borrow().clone()
    }

    /// The tools on offer now, and what had to be left out.
    #[must_use]
    pub fn offer(&self) -> Arc<Offer> {
        self.offer.borrow().clone()
    }

    /// The calls that are not known to be at rest, now and later: what was called, since when it is so, and why. Empty:
    /// everything is at rest that nothing waits for. A call is refused while it collides with one of them
    /// ([`cortex_core::may_collide`]), until that confirms, its process ends, or a person has looked
    /// ([`resume`](Self::resume)).
    #[must_use]
    pub fn leftovers(&self) -> watch::Receiver<Arc<Vec<UnconfirmedHalt>>> {
        self.shared.borrow().leftovers.listed()
    }

    /// The process behind a component has ended, with all that it had started: what it was called for is at rest,
    /// except where its tool says that it may outlive the process. Like everything that the monitor says, this never
    /// waits.
    pub fn end_calls(&self, component: &ComponentName) {
        let shared = Arc::clone(&self.shared.borrow());
        for call in shared.leftovers.end_calls(component) {
            tracing::info!("{} is at rest: the process of {component} has ended", call.call.tool);
            shared.journal.end_call(&call);
        }
    }

    /// Which components have a process that is ended and started anew where they hang. The end of such a process is
    /// waited for, for a while, before a call of it counts as not at rest.
    pub fn supervise(&self, components: BTreeSet<ComponentName>) {
        self.shared.borrow().leftovers.supervise(components);
    }

    /// The bounds with which the next mission begins.
    #[must_use]
    pub fn limits(&self) -> MissionLimits {
        self.shared.borrow().config.limits.clone()
    }

    /// The tools on offer now.
    #[must_use]
    pub fn tools(&self) -> ToolSet {
        self.offer.borrow().tools.clone()
    }

    /// The events of all missions, from now on.
    #[must_use]
    pub fn events(&self) -> Events {
        self.events.newest()
    }

    /// All events after this one, which may be of an earlier life of Cortex: those that are kept no more are read back from the
    /// tapes.
    #[must_use]
    pub fn events_after(&self, seen: EventId) -> Events {
        self.events.after(seen)
    }

    /// The events of one mission, from its first one on: those that are kept no more are read back from its tape.
    #[must_use]
    pub fn follow(&self, mission: MissionId) -> Events {
        self.events.of_mission(mission)
    }

    /// The open questions to people, oldest first, and their changes. How much patience is left is as of the last change;
    /// [`open_questions`](Self::open_questions) says how much there is now.
    #[must_use]
    pub fn questions(&self) -> watch::Receiver<Arc<Vec<OpenQuestion>>> {
        self.shared.borrow().questions.watch()
    }

    /// The open questions to people as they are now, oldest first.
    #[must_use]
    pub fn open_questions(&self) -> Vec<OpenQuestion> {
        self.shared.borrow().questions.open_now()
    }

    /// Answers a question. The answer counts once this is `Ok`: it is given to the mission then.
    ///
    /// # Errors
    /// Why the answer does not count. Nothing has changed then.
    pub async fn answer(&self, question: QuestionId, answer: Answer, origin: Origin) -> Result<(), AnswerRefusal> {
        let questions = Arc::clone(&self.shared.borrow().questions);
        questions.answer(question, answer, origin).await
    }

    /// A person says that a mission which has ended did not do what was asked: its verification no longer counts, and a
    /// new mission with the same task, in the same session, gets the reason and the record. Answers with the new mission.
    ///
    /// # Errors
    /// Why the mission is not reopened.
    pub async fn dispute(
        &self,
        mission: MissionId,
        reason: String,
        origin: Origin,
    ) -> Result<MissionId, DisputeRefusal> {
        disputes::dispute(self, mission, reason, origin).await
    }

    /// The words for people (`~/output`), from now on.
    #[must_use]
    pub fn outputs(&self) -> broadcast::Receiver<String> {
        self.outputs.subscribe()
    }

    /// Refuses new tasks, ends every mission, and waits until nothing runs any more, at most `patience`. `true` if
    /// nothing was left running.
    pub async fn shut_down(&self, patience: Duration) -> bool {
        // The desk closes its inbox and ends after its missions; a closed desk has done so already.
        let _ = self.desk.send(DeskMessage::ShutDown).await;
        self.shared.borrow().robot_state.end();
        self.tracker.close();
        let at_rest = tokio::time::timeout(patience, self.tracker.wait()).await.is_ok();
        let journal = self.shared.borrow().journal.clone();
        journal.written().await;
        at_rest
    }
}
