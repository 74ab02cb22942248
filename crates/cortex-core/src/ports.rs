//! What adapters implement. Small traits of our own types only.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use cortex_protocol::condition::Source;
use cortex_protocol::overview::Overview;
use cortex_protocol::{
    CallId, CloudEvent, Command, CommandError, CommandOutcome, EventId, HaltState, MissionId, OpenQuestion, Principal,
    RecordedMission, ToolCall, ToolFingerprint, ToolOutcome, ToolSpec,
};
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::chat::{ChatReply, ChatRequest};
use crate::condition::Observation;
use crate::control_port::ControlPort;
use crate::incident_port::IncidentPort;
use crate::log_port::LogPort;
use crate::memory_port::MemoryPort;
use crate::robot_port::RobotPort;
use crate::skill_port::SkillPort;

/// The one way in for clients, whatever they come by: ROS, a page, the command line.
#[async_trait]
pub trait ClientPort: Send + Sync + 'static {
    /// Waits until a task can be planned: the robot has been looked at. Dropping the future must be safe.
    ///
    /// # Errors
    /// When no task is to be handed in after all.
    async fn ready(&self) -> Result<(), CommandError>;

    /// Carries out a command. A task is answered once it was taken, a stop once everything is at rest or known not to be,
    /// and everything else at once.
    ///
    /// # Errors
    /// Why it was not carried out.
    async fn execute(&self, command: Command, principal: Principal) -> Result<CommandOutcome, CommandError>;

    /// The events of a mission, from its first one on.
    fn follow(&self, mission: &MissionId) -> Box<dyn EventStream>;

    /// The events of all missions: from now on, or all that came after the one that a client has seen last.
    fn events(&self, after: Option<EventId>) -> Box<dyn EventStream>;

    /// The open questions to people, oldest first. Answers at once.
    fn questions(&self) -> Vec<OpenQuestion>;
}

/// The port for clients that show the robot to people: the page, the HTTP API. Their [`Command::Stop`] and
/// [`Command::Resume`] go to the thread of the stop, as `~/stop` and `~/resume` do.
#[async_trait]
pub trait OperatorPort: ClientPort + ControlPort {
    /// The live status of Cortex and the robot, now and later.
    fn overviews(&self) -> Box<dyn OverviewStream>;

    /// The tools on offer, by name. Answers at once.
    fn tools(&self) -> Vec<ToolSpec>;

    /// The recorded missions, the newest first: at most `most` of those that began before the mission `before`, or of all.
    ///
    /// # Errors
    /// When the tapes can't be read, or there are none because nothing is recorded.
    async fn recorded(&self, before: Option<MissionId>, most: usize) -> Result<Vec<RecordedMission>, CommandError>;

    /// The last events of a mission before a place, in their order. None where the mission can't be read from its end: then
    /// [`follow`](ClientPort::follow) has all of them.
    ///
    /// # Errors
    /// When there is no such place, or the tape can't be read.
    async fn window(
        &self,
        _mission: &MissionId,
        _window: EventWindow,
    ) -> Result<Option<Vec<CloudEvent>>, CommandError> {
        Ok(None)
    }

    /// The file of a mission's tape, to be read as it is: JSON lines, each a CloudEvent.
    ///
    /// # Errors
    /// When there is no tape of that mission.
    fn tape(&self, mission: &MissionId) -> Result<PathBuf, CommandError>;

    /// The robot itself, where it can be looked at.
    fn robot(&self) -> Option<Arc<dyn RobotPort>> {
        None
    }

    /// The log of the robot's nodes, where it is read.
    fn node_log(&self) -> Option<Arc<dyn LogPort>> {
        None
    }

    /// What the robot remembers, where it does.
    fn memory(&self) -> Option<Arc<dyn MemoryPort>> {
        None
    }

    /// The skills of the robot, where it uses any.
    fn skills(&self) -> Option<Arc<dyn SkillPort>> {
        None
    }

    /// Who the robot is, in sentences for people: its name, its body, its places and its sensors. Empty: nothing is known.
    fn identity(&self) -> String {
        String::new()
    }

    /// What is kept for an incident, where there is a robot.
    fn incident(&self) -> Option<Arc<dyn IncidentPort>> {
        None
    }
}

