//! A script behind a real HTTP port that speaks the OpenAI form of chat completions, and answers requests for vectors
//! (`/embeddings`) with what the script says as it stands.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;
use tokio::task::{JoinHandle, JoinSet};

use crate::openai_request;

/// Longest request that is read, in bytes.
const MAX_REQUEST: usize = 16 << 20;

/// How many letters of a reply go out at a time.
const LETTERS: usize = 7;

/// The models that it says it has.
const MODELS: [&str; 2] = ["scripted", "another"];

/// What the server does with the next request.
#[derive(Debug, Clone)]
pub enum Served {
    /// Replies with words.
    Text(String),
    /// Replies with calls: wire names and arguments.
    Calls(Vec<(String, Value)>),
    /// Replies with a decision in JSON, as the schema of the request has it; a request without one is refused.
    Decision(String),
    /// Replies with this status and body.
    Raw(u16, String),
    /// Replies with words: the first ones at once, the others once the story says so.
    Begun(String, Arc<Notify>, String),
    /// Says the same again and again, until the other side hangs up.
    Endless(String),
    /// Thinks for a while, and then does this.
    After(Duration, Box<Served>),
    /// Never replies.
    Hang,
}

/// A server on a port of its own, for as long as the value lives.
pub struct OpenAiServer {
    address: SocketAddr,
    state: Arc<State>,
    task: JoinHandle<()>,
}

/// Chooses what is served for a request, by its body.
type Answer = Box<dyn Fn(&Value) -> Served + Send + Sync>;

struct State {
    answer: Answer,
    requests: Mutex<Vec<Value>>,
    /// How many bytes the body of each had.
    sizes: Mutex<Vec<usize>>,
    /// What each had as its key.
    authorizations: Mutex<Vec<Option<String>>>,
}

impl OpenAiServer {
    /// Starts serving the script; when it is over, every request gets status 500.
    ///
    /// # Errors
    /// When no port can be had.
    pub async fn start(script: impl IntoIterator<Item = Served>) -> std::io::Result<Self> {
        Self::answering(following(script)).await
    }

    /// Starts serving this script where an earlier server was that is gone.
    ///
    /// # Errors
    /// When the port is taken.
    pub async fn start_again(address: SocketAddr, script: impl IntoIterator<Item = Served>) -> std::io::Result<Self> {
        Self::serving(TcpListener::bind(address).await?, Box::new(following(script)))
    }

    /// Starts serving what `answer` chooses for each request, by its body.
    ///
    /// # Errors
    /// When no port can be had.
    pub async fn answering(answer: impl Fn(&Value) -> Served + Send + Sync + 'static) -> std::io::Result<Self> {
        Self::serving(TcpListener::bind(("127.0.0.1", 0)).await?, Box::new(answer))
    }

