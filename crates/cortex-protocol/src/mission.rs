//! What happens in a mission, and how it ends.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::execution::{ExecutionReport, StepTiming};
use crate::{
    CallId, ComponentName, HaltState, MissionId, Origin, Plan, ResourceName, SessionId, StepAddress, StepNumber,
    StepStatus, TaskClass, ToolName, ToolOutcome, Verification,
};

/// What a second model says of a plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PlanOpinion {
    /// It would act in the same way.
    Same,
    /// It would act otherwise.
    Other,
    /// It gave no answer in time.
    NoAnswer,
}

/// What the confirmation of a step decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Decision {
    /// Run the step.
    Execute,
    /// Leave the step out and go on.
    Skip,
    /// End the plan.
    Abort,
    /// Wait for what is in flight, then decide again.
    Continue,
}

impl std::fmt::Display for Decision {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(match self {
            Self::Execute => "EXECUTE",
            Self::Skip => "SKIP",
            Self::Abort => "ABORT",
            Self::Continue => "CONTINUE",
        })
    }
}

/// How a mission ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum MissionStatus {
    /// Words came of it, and no plan was carried out. A success only where words are what the task asks for.
    Answered,
    /// A plan was carried out to its end.
    Succeeded,
    /// It was not; the output says why.
    Failed,
    /// Someone ended it.
    Cancelled,
}

impl std::fmt::Display for MissionStatus {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(match self {
            Self::Answered => "ANSWERED",
            Self::Succeeded => "SUCCEEDED",
            Self::Failed => "FAILED",
            Self::Cancelled => "CANCELLED",
        })
    }
}

/// What a mission has spent.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema, Default)]
pub struct Usage {
    /// Requests sent to a model.
    pub model_calls: u32,
    /// Tokens read by the model; estimated where it does not report them.
    pub prompt_tokens: u64,
    /// Tokens written by the model; estimated where it does not report them.
    pub completion_tokens: u64,
    /// Whether any of the tokens, and so of the cost, are an estimate: a quarter of the bytes.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub tokens_estimated: bool,
    /// What the tokens cost, in the currency of the configured prices. 0 where there are none.
    pub cost: f64,
    /// The way that the robot went, in metres, where the configuration names its odometry.
    #[serde(default)]
    pub metres: f64,
    /// What was taken from the battery, in watt-hours, where the configuration names its topic.
    #[serde(default)]
    pub watt_hours: f64,
}

/// What a mission spends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Expense {
    /// Requests to a model.
    ModelCalls,
    /// Tokens read and written by a model.
    Tokens,
    /// What the tokens cost.
    Money,
    /// Time.
    Seconds,
    /// The way that the robot goes.
    Metres,
    /// What is taken from the battery.
    WattHours,
}

impl std::fmt::Display for Expense {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(match self {
            Self::ModelCalls => "requests to the model",
            Self::Tokens => "tokens",
            Self::Money => "units of money for the model",
            Self::Seconds => "seconds",
            Self::Metres => "metres",
            Self::WattHours => "watt-hours",
        })
    }
}

/// An argument that a confirmation gave another value than the plan.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ArgumentChange {
    /// Where it is within the arguments: `place`, `pose.x`, `names.0`.
    pub argument: String,
    /// What was planned. None: it was not given.
    pub from: Option<Value>,
    /// What was decided. None: it is left out.
    pub to: Option<Value>,
}

/// What became of one step.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StepReport {
    /// Counts the plans of the mission from 1; a replan is the next.
    pub plan: u32,
    /// The step's number in its plan.
    pub number: StepNumber,
    /// What was called, or would have been.
    pub tool: ToolName,
    /// With what, placeholders resolved where they were.
    pub arguments: Map<String, Value>,
    /// With what it was planned, where that held placeholders. Empty: as called.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub planned: Map<String, Value>,
    /// The steps of earlier plans that it does the work of, as the model says.
    pub instead_of: Vec<StepAddress>,
    /// Where it stands.
    pub status: StepStatus,
    /// What the call returned, once it has ended.
    pub outcome: Option<ToolOutcome>,
    /// Why it was skipped, blocked or refused. Empty otherwise.
    pub note: String,
    /// How long it ran.
    pub duration: Option<Duration>,
    /// Where its time went.
    #[serde(default)]
    pub timing: StepTiming,
    /// Whether a person revised the task before it was done: what it was for may be wanted no more.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub overtaken: bool,
    /// Whether a person paused the robot or took the controls before it was done: it ended for no fault of its own.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub interrupted: bool,
    /// The standby's tool that really did it, where the tool's own component had a standby.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<ToolName>,
    /// What is known of what it did, once it has ended. None where it never began.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verification: Option<Verification>,
}

