//! What is known of the calls that were made, so that a halt can tell what may still be going on. No ROS here.
//!
//! A call takes a while before it is sent: its type is loaded, its server is waited for. A halt that comes meanwhile finds
//! nothing that goes on, and says so; from then on the call must not be sent. So whether a call is sent or halted is one
//! decision, made under one lock.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cortex_core::Invocation;
use cortex_protocol::{CallId, HaltState, MissionId, ToolOutcome};

/// Calls that are remembered. A halt comes while a call runs or soon after; a mission has at most a few dozen calls.
const REMEMBERED: usize = 1024;

/// Identifies a call.
pub(crate) type CallKey = (MissionId, CallId);

/// The key of an invocation.
pub(crate) fn key(invocation: &Invocation) -> CallKey {
    (invocation.mission.clone(), invocation.id)
}

/// What comes of a call that was halted before it was sent.
pub(crate) fn halted_before_it_was_sent() -> ToolOutcome {
    ToolOutcome::cancelled(HaltState::AtRest, "it was halted before it was sent")
}

/// The calls that were halted, of all kinds of tools: none of them is sent any more.
#[derive(Debug, Default)]
pub(crate) struct Halts {
    halted: Mutex<Halted>,
}

#[derive(Debug, Default)]
struct Halted {
    keys: BTreeSet<CallKey>,
    order: VecDeque<CallKey>,
}

impl Halts {
    /// The call is halted. One that is being sent in this moment has been sent when this returns.
    pub(crate) fn halt(&self, key: CallKey) {
        let mut halted = self.lock();
        if halted.keys.insert(key.clone()) {
            halted.order.push_back(key);
        }
        while halted.order.len() > REMEMBERED {
            if let Some(oldest) = halted.order.pop_front() {
                halted.keys.remove(&oldest);
            }
        }
    }

    /// Sends a call. None if it was halted; then `send` is not run. A halt waits until it has returned, so it must not
    /// wait for anything.
    pub(crate) fn unless_halted<T>(&self, key: &CallKey, send: impl FnOnce() -> T) -> Option<T> {
        let halted = self.lock();
        (!halted.keys.contains(key)).then(send)
    }

    fn lock(&self) -> MutexGuard<'_, Halted> {
        self.halted.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The calls that were sent and not answered yet, each with what it takes to halt it.
#[derive(Debug)]
pub(crate) struct Calls<C> {
    halts: Arc<Halts>,
    inner: Mutex<Inner<C>>,
}

#[derive(Debug)]
struct Inner<C> {
    open: BTreeMap<CallKey, C>,
    order: VecDeque<CallKey>,
}

impl<C: Clone> Calls<C> {
    /// No calls yet. What is halted according to `halts` is not sent.
    pub(crate) fn new(halts: &Arc<Halts>) -> Self {
        let inner = Mutex::new(Inner { open: BTreeMap::new(), order: VecDeque::new() });
        Self { halts: Arc::clone(halts), inner }
    }

    /// Sends a call and takes it down, as one. None if it was halted before; then `send` is not run. It must not wait.
    pub(crate) fn send<T>(&self, key: CallKey, call: C, send: impl FnOnce() -> T) -> Option<T> {
        self.halts.unless_halted(&key.clone(), || {
            self.take_down(key, call);
            send()
        })
    }

    fn take_down(&self, key: CallKey, call: C) {
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

    fn call(number: u32) -> CallKey {
        ("mission".into(), CallId(number))
    }

    #[test]
    fn a_call_is_open_from_its_sending_to_its_answer() {
        let calls = Calls::new(&Arc::default());
        assert_eq!(calls.open(&call(1)), None);
        assert_eq!(calls.send(call(1), "base", || calls.open(&call(1))), Some(Some("base")), "a halt finds it at once");
        assert_eq!(calls.open(&call(1)), Some("base"));
        calls.answered(&call(1));
        assert_eq!(calls.open(&call(1)), None);
    }

    #[test]
    fn a_call_that_was_halted_is_not_sent_whatever_kind_it_is() {
        let halts = Arc::default();
        let (services, goals) = (Calls::new(&halts), Calls::new(&halts));
        halts.halt(call(1));
        halts.halt(call(1));
        let mut sent = Vec::new();
        assert_eq!(services.send(call(1), "lamp", || sent.push("lamp")), None);
        assert_eq!(goals.send(call(1), 5, || sent.push("goal")), None);
        assert_eq!((services.open(&call(1)), goals.open(&call(1))), (None, None));
        assert_eq!(goals.send(call(2), 5, || sent.push("another")), Some(()));
        assert_eq!(sent, ["another"]);
    }

    #[test]
    fn the_memory_is_bounded_and_the_oldest_go_first() {
        let (halts, others) = (Arc::new(Halts::default()), Arc::default());
        let calls = Calls::new(&others);
        for number in 0..2000 {
            calls.send(call(number), "base", || ());
            halts.halt(call(number));
        }
        let open = |number| calls.open(&call(number)).is_some();
        assert_eq!((open(0), open(975), open(976), open(1999)), (false, false, true, true));
        let halted = |number| halts.unless_halted(&call(number), || ()).is_none();
        assert_eq!((halted(0), halted(975), halted(976), halted(1999)), (false, false, true, true));
    }
}
