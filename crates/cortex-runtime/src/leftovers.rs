//! Calls that were given up without a sign that what they started is at rest. They outlive their mission, so that a stop
//! can halt them again and name them.

use std::panic::AssertUnwindSafe;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use cortex_core::{Invocation, ToolProvider};
use cortex_protocol::{HaltState, ToolName};
use futures::FutureExt;
use futures::future::join_all;

/// Most calls that are remembered. A robot on which more than this did not halt is beyond naming them; that there are more is
/// known until a person has looked.
const CAPACITY: usize = 256;
/// What stands for those that there is no place for.
const OTHERS: &str = "others";

/// The calls that are not known to be at rest.
#[derive(Default)]
pub(crate) struct Leftovers {
    calls: Mutex<Vec<Leftover>>,
    has_others: AtomicBool,
}

#[derive(Clone)]
struct Leftover {
    provider: Arc<dyn ToolProvider>,
    invocation: Invocation,
}

impl Leftovers {
    /// Remembers a call. None is forgotten for it.
    pub(crate) fn remember(&self, provider: Arc<dyn ToolProvider>, invocation: Invocation) {
        let mut calls = self.calls.lock().unwrap_or_else(PoisonError::into_inner);
        if calls.len() < CAPACITY {
            calls.push(Leftover { provider, invocation });
        } else {
            self.has_others.store(true, Ordering::SeqCst);
        }
    }

    /// The tools of the calls that are not known to be at rest.
    pub(crate) fn names(&self) -> Vec<ToolName> {
        let calls = self.calls.lock().unwrap_or_else(PoisonError::into_inner);
        let others = self.has_others.load(Ordering::SeqCst).then(|| OTHERS.into());
        calls.iter().map(|call| call.invocation.call.tool.clone()).chain(others).collect()
    }

    /// Forgets all of them: a person has looked. Returns them.
    pub(crate) fn forget(&self) -> Vec<Invocation> {
        self.has_others.store(false, Ordering::SeqCst);
        let calls = std::mem::take(&mut *self.calls.lock().unwrap_or_else(PoisonError::into_inner));
        calls.into_iter().map(|call| call.invocation).collect()
    }

    /// Halts all of them again, at once, forgets those that confirm, and names the rest; `patience` bounds the whole.
    /// Nothing is forgotten meanwhile, so that a second stop sees the same. Returns the names, and what is at rest.
    pub(crate) async fn halt(&self, patience: Duration) -> (Vec<ToolName>, Vec<Invocation>) {
        let calls = self.calls.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let halting = calls.into_iter().map(|call| async move {
            let halting = AssertUnwindSafe(call.provider.halt(&call.invocation)).catch_unwind();
            let state = tokio::time::timeout(patience, halting).await;
            matches!(state, Ok(Ok(HaltState::AtRest | HaltState::Halted))).then_some(call.invocation)
        });
        let at_rest: Vec<Invocation> = join_all(halting).await.into_iter().flatten().collect();
        self.calls.lock().unwrap_or_else(PoisonError::into_inner).retain(|call| !at_rest.contains(&call.invocation));
        (self.names(), at_rest)
    }
}

#[cfg(test)]
mod tests {
    use async_trait::async_trait;
    use cortex_core::CallObserver;
    use cortex_protocol::{CallId, ToolCall, ToolFingerprint, ToolOutcome};

    use super::*;

    struct Halts;

    #[async_trait]
    impl ToolProvider for Halts {
        fn label(&self) -> String {
            "halts".to_owned()
        }

        async fn invoke(&self, _invocation: Invocation, _observer: Arc<dyn CallObserver>) -> ToolOutcome {
            ToolOutcome::success(serde_json::Value::Null)
        }

        async fn halt(&self, _invocation: &Invocation) -> HaltState {
            HaltState::Halted
        }
    }

    /// The oldest used to make room, and counted as at rest from then on.
    #[tokio::test]
    async fn regression_however_many_there_are_none_is_taken_for_one_at_rest() {
        let leftovers = Leftovers::default();
        for number in 0..=CAPACITY {
            let call = ToolCall { tool: "base.go".into(), arguments: serde_json::Map::new() };
            let invocation = Invocation {
                mission: "mission".into(),
                id: CallId(u32::try_from(number).unwrap()),
                call,
                fingerprint: ToolFingerprint(0),
                timeout: Duration::from_secs(1),
            };
            leftovers.remember(Arc::new(Halts), invocation);
        }
        let (going_on, at_rest) = leftovers.halt(Duration::from_secs(1)).await;
        assert_eq!((going_on, at_rest.len()), (vec![ToolName::from(OTHERS)], CAPACITY));
        leftovers.forget();
        assert_eq!(leftovers.names(), []);
    }
}
