//! Drives the mission machine on tokio.
//!
//! - [`Runtime`]: what clients hold: submit, cancel, stop, resume, watch;
//! - `mission_queue`: the one actor that owns the queue of tasks, the stop latch and the tools on offer;
//! - `mission_task`: the actor of one running mission;
//! - `client`: a call without a mission;
//! - `calls`: the one way to make a call, for missions and clients; `resource_locks`: who holds what meanwhile;
//! - `dispatch`: one call of a tool, with its time-out, its cancellation and its one outcome;
//! - [`Gate`]: which components may be called, and what is under way in each, decided in one place;
//! - `process_end`: calls that end with the process of their component;
//! - `conditions`: what is watched before, while and after a call;
//! - `journal`: what is open, for the next life of Cortex; what an earlier one left is ended at the start;
//! - `unconfirmed_halts`: calls that are not known to be at rest, for the next stop;
//! - `meters`: what the robot spends while a mission runs;
//! - `not_written`: why the tape or the journal does not have something;
//! - `providers`: the registered providers of tools, each with its handle; `tool_registry`: their tools, merged;
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
mod client;
mod commands;
mod conditions;
mod dispatch;
mod disputes;
mod dry_run;
mod envelope;
mod event_log;
mod gate;
mod journal;
mod meters;
mod mission_queue;
mod mission_task;
mod not_written;
mod process_end;
mod providers;
mod questions;
mod readiness;
mod resource_locks;
mod robot_state;
mod sessions;
mod settings;
pub mod tape;
mod tool_registry;
mod unconfirmed_halts;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use cortex_core::mission::{Reopened, RevisionProblem};
use cortex_core::{ApprovalSettings, Availability, ChatModel, MissionLimits, Policy, ToolProvider, ToolSet};
use cortex_protocol::{
    Answer, ComponentName, EventId, MissionId, MissionResult, OpenQuestion, Origin, QuestionId, StopOutcome, Submission,
};
use thiserror::Error;
use tokio::sync::{broadcast, mpsc, oneshot, watch};
use tokio_util::task::TaskTracker;

pub use crate::dispatch::{CallBounds, run_call};
pub use crate::disputes::DisputeRefusal;
pub use crate::dry_run::DryRun;
use crate::event_log::EventLog;
pub use crate::event_log::Events;
pub use crate::gate::{CallListener, Gate};
pub use crate::journal::{JournalSettings, StopRecord};
pub use crate::meters::Meter;
pub use crate::mission_queue::CallReadiness;
use crate::mission_queue::{MissionQueue, QueueMessage};
use crate::mission_task::Revision;
use crate::providers::Providers;
pub use crate::providers::{ProviderHandle, ProviderId};
pub use crate::questions::AnswerRefusal;
pub use crate::readiness::{Readiness, Rejection};
pub use crate::settings::Settings;
pub use crate::tape::TapeSettings;
pub use crate::tool_registry::ToolRegistry;
pub use crate::unconfirmed_halts::UnconfirmedHalt;

/// Messages that may wait for the mission queue. Clients wait when it is full; the mission queue never waits for anything slow.
const QUEUE_CAPACITY: usize = 256;
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

/// Why a revision was not taken.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum RevisionRefusal {
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
    /// Revisions come faster than they can be taken.
    #[error("many revisions are under way; wait for their answers")]
    Busy,
    /// The mission does not take it.
    #[error("{reason}")]
    Refused {
        /// Why.
        reason: RevisionProblem,
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
    mission_queue: mpsc::Sender<QueueMessage>,
    events: Arc<EventLog>,
    outputs: broadcast::Sender<String>,
    registry: watch::Receiver<Arc<ToolRegistry>>,
    shared: Arc<watch::Sender<Arc<mission_task::Shared>>>,
    gate: Gate,
    call_readiness: watch::Receiver<CallReadiness>,
    readiness: watch::Receiver<Readiness>,
    tracker: TaskTracker,
}

impl Runtime {
    /// Starts the runtime on the current tokio runtime. Tools come with the providers that [`register`](Self::register).
    #[must_use]
    pub fn start(config: RuntimeConfig, model: Arc<dyn ChatModel>) -> Self {
        let (mission_queue, inbox) = mpsc::channel(QUEUE_CAPACITY);
        let tapes = config.tape.as_ref().map(|tape| tape::Folder::new(tape.directory.clone()));
        let events = Arc::new(EventLog::new(tapes));
        let (outputs, _) = broadcast::channel(OUTPUTS);
        let (registry_sender, registry) = watch::channel(Arc::new(ToolRegistry::default()));
        let gate = config.gate.clone();
        let (call_readiness_sender, call_readiness) = watch::channel(CallReadiness::default());
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
        let shared = watch::Sender::new(Arc::new(mission_task::Shared {
            journal,
            config,
            model,
            providers,
            events: Arc::clone(&events),
            outputs: outputs.clone(),
            registry: registry.clone(),
            availability: gate.availability(),
            tracker: tracker.clone(),
            resource_locks: Arc::default(),
            unconfirmed_halts: Arc::default(),
            questions: Arc::default(),
            ended: Arc::default(),
            robot_state,
        }));
        let first = Arc::clone(&shared.borrow());
        if first.journal.is_kept() {
            let mission_queue = mission_queue.clone();
            tracker.spawn(async move {
                // However it ends: tasks must not wait for ever.
                let _ = tokio::spawn(journal::recover(first)).await;
                // A mission queue that is closed needs not know.
                let _ = mission_queue.send(QueueMessage::Recovered).await;
            });
        }
        tracker.spawn(
            MissionQueue::new(shared.subscribe(), registry_sender, call_readiness_sender, readiness_sender).run(inbox),
        );
        Self {
            mission_queue,
            events,
            outputs,
            registry,
            shared: Arc::new(shared),
            gate,
            call_readiness,
            readiness,
            tracker,
        }
    }

