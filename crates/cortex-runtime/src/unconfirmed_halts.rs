//! Calls that were given up without a sign that what they started is at rest. They outlive their mission, so that a stop
//! can halt them again and name them.

use std::collections::{BTreeMap, BTreeSet};
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use cortex_core::{Availability, Invocation, ToolProvider, ToolSet, may_collide};
use cortex_protocol::{CallId, ComponentName, HaltState, MissionId, ToolCall, ToolName, ToolSpec};
use futures::FutureExt;
use futures::future::join_all;
use tokio::sync::watch;

use crate::risk_class::RiskClass;

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
    /// The component that the call acts on, where one is known.
    pub component: Option<ComponentName>,
    /// When the call was given up.
    pub since: Instant,
    /// Why it is not known to be at rest, in words for people.
    pub why: String,
    /// Whether the call did not end in its time: its component hangs.
    pub timed_out: bool,
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
pub(crate) struct UnconfirmedHalts {
    inner: Mutex<Inner>,
    /// What others see; changed under the lock.
    listed: watch::Sender<Arc<Vec<UnconfirmedHalt>>>,
    /// How often the process behind each component has ended; changed under the lock.
    ends: watch::Sender<BTreeMap<ComponentName, u64>>,
    /// The components whose processes are kept alive: one that hangs is ended.
    supervised: watch::Sender<BTreeSet<ComponentName>>,
    /// Whether a stop wants an answer now.
    hurries: watch::Sender<bool>,
}

#[derive(Default)]
struct Inner {
    calls: Vec<OpenCall>,
    /// Since when there are more than are remembered.
    others: Option<Instant>,
}

/// A call that is given up.
pub(crate) struct GivenUp {
    pub(crate) provider: Arc<dyn ToolProvider>,
    pub(crate) invocation: Invocation,
    /// None: the tool is not described.
    pub(crate) spec: Option<ToolSpec>,
    /// The process that carries it out, where its end is the end of the call.
    pub(crate) process: Option<ProcessLife>,
    pub(crate) why: String,
    pub(crate) timed_out: bool,
}

#[derive(Clone)]
struct OpenCall {
    provider: Arc<dyn ToolProvider>,
    invocation: Invocation,
    spec: Option<ToolSpec>,
    process: Option<ProcessLife>,
    listed: UnconfirmedHalt,
}

/// One life of the process behind a component.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ProcessLife {
    component: ComponentName,
    number: u64,
}

impl ProcessLife {
    /// The component that the process is of.
    pub(crate) fn component(&self) -> &ComponentName {
        &self.component
    }
}

impl Default for UnconfirmedHalts {
    fn default() -> Self {
        Self {
            inner: Mutex::default(),
            listed: watch::Sender::default(),
            ends: watch::Sender::default(),
            supervised: watch::Sender::default(),
            hurries: watch::Sender::new(false),
        }
    }
}

impl UnconfirmedHalts {
    /// Remembers a call, and why it is not known to be at rest. None is forgotten for it. False: the process that
    /// carried it out has ended meanwhile, so it is at rest.
    pub(crate) fn remember(&self, call: GivenUp) -> bool {
        let GivenUp { provider, invocation, spec, process, why, timed_out } = call;
        let since = Instant::now();
        self.change(|inner| {
            if process.as_ref().is_some_and(|process| self.is_over(process)) {
                return false;
            }
            let component = spec.as_ref().and_then(|spec| Availability::component_of(spec, &invocation.call));
            let (tool, call) = (invocation.call.tool.clone(), Some((invocation.mission.clone(), invocation.id)));
            let listed = UnconfirmedHalt { tool, component, since, why, timed_out, call };
            if inner.calls.len() < CAPACITY {
                inner.calls.push(OpenCall { provider, invocation, spec, process, listed });
            } else {
                inner.others.get_or_insert(since);
            }
            true
        })
    }

