//! The documents as a tool: a planner looks up what it was not told with the task.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use cortex_core::fragment::{capped, citation};
use cortex_core::{CallObserver, Invocation, ToolProvider};
use cortex_protocol::{CancelMode, Effect, EffectSource, FailureKind, HaltState, ToolOutcome, ToolPhase, ToolSpec};
use serde_json::{Value, json};

use crate::knowledge::{Knowledge, SOURCE};

/// The tool that searches.
const SEARCH: &str = "knowledge.search";
/// How long a search may take. It takes milliseconds, unless the disk hangs.
const PATIENCE: Duration = Duration::from_secs(10);
/// Passages of an answer, and most characters of one.
const PASSAGES: usize = 5;
const PASSAGE_CHARACTERS: usize = 1_500;

/// Offers the documents of a robot to whoever plans.
#[derive(Clone)]
pub struct KnowledgeTools {
    knowledge: Knowledge,
}

impl KnowledgeTools {
    /// These documents.
    #[must_use]
    pub fn new(knowledge: Knowledge) -> Self {
        Self { knowledge }
    }

    /// What is offered.
    #[must_use]
    pub fn specs() -> Vec<ToolSpec> {
        let text = json!({"type": "string", "minLength": 1, "maxLength": 1000});
        let told =
            "Searches the robot's documents, such as manuals and house rules, and tells the passages that fit best.";
        vec![
            ToolSpec::new(SEARCH.into(), told.to_owned())
                .with_parameters(json!({
                    "type": "object", "properties": {"text": text}, "required": ["text"], "additionalProperties": false,
                }))
                .with_phase(ToolPhase::Planning)
                .with_effect(Effect::Observe)
                .with_effect_source(EffectSource::Declared)
                .with_timeout(PATIENCE)
                .with_cancel(CancelMode::Drop),
        ]
    }
}

#[async_trait]
impl ToolProvider for KnowledgeTools {
    fn label(&self) -> String {
        SOURCE.to_owned()
    }

    async fn invoke(&self, invocation: Invocation, observer: Arc<dyn CallObserver>) -> ToolOutcome {
        observer.accepted();
        let text = invocation.call.arguments.get("text").and_then(Value::as_str).unwrap_or_default();
        match self.knowledge.search(text, PASSAGES).await {
            Ok(found) => {
                let passages = found.into_iter().map(|found| self.knowledge.passage(found));
                let told = passages.map(|it| format!("{} {}", citation(&it), capped(&it.text, PASSAGE_CHARACTERS)));
                ToolOutcome::success(json!({"passages": told.collect::<Vec<_>>()}))
            }
            Err(problem) => ToolOutcome::failure(FailureKind::Reported, problem.to_string()),
        }
    }

    async fn halt(&self, _invocation: &Invocation) -> HaltState {
        // Nothing moves.
        HaltState::AtRest
    }
}