    /// Registers a provider of tools, which stays until its handle is dropped. The handle offers its tools.
    pub fn register(&self, provider: Arc<dyn ToolProvider>) -> ProviderHandle {
        let providers = Arc::clone(&self.shared.borrow().providers);
        ProviderHandle::register(provider, providers, self.mission_queue.clone())
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
        let message = QueueMessage::Submit { submission, place, reopens: None, reply };
        self.mission_queue.send(message).await.map_err(|_| Rejection::ShuttingDown)?;
        answer.await.unwrap_or(Err(Rejection::ShuttingDown))
    }

    /// Hands in a task anew whose mission a person disputes.
    pub(crate) async fn submit_reopening(
        &self,
        submission: Submission,
        reopens: Reopened,
    ) -> Result<MissionTicket, Rejection> {
        let (reply, answer) = oneshot::channel();
        let message = QueueMessage::Submit { submission, place: Place::Last, reopens: Some(Box::new(reopens)), reply };
        self.mission_queue.send(message).await.map_err(|_| Rejection::ShuttingDown)?;
        answer.await.unwrap_or(Err(Rejection::ShuttingDown))
    }

    /// Whether the mission runs or waits.
    pub(crate) async fn is_open(&self, mission: &MissionId) -> bool {
        let (reply, answer) = oneshot::channel();
        let message = QueueMessage::IsOpen { mission: mission.clone(), reply };
        // A closed mission queue has none.
        self.mission_queue.send(message).await.is_ok() && answer.await.unwrap_or(false)
    }

    /// Ends one mission, running or waiting. `false` if there is none of that id. Does not wait for its end.
    pub async fn cancel(&self, mission: MissionId) -> bool {
        let (reply, answer) = oneshot::channel();
        if self.mission_queue.send(QueueMessage::Cancel { mission, reply }).await.is_err() {
            return false;
        }
        answer.await.unwrap_or(false)
    }

    /// Revises the task of a mission; `None` is the one that runs. What moves is halted, and the mission plans anew; this
    /// does not wait for it. Answers with the mission that was revised.
    ///
    /// # Errors
    /// Why the revision was not taken. Nothing has changed then.
    pub async fn revise(
        &self,
        mission: Option<MissionId>,
        text: String,
        origin: Origin,
    ) -> Result<MissionId, RevisionRefusal> {
        let (reply, answer) = oneshot::channel();
        let message = QueueMessage::Revise { mission: mission.clone(), revision: Revision { text, origin, reply } };
        self.mission_queue.send(message).await.map_err(|_| RevisionRefusal::ShuttingDown)?;
        // The mission ended before it came to the revision.
        answer.await.unwrap_or(Err(RevisionRefusal::NotRunning { mission }))
    }

    /// Halts everything, also what earlier missions left behind, and takes no task until [`resume`](Self::resume). Comes
    /// back when all is at rest, or the time to halt is over; names what did not halt.
    ///
    /// # Errors
    /// [`Rejection::ShuttingDown`] when nobody is there to stop anything: then nothing is known.
    pub async fn stop(&self) -> Result<StopOutcome, Rejection> {
        let (reply, answer) = oneshot::channel();
        self.mission_queue.send(QueueMessage::Stop { reply }).await.map_err(|_| Rejection::ShuttingDown)?;
        answer.await.map_err(|_| Rejection::ShuttingDown)
    }

    /// Ends every mission, as [`stop`](Self::stop) does, and refuses tasks with the reason until [`work`](Self::work). A
    /// stop that a person has latched stays latched.
    ///
    /// # Errors
    /// [`Rejection::ShuttingDown`], as [`stop`](Self::stop).
    pub async fn rest(&self, because: impl Into<String> + Send) -> Result<StopOutcome, Rejection> {
        let (reply, answer) = oneshot::channel();
        let message = QueueMessage::Rest { because: because.into(), reply };
        self.mission_queue.send(message).await.map_err(|_| Rejection::ShuttingDown)?;
        answer.await.map_err(|_| Rejection::ShuttingDown)
    }

