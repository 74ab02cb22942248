//! Everything that the robot can do, as tools: methods of components, services, actions, topics, parameters.
//!
//! What a tool's name stands for is looked up when it is called, in what discovery knows then. Each kind of tool has a
//! module of its own, which also remembers its open calls, so that they can be halted.

mod component;
mod goal;
mod goal_id;
mod late_response;
mod messages;
mod parameter;
mod pool;
mod progress;
pub(crate) mod sent;
mod server;
mod service;
pub(crate) mod stopping;
mod topic;

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use cortex_core::{CallObserver, Invocation, ToolProvider, Watching};
use cortex_interfaces::{InterfaceError, Interfaces};
use cortex_protocol::{ComponentName, Effect, FailureKind, HaltState, ToolName, ToolOutcome, ToolSpec};
use cortex_ros_client::dynamic::Endpoints;
use cortex_ros_client::{GraphWatch, RosError};
use serde_json::Value;
use tokio_util::task::TaskTracker;

use crate::calls::{Calls, Followed, Haltable as _, key};
use crate::catalog::{Catalog, Entry, OfferKind, known};
use crate::discovery::Shared;
use crate::inspection::{Audience, Inspector};
use crate::stop::StopLatch;
use crate::{AdapterError, Discovery, built_in};
use component::Components;
use goal::Goals;
use sent::Sent;
use service::Services;
pub use stopping::{OpenCall, OpenCallKind};
use topic::Topics;

use crate::watching::RobotConditionSource;

/// How long the tasks that wait for late answers may take to end.
const END_LIMIT: Duration = Duration::from_secs(1);

/// Offers what the robot can do. Clones share everything.
#[derive(Clone)]
pub struct RosTools {
    around: Arc<Surroundings>,
    inspector: Arc<Inspector>,
    components: Arc<Components>,
    services: Arc<Services>,
    goals: Arc<Goals>,
    topics: Arc<Topics>,
    watcher: Arc<RobotConditionSource>,
}

/// A command that runs for a fallback, until this is dropped.
#[derive(Debug)]
pub struct OpenCommand(#[expect(dead_code, reason = "held until the command has ended")] Followed<Sent>);

/// What all kinds of tools work with.
pub(crate) struct Surroundings {
    pub(crate) graph: GraphWatch,
    pub(crate) endpoints: Endpoints,
    pub(crate) discovery: Discovery,
    /// What was sent and has not ended, and what must not be sent any more.
    pub(crate) calls: Arc<Calls<Sent>>,
    /// What waits for answers that their callers have given up.
    waiting: TaskTracker,
}

impl Surroundings {
    pub(crate) fn shared(&self) -> &Shared {
        self.discovery.shared()
    }

    /// Runs a task to its end, also when nobody waits for it: until [`RosTools::shut_down`].
    pub(crate) fn keep(&self, task: impl Future<Output = ()> + Send + 'static) {
        self.waiting.spawn(task);
    }

    /// Looks up an interface, which blocks where it has to be loaded.
    pub(crate) async fn interface<T: Send + 'static>(
        &self,
        find: impl FnOnce(&Interfaces) -> Result<T, InterfaceError> + Send + 'static,
    ) -> Result<T, RosError> {
        self.shared().interface(find).await
    }

    /// Notes a request or a message that is about to be sent, where what it begins may go on after its answer: nobody can
    /// halt that. What a type is known to do, or the configuration says, is over then.
    fn note_unhaltable(&self, invocation: &Invocation, entry: &Entry) {
        let is_over = match entry.spec.effect {
            Effect::Observe => true,
            Effect::Act => known::ends_with_answer(&entry.type_name),
            Effect::Move => false,
        };
        if !is_over && !self.shared().policy.ends_with_answer(&entry.name) {
            self.calls.latch().note_unhaltable(&invocation.call.tool);
        }
    }
}

impl RosTools {
    /// The tools of what `discovery` finds. Must be called within a tokio runtime.
    #[must_use]
    pub fn new(graph: &GraphWatch, endpoints: &Endpoints, discovery: &Discovery) -> Self {
        let around = Arc::new(Surroundings {
            graph: graph.clone(),
            endpoints: endpoints.clone(),
            discovery: discovery.clone(),
            calls: Arc::default(),
            waiting: TaskTracker::new(),
        });
        Self {
            inspector: Arc::new(Inspector::new(graph, endpoints, discovery)),
            components: Arc::new(Components::new(&around)),
            services: Arc::new(Services::new(&around)),
            goals: Arc::new(Goals::new(&around)),
            topics: Arc::new(Topics::new(&around)),
            watcher: Arc::new(RobotConditionSource::new(graph, endpoints, discovery)),
            around,
        }
    }

    /// What is known of a node of the robot, a Cortex component or not, as JSON in a stable order. For whoever owns the
    /// configuration: what it denies is marked. The tool `inspect_component` tells nothing of it.
    ///
    /// # Errors
    /// [`AdapterError::UnknownNode`], with the names that there are.
    pub async fn inspect(&self, name: &str) -> Result<Value, AdapterError> {
        self.inspector.inspect(name, Audience::Person).await
    }

    /// What is wrong with the conditions of a tool as the robot is now: evidence that shows nothing, topics that nobody
    /// publishes. For people.
    #[must_use]
    pub fn condition_problems(&self, spec: &ToolSpec) -> Vec<String> {
        self.watcher.problems(spec)
    }

