//! A component that was started.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use cortex_ros_client::lifecycle::Lifecycle;
use cortex_ros_client::messages::cortex_msgs::msg::ComponentStatus;
use cortex_ros_client::messages::cortex_msgs::srv::{DescribeComponent, ExecuteMethod};
use cortex_ros_client::messages::std_msgs::msg::String as Text;
use cortex_ros_client::node::USE_SIM_TIME;
use cortex_ros_client::parameters::{self, Parameter, ParameterValue, Parameters};
use cortex_ros_client::publisher::shared;
use cortex_ros_client::r2r::Node;
use cortex_ros_client::serving::{Serving, respond};
use cortex_ros_client::text::carried;
use cortex_ros_client::{Publisher, QosProfile, RosError, RosNode};
use tokio::runtime::Handle;
use tokio::sync::watch;
use tokio::time::timeout;

use crate::component::Component;
use crate::context::ComponentContext;
use crate::dispatcher::{Answer, Dispatcher};
use crate::error::ComponentError;
use crate::health::HealthReporter;
use crate::lifecycle::{Hooks, State, Transition, Work};

/// How often `~/status` is published when nothing changes: the heartbeat.
const HEARTBEAT: Duration = Duration::from_secs(1);
/// How long a component may take to come to rest when it ends. Whoever stops a robot waits about 3 s before it kills.
const STOP_TIMEOUT: Duration = Duration::from_millis(2500);
/// How long service tasks may take to end after that; nothing runs any more that they wait for.
const ENDPOINT_STOP_TIMEOUT: Duration = Duration::from_millis(200);

/// A component that was started. Call [`stop`](Self::stop) before the process ends.
pub struct RunningComponent {
    node: RosNode,
    lifecycle: Lifecycle,
    endpoints: Serving,
    parameters: Parameters,
}

impl RunningComponent {
    pub(crate) async fn start(component: Component) -> Result<Self, ComponentError> {
        let name = component.name.clone();
        let description = component.description()?;
        let (state, states) = watch::channel(State::Unconfigured);
        let health = HealthReporter::new();
        let dispatcher = Dispatcher::new(component.methods, states, health.clone())
            .map_err(|problem| ComponentError::Description { component: name.clone(), problem: problem.to_string() })?;
        let dispatcher = Arc::new(dispatcher);

        let node = start_node(component.name, component.namespace).await?;
        let parts = Parts {
            name,
            description,
            state,
            health,
            dispatcher,
            parameters: component.parameters,
            hooks: component.hooks,
            endpoints: Serving::on(Handle::current()),
        };
        let (ros, endpoints) = (node.clone(), parts.endpoints.clone());
        let created = match node.with_node(move |inner| parts.create(inner, ros)).await {
            Ok(created) => created,
            Err(closed) => Err(closed.into()),
        };
        let (lifecycle, parameters) = match created {
            Ok(created) => created,
            Err(problem) => {
                endpoints.stop(ENDPOINT_STOP_TIMEOUT).await;
                shut_down(&node).await;
                return Err(problem);
            }
        };
        let running = Self { node, lifecycle, endpoints, parameters };
        if running.parameters.get(AUTOSTART) == Some(ParameterValue::Bool(true)) {
            running.lifecycle.change(Transition::Configure).await;
            running.lifecycle.change(Transition::Activate).await;
        }
        Ok(running)
    }

    /// The fully qualified name of the node, for example `/base`.
    #[must_use]
    pub fn name(&self) -> &str {
        self.node.fully_qualified_name()
    }

    /// In which state the component is.
    #[must_use]
    pub fn state(&self) -> State {
        self.lifecycle.state()
    }

    /// Whether the component was to become active by itself.
    #[must_use]
    pub fn starts_itself(&self) -> bool {
        self.parameters.get(AUTOSTART) == Some(ParameterValue::Bool(true))
    }

    /// Resolves when the node is gone although nobody has stopped the component: the client library broke.
    pub async fn broken(&self) {
        self.node.ended().await;
    }

    /// Ends the component in order: running calls are cancelled and come to rest, the hooks are run, the services end,
    /// and the ROS thread is joined. Takes bounded time.
    pub async fn stop(self) {
        if timeout(STOP_TIMEOUT, self.lifecycle.finalize()).await.is_err() {
            tracing::error!("{} did not come to rest within {} s", self.name(), STOP_TIMEOUT.as_secs_f64());
        }
        self.endpoints.stop(ENDPOINT_STOP_TIMEOUT).await;
        shut_down(&self.node).await;
    }
}

/// Joining the thread blocks for one spin, so it is done aside.
async fn shut_down(node: &RosNode) {
    let node = node.clone();
    if tokio::task::spawn_blocking(move || node.shut_down()).await.is_err() {
        tracing::error!("the ROS node could not be shut down");
    }
}

