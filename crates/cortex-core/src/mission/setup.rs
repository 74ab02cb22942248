//! What a mission starts with: the task, the tools, and its bounds.

use std::collections::BTreeMap;
use std::time::Duration;

use cortex_protocol::{Origin, SessionId, TaskReading, Turn};
use serde::{Deserialize, Serialize};

use super::{Prices, Reopened};
use crate::availability::{Availability, RemovedTools};
use crate::policy::{Policy, RobotState};
use crate::toolset::ToolSet;

/// The bounds of one mission. Every one of them ends something that could otherwise go on for ever.
///
/// One that an older record does not know is the default.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct MissionLimits {
    /// Longest task, in bytes of UTF-8.
    pub max_task_bytes: usize,
    /// Turns of research and mistakes before a plan must be committed.
    pub max_planning_steps: u32,
    /// Steps of one plan; more are cut.
    pub max_execution_steps: u32,
    /// Steps that run at a time, goals in flight included.
    pub max_parallel_steps: usize,
    /// Further plans after the first.
    pub max_replans: u32,
    /// Rounds of a standing order: plans that were carried out without fulfilling it.
    pub max_rounds: u32,
    /// Requests to the model in all.
    pub max_model_calls: u32,
    /// Tokens read and written by the model in all. No bound where there is none.
    pub max_tokens: Option<u64>,
    /// What the tokens may cost. No bound where there is none.
    pub max_cost: Option<f64>,
    /// What tokens cost.
    pub prices: Prices,
    /// The same of models that answer in its place, by their labels.
    #[serde(default)]
    pub other_prices: BTreeMap<String, Prices>,
    /// The way that the robot may go, in metres. No bound where there is none.
    pub max_metres: Option<f64>,
    /// What may be taken from the battery, in watt-hours. No bound where there is none.
    pub max_watt_hours: Option<f64>,
    /// When the model is asked about a step.
    pub confirmation: ConfirmationMode,
    /// What a failed step that is not critical does to the rest of its plan.
    pub on_failure: OnFailure,
    /// Which arguments a confirmation may give a step that acts.
    pub confirmation_arguments: ConfirmationArguments,
    /// How often the model may give other arguments for one step whose call failed.
    pub max_corrections: u32,
    /// How often a step that only looks is tried again when its tool could not be reached, after pauses that grow.
    pub max_retries: u32,
    /// How long a plan that needs a tool which has left waits for it to come back.
    pub component_grace: Duration,
    /// How long a mission waits while all missions are paused. Then it fails.
    pub pause_patience: Duration,
    /// A goal that gives feedback again and again, and then gives none for so long, is halted and has failed; one that gives
    /// it seldom may be silent for longer. `None`: its own time alone bounds it.
    pub hung_after: Option<Duration>,
    /// A mission in which nothing happens for so long fails: no step ends, no goal gives feedback, the model gives no answer.
    /// `None`: [`max_duration`](Self::max_duration) alone bounds it.
    pub max_idle: Option<Duration>,
    /// How often the model may be asked about one step.
    pub max_confirmations_per_step: u32,
    /// From the start to the end.
    pub max_duration: Duration,
    /// How long a CONTINUE waits for an event before the model is asked again.
    pub continue_timeout: Duration,
    /// How long everything in flight has to halt. The dispatcher's own bound is shorter; this one guards against it.
    pub halt_timeout: Duration,
    /// How often feedback tells what is in flight.
    pub progress_interval: Duration,
    /// Without new feedback for so long, a goal that has given feedback counts as stalled.
    pub stall_after: Duration,
    /// Tools that a model is offered. Where there are more, it gets those that the task needs and a search for the rest.
    pub max_offered_tools: usize,
    /// Randomness of a plan or an answer, 0 to 2.
    pub planning_temperature: f32,
    /// Most tokens of a plan or an answer, what the model thinks included.
    pub planning_tokens: u32,
    /// Randomness of a decision on a step, and of other arguments for one, 0 to 2.
    pub confirmation_temperature: f32,
    /// Most tokens of such a decision.
    pub confirmation_tokens: u32,
    /// Longest planning conversation, in bytes of text; what is longer is compacted.
    pub max_conversation_bytes: usize,
    /// Methods that close what others opened; a cut plan keeps them.
    pub closing_methods: Vec<String>,
}

