//! The embedded command reader: a [`ChatModel`] without any model and without a network.
//!
//! It reads plain imperative English, holds each clause against the tools of the request, and makes a plan only if it
//! has understood every word; otherwise it says what it did not understand, and nothing is done. It never guesses and
//! it is never presented as more than it is. It knows no robot: everything about tools comes from their definitions.
//!
//! The way of a task: `tokens` (words) → `clauses` → `reader` (what each clause means: `references`, `matching` with
//! `slots` and `numbers`, `questions`; `tours` for what is done at every place; all on top of `lexicon` and `toolbox`) → `stages` (what is to be done now, after
//! what the `conversation` tells) → `answers` (what is said, with the sentences that `offers` finds). Steps are decided
//! upon in `confirmation`.
//!
//! It keeps no state: the same request always gets the same reply.

use async_trait::async_trait;
use cortex_core::{ChatModel, ChatReply, ChatRequest, ModelError, Purpose, ToolDefinition};

mod answers;
mod clauses;
mod confirmation;
mod conversation;
mod lexicon;
mod matching;
mod numbers;
mod offers;
mod problem;
mod questions;
mod reader;
mod references;
mod slots;
mod stages;
mod tokens;
mod toolbox;
mod tours;

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
    // A call of what is only told of is refused by the core, with the reason, and one of what is away waits for it.
    let known = request.tools.iter().chain(conversation.abilities).chain(conversation.away.iter().copied());
    let definitions: Vec<ToolDefinition> = known.cloned().collect();
    let toolbox = Toolbox::new(&definitions);
    if let Some(report) = conversation.failure() {
        let intents = reader::read(&toolbox, task).ok();
        return answered(answers::failed(&toolbox, intents.as_deref(), &conversation.steps, report));
    }
    if let Some(reason) = &conversation.rejection {
        return declined(format!("What I made of the task was not accepted: {reason}"));
    }
    if toolbox.tools.is_empty() {
        return declined("Nothing that could be done is discovered on the robot yet. Nothing was done.".to_owned());
    }
    let intents = match reader::read(&toolbox, task) {
        Ok(intents) => intents,
        // The task was understood before, so its tools have gone in the meantime.
        Err(_) if !conversation.steps.is_empty() => {
            return declined("The tools changed in the middle of the task, so I can't go on with it.".to_owned());
        }
        Err(misread) => return declined(answers::misread(&toolbox, task, &misread)),
    };
    match stages::next(&toolbox, &intents, &conversation) {
        Next::Calls(calls) => ChatReply { calls, ..ChatReply::default() },
        Next::Finished(done) => answered(answers::finished(&toolbox, &intents, &done)),
        Next::NotFound { done, outcome } => declined(answers::not_found(&toolbox, &intents, &done, &outcome.message)),
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
