//! A server as the contract has it, with a robot that a test moves: HTTP and WebSocket on a real socket.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use axum::extract::ws::{Message, WebSocket, WebSocketUpgrade};
use axum::extract::{Path, Query, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use cortex_protocol::OpenQuestion;
use cortex_protocol::overview::Overview;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::made;
use crate::wire::{Basis, CommandRequest};

/// A frame comes at least so often.
const PULSE: Duration = Duration::from_millis(50);

/// What was said to the server.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Said {
    /// A live stream was opened, after this event.
    Live(Option<String>),
    /// STOP, on the live stream.
    SocketStop,
    /// STOP, as a request of its own.
    PostStop,
    /// A command.
    Command(CommandRequest),
}

/// The robot that the server shows, and how the server behaves.
pub(super) struct Robot {
    pub(super) overview: Overview,
    pub(super) basis: Basis,
    pub(super) questions: Vec<OpenQuestion>,
    pub(super) events: Vec<Value>,
    /// Whether frames are sent.
    pub(super) is_live: bool,
    /// Whether STOP on the live stream is answered.
    pub(super) hears_socket: bool,
    /// Streams of an earlier generation are closed.
    pub(super) generation: u32,
    /// What the next command is answered.
    pub(super) answer: (StatusCode, Value),
    /// The archive of every mission's incident. None: there is no such mission.
    pub(super) archive: Option<Vec<u8>>,
    frame: u64,
    said: Vec<Said>,
}

#[derive(Clone)]
struct Shared {
    robot: Arc<Mutex<Robot>>,
    changes: watch::Sender<u64>,
    address: SocketAddr,
}

pub(super) struct Server {
    shared: Shared,
    serving: JoinHandle<()>,
}

impl Drop for Server {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

impl Server {
    pub(super) async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let mut overview = made::overview();
        overview.missions.clear();
        let robot = Robot {
            overview,
            basis: Basis::default(),
            questions: Vec::new(),
            events: Vec::new(),
            is_live: true,
            hears_socket: true,
            generation: 0,
            answer: (StatusCode::OK, json!({"outcome": "submitted", "mission": made::MISSION})),
            archive: None,
            frame: 100,
            said: Vec::new(),
        };
        let shared = Shared {
            robot: Arc::new(Mutex::new(robot)),
            changes: watch::Sender::new(0),
            address: listener.local_addr().unwrap(),
        };
        let router = Router::new()
            .route("/api/v1/overview", get(overview_of))
            .route("/api/v1/missions/{id}/events", get(events_of))
            .route("/api/v1/missions/{id}/incident", get(incident_of))
            .route("/api/v1/live", get(live))
            .route("/api/v1/commands", post(command))
            .route("/stop", post(stop))
            .with_state(shared.clone());
        let serving = tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
        Self { shared, serving }
    }

    pub(super) fn address(&self) -> SocketAddr {
        self.shared.address
    }

    /// Moves the robot; who watches sees it at once.
    pub(super) fn change(&self, change: impl FnOnce(&mut Robot)) {
        change(&mut self.shared.robot());
        self.shared.changed();
    }

    pub(super) fn frame(&self) -> u64 {
        self.shared.robot().frame
    }

    /// Waits until that was said, and returns it.
    pub(super) async fn heard(&self, is_meant: impl Fn(&Said) -> bool) -> Said {
        let mut changes = self.shared.changes.subscribe();
        let found = async {
            loop {
                if let Some(said) = self.said().into_iter().find(|said| is_meant(said)) {
                    return said;
                }
                changes.changed().await.unwrap();
            }
        };
        timeout(Duration::from_secs(10), found).await.unwrap_or_else(|_| panic!("heard only {:?}", self.said()))
    }

    /// Waits until something changes, or a frame would be sent.
    pub(super) async fn changed(&self) {
        let mut changes = self.shared.changes.subscribe();
        let _ = timeout(PULSE, changes.changed()).await;
    }

    pub(super) fn said(&self) -> Vec<Said> {
        self.shared.robot().said.clone()
    }
}

