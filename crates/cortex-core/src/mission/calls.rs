//! The calls of a reply, checked before anything is done about them.

use cortex_protocol::{Effect as ToolEffect, StepAddress, ToolPhase, ToolSpec};
use serde_json::{Map, Value};
use thiserror::Error;

use super::arguments::NoPlaceholder;
use super::ask_person::{ASK_PERSON, Choice, ChoiceProblem};
use super::prompts::StepReferencesError;
use super::recall::{self, NoStepAddress, RECALL_STEP};
use super::{Mission, prompts};
use crate::chat::{CallArguments, ModelCall};
use crate::output_refs;
use crate::selection::FIND_TOOLS;
use crate::step_groups::{ARRANGE_TOOL, ArrangementError, StepGroups};
use crate::toolset::ArgumentsError;

/// A call that can be done as it stands.
pub(super) struct GoodCall {
    pub(super) model_call: ModelCall,
    pub(super) kind: CallKind,
}

pub(super) enum CallKind {
    /// Of a tool of the robot.
    Tool { spec: Box<ToolSpec>, arguments: Map<String, Value> },
    /// Of the search for tools.
    Search { query: String },
    /// Of the tool that arranges the plan.
    Arrange { step_groups: StepGroups },
    /// Of the tool that asks a person.
    Ask { choice: Choice },
    /// Of the tool that shows a step of the record.
    Recall { step: StepAddress },
}

/// Why a call can't be done as it stands. In words for the model.
#[derive(Debug, PartialEq, Error)]
pub(super) enum CallProblem {
    #[error("its arguments can't be read: {problem}")]
    Unreadable { problem: String },
    #[error("'query' must say what the tool should do, in a few words")]
    NoQuery,
    #[error(transparent)]
    Choice(#[from] ChoiceProblem),
    #[error(transparent)]
    Address(#[from] NoStepAddress),
    #[error(transparent)]
    StepGroups(#[from] ArrangementError),
    /// The tool is not for this task, or not now.
    #[error("{because}")]
    KeptBack { because: String },
    #[error("there is no tool of this name; the tools are: {names}")]
    NoTool { names: String },
    #[error("it has changed while you were asked; read its new description and call it again")]
    ToolChanged,
    #[error("it was not among your tools; it is now: read its description and call it again")]
    NotOffered,
    #[error(transparent)]
    References(#[from] StepReferencesError),
    #[error(transparent)]
    Placeholder(#[from] NoPlaceholder),
    #[error(transparent)]
    Arguments(#[from] ArgumentsError),
}

impl Mission {
    /// What a call is of, if it can be done as it stands.
    pub(super) fn check_call(&mut self, model_call: ModelCall) -> Result<GoodCall, CallProblem> {
        let arguments = match &model_call.arguments {
            CallArguments::Object(arguments) => arguments.clone(),
            CallArguments::Malformed { problem, .. } => {
                return Err(CallProblem::Unreadable { problem: problem.clone() });
            }
        };
        if model_call.name == FIND_TOOLS && self.searches() {
            let query = arguments.get("query").and_then(Value::as_str);
            let query = query.ok_or(CallProblem::NoQuery)?.to_owned();
            return Ok(GoodCall { model_call, kind: CallKind::Search { query } });
        }
        if model_call.name == ASK_PERSON && self.offers_ask_person() {
            let choice = Choice::read(&arguments)?;
            return Ok(GoodCall { model_call, kind: CallKind::Ask { choice } });
        }
        if model_call.name == RECALL_STEP && self.conversation.may_recall() {
            let step = recall::read(&arguments)?;
            return Ok(GoodCall { model_call, kind: CallKind::Recall { step } });
        }
        if model_call.name == ARRANGE_TOOL {
            let step_groups = StepGroups::read(&arguments)?;
            return Ok(GoodCall { model_call, kind: CallKind::Arrange { step_groups } });
        }
        let spec = self.setup.tools.resolve(&model_call.name).cloned().ok_or_else(|| {
            match self.task_state.refusal(&model_call.name).or_else(|| self.kept_back(&model_call.name)) {
                Some(because) => CallProblem::KeptBack { because },
                None => CallProblem::NoTool { names: prompts::names(&self.setup.tools, self.offer.names()) },
            }
        })?;
        match self.offer.shown(&spec.name) {
            Some(shown) if shown == spec.fingerprint() => {}
            Some(_) => return Err(CallProblem::ToolChanged),
            None => {
                self.offer([spec.name.clone()]);
                return Err(CallProblem::NotOffered);
            }
        }
        prompts::plan_request(&self.setup.tools, &model_call, &spec.name)?;
        let arguments = prompts::without_own(&spec, &arguments);
        if let Some(written) = output_refs::malformed(&arguments) {
            return Err(NoPlaceholder { written: written.to_owned() }.into());
        }
        self.setup.tools.check_unbound(&spec.name, &arguments)?;
        Ok(GoodCall { model_call, kind: CallKind::Tool { spec: Box::new(spec), arguments } })
    }

    /// Whether there are tools that the model is not offered.
    fn searches(&self) -> bool {
        prompts::left_out(&self.setup.tools, self.offer.names()).next().is_some()
    }
}

/// Whether a call is a step of the plan rather than research that is done at once. A tool of both phases is research
/// on its own, but a step among steps: its place in their order matters.
pub(super) fn belongs_to_plan(spec: &ToolSpec, among_steps: bool) -> bool {
    match spec.phase {
        ToolPhase::Execution => true,
        ToolPhase::Both => among_steps || spec.effect != ToolEffect::Observe,
        ToolPhase::Planning => spec.effect != ToolEffect::Observe,
    }
}
