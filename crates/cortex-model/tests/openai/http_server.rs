//! A small real HTTP server that answers as scripted, well or badly.

use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinHandle;

/// What the server does with one request.
#[derive(Debug, Clone)]
pub(crate) enum Answer {
    /// Answers with this status, these further header lines and this body.
    Full { status: u16, headers: Vec<(&'static str, String)>, body: String },
    /// Takes the request and never answers; waits for the other side to hang up.
    Hang,
    /// Streams these events, and then does what follows.
    Stream(Vec<String>, StreamEnd),
    /// Streams these bytes, and closes the connection.
    Raw(String),
    /// Closes the connection in the middle of the body.
    Cut,
    /// Sends body after body until the other side has had enough; does not tell the length beforehand.
    Endless,
}

/// The head of an answer that is a stream.
const STREAM_HEAD: &str =
    "HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-type: text/event-stream; charset=utf-8\r\n\r\n";

/// Between two bytes of a server that drips.
const DRIP: std::time::Duration = std::time::Duration::from_millis(10);

/// The end of a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StreamEnd {
    /// Says that it was all.
    Done,
    /// Closes the connection.
    Closes,
    /// Goes on with the last event, until the other side hangs up.
    Repeats,
    /// Says nothing more, until the other side hangs up.
    Waits,
    /// Writes a byte of a comment now and then, until the other side hangs up.
    Drips,
}

impl Answer {
    /// A stream of these pieces of a reply.
    pub(crate) fn stream(pieces: &[Value], end: StreamEnd) -> Self {
        Self::Stream(pieces.iter().map(Value::to_string).collect(), end)
    }

    pub(crate) fn status(status: u16, body: impl Into<String>) -> Self {
        Self::Full { status, headers: Vec::new(), body: body.into() }
    }

    pub(crate) fn json(body: &Value) -> Self {
        Self::status(200, body.to_string())
    }

    pub(crate) fn with_header(self, name: &'static str, value: impl Into<String>) -> Self {
        match self {
            Self::Full { status, mut headers, body } => {
                headers.push((name, value.into()));
                Self::Full { status, headers, body }
            }
            other => other,
        }
    }
}

/// A good answer that says `text`.
pub(crate) fn says(text: &str) -> Answer {
    Answer::json(&json!({
        "id": "1", "object": "chat.completion", "created": 1, "model": "m",
        "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": text}}],
        "usage": {"prompt_tokens": 10, "completion_tokens": 2, "total_tokens": 12},
    }))
}

/// One request as it arrived.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Arrived {
    /// `POST /v1/chat/completions`
    pub(crate) line: String,
    /// Name in lower case, value.
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Value,
}

impl Arrived {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }
}

/// The server. It stops when it is dropped.
pub(crate) struct Server {
    pub(crate) base_url: String,
    arrived: Arc<Mutex<Vec<Arrived>>>,
    /// How many requests hang or did, and how many of them the other side gave up.
    pub(crate) hanging: watch::Receiver<(u32, u32)>,
    task: JoinHandle<()>,
}

impl Server {
    /// Answers the requests in this order; the last answer is repeated.
    pub(crate) async fn start(answers: Vec<Answer>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let base_url = format!("http://{}/v1", listener.local_addr().unwrap());
        let arrived: Arc<Mutex<Vec<Arrived>>> = Arc::default();
        let log = Arc::clone(&arrived);
        let (sender, hanging) = watch::channel((0, 0));
        let task = tokio::spawn(async move {
            let mut connections = Vec::new();
            while let Ok((stream, _)) = listener.accept().await {
                let (log, answers, taken) = (Arc::clone(&log), answers.clone(), sender.clone());
                connections.push(AbortOnDrop(tokio::spawn(serve(stream, log, answers, taken))));
            }
        });
        Self { base_url, arrived, hanging, task }
    }

    pub(crate) fn arrived(&self) -> Vec<Arrived> {
        self.arrived.lock().unwrap().clone()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.task.abort();
    }
}

struct AbortOnDrop(JoinHandle<Option<()>>);

impl Drop for AbortOnDrop {
    fn drop(&mut self) {
        self.0.abort();
    }
}

