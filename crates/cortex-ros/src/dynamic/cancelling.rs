//! Ends a goal: one that is on its way to the server, too.
//!
//! The goal and the wish to end it go separate ways. So a server may say that it does not know a goal, and accept it a
//! moment later. What was to be ended must not begin then: the wish is kept until it is known what became of the goal,
//! and is sent again when it was accepted.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use cortex_interfaces::{Message, MessageView};
use serde_json::json;
use tokio::sync::watch;
use tokio::time::{Instant, timeout_at};

use super::goal::fill;
use super::{ActionClient, CancelAnswer, GoalId};
use crate::RosError;

/// Asks the server to end a goal, and waits for the answer.
pub(super) async fn cancel(client: &ActionClient, id: GoalId, limit: Duration) -> Result<CancelAnswer, RosError> {
    let service = client.cancel_goal();
    let mut request = Message::new(&service.interface().request);
    // Without a time stamp it is this goal alone that is meant.
    fill(client, &mut request, "goal_info", &json!({ "goal_id": id.as_json() }))?;
    let answer = service.call(&request, limit).await?;
    let view = answer.view();
    // The numbers of `action_msgs/srv/CancelGoal`.
    match view.integer("return_code") {
        Some(0) if is_among(id, view) => Ok(CancelAnswer::Accepted),
        // Some servers refuse by an empty list.
        Some(0 | 1) => Ok(CancelAnswer::Rejected),
        Some(2) => Ok(CancelAnswer::UnknownGoal),
        Some(3) => Ok(CancelAnswer::AlreadyEnded),
        code => Err(RosError::Nonsense {
            name: service.service().to_owned(),
            problem: format!("{} is no code of an answer", code.unwrap_or_default()),
        }),
    }
}

/// Whether it is among the goals that the server says it will end.
fn is_among(id: GoalId, answer: MessageView<'_>) -> bool {
    let mut ids = answer.list("goals_canceling").into_iter().flatten().filter_map(|goal| goal.nested("goal_id"));
    ids.any(|found| GoalId::of(found) == Some(id))
}

/// The wish to end a goal that was sent, but not answered yet. It is sent at once, and again when the goal was accepted:
/// the server may have heard the first before the goal.
pub(super) struct Wish {
    known: Mutex<Known>,
    answer: watch::Sender<Option<CancelAnswer>>,
}

#[derive(Default)]
struct Known {
    answered: bool,
    wished: bool,
}

impl Wish {
    pub(super) fn new() -> Self {
        Self { known: Mutex::default(), answer: watch::Sender::new(None) }
    }

    /// The goal was answered. Returns whether it is to be ended now.
    pub(super) fn goal_was_answered(&self) -> bool {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.answered = true;
        known.wished
    }

    /// Wishes that the goal is ended once it was answered. False when it was.
    pub(super) fn wish(&self) -> bool {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.wished |= !known.answered;
        !known.answered
    }

    /// Whether the wish is kept for a goal that was not answered yet.
    pub(super) fn is_open(&self) -> bool {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.wished && !known.answered
    }

    /// What became of it.
    pub(super) fn fulfilled(&self, answer: CancelAnswer) {
        self.answer.send_replace(Some(answer));
    }

    /// Waits for what becomes of it. None when the time is up before.
    pub(super) async fn outcome(&self, end: Instant) -> Option<CancelAnswer> {
        let mut answer = self.answer.subscribe();
        let answer = timeout_at(end, answer.wait_for(Option::is_some)).await.ok()?.ok()?;
        *answer
    }
}
