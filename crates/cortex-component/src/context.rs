//! What hooks get to set a component up: publishers, subscriptions, services, background tasks, parameters, health, time.

use std::future::Future;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use cortex_ros_client::messages::builtin_interfaces::msg::Time;
use cortex_ros_client::parameters::Parameters;
use cortex_ros_client::publisher::shared;
use cortex_ros_client::r2r;
use cortex_ros_client::serving::respond;
use cortex_ros_client::{
    Publisher, QosProfile, RosClock, RosError, RosNode, ServiceClient, TypedMessage, TypedService,
};
use futures::StreamExt;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::health::{Health, HealthReporter};
use crate::lifecycle::State;

/// How long background tasks may take to end; they are dropped at their next await.
const TASK_END_TIMEOUT: Duration = Duration::from_millis(500);

/// What hooks get to set a component up. Clones share it.
#[derive(Clone)]
pub struct ComponentContext {
    node: RosNode,
    parameters: Parameters,
    health: HealthReporter,
    clock: RosClock,
    states: watch::Receiver<State>,
    while_active: TaskGroup,
    while_configured: TaskGroup,
    publishers: Arc<Mutex<Vec<DestroyPublisher>>>,
}

type DestroyPublisher = Box<dyn FnOnce(&mut r2r::Node) + Send>;

/// A received message.
#[derive(Debug)]
pub struct Received<T> {
    /// The message.
    pub message: Arc<T>,
    /// When it was received.
    pub at: Instant,
}

impl<T> Clone for Received<T> {
    fn clone(&self) -> Self {
        Self { message: Arc::clone(&self.message), at: self.at }
    }
}

/// The latest message of a topic; older ones are forgotten.
#[derive(Debug)]
pub struct Latest<T> {
    receiver: watch::Receiver<Option<Received<T>>>,
}

impl<T> Clone for Latest<T> {
    fn clone(&self) -> Self {
        Self { receiver: self.receiver.clone() }
    }
}

impl<T> Latest<T> {
    /// The latest message, however old; none if none came.
    #[must_use]
    pub fn last(&self) -> Option<Received<T>> {
        self.receiver.borrow().clone()
    }

    /// The latest message, if one came and it is not older than `max_age`.
    #[must_use]
    pub fn fresh(&self, max_age: Duration) -> Option<Arc<T>> {
        let received = self.last()?;
        (received.at.elapsed() <= max_age).then_some(received.message)
    }

    /// The latest message that is not older than `max_age`; waits up to `patience` for one.
    pub async fn within(&mut self, max_age: Duration, patience: Duration) -> Option<Arc<T>> {
        let is_fresh =
            |received: &Option<Received<T>>| received.as_ref().is_some_and(|received| received.at.elapsed() <= max_age);
        // Ends early also when the subscription is gone; then what is fresh still counts.
        let _ = tokio::time::timeout(patience, self.receiver.wait_for(is_fresh)).await;
        self.fresh(max_age)
    }

    /// Waits for the next message. Returns `None` when there will be no more.
    pub async fn next(&mut self) -> Option<Received<T>> {
        self.receiver.changed().await.ok()?;
        self.receiver.borrow_and_update().clone()
    }
}

impl ComponentContext {
    pub(crate) fn new(
        node: RosNode,
        parameters: Parameters,
        health: HealthReporter,
        states: watch::Receiver<State>,
    ) -> Self {
        Self {
            clock: node.clock().clone(),
            node,
            parameters,
            health,
            states,
            while_active: TaskGroup::default(),
            while_configured: TaskGroup::default(),
            publishers: Arc::default(),
        }
    }

    /// The declared parameters.
    #[must_use]
    pub fn parameters(&self) -> &Parameters {
        &self.parameters
    }

    /// Where problems are reported.
    #[must_use]
    pub fn health(&self) -> &HealthReporter {
        &self.health
    }

    /// Now, in the clock of the node (simulated time where `use_sim_time` is set).
    #[must_use]
    pub fn now(&self) -> Time {
        self.clock.now()
    }

    /// Creates a publisher. It lives until the component is cleaned up.
    ///
    /// # Errors
    /// When the name is not valid or ROS is shut down.
    pub async fn publisher<T: TypedMessage>(&self, topic: &str, qos: QosProfile) -> Result<Publisher<T>, RosError> {
        let topic = topic.to_owned();
        let publisher = self.node.with_node(move |node| node.create_publisher::<T>(&topic, qos.into())).await??;
        let destroyed = publisher.clone();
        self.publishers
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(Box::new(move |node| node.destroy_publisher(destroyed)));
        Ok(shared(publisher))
    }

