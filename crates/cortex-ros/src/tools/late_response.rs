//! Answers that come after their caller has given up.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use cortex_core::CONFIRMATION_HOLDS;
use cortex_protocol::{Effect, FailureKind, ToolOutcome};
use cortex_ros_client::RosError;
use cortex_ros_client::dynamic::Turn;
use futures::future::Either;
use tokio::sync::oneshot;

use super::sent::Sent;
use crate::calls::{CallKey, Calls};

/// The caller bounds a call; should it forget, the call ends this much after its time.
const OVERTIME: Duration = Duration::from_secs(60);
/// How long the answer to a call that was given up is waited for, to learn that it is at rest.
const LIMIT: Duration = Duration::from_secs(600);
/// How long a request that was given up keeps its place at the service. It may still be in the queue there; but one
/// that is never answered must not keep others away.
const GIVEN_UP_KEEPS_PLACE: Duration = Duration::from_secs(10);

/// Waits for the turn of a call at its service, a call that acts only as long as what was decided about it holds: it is
/// decided upon anew then, since nothing was sent.
pub(super) async fn turn<T>(
    turn: impl Future<Output = Result<T, RosError>> + Send,
    effect: Effect,
) -> Result<T, ToolOutcome> {
    let turn = match effect {
        Effect::Observe => turn.await,
        Effect::Act | Effect::Move => match tokio::time::timeout(CONFIRMATION_HOLDS, turn).await {
            Ok(turn) => turn,
            Err(_) => {
                let seconds = CONFIRMATION_HOLDS.as_secs();
                let message = format!("it waited {seconds} s for its turn, and was not called");
                return Err(ToolOutcome::failure(FailureKind::Expired, message));
            }
        },
    };
    turn.map_err(|problem| ToolOutcome::failure(FailureKind::Unavailable, problem.to_string()))
}

/// The server of a request is no more, and its queue with it.
pub(super) struct ServerLost;

/// Waits for the answer to a request that has a place at its service. It keeps the place until it is answered; after
/// its caller has given up, which the end of the channel tells, for a while only; and not at all once the server is
/// lost.
pub(super) async fn in_place<T>(
    answer: impl Future<Output = T> + Send,
    turn: Turn,
    caller: oneshot::Receiver<ServerLost>,
) -> T {
    let kept = async move {
        if caller.await.is_err() {
            tokio::time::sleep(GIVEN_UP_KEEPS_PLACE).await;
        }
        drop(turn);
    };
    match futures::future::select(pin!(answer), pin!(kept)).await {
        Either::Left((answer, _)) => answer,
        Either::Right(((), answer)) => answer.await,
    }
}

/// Waits for the answer even when its caller has given up: only then is it known that the call is over.
pub(super) async fn wait<T>(
    answer: impl Future<Output = Result<T, RosError>> + Send,
    calls: Arc<Calls<Sent>>,
    key: CallKey,
    timeout: Duration,
    deliver: oneshot::Sender<Result<T, RosError>>,
) {
    let limit = timeout.saturating_add(OVERTIME).max(LIMIT);
    let Ok(answer) = tokio::time::timeout(limit, answer).await else {
        return;
    };
    if answer.is_ok() {
        calls.answered(&key);
    }
    if deliver.send(answer).is_err() {
        tracing::debug!("{} of mission {} was answered after it had been given up", key.1, key.0);
    }
}

#[cfg(test)]
mod tests {
    use std::future::pending;

    use tokio::time::Instant;

    use super::*;
    use cortex_ros_client::dynamic::Turns;

    /// How long the place of a request that is never answered is kept, after `end`.
    async fn kept(end: impl FnOnce(oneshot::Sender<ServerLost>)) -> Duration {
        let turns = Turns::default();
        let turn = turns.take(1).await.unwrap();
        while let Some(other) = futures::FutureExt::now_or_never(turns.take(1)) {
            drop(other);
        }
        let (caller, given_up) = oneshot::channel();
        let waiting = tokio::spawn(in_place(pending::<()>(), turn, given_up));
        end(caller);
        let began = Instant::now();
        turns.take(1).await.unwrap();
        waiting.abort();
        began.elapsed()
    }

    /// What was confirmed a minute ago would have been sent when the queue of its service had room at last.
    #[tokio::test(start_paused = true)]
    async fn regression_a_confirmed_call_waited_for_its_turn_without_being_confirmed_anew() {
        let turns = Turns::default();
        let mut held = Vec::new();
        while let Some(Ok(other)) = futures::FutureExt::now_or_never(turns.take(1)) {
            held.push(other);
        }
        for effect in [Effect::Act, Effect::Move] {
            let refused = turn(turns.take(1), effect).await.err().map(|outcome| outcome.status);
            assert_eq!(refused, Some(cortex_protocol::OutcomeStatus::Failed(FailureKind::Expired)), "{effect:?}");
        }
        let looks = tokio::time::timeout(CONFIRMATION_HOLDS * 10, turn(turns.take(1), Effect::Observe)).await;
        assert!(looks.is_err(), "a look waits on");
        drop(held);
        assert!(turn(turns.take(1), Effect::Move).await.is_ok());
    }

    #[tokio::test(start_paused = true)]
    async fn a_request_that_is_never_answered_does_not_keep_its_place() {
        assert_eq!(kept(drop).await, GIVEN_UP_KEEPS_PLACE);
        assert_eq!(kept(|caller| assert!(caller.send(ServerLost).is_ok())).await, Duration::ZERO);
    }

    #[tokio::test(start_paused = true)]
    async fn an_answer_ends_the_wait_and_one_that_is_late_is_waited_for() {
        let turns = Turns::default();
        let (caller, given_up) = oneshot::channel();
        let turn = turns.take(1).await.unwrap();
        assert_eq!(in_place(async { 7 }, turn, given_up).await, 7);
        drop(caller);
        let (caller, given_up) = oneshot::channel();
        drop(caller);
        let late = async {
            tokio::time::sleep(GIVEN_UP_KEEPS_PLACE * 2).await;
            8
        };
        assert_eq!(in_place(late, turns.take(1).await.unwrap(), given_up).await, 8);
    }
}