/// Starting a node takes some tens of milliseconds, so it is done aside.
async fn start_node(name: String, namespace: String) -> Result<RosNode, RosError> {
    tokio::task::spawn_blocking(move || RosNode::start(&name, &namespace))
        .await
        .unwrap_or_else(|problem| Err(RosError::Initialisation { problem: problem.to_string() }))
}

/// Whether the component activates itself.
const AUTOSTART: &str = "autostart";

/// What is needed on the ROS thread to create the endpoints.
struct Parts {
    name: String,
    description: String,
    state: watch::Sender<State>,
    health: HealthReporter,
    dispatcher: Arc<Dispatcher>,
    parameters: Vec<Parameter>,
    hooks: Hooks,
    endpoints: Serving,
}

impl Parts {
    fn create(mut self, node: &mut Node, ros: RosNode) -> Result<(Lifecycle, Parameters), ComponentError> {
        let parameters = self.declare(ros.parameters())?;
        let endpoints = &self.endpoints;
        let clock = ros.clock().clone();

        let (stamps, events) = (clock.clone(), clock);
        parameters::serve(node, endpoints, &parameters, move || stamps.now())?;
        let announce = cortex_ros_client::lifecycle::announcer(node, move || events.now_ns())?;
        let context = ComponentContext::new(ros, parameters.clone(), self.health.clone(), self.state.subscribe());
        let work = Work { hooks: self.hooks, context: context.clone(), dispatcher: Arc::clone(&self.dispatcher) };
        let lifecycle = Lifecycle::new(self.state, Arc::new(work), announce);
        cortex_ros_client::lifecycle::serve(node, endpoints, &lifecycle)?;

        let status = node.create_publisher("~/status", QosProfile::TRANSIENT_LOCAL.into()).map_err(RosError::from)?;
        endpoints.spawn(publish_status(shared(status), self.health, lifecycle.watch(), context));

        let mut outlets = BTreeMap::new();
        for (method, topic) in self.dispatcher.progress_topics() {
            let publisher =
                node.create_publisher::<Text>(topic, QosProfile::RELIABLE.into()).map_err(RosError::from)?;
            outlets.insert(method.to_owned(), shared(publisher));
        }
        self.dispatcher.report_progress_to(Arc::new(move |method, text| {
            if let Some(publisher) = outlets.get(method) {
                publisher.publish(&Text { data: carried(text) });
            }
        }));

        let description_json = carried(self.description);
        endpoints.serve::<DescribeComponent::Service>(node, "~/describe", move |_| DescribeComponent::Response {
            description_json: description_json.clone(),
        })?;
        let (dispatcher, tasks) = (self.dispatcher, endpoints.clone());
        endpoints.serve_each::<ExecuteMethod::Service>(node, "~/execute_method", move |request| {
            match dispatcher.begin(&request.message.name, &request.message.kwargs_json) {
                Ok(call) => tasks.spawn_answer(request, async move { to_response(call.run().await) }),
                Err(refusal) => respond(request, to_response(refusal)),
            }
        })?;
        Ok((lifecycle, parameters))
    }

    fn declare(&mut self, given: &BTreeMap<String, ParameterValue>) -> Result<Parameters, ComponentError> {
        let mut declared = std::mem::take(&mut self.parameters);
        declared.push(
            Parameter::boolean(AUTOSTART, true)
                .describe("Whether the component configures and activates itself when it starts.")
                .read_only(),
        );
        declared
            .push(Parameter::boolean(USE_SIM_TIME, false).describe("Whether time is taken from /clock.").read_only());
        let given = |name: &str| given.get(name).cloned();
        let parameters = Parameters::declare(declared, given).map_err(|(name, problem)| ComponentError::Parameter {
            component: self.name.clone(),
            name,
            problem: problem.to_string(),
        })?;
        Ok(parameters)
    }
}

fn to_response(answer: Answer) -> ExecuteMethod::Response {
    ExecuteMethod::Response {
        success: answer.success,
        error_msg: carried(answer.error),
        response_json: carried(answer.response),
    }
}

/// Publishes the health when it or the state changes, and as a heartbeat.
async fn publish_status(
    publisher: Publisher<ComponentStatus>,
    health: HealthReporter,
    mut states: watch::Receiver<State>,
    context: ComponentContext,
) {
    let mut problems = health.watch();
    let mut heartbeat = tokio::time::interval(HEARTBEAT);
    loop {
        tokio::select! {
            _ = heartbeat.tick() => {}
            changed = problems.changed() => if changed.is_err() { return },
            changed = states.changed() => if changed.is_err() { return },
        }
        let state = *states.borrow();
        let status = ComponentStatus { stamp: context.now(), ..health.status(state) };
        publisher.publish(&status);
    }
}
