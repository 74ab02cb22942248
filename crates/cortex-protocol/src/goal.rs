//! What kind of thing a task asks for.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a task asks for. It decides which tools are offered, and what counts as its end. In doubt,
/// [`GoalClass::Action`]: words alone never fulfil it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema, Default)]
#[serde(rename_all = "snake_case")]
pub enum GoalClass {
    /// A greeting, thanks, "what can you do?". Words are all that it needs.
    Conversation,
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

impl GoalClass {
    /// Whether words alone may be the whole answer.
    #[must_use]
    pub fn is_answered_by_words(self) -> bool {
        matches!(self, Self::Conversation | Self::QuestionAboutSelf | Self::QuestionAboutWorld)
    }

    /// Whether tools that act have any place in it.
    #[must_use]
    pub fn may_act(self) -> bool {
        !matches!(self, Self::Conversation | Self::QuestionAboutSelf)
    }

    /// Whether it goes on, round after round, once its plan was carried out.
    #[must_use]
    pub fn goes_on(self) -> bool {
        matches!(self, Self::StandingOrder | Self::EndlessOrder)
    }
}

impl std::fmt::Display for GoalClass {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(match self {
            Self::Conversation => "a conversation",
            Self::QuestionAboutSelf => "a question about the robot itself",
            Self::QuestionAboutWorld => "a question about the world",
            Self::Action => "an action",
            Self::SearchOrPatrol => "a search or patrol",
            Self::StandingOrder => "a standing order",
            Self::EndlessOrder => "an order without an end",
        })
    }
}