/// The one result of a mission.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MissionResult {
    /// How it ended.
    pub status: MissionStatus,
    /// What kind of thing the task was taken for.
    #[serde(default)]
    pub class: TaskClass,
    /// The answer, or the reason, for a person. Its last line is [`account`](Self::account).
    pub output: String,
    /// One line in the machine's own words of what was done and looked at, made from the record alone. Empty on tapes
    /// that were recorded before there was one.
    #[serde(default)]
    pub account: String,
    /// Whether nothing but words came of a task that asks for more than words.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub words_alone: bool,
    /// Every step of every plan, in order.
    pub steps: Vec<StepReport>,
    /// How the steps were carried out.
    #[serde(default)]
    pub execution: ExecutionReport,
    /// How a person revised the task while it was carried out, in order.
    #[serde(default, alias = "corrections", skip_serializing_if = "Vec::is_empty")]
    pub revisions: Vec<String>,
    /// Tools whose halt was not confirmed: something may still be moving.
    pub not_stopped: Vec<ToolName>,
    /// What was spent.
    pub usage: Usage,
    /// From acceptance to the end.
    pub duration: Duration,
}

/// A mission that was recorded, in a few words.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RecordedMission {
    /// Which.
    pub mission: MissionId,
    /// When it began: RFC 3339, UTC.
    pub time: String,
    /// What was to be done.
    pub task: String,
    /// Where it stands.
    pub state: RecordedState,
    /// Whether it was rehearsed: what acts was not called.
    pub dry_run: bool,
}

/// Where a recorded mission stands, as far as its tape says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "state", content = "status", rename_all = "snake_case")]
pub enum RecordedState {
    /// It is being recorded.
    Running,
    /// The tape breaks off: Cortex ended before the mission did, or could not write.
    BrokenOff,
    /// It has ended so.
    Ended(MissionStatus),
    /// It has ended so, and a person says that it did not do what was asked.
    Disputed(MissionStatus),
    /// Its tape can't be read.
    Unreadable,
}

/// One task of a conversation and what came of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Turn {
    /// In plain language.
    pub task: String,
    /// Whether some of its words are missing: it was long, or something in it was forgotten. Such a task is not repeated.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_cut: bool,
    /// The answer, or the reason.
    pub output: String,
    /// How it ended.
    pub status: MissionStatus,
}

impl MissionResult {
    /// The [`account`](Self::account) of a task in which no tool was called.
    pub const NOTHING_DONE: &str = "Nothing was done, nothing was looked at.";

    /// Whether the person got what was asked for. Words are that only where words are all that is asked for.
    #[must_use]
    pub fn is_success(&self) -> bool {
        match self.status {
            MissionStatus::Answered => !self.words_alone,
            MissionStatus::Succeeded => true,
            MissionStatus::Failed | MissionStatus::Cancelled => false,
        }
    }

    /// The output without the account: what the model said, or the reason.
    #[must_use]
    pub fn words(&self) -> &str {
        self.output.strip_suffix(self.account.as_str()).unwrap_or(&self.output).trim_end()
    }
}

/// A goal in flight, as feedback and prompts show it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct InFlight {
    /// Which call.
    pub call: CallId,
    /// For which step, unless it is research.
    pub step: Option<StepNumber>,
    /// Which tool.
    pub tool: ToolName,
    /// For how long.
    pub age: Duration,
    /// The latest feedback. Empty if there was none.
    pub feedback: String,
    /// For how long there was no new feedback, once that is worth a warning.
    pub stalled: Option<Duration>,
}

