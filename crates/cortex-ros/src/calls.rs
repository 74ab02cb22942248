//! What is known of the calls that were made, so that a halt can tell what may still be going on. No ROS here.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};

use cortex_core::Invocation;
use cortex_protocol::{CallId, CancelMode, ComponentName, MissionId};

/// Calls that are remembered. A halt comes while a call runs or soon after; a mission has at most a few dozen calls.
const REMEMBERED: usize = 1024;

/// Identifies a call.
pub(crate) type CallKey = (MissionId, CallId);

/// The key of an invocation.
pub(crate) fn key(invocation: &Invocation) -> CallKey {
    (invocation.mission.clone(), invocation.id)
}

/// A call that was sent and what halts it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SentCall {
    /// Who carries it out.
    pub(crate) component: ComponentName,
    /// What cancelling it takes.
    pub(crate) cancel: CancelMode,
    /// The method of the same component that halts it.
    pub(crate) cancel_method: Option<String>,
}

/// The calls that were sent and not answered yet.
#[derive(Debug, Default)]
pub(crate) struct Calls {
    inner: Mutex<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    open: BTreeMap<CallKey, SentCall>,
    order: VecDeque<CallKey>,
}

impl Calls {
    /// A call goes out.
    pub(crate) fn sent(&self, key: CallKey, call: SentCall) {
        let mut inner = self.lock();
        inner.order.push_back(key.clone());
        inner.open.insert(key, call);
        while inner.order.len() > REMEMBERED {
            if let Some(oldest) = inner.order.pop_front() {
                inner.open.remove(&oldest);
            }
        }
    }

    /// The component has answered; nothing goes on.
    pub(crate) fn answered(&self, key: &CallKey) {
        let mut inner = self.lock();
        if inner.open.remove(key).is_some() {
            inner.order.retain(|kept| kept != key);
        }
    }

    /// The call, if it was sent and is not answered.
    pub(crate) fn open(&self, key: &CallKey) -> Option<SentCall> {
        self.lock().open.get(key).cloned()
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(component: &str) -> SentCall {
        SentCall { component: component.into(), cancel: CancelMode::Halt, cancel_method: None }
    }

    #[test]
    fn a_call_is_open_from_its_sending_to_its_answer() {
        let calls = Calls::default();
        let key = ("mission".into(), CallId(1));
        assert_eq!(calls.open(&key), None);
        calls.sent(key.clone(), call("base"));
        assert_eq!(calls.open(&key), Some(call("base")));
        calls.answered(&key);
        assert_eq!(calls.open(&key), None);
    }

    #[test]
    fn the_memory_is_bounded_and_the_oldest_go_first() {
        let calls = Calls::default();
        for number in 0..2000 {
            calls.sent(("mission".into(), CallId(number)), call("base"));
        }
        let open = |number| calls.open(&("mission".into(), CallId(number))).is_some();
        assert_eq!((open(0), open(975), open(976), open(1999)), (false, false, true, true));
    }
}
