//! A server for tests that speaks Qdrant's published protocol over real TCP, with the server code that comes with the client.
//! It keeps points, filters and searches them; what it does not know it refuses, so that nothing passes unseen. It is stricter than
//! a server need be: it filters by fields with an index only.

mod collections;
mod filters;
mod points;
mod state;

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};

use qdrant_client::qdrant::Value;
use qdrant_client::qdrant::collections_server::CollectionsServer;
use qdrant_client::qdrant::points_server::PointsServer;
use tokio::net::TcpListener;
use tokio::sync::{oneshot, watch};
use tokio::task::JoinHandle;
use tonic::metadata::MetadataMap;
use tonic::transport::Server as Transport;
use tonic::transport::server::TcpIncoming;
use tonic::{Response, Status};

pub(crate) use state::{Collection, Collections, Point};

/// The methods that nobody needs here, refused. `async_trait` does not look into macros, so this is what it would write.
macro_rules! refused {
    ($($method:ident $request:ident $reply:ident),* $(,)?) => {$(
        fn $method<'a, 'b>(&'a self, _: Request<api::$request>) -> Refused<'b, api::$reply>
        where 'a: 'b, Self: 'b {
            Box::pin(async { Err(Status::unimplemented(concat!(stringify!($method), " is not known to the server of tests"))) })
        }
    )*};
}
pub(crate) use refused;

/// What a method that is refused comes to.
type Refused<'a, T> = std::pin::Pin<Box<dyn Future<Output = Result<Response<T>, Status>> + Send + 'a>>;

/// What the server does with requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Habit {
    Answers,
    /// It takes requests, and leaves them.
    NeverAnswers,
    /// It refuses those of this method with an error that repeats the key.
    Refuses(&'static str),
}

/// What the server keeps. It outlives the server, as a disk would.
pub(crate) struct State {
    pub(crate) collections: Mutex<Collections>,
    habit: watch::Sender<Habit>,
    key: Option<&'static str>,
    /// The methods that were called.
    called: Mutex<Vec<&'static str>>,
}

impl State {
    pub(crate) fn new(key: Option<&'static str>) -> Arc<Self> {
        let (collections, called) = (Mutex::default(), Mutex::default());
        Arc::new(Self { collections, habit: watch::Sender::new(Habit::Answers), key, called })
    }

    pub(crate) fn set(&self, habit: Habit) {
        self.habit.send_replace(habit);
    }

    /// What it keeps, for a test to look at and to spoil.
    pub(crate) fn kept<T>(&self, work: impl FnOnce(&mut Collections) -> T) -> T {
        work(&mut self.collections.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// The payloads of all points of a collection whose field has this text.
    pub(crate) fn spoil(&self, collection: &str, field: &str, text: &str, spoil: impl Fn(&mut Point)) -> usize {
        self.kept(|collections| {
            let points = collections.get_mut(collection).expect("the collection").points.values_mut();
            let text = Value::from(text);
            points.filter(|point| point.payload.get(field) == Some(&text)).map(spoil).count()
        })
    }

    pub(crate) fn called(&self, method: &str) -> usize {
        self.called.lock().unwrap_or_else(PoisonError::into_inner).iter().filter(|called| **called == method).count()
    }

    /// Lets a request in.
    async fn enter(&self, method: &'static str, metadata: &MetadataMap) -> Result<(), Status> {
        self.called.lock().unwrap_or_else(PoisonError::into_inner).push(method);
        let given = metadata.get("api-key").and_then(|key| key.to_str().ok());
        if given != self.key && self.key.is_some() {
            return Err(Status::unauthenticated(format!("Invalid API key or JWT: {given:?}")));
        }
        let mut habit = self.habit.subscribe();
        let habit = *habit.wait_for(|habit| *habit != Habit::NeverAnswers).await.expect("the state is there");
        if habit == Habit::Refuses(method) {
            return Err(Status::internal(format!("out of memory while serving\n{}", given.unwrap_or("nobody"))));
        }
        Ok(())
    }
}

/// What the generated code calls.
#[derive(Clone)]
struct Services(Arc<State>);

/// A running server.
pub(crate) struct Server {
    pub(crate) state: Arc<State>,
    pub(crate) address: SocketAddr,
    stop: oneshot::Sender<()>,
    task: JoinHandle<Result<(), tonic::transport::Error>>,
}

impl Server {
    /// A server with nothing in it, on a port of its own.
    pub(crate) async fn start(key: Option<&'static str>) -> Self {
        Self::resume(State::new(key), ([127, 0, 0, 1], 0).into()).await
    }

    /// A server with what another one has kept, at this address.
    pub(crate) async fn resume(state: Arc<State>, address: SocketAddr) -> Self {
        let listener = TcpListener::bind(address).await.expect("a port");
        let address = listener.local_addr().expect("its address");
        let (stop, stopped) = oneshot::channel::<()>();
        let services = Services(Arc::clone(&state));
        let server = Transport::builder()
            .add_service(PointsServer::new(services.clone()))
            .add_service(CollectionsServer::new(services))
            .serve_with_incoming_shutdown(TcpIncoming::from(listener), async move {
                // Dropped, it ends, too.
                let _ = stopped.await;
            });
        Self { state, address, stop, task: tokio::spawn(server) }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Ends the server and its connections.
    pub(crate) async fn stop(self) -> (Arc<State>, SocketAddr) {
        drop(self.stop);
        self.task.await.expect("it ran").expect("it ended in peace");
        (self.state, self.address)
    }
}
