//! The gate in front of all calls: which components may be called, who has the controls, and what is under way in each
//! component.
//!
//! Both are looked at under one lock. So when the monitor has kept others from a component, its listener has heard of each
//! call that got through before, and no call gets through after.
//!
//! A mission hears of a quarantine by an input, which may wait behind others. Nothing waits here: the gate is passed in the
//! moment in which the call is sent.

mod by_hand;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use cortex_core::{
    Availability, CONTROL_LEASE, CallObserver, ControlLoss, ControlRefusal, Invocation, ToolProvider, Watching, control,
};
use cortex_protocol::{ComponentName, ConnectionId, Control, FailureKind, HaltState, ToolOutcome, ToolSpec};
use tokio::sync::watch;
use tokio::time::Instant;

use by_hand::{ByHand, until_at_rest};

use crate::control::now_ms;
use crate::risk_class::RiskClass;

/// Hears what is under way in the components. It is called under the lock of the gate, so it must neither wait nor use the
/// gate.
pub trait CallListener: Send + Sync {
    /// How many calls go on that began in the component's present run.
    fn calls_changed(&self, component: &ComponentName, calls: u32);

    /// A call of its present run has given feedback.
    fn progressed(&self, component: &ComponentName);
}

/// Decides which calls may begin. Clones share it.
#[derive(Clone, Default)]
pub struct Gate(Arc<State>);

#[derive(Default)]
struct State {
    /// What missions know, too.
    availability: watch::Sender<Availability>,
    inner: Mutex<Inner>,
}

#[derive(Default)]
struct Inner {
    /// What may not be called for a reason that is none of the missions' business, such as that it is not up yet.
    withheld: BTreeMap<ComponentName, String>,
    open: BTreeMap<ComponentName, Open>,
    listener: Option<Arc<dyn CallListener>>,
    /// Until when the holder of the controls has to be heard again, if somebody holds them.
    lease_ends: Option<Instant>,
    /// What the holder of the controls, or whoever was that last, runs by hand.
    by_hand: Option<ByHand>,
}

/// What is under way in one component.
#[derive(Debug, Default)]
struct Open {
    run: Run,
    /// Calls that began in this run. Those of earlier ones may go on for their callers, and say nothing about this one.
    calls: u32,
}

/// Counts the runs of a component: each process that was started for it, and each time that it was configured anew.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Run(u64);

impl fmt::Debug for Gate {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Gate").field("containment", &*self.0.availability.borrow()).finish_non_exhaustive()
    }
}

impl Gate {
    /// From now on this listener hears of the calls.
    pub fn report_to(&self, listener: Arc<dyn CallListener>) {
        self.lock().listener = Some(listener);
    }

    /// What is kept from the missions, now and later.
    #[must_use]
    pub fn availability(&self) -> watch::Receiver<Availability> {
        self.0.availability.subscribe()
    }

    /// Changes what is kept from the missions. `change` says whether that is news for them.
    pub(crate) fn change(&self, change: impl FnOnce(&mut Availability) -> bool) {
        let _decided = self.lock();
        self.0.availability.send_if_modified(change);
    }

    /// Changes who has the controls, if `decide` does not refuse that. No call gets through any more that is not on behalf of
    /// who has them then. Where the robot is to act by itself while something by hand is not at rest, it is paused until that is.
    pub(crate) fn decide_control(
        &self,
        decide: impl FnOnce(&Control) -> Result<Control, ControlRefusal>,
    ) -> Result<Control, ControlRefusal> {
        let mut inner = self.lock();
        let before = self.0.availability.borrow().control().clone();
        let wanted = inner.by_hand.as_mut().and_then(|by_hand| by_hand.then.take()).unwrap_or_else(|| before.clone());
        let mut control = match decide(&wanted) {
            Ok(control) => control,
            Err(refusal) => {
                inner.go_on_later(&wanted);
                return Err(refusal);
            }
        };
        if inner.go_on_later(&control) {
            if control == wanted {
                return Ok(before);
            }
            control = until_at_rest(control);
        }
        if control.holder != before.holder {
            inner.lease_ends = control.holder.is_some().then(lease);
        }
        self.0.availability.send_if_modified(|now| now.set_control(control.clone()));
        Ok(control)
    }

    /// The holder of the controls is heard.
    pub(crate) fn keep_controls(&self, connection: &ConnectionId) {
        let mut inner = self.lock();
        if self.0.availability.borrow().control().is_held_over(connection) {
            inner.lease_ends = Some(lease());
        }
    }

    /// A connection is lost, whether it holds the controls or not.
    pub(crate) fn lose_controls(&self, connection: &ConnectionId, loss: ControlLoss) {
        let mut is_lost = false;
        let decided = self.decide_control(|now| {
            let lost = control::lose(now, connection, loss, now_ms());
            is_lost = lost.is_some();
            Ok(lost.unwrap_or_else(|| now.clone()))
        });
        if let Some(control) = decided.ok().filter(|_| is_lost) {
            tracing::warn!("controls: {control} Everything in motion is halted.");
        }
    }