    /// The calls that are not known to be at rest, now and later.
    pub(crate) fn listed(&self) -> watch::Receiver<Arc<Vec<UnconfirmedHalt>>> {
        self.listed.subscribe()
    }

    /// The tools of the calls that are not known to be at rest.
    pub(crate) fn names(&self) -> Vec<ToolName> {
        self.listed.borrow().iter().map(|call| call.tool.clone()).collect()
    }

    /// Whether everything is at rest that nothing waits for.
    pub(crate) fn is_empty(&self) -> bool {
        self.listed.borrow().is_empty()
    }

    /// What this call must not begin on top of. Nothing, for a call that only looks or that neither moves nor holds
    /// anything: a halt, for example. Of what is not described it is not known what it moves.
    pub(crate) fn in_the_way(&self, spec: &ToolSpec, call: &ToolCall, known: &ToolSet) -> Vec<ToolName> {
        if self.is_empty() || RiskClass::of(spec) == RiskClass::Light {
            return Vec::new();
        }
        let component = Availability::component_of(spec, call);
        let collides = |left: &&OpenCall| {
            let other = left.spec.as_ref().or_else(|| known.get(&left.invocation.call.tool));
            let is_same = component.is_some() && component == left.listed.component;
            other.is_none_or(|other| is_same || may_collide(spec, other))
        };
        let inner = self.lock();
        let others = inner.others.map(|_| OTHERS.into());
        let colliding = inner.calls.iter().filter(collides).map(|left| left.invocation.call.tool.clone());
        colliding.chain(others).collect()
    }

    /// The present life of the process that carries out a call, where its end is the end of the call.
    pub(crate) fn life(&self, spec: &ToolSpec, call: &ToolCall) -> Option<ProcessLife> {
        let component = Availability::component_of(spec, call).filter(|_| !spec.outlives_process)?;
        let number = self.ends.borrow().get(&component).copied().unwrap_or_default();
        Some(ProcessLife { component, number })
    }

    /// Resolves when that process has ended.
    pub(crate) async fn ended(&self, process: &ProcessLife) {
        let mut ends = self.ends.subscribe();
        // The sender is this.
        let _ = ends.wait_for(|_| self.is_over(process)).await;
    }

    /// Whether that process has ended.
    pub(crate) fn is_over(&self, process: &ProcessLife) -> bool {
        self.ends.borrow().get(&process.component).is_some_and(|ends| *ends > process.number)
    }

    /// The process behind a component has ended, with all that it had started, so its calls have. Returns those that
    /// were not known to be at rest.
    pub(crate) fn end_calls(&self, component: &ComponentName) -> Vec<Invocation> {
        self.change(|inner| {
            self.ends.send_modify(|ends| {
                let ends = ends.entry(component.clone()).or_default();
                *ends = ends.saturating_add(1);
            });
            let is_ended =
                |call: &mut OpenCall| call.process.as_ref().is_some_and(|process| process.component == *component);
            inner.calls.extract_if(.., is_ended).map(|call| call.invocation).collect()
        })
    }

    /// Waits until a call comes to its end after all, as its late answer says, or is forgotten for another reason; a
    /// stop ends the wait, since it asks itself. Returns whether it has, and forgets it then.
    pub(crate) async fn ended_late(&self, provider: Arc<dyn ToolProvider>, invocation: &Invocation) -> bool {
        let mut listed = self.listed.subscribe();
        let mut hurries = self.hurries.subscribe();
        let is_left = || self.lock().calls.iter().any(|call| call.invocation == *invocation);
        let forgotten = async {
            while is_left() {
                // The sender is this.
                if listed.changed().await.is_err() {
                    return;
                }
            }
        };
        tokio::select! {
            biased;
            () = forgotten => false,
            // The same.
            _ = hurries.wait_for(|hurries| *hurries) => false,
            // One that fails in an unforeseen way says nothing.
            ended = AssertUnwindSafe(provider.ended(invocation)).catch_unwind() => {
                ended.is_ok() && self.change(|inner| {
                    let before = inner.calls.len();
                    inner.calls.retain(|call| call.invocation != *invocation);
                    inner.calls.len() < before
                })
            }
        }
    }