    fn serving(listener: TcpListener, answer: Answer) -> std::io::Result<Self> {
        let address = listener.local_addr()?;
        let (requests, sizes, authorizations) = Default::default();
        let state = Arc::new(State { answer, requests, sizes, authorizations });
        let serving = Arc::clone(&state);
        let task = tokio::spawn(async move {
            // They end with the server, as if its process had been killed.
            let mut connections = JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                let state = Arc::clone(&serving);
                connections.spawn(async move {
                    // A client that breaks off is part of the stories.
                    let _ = serve(stream, &state).await;
                });
            }
        });
        Ok(Self { address, state, task })
    }

    /// Where it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The base URL for a client: `http://127.0.0.1:PORT/v1`.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// The bodies of the requests so far.
    #[must_use]
    pub fn requests(&self) -> Vec<Value> {
        self.state.requests.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// How many bytes the bodies of the requests so far had, each by itself.
    #[must_use]
    pub fn request_sizes(&self) -> Vec<usize> {
        self.state.sizes.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The headers `Authorization` of the requests so far, each by itself.
    #[must_use]
    pub fn authorizations(&self) -> Vec<Option<String>> {
        self.state.authorizations.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// Serves a script; when it is over, status 500.
fn following(script: impl IntoIterator<Item = Served>) -> impl Fn(&Value) -> Served + Send + Sync + 'static {
    let script: Mutex<VecDeque<Served>> = Mutex::new(script.into_iter().collect());
    move |_| {
        let next = script.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
        next.unwrap_or_else(|| {
            Served::Raw(500, json!({"error": {"message": "the story's script is over"}}).to_string())
        })
    }
}

impl Drop for OpenAiServer {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn serve(stream: TcpStream, state: &State) -> std::io::Result<()> {
    // The pieces of a stream would wait for the other side's delayed acknowledgement, 40 ms each time.
    stream.set_nodelay(true)?;
    let mut stream = BufReader::new(stream);
    loop {
        let mut length = 0_usize;
        let (mut asks_for_models, mut asks_for_vectors) = (false, false);
        let mut authorization = None;
        loop {
            let mut line = String::new();
            if stream.read_line(&mut line).await? == 0 {
                return Ok(());
            }
            asks_for_models |= line.starts_with("GET ") && line.contains("/models ");
            asks_for_vectors |= line.starts_with("POST ") && line.contains("/embeddings ");
            if line == "\r\n" {
                break;
            }
            match line.split_once(':') {
                Some((name, value)) if name.eq_ignore_ascii_case("content-length") => {
                    length = value.trim().parse().unwrap_or(0);
                }
                Some((name, value)) if name.eq_ignore_ascii_case("authorization") => {
                    authorization = Some(value.trim().to_owned());
                }
                _ => {}
            }
        }
        let mut body = vec![0; length.min(MAX_REQUEST)];
        stream.read_exact(&mut body).await?;
        if asks_for_models {
            let data = MODELS.map(|id| json!({"id": id, "object": "model"}));
            write_answer(&mut stream, 200, &json!({"object": "list", "data": data}).to_string()).await?;
            continue;
        }
        let request = serde_json::from_slice(&body).unwrap_or(Value::Null);
        // What a real server would refuse is refused here, so that a story shows it.
        let mut next = match openai_request::check(&request) {
            _ if asks_for_vectors => (state.answer)(&request),
            Ok(()) => (state.answer)(&request),
            Err(problem) => Served::Raw(400, json!({"error": {"message": problem}}).to_string()),
        };
        let streams = request.get("stream").and_then(Value::as_bool).unwrap_or(false);
        let takes_decision = request.get("response_format").is_some();
        state.requests.lock().unwrap_or_else(PoisonError::into_inner).push(request);
        state.authorizations.lock().unwrap_or_else(PoisonError::into_inner).push(authorization);
        state.sizes.lock().unwrap_or_else(PoisonError::into_inner).push(body.len());
        while let Served::After(time, then) = next {
            tokio::time::sleep(time).await;
            next = *then;
        }
        let message = match &next {
            Served::Text(text) | Served::Begun(text, ..) => json!({"content": text}),
            Served::Calls(calls) => message_of(calls),
            _ => Value::Null,
        };
        if streams && (message.is_object() || matches!(next, Served::Endless(_))) {
            write_stream(&mut stream, &message, &next).await?;
            continue;
        }
        let (status, body) = match next {
            Served::Decision(decision) if takes_decision => {
                let answer = match decision.as_str() {
                    "EXECUTE" => json!({"decision": decision}),
                    _ => json!({"decision": decision, "reason": "as the story says"}),
                };
                let text = json!({"answer": answer}).to_string();
                (200, completion(&json!({"role": "assistant", "content": text}), "stop"))
            }
            Served::Decision(_) => (400, json!({"error": {"message": "no schema was asked for"}}).to_string()),
            Served::Text(text) => (200, completion(&json!({"role": "assistant", "content": text}), "stop")),
            Served::Calls(calls) => (200, completion(&message_of(&calls), "tool_calls")),
            Served::Raw(status, body) => (status, body),
            Served::Begun(..) | Served::Endless(_) => {
                (400, json!({"error": {"message": "no stream was asked for"}}).to_string())
            }
            Served::After(..) | Served::Hang => std::future::pending().await,
        };
        write_answer(&mut stream, status, &body).await?;
    }
}

async fn write_answer(stream: &mut BufReader<TcpStream>, status: u16, body: &str) -> std::io::Result<()> {
    let head =
        format!("HTTP/1.1 {status} X\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n", body.len());
    // In one piece: a head on its own would wait for the other side's delayed acknowledgement, 40 ms each time.
    stream.write_all(format!("{head}{body}").as_bytes()).await?;
    stream.flush().await
}

/// Writes a reply as servers do that stream: a few letters at a time, the usage last.
async fn write_stream(stream: &mut BufReader<TcpStream>, message: &Value, served: &Served) -> std::io::Result<()> {
    let head = "HTTP/1.1 200 X\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";
    stream.write_all(head.as_bytes()).await?;
    let words = message.get("content").and_then(Value::as_str).unwrap_or_default();
    let letters: Vec<char> = words.chars().collect();
    for piece in letters.chunks(LETTERS) {
        write_event(stream, &delta(&json!({"content": piece.iter().collect::<String>()}))).await?;
    }
    match served {
        Served::Begun(_, go_on, rest) => {
            go_on.notified().await;
            write_event(stream, &delta(&json!({"content": rest}))).await?;
        }
        Served::Endless(words) => loop {
            write_event(stream, &delta(&json!({"content": words}))).await?;
        },
        _ => {}
    }
    let calls = message.get("tool_calls").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    for (index, call) in calls.iter().enumerate() {
        let text = |pointer: &str| call.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
        let arguments = text("/function/arguments");
        let function = json!({"name": text("/function/name"), "arguments": ""});
        let first = json!({"index": index, "id": text("/id"), "type": "function", "function": function});
        write_event(stream, &delta(&json!({"tool_calls": [first]}))).await?;
        let letters: Vec<char> = arguments.chars().collect();
        for piece in letters.chunks(4 * LETTERS) {
            let function = json!({"arguments": piece.iter().collect::<String>()});
            write_event(stream, &delta(&json!({"tool_calls": [{"index": index, "function": function}]}))).await?;
        }
    }
    let finish = if calls.is_empty() { "stop" } else { "tool_calls" };
    write_event(stream, &json!({"choices": [{"index": 0, "delta": {}, "finish_reason": finish}]}).to_string()).await?;
    write_event(stream, &json!({"choices": [], "usage": usage()}).to_string()).await?;
    write_event(stream, "[DONE]").await?;
    stream.write_all(b"0\r\n\r\n").await?;
    stream.flush().await
}

fn usage() -> Value {
    json!({"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15})
}

fn delta(delta: &Value) -> String {
    json!({"choices": [{"index": 0, "delta": delta, "finish_reason": null}]}).to_string()
}

async fn write_event(stream: &mut BufReader<TcpStream>, data: &str) -> std::io::Result<()> {
    let event = format!("data: {data}\n\n");
    stream.write_all(format!("{:x}\r\n{event}\r\n", event.len()).as_bytes()).await?;
    stream.flush().await
}

fn message_of(calls: &[(String, Value)]) -> Value {
    let calls: Vec<Value> = calls
        .iter()
        .enumerate()
        .map(|(index, (name, arguments))| {
            json!({
                "id": format!("call-{index}"),
                "type": "function",
                "function": {"name": name, "arguments": arguments.to_string()}
            })
        })
        .collect();
    json!({"role": "assistant", "content": null, "tool_calls": calls})
}

fn completion(message: &Value, finish_reason: &str) -> String {
    json!({
        "id": "completion",
        "object": "chat.completion",
        "created": 0,
        "model": "scripted",
        "choices": [{"index": 0, "message": message, "finish_reason": finish_reason}],
        "usage": usage()
    })
    .to_string()
}
