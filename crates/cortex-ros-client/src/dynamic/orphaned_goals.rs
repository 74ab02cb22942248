//! Ends a goal that an earlier life of this process has sent, and of which nothing is known but its id.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::{Instant, sleep, timeout_at};

use super::cancelling::cancel;
use super::goal::Progress;
use super::goal_tracking::ask;
use super::{ActionClient, CancelAnswer, GoalId, GoalState};
use crate::RosError;

/// The question for the result is asked again after this time: requests can be lost.
const ASK_AGAIN: Duration = Duration::from_secs(1);

/// The end of a goal that an earlier life of this process has sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EarlierGoal {
    /// It was under way, and has ended.
    Ended,
    /// The server has accepted to end it, and did not say in time that it has ended.
    Unconfirmed,
    /// It was not under way: the server does not know it, or it had ended before.
    AtRest,
    /// The server refuses to end it.
    Refused,
}

impl ActionClient {
    /// Asks the server to end the goal, and waits, within `limit` in all, until it has ended.
    ///
    /// # Errors
    /// When there is no answer, or none that can be read: nothing is known then.
    pub async fn end_earlier(&self, id: GoalId, limit: Duration) -> Result<EarlierGoal, RosError> {
        let end = Instant::now() + limit;
        let progress = Arc::new(Progress::new(self, id)?);
        match cancel(self, &progress, false, limit).await? {
            CancelAnswer::Accepted => Ok(match timeout_at(end, self.ended(&progress)).await {
                Ok(true) => EarlierGoal::Ended,
                Ok(false) | Err(_) => EarlierGoal::Unconfirmed,
            }),
            // What the server does not know, it does not carry out.
            CancelAnswer::AlreadyEnded | CancelAnswer::UnknownGoal => Ok(EarlierGoal::AtRest),
            CancelAnswer::Rejected => Ok(EarlierGoal::Refused),
        }
    }

    /// Waits for the goal's result. False when the server says something else.
    async fn ended(&self, progress: &Progress) -> bool {
        loop {
            let Ok(answer) = ask(self, progress) else { return false };
            tokio::select! {
                answer = answer => {
                    let status = answer.ok().and_then(|answer| answer.view().integer("status"));
                    // One that is not known any more has ended, too.
                    let state = status.and_then(GoalState::of);
                    return state.is_some_and(|state| state.is_final() || state == GoalState::Unknown);
                }
                () = sleep(ASK_AGAIN) => {}
            }
        }
    }
}
