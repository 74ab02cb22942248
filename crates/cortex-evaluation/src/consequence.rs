//! What follows from a reply: the mission machine says it, so that what counts as a plan, or as refused, is decided in one
//! place.

use cortex_core::fragment::one_line;
use cortex_core::mission::DECLINE_TOOL;
use cortex_core::same_call::{are_same_arguments, is_same_call, without_counterpart};
use cortex_core::{CallArguments, ChatReply, Effect, Input, Mission, Purpose};
use cortex_protocol::{Decision, Effect as ToolEffect, MissionEvent, ToolCall, ToolName};
use cortex_runtime::tape::Question;
use serde_json::{Map, Value};

/// Most characters of a call where it is told.
const CALL_CHARACTERS: usize = 200;
/// Most characters of what is told of a plan.
const TOLD_CHARACTERS: usize = 500;

/// What follows from a reply, as far as it matters.
#[derive(Debug, Clone, PartialEq)]
pub enum Consequence {
    /// A plan is committed.
    Plan {
        /// Its steps that do more than to look, in their order.
        acts: Vec<ToolCall>,
        /// The others.
        looks: Vec<ToolCall>,
    },
    /// Looks are made at once, and the model is asked again.
    Look {
        /// Which.
        calls: Vec<ToolCall>,
    },
    /// A step is decided upon.
    Step {
        /// How.
        decision: Decision,
        /// With what it runs, where it does.
        arguments: Option<Map<String, Value>>,
    },
    /// A failed call is made again with these arguments. None: it is not.
    Repair {
        /// Those.
        arguments: Option<Map<String, Value>>,
    },
    /// A person is asked.
    AskPerson,
    /// The mission ends, by words or because the task is declined.
    End {
        /// Whether it is said in words, and not declined.
        in_words: bool,
        /// Whether the machine takes it for a success.
        is_success: bool,
    },
    /// The reply is refused: of its calls none is made.
    Refused {
        /// Why.
        problem: String,
        /// What it consists of.
        reply: RefusedReply,
    },
    /// Something else: the mission waits, or asks once more.
    Other,
}

/// What a reply that is refused consists of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RefusedReply {
    /// Of calls: of a tool that is not there or that policy denies, with values that don't fit, or in a plan that can't be
    /// carried out.
    Calls,
    /// Of words, where words do nothing.
    Words,
    /// Of nothing that could be used.
    Nothing,
}

impl RefusedReply {
    fn of(reply: &ChatReply) -> Self {
        match reply {
            reply if !reply.calls.is_empty() => Self::Calls,
            reply if reply.text.trim().is_empty() || reply.cut.is_some() => Self::Nothing,
            _ => Self::Words,
        }
    }
}

/// What follows from a reply to a question, by a clone of the machine that was asking. Nothing is carried out.
#[must_use]
pub fn consequence(question: &Question<'_>, reply: &ChatReply) -> Consequence {
    let mut mission = question.mission.clone();
    // Budgets were those of the recorded replies, and a doubt is that of another reader.
    let (prompt_tokens, completion_tokens) =
        question.reply.as_ref().map_or((0, 0), |then| (then.prompt_tokens, then.completion_tokens));
    let given = ChatReply { prompt_tokens, completion_tokens, doubt: None, used: None, ..reply.clone() };
    let input = Input::ModelReplied { request: question.request, reply: Ok(given) };
    let effects = mission.handle(question.at, input);
    let of = |effects: &[Effect]| match question.asked.purpose {
        Purpose::Plan => after_planning(&mission, effects, reply),
        Purpose::Confirm => after_confirmation(effects, reply),
        Purpose::Correct => after_repair(effects, reply),
    };
    of(&effects)
}

fn events(effects: &[Effect]) -> impl Iterator<Item = &MissionEvent> {
    effects.iter().filter_map(|effect| match effect {
        Effect::Report { event } => Some(event),
        _ => None,
    })
}

fn refused(effects: &[Effect], reply: &ChatReply) -> Option<Consequence> {
    let problem = events(effects).find_map(|event| match event {
        MissionEvent::ModelMistake { problem } => Some(problem.clone()),
        _ => None,
    })?;
    Some(Consequence::Refused { problem, reply: RefusedReply::of(reply) })
}

fn after_planning(mission: &Mission, effects: &[Effect], reply: &ChatReply) -> Consequence {
    let planned = events(effects).find_map(|event| match event {
        MissionEvent::Planned { steps, .. } => Some(steps),
        _ => None,
    });
    if let Some(plan) = planned {
        let calls = plan.steps.iter().map(|step| step.call.clone());
        let (looks, acts) = calls.partition(|call| only_looks(mission, &call.tool));
        return Consequence::Plan { acts, looks };
    }
    if let Some(refused) = refused(effects, reply) {
        return refused;
    }
    let in_words = reply.calls.is_empty() && reply.refusal.is_none();
    let declines = reply.refusal.is_some() || reply.calls.iter().any(|call| call.name == DECLINE_TOOL);
    let result = effects.iter().find_map(|effect| match effect {
        Effect::Finish { result } => Some(result),
        _ => None,
    });
    if let Some(result) = result {
        return if in_words || declines || result.is_success() {
            Consequence::End { in_words, is_success: result.is_success() }
        } else {
            // Policy has denied the same before.
            Consequence::Refused { problem: result.words().to_owned(), reply: RefusedReply::Calls }
        };
    }
    if in_words || declines {
        return Consequence::End { in_words, is_success: false };
    }
    if effects.iter().any(|effect| matches!(effect, Effect::AskPerson { .. })) {
        return Consequence::AskPerson;
    }
    let calls: Vec<ToolCall> = reply.calls.iter().map(|call| named(mission, &call.name, &call.arguments)).collect();
    if calls.iter().all(|call| only_looks(mission, &call.tool)) {
        Consequence::Look { calls }
    } else {
        Consequence::Other
    }
}

