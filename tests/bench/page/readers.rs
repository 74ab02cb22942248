//! Pages without a browser: readers of the live stream.

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::time::Duration;

use anyhow::{Context as _, bail};
use cortex_stories::{Dice, PATIENCE};
use futures::StreamExt as _;
use serde_json::Value;
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::client::IntoClientRequest as _;
use tokio_tungstenite::{WebSocketStream, client_async};
use tokio_util::task::AbortOnDropHandle;

/// A page's live stream.
pub(crate) struct Reader(WebSocketStream<TcpStream>);

impl Reader {
    pub(crate) async fn connect(to: SocketAddr, after: Option<&str>) -> anyhow::Result<Self> {
        let query = after.map(|after| format!("?after={after}")).unwrap_or_default();
        let mut request = format!("ws://{to}/api/v1/live{query}").into_client_request()?;
        request.headers_mut().insert("origin", format!("http://{to}").parse()?);
        let stream = TcpStream::connect(to).await?;
        let (socket, _) = tokio::time::timeout(PATIENCE, client_async(request, stream)).await??;
        Ok(Self(socket))
    }

    /// The next frame as it came.
    pub(crate) async fn next(&mut self) -> anyhow::Result<String> {
        loop {
            match tokio::time::timeout(PATIENCE, self.0.next()).await.context("no frame comes")? {
                Some(Ok(Message::Text(text))) => return Ok(text.as_str().to_owned()),
                Some(Ok(Message::Close(close))) => bail!("the stream was closed: {close:?}"),
                Some(Ok(_)) => {}
                Some(Err(problem)) => return Err(problem.into()),
                None => bail!("the stream has ended"),
            }
        }
    }

    /// Reads on while the handle is kept.
    pub(crate) fn read_on(mut self) -> AbortOnDropHandle<()> {
        AbortOnDropHandle::new(tokio::spawn(async move { while self.next().await.is_ok() {} }))
    }
}

/// What a reader got over many disconnects.
#[derive(Debug, Default)]
pub(crate) struct Gathered {
    pub(crate) lost: u64,
    pub(crate) twice: u64,
    /// Bytes of all lines that came.
    pub(crate) received: u64,
    /// Bytes of the different lines among them.
    pub(crate) different: u64,
}

/// Reads lines, and breaks off after a few frames, so many times; then goes on after the last line it has.
pub(crate) async fn break_off(to: SocketAddr, times: u32, seed: u64) -> anyhow::Result<Gathered> {
    let mut dice = Dice::new(seed);
    let mut gathered = Gathered::default();
    let mut known = BTreeSet::new();
    let mut last: Option<u64> = None;
    for _ in 0..times {
        let after = last.map(|number| format!("{number:08}"));
        let mut reader = Reader::connect(to, after.as_deref()).await?;
        for _ in 0..dice.between(1, 5) {
            let frame: Value = serde_json::from_str(&reader.next().await?)?;
            gathered.lost += frame.get("missed").and_then(Value::as_u64).unwrap_or_default();
            for event in frame.get("events").and_then(Value::as_array).into_iter().flatten() {
                let number: u64 = event.get("id").and_then(Value::as_str).context("an id")?.parse()?;
                let bytes = event.to_string().len() as u64;
                gathered.received += bytes;
                if known.insert(number) {
                    gathered.different += bytes;
                } else {
                    gathered.twice += 1;
                }
                let expected = last.map_or(number, |last| last + 1);
                gathered.lost += number.saturating_sub(expected);
                last = Some(number);
            }
        }
        drop(reader);
        tokio::time::sleep(Duration::from_millis(dice.between(0, 50))).await;
    }
    Ok(gathered)
}
