//! The beginning of a connection: encrypted, in clear, or not to be had.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::http::header::{CONNECTION, HOST, LOCATION};
use axum::http::uri::Authority;
use axum::http::{HeaderValue, Request, Response, StatusCode};
use hyper::body::Incoming;
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

use crate::headers::one;
use crate::tls::Tls;
use crate::write_timeout::WriteTimeout;

/// With what byte a client begins that wants encryption.
const HANDSHAKE: u8 = 0x16;

/// A connection that has begun.
pub(crate) enum Arrival {
    Clear(WriteTimeout),
    Encrypted(Box<TlsStream<WriteTimeout>>),
    /// In clear, where that is not served: it is told where to go.
    Astray(WriteTimeout),
}

/// Waits for how a connection begins, where that matters.
///
/// # Errors
/// When it breaks off, takes longer than `limit`, or can't be encrypted.
pub(crate) async fn arrive(
    tls: Option<&Arc<Tls>>,
    stream: TcpStream,
    limit: Duration,
    write_limit: Duration,
) -> io::Result<Arrival> {
    let Some(tls) = tls else { return Ok(Arrival::Clear(WriteTimeout::new(stream, write_limit))) };
    let is_this_machine = stream.peer_addr()?.ip().to_canonical().is_loopback();
    let mut first = [0];
    timeout(limit, stream.peek(&mut first)).await??;
    let stream = WriteTimeout::new(stream, write_limit);
    if first != [HANDSHAKE] {
        return Ok(if is_this_machine { Arrival::Clear(stream) } else { Arrival::Astray(stream) });
    }
    let tls = Arc::clone(tls);
    let config = tokio::task::spawn_blocking(move || tls.config()).await.map_err(io::Error::other)?;
    let config = config.ok_or_else(|| io::Error::other("there is no certificate to encrypt it with"))?;
    let encrypted = timeout(limit, TlsAcceptor::from(config).accept(stream)).await??;
    Ok(Arrival::Encrypted(Box::new(encrypted)))
}

/// What is answered in clear: the same address, encrypted, where there is encryption.
pub(crate) fn astray(request: &Request<Incoming>, is_encryption_there: bool) -> Response<Body> {
    let mut response = Response::new(Body::from(if is_encryption_there {
        "This robot is reached by https:// only.\n"
    } else {
        "This robot can't encrypt its page now, and does not show it without. Its log says why.\n"
    }));
    *response.status_mut() = StatusCode::SERVICE_UNAVAILABLE;
    let host = one(request.headers(), HOST).and_then(|host| host.parse::<Authority>().ok());
    let path = request.uri().path_and_query().map_or("/", |path| path.as_str());
    let place = host.filter(|_| is_encryption_there).map(|host| format!("https://{host}{path}"));
    if let Some(Ok(place)) = place.map(HeaderValue::try_from) {
        *response.status_mut() = StatusCode::PERMANENT_REDIRECT;
        response.headers_mut().insert(LOCATION, place);
    }
    response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
    response
}
