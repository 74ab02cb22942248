//! Makes endpoints, and runs the thread that waits for all of them.
//!
//! The middleware could also call a function for whatever arrives, without a wait set. Measured with Fast DDS: a call
//! takes hardly longer beside 500 idle clients than alone, and with such functions answers were lost after a few seconds
//! without traffic.

use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use cortex_interfaces::{ActionInterface, MessageInterface, ServiceInterface};

use tokio::sync::Semaphore;

use super::definition;
use super::endpoint_executor::{Endpoint, EndpointExecutor};
use super::polled_subscription::{LOOK, MessagePool, PolledSubscription};
use super::service_client::{Requests, Servers, announced_servers, identities};
use super::subscription::Inlet;
use super::{ActionClient, Publisher, ServiceClient, Subscription};
use crate::liveness_counter::LivenessCounter;
use crate::node::join_in_time;
use crate::qos::{Durability, QosProfile, Reliability};
use crate::rcl::announced::{End, Naming, announced};
use crate::rcl::context::{GuardCondition, Node};
use crate::rcl::observer::Waker;
use crate::rcl::wait_set::WaitSet;
use crate::{GraphWatch, RosError};

/// Whoever waits for the graph looks again at least this often, should the middleware forget to say that it changed.
const REFRESH: Duration = Duration::from_secs(2);
/// The pause between the destruction of two endpoints. The middleware stands still during one; without a pause it would
/// until the last.
const BETWEEN_DROPPED: Duration = Duration::from_millis(1);
/// Endpoints that are made at a time. The middleware makes one after the other; who waits for that needs no thread.
const MADE_AT_ONCE: usize = 2;
/// The pause after a wait that failed, so that a failure which stays does not take a core.
const PAUSE: Duration = Duration::from_millis(100);

/// Makes clients, subscriptions and publishers of any type. Clones share them.
///
/// To be shut down before the [`GraphWatch`] that it was started with.
#[derive(Clone)]
pub struct Endpoints {
    executor: Arc<EndpointExecutor>,
    making: Arc<Semaphore>,
    liveness: LivenessCounter,
    thread: Arc<Mutex<Option<JoinHandle<()>>>>,
}

impl Endpoints {
    /// Starts the thread `ros-endpoints`, with a hidden node of its own beside that of the graph watch.
    ///
    /// # Errors
    /// When the watch was shut down, the client library refuses, or no thread can be had.
    pub fn start(graph: &GraphWatch) -> Result<Self, RosError> {
        let context = graph.context()?;
        let node = Node::create(&context, &format!("_cortex_endpoints_{}", std::process::id()))?;
        let wake = GuardCondition::create(&context)?;
        let executor = EndpointExecutor::new(Arc::clone(&node), Arc::clone(&wake), graph.events());
        let watch = graph.waker();
        let liveness = LivenessCounter::default();
        let thread = std::thread::Builder::new()
            .name("ros-endpoints".to_owned())
            .spawn({
                let (executor, liveness) = (Arc::clone(&executor), liveness.clone());
                move || serve(&executor, &node, &wake, &watch, &liveness)
            })
            .map_err(RosError::Thread)?;
        let making = Arc::new(Semaphore::new(MADE_AT_ONCE));
        Ok(Self { executor, making, liveness, thread: Arc::new(Mutex::new(Some(thread))) })
    }

    /// A client of a service, whether a server is there or not. `service` is fully qualified.
    ///
    /// # Errors
    /// When the client library refuses, such as for a name that is none, and after the shutdown.
    pub async fn service_client(
        &self,
        service: &str,
        interface: &Arc<ServiceInterface>,
    ) -> Result<ServiceClient, RosError> {
        let (service, interface) = (service.to_owned(), Arc::clone(interface));
        self.make(move |executor| ServiceClient::create(executor, &service, &interface)).await
    }

    /// A client of an action, whether a server is there or not. `action` is fully qualified.
    ///
    /// # Errors
    /// When the client library refuses, such as for a name that is none, and after the shutdown.
    pub async fn action_client(
        &self,
        action: &str,
        interface: &Arc<ActionInterface>,
    ) -> Result<ActionClient, RosError> {
        let (action, interface) = (action.to_owned(), Arc::clone(interface));
        self.make(move |executor| ActionClient::create(executor, &action, &interface)).await
    }

