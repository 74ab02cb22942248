//! The live status of a Cortex, on one screen: published as JSON on `~/overview`, latched, and shown by `cortex status`.
//!
//! Times are milliseconds since 1970 by the clock of Cortex's machine, not ages, so that nothing changes while nothing
//! happens.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::mission::Expense;
use crate::{ComponentName, Control, MissionId, MissionStatus, StepNumber, StepStatus, ToolName};

/// The version of this form. It changes when a reader of an earlier one would be misled; fields may be added without.
pub const OVERVIEW_VERSION: u32 = 1;

/// Everything.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Overview {
    /// [`OVERVIEW_VERSION`].
    pub version: u32,
    /// When it was true. Renewed every few seconds also when nothing else has changed.
    pub at_ms: u64,
    /// Since when Cortex runs.
    pub started_ms: u64,
    /// The robot's name.
    pub robot: String,
    /// The fully qualified name of Cortex's node.
    pub node: String,
    /// The state of that node's lifecycle, as ROS names it: `active`, `inactive`, `unconfigured`. Empty: it has none, or the
    /// version of Cortex that tells does not say it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub lifecycle: String,
    /// How many tools are on offer.
    pub tools: u32,
    /// Whether the robot takes tasks.
    #[serde(default)]
    pub readiness: ReadinessOverview,
    /// Whether the robot is stopped.
    pub stop: StopOverview,
    /// The model.
    pub model: ModelOverview,
    /// The components, by name. Of a recipe, or else those that were found.
    pub components: Vec<ComponentOverview>,
    /// Why missions wait, if they are paused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub paused: Option<String>,
    /// Who has the controls: Cortex itself, or a person.
    #[serde(default, skip_serializing_if = "Control::is_untouched")]
    pub control: Control,
    /// The missions that run and wait, in order, and the last ones that have ended, the latest last.
    pub missions: Vec<MissionOverview>,
    /// What was sent to the robot and is not answered, the oldest first. Whoever called it waits for the answer.
    pub calls: Vec<CallOverview>,
    /// Calls that nobody waits for any more, and that did not confirm that they are at rest, the oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unsettled: Vec<UnsettledOverview>,
    /// What the mission that runs has spent.
    pub budget: Vec<BudgetOverview>,
    /// What watches Cortex itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub watchdog: Option<WatchdogOverview>,
    /// The recording that this is. None: this is a robot.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recording: Option<RecordingOverview>,
    /// Where the page for people is. None: there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page: Option<String>,
    /// Tasks that did not end before an earlier life of Cortex did: nobody carries them out any more.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lost: Vec<LostTask>,
}

/// A recorded mission that is shown as if it happened now: no robot is connected, and nothing moves.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RecordingOverview {
    /// The mission that was recorded. Each round shows it as a mission of its own.
    pub mission: MissionId,
    /// When it was recorded: RFC 3339, UTC.
    pub time: String,
    /// How much faster than it was recorded it is shown.
    pub speed: f64,
    /// Why the rest of it is not shown. Empty: all of it is.
    pub cut: String,
}

/// A task that did not end before an earlier life of Cortex did.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LostTask {
    /// Its mission.
    pub mission: MissionId,
    /// What was asked for, cut.
    pub task: String,
}

/// Whether the robot takes tasks, and if not, why and what to do: the words with which a task is refused.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ReadinessOverview {
    /// In one word.
    pub state: ReadinessState,
    /// Why it is not ready, and what to do. Empty where it is.
    pub because: String,
}

/// See [`ReadinessOverview`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ReadinessState {
    /// It takes tasks.
    Ready,
    /// It takes tasks, and refuses some calls.
    Limited,
    /// It takes tasks, and they wait.
    Waiting,
    /// It takes no tasks.
    Refusing,
    /// The version of Cortex that tells does not say it.
    #[default]
    Unknown,
}

impl std::fmt::Display for ReadinessOverview {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(match self.state {
            ReadinessState::Ready => "takes tasks",
            ReadinessState::Limited => "takes tasks, with limits",
            ReadinessState::Waiting => "takes tasks, and they wait",
            ReadinessState::Refusing => "takes no tasks",
            ReadinessState::Unknown => "does not say whether it takes tasks",
        })?;
        if self.because.is_empty() { Ok(()) } else { write!(formatter, ": {}", self.because) }
    }
}

/// Whether the robot is stopped.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StopOverview {
    /// Whether it is: nothing is sent until `~/resume`.
    pub stopped: bool,
    /// How often it was since Cortex runs.
    pub stops: u64,
    /// Why, the last time. Empty: it never was.
    pub why: String,
    /// What did not confirm, the last time, that it is at rest.
    pub not_stopped: Vec<ToolName>,
}

/// The model.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ModelOverview {
    /// Which: `reflex`, `openai:gpt-4o`.
    pub name: String,
    /// Requests so far.
    pub requests: u64,
    /// Those that got no usable answer.
    pub errors: u64,
    /// Tokens that it read; estimated where it does not report them.
    pub prompt_tokens: u64,
    /// Tokens that it wrote; estimated where it does not report them.
    pub completion_tokens: u64,
    /// Whether any of the tokens are an estimate.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub tokens_estimated: bool,
    /// The last error, and when it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_error: Option<ModelErrorOverview>,
    /// The models of a chain that did not answer when they were wanted last, and which have in their place.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub standbys: Vec<StandbyModelOverview>,
    /// The model that plans along without acting, and what it said of the plans. None: none has said anything.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub second: Option<SecondModelOverview>,
}