    /// Subscribes to a topic and keeps its latest message. It lives until the component is cleaned up.
    ///
    /// # Errors
    /// When the name is not valid or ROS is shut down.
    pub async fn latest<T: TypedMessage>(&self, topic: &str, qos: QosProfile) -> Result<Latest<T>, RosError> {
        let name = topic.to_owned();
        let mut messages = self.node.with_node(move |node| node.subscribe::<T>(&name, qos.into())).await??;
        let (sender, receiver) = watch::channel(None);
        self.while_configured.spawn(async move {
            while let Some(message) = messages.next().await {
                sender.send_replace(Some(Received { message: Arc::new(message), at: Instant::now() }));
            }
        });
        Ok(Latest { receiver })
    }

    /// Serves a service beside the component's methods, for nodes that know nothing of Cortex. `answer` must not wait. While
    /// the component is not active, requests get an empty answer. It lives until the component is cleaned up.
    ///
    /// # Errors
    /// When the name is not valid or ROS is shut down.
    pub async fn serve<S: TypedService>(
        &self,
        service: &str,
        answer: impl Fn(S::Request) -> S::Response + Send + 'static,
    ) -> Result<(), RosError> {
        let (name, quality) = (service.to_owned(), QosProfile::RELIABLE.into());
        let mut requests = self.node.with_node(move |node| node.create_service::<S>(&name, quality)).await??;
        let states = self.states.clone();
        self.while_configured.spawn(async move {
            while let Some(request) = requests.next().await {
                let is_active = *states.borrow() == State::Active;
                let response = if is_active { answer(request.message.clone()) } else { S::Response::default() };
                respond(request, response);
            }
        });
        Ok(())
    }

    /// A client of a service that others serve. It can't be destroyed: keep it for the next life of the component, too.
    ///
    /// # Errors
    /// When the name is not valid or ROS is shut down.
    pub async fn client<S: TypedService>(&self, service: &str) -> Result<ServiceClient<S>, RosError> {
        ServiceClient::create(&self.node, service).await
    }

    /// Runs `work` in the background until it ends or the component is deactivated; then it is dropped. Meant for
    /// `on_activate`. A panic is reported as a problem of the component under `name`.
    pub fn spawn_while_active(&self, name: &str, work: impl Future<Output = ()> + Send + 'static) {
        let (name, health) = (name.to_owned(), self.health.clone());
        self.while_active.spawn(async move {
            let task = tokio_util::task::AbortOnDropHandle::new(tokio::spawn(work));
            if task.await.is_err_and(|problem| problem.is_panic()) {
                health.report(&name, Health::Component, format!("{name} panicked and has stopped"));
            }
        });
    }

    /// Ends the tasks of the active state.
    pub(crate) async fn stop_tasks(&self) {
        self.while_active.stop().await;
    }

    /// Lets go of everything that was set up.
    pub(crate) async fn release(&self) {
        self.while_active.stop().await;
        self.while_configured.stop().await;
        let publishers = std::mem::take(&mut *self.publishers.lock().unwrap_or_else(PoisonError::into_inner));
        // When ROS is shut down, they are gone already.
        let _ = self
            .node
            .with_node(move |node| {
                for destroy in publishers {
                    destroy(node);
                }
            })
            .await;
    }
}

/// Tasks that end together, and may be begun anew after that.
#[derive(Clone, Default)]
struct TaskGroup {
    generation: Arc<Mutex<Generation>>,
}

#[derive(Clone, Default)]
struct Generation {
    end: CancellationToken,
    tasks: TaskTracker,
}

impl TaskGroup {
    fn spawn(&self, work: impl Future<Output = ()> + Send + 'static) {
        let Generation { end, tasks } = self.generation.lock().unwrap_or_else(PoisonError::into_inner).clone();
        tasks.spawn(async move {
            let _ = end.run_until_cancelled(work).await;
        });
    }

    async fn stop(&self) {
        let old = std::mem::take(&mut *self.generation.lock().unwrap_or_else(PoisonError::into_inner));
        old.end.cancel();
        old.tasks.close();
        if tokio::time::timeout(TASK_END_TIMEOUT, old.tasks.wait()).await.is_err() {
            tracing::warn!("background tasks do not end; they are left behind");
        }
    }
}
