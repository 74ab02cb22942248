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
const NOT_MY_PLAN: &str = "ABORT\nThe model that made this plan can't be asked, and I can't judge its steps.";

/// Decides on a step of another model's plan: nothing begins, and what is in flight goes on to its end.
pub(crate) fn confirm(request: &ChatRequest) -> ChatReply {
    if confirmation::is_anything_in_flight(request) {
        answered("CONTINUE".to_owned())
    } else {
        answered(NOT_MY_PLAN.to_owned())
    }
}

/// Why nothing can be read in the task, where only a part of the tools is told of: another tool might fit its words better.
pub(super) fn sees_too_little(request: &ChatRequest) -> Option<Planned> {
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
