//! How the steps of a mission were carried out: what an operator reads of its pace, and what later missions may learn.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::StepNumber;

/// Where the time of one step went.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema, Default)]
pub struct StepTiming {
    /// From the moment when everything that it comes after had ended, until it began, without the confirmation: for others
    /// to be confirmed, for what it needs, for a free place.
    pub waited: Duration,
    /// While the model was asked about it.
    pub confirmed: Duration,
    /// While its calls ran, all tries together.
    pub ran: Duration,
}

/// The steps of one plan that come equally late in its order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LevelReport {
    /// Counts the plans of the mission from 1.
    pub plan: u32,
    /// Counts from 1, within the plan.
    pub level: u32,
    /// Its steps, in order.
    pub steps: Vec<StepNumber>,
    /// How many of them succeeded.
    pub succeeded: u32,
    /// From the beginning of the first of them to the end of the last.
    pub duration: Duration,
}

/// How the steps of a mission were carried out.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema, Default)]
pub struct ExecutionReport {
    /// Plans that were made.
    pub plans: u32,
    /// Steps of all plans, those that were cut included.
    pub steps: u32,
    /// Those that succeeded.
    pub succeeded: u32,
    /// Those that failed, also where a later step made it good.
    pub failed: u32,
    /// Those that never began.
    pub blocked: u32,
    /// Those that were left out by a decision.
    pub skipped: u32,
    /// Succeeded steps of all steps, 0 to 1. None where there are no steps.
    pub success_rate: Option<f64>,
    /// Steps that succeeded for each second of the mission. 0 where no time has passed.
    pub steps_per_second: f64,
    /// Calls that were tried again.
    pub retries: u32,
    /// How often the model was asked for other arguments of a failed call.
    pub corrections: u32,
    /// How often the model was asked whether a step shall run, the requests counted below left out.
    #[serde(default)]
    pub confirmations: u32,
    /// How often it was asked once more, because its reply could not be used: words beside EXECUTE, for example.
    #[serde(default)]
    pub repeated_confirmations: u32,
    /// While at least one step ran.
    pub busy: Duration,
    /// What the steps would have taken one after another: the sum of how long they ran.
    pub sum: Duration,
    /// The longest chain of steps that had to wait for each other, of all plans together: it could not have been faster.
    pub critical_path: Duration,
    /// By plan and level.
    pub levels: Vec<LevelReport>,
}
