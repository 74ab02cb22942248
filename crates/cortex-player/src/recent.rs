//! The newest events, for those who follow.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use cortex_core::EventStream;
use cortex_protocol::{CloudEvent, EventId};
use tokio::sync::watch;

/// Most events that are kept, and most bytes of them. Who lags behind further is told of a gap.
const KEPT: usize = 4_096;
const KEPT_BYTES: usize = 8 << 20;

/// The newest events.
#[derive(Default)]
pub(crate) struct Recent {
    kept: Mutex<Kept>,
    /// The place after the newest.
    end: watch::Sender<u64>,
}

#[derive(Default)]
struct Kept {
    /// The place of the oldest one.
    first: u64,
    events: VecDeque<(Arc<CloudEvent>, usize)>,
    bytes: usize,
}

impl Recent {
    pub(crate) fn add(&self, event: Arc<CloudEvent>, bytes: usize) {
        let mut kept = self.kept();
        kept.events.push_back((event, bytes));
        kept.bytes += bytes;
        while kept.events.len() > KEPT || (kept.bytes > KEPT_BYTES && kept.events.len() > 1) {
            if let Some((_, bytes)) = kept.events.pop_front() {
                kept.bytes -= bytes;
            }
            kept.first += 1;
        }
        let end = kept.first + kept.events.len() as u64;
        drop(kept);
        self.end.send_replace(end);
    }

    /// Those that come from now on, or after an event. Of one that is not kept any more, all that are.
    pub(crate) fn follow(self: &Arc<Self>, after: Option<&EventId>) -> Box<dyn EventStream> {
        let kept = self.kept();
        let end = kept.first + kept.events.len() as u64;
        let next = after.map_or(end, |after| {
            let at = kept.events.iter().position(|(event, _)| event.id == *after);
            at.map_or(kept.first, |at| kept.first + at as u64 + 1)
        });
        drop(kept);
        Box::new(Following { recent: Arc::clone(self), end: self.end.subscribe(), next, missed: 0 })
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// See [`EventStream`].
struct Following {
    recent: Arc<Recent>,
    end: watch::Receiver<u64>,
    next: u64,
    missed: u64,
}

#[async_trait]
impl EventStream for Following {
    async fn next(&mut self) -> Option<Arc<CloudEvent>> {
        let next = self.next;
        self.end.wait_for(|end| *end > next).await.ok()?;
        let kept = self.recent.kept();
        let lost = kept.first.saturating_sub(self.next);
        let place = usize::try_from(self.next + lost - kept.first).ok()?;
        let event = kept.events.get(place).map(|(event, _)| Arc::clone(event))?;
        self.missed += lost;
        self.next += lost + 1;
        Some(event)
    }

    fn missed(&self) -> u64 {
        self.missed
    }
}
