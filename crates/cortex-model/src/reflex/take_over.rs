//! Where another model began the task and can't be asked any more.
//!
//! What that model planned and never began is nothing to go by: reflex does what it reads in the task itself, and says what it
//! leaves. Of a task that it does not understand as a whole it does the beginning, if the words say that the rest comes
//! afterwards.

use cortex_core::fragment::capped;
use cortex_core::mission::FIND_TOOLS;
use cortex_core::{ChatReply, ChatRequest};

use super::conversation::Conversation;
use super::stages::{self, Next};
use super::toolbox::Toolbox;
use super::{Planned, answered, answers, confirmation, declined};

/// Most characters of the rest of a task, when it is repeated.
const REST_CHARACTERS: usize = 300;
/// Why a step of another model's plan is not done.
pub(super) const NOT_MY_PLAN: &str = "The model that made this plan can't be asked, and I can't judge its steps";

/// Decides on a step of another model's plan: nothing begins, and what is in flight goes on to its end.
pub(crate) fn confirm(request: &ChatRequest) -> ChatReply {
    let is_waited_for = confirmation::is_anything_in_flight(request);
    answered(if is_waited_for { "CONTINUE".to_owned() } else { format!("ABORT\n{NOT_MY_PLAN}.") })
}

/// Why nothing can be read in the task: only a part of the tools is told of, so that another tool might fit its words better;
/// or a person has changed a task of which something was done, and it takes more than one sentence to know what is left.
pub(super) fn knows_too_little(request: &ChatRequest, conversation: &Conversation<'_>) -> Option<Planned> {
    if conversation.is_revised {
        return Some(lost(conversation));
    }
    request.tools.iter().any(|tool| tool.name == FIND_TOOLS).then(|| {
        declined(
            "The model that plans can't be asked, and I was not told of all tools, so I go no further with this task. \
             Give it again."
                .to_owned(),
        )
        .into()
    })
}

/// What is done of a task that is not understood as a whole: its beginning, and the rest is named. None where it has none.
pub(super) fn beginning(toolbox: &Toolbox<'_>, task: &str, conversation: &Conversation<'_>) -> Option<Planned> {
    let beginning = toolbox.beginning(task)?;
    let reply = match stages::next(toolbox, &beginning.parts, conversation) {
        Next::Calls(calls) => ChatReply { calls, ..ChatReply::default() },
        Next::Finished(account) => {
            let done = answers::finished(toolbox, &account, &conversation.itself());
            let rest = capped(&beginning.rest, REST_CHARACTERS);
            declined(format!(
                "{done} I left this: \"{rest}\". I do not understand it, and the model that might can't be asked."
            ))
        }
        Next::NotFound { account, outcome } => {
            declined(answers::not_found(toolbox, &account, &outcome.message, &conversation.itself()))
        }
        Next::Undecided { account, clause } => {
            declined(answers::undecided(toolbox, account, &clause, &conversation.itself()))
        }
        Next::Astray => return None,
    };
    Some(reply.into())
}

/// The end of a task whose rest can't be told from what was done.
pub(super) fn lost(conversation: &Conversation<'_>) -> Planned {
    declined(answers::lost(&conversation.never_begun)).into()
}

#[cfg(test)]
mod tests {
    use cortex_core::{ChatModel as _, Fragment, Message, Purpose, ToolDefinition, ToolKind};
    use cortex_protocol::StepReport;
    use serde_json::{Value, json};

    use super::*;
    use crate::Reflex;

    fn step(number: u32, place: &str, status: &str) -> StepReport {
        let report = json!({
            "plan": 1, "number": number, "tool": "base.go_to", "arguments": {"place": place}, "status": status,
            "outcome": null, "note": "", "duration": null, "instead_of": [],
        });
        serde_json::from_value(report).unwrap()
    }