/// A model that plans along without acting. Plans with nothing to compare, because one of the two does not act, are not
/// counted.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SecondModelOverview {
    /// Which.
    pub name: String,
    /// Plans that it would have made in the same way.
    pub same: u64,
    /// Plans that it would have made otherwise.
    pub otherwise: u64,
    /// Plans to which it gave no answer in time.
    pub unanswered: u64,
    /// How it would have made the last of those otherwise, in words; empty if there is none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub last_otherwise: String,
}

/// A model that answers in place of another one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StandbyModelOverview {
    /// The one that is asked first.
    pub wanted: String,
    /// The one that answers.
    pub model: String,
    /// Why the first does not.
    pub because: String,
}

/// An error of the model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ModelErrorOverview {
    /// What happened.
    pub message: String,
    /// When.
    pub at_ms: u64,
    /// Whether a later request was answered.
    pub is_over: bool,
}

/// How a component is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ComponentHealth {
    /// It works.
    Healthy,
    /// Nothing is known yet, or it is not wanted.
    Unknown,
    /// Something is odd.
    Suspect,
    /// It fails.
    Failed,
    /// It says nothing any more.
    Silent,
}

impl std::fmt::Display for ComponentHealth {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.pad(match self {
            Self::Healthy => "healthy",
            Self::Unknown => "unknown",
            Self::Suspect => "suspect",
            Self::Failed => "failed",
            Self::Silent => "silent",
        })
    }
}

/// A component.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ComponentOverview {
    /// Which.
    pub name: ComponentName,
    /// How it is.
    pub health: ComponentHealth,
    /// Where it stands: `up`, `quarantined`, `starting`, `recovering`, `given up`, `ready`.
    pub standing: String,
    /// The state of its lifecycle. Empty: it has none, or it is not known.
    pub lifecycle: String,
    /// What is wrong with it, the worst first, in words.
    pub symptoms: Vec<String>,
    /// Attempts to fix it that still count: they are forgiven one by one while it works.
    pub attempts: u32,
    /// How often its process was started again since Cortex runs.
    pub restarts: u32,
    /// What it needs, by the recipe.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub depends_on: Vec<ComponentName>,
    /// Who takes its place when it fails, by the recipe.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub standby: Option<ComponentName>,
    /// Because of whose failure it is in quarantine: nothing of it is called. None: it is not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quarantine_cause: Option<ComponentName>,
}

/// A mission.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MissionOverview {
    /// Which.
    pub id: MissionId,
    /// What it is for, cut.
    pub task: String,
    /// Where it stands: `queued`, `planning`, `acting`, `stopping`, or how it has ended.
    pub phase: MissionPhase,
    /// When its task was taken.
    pub since_ms: u64,
    /// When it has ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_ms: Option<u64>,
    /// Which plan is carried out, from 1. 0: none yet.
    pub plan: u32,
    /// The steps of that plan, in order, as many as are shown.
    pub steps: Vec<StepOverview>,
    /// Steps of the plan that are not listed.
    pub more_steps: u32,
    /// What it said at its end, cut.
    pub output: String,
    /// Whether it ended with words alone, and its task asks for more than words.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub words_alone: bool,
}

/// Where a mission stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum MissionPhase {
    /// It waits for others.
    Queued,
    /// The model is asked for a plan.
    Planning,
    /// The plan is carried out.
    Acting,
    /// It waits for a component, or for a person who paused the robot or has the controls.
    Waiting,
    /// What is in flight is being halted.
    Stopping,
    /// It has ended.
    Ended(MissionStatus),
}

/// A step.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StepOverview {
    /// Its number in the plan.
    pub number: StepNumber,
    /// What it calls.
    pub tool: ToolName,
    /// Where it stands.
    pub status: StepStatus,
}

/// A call that is not answered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CallOverview {
    /// What was called.
    pub tool: ToolName,
    /// `goal`, `method` or `request`.
    pub kind: String,
    /// Since when.
    pub since_ms: u64,
}

/// A call that did not confirm that it is at rest.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct UnsettledOverview {
    /// What was called.
    pub tool: ToolName,
    /// Since when nobody waits for it.
    pub since_ms: u64,
    /// Why it is not known to be at rest.
    pub why: String,
}

/// What is spent of something.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BudgetOverview {
    /// Of what.
    pub expense: Expense,
    /// How much.
    pub used: f64,
    /// How much may be. None: there is no bound.
    pub limit: Option<f64>,
}

/// What watches Cortex itself.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WatchdogOverview {
    /// How long a loop may hang, in seconds.
    pub limit_s: f64,
    /// The loops that it watches.
    pub loops: Vec<String>,
}

impl Overview {
    /// The state of Cortex' lifecycle where it is another than `active`: then no tasks are taken.
    #[must_use]
    pub fn inactive(&self) -> Option<&str> {
        Some(self.lifecycle.as_str()).filter(|state| !matches!(*state, "" | "active"))
    }

    /// The JSON Schema of an overview.
    #[must_use]
    pub fn schema() -> serde_json::Value {
        serde_json::to_value(schemars::schema_for!(Self)).unwrap_or_default()
    }
}