/// The call by the tool's own name. A tool of Cortex itself keeps the one that models know.
fn named(mission: &Mission, name: &str, arguments: &CallArguments) -> ToolCall {
    let tool = mission.tools().resolve(name).map_or_else(|| ToolName::new(name), |spec| spec.name.clone());
    let arguments = match arguments {
        CallArguments::Object(arguments) => arguments.clone(),
        CallArguments::Malformed { .. } => Map::new(),
    };
    ToolCall { tool, arguments }
}

/// Whether a tool does no more than to look. Those of Cortex itself do not act.
fn only_looks(mission: &Mission, tool: &ToolName) -> bool {
    mission.tools().get(tool).is_none_or(|spec| spec.effect == ToolEffect::Observe)
}

fn invoked(effects: &[Effect]) -> Option<Map<String, Value>> {
    effects.iter().find_map(|effect| match effect {
        Effect::Invoke { tool_call, .. } => Some(tool_call.arguments.clone()),
        _ => None,
    })
}

fn after_confirmation(effects: &[Effect], reply: &ChatReply) -> Consequence {
    let decided = events(effects).find_map(|event| match event {
        MissionEvent::Decided { decision, .. } => Some(*decision),
        _ => None,
    });
    match decided {
        Some(decision) => {
            let arguments = invoked(effects).filter(|_| decision == Decision::Execute);
            Consequence::Step { decision, arguments }
        }
        None => refused(effects, reply).unwrap_or(Consequence::Other),
    }
}

fn after_repair(effects: &[Effect], reply: &ChatReply) -> Consequence {
    refused(effects, reply).unwrap_or_else(|| Consequence::Repair { arguments: invoked(effects) })
}

impl Consequence {
    /// Whether two consequences are the same, as far as a mission is concerned. Acts have to be the same in the same order;
    /// which looks a plan has beside its acts is free, and so is the wording of sentences.
    #[must_use]
    pub fn is_same(&self, other: &Self) -> bool {
        let same_calls = |one: &[ToolCall], other: &[ToolCall]| {
            without_counterpart(one, other).is_empty() && without_counterpart(other, one).is_empty()
        };
        match (self, other) {
            (Self::Plan { acts, looks }, Self::Plan { acts: other_acts, looks: other_looks }) => {
                let in_order = acts.len() == other_acts.len()
                    && acts.iter().zip(other_acts).all(|(one, other)| is_same_call(one, other));
                in_order && (!acts.is_empty() || same_calls(looks, other_looks))
            }
            (Self::Look { calls }, Self::Look { calls: others }) => same_calls(calls, others),
            (Self::Step { decision, arguments }, Self::Step { decision: other, arguments: others }) => {
                decision == other && same_optional(arguments.as_ref(), others.as_ref())
            }
            (Self::Repair { arguments }, Self::Repair { arguments: others }) => {
                same_optional(arguments.as_ref(), others.as_ref())
            }
            (Self::End { is_success, .. }, Self::End { is_success: other, .. }) => is_success == other,
            (Self::AskPerson, Self::AskPerson) | (Self::Other, Self::Other) => true,
            _ => false,
        }
    }

    /// In words for a person, on one line.
    #[must_use]
    pub fn told(&self) -> String {
        let text = match self {
            Self::Plan { acts, looks } => format!("plans {}", calls_told(acts.iter().chain(looks))),
            Self::Look { calls } => format!("looks: {}", calls_told(calls)),
            Self::Step { decision, arguments } => match arguments {
                Some(arguments) => format!("{decision} with {}", Value::Object(arguments.clone())),
                None => decision.to_string(),
            },
            Self::Repair { arguments: Some(arguments) } => {
                format!("tries again with {}", Value::Object(arguments.clone()))
            }
            Self::Repair { arguments: None } => "gives the step up".to_owned(),
            Self::AskPerson => "asks a person".to_owned(),
            Self::End { in_words: true, is_success: true } => "says in words that it is done".to_owned(),
            Self::End { in_words: true, is_success: false } => "ends in words".to_owned(),
            Self::End { in_words: false, .. } => "declines the task".to_owned(),
            Self::Refused { problem, .. } => format!("is refused: {problem}"),
            Self::Other => "waits, or is asked once more".to_owned(),
        };
        one_line(&text, TOLD_CHARACTERS)
    }
}

fn same_optional(one: Option<&Map<String, Value>>, other: Option<&Map<String, Value>>) -> bool {
    match (one, other) {
        (Some(one), Some(other)) => are_same_arguments(one, other),
        (one, other) => one.is_none() == other.is_none(),
    }
}

fn calls_told<'c>(calls: impl IntoIterator<Item = &'c ToolCall>) -> String {
    let told = |call: &ToolCall| {
        let text = format!("{} {}", call.tool, Value::Object(call.arguments.clone()));
        one_line(&text, CALL_CHARACTERS)
    };
    let told: Vec<String> = calls.into_iter().map(told).collect();
    if told.is_empty() { "nothing".to_owned() } else { told.join("; ") }
}