/// Which events of a mission are wanted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EventWindow {
    /// Those before this event. None: the last ones.
    pub before: Option<EventId>,
    /// How many at most.
    pub most: usize,
    /// Which of those that only say how something in flight is getting on.
    pub progress: ProgressEvents,
}

/// Which events are wanted that only say how something in flight is getting on.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ProgressEvents {
    /// All of them.
    #[default]
    All,
    /// Those that no other one follows at once: what they say is not outdated before something else happens.
    Latest,
}

/// The live status, renewed whenever something changes and every few seconds. A slow reader gets the latest only.
#[async_trait]
pub trait OverviewStream: Send {
    /// The latest. Answers at once.
    fn latest(&self) -> Arc<Overview>;

    /// Waits for one that was not given yet; `None` when no more will come. Dropping the future loses nothing.
    async fn next(&mut self) -> Option<Arc<Overview>>;
}

/// Events, in order.
#[async_trait]
pub trait EventStream: Send {
    /// The next one; `None` after the last. Dropping the future loses nothing.
    async fn next(&mut self) -> Option<Arc<CloudEvent>>;

    /// How many events before the last one could not be had, and are to be shown as a gap.
    fn missed(&self) -> u64;
}

/// A model that plans and confirms. Implemented in `cortex-model`.
///
/// Dropping the returned future abandons the request: nothing may go on in the background. An implementation bounds
/// its own time and retries, and never acts on the robot.
#[async_trait]
pub trait ChatModel: Send + Sync {
    /// What it is, for people: `openai:gpt-4o`, `reflex`.
    fn label(&self) -> String;

    /// Whether tools cost it nothing, so that it is offered all of them.
    fn reads_every_tool(&self) -> bool {
        false
    }

    /// Begins what a first request would have to wait for, such as to load a file, and waits for it. A model that needs nothing
    /// of the kind does nothing. Dropping the future stops nothing.
    ///
    /// # Errors
    /// When it can't be got ready; a request would fail for the same reason.
    async fn prepare(&self) -> Result<(), ModelError> {
        Ok(())
    }

    /// Answers one request. The `listener` gets the text of the answer while it arrives, from models that stream; only the
    /// returned reply counts.
    ///
    /// # Errors
    /// When no usable answer can be had within the model's own bounds of time and retries.
    async fn chat_streaming(
        &self,
        request: &ChatRequest,
        listener: Arc<dyn ReplyListener>,
    ) -> Result<ChatReply, ModelError>;

    /// Answers one request, without a listener.
    ///
    /// # Errors
    /// When no usable answer can be had within the model's own bounds of time and retries.
    async fn chat(&self, request: &ChatRequest) -> Result<ChatReply, ModelError> {
        self.chat_streaming(request, Arc::new(NoListener)).await
    }
}

/// Gets the text of an answer while it arrives.
pub trait ReplyListener: Send + Sync {
    /// All text of the answer so far. A further attempt begins with other text.
    fn on_text(&self, so_far: &str);
}

/// A listener that ignores everything.
#[derive(Debug, Clone, Copy)]
pub struct NoListener;

impl ReplyListener for NoListener {
    fn on_text(&self, _: &str) {}
}

/// Why a model gave no usable answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Error)]
#[error("{message}")]
pub struct ModelError {
    /// A stable code.
    pub kind: ModelErrorKind,
    /// What happened, for a person; no secrets.
    pub message: String,
    /// What to do about it. May be empty.
    pub hint: String,
    /// How long the other side asks to wait, where it says so.
    pub retry_after: Option<Duration>,
}

/// Kinds of [`ModelError`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ModelErrorKind {
    /// The endpoint can't be reached.
    Unreachable,
    /// No answer in time.
    Timeout,
    /// Too many requests.
    RateLimited,
    /// The key is missing or refused.
    Unauthorized,
    /// The endpoint refuses the request; asking again will not help.
    Refused,
    /// The endpoint failed.
    ServerFailed,
    /// The answer can't be read.
    BadReply,
    /// The answer is not whole: it was cut, or a part of it was withheld.
    CutReply,
}

/// How long a confirmed call that acts may have waited, for what others hold or for its turn at its service, and still
/// begin. After that it is confirmed anew.
pub const CONFIRMATION_HOLDS: Duration = Duration::from_secs(10);

