//! For tests: a stop in the moment between a look at the latch and what is sent because of that look.

use std::fmt;
use std::sync::mpsc::{Receiver, sync_channel};
use std::sync::{Mutex, PoisonError};

use super::StopLatch;

/// The stop that comes right after the next look at a latch, on a thread of its own, before whoever looked goes on.
#[derive(Default)]
pub(super) struct Race(Mutex<Option<Box<dyn FnOnce() + Send>>>);

impl fmt::Debug for Race {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Race")
    }
}

impl Race {
    pub(super) fn was_looked_at(&self) {
        let stop = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(stop) = stop {
            std::thread::spawn(stop).join().unwrap();
        }
    }
}

impl StopLatch {
    /// Closes the latch right after the next look at it, and has `look` tell then what a stop knows.
    pub(crate) fn stop_after_next_look<T: Send + 'static>(
        &self,
        look: impl FnOnce() -> T + Send + 'static,
    ) -> Receiver<T> {
        let (known, receiver) = sync_channel(1);
        let latch = self.clone();
        let stop = move || {
            latch.close();
            known.send(look()).unwrap();
        };
        *self.race().0.lock().unwrap() = Some(Box::new(stop));
        receiver
    }
}