    /// Ends what waits for late answers, within a bounded time. To be called after the node was shut down.
    pub async fn shut_down(&self) {
        self.around.waiting.close();
        if tokio::time::timeout(END_LIMIT, self.around.waiting.wait()).await.is_err() {
            tracing::debug!("some calls were never answered");
        }
    }

    /// What the tools work with.
    pub(crate) fn surroundings(&self) -> &Surroundings {
        &self.around
    }

    /// Whether the robot is stopped: then nothing is sent, by these tools. Who sends by other ways looks here before.
    #[must_use]
    pub fn latch(&self) -> &StopLatch {
        self.around.calls.latch()
    }

    /// Stops without the thread for that, when it hangs, too: nothing is sent any more, and all that is in flight is asked to
    /// end. Waits for no answer. Gives how many calls that were.
    #[must_use]
    pub fn cancel_everything(&self) -> usize {
        stopping::Stopping::begin(self).in_flight()
    }

    /// The process of a component has ended, with all that it had started: so have the calls that it carried out,
    /// except where their tool says that they may outlive it.
    pub fn end_calls(&self, component: &ComponentName) {
        self.around.calls.end_calls(component);
    }

    /// Notes a command that is about to be started for a fallback; whoever runs it ends it at a stop. None while the robot
    /// is stopped.
    #[must_use]
    pub fn begin_command(&self, name: ToolName) -> Option<OpenCommand> {
        self.around.calls.note_beside(name, Sent::Command).map(OpenCommand)
    }

    /// What was sent and is not answered yet, the oldest first.
    #[must_use]
    pub fn open_calls(&self) -> Vec<OpenCall> {
        stopping::open_calls(self)
    }

    async fn call(&self, invocation: &Invocation, catalog: &Catalog, observer: &dyn CallObserver) -> ToolOutcome {
        let Some(entry) = catalog.entry(&invocation.call.tool) else {
            return match self.components.route(invocation) {
                Ok(route) => self.components.invoke(invocation, route, observer).await,
                Err(outcome) => outcome,
            };
        };
        if let Some(outcome) = changed(&entry.spec, invocation) {
            return outcome;
        }
        match entry.kind {
            OfferKind::Service => self.services.invoke(invocation, entry).await,
            OfferKind::Action => self.goals.invoke(invocation, entry, observer).await,
            OfferKind::Topic => self.topics.publish(invocation, entry).await,
        }
    }

    async fn inspect_component(&self, invocation: &Invocation) -> ToolOutcome {
        let Some(name) = invocation.call.arguments.get("component").and_then(Value::as_str) else {
            return ToolOutcome::failure(FailureKind::InvalidArguments, "'component' must be the name of a component");
        };
        match self.inspector.inspect(name, Audience::Model).await {
            Ok(report) => ToolOutcome::success(report),
            Err(problem @ AdapterError::UnknownNode { .. }) => {
                ToolOutcome::failure(FailureKind::NotFound, problem.to_string())
            }
            Err(problem) => ToolOutcome::failure(FailureKind::Unavailable, problem.to_string()),
        }
    }
}

#[async_trait]
impl ToolProvider for RosTools {
    fn label(&self) -> String {
        "ros".to_owned()
    }

    async fn invoke(&self, invocation: Invocation, observer: Arc<dyn CallObserver>) -> ToolOutcome {
        let catalog = Arc::clone(&self.around.discovery.catalog().borrow());
        match invocation.call.tool.as_str() {
            // Their arguments are judged by what the robot has now, so they are the same tools whatever it had before.
            built_in::INSPECT_COMPONENT => self.inspect_component(&invocation).await,
            built_in::UPDATE_PARAMETER => parameter::update(&self.around, &invocation).await,
            built_in::READ_TOPIC => self.topics.read(&invocation, &catalog).await,
            _ => self.call(&invocation, &catalog, observer.as_ref()).await,
        }
    }

    async fn halt(&self, invocation: &Invocation) -> HaltState {
        // First: what is not on its way now never will be.
        self.around.calls.halts().halt(key(invocation));
        match self.around.calls.open(&key(invocation)) {
            Some(Sent::Goal(goal)) => self.goals.halt(&goal).await,
            Some(Sent::Method(method)) => self.components.halt(&method).await,
            Some(sent @ (Sent::Request(_) | Sent::Command)) if sent.may_go_on() => HaltState::Unconfirmed,
            Some(Sent::Request(_) | Sent::Command) | None => HaltState::AtRest,
        }
    }

    async fn ended(&self, invocation: &Invocation) {
        self.around.calls.until_over(&key(invocation)).await;
    }

    async fn end_earlier(&self, invocation: &Invocation) -> HaltState {
        let catalog = Arc::clone(&self.around.discovery.catalog().borrow());
        match catalog.entry(&invocation.call.tool) {
            Some(entry) if entry.kind == OfferKind::Action => self.goals.end_earlier(invocation, entry).await,
            // A request can't be taken back, and whoever asked for the answer is no more.
            Some(entry) if entry.spec.effect != Effect::Observe => HaltState::Unconfirmed,
            Some(_) => HaltState::AtRest,
            None => self.components.end_earlier(invocation).await,
        }
    }

    fn watching(&self) -> Watching {
        Watching::By(self.watcher.clone())
    }
}

/// The outcome of a call that was made for another version of the tool. None if it was made for this one.
fn changed(spec: &ToolSpec, invocation: &Invocation) -> Option<ToolOutcome> {
    (spec.fingerprint() != invocation.fingerprint).then(|| {
        let problem = format!("'{}' is no longer what it was when the call was planned; plan it anew", spec.name);
        ToolOutcome::failure(FailureKind::Changed, problem)
    })
}