async fn serve(
    mut stream: TcpStream,
    log: Arc<Mutex<Vec<Arrived>>>,
    answers: Vec<Answer>,
    taken: watch::Sender<(u32, u32)>,
) -> Option<()> {
    let request = read_request(&mut stream).await?;
    let index = {
        let mut log = log.lock().unwrap();
        log.push(request);
        log.len() - 1
    };
    match answers.get(index).or(answers.last())?.clone() {
        Answer::Full { status, headers, body } => {
            let mut head = format!("HTTP/1.1 {status} X\r\nconnection: close\r\ncontent-length: {}\r\n", body.len());
            for (name, value) in headers {
                head.push_str(&format!("{name}: {value}\r\n"));
            }
            stream.write_all(format!("{head}\r\n{body}").as_bytes()).await.ok()?;
        }
        Answer::Hang => {
            taken.send_modify(|taken| taken.0 += 1);
            while stream.read(&mut [0; 64]).await.is_ok_and(|read| read > 0) {}
            taken.send_modify(|taken| taken.1 += 1);
        }
        Answer::Raw(body) => {
            stream.write_all(format!("{STREAM_HEAD}{body}").as_bytes()).await.ok()?;
        }
        Answer::Stream(events, end) => {
            stream.write_all(STREAM_HEAD.as_bytes()).await.ok()?;
            for event in &events {
                stream.write_all(format!("data: {event}\n\n").as_bytes()).await.ok()?;
                stream.flush().await.ok()?;
            }
            match end {
                StreamEnd::Done => stream.write_all(b"data: [DONE]\n\n").await.ok()?,
                StreamEnd::Closes => {}
                StreamEnd::Repeats | StreamEnd::Waits | StreamEnd::Drips => {
                    taken.send_modify(|taken| taken.0 += 1);
                    while end == StreamEnd::Drips && stream.write_all(b":").await.is_ok() {
                        tokio::time::sleep(DRIP).await;
                    }
                    let last = format!("data: {}\n\n", events.last()?);
                    while end == StreamEnd::Repeats && stream.write_all(last.as_bytes()).await.is_ok() {}
                    while stream.read(&mut [0; 64]).await.is_ok_and(|read| read > 0) {}
                    taken.send_modify(|taken| taken.1 += 1);
                }
            }
        }
        Answer::Cut => {
            let head = "HTTP/1.1 200 OK\r\ncontent-length: 4000\r\n\r\n{\"choices\": [{\"mess";
            stream.write_all(head.as_bytes()).await.ok()?;
        }
        Answer::Endless => {
            let head = "HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n";
            stream.write_all(head.as_bytes()).await.ok()?;
            let chunk = vec![b' '; 1 << 16];
            while stream.write_all(&chunk).await.is_ok() {}
        }
    }
    stream.shutdown().await.ok()
}

async fn read_request(stream: &mut TcpStream) -> Option<Arrived> {
    let mut bytes = Vec::new();
    let head_end = loop {
        if let Some(end) = bytes.windows(4).position(|window| window == b"\r\n\r\n") {
            break end;
        }
        let mut chunk = [0; 4096];
        let read = stream.read(&mut chunk).await.ok().filter(|read| *read > 0)?;
        bytes.extend_from_slice(&chunk[..read]);
    };
    let head = String::from_utf8(bytes[..head_end].to_vec()).ok()?;
    let mut lines = head.lines();
    let line = lines.next()?.trim_end_matches(" HTTP/1.1").to_owned();
    let headers: Vec<(String, String)> = lines
        .filter_map(|line| line.split_once(':'))
        .map(|(name, value)| (name.trim().to_lowercase(), value.trim().to_owned()))
        .collect();
    let length: usize = headers.iter().find(|(name, _)| name == "content-length")?.1.parse().ok()?;
    let mut body = bytes[head_end + 4..].to_vec();
    while body.len() < length {
        let mut chunk = [0; 4096];
        let read = stream.read(&mut chunk).await.ok().filter(|read| *read > 0)?;
        body.extend_from_slice(&chunk[..read]);
    }
    Some(Arrived { line, headers, body: serde_json::from_slice(&body).ok()? })
}
