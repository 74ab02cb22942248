//! The listener: its own threads, its bounds, its end.

use std::collections::VecDeque;
use std::future::ready;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use axum::Router;
use axum::body::Body;
use cortex_core::OperatorPort;
use cortex_protocol::Role;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::{Semaphore, oneshot};
use tokio::task::AbortHandle;
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tower::ServiceExt as _;

use crate::access::Access;
use crate::arrival::{Arrival, arrive, astray};
use crate::connection::Connection;
use crate::hub::Hub;
use crate::incident;
use crate::known_commands::KnownCommands;
use crate::places::Places;
use crate::refused_logins::RefusedLogins;
use crate::router::router;
use crate::site::Site;
use crate::tls::Tls;
use crate::webhooks::outgoing;
use crate::{WebError, WebLimits, WebSettings};

/// Threads of the server.
const THREADS: usize = 2;
/// Most bytes of a request's header, and most fields in it.
const HEADER_BYTES: usize = 16 << 10;
const HEADER_FIELDS: usize = 64;
/// Before the next connection is accepted when the system refused one: it has no more files to give, for example.
const AFTER_REFUSAL: Duration = Duration::from_millis(50);
/// How long requests may take to come to their end when the server ends.
const GRACE: Duration = Duration::from_secs(2);

/// The page and the API, until dropped.
pub struct WebServer {
    address: SocketAddr,
    site: Arc<Site>,
    /// None once it has ended.
    runtime: Option<Runtime>,
}

impl WebServer {
    /// Starts the server on threads of its own. Reads and writes files.
    ///
    /// # Errors
    /// When it can't listen, or its sessions can't be kept. A port that is taken is no error: see
    /// [`address`](Self::address).
    pub fn start(settings: WebSettings, port: Arc<dyn OperatorPort>) -> Result<Self, WebError> {
        let access = Access::open(settings.login, settings.state_directory.as_deref())?;
        let tls = settings.tls.clone().map(|files| Arc::new(Tls::open(files)));
        let listener = listen(settings.listen)?;
        let failed = |source| WebError::Listen { address: settings.listen, source };
        let address = listener.local_addr().map_err(failed)?;
        let runtime =
            Builder::new_multi_thread().worker_threads(THREADS).thread_name("cortex-web").enable_all().build();
        let runtime = runtime.map_err(WebError::Threads)?;
        let (tasks, ended) = (TaskTracker::new(), CancellationToken::new());
        let (site, listener) = {
            let _on_it = runtime.enter();
            let hub = Hub::start(&port, ended.clone());
            let listener = TcpListener::from_std(listener).map_err(failed)?;
            (
                Arc::new(Site {
                    settings,
                    port,
                    access,
                    tls,
                    hub,
                    commands: KnownCommands::default(),
                    connections: Arc::default(),
                    refused_logins: RefusedLogins::default(),
                    incidents: Arc::new(Semaphore::new(incident::AT_A_TIME)),
                    views: Arc::default(),
                    started_s: SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |now| now.as_secs()),
                    tasks,
                    ended,
                }),
                listener,
            )
        };
        {
            let _on_it = runtime.enter();
            outgoing::start(&site);
        }
        runtime.spawn(accept(Arc::clone(&site), listener));
        tracing::info!(%address, "the page is served");
        Ok(Self { address, site, runtime: Some(runtime) })
    }

    /// Where it listens: another port than configured, where that one was taken.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The address that is typed into a browser.
    #[must_use]
    pub fn url(&self) -> String {
        let scheme = if self.site.tls.as_ref().is_some_and(|tls| tls.is_usable()) { "https" } else { "http" };
        format!("{scheme}://{}/", self.address)
    }

    /// Makes a pairing code: whoever types it into the login page within ten minutes, once, gets a session with this role.
    ///
    /// # Errors
    /// When the system has no random numbers.
    pub fn pairing_code(&self, role: Role) -> Result<String, WebError> {
        self.site.access.pairing_code(role).map(|(_, code)| code)
    }

    /// Ends the server. Waits for the end of what was begun, for two seconds at most.
    pub async fn shut_down(mut self) {
        self.site.ended.cancel();
        self.site.tasks.close();
        let Some(runtime) = self.runtime.take() else { return };
        let (sender, is_over) = oneshot::channel();
        let tasks = self.site.tasks.clone();
        runtime.spawn(async move {
            let _ = timeout(GRACE, tasks.wait()).await;
            let _ = sender.send(());
        });
        let _ = is_over.await;
        runtime.shutdown_background();
    }
}

