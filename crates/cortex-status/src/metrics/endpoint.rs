//! Serves the figures over HTTP: `GET /metrics`, and nothing else.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::header::{CONTENT_TYPE, HeaderValue};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::task::JoinHandle;

use super::Metrics;

/// The format of the answer.
const FORMAT: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";
/// Connections at a time; more wait.
const CONNECTIONS: usize = 8;
/// How long one may last: who says nothing must not keep a place.
const LIMIT: Duration = Duration::from_secs(10);
/// The pause after a connection that could not be taken.
const PAUSE: Duration = Duration::from_millis(100);

/// The endpoint. Ends when it is dropped.
pub struct Endpoint {
    task: JoinHandle<()>,
    /// Where it listens.
    pub address: SocketAddr,
}

impl Endpoint {
    /// Listens there.
    ///
    /// # Errors
    /// When the address can't be had.
    pub async fn start(address: SocketAddr, metrics: Metrics) -> anyhow::Result<Self> {
        let listener = TcpListener::bind(address)
            .await
            .with_context(|| format!("metrics.listen: {address} can't be listened on"))?;
        let address = listener.local_addr().context("metrics.listen")?;
        Ok(Self { task: tokio::spawn(serve(listener, metrics)), address })
    }
}

impl Drop for Endpoint {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn serve(listener: TcpListener, metrics: Metrics) {
    let places = Arc::new(Semaphore::new(CONNECTIONS));
    loop {
        let Ok(place) = Arc::clone(&places).acquire_owned().await else { return };
        let Ok((stream, _)) = listener.accept().await else {
            tokio::time::sleep(PAUSE).await;
            continue;
        };
        let metrics = metrics.clone();
        tokio::spawn(async move {
            // Whoever asked is gone, or too slow.
            let _ = tokio::time::timeout(LIMIT, converse(stream, metrics)).await;
            drop(place);
        });
    }
}

async fn converse(stream: TcpStream, metrics: Metrics) -> Result<(), hyper::Error> {
    let answer = move |request: Request<Incoming>| {
        let answer = answer(request.method(), request.uri().path(), &metrics);
        async move { Ok::<_, Infallible>(answer) }
    };
    http1::Builder::new()
        .timer(TokioTimer::new())
        .keep_alive(false)
        .serve_connection(TokioIo::new(stream), service_fn(answer))
        .await
}

fn answer(method: &Method, path: &str, metrics: &Metrics) -> Response<Full<Bytes>> {
    let said = |status: StatusCode, text: String| {
        let mut response = Response::new(Full::new(Bytes::from(text)));
        *response.status_mut() = status;
        response
    };
    match (method, path) {
        (&Method::GET, "/metrics") => match metrics.text() {
            Ok(text) => {
                let mut response = said(StatusCode::OK, text);
                response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(FORMAT));
                response
            }
            Err(_) => said(StatusCode::INTERNAL_SERVER_ERROR, "the figures can't be written\n".to_owned()),
        },
        (_, "/metrics") => said(StatusCode::METHOD_NOT_ALLOWED, "only GET\n".to_owned()),
        _ => said(StatusCode::NOT_FOUND, "there is /metrics\n".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    use super::*;

    async fn get(address: SocketAddr, request: &str) -> String {
        let mut stream = TcpStream::connect(address).await.unwrap();
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.unwrap();
        answer
    }

    #[tokio::test]
    async fn it_serves_the_figures_and_nothing_else() {
        let endpoint = Endpoint::start("127.0.0.1:0".parse().unwrap(), Metrics::new()).await.unwrap();
        let answer = get(endpoint.address, "GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n").await;
        assert!(answer.starts_with("HTTP/1.1 200 OK") && answer.contains(FORMAT), "{answer}");
        assert!(answer.contains("cortex_queue_length 0") && answer.ends_with("# EOF\n"), "{answer}");
        let answer = get(endpoint.address, "POST /metrics HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n").await;
        assert!(answer.starts_with("HTTP/1.1 405"), "{answer}");
        let answer = get(endpoint.address, "GET /etc/passwd HTTP/1.1\r\nHost: a\r\n\r\n").await;
        assert!(answer.starts_with("HTTP/1.1 404"), "{answer}");
    }

    #[tokio::test]
    async fn an_address_that_is_taken_is_named() {
        let endpoint = Endpoint::start("127.0.0.1:0".parse().unwrap(), Metrics::new()).await.unwrap();
        let problem = Endpoint::start(endpoint.address, Metrics::new()).await.err().unwrap();
        assert!(format!("{problem:#}").contains(&endpoint.address.to_string()), "{problem:#}");
    }
}