    /// Which components have processes that are ended where they hang.
    pub(crate) fn supervise(&self, components: BTreeSet<ComponentName>) {
        self.supervised.send_replace(components);
    }

    /// Whether a stop wants to know at once what is at rest.
    pub(crate) fn hurry(&self, hurries: bool) {
        self.hurries.send_replace(hurries);
    }

    /// Waits until that process has ended, where it is about to be, at most for `patience`; a stop does not wait for
    /// it. Returns whether it has.
    pub(crate) async fn outlived(&self, process: &ProcessLife, patience: Duration) -> bool {
        if !self.supervised.borrow().contains(&process.component) {
            return false;
        }
        let mut hurries = self.hurries.subscribe();
        tokio::select! {
            biased;
            () = self.ended(process) => true,
            // The sender is this.
            _ = hurries.wait_for(|hurries| *hurries) => false,
            () = tokio::time::sleep(patience) => false,
        }
    }

    /// Forgets all of them: a person has looked. Returns them.
    pub(crate) fn forget(&self) -> Vec<Invocation> {
        let calls = self.change(|inner| std::mem::take(inner).calls);
        calls.into_iter().map(|call| call.invocation).collect()
    }

    /// Halts all of them again, at once, forgets those that confirm, and names the rest; `patience` bounds the whole.
    /// Nothing is forgotten meanwhile, so that a second stop sees the same. Returns the names, and what is at rest.
    pub(crate) async fn halt(&self, patience: Duration) -> (Vec<ToolName>, Vec<Invocation>) {
        self.halt_those(patience, |_| true).await
    }

    /// The same for those that can be used again, as far as anybody knows.
    pub(crate) async fn halt_unless(
        &self,
        patience: Duration,
        is_unusable: impl Fn(&ComponentName) -> bool,
    ) -> (Vec<ToolName>, Vec<Invocation>) {
        self.halt_those(patience, |left| !left.listed.component.as_ref().is_some_and(&is_unusable)).await
    }

    async fn halt_those(
        &self,
        patience: Duration,
        are_meant: impl Fn(&OpenCall) -> bool,
    ) -> (Vec<ToolName>, Vec<Invocation>) {
        let calls: Vec<OpenCall> = self.lock().calls.iter().filter(|call| are_meant(call)).cloned().collect();
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
        let others = self.others.map(|since| UnconfirmedHalt {
            tool: OTHERS.into(),
            component: None,
            since,
            why: TOO_MANY.to_owned(),
            timed_out: false,
            call: None,
        });
        self.calls.iter().map(|call| call.listed.clone()).chain(others).collect()
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
        let unconfirmed_halts = UnconfirmedHalts::default();
        for number in 0..=CAPACITY {
            let call = ToolCall { tool: "base.go".into(), arguments: serde_json::Map::new() };
            let invocation = Invocation {
                mission: "mission".into(),
                id: CallId(u32::try_from(number).unwrap()),
                call,
                fingerprint: ToolFingerprint(0),
                timeout: Duration::from_secs(1),
            };
            let why = "it did not confirm".to_owned();
            let provider = Arc::new(Halts);
            let (spec, process, timed_out) = (None, None, false);
            unconfirmed_halts.remember(GivenUp { provider, invocation, spec, process, why, timed_out });
        }
        let (going_on, at_rest) = unconfirmed_halts.halt(Duration::from_secs(1)).await;
        assert_eq!((going_on, at_rest.len()), (vec![ToolName::from(OTHERS)], CAPACITY));
        unconfirmed_halts.forget();
        assert_eq!(unconfirmed_halts.names(), []);
    }
}