    /// Takes tasks again after [`rest`](Self::rest). What a person has stopped stays stopped.
    pub async fn work(&self) {
        // A closed mission queue takes no tasks any more.
        let _ = self.mission_queue.send(QueueMessage::Work).await;
    }

    /// Whether tasks are taken now, and if not, why: a task that is handed in now is refused with the same words.
    #[must_use]
    pub fn readiness(&self) -> Readiness {
        let readiness = self.readiness.borrow().clone();
        readiness.limited_by(self.shared.borrow().unconfirmed_halts.names())
    }

    /// The same, now and later, but for calls that are not known to be at rest, which
    /// [`unconfirmed_halts`](Self::unconfirmed_halts) tells.
    #[must_use]
    pub fn watch_readiness(&self) -> watch::Receiver<Readiness> {
        self.readiness.clone()
    }

    /// The tapes of the missions. None: they are not recorded.
    #[must_use]
    pub fn tapes(&self) -> Option<tape::Folder> {
        self.shared.borrow().config.tape.as_ref().map(|tape| tape::Folder::new(tape.directory.clone()))
    }

    /// Changes what missions begin with from now on. The one that runs is not touched.
    pub fn reconfigure(&self, settings: Settings) {
        self.shared.send_modify(|shared| *shared = Arc::new(shared.with(settings)));
    }

    /// Takes tasks again, and forgets what did not confirm that it is at rest: a person has looked. `false` if nothing
    /// was refused because of a stop or of that.
    pub async fn resume(&self) -> bool {
        let (reply, answer) = oneshot::channel();
        if self.mission_queue.send(QueueMessage::Resume { reply }).await.is_err() {
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

    /// Lets the missions have a component again. A standby keeps its place until it is told otherwise.
    pub fn release(&self, component: &ComponentName) {
        self.gate.change(|now| now.release(component));
    }

    /// Gives a component's place to another (`None`: back to itself). While a standby has it, a call of
    /// `{component}.{method}` goes to `{standby}.{method}`, where that takes the same arguments and has the same effect; what
    /// has no such method can't be called.
    pub fn fail_over(&self, component: &ComponentName, by: Option<ComponentName>) {
        self.gate.change(|now| now.fail_over(component, by.as_ref()));
    }

    /// Begins no step any more, in any mission. What runs goes on to its end; tasks are taken, and wait. A task that has
    /// waited for [`MissionLimits::pause_patience`] fails with this reason.
    pub fn pause(&self, because: String) {
        self.gate.change(|now| now.pause(&because));
    }

    /// Goes on after a [`pause`](Self::pause).
    pub fn unpause(&self) {
        self.gate.change(Availability::unpause);
    }

    /// What is kept from the missions now.
    #[must_use]
    pub fn availability(&self) -> Availability {
        self.gate.availability().borrow().clone()
    }

    /// The tools on offer now, and what had to be left out.
    #[must_use]
    pub fn tool_registry(&self) -> Arc<ToolRegistry> {
        self.registry.borrow().clone()
    }

    /// The calls that are not known to be at rest, now and later: what was called, since when it is so, and why. Empty:
    /// everything is at rest that nothing waits for. A call is refused while it collides with one of them
    /// ([`cortex_core::may_collide`]), until that confirms, its process ends, or a person has looked
    /// ([`resume`](Self::resume)).
    #[must_use]
    pub fn unconfirmed_halts(&self) -> watch::Receiver<Arc<Vec<UnconfirmedHalt>>> {
        self.shared.borrow().unconfirmed_halts.listed()
    }

    /// The process behind a component has ended, with all that it had started: what it was called for is at rest,
    /// except where its tool says that it may outlive the process. Like everything that the monitor says, this never
    /// waits.
    pub fn end_calls(&self, component: &ComponentName) {
        let shared = Arc::clone(&self.shared.borrow());
        for call in shared.unconfirmed_halts.end_calls(component) {
            tracing::info!("{} is at rest: the process of {component} has ended", call.call.tool);
            shared.journal.end_call(&call);
        }
    }

    /// Which components have a process that is ended and started anew where they hang. The end of such a process is
    /// waited for, for a while, before a call of it counts as not at rest.
    pub fn supervise(&self, components: BTreeSet<ComponentName>) {
        self.shared.borrow().unconfirmed_halts.supervise(components);
    }

    /// The bounds with which the next mission begins.
    #[must_use]
    pub fn limits(&self) -> MissionLimits {
        self.shared.borrow().config.limits.clone()
    }

    /// The tools on offer now.
    #[must_use]
    pub fn tools(&self) -> ToolSet {
        self.registry.borrow().tools.clone()
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
        // The mission queue closes its inbox and ends after its missions; a closed mission queue has done so already.
        let _ = self.mission_queue.send(QueueMessage::ShutDown).await;
        self.shared.borrow().robot_state.end();
        self.tracker.close();
        let at_rest = tokio::time::timeout(patience, self.tracker.wait()).await.is_ok();
        let journal = self.shared.borrow().journal.clone();
        journal.written().await;
        at_rest
    }
}
