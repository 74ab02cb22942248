//! Drives the mission machine on tokio.
//!
//! - [`Runtime`]: what clients hold: submit, cancel, stop, resume, watch; `availability`: what the monitor asks of it;
//! - `mission_queue`: the one actor that owns the queue of tasks, the stop latch and the tools on offer;
//! - `mission_task`: the actor of one running mission; `mission_request`: what it is asked to do;
//! - `client`: a call without a mission;
//! - `shared`: the state that all of them share;
//! - `calls`: the one way to make a call, for missions and clients; `resource_locks`: who holds what meanwhile;
//! - `risk_class`: which calls may be made although something may not be at rest;
//! - `dispatch`: one call of a tool, with its time-out, its cancellation and its one outcome;
//! - `control`: who has the controls, Cortex or a person; kept by the gate;
//! - [`Gate`]: which components may be called, and what is under way in each, decided in one place;
//! - `process_end`: calls that end with the process of their component;
//! - `conditions`: what is watched before, while and after a call;
//! - `journal`: what is open, for the next life of Cortex; `recovery`: ends at the start what an earlier one left;
//! - `unconfirmed_halts`: calls that are not known to be at rest, for the next stop;
//! - `meters`: what the robot spends while a mission runs;
//! - `not_written`: why the tape or the journal does not have something;
//! - `providers`: the registered providers of tools; `provider_handle`: the handle of each; `tool_registry`: their tools,
//!   merged;
//! - `questions`: the open questions to people, and the way of an answer to its mission;
//! - `robot_state`: what the rules of policy ask of the robot and of the time;
//! - `by_hand`: one tool, run by a person as a mission of its own;
//! - `ended_missions`: the missions that ended last; `disputes`: those that a person reopens;
//! - `mission_overviews`: the missions of an overview, from their events;
//! - `envelope`: what happens, as CloudEvents; `event_log`: the newest of them, for those who follow;
//! - `commands`: what clients ask for, carried out;
//! - [`RuntimeConfig`]: how it works; [`Settings`]: what may change while it runs;
//! - [`tape`]: the record of each mission: written before something moves, read back, replayed.
//!
//! Everything is spawned on one tracker and ends with [`Runtime::shut_down`].

mod availability;
mod by_hand;
mod calls;
mod client;
mod commands;
mod conditions;
mod config;
mod context;
mod control;
mod dispatch;
mod disputes;
mod dry_run;
mod ended_missions;
mod envelope;
mod event_log;
mod gate;
mod journal;
mod meters;
mod mission_overviews;
mod mission_queue;
mod mission_request;
mod mission_task;
mod not_written;
mod process_end;
mod provider_handle;
mod providers;
mod questions;
mod readiness;
mod recent_conversations;
mod recovery;
mod resource_locks;
mod risk_class;
mod robot_state;
mod settings;
mod shared;
mod spoken;
pub mod tape;
mod tool_registry;
mod unconfirmed_halts;

use std::sync::Arc;
use std::time::Duration;

use cortex_core::mission::Reopened;
use cortex_core::{ChatModel, MissionLimits, ToolProvider, ToolSet};
use cortex_protocol::overview::LostTask;
use cortex_protocol::{Answer, EventId, MissionId, OpenQuestion, Origin, QuestionId, StopOutcome, Submission};
use tokio::sync::{broadcast, mpsc, oneshot, watch};
use tokio_util::task::TaskTracker;

