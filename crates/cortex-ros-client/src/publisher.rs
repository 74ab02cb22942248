//! A publisher that may be shared between threads and tasks.

use std::sync::{Arc, Mutex, PoisonError};

use crate::TypedMessage;

/// Publishes on one topic. Clones share it. Text in messages must not hold NUL, which ROS strings can't carry.
pub struct Publisher<T: TypedMessage> {
    // The client library's publisher may move between threads but not be shared by them.
    inner: Arc<Mutex<r2r::Publisher<T>>>,
}

impl<T: TypedMessage> Clone for Publisher<T> {
    fn clone(&self) -> Self {
        Self { inner: Arc::clone(&self.inner) }
    }
}

impl<T: TypedMessage> Publisher<T> {
    /// Publishes a message. One that can't be sent is logged and dropped: the next one is newer.
    pub fn publish(&self, message: &T) {
        let publisher = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        if let Err(problem) = publisher.publish(message) {
            tracing::warn!(kind = std::any::type_name::<T>(), "a message was not published: {problem}");
        }
    }

    /// Whether another process reads the topic now: what is large or costs time is made only then. Where that can't be
    /// told, somebody may.
    #[must_use]
    pub fn is_read(&self) -> bool {
        let publisher = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        publisher.get_inter_process_subscription_count().map_or(true, |readers| readers > 0)
    }
}

/// Shares a publisher of the client library.
#[must_use]
pub fn shared<T: TypedMessage>(publisher: r2r::Publisher<T>) -> Publisher<T> {
    Publisher { inner: Arc::new(Mutex::new(publisher)) }
}
