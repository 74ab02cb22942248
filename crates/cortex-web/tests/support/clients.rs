//! Clients of the page.

use std::net::SocketAddr;

use futures::{SinkExt as _, StreamExt as _};
use serde_json::Value;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::client::IntoClientRequest as _;
use tokio_tungstenite::tungstenite::http::HeaderValue;
use tokio_tungstenite::tungstenite::{Error, Message, Utf8Bytes};
use tokio_tungstenite::{WebSocketStream, client_async};

use super::{HANGS, TestServer};

/// A page's live stream.
pub(crate) struct Live(WebSocketStream<TcpStream>);

impl Live {
    /// Connects as the page does.
    pub(crate) async fn connect(server: &TestServer, after: Option<&str>) -> Self {
        Self::connect_as(server.address(), after, &[]).await.expect("the live stream is open")
    }

    /// Connects with these headers besides. An `origin` among them takes the place of the page's own.
    pub(crate) async fn connect_as(
        to: SocketAddr,
        after: Option<&str>,
        headers: &[(&'static str, String)],
    ) -> Result<Self, u16> {
        let query = after.map(|after| format!("?after={after}")).unwrap_or_default();
        let mut request = format!("ws://{to}/api/v1/live{query}").into_client_request().unwrap();
        request.headers_mut().insert("origin", format!("http://{to}").parse().unwrap());
        for (name, value) in headers {
            request.headers_mut().insert(*name, HeaderValue::from_str(value).unwrap());
        }
        let stream = TcpStream::connect(to).await.unwrap();
        match timeout(HANGS, client_async(request, stream)).await.expect("an answer") {
            Ok((socket, _)) => Ok(Self(socket)),
            Err(Error::Http(answer)) => Err(answer.status().as_u16()),
            Err(error) => panic!("{error}"),
        }
    }

    /// The next frame; or why the server has closed the connection.
    pub(crate) async fn next(&mut self) -> Result<Value, String> {
        self.next_text().await.map(|text| serde_json::from_str(&text).unwrap())
    }

    /// The next frame as it is.
    pub(crate) async fn next_text(&mut self) -> Result<Utf8Bytes, String> {
        loop {
            match timeout(HANGS, self.0.next()).await.expect("a frame") {
                Some(Ok(Message::Text(text))) => return Ok(text),
                Some(Ok(Message::Close(close))) => {
                    return Err(close.map(|close| close.reason.to_string()).unwrap_or_default());
                }
                Some(Ok(_)) => {}
                Some(Err(error)) => return Err(error.to_string()),
                None => return Err("closed".to_owned()),
            }
        }
    }

    /// The next frame that this is true of.
    pub(crate) async fn next_with(&mut self, is_it: impl Fn(&Value) -> bool) -> Value {
        timeout(HANGS, async {
            loop {
                let frame = self.next().await.expect("the stream goes on");
                if is_it(&frame) {
                    return frame;
                }
            }
        })
        .await
        .expect("the frame")
    }

    /// Why the server closes the connection.
    pub(crate) async fn end(&mut self) -> String {
        loop {
            if let Err(reason) = self.next().await {
                return reason;
            }
        }
    }

    pub(crate) async fn send(&mut self, message: Message) {
        self.0.send(message).await.unwrap();
    }

    /// Says that the person who holds the controls is still there.
    pub(crate) async fn hold(&mut self) {
        self.send(Message::text("{\"hold\":true}")).await;
    }

    /// The id of this connection, from its first frame.
    pub(crate) async fn connection(&mut self) -> String {
        let frame = self.next().await.expect("the first frame");
        frame["you"]["connection"].as_str().expect("an id").to_owned()
    }

    pub(crate) async fn stop(&mut self) {
        self.send(Message::text("{\"stop\":true}")).await;
    }
}

/// The ids of the events of a frame.
pub(crate) fn ids(frame: &Value) -> Vec<String> {
    let events = frame["events"].as_array().map(Vec::as_slice).unwrap_or_default();
    events.iter().map(|event| event["id"].as_str().unwrap().to_owned()).collect()
}

/// A connection that has sent this.
pub(crate) async fn raw(to: SocketAddr, sent: &str) -> TcpStream {
    let mut stream = TcpStream::connect(to).await.unwrap();
    stream.write_all(sent.as_bytes()).await.unwrap();
    stream
}

/// All that comes until the server closes the connection.
pub(crate) async fn read_all(mut stream: TcpStream) -> String {
    let mut bytes = Vec::new();
    // A server that closes a connection with unread bytes resets it.
    let _ = timeout(HANGS, stream.read_to_end(&mut bytes)).await.expect("the connection is closed");
    String::from_utf8_lossy(&bytes).into_owned()
}
