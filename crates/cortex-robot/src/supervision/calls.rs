//! The gate in front of the tools: what does not work is not called. And what is called is evidence: goals that go on, and
//! how they get on.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use cortex_core::{CallObserver, Containment, Invocation, ToolProvider, Watching};
use cortex_monitor::{Effect, Input, Transition};
use cortex_protocol::{ComponentName, FailureKind, HaltState, ToolOutcome};
use cortex_recipe::Recipe;
use cortex_ros::DiscoveredTools;
use cortex_runtime::UnconfirmedHalt;
use cortex_supervisor::{Handle, RobotView};
use tokio::sync::watch;

/// What of one component is under way.
#[derive(Debug, Default)]
struct Open {
    life: Life,
    /// Calls that began in this life. Those of earlier ones may go on for their callers, and say nothing about this one.
    calls: u32,
}

/// Counts the lives of a component: each process that was started for it, and each time that it was configured anew.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Life(u64);

/// What of each component is under way, and who is told.
#[derive(Debug, Default)]
pub(super) struct Calls {
    inner: Mutex<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    components: BTreeMap<ComponentName, Open>,
    /// The entries of `progress` that count the feedback of goals.
    feedback: BTreeMap<ComponentName, Vec<usize>>,
    monitor: Option<Handle>,
}

impl Calls {
    /// From now on the monitor is told.
    pub(super) fn tell_to(&self, monitor: Handle, recipe: &Recipe) {
        let mut inner = self.lock();
        inner.monitor = Some(monitor);
        for (name, component) in &recipe.components {
            let of_goals = component.progress.iter().enumerate().filter(|(_, progress)| progress.topic.is_none());
            inner.feedback.insert(name.clone(), of_goals.map(|(watch, _)| watch).collect());
        }
    }

    /// Takes note of what the monitor has done, before it is done.
    pub(super) fn note(&self, effect: &Effect) {
        match effect {
            Effect::StartProcess { component, .. }
            | Effect::Change { component, transition: Transition::Configure, .. } => self.begin_life(component),
            _ => {}
        }
    }

    /// What is under way now is of the life before.
    pub(super) fn begin_life(&self, component: &ComponentName) {
        self.change(component, |open| {
            open.life.0 = open.life.0.saturating_add(1);
            open.calls = 0;
            true
        });
    }

    /// The life in which a call begins now.
    fn life(&self, component: &ComponentName) -> Life {
        self.lock().components.get(component).map(|open| open.life).unwrap_or_default()
    }

    /// `change` says whether something has changed.
    fn change(&self, component: &ComponentName, change: impl FnOnce(&mut Open) -> bool) {
        // Told under the lock, so that what is told last is what is.
        let mut inner = self.lock();
        let open = inner.components.entry(component.clone()).or_default();
        if !change(open) {
            return;
        }
        let goals = open.calls;
        if let Some(monitor) = &inner.monitor {
            monitor.tell(Input::GoalsChanged { component: component.clone(), goals });
        }
    }

    fn progressed(&self, component: &ComponentName, life: Life) {
        let inner = self.lock();
        let is_of_now = inner.components.get(component).is_some_and(|open| open.life == life);
        let Some(monitor) = inner.monitor.as_ref().filter(|_| is_of_now) else { return };
        for watch in inner.feedback.get(component).into_iter().flatten() {
            monitor.tell(Input::Progressed { component: component.clone(), watch: *watch, count: 1 });
        }
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A call under way; it has ended when this is dropped, however.
struct UnderWay {
    calls: Arc<Calls>,
    component: ComponentName,
    life: Life,
}

impl UnderWay {
    fn begin(calls: &Arc<Calls>, component: ComponentName, life: Life) -> Self {
        calls.change(&component, |open| {
            let is_of_now = open.life == life;
            open.calls = open.calls.saturating_add(u32::from(is_of_now));
            is_of_now
        });
        Self { calls: Arc::clone(calls), component, life }
    }
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        self.calls.change(&self.component, |open| {
            let is_of_now = open.life == self.life;
            open.calls = open.calls.saturating_sub(u32::from(is_of_now));
            is_of_now
        });
    }
}

/// Counts the feedback of a goal on its way to whoever follows the call.
struct Feedback {
    inner: Arc<dyn CallObserver>,
    calls: Arc<Calls>,
    component: ComponentName,
    life: Life,
}

impl CallObserver for Feedback {
    fn accepted(&self) {
        self.inner.accepted();
    }

