//! The embedded command reader: a [`ChatModel`] without any model and without a network.
//!
//! It reads plain sentences with [`cortex_language`], which accounts for every word by the tools of the request, and
//! makes a plan only if it has understood all of them; where one of a few things is meant it asks which, and otherwise
//! it says what it did not understand, and nothing is done. It never guesses and it is never presented as more than it
//! is. It knows no robot: everything about tools comes from their definitions.
//!
//! The way of a task: `conversation` (what the request tells) → `procedure` (the steps of a skill), `word_for_word` (a sentence that a tool declares) or
//! `toolbox` (the tools, and what the task means to them) →
//! `clarification` (where it may mean several things) → `stages` (what is to be done now) → `answers` and `small_talk`
//! (what is said, with the sentences that `offers` finds), or `on_record` (a question that a document answers). Steps are decided upon in `confirmation`.
//! Of a plan that another model made, `second_reading` says where it acts otherwise than the task says. Where another model
//! began the task, `take_over` says what is different. `command_reader` is the reader for whoever writes down how something is done.
//!
//! It keeps no state: the same request always gets the same reply, but for the questions that a person has answered with
//! yes. These are `learnt`, and kept by [`crate::wordings`]: what is known goes in with a request, and what is to be learnt
//! comes out with the reply. So a tape that is replayed, which asks no reader, teaches nothing.

use std::sync::Arc;

use async_trait::async_trait;
use cortex_core::{ChatModel, ChatReply, ChatRequest, ModelError, Purpose, ReplyListener};
use cortex_language::{Part, Understanding};

mod answers;
mod clarification;
mod command_reader;
mod confirmation;
mod conversation;
mod learnt;
mod offers;
mod on_record;
mod procedure;
mod readable;
mod refusals;
mod schema;
mod second_reading;
mod small_talk;
mod stages;
mod take_over;
mod toolbox;
mod word_for_word;

use clarification::{Clarified, Unclear};
use conversation::Conversation;
use procedure::Procedure;
use stages::Next;
use toolbox::Toolbox;

pub use command_reader::CommandReader;
pub(crate) use second_reading::{doubt, in_words, moving};
pub(crate) use take_over::confirm as confirm_taking_over;

use crate::wordings::{Lesson, WordingFile, Wordings};

/// The embedded command reader.
#[derive(Debug, Clone, Default)]
pub struct Reflex {
    wordings: Option<WordingFile>,
    /// Whether another model is asked first, so that it may have begun the task.
    takes_over: bool,
}

impl Reflex {
    /// A reader that asks no question twice to which a person said yes.
    #[must_use]
    pub fn with_wordings(wordings: WordingFile) -> Self {
        Self { wordings: Some(wordings), ..Self::default() }
    }

    /// The same, for tasks that another model may have begun.
    pub(crate) fn taking_over(self) -> Self {
        Self { takes_over: true, ..self }
    }
}

#[async_trait]
impl ChatModel for Reflex {
    fn label(&self) -> String {
        "reflex".to_owned()
    }

    fn reads_every_tool(&self) -> bool {
        true
    }

    async fn chat_streaming(&self, request: &ChatRequest, _: Arc<dyn ReplyListener>) -> Result<ChatReply, ModelError> {
        Ok(match request.purpose {
            Purpose::Plan => {
                let mut conversation = Conversation::read(request);
                if self.takes_over {
                    conversation.take_over(take_over::NOT_MY_PLAN);
                }
                let Some(wordings) = &self.wordings else {
                    return Ok(plan(request, &conversation, &Wordings::default()).reply);
                };
                let known = wordings.known().await;
                let Planned { reply, lesson, .. } = plan(request, &conversation, &known);
                if let Some(lesson) = lesson {
                    wordings.keep(lesson).await;
                }
                reply
            }
            Purpose::Confirm => confirmation::confirm(request),
            Purpose::Correct => confirmation::correct(),
        })
    }
}

/// A reply, and what comes with it.
struct Planned {
    reply: ChatReply,
    /// What is to be learnt.
    lesson: Option<Lesson>,
    /// What is said besides: that a wording was followed, forgotten, or can't be followed.
    remark: Option<String>,
}

impl From<ChatReply> for Planned {
    fn from(reply: ChatReply) -> Self {
        Self { reply, lesson: None, remark: None }
    }
}

fn plan(request: &ChatRequest, conversation: &Conversation<'_>, known: &Wordings) -> Planned {
    let mut planned = match conversation.failure() {
        Some(report) => answered(answers::failed(&conversation.steps, report)).into(),
        None => go_on(request, conversation, known),
    };
    if let Some(answer) = on_record::answer(conversation, &planned.reply) {
        planned = answered(answer).into();
    }
    // Said with the first calls, and once more in the end.
    let remark = match conversation.remark {
        Some(_) if !planned.reply.calls.is_empty() => None,
        Some(earlier) => Some(earlier),
        None => planned.remark.as_deref(),
    };
    if let Some(remark) = remark {
        let said = planned.reply.refusal.as_mut().unwrap_or(&mut planned.reply.text);
        if !said.is_empty() {
            said.push(' ');
        }
        said.push_str(remark);
    }
    planned
}

