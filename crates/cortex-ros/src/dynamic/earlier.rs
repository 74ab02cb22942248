//! Ends a goal that an earlier life of this process has sent, and of which nothing is known but its id.

use std::sync::Arc;
use std::time::Duration;

use cortex_protocol::{CallId, HaltState, MissionId};
use tokio::time::{Instant, sleep, timeout_at};
use uuid::Uuid;

use super::cancelling::cancel;
use super::following::ask;
use super::goal::Progress;
use super::{ActionClient, CancelAnswer, GoalId, GoalState};
use crate::RosError;

/// The question for the result is asked again after this time: requests can be lost.
const ASK_AGAIN: Duration = Duration::from_secs(1);

impl GoalId {
    /// The id of the goal of a mission's call, so that whoever knows the call knows the goal: the mission's id, with the
    /// number of the call in its last four bytes. None where the mission has no id that is unique without coordination.
    #[must_use]
    pub fn of_call(mission: &MissionId, call: CallId) -> Option<Self> {
        let mut bytes = Uuid::try_parse(mission.as_str()).ok()?.into_bytes();
        for (byte, number) in bytes.iter_mut().skip(12).zip(call.0.to_be_bytes()) {
            *byte ^= number;
        }
        Some(Self(Uuid::from_bytes(bytes)))
    }
}

impl ActionClient {
    /// Asks the server to end the goal, and waits, within `limit` in all, until it has ended.
    ///
    /// # Errors
    /// When there is no answer, or none that can be read: nothing is known then.
    pub async fn end_earlier(&self, id: GoalId, limit: Duration) -> Result<HaltState, RosError> {
        let end = Instant::now() + limit;
        let progress = Arc::new(Progress::new(self, id)?);
        match cancel(self, &progress, false, limit).await? {
            CancelAnswer::Accepted => Ok(match timeout_at(end, self.ended(&progress)).await {
                Ok(true) => HaltState::Halted,
                Ok(false) | Err(_) => HaltState::Unconfirmed,
            }),
            // What the server does not know, it does not carry out.
            CancelAnswer::AlreadyEnded | CancelAnswer::UnknownGoal => Ok(HaltState::AtRest),
            CancelAnswer::Rejected => Ok(HaltState::Refused),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_knows_the_call_knows_the_goal_and_no_two_calls_have_one() {
        let mission = MissionId::from("01a201dc-49fd-70ba-b2a9-0b0416e65832");
        let ids: std::collections::BTreeSet<GoalId> =
            (0..100).filter_map(|call| GoalId::of_call(&mission, CallId(call))).collect();
        assert_eq!(ids.len(), 100);
        let id = GoalId::of_call(&mission, CallId(3)).map(|id| id.to_string());
        assert_eq!(id.as_deref(), Some("01a201dc-49fd-70ba-b2a9-0b0416e65831"));
        assert_eq!(GoalId::of_call(&"cortex call".into(), CallId(1)), None);
    }
}