    fn progressed(&self, feedback: String) {
        self.calls.progressed(&self.component, self.life);
        self.inner.progressed(feedback);
    }
}

/// Tells the monitor which components have a call that did not end in its time and could not be halted, and when there
/// is none any more. Until one of both is gone.
pub(super) async fn report_hung(
    mut left: watch::Receiver<Arc<Vec<UnconfirmedHalt>>>,
    components: Vec<ComponentName>,
    monitor: Handle,
) {
    let mut told: BTreeMap<ComponentName, String> = BTreeMap::new();
    loop {
        let now = left.borrow_and_update().clone();
        for component in &components {
            let because = hung(&now, component);
            if told.get(component) == because.as_ref() {
                continue;
            }
            match &because {
                Some(because) => told.insert(component.clone(), because.clone()),
                None => told.remove(component),
            };
            monitor.tell(Input::CallHung { component: component.clone(), because });
        }
        if left.changed().await.is_err() {
            return;
        }
    }
}

/// What of a component hangs, in words for people.
fn hung(left: &[UnconfirmedHalt], component: &ComponentName) -> Option<String> {
    let call = left.iter().find(|call| call.timed_out && call.component.as_ref() == Some(component))?;
    let UnconfirmedHalt { tool, why, .. } = call;
    Some(why.strip_prefix("it ").map_or_else(|| format!("{tool}: {why}"), |why| format!("{tool} {why}")))
}

/// Tools of a robot that is supervised.
pub(super) struct Supervising {
    provider: Arc<dyn ToolProvider>,
    tools: watch::Receiver<DiscoveredTools>,
    view: watch::Receiver<RobotView>,
    calls: Arc<Calls>,
}

impl Supervising {
    pub(super) fn new(
        provider: Arc<dyn ToolProvider>,
        tools: watch::Receiver<DiscoveredTools>,
        view: watch::Receiver<RobotView>,
        calls: Arc<Calls>,
    ) -> Self {
        Self { provider, tools, view, calls }
    }

    /// Whose tool it is.
    fn component(&self, invocation: &Invocation) -> Option<ComponentName> {
        let tool = &invocation.call.tool;
        let tools = self.tools.borrow();
        let spec = tools.iter().find(|spec| spec.name == *tool);
        match spec {
            Some(spec) => Containment::component_of(spec, &invocation.call),
            // One that is on offer no more has its component in its name.
            None => Some(ComponentName::from(tool.as_str().rsplit_once('.')?.0)),
        }
    }
}

#[async_trait]
impl ToolProvider for Supervising {
    fn label(&self) -> String {
        self.provider.label()
    }

    async fn invoke(&self, invocation: Invocation, observer: Arc<dyn CallObserver>) -> ToolOutcome {
        let Some(component) = self.component(&invocation) else {
            return self.provider.invoke(invocation, observer).await;
        };
        // First: a life that begins after the look is none that this call was meant for.
        let life = self.calls.life(&component);
        // The last look before it is sent; missions are told of the same, but that takes a moment.
        let refusal = self.view.borrow().refusal(&component);
        if let Some(refusal) = refusal {
            return ToolOutcome::failure(FailureKind::Unavailable, refusal);
        }
        let _under_way = UnderWay::begin(&self.calls, component.clone(), life);
        let observer = Arc::new(Feedback { inner: observer, calls: Arc::clone(&self.calls), component, life });
        self.provider.invoke(invocation, observer).await
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
    use super::*;

    /// How many calls count.
    fn open(calls: &Calls) -> u32 {
        calls.lock().components.get(&ComponentName::from("arm")).map_or(0, |open| open.calls)
    }

    #[test]
    fn a_call_counts_in_the_life_only_in_which_it_began() {
        let calls = Arc::new(Calls::default());
        let arm = || ComponentName::from("arm");
        let begin = || UnderWay::begin(&calls, arm(), calls.life(&arm()));
        let first = begin();
        assert_eq!(open(&calls), 1);
        // It has passed the gate, and is counted when the next process is started already.
        let late = calls.life(&arm());
        calls.note(&Effect::StartProcess { component: arm(), process: cortex_monitor::ProcessNumber(1) });
        let late = UnderWay::begin(&calls, arm(), late);
        assert_eq!(open(&calls), 0, "both were begun in the life before");
        let second = begin();
        drop((first, late));
        assert_eq!(open(&calls), 1, "their ends change nothing");
        drop(second);
        assert_eq!(open(&calls), 0);
    }
}