    /// Reads a topic. `topic` is fully qualified.
    ///
    /// # Errors
    /// When the client library refuses, such as for a name that is none, and after the shutdown.
    pub async fn subscribe(
        &self,
        topic: &str,
        interface: &Arc<MessageInterface>,
        quality: QosProfile,
    ) -> Result<Subscription, RosError> {
        let (topic, interface) = (topic.to_owned(), Arc::clone(interface));
        self.make(move |executor| Subscription::create(executor, &topic, &interface, quality)).await
    }

    /// Publishes a topic. `topic` is fully qualified.
    ///
    /// # Errors
    /// When the client library refuses, such as for a name that is none, and after the shutdown.
    pub async fn publisher(
        &self,
        topic: &str,
        interface: &Arc<MessageInterface>,
        quality: QosProfile,
    ) -> Result<Publisher, RosError> {
        let (topic, interface) = (topic.to_owned(), Arc::clone(interface));
        self.make(move |executor| Publisher::create(executor, &topic, &interface, quality)).await
    }

    /// Checks that the servers of a service, if there are any, mean the same by its type as this process.
    ///
    /// # Errors
    /// [`RosError::OtherDefinition`] when they do not; else after the shutdown, or when the client library refuses.
    pub fn check_service(&self, service: &str, interface: &ServiceInterface) -> Result<(), RosError> {
        definition::check_service(&*self.executor.node()?, service, interface)
    }

    /// Checks that the servers of an action, if there are any, mean the same by its type as this process.
    ///
    /// # Errors
    /// As for [`check_service`](Self::check_service).
    pub fn check_action(&self, action: &str, interface: &ActionInterface) -> Result<(), RosError> {
        definition::check_action(&*self.executor.node()?, action, interface)
    }

    /// Checks that who publishes or reads a topic, if anybody does, means the same by its type as this process.
    ///
    /// # Errors
    /// As for [`check_service`](Self::check_service).
    pub fn check_topic(&self, topic: &str, interface: &MessageInterface) -> Result<(), RosError> {
        definition::check_topic(&*self.executor.node()?, topic, interface)
    }

    /// Who gets the requests of a service now.
    ///
    /// # Errors
    /// When the client library refuses, and after the shutdown.
    pub fn servers_of(&self, service: &str) -> Result<Servers, RosError> {
        Ok(identities(announced_servers(&*self.executor.node()?, service)?))
    }

    /// What each publisher of a topic offers.
    ///
    /// # Errors
    /// After the shutdown, or when the client library refuses.
    pub fn offered(&self, topic: &str) -> Result<Vec<(Reliability, Durability)>, RosError> {
        let publishers = announced(&*self.executor.node()?, topic, Naming::Ros, End::Publishers)?;
        Ok(publishers.into_iter().map(|publisher| (publisher.reliability, publisher.durability)).collect())
    }

    /// The beats of its thread.
    #[must_use]
    pub fn liveness(&self) -> LivenessCounter {
        self.liveness.clone()
    }

    /// Ends the thread and gives all endpoints back; every call that waits ends with [`RosError::ShutDown`]. Blocks until
    /// that is done, which takes a few milliseconds. Handles may be kept, and do nothing then. Later calls do nothing.
    pub fn shut_down(&self) {
        self.executor.close();
        let thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(thread) = thread {
            join_in_time(thread);
        }
    }

    /// The middleware takes some milliseconds to make an endpoint: not on a thread that runs tasks.
    pub(super) async fn make<T: Send + 'static>(
        &self,
        make: impl FnOnce(&Arc<EndpointExecutor>) -> Result<T, RosError> + Send + 'static,
    ) -> Result<T, RosError> {
        let executor = Arc::clone(&self.executor);
        // It is never closed.
        let _turn = self.making.acquire().await.map_err(|_| RosError::ShutDown)?;
        // It fails only when the runtime ends.
        tokio::task::spawn_blocking(move || make(&executor)).await.unwrap_or(Err(RosError::ShutDown))
    }
}

/// Tells everybody, however the thread ends.
struct Closing<'a>(&'a EndpointExecutor);