/// One call on its way to a provider.
#[derive(Debug, Clone, PartialEq)]
pub struct Invocation {
    /// For which mission.
    pub mission: MissionId,
    /// Which of its calls.
    pub id: CallId,
    /// What is called. The arguments fit the tool's schema.
    pub call: ToolCall,
    /// The version of the tool that the call was made for. A provider whose tool has changed since refuses it with
    /// [`FailureKind::Changed`](cortex_protocol::FailureKind::Changed).
    pub fingerprint: ToolFingerprint,
    /// How long it may take; the caller enforces it, the provider may use it.
    pub timeout: Duration,
}

/// What a provider tells of a running call. Cheap, never blocks.
pub trait CallObserver: Send + Sync {
    /// It was accepted and goes on. A step whose tool has [`Dispatch::Background`](cortex_protocol::Dispatch::Background)
    /// lets the next one be confirmed then, and not before.
    fn accepted(&self);

    /// How it is getting on. The latest wins.
    fn progressed(&self, feedback: String);
}

/// Nobody watches the call.
#[derive(Debug, Clone, Copy, Default)]
pub struct Unobserved;

impl CallObserver for Unobserved {
    fn accepted(&self) {}

    fn progressed(&self, _feedback: String) {}
}

/// Something that offers tools: the ROS graph, a plugin host, a built-in set.
///
/// The caller (`cortex-runtime`) owns time-outs and cancellation: it drops the future of [`invoke`](Self::invoke) only
/// after [`halt`](Self::halt) has ended or run out of time.
#[async_trait]
pub trait ToolProvider: Send + Sync {
    /// What it is, for people and the record: `ros`.
    fn label(&self) -> String;

    /// Carries out one call to its end. Must not panic, and must end when its component is gone. Dropping the future
    /// must be safe at any point.
    async fn invoke(&self, invocation: Invocation, observer: Arc<dyn CallObserver>) -> ToolOutcome;

    /// Makes what the call started come to rest, and says whether it did. Called at most a few times for a call,
    /// while it runs or after it was given up. The caller bounds the wait.
    async fn halt(&self, invocation: &Invocation) -> HaltState;

    /// Resolves when a call that was given up has come to its end after all, as its late answer says. Where that can't
    /// be known, never.
    async fn ended(&self, _invocation: &Invocation) {
        std::future::pending::<()>().await;
    }

    /// Makes a call come to rest that an earlier life of this process made, and says whether it did. The mission, the id and
    /// the name of the tool are all that is known of it. The caller bounds the wait.
    async fn end_earlier(&self, _invocation: &Invocation) -> HaltState {
        HaltState::Unconfirmed
    }

    /// Whether it has others carry its calls out that reach components, each of which passes the gate in front of the
    /// components once more.
    fn has_others_call(&self) -> bool {
        false
    }

    /// How the conditions of its tools are checked.
    fn watching(&self) -> Watching {
        Watching::Nobody
    }
}

/// How the conditions of a provider's tools are checked.
#[derive(Clone)]
pub enum Watching {
    /// By watching what they are about.
    By(Arc<dyn ConditionSource>),
    /// They can't be: nothing that has conditions is called.
    Nobody,
    /// They need not be: nothing is really done.
    Rehearsal,
}

/// Watches the robot: topics, parameters, components.
#[async_trait]
pub trait ConditionSource: Send + Sync {
    /// Begins to watch. What is seen first comes as soon as it is known; also that nobody is there to tell something.
    async fn watch(&self, sources: BTreeSet<Source>) -> Box<dyn ObservationStream>;

    /// Why what this source tells is no evidence that this call did what it says, if it is none: it only repeats what
    /// the call itself has said.
    fn echo(&self, source: &Source, call: &ToolCall) -> Option<String>;
}

/// A watch under way. Dropping it ends it.
#[async_trait]
pub trait ObservationStream: Send {
    /// What is seen next. Of each source only the latest is kept for a slow reader. Never ends by itself: where nothing
    /// can be seen any more, it says that everything is absent, and waits. Dropping the future loses nothing.
    async fn next(&mut self) -> (Source, Observation);
}