/// What comes next where nothing has failed.
fn go_on(request: &ChatRequest, conversation: &Conversation<'_>, known: &Wordings) -> Planned {
    let Some(task) = conversation.task else { return declined("There is no task.".to_owned()).into() };
    if let Some(reason) = &conversation.rejection {
        return declined(format!("What I made of the task was not accepted: {reason}")).into();
    }
    if conversation.takes_over
        && let Some(declined) = take_over::knows_too_little(request, conversation)
    {
        return declined;
    }
    let toolbox = conversation.toolbox(request);
    if toolbox.len() == 0 {
        return declined("Nothing that could be done is discovered on the robot yet. Nothing was done.".to_owned())
            .into();
    }
    let can_ask = request.tools.iter().any(clarification::asks);
    let disputed = conversation.disputed.and_then(|task| learnt::find(&toolbox, known, task));
    let Some(wording) = disputed else { return understood(&toolbox, task, conversation, known, can_ask) };
    let mut others = known.clone();
    others.forget(&wording.words);
    Planned {
        lesson: Some(Lesson::Disputed { words: wording.words.clone() }),
        remark: Some(learnt::forgotten(wording)),
        ..understood(&toolbox, task, conversation, &others, can_ask)
    }
}

/// What comes next by what the task means.
fn understood(
    toolbox: &Toolbox<'_>,
    task: &str,
    conversation: &Conversation<'_>,
    known: &Wordings,
    can_ask: bool,
) -> Planned {
    let understanding = match procedure::read(toolbox, conversation) {
        Some(Procedure::Parts(parts)) => Understanding::Understood(parts),
        Some(Procedure::NotUnderstood(reason)) => return declined(reason).into(),
        None => match toolbox.understand_after(conversation.before, task) {
            understood @ Understanding::Understood(_) => understood,
            other => word_for_word::read(toolbox, task).map_or(other, Understanding::Understood),
        },
    };
    match &understanding {
        Understanding::Understood(parts) => carry_out(toolbox, parts, conversation, None),
        // What the other model did answers no question.
        Understanding::Unsure { .. } if conversation.takes_over && !conversation.steps.is_empty() => {
            take_over::lost(conversation)
        }
        Understanding::Unsure { clause, offers } => {
            let unclear = Unclear { task, clause, offers, known, can_ask };
            match clarification::clarified(toolbox, &unclear, conversation) {
                Clarified::Parts { parts, lesson, remark } => {
                    // After another task the same words may mean something else.
                    let stands_alone = || conversation.before.is_none() || toolbox.understand(task) == understanding;
                    let lesson = lesson.filter(|_| stands_alone());
                    Planned { remark, ..carry_out(toolbox, parts, conversation, lesson) }
                }
                Clarified::Ask(call) => ChatReply { calls: vec![call], ..ChatReply::default() }.into(),
                Clarified::Declined(reason) => declined(reason).into(),
            }
        }
        _ if conversation.takes_over
            && let Some(planned) = take_over::beginning(toolbox, task, conversation) =>
        {
            planned
        }
        _ if conversation.takes_over && !conversation.steps.is_empty() => take_over::lost(conversation),
        // The task was understood before, so its tools have gone in the meantime.
        _ if !conversation.steps.is_empty() => {
            declined("The tools changed in the middle of the task, so I can't go on with it.".to_owned()).into()
        }
        not_understood => {
            let remark = learnt::find(toolbox, known, task).map(|wording| learnt::in_vain(toolbox, wording));
            Planned { remark, ..declined(refusals::refusal(toolbox, task, not_understood)).into() }
        }
    }
}

/// What is to be done now of what the task means, and once that is done, what is learnt.
fn carry_out(
    toolbox: &Toolbox<'_>,
    parts: &[Part],
    conversation: &Conversation<'_>,
    lesson: Option<Lesson>,
) -> Planned {
    match stages::next(toolbox, parts, conversation) {
        Next::Calls(calls) => ChatReply { calls, ..ChatReply::default() }.into(),
        Next::Finished(account) => {
            let report = answers::finished(toolbox, &account, &conversation.itself());
            // Where none of its conditions held, there is nothing else to be done for the task.
            if conversation.answer_was_not_enough && account.held_nothing() {
                return declined(report).into();
            }
            Planned { lesson, ..answered(report).into() }
        }
        Next::NotFound { account, outcome } => {
            declined(answers::not_found(toolbox, &account, &outcome.message, &conversation.itself())).into()
        }
        Next::Undecided { account, clause } => {
            declined(answers::undecided(toolbox, account, &clause, &conversation.itself())).into()
        }
        Next::Astray if conversation.takes_over => take_over::lost(conversation),
        Next::Astray => {
            declined("What was done does not fit the task any more, so I can't go on with it.".to_owned()).into()
        }
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
