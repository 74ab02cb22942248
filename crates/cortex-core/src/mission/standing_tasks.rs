//! Orders that go on: "patrol until you see a person". Each plan that is carried out is a round. The order is fulfilled
//! when the model names a step of the record whose output shows it; words never end it.

use cortex_protocol::tool::value_as_text;
use cortex_protocol::{Effect as ToolEffect, StepAddress, StepStatus, TaskClass};
use serde_json::{Map, Value, json};
use thiserror::Error;

use super::Mission;
use super::evidence::{self, Misquote, QUOTED, has_a_word, holds};
use crate::chat::{CallArguments, ChatReply, Message, ModelCall, ToolDefinition, ToolKind};
use crate::fragment::{Fragment, quoted};

/// The built-in tool by which a model says that a standing order is fulfilled.
pub const ORDER_FULFILLED: &str = "order_fulfilled";

/// Why nothing shows that the order is fulfilled. In words for the model.
#[derive(Debug, PartialEq, Error)]
enum EvidenceProblem {
    #[error("{ORDER_FULFILLED} is called alone, once everything is done")]
    NotAlone,
    #[error("its arguments can't be read: {problem}")]
    Unreadable { problem: String },
    #[error("'step' must be PLAN.STEP of the record, such as \"1.2\"")]
    NoAddress,
    #[error("there is no step {step} in this mission")]
    UnknownStep { step: StepAddress },
    #[error("{step} did not succeed, so it shows nothing")]
    NoSuccess { step: StepAddress },
    #[error("{step} was planned before the task was corrected")]
    BeforeCorrection { step: StepAddress },
    #[error("{step} is no look, so it shows nothing")]
    NoLook { step: StepAddress },
    #[error(
        "'words' must be copied from the step's output, at least one word of two letters or digits, at most {QUOTED} \
         characters"
    )]
    Words,
    #[error("{} stands in the arguments of {step}; quote what it found", quoted(.words, QUOTED))]
    InArguments { step: StepAddress, words: String },
    #[error("{step}: {problem}")]
    Misquoted { step: StepAddress, problem: Misquote },
}

impl Mission {
    /// A round is over: the model plans the next one, or says what shows that the order is fulfilled.
    pub(super) fn round_carried_out(&mut self) {
        self.task_state.rounds = self.task_state.rounds.saturating_add(1);
        self.task_state.rounded = self.run.number();
        let record = self.plan_record();
        let rounds = self.task_state.rounds;
        let text = match self.task_state.class {
            TaskClass::StandingOrder => format!(
                "Round {rounds} of at most {} was carried out. If the output of a step shows that the order is fulfilled, \
                 and everything else that was asked for is done, call {ORDER_FULFILLED}; if not, plan the next round.",
                self.setup.limits.max_rounds
            ),
            _ => format!("Round {rounds} was carried out. Nobody has ended the order: plan the next round."),
        };
        let mut fragments = record.fragments();
        fragments.push(Fragment::Notice { text });
        self.conversation.push(Message::User { fragments });
        self.conversation.begin_phase();
        self.ask_for_plan();
    }

    /// The plans that did not end a round: those that count as tried.
    pub(super) fn plans_tried(&self) -> u32 {
        self.run.number().saturating_sub(self.task_state.rounds)
    }

    /// Why no further round may be planned.
    pub(super) fn rounds_are_over(&self) -> Option<String> {
        let is_over =
            self.task_state.class == TaskClass::StandingOrder && self.task_state.rounds >= self.setup.limits.max_rounds;
        is_over.then(|| format!("The order was not met after {} rounds.", self.task_state.rounds))
    }

    /// Words after a plan of an order that goes on.
    pub(super) fn words_in_a_round(&mut self, text: &str) {
        if let Some(reason) = self.rounds_are_over() {
            self.words_do_not_fulfil(text, &reason);
        } else if self.task_state.class == TaskClass::EndlessOrder {
            self.words_do_not_fulfil(text, "The order was given up, and nobody had ended it.");
        } else {
            self.words_do_not_fulfil(text, "No step was named that shows that the order is fulfilled.");
        }
    }

    fn words_do_not_fulfil(&mut self, text: &str, reason: &str) {
        let told = match self.task_state.class {
            TaskClass::StandingOrder => format!(
                "Words do not fulfil the order. Call {ORDER_FULFILLED} and name the step whose output shows it, plan the \
                 next round, or call decline_task with the reason why it can't be fulfilled."
            ),
            _ => "Words do not end the order. Plan the next round, or call decline_task with the reason why not."
                .to_owned(),
        };
        self.words_do_nothing(text, told, reason);
    }

