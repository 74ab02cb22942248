//! A server for tests that speaks Qdrant's published protocol over real TCP, with the server code that comes with the client.
//! It keeps points, filters and searches them; what it does not know it refuses, so that nothing passes unseen. It is stricter than
//! a server need be: it filters by fields with an index only.

mod collections;
mod filters;
mod points;
mod state;

use std::net::SocketAddr;
use std::sync::atomic::{AtomicU8, Ordering};
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

pub use state::{Collection, Collections, Point};

/// The methods that nobody needs here, refused. `async_trait` does not look into macros, so this is what it would write.
macro_rules! refused {
    ($($method:ident $request:ident $reply:ident),* $(,)?) => {$(
        fn $method<'a, 'b>(&'a self, _: Request<api::$request>) -> Refused<'b, api::$reply>
        where 'a: 'b, Self: 'b {
            Box::pin(async { Err(Status::unimplemented(concat!(stringify!($method), " is not known to the server of tests"))) })
        }
    )*};
}
use refused;

/// What a method that is refused comes to.
type Refused<'a, T> = std::pin::Pin<Box<dyn Future<Output = Result<Response<T>, Status>> + Send + 'a>>;

/// What the server does with requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Habit {
    /// It does what they ask for.
    Answers,
    /// It takes requests, and leaves them.
    NeverAnswers,
    /// It refuses those of this method with an error that repeats the key.
    Refuses(&'static str),
}

/// What the server keeps. It outlives the server, as a disk would.
pub struct State {
    collections: Mutex<Collections>,
    habit: watch::Sender<Habit>,
    key: Option<&'static str>,
    /// The methods that were called.
    called: Mutex<Vec<&'static str>>,
}

impl State {
    /// Nothing. With a key, only requests that have it are let in.
    #[must_use]
    pub fn new(key: Option<&'static str>) -> Arc<Self> {
        let (collections, called) = (Mutex::default(), Mutex::default());
        Arc::new(Self { collections, habit: watch::Sender::new(Habit::Answers), key, called })
    }

    /// Changes what the server does, also with the requests that it has left.
    pub fn set(&self, habit: Habit) {
        self.habit.send_replace(habit);
    }

    /// What it keeps, for a test to look at and to spoil.
    pub fn kept<T>(&self, work: impl FnOnce(&mut Collections) -> T) -> T {
        work(&mut self.collections.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Changes all points of a collection whose field has this text, and says how many they are.
    pub fn spoil(&self, collection: &str, field: &str, text: &str, spoil: impl Fn(&mut Point)) -> usize {
        let text = Value::from(text);
        self.kept(|collections| {
            let points = collections.get_mut(collection).into_iter().flat_map(|kept| kept.points.values_mut());
            points.filter(|point| point.payload.get(field) == Some(&text)).map(spoil).count()
        })
    }

    /// How often a method was called.
    #[must_use]
    pub fn called(&self, method: &str) -> usize {
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
        let habit = habit.wait_for(|habit| *habit != Habit::NeverAnswers).await.map(|habit| *habit);
        if matches!(habit, Ok(Habit::Refuses(refused)) if refused == method) {
            return Err(Status::internal(format!("out of memory while serving\n{}", given.unwrap_or("nobody"))));
        }
        Ok(())
    }
}

/// The servers of this process.
static SERVERS: AtomicU8 = AtomicU8::new(0);

/// What the generated code calls.
#[derive(Clone)]
struct Services(Arc<State>);

/// A running server.
pub struct Server {
    /// What it keeps.
    pub state: Arc<State>,
    /// Where it listens.
    pub address: SocketAddr,
    stop: oneshot::Sender<()>,
    task: JoinHandle<Result<(), tonic::transport::Error>>,
}

impl Server {
    /// A server with nothing in it, on an address of its own: nobody else takes its port while it is away.
    ///
    /// # Errors
    /// When no port can be had.
    pub async fn start(key: Option<&'static str>) -> std::io::Result<Self> {
        let [.., high, low] = std::process::id().to_be_bytes();
        let number = SERVERS.fetch_add(1, Ordering::Relaxed);
        Self::resume(State::new(key), ([127, high | 1, low, number.wrapping_add(1)], 0).into()).await
    }

    /// A server with what another one has kept, at this address.
    ///
    /// # Errors
    /// When somebody else listens there.
    pub async fn resume(state: Arc<State>, address: SocketAddr) -> std::io::Result<Self> {
        let listener = TcpListener::bind(address).await?;
        let address = listener.local_addr()?;
        let (stop, stopped) = oneshot::channel::<()>();
        let services = Services(Arc::clone(&state));
        let server = Transport::builder()
            .add_service(PointsServer::new(services.clone()))
            .add_service(CollectionsServer::new(services))
            .serve_with_incoming_shutdown(TcpIncoming::from(listener).with_nodelay(Some(true)), async move {
                // Dropped, it ends, too.
                let _ = stopped.await;
            });
        Ok(Self { state, address, stop, task: tokio::spawn(server) })
    }

    /// Its address for clients.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Ends the server and its connections. What it kept can be served again.
    pub async fn stop(self) -> (Arc<State>, SocketAddr) {
        drop(self.stop);
        // However it ended, it listens no more.
        let _ = self.task.await;
        (self.state, self.address)
    }
}