    /// When the holder of the controls counts as vanished, unless it is heard before.
    pub(crate) fn lease_ends(&self) -> Option<Instant> {
        self.lock().lease_ends
    }

    /// The controls are lost where their holder was not heard in time.
    pub(crate) fn end_lease_if_over(&self) {
        let holder = {
            let inner = self.lock();
            if inner.lease_ends.is_none_or(|end| Instant::now() < end) {
                return;
            }
            self.0.availability.borrow().control().holder.clone()
        };
        if let Some(connection) = holder {
            self.lose_controls(&connection, ControlLoss::Silent);
        }
    }

    /// Replaces the reasons why components may not be called that missions are not told of.
    pub fn withhold(&self, reasons: BTreeMap<ComponentName, String>) {
        self.lock().withheld = reasons;
    }

    /// How many calls go on in each component that began in its present run.
    #[must_use]
    pub fn calls(&self) -> BTreeMap<ComponentName, u32> {
        self.lock().open.iter().map(|(component, open)| (component.clone(), open.calls)).collect()
    }

    /// What is under way in the component now belongs to the run before.
    pub fn begin_run(&self, component: &ComponentName) {
        self.count(component, |open| {
            open.run.0 = open.run.0.saturating_add(1);
            open.calls = 0;
            true
        });
    }

    /// A provider of calls of this tool that passes the gate with each of them. Where the provider has others call components,
    /// its calls do not count as under way. On whose behalf a call is made is known by its mission.
    #[must_use]
    pub fn guard(&self, spec: ToolSpec, provider: Arc<dyn ToolProvider>) -> Arc<dyn ToolProvider> {
        let counts = !provider.has_others_call();
        Arc::new(Guarded { gate: self.clone(), spec, provider, counts })
    }

    /// Lets a call through. None: it reaches no component, or does not count.
    ///
    /// # Errors
    /// Why it may not begin, in words for people and models.
    fn pass(&self, spec: &ToolSpec, invocation: &Invocation, counts: bool) -> Result<Option<UnderWay>, ToolOutcome> {
        let call = &invocation.call;
        let refused = |because| Err(ToolOutcome::failure(FailureKind::Unavailable, because));
        let mut inner = self.lock();
        // What only looks, and what neither moves nor holds anything, is in nobody's way.
        let refusal = match RiskClass::of(spec) {
            RiskClass::Light => None,
            RiskClass::Full => inner.control_refusal(&invocation.mission, self.0.availability.borrow().control()),
        };
        if let Some(because) = refusal {
            return refused(format!("it was not called: {because}"));
        }
        if let Some(because) = self.0.availability.borrow().refusal(spec, call) {
            return refused(format!("it was not called: {because}"));
        }
        let Some(component) = Availability::component_of(spec, call) else { return Ok(None) };
        if let Some(because) = inner.withheld.get(&component) {
            return refused(because.clone());
        }
        if !counts {
            return Ok(None);
        }
        let mut run = Run::default();
        inner.count(&component, |open| {
            run = open.run;
            open.calls = open.calls.saturating_add(1);
            true
        });
        drop(inner);
        Ok(Some(UnderWay { gate: self.clone(), component, run }))
    }

    fn count(&self, component: &ComponentName, change: impl FnOnce(&mut Open) -> bool) {
        self.lock().count(component, change);
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.0.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn lease() -> Instant {
    Instant::now() + CONTROL_LEASE
}

impl Inner {
    /// `change` says whether something has changed.
    fn count(&mut self, component: &ComponentName, change: impl FnOnce(&mut Open) -> bool) {
        let open = self.open.entry(component.clone()).or_default();
        if !change(open) {
            return;
        }
        if let Some(listener) = &self.listener {
            listener.calls_changed(component, open.calls);
        }
    }
}

/// A call under way; it has ended when this is dropped, however.
struct UnderWay {
    gate: Gate,
    component: ComponentName,
    run: Run,
}

impl UnderWay {
    fn progressed(&self) {
        let inner = self.gate.lock();
        let is_of_now = inner.open.get(&self.component).is_some_and(|open| open.run == self.run);
        if let Some(listener) = inner.listener.as_ref().filter(|_| is_of_now) {
            listener.progressed(&self.component);
        }
    }
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        self.gate.count(&self.component, |open| {
            let is_of_now = open.run == self.run;
            open.calls = open.calls.saturating_sub(u32::from(is_of_now));
            is_of_now
        });
    }
}

/// Counts the feedback of a call on its way to whoever follows the call.
struct Feedback {
    inner: Arc<dyn CallObserver>,
    call: Arc<UnderWay>,
}

impl CallObserver for Feedback {
    fn accepted(&self) {
        self.inner.accepted();
    }

    fn progressed(&self, feedback: String) {
        self.call.progressed();
        self.inner.progressed(feedback);
    }
}

/// See [`Gate::guard`].
struct Guarded {
    gate: Gate,
    spec: ToolSpec,
    provider: Arc<dyn ToolProvider>,
    /// Whether its calls are under way in a component.
    counts: bool,
}

#[async_trait]
impl ToolProvider for Guarded {
    fn label(&self) -> String {
        self.provider.label()
    }

