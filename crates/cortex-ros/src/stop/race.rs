//! For tests: a stop in the moment between a look at the latch and what is sent because of that look.

use std::fmt;
use std::sync::mpsc::{Receiver, sync_channel};
use std::sync::{Mutex, PoisonError};

use super::StopLatch;
use super::deeds::EndingDeeds;

/// The stop that comes right after the next look at a latch, on a thread of its own, before whoever looked goes on.
#[derive(Default)]
pub(super) struct Race(Mutex<Option<Box<dyn FnOnce() + Send>>>);

/// What a stop knows of what is under way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Known {
    /// Something is being sent in this moment.
    IsBeingSent,
    /// So many were sent and have not ended.
    Open(usize),
}

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

    /// The same, of what is done beside the tools.
    pub(crate) fn race_beside_tools(&self) -> Receiver<Known> {
        let latch = self.clone();
        self.stop_after_next_look(move || match EndingDeeds::begin(&latch) {
            None => Known::IsBeingSent,
            Some(ending) => Known::Open(ending.count()),
        })
    }
}
