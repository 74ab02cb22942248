//! A publisher that may be shared between threads and tasks.

use std::sync::{Arc, Mutex, PoisonError};

use r2r::WrappedTypesupport;

/// Publishes on one topic. Clones share it. Text in messages must not hold NUL, which ROS strings can't carry.
pub struct Publisher<T: WrappedTypesupport> {
    // The client library's publisher may move between threads but not be shared by them.
    inner: Arc<Mutex<r2r::Publisher<T>>>,
}

impl<T: WrappedTypesupport> Clone for Publisher<T> {
    fn clone(&self) -> Self {
        Self { inner: Arc::clone(&self.inner) }
    }
}

impl<T: WrappedTypesupport + 'static> Publisher<T> {
    /// Shares a publisher of the client library.
    #[must_use]
    pub fn new(inner: r2r::Publisher<T>) -> Self {
        Self { inner: Arc::new(Mutex::new(inner)) }
    }

    /// Publishes a message. One that can't be sent is logged and dropped: the next one is newer.
    pub fn publish(&self, message: &T) {
        let publisher = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        if let Err(problem) = publisher.publish(message) {
            tracing::warn!(kind = std::any::type_name::<T>(), "a message was not published: {problem}");
        }
    }
}