    async fn invoke(&self, invocation: Invocation, observer: Arc<dyn CallObserver>) -> ToolOutcome {
        match self.gate.pass(&self.spec, &invocation, self.counts) {
            Err(refusal) => refusal,
            Ok(None) => self.provider.invoke(invocation, observer).await,
            Ok(Some(call)) => {
                let call = Arc::new(call);
                let observer = Arc::new(Feedback { inner: observer, call: Arc::clone(&call) });
                let outcome = self.provider.invoke(invocation, observer).await;
                drop(call);
                outcome
            }
        }
    }

    async fn halt(&self, invocation: &Invocation) -> HaltState {
        // Also of what is in quarantine: a halt that is not heard costs nothing.
        self.provider.halt(invocation).await
    }

    async fn ended(&self, invocation: &Invocation) {
        self.provider.ended(invocation).await;
    }

    async fn end_earlier(&self, invocation: &Invocation) -> HaltState {
        self.provider.end_earlier(invocation).await
    }

    fn watching(&self) -> Watching {
        self.provider.watching()
    }
}

#[cfg(test)]
mod tests {
    use cortex_core::Unobserved;
    use cortex_protocol::{CallId, Effect, ToolCall, ToolFingerprint, ToolPhase};
    use cortex_testkit::{Behaviour, FakeTools, tool};
    use serde_json::{Map, Value};

    use super::*;

    fn wave() -> ToolSpec {
        tool("arm.wave", ToolPhase::Execution, Effect::Move).with_component(Some("arm".into()))
    }

    fn call() -> Invocation {
        Invocation {
            mission: "mission".into(),
            id: CallId(1),
            call: ToolCall { tool: "arm.wave".into(), arguments: Map::new() },
            fingerprint: ToolFingerprint(0),
            timeout: std::time::Duration::from_secs(1),
        }
    }

    fn pass(gate: &Gate) -> UnderWay {
        gate.pass(&wave(), &call(), true).ok().flatten().unwrap()
    }

    #[tokio::test]
    async fn the_gate_is_passed_in_the_moment_of_the_call_whatever_was_decided_before() {
        let gate = Gate::default();
        let tools = Arc::new(FakeTools::new([("arm.wave", Behaviour::Returns(Value::Null))]));
        let guarded = gate.guard(wave(), tools.clone());
        let wave = async || guarded.invoke(call(), Arc::new(Unobserved)).await;
        assert!(wave().await.is_success());
        gate.change(|now| now.quarantine("arm".into(), "it crashed"));
        assert_eq!(wave().await.message, "it was not called: arm is in quarantine: it crashed");
        gate.change(|now| now.release(&"arm".into()));
        gate.withhold(BTreeMap::from([("arm".into(), "'arm' is not up yet".to_owned())]));
        assert_eq!(wave().await.message, "'arm' is not up yet");
        gate.withhold(BTreeMap::new());
        assert!(wave().await.is_success());
        assert_eq!(tools.calls().len(), 2);
    }

    /// What was heard, in order.
    #[derive(Default)]
    struct Heard(Mutex<Vec<String>>);

    impl CallListener for Heard {
        fn calls_changed(&self, component: &ComponentName, calls: u32) {
            self.0.lock().unwrap().push(format!("{component} {calls}"));
        }

        fn progressed(&self, component: &ComponentName) {
            self.0.lock().unwrap().push(format!("{component} goes on"));
        }
    }

    #[test]
    fn a_call_counts_only_in_the_run_in_which_it_began() {
        let (gate, heard) = (Gate::default(), Arc::new(Heard::default()));
        gate.report_to(heard.clone());
        let first = pass(&gate);
        first.progressed();
        gate.begin_run(&"arm".into());
        let second = pass(&gate);
        first.progressed();
        drop(first);
        second.progressed();
        drop(second);
        assert!(matches!(gate.pass(&wave(), &call(), false), Ok(None)), "it does not count");
        assert_eq!(*heard.0.lock().unwrap(), ["arm 1", "arm goes on", "arm 0", "arm 1", "arm goes on", "arm 0"]);
    }

    /// The monitor used to wait for 50 ms, in the hope that calls which had got through were told by then.
    #[test]
    fn regression_a_call_that_got_through_is_told_before_its_component_is_in_quarantine() {
        for _ in 0..200 {
            let (gate, heard) = (Gate::default(), Arc::new(Heard::default()));
            gate.report_to(heard.clone());
            let other = gate.clone();
            let caller = std::thread::spawn(move || other.pass(&wave(), &call(), true).ok().flatten());
            gate.change(|now| now.quarantine("arm".into(), "it crashed"));
            let told = heard.0.lock().unwrap().len();
            let got_through = caller.join().unwrap().is_some();
            assert_eq!(told, usize::from(got_through), "whoever gets through is told by then");
        }
    }
}
