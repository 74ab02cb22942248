//! Signs of life of a loop.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// What is counted when a loop has ended as it should.
const ENDED: u64 = u64::MAX;

/// Counts the turns of a loop, at least one in two seconds, so that somebody else can see that it goes on. Clones count the
/// same loop.
#[derive(Debug, Clone, Default)]
pub struct LivenessCounter(Arc<AtomicU64>);

impl LivenessCounter {
    /// One of a counter that somebody else counts, with `u64::MAX` for an end.
    #[must_use]
    pub fn of(counter: Arc<AtomicU64>) -> Self {
        Self(counter)
    }

    /// Another turn.
    pub fn beat(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    /// There are no more turns, and need be none.
    pub fn end(&self) {
        self.0.store(ENDED, Ordering::Relaxed);
    }

    /// The turns so far. None when it has ended as it should.
    #[must_use]
    pub fn count(&self) -> Option<u64> {
        Some(self.0.load(Ordering::Relaxed)).filter(|count| *count != ENDED)
    }
}
