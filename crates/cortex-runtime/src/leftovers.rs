//! Calls that were given up without a sign that what they started is at rest. They outlive their mission, so that a stop
//! can halt them again and name them.

use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use cortex_core::{Invocation, ToolProvider};
use cortex_protocol::{CallId, HaltState, MissionId, ToolName};
use futures::FutureExt;
use futures::future::join_all;
use tokio::sync::watch;

/// Most calls that are remembered. A robot on which more than this did not halt is beyond naming them; that there are more is
/// known until a person has looked.
const CAPACITY: usize = 256;
/// What stands for those that there is no place for.
const OTHERS: &str = "others";

/// Why `OTHERS` are listed.
const TOO_MANY: &str = "more calls did not confirm that they are at rest than can be listed";

/// A call that is not known to be at rest: it was given up, and nothing confirmed that what it began has ended.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct UnconfirmedHalt {
    /// The tool that was called.
    pub tool: ToolName,
    /// When the call was given up.
    pub since: Instant,
    /// Why it is not known to be at rest, in words for people.
    pub why: String,
    /// Which call of which mission. None: of those that are not listed one by one.
    call: Option<(MissionId, CallId)>,
}

impl UnconfirmedHalt {
    /// Whether it is this call of this mission.
    #[must_use]
    pub fn is_of(&self, mission: &MissionId, id: CallId) -> bool {
        self.call.as_ref().is_some_and(|call| *call == (mission.clone(), id))
    }
}

/// The calls that are not known to be at rest. The one owner of that fact.
#[derive(Default)]
pub(crate) struct Leftovers {
    inner: Mutex<Inner>,
    /// What others see; changed under the lock.
    listed: watch::Sender<Arc<Vec<UnconfirmedHalt>>>,
}

#[derive(Default)]
struct Inner {
    calls: Vec<Leftover>,
    /// Since when there are more than are remembered.
    others: Option<Instant>,
}

#[derive(Clone)]
struct Leftover {
    provider: Arc<dyn ToolProvider>,
    invocation: Invocation,
    since: Instant,
    why: String,
}

impl Leftovers {
    /// Remembers a call, and why it is not known to be at rest. None is forgotten for it.
    pub(crate) fn remember(&self, provider: Arc<dyn ToolProvider>, invocation: Invocation, why: String) {
        let since = Instant::now();
        self.change(|inner| {
            if inner.calls.len() < CAPACITY {
                inner.calls.push(Leftover { provider, invocation, since, why });
            } else {
                inner.others.get_or_insert(since);
            }
        });
    }

    /// The calls that are not known to be at rest, now and later.
    pub(crate) fn listed(&self) -> watch::Receiver<Arc<Vec<UnconfirmedHalt>>> {
        self.listed.subscribe()
    }

    /// The tools of the calls that are not known to be at rest.
    pub(crate) fn names(&self) -> Vec<ToolName> {
        self.listed.borrow().iter().map(|call| call.tool.clone()).collect()
    }

    /// Forgets all of them: a person has looked. Returns them.
    pub(crate) fn forget(&self) -> Vec<Invocation> {
        let calls = self.change(|inner| std::mem::take(inner).calls);
        calls.into_iter().map(|call| call.invocation).collect()
    }

    /// Halts all of them again, at once, forgets those that confirm, and names the rest; `patience` bounds the whole.
    /// Nothing is forgotten meanwhile, so that a second stop sees the same. Returns the names, and what is at rest.
    pub(crate) async fn halt(&self, patience: Duration) -> (Vec<ToolName>, Vec<Invocation>) {
        let calls = self.lock().calls.clone();
        let halting = calls.into_iter().map(|call| async move {
            let halting = AssertUnwindSafe(call.provider.halt(&call.invocation)).catch_unwind();
            let state = tokio::time::timeout(patience, halting).await;
            matches!(state, Ok(Ok(HaltState::AtRest | HaltState::Halted))).then_some(call.invocation)
        });
        let at_rest: Vec<Invocation> = join_all(halting).await.into_iter().flatten().collect();
        self.change(|inner| inner.calls.retain(|call| !at_rest.contains(&call.invocation)));
        (self.names(), at_rest)
    }

    /// Changes what is remembered, and lists it anew where that has changed.
    fn change<T>(&self, change: impl FnOnce(&mut Inner) -> T) -> T {
        let mut inner = self.lock();
        let result = change(&mut inner);
        let listed = inner.listed();
        self.listed.send_if_modified(|before| {
            let differs = **before != listed;
            if differs {
                *before = Arc::new(listed);
            }
            differs
        });
        result
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    fn listed(&self) -> Vec<UnconfirmedHalt> {
        let call = |call: &Leftover| UnconfirmedHalt {
            tool: call.invocation.call.tool.clone(),
            since: call.since,
            why: call.why.clone(),
            call: Some((call.invocation.mission.clone(), call.invocation.id)),
        };
        let others = self.others.map(|since| {
            let why = TOO_MANY.to_owned();
            UnconfirmedHalt { tool: OTHERS.into(), since, why, call: None }
        });
        self.calls.iter().map(call).chain(others).collect()
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
            leftovers.remember(Arc::new(Halts), invocation, "it did not confirm".to_owned());
        }
        let (going_on, at_rest) = leftovers.halt(Duration::from_secs(1)).await;
        assert_eq!((going_on, at_rest.len()), (vec![ToolName::from(OTHERS)], CAPACITY));
        leftovers.forget();
        assert_eq!(leftovers.names(), []);
    }
}