pub use crate::by_hand::ByHandRefusal;
pub use crate::conditions::run_call;
pub use crate::config::{QueuePolicy, RuntimeConfig};
pub use crate::context::ContextSources;
pub use crate::dispatch::CallBounds;
pub use crate::disputes::DisputeRefusal;
pub use crate::dry_run::DryRun;
use crate::event_log::EventLog;
pub use crate::event_log::Events;
pub use crate::gate::{CallListener, Gate};
pub use crate::journal::{JournalSettings, StopRecord};
pub use crate::meters::Meter;
pub use crate::mission_overviews::MissionOverviews;
pub use crate::mission_queue::{CallReadiness, MissionTicket, Place};
use crate::mission_queue::{MissionQueue, QueueMessage};
pub use crate::mission_request::RevisionRefusal;
use crate::mission_request::{Revision, Work};
pub use crate::mission_task::FEEDBACK;
pub use crate::provider_handle::ProviderHandle;
pub use crate::providers::ProviderId;
use crate::providers::Providers;
pub use crate::questions::AnswerRefusal;
pub use crate::readiness::{Readiness, Rejection};
pub use crate::settings::Settings;
use crate::shared::Shared;
pub use crate::spoken::SpokenText;
pub use crate::tape::TapeSettings;
pub use crate::tool_registry::ToolRegistry;
pub use crate::unconfirmed_halts::UnconfirmedHalt;

/// Messages that may wait for the mission queue. Clients wait when it is full; the mission queue never waits for anything slow.
const QUEUE_CAPACITY: usize = 256;
/// Sentences that may wait to be published.
const OUTPUTS: usize = 64;

/// Fixes what an earlier crash has torn.
fn fix(folder: &tape::Folder) {
    match folder.fix() {
        Ok(fixed) => fixed.iter().for_each(|mission| tracing::warn!("the tape of {mission} was torn; it is fixed")),
        Err(problem) => tracing::warn!("the tapes can't be looked through: {problem}"),
    }
}

/// A handle to the runtime. Clones share it.
#[derive(Clone)]
pub struct Runtime {
    mission_queue: mpsc::Sender<QueueMessage>,
    events: Arc<EventLog>,
    outputs: broadcast::Sender<SpokenText>,
    registry: watch::Receiver<Arc<ToolRegistry>>,
    shared: Arc<watch::Sender<Arc<Shared>>>,
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
            let folder = tape::Folder::new(tape.directory.clone());
            // A folder that can't be read is reported when a tape is written.
            envelope::continue_after(&folder.missions().unwrap_or_default());
            tracker.spawn_blocking(move || fix(&folder));
        }
        let journal = journal::Journal::new(config.journal.clone());
        let providers = Arc::new(Providers::default());
        let robot_state = robot_state::StateWatch::begin(&config.policy, &providers, &tracker);
        let shared = watch::Sender::new(Arc::new(Shared {
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
            lost_tasks: watch::Sender::default(),
        }));
        let first = Arc::clone(&shared.borrow());
        if first.journal.is_kept() {
            let mission_queue = mission_queue.clone();
            tracker.spawn(async move {
                // However it ends: tasks must not wait for ever.
                let _ = tokio::spawn(recovery::recover(first)).await;
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
        let message = QueueMessage::Submit { submission, place, work: Work::Task, reply };
        self.mission_queue.send(message).await.map_err(|_| Rejection::ShuttingDown)?;
        answer.await.unwrap_or(Err(Rejection::ShuttingDown))
    }

    /// Hands in a task anew whose mission a person disputes.
    pub(crate) async fn submit_reopening(
        &self,
        submission: Submission,
        reopens: Reopened,
    ) -> Result<MissionTicket, Rejection> {
        self.submit_work(submission, Work::Reopened(Box::new(reopens))).await
    }

    /// Hands in work of any kind, which waits for its turn if its kind waits.
    pub(crate) async fn submit_work(&self, submission: Submission, work: Work) -> Result<MissionTicket, Rejection> {
        let (reply, answer) = oneshot::channel();
        let message = QueueMessage::Submit { submission, place: Place::Last, work, reply };
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

    /// The tasks that an earlier life of Cortex did not bring to their end, as soon as they are known.
    #[must_use]
    pub fn lost_tasks(&self) -> watch::Receiver<Arc<Vec<LostTask>>> {
        self.shared.borrow().lost_tasks.subscribe()
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
    pub fn outputs(&self) -> broadcast::Receiver<SpokenText> {
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