    /// The model says that the order is fulfilled: it is, where the record shows it and nothing is open.
    pub(super) fn on_fulfilled(&mut self, reply: &ChatReply, calls: Vec<ModelCall>) {
        self.conversation.push(Message::Assistant { text: reply.text.clone(), calls: calls.clone() });
        let shown = match calls.as_slice() {
            [only] => self.evidence(only),
            _ => Err(EvidenceProblem::NotAlone),
        };
        match shown {
            Ok(shown) => {
                for call in calls {
                    self.answer_call(call, Fragment::Notice { text: "noted".to_owned() });
                }
                let said = reply.text.trim();
                let output = if said.is_empty() {
                    format!("The order is fulfilled: {shown}.")
                } else {
                    format!("{said} ({shown}.)")
                };
                self.end_by_record(&output);
            }
            Err(problem) => {
                let problem = problem.to_string();
                let answers = calls.into_iter().map(|call| (call, problem.clone())).collect();
                self.mistake(problem, answers);
            }
        }
    }

    /// What shows that the order is fulfilled, if it does: the words must be in the output of a step that succeeded, that
    /// only looked, and that was planned after the last revision. What the robot says or was asked shows nothing.
    fn evidence(&self, call: &ModelCall) -> Result<String, EvidenceProblem> {
        let arguments = match &call.arguments {
            CallArguments::Object(arguments) => arguments,
            CallArguments::Malformed { problem, .. } => {
                return Err(EvidenceProblem::Unreadable { problem: problem.clone() });
            }
        };
        let written = arguments.get("step").and_then(Value::as_str).unwrap_or_default();
        let step: StepAddress = written.parse().map_err(|_| EvidenceProblem::NoAddress)?;
        let report = self.record.step(step).ok_or(EvidenceProblem::UnknownStep { step })?;
        if report.status != StepStatus::Success {
            return Err(EvidenceProblem::NoSuccess { step });
        }
        if step.plan <= self.revisions.last_plan_before() {
            return Err(EvidenceProblem::BeforeCorrection { step });
        }
        // A tool that is gone may have done anything.
        if self.setup.tools.get(&report.tool).is_none_or(|spec| spec.effect != ToolEffect::Observe) {
            return Err(EvidenceProblem::NoLook { step });
        }
        let words = quoted_words(arguments)?;
        if holds(&texts_of(&report.arguments), words) {
            return Err(EvidenceProblem::InArguments { step, words: words.to_owned() });
        }
        let value = report.outcome.as_ref().map(|outcome| &outcome.value).unwrap_or(&Value::Null);
        evidence::check(value, words).map_err(|problem| EvidenceProblem::Misquoted { step, problem })?;
        let StepAddress { plan, step } = step;
        Ok(format!("shown by step {step} of plan {plan} ({}): \"{words}\"", report.tool))
    }
}

fn quoted_words(arguments: &Map<String, Value>) -> Result<&str, EvidenceProblem> {
    let words = arguments.get("words").and_then(Value::as_str).map(str::trim).unwrap_or_default();
    let is_fit = has_a_word(words) && words.chars().nth(QUOTED).is_none();
    if is_fit { Ok(words) } else { Err(EvidenceProblem::Words) }
}

/// The arguments, as text and as JSON.
fn texts_of(arguments: &Map<String, Value>) -> String {
    let texts: Vec<String> = arguments.values().map(value_as_text).collect();
    format!("{}\n{}", texts.join("\n"), Value::Object(arguments.clone()))
}

const WORDS: &str = "\
The complete output of that step, copied unchanged. If it is longer than 300 characters, every complete sentence about \
what the order waits for, with any 'no' or 'not'. If the output denies it or leaves it open, do not call this tool; \
plan the next round.";

/// The tool as a model sees it.
pub(super) fn fulfilled_definition() -> ToolDefinition {
    ToolDefinition {
        name: ORDER_FULFILLED.to_owned(),
        description: "Says that the standing order is fulfilled, and which step of the record shows it.".to_owned(),
        parameters: json!({
            "type": "object",
            "properties": {
                "step": {
                    "type": "string",
                    "description": "The look with SUCCESS whose output shows it, as PLAN.STEP, such as 1.2."
                },
                "words": {"type": "string", "maxLength": QUOTED, "description": WORDS}
            },
            "required": ["step", "words"]
        }),
        phase: cortex_protocol::ToolPhase::Planning,
        phrases: Vec::new(),
        kind: ToolKind::BuiltIn,
    }
}