impl Drop for Closing<'_> {
    fn drop(&mut self) {
        self.0.close();
    }
}

fn serve(
    executor: &EndpointExecutor,
    node: &Arc<Node>,
    wake: &Arc<GuardCondition>,
    watch: &Waker,
    liveness: &LivenessCounter,
) {
    let _closing = Closing(executor);
    let mut times = Times { looked: Instant::now(), refreshed: Instant::now() };
    while let Some((generation, endpoints)) = executor.endpoints() {
        liveness.beat();
        match Round::prepare(node, wake, endpoints) {
            Ok(mut round) => {
                while executor.is_at(generation) {
                    liveness.beat();
                    if let Err(problem) = round.turn(executor, watch, &mut times) {
                        tracing::warn!("{problem}");
                        std::thread::sleep(PAUSE);
                        break;
                    }
                }
            }
            Err(problem) => {
                tracing::warn!("{problem}");
                std::thread::sleep(PAUSE);
            }
        }
    }
}

/// When what comes round again was last done.
struct Times {
    looked: Instant,
    refreshed: Instant,
}

/// A wait for the endpoints of one generation.
struct Round {
    set: WaitSet,
    /// In the order of the clients of the set.
    requests: Vec<Arc<Requests>>,
    /// In the order of the subscriptions of the set.
    inlets: Vec<Arc<Inlet>>,
    /// Not in the set: it is looked into them.
    polled_subscriptions: Vec<Arc<PolledSubscription>>,
    pool: MessagePool,
}

impl Round {
    fn prepare(node: &Arc<Node>, wake: &Arc<GuardCondition>, endpoints: Vec<Endpoint>) -> Result<Self, RosError> {
        let (mut requests, mut clients) = (Vec::new(), Vec::new());
        let (mut inlets, mut subscriptions) = (Vec::new(), Vec::new());
        let mut polled_subscriptions = Vec::new();
        for endpoint in endpoints {
            match endpoint {
                Endpoint::Requests(endpoint) => {
                    // One that was closed in the meantime is not waited for.
                    if let Ok(client) = endpoint.client() {
                        clients.push(client);
                        requests.push(endpoint);
                    }
                }
                Endpoint::Inlet(endpoint) => {
                    if let Ok(subscription) = endpoint.subscription() {
                        subscriptions.push(subscription);
                        inlets.push(endpoint);
                    }
                }
                Endpoint::PolledSubscription(endpoint) => polled_subscriptions.push(endpoint),
                // Nothing arrives there.
                Endpoint::Outlet(_) | Endpoint::Glance(_) => {}
            }
        }
        let set = WaitSet::create(node, wake, clients, subscriptions)?;
        Ok(Self { set, requests, inlets, polled_subscriptions, pool: MessagePool::default() })
    }

    /// Waits once and hands on what has arrived.
    fn turn(&mut self, executor: &EndpointExecutor, watch: &Waker, times: &mut Times) -> Result<(), RosError> {
        let are_others = executor.destroy_one();
        let patience = if are_others { BETWEEN_DROPPED } else { self.patience(times) };
        let ready = self.set.wait(patience)?;
        if let Some(ready) = ready {
            for requests in ready.clients.iter().filter_map(|place| self.requests.get(*place)) {
                requests.deliver();
            }
            for inlet in ready.subscriptions.iter().filter_map(|place| self.inlets.get(*place)) {
                inlet.deliver();
            }
            if ready.graph {
                times.refreshed = Instant::now();
                executor.graph_changed();
                // It does not see this event itself.
                watch.wake();
            }
        }
        let now = Instant::now();
        if now.duration_since(times.looked) >= LOOK {
            times.looked = now;
            for subscription in &self.polled_subscriptions {
                subscription.look(&mut self.pool);
            }
        }
        if now.duration_since(times.refreshed) >= REFRESH {
            times.refreshed = now;
            executor.graph_changed();
        }
        Ok(())
    }

    /// How long there is nothing to do if nothing arrives.
    fn patience(&self, times: &Times) -> Duration {
        let refresh = REFRESH.saturating_sub(times.refreshed.elapsed());
        if self.polled_subscriptions.is_empty() {
            refresh
        } else {
            refresh.min(LOOK.saturating_sub(times.looked.elapsed()))
        }
    }
}
