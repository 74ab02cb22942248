//! The embedded command reader: a [`ChatModel`] without any model and without a network.
//!
//! It reads plain sentences with [`cortex_language`], which accounts for every word by the tools of the request, and
//! makes a plan only if it has understood all of them; where one of a few things is meant it asks which, and otherwise
//! it says what it did not understand, and nothing is done. It never guesses and it is never presented as more than it
//! is. It knows no robot: everything about tools comes from their definitions.
//!
//! The way of a task: `conversation` (what the request tells) → `toolbox` (the tools, and what the task means to them) →
//! `clarification` (where it may mean several things) → `stages` (what is to be done now) → `answers` and `small_talk`
//! (what is said, with the sentences that `offers` finds). Steps are decided upon in `confirmation`.
//!
//! It keeps no state: the same request always gets the same reply.

use async_trait::async_trait;
use cortex_core::{ChatModel, ChatReply, ChatRequest, ModelError, Purpose};
use cortex_language::{Part, Understanding};

mod answers;
mod clarification;
mod confirmation;
mod conversation;
mod offers;
mod readable;
mod refusals;
mod schema;
mod small_talk;
mod stages;
mod toolbox;

use clarification::Clarified;
use conversation::Conversation;
use stages::Next;
use toolbox::Toolbox;

/// The embedded command reader.
#[derive(Debug, Clone, Copy, Default)]
pub struct Reflex;

#[async_trait]
impl ChatModel for Reflex {
    fn label(&self) -> String {
        "reflex".to_owned()
    }

    fn reads_every_tool(&self) -> bool {
        true
    }

    async fn chat(&self, request: &ChatRequest) -> Result<ChatReply, ModelError> {
        Ok(match request.purpose {
            Purpose::Plan => plan(request),
            Purpose::Confirm => confirmation::confirm(request),
            Purpose::Correct => confirmation::correct(),
        })
    }
}

fn plan(request: &ChatRequest) -> ChatReply {
    let conversation = Conversation::read(request);
    let Some(task) = conversation.task else { return declined("There is no task.".to_owned()) };
    if let Some(report) = conversation.failure() {
        return answered(answers::failed(&conversation.steps, report));
    }
    if let Some(reason) = &conversation.rejection {
        return declined(format!("What I made of the task was not accepted: {reason}"));
    }
    // A call of what is only told of is refused by the core, with the reason, and one of what is away waits for it.
    let known = request.tools.iter().chain(conversation.abilities).chain(conversation.away.iter().copied());
    let toolbox = Toolbox::new(known);
    if toolbox.len() == 0 {
        return declined("Nothing that could be done is discovered on the robot yet. Nothing was done.".to_owned());
    }
    match toolbox.understand_after(conversation.before, task) {
        Understanding::Understood(parts) => carry_out(&toolbox, &parts, &conversation),
        Understanding::Unsure { clause, offers } => {
            let can_ask = request.tools.iter().any(clarification::asks);
            match clarification::clarified(&toolbox, &clause, &offers, &conversation, can_ask) {
                Clarified::Parts(parts) => carry_out(&toolbox, parts, &conversation),
                Clarified::Ask(call) => ChatReply { calls: vec![call], ..ChatReply::default() },
                Clarified::Declined(reason) => declined(reason),
            }
        }
        // The task was understood before, so its tools have gone in the meantime.
        _ if !conversation.steps.is_empty() => {
            declined("The tools changed in the middle of the task, so I can't go on with it.".to_owned())
        }
        not_understood => declined(refusals::refusal(&toolbox, task, &not_understood)),
    }
}

/// What is to be done now of what the task means.
fn carry_out(toolbox: &Toolbox<'_>, parts: &[Part], conversation: &Conversation<'_>) -> ChatReply {
    match stages::next(toolbox, parts, conversation) {
        Next::Calls(calls) => ChatReply { calls, ..ChatReply::default() },
        Next::Finished(done) => answered(answers::finished(toolbox, parts, &done, conversation.identity)),
        Next::NotFound { done, outcome } => {
            declined(answers::not_found(toolbox, parts, &done, &outcome.message, conversation.identity))
        }
        Next::Astray => declined("What was done does not fit the task any more, so I can't go on with it.".to_owned()),
    }
}

/// An answer, or a report.
fn answered(text: String) -> ChatReply {
    ChatReply { text, ..ChatReply::default() }
}

/// The task is not done as it stands, and why.
fn declined(reason: String) -> ChatReply {
    ChatReply { refusal: Some(reason), ..ChatReply::default() }
}
