//! Calling a service of any type.

use std::collections::BTreeSet;
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use cortex_interfaces::{Message, ServiceInterface};
use futures::FutureExt as _;
use tokio::sync::oneshot;

use super::answers::Answers;
use super::definition::requests_topic;
use super::endpoint_executor::{Endpoint, EndpointExecutor, Registration, Slot};
use super::turns::{Turn, Turns, room};
use crate::RosError;
use crate::graph::InstanceId;
use crate::rcl::announced::{Announced, End, Naming, announced};
use crate::rcl::client::Client;
use crate::rcl::context::Node;

/// Answers of one client that are handed on before others get their turn.
const ANSWERS_AT_ONCE: usize = 64;
/// While a server is waited for: how long to wait for the graph before another look. The graph says when a server has
/// come, but not when the middleware has matched it with the client, which is a moment later.
const FIRST_PAUSE: Duration = Duration::from_millis(1);
const LONGEST_PAUSE: Duration = Duration::from_millis(50);

/// A client of one service. Clones share it; it is destroyed when the last one is dropped, and no answer is waited for.
#[derive(Clone)]
pub struct ServiceClient {
    shared: Arc<Shared>,
}

struct Shared {
    requests: Arc<Requests>,
    interface: Arc<ServiceInterface>,
    service: String,
    registration: Registration,
    turns: Arc<Turns>,
}

impl ServiceClient {
    /// Blocks for some milliseconds.
    pub(super) fn create(
        executor: &Arc<EndpointExecutor>,
        service: &str,
        interface: &Arc<ServiceInterface>,
    ) -> Result<Self, RosError> {
        let client = Slot::new(Client::create(&executor.node()?, service, interface)?);
        let requests = Arc::new(Requests { client, answers: Answers::default() });
        let registration = executor.register(Endpoint::Requests(Arc::clone(&requests)))?;
        let turns = executor.turns.of(service);
        let (interface, service) = (Arc::clone(interface), service.to_owned());
        Ok(Self { shared: Arc::new(Shared { requests, interface, service, registration, turns }) })
    }

    /// The type of the service.
    #[must_use]
    pub fn interface(&self) -> &Arc<ServiceInterface> {
        &self.shared.interface
    }

    /// The fully qualified name of the service.
    #[must_use]
    pub fn service(&self) -> &str {
        &self.shared.service
    }

    /// Waits until a server is there. A request sent before would be lost.
    ///
    /// # Errors
    /// [`RosError::NoServer`] when none comes within `limit`, [`RosError::ShutDown`] after the shutdown.
    pub async fn wait_for_server(&self, limit: Duration) -> Result<(), RosError> {
        let mut graph = self.shared.registration.executor().graph_events();
        let available = async {
            let mut pause = FIRST_PAUSE;
            while !self.has_server()? {
                // Both ends of it are fine: an event, or time for another look.
                let _ = tokio::time::timeout(pause, graph.changed()).await;
                pause = (pause * 2).min(LONGEST_PAUSE);
            }
            Ok(())
        };
        match tokio::time::timeout(limit, available).await {
            Ok(available) => available,
            Err(_) => Err(RosError::NoServer { service: self.shared.service.clone(), waited: limit }),
        }
    }

    /// Waits until the service has room for another request, in the order of the callers; to be called when a server is
    /// there, and held until the request is answered. What can't wait, such as a halt, is sent without a turn.
    ///
    /// # Errors
    /// [`RosError::TooMany`] when too many wait already, and after the shutdown.
    pub async fn turn(&self) -> Result<Turn, RosError> {
        Ok(self.turn_and_servers().await?.0)
    }

    /// The same, with the identities of those who get the request: as they are when the turn has come.
    ///
    /// # Errors
    /// As for [`turn`](Self::turn).
    pub async fn turn_and_servers(&self) -> Result<(Turn, Servers), RosError> {
        let found = announced_servers(&*self.executor().node()?, &self.shared.service)?;
        let turn = self.shared.turns.take(room(found.iter().map(|server| server.history)));
        let mut turn = pin!(turn);
        // One that need not wait need not ask twice.
        if let Some(turn) = turn.as_mut().now_or_never() {
            return Ok((turn?, identities(found)));
        }
        let turn = turn.await?;
        Ok((turn, self.servers()?))
    }