impl Default for MissionLimits {
    fn default() -> Self {
        Self {
            max_task_bytes: 16 * 1024,
            max_planning_steps: 10,
            max_execution_steps: 30,
            max_parallel_steps: 8,
            max_replans: 3,
            max_rounds: 10,
            max_model_calls: 200,
            max_tokens: None,
            max_cost: None,
            prices: Prices::default(),
            other_prices: BTreeMap::new(),
            max_metres: None,
            max_watt_hours: None,
            confirmation: ConfirmationMode::Always,
            on_failure: OnFailure::Stop,
            confirmation_arguments: ConfirmationArguments::AsPlanned,
            max_corrections: 1,
            max_retries: 2,
            component_grace: Duration::from_secs(10),
            pause_patience: Duration::from_secs(600),
            hung_after: Some(Duration::from_secs(120)),
            max_idle: Some(Duration::from_secs(1800)),
            max_confirmations_per_step: 8,
            max_duration: Duration::from_secs(3600),
            continue_timeout: Duration::from_secs(60),
            halt_timeout: Duration::from_secs(15),
            progress_interval: Duration::from_secs(1),
            stall_after: Duration::from_secs(10),
            max_offered_tools: 40,
            planning_temperature: 0.2,
            planning_tokens: 4_096,
            confirmation_temperature: 0.0,
            confirmation_tokens: 500,
            max_conversation_bytes: 200_000,
            closing_methods: vec!["end_episode".to_owned()],
        }
    }
}

/// When the model is asked whether a step shall run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Default)]
#[serde(rename_all = "snake_case")]
pub enum ConfirmationMode {
    /// Before each step.
    #[default]
    Always,
    /// Not for a step that only reads, while everything went as planned and no tool has changed.
    Adaptive,
}

/// What a failed step does to the rest of its plan. A critical one always ends it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Default)]
#[serde(rename_all = "snake_case")]
pub enum OnFailure {
    /// The plan ends, and what runs is halted.
    #[default]
    Stop,
    /// What waits for it is not run; the rest is. Then the mission plans for what is missing.
    Continue,
}

/// Which arguments a confirmation may give a step that acts. One that only looks may be given any that fit its schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Default)]
#[serde(rename_all = "snake_case")]
pub enum ConfirmationArguments {
    /// Those that were planned; where the plan has a placeholder, what the model fills in.
    #[default]
    AsPlanned,
    /// Any that fit the tool's schema.
    Any,
}

/// What a mission starts with.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MissionSetup {
    /// In plain language.
    pub task: String,
    /// What it asks for. Older tapes hold none, and replay as actions.
    #[serde(default)]
    pub reading: TaskReading,
    /// The conversation that it continues.
    pub session: Option<SessionId>,
    /// The earlier tasks of that conversation, oldest first.
    pub earlier: Vec<Turn>,
    /// The sources of what the robot has on record, by name. None: nothing is gathered.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub context_sources: Vec<String>,
    /// What the robot is, for the model. May be empty.
    pub identity: String,
    /// The tools of the robot.
    pub tools: ToolSet,
    /// What of them is kept from the missions.
    #[serde(default, rename = "containment", skip_serializing_if = "Availability::is_empty")]
    pub availability: Availability,
    /// Tools of components that have left before it began: what is away for a known reason may come back.
    #[serde(default, rename = "departed", skip_serializing_if = "RemovedTools::is_empty")]
    pub removed: RemovedTools,
    /// The bounds.
    pub limits: MissionLimits,
    /// What needs a person's leave. A record from before there was a policy has none.
    #[serde(default = "PolicySetup::none")]
    pub policy: PolicySetup,
    /// The mission that this one reopens, where a person disputes it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reopens: Option<Reopened>,
}

/// What of a mission needs a person's leave, and how people are asked.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PolicySetup {
    /// Which calls are allowed, which ask a person, and which are denied.
    pub policy: Policy,
    /// How people are asked.
    pub approval: ApprovalSettings,
    /// Who gave the task.
    pub origin: Origin,
    /// What the rules ask of the robot and of the time, at the beginning.
    #[serde(default)]
    pub state: RobotState,
}

impl Default for PolicySetup {
    /// The defaults of policy, for a task of nobody in particular.
    fn default() -> Self {
        Self {
            policy: Policy::default(),
            approval: ApprovalSettings::default(),
            origin: Origin::new("", ""),
            state: RobotState::default(),
        }
    }
}

impl PolicySetup {
    /// No policy, and no questions to people: an older record replays as it was.
    fn none() -> Self {
        let approval = ApprovalSettings { max_questions: 0, ..ApprovalSettings::default() };
        Self { policy: Policy::unrestricted(), approval, ..Self::default() }
    }
}

/// How people are asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ApprovalSettings {
    /// How long an answer may take. Then the default of the question counts: for approvals, no.
    pub deadline: Duration,
    /// How long an approval counts from the moment of the answer.
    pub valid: Duration,
    /// How often the model may ask a person in one mission.
    pub max_questions: u32,
}

impl Default for ApprovalSettings {
    fn default() -> Self {
        Self { deadline: Duration::from_secs(120), valid: Duration::from_secs(600), max_questions: 5 }
    }
}