/// Something that happened in a mission. In the order of a mission's life.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[non_exhaustive]
pub enum MissionEvent {
    /// The task was taken.
    Accepted {
        /// In plain language.
        task: String,
        /// The conversation that it continues.
        session: Option<SessionId>,
    },
    /// The task waits for others.
    Queued {
        /// How many are before it.
        ahead: u32,
    },
    /// What kind of thing the task is taken for.
    Classified {
        /// Which.
        class: TaskClass,
    },
    /// A model is asked for a plan.
    Planning {
        /// From 1, within the current plan.
        turn: u32,
        /// Which plan, from 1.
        plan: u32,
    },
    /// What the robot has on record for the task was gathered for the planner.
    ContextGathered {
        /// Where each passage stands, as people cite it.
        found: Vec<String>,
        /// The sources that could not be asked.
        missing: Vec<String>,
        /// The names of the skills that fired, the first of which is followed where the task is a sentence of it.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        skills: Vec<String>,
    },
    /// There are more tools than the model is offered; these are.
    ToolsOffered {
        /// What it is offered, in order.
        offered: Vec<ToolName>,
        /// What it is not, in order.
        left_out: Vec<ToolName>,
    },
    /// The conversation with the model had become too long and was shortened.
    Compacted {
        /// Bytes of text before.
        before: u64,
        /// And after.
        after: u64,
    },
    /// A planning tool is called.
    Researching {
        /// Which call.
        call: CallId,
        /// Which tool.
        tool: ToolName,
        /// With what.
        arguments: Map<String, Value>,
    },
    /// A planning tool has answered.
    Researched {
        /// Which call.
        call: CallId,
        /// Which tool.
        tool: ToolName,
        /// What came of it.
        outcome: ToolOutcome,
    },
    /// What the model asked for can't be done as it stands; the model is told.
    ModelMistake {
        /// What was wrong.
        problem: String,
    },
    /// An answer is arriving. The result has all of it.
    Answering {
        /// The words that have arrived since the last such event.
        words: String,
    },
    /// Another model answers than before.
    ModelChanged {
        /// Which answers now.
        model: String,
        /// Which is asked first.
        wanted: String,
        /// Why that one does not answer; empty if it does again.
        because: String,
    },
    /// Another reader of the task, which costs nothing, would not have made this plan.
    PlanDoubted {
        /// Which plan.
        plan: u32,
        /// What it reads, and what the plan has.
        reason: String,
    },
    /// A second model, which plans along and never acts, was asked for the same plan.
    PlanCompared {
        /// Which model.
        model: String,
        /// What it says of the plan.
        opinion: PlanOpinion,
        /// How it would act otherwise, or why it gave no answer. Empty where it would act in the same way.
        told: String,
    },
    /// A plan was committed.
    Planned {
        /// Which plan, from 1.
        plan: u32,
        /// The steps.
        steps: Plan,
        /// Steps that were cut because the plan was too long.
        cut: Vec<ToolName>,
    },
    /// A step was decided upon.
    Decided {
        /// Which step.
        step: StepNumber,
        /// Out of how many.
        steps: u32,
        /// Which tool.
        tool: ToolName,
        /// What was decided.
        decision: Decision,
        /// Why, where that is known. Empty otherwise.
        reason: String,
        /// What is in flight.
        in_flight: Vec<InFlight>,
        /// The arguments that it gave other values than the plan.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        changes: Vec<ArgumentChange>,
    },
    /// A person is asked. Nothing else waits for a model meanwhile.
    Asked {
        /// What.
        question: crate::Question,
    },
    /// A question has ended.
    QuestionEnded {
        /// Which.
        number: crate::QuestionNumber,
        /// How.
        outcome: crate::QuestionOutcome,
    },
    /// Policy denies a call, or a person does.
    PolicyDenied {
        /// Which step.
        step: StepNumber,
        /// What would have been called.
        tool: ToolName,
        /// Why.
        reason: String,
    },
    /// A person says that a mission which had ended did not do what was asked; it is reopened as this one.
    Disputed {
        /// The mission that is disputed.
        mission: crate::MissionId,
        /// In the person's words.
        reason: String,
        /// Who says so.
        origin: Origin,
    },
    /// A step's call failed; the model is asked for other arguments.
    Correcting {
        /// Which.
        step: StepNumber,
        /// What was called.
        tool: ToolName,
        /// Counts from 1.
        attempt: u32,
        /// What the tool said.
        problem: String,
    },
    /// A step's tool could not be reached; it is tried again.
    Retrying {
        /// Which.
        step: StepNumber,
        /// What is called.
        tool: ToolName,
        /// Why it failed before.
        problem: String,
    },
    /// Most of a budget is spent.
    BudgetWarning {
        /// Of what.
        expense: Expense,
        /// How much is spent.
        used: f64,
        /// How much may be.
        limit: f64,
        /// Whether what is spent is an estimate.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        estimated: bool,
    },
    /// What a budget is measured by says nothing, so that nothing may move.
    MeterSilent {
        /// Of what.
        expense: Expense,
    },
    /// A step could begin if another did not hold what it needs; it begins after that.
    Conflict {
        /// Which.
        step: StepNumber,
        /// What it would call.
        tool: ToolName,
        /// What both need.
        resource: ResourceName,
        /// The step that holds it. None for research.
        holder: Option<StepNumber>,
    },
    /// A step's call was dispatched.
    StepStarted {
        /// Which call.
        call: CallId,
        /// Which step.
        step: StepNumber,
        /// Out of how many.
        steps: u32,
        /// Which tool.
        tool: ToolName,
        /// The standby's tool that is really called, where the tool's own component has a standby.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<ToolName>,
        /// With what, placeholders resolved.
        arguments: Map<String, Value>,
    },
    /// Something is still in flight.
    Progress {
        /// What.
        in_flight: Vec<InFlight>,
    },
    /// A step has ended.
    StepFinished {
        /// Out of how many.
        steps: u32,
        /// What became of it.
        report: StepReport,
    },
    /// The plan ended early and is made anew.
    Replanning {
        /// Which plan comes, from 2.
        plan: u32,
        /// Why.
        reason: String,
    },
    /// Tools that the mission needs have left; it waits for them to come back.
    ComponentMissing {
        /// Which, in order.
        tools: Vec<ToolName>,
        /// For how long, at most.
        patience: Duration,
    },
    /// Tools that the mission waited for are back.
    ComponentReturned {
        /// Which, in order.
        tools: Vec<ToolName>,
    },
    /// Nothing of a component may be called any more; what it was doing is halted.
    Quarantined {
        /// Which.
        component: ComponentName,
        /// Why.
        because: String,
    },
    /// A component may be called again.
    Released {
        /// Which.
        component: ComponentName,
    },
    /// A standby has taken a component's place, or has given it back.
    #[serde(rename = "substituted")]
    FailedOver {
        /// Whose place.
        component: ComponentName,
        /// Who has it. None: the component itself again.
        by: Option<ComponentName>,
    },
    /// The missions are paused: no step begins.
    Paused {
        /// Why.
        because: String,
        /// How long this one waits, at most.
        patience: Duration,
    },
    /// The missions go on.
    Unpaused,
    /// A person paused the robot, took the controls, lost them or gave them back. While it is not autonomous, what moves
    /// for the mission is halted, no step begins, and no model is asked.
    ControlChanged {
        /// Who has the controls from now on.
        control: crate::Control,
        /// How long the robot was not autonomous, where it is again.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        lasted: Option<Duration>,
    },
    /// A person revised the task in mid mission; it is planned anew.
    #[serde(alias = "task_corrected")]
    TaskRevised {
        /// In the person's words.
        text: String,
        /// Where they come from.
        origin: Origin,
    },
    /// Everything in flight is being halted.
    Stopping {
        /// Why.
        reason: String,
        /// What is being halted.
        tools: Vec<ToolName>,
    },
    /// A halt was answered, or was not.
    Halted {
        /// Which call.
        call: CallId,
        /// For which step, unless it was research.
        step: Option<StepNumber>,
        /// Which tool.
        tool: ToolName,
        /// What is known.
        state: HaltState,
    },
    /// The one result. Nothing follows.
    Finished {
        /// The result.
        result: MissionResult,
    },
}
