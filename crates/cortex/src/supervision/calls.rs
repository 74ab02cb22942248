//! The gate in front of the tools: what does not work is not called. And what is called is evidence: goals that go on, and
//! how they get on.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use cortex_core::{CallObserver, Containment, Invocation, ToolProvider, Watching};
use cortex_monitor::Input;
use cortex_protocol::{ComponentName, FailureKind, HaltState, ToolOutcome};
use cortex_recipe::Recipe;
use cortex_ros::DiscoveredTools;
use cortex_supervisor::{Handle, RobotView};
use tokio::sync::watch;

/// What of each component is under way, and who is told.
#[derive(Debug, Default)]
pub(super) struct Calls {
    inner: Mutex<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    open: BTreeMap<ComponentName, u32>,
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

    fn change(&self, component: &ComponentName, change: impl FnOnce(u32) -> u32) {
        // Told under the lock, so that what is told last is what is.
        let mut inner = self.lock();
        let open = inner.open.entry(component.clone()).or_default();
        *open = change(*open);
        let goals = *open;
        if let Some(monitor) = &inner.monitor {
            monitor.tell(Input::GoalsChanged { component: component.clone(), goals });
        }
    }

    fn progressed(&self, component: &ComponentName) {
        let inner = self.lock();
        let Some(monitor) = &inner.monitor else { return };
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
}

impl UnderWay {
    fn begin(calls: &Arc<Calls>, component: ComponentName) -> Self {
        calls.change(&component, |open| open.saturating_add(1));
        Self { calls: Arc::clone(calls), component }
    }
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        self.calls.change(&self.component, |open| open.saturating_sub(1));
    }
}

/// Counts the feedback of a goal on its way to whoever follows the call.
struct Feedback {
    inner: Arc<dyn CallObserver>,
    calls: Arc<Calls>,
    component: ComponentName,
}

impl CallObserver for Feedback {
    fn accepted(&self) {
        self.inner.accepted();
    }

    fn progressed(&self, feedback: String) {
        self.calls.progressed(&self.component);
        self.inner.progressed(feedback);
    }
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
        // The last look before it is sent; missions are told of the same, but that takes a moment.
        let refusal = self.view.borrow().refusal(&component);
        if let Some(refusal) = refusal {
            return ToolOutcome::failure(FailureKind::Unavailable, refusal);
        }
        let _under_way = UnderWay::begin(&self.calls, component.clone());
        let observer = Arc::new(Feedback { inner: observer, calls: Arc::clone(&self.calls), component });
        self.provider.invoke(invocation, observer).await
    }

    async fn halt(&self, invocation: &Invocation) -> HaltState {
        // Also of what is in quarantine: a halt that is not heard costs nothing.
        self.provider.halt(invocation).await
    }

    async fn end_earlier(&self, invocation: &Invocation) -> HaltState {
        self.provider.end_earlier(invocation).await
    }

    fn watching(&self) -> Watching {
        self.provider.watching()
    }
}
