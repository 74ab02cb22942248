//! What a running method knows of its call, and how it fails.

use std::fmt;
use std::future::Future;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use cortex_ros_client::RosError;
use cortex_ros_client::parameters::Undeclared;
use thiserror::Error;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// Why a method or a hook did not do what it says.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum Failure {
    /// It was cancelled and has come to rest.
    #[error("cancelled")]
    Cancelled,
    /// It could not be done, in words for a person and a model.
    #[error("{0}")]
    Reason(String),
}

impl From<&str> for Failure {
    fn from(reason: &str) -> Self {
        Self::Reason(reason.to_owned())
    }
}

impl From<String> for Failure {
    fn from(reason: String) -> Self {
        Self::Reason(reason)
    }
}

impl From<RosError> for Failure {
    fn from(error: RosError) -> Self {
        Self::Reason(error.to_string())
    }
}

impl From<Undeclared> for Failure {
    fn from(error: Undeclared) -> Self {
        Self::Reason(error.to_string())
    }
}

/// How often progress goes out at most: readers look at it ten times a second.
const PROGRESS_PAUSE: Duration = Duration::from_millis(100);
/// Characters of it that go out.
const PROGRESS_CHARACTERS: usize = 300;

/// Where what methods tell of their progress goes out: the name of the method, and the text. It must not wait.
pub(crate) type ProgressOutlet = Arc<dyn Fn(&str, String) + Send + Sync>;

/// What a running method knows of its call. Clones share it.
#[derive(Clone)]
pub struct CallContext {
    method: String,
    cancellation: CancellationToken,
    progress: Option<ProgressOutlet>,
    /// When progress went out last.
    told: Arc<Mutex<Option<Instant>>>,
}

impl fmt::Debug for CallContext {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { method, cancellation, .. } = self;
        formatter.debug_struct("CallContext").field("method", method).field("cancellation", cancellation).finish()
    }
}

impl CallContext {
    pub(crate) fn new(method: String, cancellation: CancellationToken, progress: Option<ProgressOutlet>) -> Self {
        Self { method, cancellation, progress, told: Arc::default() }
    }

    /// Tells how far the call is, in words for a person and a model: "1.2 of 3.0 m". Call it as often as you like: what comes
    /// within a tenth of a second after the last that went out is left out. Nothing goes out where the method was not declared with
    /// [`reports_progress`](crate::method::MethodBuilder::reports_progress).
    pub fn progress(&self, text: impl Into<String>) {
        let Some(outlet) = &self.progress else { return };
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        if told.is_some_and(|at| at.elapsed() < PROGRESS_PAUSE) {
            return;
        }
        *told = Some(Instant::now());
        drop(told);
        outlet(&self.method, text.into().chars().take(PROGRESS_CHARACTERS).collect());
    }

    /// The name of the method that was called.
    #[must_use]
    pub fn method(&self) -> &str {
        &self.method
    }

    /// Whether the call was cancelled.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.cancellation.is_cancelled()
    }

    /// Ends when the call is cancelled: by its cancel method, by its time-out, or because the component stops.
    ///
    /// The method then has [`crate::method::CANCEL_GRACE`] to come to rest and return; after that its future is
    /// dropped.
    pub async fn cancelled(&self) {
        self.cancellation.cancelled().await;
    }

    /// Awaits `work`, or drops it when the call is cancelled.
    ///
    /// # Errors
    /// [`Failure::Cancelled`] when the call was cancelled first.
    pub async fn or_cancelled<T>(&self, work: impl Future<Output = T>) -> Result<T, Failure> {
        tokio::select! {
            biased;
            () = self.cancellation.cancelled() => Err(Failure::Cancelled),
            result = work => Ok(result),
        }
    }
}
