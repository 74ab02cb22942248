//! What kind of thing a task asks for.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::ToolName;

/// What a task asks for. It decides which tools are offered, and what counts as its end. In doubt,
/// [`TaskClass::Action`]: words alone never fulfil it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema, Default)]
#[serde(rename_all = "snake_case")]
pub enum TaskClass {
    /// A greeting, thanks, "what can you do?". Words are all that it needs.
    Conversation,
    /// A question that general knowledge answers, wherever the robot is: "why is the sky blue?" Words are all that it
    /// needs; nothing has to be looked at first, though tools that look may tell more.
    KnowledgeQuestion,
    /// A question about the robot itself: its battery, its health, where it is.
    QuestionAboutSelf,
    /// Any other question. To answer it the robot may have to go and look.
    QuestionAboutWorld,
    /// Something is to be done.
    #[default]
    Action,
    /// Something is to be done at each of several places.
    SearchOrPatrol,
    /// Something is to be done until something is so: "until you see a person".
    StandingOrder,
    /// Something is to be done until somebody ends it: "until I say stop".
    EndlessOrder,
}

/// What a text asks for, as it was read from its words and from the sentences that tools declare. Missions take it as
/// data, so that a record of one replays as it ran, whatever the tables of languages say since.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Default)]
#[serde(default)]
pub struct TaskReading {
    /// What kind of thing it asks for.
    pub class: TaskClass,
    /// Whether it is an order whose only action is a look: "find the cup". What was seen carries it out.
    pub is_search: bool,
    /// Of each clause, the tools that declare it as a sentence of theirs. Empty unless every clause has one.
    pub declared_by: Vec<BTreeSet<ToolName>>,
}

impl TaskClass {
    /// Whether words alone may be the whole answer.
    #[must_use]
    pub fn is_answered_by_words(self) -> bool {
        matches!(
            self,
            Self::Conversation | Self::KnowledgeQuestion | Self::QuestionAboutSelf | Self::QuestionAboutWorld
        )
    }

    /// Whether tools that act have any place in it.
    #[must_use]
    pub fn may_act(self) -> bool {
        !matches!(self, Self::Conversation | Self::KnowledgeQuestion | Self::QuestionAboutSelf)
    }

    /// Whether it goes on, round after round, once its plan was carried out.
    #[must_use]
    pub fn goes_on(self) -> bool {
        matches!(self, Self::StandingOrder | Self::EndlessOrder)
    }
}

impl std::fmt::Display for TaskClass {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(match self {
            Self::Conversation => "a conversation",
            Self::KnowledgeQuestion => "a question of general knowledge",
            Self::QuestionAboutSelf => "a question about the robot itself",
            Self::QuestionAboutWorld => "a question about the world",
            Self::Action => "an action",
            Self::SearchOrPatrol => "a search or patrol",
            Self::StandingOrder => "a standing order",
            Self::EndlessOrder => "an order without an end",
        })
    }
}
