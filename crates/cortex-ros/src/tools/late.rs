//! Answers that come after their caller has given up.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use futures::future::Either;
use tokio::sync::oneshot;

use crate::RosError;
use crate::calls::{CallKey, Calls, Haltable};
use crate::dynamic::Turn;

/// The caller bounds a call; should it forget, the call ends this much after its time.
const OVERTIME: Duration = Duration::from_secs(60);
/// How long the answer to a call that was given up is waited for, to learn that it is at rest.
const LIMIT: Duration = Duration::from_secs(600);
/// How long a request that was given up keeps its place at the service. It may still be in the queue there; but one
/// that is never answered must not keep others away.
const GIVEN_UP_KEEPS_PLACE: Duration = Duration::from_secs(10);

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
pub(super) async fn wait<T, C: Haltable>(
    answer: impl Future<Output = Result<T, RosError>> + Send,
    calls: Arc<Calls<C>>,
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
    use crate::dynamic::Turns;

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