    /// The identities of those who get what is sent now.
    ///
    /// # Errors
    /// When the client library refuses, and after the shutdown.
    pub fn servers(&self) -> Result<Servers, RosError> {
        Ok(identities(announced_servers(&*self.executor().node()?, &self.shared.service)?))
    }

    /// Sends a request, now, and returns the answer to wait for. Dropping that forgets the answer; the request is not
    /// taken back. A request that is lost on the way is never answered: bound the wait. Servers usually keep 10 requests
    /// and lose what comes on top, so do not send many more at a time.
    ///
    /// # Errors
    /// When the request is one of another service, when it can't be sent, when too many answers are waited for, and after
    /// the shutdown, which also ends the wait.
    pub fn send(
        &self,
        request: &Message,
    ) -> Result<impl Future<Output = Result<Message, RosError>> + Send + 'static + use<>, RosError> {
        let (number, answer) = self.shared.requests.send(request)?;
        let forget = Forget { client: self.clone(), number };
        Ok(async move {
            let _forget = forget;
            answer.await.map_err(|_| RosError::ShutDown)
        })
    }

    /// Sends a request and waits for its answer. A server should be there: see
    /// [`wait_for_server`](Self::wait_for_server).
    ///
    /// # Errors
    /// [`RosError::NoAnswer`] when none comes within `limit`; else as for [`send`](Self::send).
    pub async fn call(&self, request: &Message, limit: Duration) -> Result<Message, RosError> {
        match tokio::time::timeout(limit, self.send(request)?).await {
            Ok(answer) => answer,
            Err(_) => Err(RosError::NoAnswer { service: self.shared.service.clone(), waited: limit }),
        }
    }

    /// Whether a server is there.
    pub(super) fn has_server(&self) -> Result<bool, RosError> {
        self.shared.requests.client()?.has_server()
    }

    pub(super) fn executor(&self) -> &Arc<EndpointExecutor> {
        self.shared.registration.executor()
    }
}

/// Who gets the requests of a service: the identities of their readers.
pub type Servers = BTreeSet<InstanceId>;

/// Who serves, as the middleware knows it for requests. That is earlier than the graph tells of which node it is.
pub(super) fn announced_servers(node: &Node, service: &str) -> Result<Vec<Announced>, RosError> {
    announced(node, &requests_topic(service), Naming::Middleware, End::Subscriptions)
}

pub(super) fn identities(servers: Vec<Announced>) -> Servers {
    servers.into_iter().map(|server| server.identity).collect()
}

/// Forgets a request whose answer nobody waits for any more.
struct Forget {
    client: ServiceClient,
    number: i64,
}

impl Drop for Forget {
    fn drop(&mut self) {
        self.client.shared.requests.answers.forget(self.number);
    }
}

/// The requests of a client, by number, and who waits for the answers.
pub(super) struct Requests {
    client: Slot<Client>,
    answers: Answers<Message>,
}

impl Requests {
    pub(super) fn client(&self) -> Result<Arc<Client>, RosError> {
        self.client.get()
    }

    fn send(&self, request: &Message) -> Result<(i64, oneshot::Receiver<Message>), RosError> {
        let client = self.client()?;
        self.answers.send(|| client.send(request))
    }

    /// Hands on the answers that have arrived. One that nobody waits for, or that comes a second time, is dropped.
    pub(super) fn deliver(&self) {
        let Ok(client) = self.client() else { return };
        for _ in 0..ANSWERS_AT_ONCE {
            match client.take() {
                Ok(Some((number, answer))) => self.answers.arrived(number, answer),
                Ok(None) => return,
                Err(problem) => {
                    tracing::debug!("an answer can't be read: {problem}");
                    return;
                }
            }
        }
    }

    /// Whoever waits is told by the end of their channels.
    pub(super) fn close(&self) {
        self.client.close();
        self.answers.end();
    }
}
