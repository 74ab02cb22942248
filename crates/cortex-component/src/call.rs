//! What a running method knows of its call, and how it fails.

use std::future::Future;

use cortex_ros_client::RosError;
use cortex_ros_client::parameters::Undeclared;
use thiserror::Error;
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

/// What a running method knows of its call. Clones share it.
#[derive(Debug, Clone)]
pub struct CallContext {
    method: String,
    cancellation: CancellationToken,
}

impl CallContext {
    pub(crate) fn new(method: String, cancellation: CancellationToken) -> Self {
        Self { method, cancellation }
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
