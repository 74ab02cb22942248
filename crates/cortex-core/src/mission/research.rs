//! Looks that are done at once while a plan is made.

use cortex_protocol::{CallId, FailureKind, MissionEvent, ToolCall, ToolName, ToolOutcome};

use super::arguments;
use super::calls::{CallKind, GoodCall};
use super::{Arranged, Mission, Phase, Research, ResearchState};
use crate::chat::ModelCall;
use crate::fragment::Fragment;
use crate::{for_each, output_refs};

/// Most planning tools that one reply may call.
const MAX_RESEARCH_CALLS: usize = 16;

impl Mission {
    pub(super) fn research(
        &mut self,
        research: Vec<GoodCall>,
        plan_calls: Vec<(ModelCall, ToolName)>,
        arranged: Option<Arranged>,
    ) {
        let research = research
            .into_iter()
            .enumerate()
            .map(|(index, GoodCall { model_call, kind })| {
                let refused = |reason: String| ResearchState::Answered {
                    outcome: ToolOutcome::failure(FailureKind::InvalidArguments, reason),
                };
                let state = match kind {
                    _ if index >= MAX_RESEARCH_CALLS => {
                        refused(format!("at most {MAX_RESEARCH_CALLS} planning tools can be called at once"))
                    }
                    CallKind::Search { query } => ResearchState::Answered { outcome: self.find_tools(&query) },
                    CallKind::Recall { step } => ResearchState::Answered { outcome: self.recall(step) },
                    CallKind::Tool { arguments, .. } if !for_each::names(&arguments).is_empty() => {
                        refused("a planning tool is called for one value at a time".to_owned())
                    }
                    CallKind::Ask { choice } => match self.may_ask_person() {
                        Ok(()) => ResearchState::Asking { choice },
                        Err(outcome) => ResearchState::Answered { outcome },
                    },
                    CallKind::Arrange { .. } => refused("it arranges the steps of a plan".to_owned()),
                    CallKind::Tool { arguments, .. } if !output_refs::references(&arguments).is_empty() => refused(
                        "a planning tool is called before any step, so it can't refer to a step's output".to_owned(),
                    ),
                    CallKind::Tool { spec, arguments } if arguments::unfilled(&spec, &arguments).is_some() => {
                        refused("a placeholder in its arguments is not filled in".to_owned())
                    }
                    CallKind::Tool { spec, arguments } => ResearchState::Waiting {
                        fingerprint: spec.fingerprint(),
                        tool_call: ToolCall { tool: spec.name, arguments },
                    },
                };
                Research { model_call, state }
            })
            .collect();
        self.phase = Phase::Researching { research, plan_calls, arranged };
        self.go_on_with_research();
    }

    /// Takes the outcome of a planning tool.
    pub(super) fn on_researched(&mut self, call: CallId, tool: ToolName, outcome: ToolOutcome) {
        if let Phase::Researching { research, .. } = &mut self.phase {
            for entry in research.iter_mut().filter(|entry| entry.state == ResearchState::Running { call }) {
                entry.state = ResearchState::Answered { outcome: outcome.clone() };
            }
        }
        self.learn_from_research(&tool, &outcome);
        self.report(MissionEvent::Researched { call, tool, outcome });
        self.go_on_with_research();
    }

    /// Begins what does not need anything that is held; once every planning tool has answered, goes on.
    pub(super) fn go_on_with_research(&mut self) {
        let Phase::Researching { research, plan_calls, arranged } = self.phase.clone() else { return };
        let mut begun = research;
        for entry in &mut begun {
            let ResearchState::Waiting { tool_call, fingerprint } = entry.state.clone() else { continue };
            let refusal = self.forbidden(&tool_call).or_else(|| self.research_refusal(&tool_call, fingerprint));
            if let Some(outcome) = refusal {
                entry.state = ResearchState::Answered { outcome };
                continue;
            }
            if self.is_free_for(&tool_call.tool) {
                if self.ends_for_budget() {
                    return;
                }
                let (tool, arguments) = (tool_call.tool.clone(), tool_call.arguments.clone());
                let call = self.invoke(tool_call, fingerprint, None);
                self.report(MissionEvent::Researching { call, tool, arguments });
                entry.state = ResearchState::Running { call };
            }
        }
        let mut answers = Vec::with_capacity(begun.len());
        for entry in &begun {
            if let ResearchState::Answered { outcome } = &entry.state {
                answers.push((entry.model_call.clone(), outcome.clone()));
            }
        }
        if answers.len() < begun.len() {
            self.phase = Phase::Researching { research: begun, plan_calls, arranged };
            self.ask_next_choice();
            return;
        }
        for (model_call, outcome) in answers {
            self.answer_call(model_call, Fragment::ToolResult { outcome });
        }
        if plan_calls.is_empty() { self.ask_for_plan() } else { self.commit(plan_calls, arranged) }
    }
}
