//! What was left out of a request can be asked for: the whole output of a step.

use cortex_protocol::{FailureKind, StepAddress, ToolOutcome};
use serde_json::{Map, Value, json};
use thiserror::Error;

use super::Mission;
use crate::chat::{ToolDefinition, ToolKind};

/// The built-in tool by which a model reads a step of the record.
pub const RECALL_STEP: &str = "recall_step";

impl Mission {
    /// The step that a model asks for.
    pub(super) fn recall(&self, address: StepAddress) -> ToolOutcome {
        let Some(report) = self.record.step(address) else {
            let reason = format!("there is no step {address} in this mission; steps are named PLAN.STEP");
            return ToolOutcome::failure(FailureKind::InvalidArguments, reason);
        };
        let output = report.outcome.as_ref().map(ToolOutcome::text);
        ToolOutcome::success(json!({
            "tool": self.offered_name(&report.tool),
            "arguments": report.arguments,
            "status": report.status,
            "output": output,
            "note": report.note,
        }))
    }
}

/// A call that does not say which step. In words for the model.
#[derive(Debug, PartialEq, Error)]
#[error("'step' must be PLAN.STEP, such as \"1.2\"")]
pub(super) struct NoStepAddress;

/// Reads which step is asked for.
pub(super) fn read(arguments: &Map<String, Value>) -> Result<StepAddress, NoStepAddress> {
    let step = arguments.get("step").cloned().unwrap_or_default();
    serde_json::from_value(step).map_err(|_| NoStepAddress)
}

/// The tool as a model sees it.
pub(super) fn definition() -> ToolDefinition {
    ToolDefinition {
        name: RECALL_STEP.to_owned(),
        description: "Shows a step of the record with its whole output.".to_owned(),
        parameters: json!({
            "type": "object",
            "properties": {"step": {"type": "string", "description": "PLAN.STEP, such as 1.2"}},
            "required": ["step"]
        }),
        phase: cortex_protocol::ToolPhase::Planning,
        phrases: Vec::new(),
        kind: ToolKind::BuiltIn,
    }
}