    /// What reflex does after these steps of another model, whose plan ended as the notice says; and what it says.
    async fn taken_over(task: &str, steps: Vec<StepReport>, more: Vec<Fragment>) -> (Vec<Value>, String) {
        let tool = |name: &str, parameters: Value, phrase: &str| ToolDefinition {
            name: name.to_owned(),
            description: String::new(),
            parameters,
            phase: cortex_protocol::ToolPhase::Execution,
            phrases: vec![phrase.to_owned()],
            kind: ToolKind::Act,
        };
        let places = json!({
            "type": "object", "properties": {"place": {"enum": ["kitchen", "bedroom", "office"]}}, "required": ["place"],
        });
        let ledger = Fragment::Ledger { steps, outputs: 0 };
        let request = ChatRequest {
            purpose: Purpose::Plan,
            messages: vec![
                Message::User { fragments: vec![Fragment::Task { text: task.to_owned() }] },
                Message::User { fragments: std::iter::once(ledger).chain(more).collect() },
            ],
            tools: vec![tool("base-go_to", places, "go to {place}")],
            temperature: 0.0,
            max_tokens: 100,
        };
        let reply = Reflex::default().taking_over().chat(&request).await.unwrap();
        let calls = reply.calls.iter().map(|call| match &call.arguments {
            cortex_core::CallArguments::Object(arguments) => arguments["place"].clone(),
            cortex_core::CallArguments::Malformed { text, .. } => Value::from(text.as_str()),
        });
        (calls.collect(), reply.refusal.unwrap_or(reply.text))
    }

    fn ended(because: &str) -> Vec<Fragment> {
        vec![Fragment::Notice { text: format!("Plan 1 was aborted before step 1: {because}. Plan what is missing.") }]
    }

    const BOTH: &str = "go to the kitchen and then to the bedroom";

    #[tokio::test]
    async fn what_is_left_of_the_task_is_done() {
        let steps = vec![step(1, "kitchen", "SUCCESS"), step(2, "bedroom", "BLOCKED")];
        assert_eq!(taken_over(BOTH, steps, ended(NOT_MY_PLAN)).await.0, [json!("bedroom")]);
    }

    /// Only the tool was compared: after a drive elsewhere, the rest of the task was done there.
    #[tokio::test]
    async fn regression_a_drive_elsewhere_counted_as_the_one_that_was_asked_for() {
        let steps = vec![step(1, "office", "SUCCESS"), step(2, "kitchen", "BLOCKED")];
        let (calls, said) = taken_over(BOTH, steps, ended(NOT_MY_PLAN)).await;
        assert_eq!(calls, Vec::<Value>::new());
        assert!(said.contains("can't tell what is left of it") && said.contains("base go to (kitchen)"), "{said}");
    }

    /// "ABORT: a child lies in front of the robot": reflex planned the same drive again, and confirmed it.
    #[tokio::test]
    async fn regression_what_the_other_model_aborted_for_a_reason_was_done_all_the_same() {
        for because in ["a child lies in front of the robot", "the battery is low"] {
            let (calls, said) = taken_over(BOTH, vec![step(1, "kitchen", "BLOCKED")], ended(because)).await;
            assert_eq!(calls, Vec::<Value>::new(), "{said}");
        }
    }

    #[tokio::test]
    async fn what_was_left_of_an_earlier_plan_counts_no_more_at_the_end_of_the_own_one() {
        let own = Fragment::Ledger { steps: vec![StepReport { plan: 2, ..step(1, "bedroom", "SUCCESS") }], outputs: 0 };
        let carried_out = Fragment::Notice { text: "Plan 2 was carried out.".to_owned() };
        let more = ended(NOT_MY_PLAN).into_iter().chain([own, carried_out]).collect();
        let steps = vec![step(1, "kitchen", "SUCCESS"), step(2, "office", "BLOCKED")];
        let (calls, said) = taken_over(BOTH, steps, more).await;
        assert_eq!((calls, said.starts_with("Done: ")), (Vec::new(), true), "{said}");
    }

    #[tokio::test]
    async fn a_task_that_a_person_has_changed_is_not_gone_on_with() {
        let said = Fragment::Revision { text: "and then to the office".to_owned() };
        let more = std::iter::once(said).chain(ended(NOT_MY_PLAN)).collect();
        assert_eq!(taken_over(BOTH, vec![step(1, "kitchen", "SUCCESS")], more).await.0, Vec::<Value>::new());
    }
}
