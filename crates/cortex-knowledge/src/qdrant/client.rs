//! The connection to a server of Qdrant: over gRPC, with Qdrant's published protocol, and with bounds that the protocol's own
//! client lacks. No reply is longer than [`REPLY_BYTES`], no request lasts longer than its time, none is made twice, and the key
//! is shown nowhere.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use qdrant_client::qdrant::collections_client::CollectionsClient;
use qdrant_client::qdrant::points_client::PointsClient;
use secrecy::{ExposeSecret as _, SecretString};
use tonic::metadata::{Ascii, MetadataValue};
use tonic::service::Interceptor;
use tonic::service::interceptor::InterceptedService;
use tonic::transport::{Channel, ClientTlsConfig, Endpoint};
use tonic::{Code, Request, Response, Status};

use crate::qdrant_settings::QdrantTimeouts;
use crate::store::StoreError;

/// Most bytes of a reply.
const REPLY_BYTES: usize = 16 << 20;
/// Most characters of what a server says of an error.
const PROBLEM_CHARACTERS: usize = 300;
/// The name under which the key is sent.
const KEY_HEADER: &str = "api-key";

/// Adds the key to each request.
#[derive(Clone)]
pub(super) struct WithKey(Option<MetadataValue<Ascii>>);

impl Interceptor for WithKey {
    fn call(&mut self, mut request: Request<()>) -> Result<Request<()>, Status> {
        if let Some(key) = &self.0 {
            request.metadata_mut().insert(KEY_HEADER, key.clone());
        }
        Ok(request)
    }
}

type Service = InterceptedService<Channel, WithKey>;

/// A server. Clones share the connection, which is made when it is first needed.
#[derive(Clone)]
pub(super) struct Client {
    endpoint: Endpoint,
    /// None: the next request makes one.
    channel: Arc<Mutex<Option<Channel>>>,
    with_key: WithKey,
    /// For people.
    server: String,
    key: Option<SecretString>,
    timeouts: QdrantTimeouts,
}

impl Client {
    /// The server at this address, such as `http://192.168.1.20:6334`.
    pub(super) fn new(server: &str, key: Option<SecretString>, timeouts: QdrantTimeouts) -> Result<Self, StoreError> {
        let bad = |problem: String| StoreError::BadServer { server: server.to_owned(), problem };
        let endpoint = Endpoint::from_shared(server.to_owned()).map_err(|problem| bad(problem.to_string()))?;
        let is_secure = match (endpoint.uri().scheme_str(), endpoint.uri().host()) {
            (Some("http"), Some(_)) => false,
            (Some("https"), Some(_)) => true,
            _ => return Err(bad("it is no address such as http://localhost:6334".to_owned())),
        };
        let endpoint = endpoint.connect_timeout(timeouts.read);
        let endpoint = if is_secure {
            let roots = ClientTlsConfig::new().with_native_roots();
            endpoint.tls_config(roots).map_err(|problem| bad(problem.to_string()))?
        } else {
            endpoint
        };
        let header = match &key {
            Some(key) => {
                let unusable = || bad("its key is empty, or holds what no header can carry".to_owned());
                let text = Some(key.expose_secret()).filter(|text| !text.is_empty()).ok_or_else(unusable)?;
                let mut header: MetadataValue<Ascii> = text.parse().map_err(|_| unusable())?;
                header.set_sensitive(true);
                Some(header)
            }
            None => None,
        };
        let (channel, with_key) = (Arc::default(), WithKey(header));
        Ok(Self { endpoint, channel, with_key, server: server.to_owned(), key, timeouts })
    }

    /// The address of the server, for people.
    pub(super) fn server(&self) -> &str {
        &self.server
    }

    /// A client of points, for [`read`](Self::read) or [`write`](Self::write).
    pub(super) fn points(&self) -> PointsClient<Service> {
        PointsClient::new(self.service()).max_decoding_message_size(REPLY_BYTES)
    }

