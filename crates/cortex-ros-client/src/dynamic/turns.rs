//! How many requests of this process may be at one service at a time. A server keeps what it does not work on yet in a
//! queue of some length, 10 by default, and loses what comes on top without a word. So the rest waits here, in order.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::RosError;
use crate::rcl::announced::History;

/// Requests at a service whose queue is not known: half of the default, since other processes may call it, too.
const UNKNOWN_QUEUE: usize = 5;
/// What is left free of a queue that is known, for halts and for others: they wait for no turn.
const LEFT_FREE: usize = 2;
/// Most requests at a service, whatever its queue holds: about as many as answers are kept until they are taken.
const MOST_AT_ONCE: usize = 64;
/// Most requests that wait for their turn at one service.
const MOST_WAITING: usize = 1024;

/// How many requests may be at servers that keep as many as they say.
pub(super) fn room(servers: impl Iterator<Item = History>) -> usize {
    let rooms = servers.map(|history| match history {
        History::KeepLast(0) | History::Unknown => UNKNOWN_QUEUE,
        History::KeepLast(depth) => depth.saturating_sub(LEFT_FREE).clamp(1, MOST_AT_ONCE),
        History::KeepAll => MOST_AT_ONCE,
    });
    // Each server gets each request.
    rooms.min().unwrap_or(UNKNOWN_QUEUE)
}

/// The turns of all services, by name: clients of the same one share them.
#[derive(Default)]
pub(super) struct AllTurns(Mutex<BTreeMap<String, Weak<Turns>>>);

impl AllTurns {
    pub(super) fn of(&self, service: &str) -> Arc<Turns> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(turns) = all.get(service).and_then(Weak::upgrade) {
            return turns;
        }
        all.retain(|_, turns| turns.strong_count() > 0);
        let turns = Arc::new(Turns::default());
        all.insert(service.to_owned(), Arc::downgrade(&turns));
        turns
    }
}

/// The turns at one service.
pub struct Turns {
    free: Arc<Semaphore>,
    /// How many there are, free or not.
    size: Mutex<usize>,
    waiting: AtomicUsize,
}

impl Default for Turns {
    fn default() -> Self {
        let free = Arc::new(Semaphore::new(UNKNOWN_QUEUE));
        Self { free, size: Mutex::new(UNKNOWN_QUEUE), waiting: AtomicUsize::new(0) }
    }
}

/// The right to have a request at a service, until it is dropped.
pub struct Turn {
    _permit: OwnedSemaphorePermit,
}

impl Turns {
    /// Waits for a turn, in the order of the callers, where so many may be at the service. Whoever stops waiting gives
    /// its place up.
    ///
    /// # Errors
    /// When too many wait.
    pub async fn take(&self, room: usize) -> Result<Turn, RosError> {
        self.resize(room);
        let _waiting = Waiting::begin(&self.waiting)?;
        // It is never closed.
        let permit = Arc::clone(&self.free).acquire_owned().await.map_err(|_| RosError::ShutDown)?;
        Ok(Turn { _permit: permit })
    }

    /// Where there are too many, those that are not free go when a later caller finds them so.
    fn resize(&self, room: usize) {
        let mut size = self.size.lock().unwrap_or_else(PoisonError::into_inner);
        if room > *size {
            self.free.add_permits(room - *size);
            *size = room;
        } else {
            *size -= self.free.forget_permits(*size - room);
        }
    }
}

/// One that waits.
struct Waiting<'a>(&'a AtomicUsize);

impl<'a> Waiting<'a> {
    fn begin(waiting: &'a AtomicUsize) -> Result<Self, RosError> {
        let begun = Self(waiting);
        if waiting.fetch_add(1, Ordering::AcqRel) >= MOST_WAITING {
            return Err(RosError::TooMany { what: "calls that wait for one service", limit: MOST_WAITING });
        }
        Ok(begun)
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt;

    use super::*;

    fn take(turns: &Turns, room: usize) -> Option<Turn> {
        turns.take(room).now_or_never().map(Result::unwrap)
    }

    #[test]
    fn a_server_gets_less_than_it_keeps_and_one_that_does_not_say_well_less_than_the_default() {
        let room_of = |history: &[History]| room(history.iter().copied());
        assert_eq!(room_of(&[History::KeepLast(10)]), 8);
        assert_eq!(room_of(&[History::KeepLast(1)]), 1);
        assert_eq!(room_of(&[History::KeepLast(1_000)]), MOST_AT_ONCE);
        assert_eq!(room_of(&[History::KeepAll]), MOST_AT_ONCE);
        for unknown in [&[][..], &[History::Unknown], &[History::KeepLast(0)], &[History::KeepAll, History::Unknown]] {
            assert_eq!(room_of(unknown), UNKNOWN_QUEUE, "{unknown:?}");
        }
    }

    #[test]
    fn whoever_waits_gets_its_turn_in_order_and_one_that_gives_up_keeps_nobody_waiting() {
        let turns = Turns::default();
        let first = take(&turns, 1).unwrap();
        let mut waiting: Vec<_> = (0..3).map(|_| Box::pin(turns.take(1))).collect();
        assert!(waiting.iter_mut().all(|turn| turn.now_or_never().is_none()));
        drop(waiting.remove(0));
        drop(first);
        assert!(waiting[1].as_mut().now_or_never().is_none(), "another was there before");
        let second = waiting[0].as_mut().now_or_never().unwrap().unwrap();
        assert!(waiting[1].as_mut().now_or_never().is_none());
        drop(second);
        assert!(waiting[1].as_mut().now_or_never().is_some());
    }

    #[test]
    fn the_turns_follow_the_queue_of_the_server_that_is_there_now() {
        let turns = Turns::default();
        let held: Vec<Turn> = (0..8).map(|_| take(&turns, 8).unwrap()).collect();
        assert!(take(&turns, 8).is_none());
        let ninth = take(&turns, 9).unwrap();
        // A server with a shorter queue has come; what is on its way comes back.
        assert!(take(&turns, 2).is_none());
        drop((held, ninth));
        let held: Vec<Turn> = (0..2).map(|_| take(&turns, 2).unwrap()).collect();
        assert!(take(&turns, 2).is_none());
        drop(held);
    }

    #[tokio::test]
    async fn so_many_wait_and_no_more() {
        let turns = Turns::default();
        let _held = take(&turns, 1).unwrap();
        while take(&turns, 1).is_some() {}
        let mut waiting: Vec<_> = (0..MOST_WAITING).map(|_| Box::pin(turns.take(1))).collect();
        assert!(waiting.iter_mut().all(|turn| turn.now_or_never().is_none()));
        assert!(matches!(turns.take(1).await, Err(RosError::TooMany { .. })));
        waiting.pop();
        assert!(take(&turns, 1).is_none(), "it waits");
    }

    #[test]
    fn clients_of_one_service_share_its_turns_and_what_nobody_uses_is_forgotten() {
        let all = AllTurns::default();
        let one = all.of("/lamp/switch");
        assert!(Arc::ptr_eq(&one, &all.of("/lamp/switch")));
        assert!(!Arc::ptr_eq(&one, &all.of("/other")));
        all.of("/third");
        assert_eq!(all.0.lock().unwrap().len(), 2);
    }
}