impl Drop for WebServer {
    fn drop(&mut self) {
        self.site.ended.cancel();
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

impl std::fmt::Debug for WebServer {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("WebServer").field("address", &self.address).finish_non_exhaustive()
    }
}

/// Listens on the address, or on a free port of it: the robot works on, and its page with it.
fn listen(address: SocketAddr) -> Result<std::net::TcpListener, WebError> {
    let failed = |source| WebError::Listen { address, source };
    let listener = match std::net::TcpListener::bind(address) {
        Err(error) if error.kind() == io::ErrorKind::AddrInUse => {
            let other = std::net::TcpListener::bind(SocketAddr::new(address.ip(), 0)).map_err(failed)?;
            let found = other.local_addr().map_err(failed)?;
            tracing::warn!(configured = %address, listens_on = %found,
                "another program has the port of the page; the page is on a free port instead");
            other
        }
        bound => bound.map_err(failed)?,
    };
    listener.set_nonblocking(true).map_err(failed)?;
    Ok(listener)
}

async fn accept(site: Arc<Site>, listener: TcpListener) {
    let router = router(Arc::clone(&site));
    let limits = site.settings.limits;
    let places = Places::new(limits.connections, limits.connections_per_peer);
    let mut spare = Spare::default();
    loop {
        let accepted = tokio::select! {
            () = site.ended.cancelled() => return,
            accepted = listener.accept() => accepted,
        };
        let (stream, peer) = match accepted {
            Ok(accepted) => accepted,
            Err(error) => {
                tracing::warn!(%error, "a connection to the page could not be accepted");
                sleep(AFTER_REFUSAL).await;
                continue;
            }
        };
        let connection = Connection::new(peer.ip(), places.take(peer.ip()));
        let is_spare = connection.is_spare();
        let served = site.tasks.spawn(serve(Arc::clone(&site), router.clone(), stream, connection));
        if is_spare {
            spare.add(served.abort_handle());
        }
    }
}

/// The connections that are kept free for STOP. One too many ends the oldest: whoever holds them all and says nothing keeps
/// nobody from stopping the robot. A stop that was begun goes on without its connection.
#[derive(Default)]
struct Spare(VecDeque<AbortHandle>);

impl Spare {
    fn add(&mut self, connection: AbortHandle) {
        self.0.retain(|connection| !connection.is_finished());
        if self.0.len() >= WebLimits::CONNECTIONS_FOR_STOP
            && let Some(oldest) = self.0.pop_front()
        {
            oldest.abort();
        }
        self.0.push_back(connection);
    }
}

async fn serve(site: Arc<Site>, router: Router, stream: TcpStream, connection: Connection) {
    // What is small goes at once.
    let _ = stream.set_nodelay(true);
    let limits = site.settings.limits;
    let served = async {
        let arrival = arrive(site.tls.as_ref(), stream, limits.read_timeout, limits.write_timeout).await?;
        match arrival {
            Arrival::Clear(stream) => answer(&site, router, stream, connection).await,
            Arrival::Encrypted(stream) => answer(&site, router, stream, connection.encrypted()).await,
            Arrival::Astray(stream) => {
                let is_encryption_there = site.tls.as_ref().is_some_and(|tls| tls.is_usable());
                let service = service_fn(move |request| {
                    ready(Ok::<_, std::convert::Infallible>(astray(&request, is_encryption_there)))
                });
                http(&site, false).serve_connection(TokioIo::new(stream), service).await.map_err(io::Error::other)
            }
        }
    };
    tokio::select! {
        served = served => {
            if let Err(error) = served {
                tracing::debug!(%error, "a connection to the page broke off");
            }
        }
        () = site.ended.cancelled() => {}
    }
}

/// Answers the requests of a connection.
async fn answer<S>(site: &Site, router: Router, stream: S, connection: Connection) -> io::Result<()>
where
    S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
{
    // One that is kept free for STOP is given back at once.
    let keep_alive = !connection.is_spare();
    let service = service_fn(move |mut request: hyper::Request<hyper::body::Incoming>| {
        request.extensions_mut().insert(connection.clone());
        router.clone().oneshot(request.map(Body::new))
    });
    let served = http(site, keep_alive).serve_connection(TokioIo::new(stream), service).with_upgrades();
    served.await.map_err(io::Error::other)
}

fn http(site: &Site, keep_alive: bool) -> http1::Builder {
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new())
        .keep_alive(keep_alive)
        .header_read_timeout(site.settings.limits.read_timeout)
        .max_buf_size(HEADER_BYTES)
        .max_headers(HEADER_FIELDS);
    http
}