impl Shared {
    fn robot(&self) -> MutexGuard<'_, Robot> {
        self.robot.lock().unwrap()
    }

    fn changed(&self) {
        self.changes.send_modify(|number| *number += 1);
    }

    fn hear(&self, said: Said) {
        self.robot().said.push(said);
        self.changed();
    }

    /// Stops the robot, and says what has not stopped.
    fn stop(&self) -> Value {
        let mut robot = self.robot();
        robot.basis = Basis { stops: robot.basis.stops + 1, stopped: true, ..robot.basis.clone() };
        drop(robot);
        self.changed();
        json!({"outcome": "stopped", "missions_ended": 1, "not_stopped": ["base.go_to"]})
    }
}

async fn overview_of(State(shared): State<Shared>) -> Json<Overview> {
    Json(shared.robot().overview.clone())
}

async fn events_of(State(shared): State<Shared>, Path(id): Path<String>) -> Json<Vec<Value>> {
    let events = shared.robot().events.clone();
    Json(events.into_iter().filter(|event| event["subject"] == id.as_str()).collect())
}

async fn incident_of(State(shared): State<Shared>) -> Response {
    let archive = shared.robot().archive.clone();
    let error = json!({"kind": "not_found", "reason": "There are no events of this mission."});
    archive.map_or_else(|| (StatusCode::NOT_FOUND, Json(error)).into_response(), IntoResponse::into_response)
}

async fn command(State(shared): State<Shared>, headers: HeaderMap, Json(request): Json<CommandRequest>) -> Response {
    assert!(!headers.contains_key("origin"), "a program sends none");
    let (status, answer) = shared.robot().answer.clone();
    shared.hear(Said::Command(request));
    (status, Json(answer)).into_response()
}

async fn stop(State(shared): State<Shared>) -> Json<Value> {
    shared.hear(Said::PostStop);
    Json(shared.stop())
}

#[derive(serde::Deserialize)]
struct After {
    after: Option<String>,
}

async fn live(
    State(shared): State<Shared>,
    Query(After { after }): Query<After>,
    headers: HeaderMap,
    upgrade: WebSocketUpgrade,
) -> Response {
    let own = format!("http://{}", shared.address);
    if headers.get("origin").is_none_or(|origin| origin != own.as_str()) {
        let error = json!({"kind": "cross_origin", "reason": "The origin is another one."});
        return (StatusCode::FORBIDDEN, Json(error)).into_response();
    }
    shared.hear(Said::Live(after.clone()));
    upgrade.on_upgrade(|socket| serve(socket, shared, after))
}

async fn serve(mut socket: WebSocket, shared: Shared, after: Option<String>) {
    let generation = shared.robot().generation;
    let mut changes = shared.changes.subscribe();
    let mut sent = {
        let robot = shared.robot();
        let known = |id: &String| robot.events.iter().position(|event| event["id"] == id.as_str()).map(|at| at + 1);
        after.as_ref().map_or(robot.events.len(), |id| known(id).unwrap())
    };
    let mut is_first = true;
    let mut answer = None;
    loop {
        let frame = {
            let mut robot = shared.robot();
            if robot.generation != generation {
                return;
            }
            robot.frame += 1;
            let mut frame = json!({
                "frame": robot.frame, "at_ms": made::BEGIN_MS + 10_000, "overview": robot.overview,
                "basis": robot.basis, "questions": robot.questions, "events": robot.events[sent..],
            });
            if std::mem::take(&mut is_first) {
                frame["you"] = json!({"name": "this machine", "role": "administer"});
            }
            if robot.is_live {
                sent = robot.events.len();
            }
            robot.is_live.then_some(frame)
        };
        if let Some(mut frame) = frame {
            if let Some(answer) = answer.take() {
                frame["stop"] = answer;
            }
            if socket.send(Message::text(frame.to_string())).await.is_err() {
                return;
            }
        }
        tokio::select! {
            _ = timeout(PULSE, changes.changed()) => {}
            message = socket.recv() => match message {
                Some(Ok(Message::Text(text))) => {
                    assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), json!({"stop": true}));
                    shared.hear(Said::SocketStop);
                    if shared.robot().hears_socket {
                        answer = Some(json!({"outcome": shared.stop()}));
                    }
                }
                Some(Ok(_)) => {}
                _ => return,
            },
        }
    }
}
