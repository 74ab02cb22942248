//! Answers that come after their caller has given up.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::oneshot;

use crate::RosError;
use crate::calls::{CallKey, Calls, Haltable};

/// The caller bounds a call; should it forget, the call ends this much after its time.
const OVERTIME: Duration = Duration::from_secs(60);
/// How long the answer to a call that was given up is waited for, to learn that it is at rest.
const LIMIT: Duration = Duration::from_secs(600);

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
