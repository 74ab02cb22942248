//! What is known of the calls that were made, so that a halt can tell what may still be going on. No ROS here.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};

use cortex_core::Invocation;
use cortex_protocol::{CallId, MissionId};

/// Calls that are remembered. A halt comes while a call runs or soon after; a mission has at most a few dozen calls.
const REMEMBERED: usize = 1024;

/// Identifies a call.
pub(crate) type CallKey = (MissionId, CallId);

/// The key of an invocation.
pub(crate) fn key(invocation: &Invocation) -> CallKey {
    (invocation.mission.clone(), invocation.id)
}

/// The calls that were sent and not answered yet, each with what it takes to halt it.
#[derive(Debug)]
pub(crate) struct Calls<C> {
    inner: Mutex<Inner<C>>,
}

#[derive(Debug)]
struct Inner<C> {
    open: BTreeMap<CallKey, C>,
    order: VecDeque<CallKey>,
}

impl<C> Default for Calls<C> {
    fn default() -> Self {
        Self { inner: Mutex::new(Inner { open: BTreeMap::new(), order: VecDeque::new() }) }
    }
}

impl<C: Clone> Calls<C> {
    /// A call goes out.
    pub(crate) fn sent(&self, key: CallKey, call: C) {
        let mut inner = self.lock();
        inner.order.push_back(key.clone());
        inner.open.insert(key, call);
        while inner.order.len() > REMEMBERED {
            if let Some(oldest) = inner.order.pop_front() {
                inner.open.remove(&oldest);
            }
        }
    }

    /// Whoever was called has answered; nothing goes on.
    pub(crate) fn answered(&self, key: &CallKey) {
        let mut inner = self.lock();
        if inner.open.remove(key).is_some() {
            inner.order.retain(|kept| kept != key);
        }
    }

    /// The call, if it was sent and is not answered.
    pub(crate) fn open(&self, key: &CallKey) -> Option<C> {
        self.lock().open.get(key).cloned()
    }

    fn lock(&self) -> MutexGuard<'_, Inner<C>> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_is_open_from_its_sending_to_its_answer() {
        let calls = Calls::default();
        let key = ("mission".into(), CallId(1));
        assert_eq!(calls.open(&key), None);
        calls.sent(key.clone(), "base");
        assert_eq!(calls.open(&key), Some("base"));
        calls.answered(&key);
        assert_eq!(calls.open(&key), None);
    }

    #[test]
    fn the_memory_is_bounded_and_the_oldest_go_first() {
        let calls = Calls::default();
        for number in 0..2000 {
            calls.sent(("mission".into(), CallId(number)), "base");
        }
        let open = |number| calls.open(&("mission".into(), CallId(number))).is_some();
        assert_eq!((open(0), open(975), open(976), open(1999)), (false, false, true, true));
    }
}
