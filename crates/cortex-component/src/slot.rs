//! A place for what `on_configure` makes and methods use.

use std::sync::{Arc, Mutex, PoisonError};

use crate::call::Failure;

/// Holds what `on_configure` makes, for example a publisher, for the hooks and methods that use it. Clones share it.
#[derive(Debug)]
pub struct Slot<T> {
    inner: Arc<Mutex<Option<T>>>,
}

impl<T> Default for Slot<T> {
    fn default() -> Self {
        Self { inner: Arc::default() }
    }
}

impl<T> Clone for Slot<T> {
    fn clone(&self) -> Self {
        Self { inner: Arc::clone(&self.inner) }
    }
}

impl<T: Clone> Slot<T> {
    /// Puts something in, in place of what was there.
    pub fn put(&self, value: T) {
        *self.inner.lock().unwrap_or_else(PoisonError::into_inner) = Some(value);
    }

    /// What was put in.
    ///
    /// # Errors
    /// When the component was not configured.
    pub fn get(&self) -> Result<T, Failure> {
        let value = self.inner.lock().unwrap_or_else(PoisonError::into_inner).clone();
        value.ok_or_else(|| "the component is not configured".into())
    }
}