    /// The same, of collections.
    pub(super) fn collections(&self) -> CollectionsClient<Service> {
        CollectionsClient::new(self.service()).max_decoding_message_size(REPLY_BYTES)
    }

    fn service(&self) -> Service {
        let mut channel = self.channel.lock().unwrap_or_else(PoisonError::into_inner);
        let channel = channel.get_or_insert_with(|| self.endpoint.connect_lazy()).clone();
        InterceptedService::new(channel, self.with_key.clone())
    }

    /// What a request that reads brings.
    pub(super) fn read<T: Send>(
        &self,
        request: impl Future<Output = Result<Response<T>, Status>> + Send,
    ) -> impl Future<Output = Result<T, RequestProblem>> + Send {
        // The futures of requests are large.
        self.within(self.timeouts.read, Box::pin(request))
    }

    /// The same for one that writes.
    pub(super) fn write<T: Send>(
        &self,
        request: impl Future<Output = Result<Response<T>, Status>> + Send,
    ) -> impl Future<Output = Result<T, RequestProblem>> + Send {
        self.within(self.timeouts.write, Box::pin(request))
    }

    async fn within<T>(
        &self,
        time: Duration,
        request: impl Future<Output = Result<Response<T>, Status>>,
    ) -> Result<T, RequestProblem> {
        let mut usage = Usage { client: self, is_good: false };
        let reply = tokio::time::timeout(time, request).await;
        usage.is_good = match &reply {
            Ok(Ok(_)) => true,
            Ok(Err(status)) => !matches!(status.code(), Code::Unavailable | Code::Cancelled | Code::Unknown),
            Err(_) => false,
        };
        match reply {
            Ok(Ok(response)) => Ok(response.into_inner()),
            Ok(Err(status)) => Err(self.problem(&status)),
            Err(_) => {
                Err(RequestProblem::Told(StoreError::Late { server: self.server.clone(), seconds: time.as_secs_f64() }))
            }
        }
    }

    /// What a status means for people.
    fn problem(&self, status: &Status) -> RequestProblem {
        let server = self.server.clone();
        RequestProblem::Told(match status.code() {
            Code::NotFound => return RequestProblem::NotFound,
            Code::Unauthenticated | Code::PermissionDenied => {
                StoreError::KeyRefused { server, has_key: self.key.is_some() }
            }
            Code::Unavailable | Code::Cancelled => StoreError::Unreachable { server, problem: self.words(status) },
            // A connection that breaks within a request.
            Code::Unknown if std::error::Error::source(status).is_some() => {
                StoreError::Unreachable { server, problem: self.words(status) }
            }
            Code::DeadlineExceeded => StoreError::Late { server, seconds: self.timeouts.read.as_secs_f64() },
            _ => StoreError::ServerRefused { server, problem: self.words(status) },
        })
    }

    /// What a status says, or what lies behind it, on one line. A server may repeat the key in its errors.
    fn words(&self, status: &Status) -> String {
        let mut words = status.message().to_owned();
        let mut source = std::error::Error::source(status);
        while let Some(cause) = source {
            words = cause.to_string();
            source = cause.source();
        }
        if let Some(key) = &self.key {
            words = words.replace(key.expose_secret(), "[key]");
        }
        cortex_core::fragment::one_line(&words, PROBLEM_CHARACTERS)
    }
}

/// The connection while a request uses it. Where that ends badly, or is given up, the next request makes another connection: this
/// one may be dead, or keep its failure for whoever comes next.
struct Usage<'a> {
    client: &'a Client,
    is_good: bool,
}

impl Drop for Usage<'_> {
    fn drop(&mut self) {
        if !self.is_good {
            *self.client.channel.lock().unwrap_or_else(PoisonError::into_inner) = None;
        }
    }
}

/// What went wrong with a request.
pub(super) enum RequestProblem {
    /// There is no such collection, or no such point.
    NotFound,
    /// Anything else.
    Told(StoreError),
}
