//! One page's connection to the live stream. Nothing is lost and nothing comes twice, however slowly a page reads and however
//! often its connection breaks.
//!
//! A reader and a writer that do not wait for each other: a page that takes nothing can still say STOP. The writer sends the
//! frames that all pages share as long as the page keeps up; then it puts frames together from the events that the hub keeps;
//! and from the port's own stream where the hub keeps them no more.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::rejection::QueryRejection;
use axum::extract::ws::rejection::WebSocketUpgradeRejection;
use axum::extract::ws::{CloseFrame, Message, Utf8Bytes, WebSocket, WebSocketUpgrade};
use axum::extract::{Query, State};
use axum::http::HeaderMap;
use axum::response::Response;
use axum::{Extension, Json};
use cortex_core::{ControlLoss, EventStream};
use cortex_protocol::{CommandOutcome, ConnectionId, EventId, strict_json};
use futures::stream::{SplitSink, SplitStream};
use futures::{FutureExt as _, SinkExt as _, StreamExt as _};
use serde::{Deserialize, Serialize};
use tokio::sync::{Semaphore, mpsc, watch};
use tokio::time::timeout;

use crate::access::{Caller, is_own_origin};
use crate::callers::Reading;
use crate::connection::Connection;
use crate::error::{ApiError, ErrorKind};
use crate::hub::{Encoded, FRAME_BYTES, FRAME_EVENTS, Following, Frame, Moment, json};
use crate::live_connections::LiveConnection;
use crate::request::After;
use crate::site::Site;
use crate::stop;

/// Stops of one connection that may be under way at a time.
const STOPS: usize = 16;
/// Longest message of a page, in bytes.
const MESSAGE_BYTES: usize = 1_024;
/// How long saying goodbye may take.
const GOODBYE: Duration = Duration::from_millis(50);
/// How often a connection counts as a use of its session.
const USE: Duration = Duration::from_secs(600);

/// `GET /api/v1/live`.
pub(crate) async fn live(
    State(site): State<Arc<Site>>,
    Extension(connection): Extension<Connection>,
    headers: HeaderMap,
    Reading(caller): Reading,
    after: Result<Query<After>, QueryRejection>,
    upgrade: Result<WebSocketUpgrade, WebSocketUpgradeRejection>,
) -> Result<Response, ApiError> {
    if !is_own_origin(&headers, connection.is_encrypted()) {
        let reason = "The live stream is for the robot's own page: its 'Origin' must be the host that it connects to.";
        return Err(ApiError::new(ErrorKind::CrossOrigin, reason));
    }
    let after = after?.0.event()?;
    let upgrade = upgrade.map_err(|rejection| {
        ApiError::invalid(format!(
            "This is a WebSocket, and the request does not ask for one: {}.",
            rejection.body_text()
        ))
    })?;
    let upgrade = upgrade.max_message_size(MESSAGE_BYTES).max_frame_size(MESSAGE_BYTES);
    // The connection counts until its task ends.
    Ok(upgrade.on_upgrade(move |socket| async move {
        let tracker = site.tasks.clone();
        tracker.track_future(serve(socket, site, caller, after)).await;
        drop(connection);
    }))
}

/// Why a connection ends.
#[derive(Clone, Copy)]
enum Ending {
    Gone,
    SessionEnded,
    GoingDown,
    NotUnderstood,
}

impl Ending {
    fn close(self) -> Option<(u16, &'static str)> {
        match self {
            Self::Gone => None,
            Self::SessionEnded => Some((1_008, "Your session was ended. Log in again.")),
            Self::GoingDown => Some((1_001, "Cortex is going down.")),
            Self::NotUnderstood => Some((1_008, "This connection takes {\"stop\":true} and {\"hold\":true}.")),
        }
    }
}

async fn serve(socket: WebSocket, site: Arc<Site>, caller: Caller, after: Option<EventId>) {
    let (mut sink, source) = socket.split();
    let (answers, answered) = mpsc::channel(STOPS);
    let ended = caller.ended();
    let mut connection = site.connections.begin(&caller, &site.port);
    let ending = {
        let mut writer = Writer::new(&mut sink, &site, &caller, &connection.id, after);
        tokio::select! {
            biased;
            () = ended.cancelled() => Ending::SessionEnded,
            () = site.ended.cancelled() => Ending::GoingDown,
            ending = read(source, &site, &caller, &connection, answers) => ending,
            ending = writer.run(answered) => ending.unwrap_or(Ending::Gone),
        }
    };
    if matches!(ending, Ending::SessionEnded) {
        connection.loss = ControlLoss::SessionEnded;
    }
    // Before anything that may take time: what it has in motion is halted.
    drop(connection);
    if let Some((code, reason)) = ending.close() {
        let goodbye = Message::Close(Some(CloseFrame { code, reason: Utf8Bytes::from_static(reason) }));
        // Whoever does not take it finds the connection closed.
        let _ = timeout(GOODBYE, sink.send(goodbye)).await;
    }
}

/// What a page may say.
#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum Said {
    /// Halt everything.
    Stop(True),
    /// The person who holds the controls is still there.
    Hold(True),
}

/// `true`, and nothing else.
#[derive(Deserialize)]
#[serde(try_from = "bool")]
struct True;

impl TryFrom<bool> for True {
    type Error = &'static str;

    fn try_from(value: bool) -> Result<Self, Self::Error> {
        if value { Ok(Self) } else { Err("it says nothing where it is false") }
    }
}

/// What came of a page's STOP.
#[derive(Serialize)]
#[serde(rename_all = "snake_case")]
enum Answer {
    Outcome(CommandOutcome),
    Error(ApiError),
}

async fn read(
    mut source: SplitStream<WebSocket>,
    site: &Arc<Site>,
    caller: &Caller,
    connection: &LiveConnection,
    answers: mpsc::Sender<String>,
) -> Ending {
    let stops = Arc::new(Semaphore::new(STOPS));
    loop {
        let text = match source.next().await {
            Some(Ok(Message::Text(text))) => text,
            Some(Ok(Message::Ping(_) | Message::Pong(_))) => continue,
            Some(Ok(Message::Binary(_))) => return Ending::NotUnderstood,
            Some(Ok(Message::Close(_)) | Err(_)) | None => return Ending::Gone,
        };
        match strict_json::read::<Said>(&text) {
            Ok(Said::Stop(True)) => {}
            Ok(Said::Hold(True)) => {
                connection.keep_controls();
                continue;
            }
            Err(_) => return Ending::NotUnderstood,
        }
        let Ok(permit) = Arc::clone(&stops).try_acquire_owned() else {
            // The robot is being stopped as often as that.
            let error = ApiError::new(ErrorKind::TooMany, format!("{STOPS} stops of this page are under way already."));
            let _ = answers.try_send(json(&Answer::Error(error)));
            continue;
        };
        let (stopping, answers) = (stop::begin(site, caller), answers.clone());
        site.tasks.spawn(async move {
            let answer = match stopping.await {
                Ok(outcome) => Answer::Outcome(outcome),
                Err(error) => Answer::Error(error),
            };
            // There are as many places as stops; a page that takes nothing gets no answer.
            let _ = answers.try_send(json(&answer));
            drop(permit);
        });
    }
}

struct Writer<'a> {
    sink: &'a mut SplitSink<WebSocket, Message>,
    site: &'a Arc<Site>,
    caller: &'a Caller,
    connection: &'a ConnectionId,
    moments: watch::Receiver<Arc<Moment>>,
    /// The frame that the page has had last.
    had: Option<u64>,
    /// The event that the page has had last.
    last: Option<EventId>,
    events: Events,
    /// The place after the last line of the log that the page has had. None where it has had none.
    lines: Option<u64>,
}

/// Where the page's next events come from.
enum Events {
    /// The hub, from this place on.
    Hub(u64),
    /// The port, and how many missing events the page knows of.
    Port(Box<dyn EventStream>, u64),
}

impl Events {
    /// The next one of the port's stream. Waits for ever where the events come from the hub.
    async fn next_of_port(&mut self) -> Option<Encoded> {
        let Self::Port(stream, shown) = self else { return std::future::pending().await };
        let event = stream.next().await?;
        let missed = stream.missed();
        let newly_missed = missed.saturating_sub(*shown);
        *shown = missed.max(*shown);
        Some(Encoded::new(&event, newly_missed))
    }
}

impl<'a> Writer<'a> {
    fn new(
        sink: &'a mut SplitSink<WebSocket, Message>,
        site: &'a Arc<Site>,
        caller: &'a Caller,
        connection: &'a ConnectionId,
        after: Option<EventId>,
    ) -> Self {
        let moments = site.hub.moments();
        let (events, last) = match after {
            Some(event) => {
                let place = site.hub.recent().place_after(&event);
                let port = || Events::Port(site.port.events(Some(event.clone())), 0);
                (place.map_or_else(port, Events::Hub), Some(event))
            }
            None => {
                let moment = moments.borrow();
                (Events::Hub(moment.end), moment.last.clone())
            }
        };
        Self { sink, site, caller, connection, moments, had: None, last, events, lines: None }
    }

    /// Ends when the connection does, or the server.
    async fn run(&mut self, mut answers: mpsc::Receiver<String>) -> Result<Ending, axum::Error> {
        let mut is_used = tokio::time::interval(USE);
        self.show_moment().await?;
        loop {
            tokio::select! {
                biased;
                Some(answer) = answers.recv() => {
                    let moment = self.moment();
                    self.send(Frame::new(moment.number, moment.at_ms).add("stop", &answer).end()).await?;
                }
                changed = self.moments.changed() => match changed {
                    Ok(()) => self.show_moment().await?,
                    Err(_) => return Ok(Ending::GoingDown),
                },
                event = self.events.next_of_port() => match event {
                    Some(event) => self.show_of_port(event).await?,
                    None => return Ok(Ending::GoingDown),
                },
                _ = is_used.tick() => self.site.access.still_there(self.caller),
            }
        }
    }

    fn moment(&mut self) -> Arc<Moment> {
        Arc::clone(&self.moments.borrow_and_update())
    }

    /// Shows what is new, and of the events what the hub keeps.
    async fn show_moment(&mut self) -> Result<(), axum::Error> {
        let moment = self.moment();
        self.return_to_hub();
        let mut is_shown = false;
        while let Events::Hub(place) = self.events {
            let has_all_before = self.had.is_some_and(|had| had + 1 == moment.number)
                && place == moment.begin
                && self.lines == Some(moment.lines_begin);
            if has_all_before {
                self.note(&moment, moment.end, moment.last.clone());
                return self.send_text(moment.shared.clone()).await;
            }
            match self.site.hub.recent().following(place, moment.end) {
                Following::Events { events, .. } if events.is_empty() && is_shown => return Ok(()),
                Following::Events { events, next } => {
                    self.show(&moment, &events).await?;
                    self.events = Events::Hub(next);
                    is_shown = true;
                }
                Following::Gone => self.go_to_port(&moment, place).await?,
            }
        }
        // It shows that the picture is live while the port reads.
        if is_shown { Ok(()) } else { self.show(&moment, &[]).await }
    }

    fn note(&mut self, moment: &Moment, place: u64, last: Option<EventId>) {
        self.had = Some(moment.number);
        self.lines = Some(moment.lines_end);
        self.events = Events::Hub(place);
        self.last = last;
    }

    /// From here on the port is read: the page lags further behind than the hub keeps events.
    async fn go_to_port(&mut self, moment: &Moment, place: u64) -> Result<(), axum::Error> {
        let recent = self.site.hub.recent();
        // Whoever was there before the very first event has had none to name.
        let first = if self.last.is_none() && place == 0 { recent.first_ever() } else { None };
        if let Some(first) = first {
            self.show(moment, &[first]).await?;
        }
        match self.last.clone() {
            Some(last) => self.events = Events::Port(self.site.port.events(Some(last)), 0),
            None => {
                let first = recent.first();
                self.events = Events::Hub(first.max(place));
                let missed = first.saturating_sub(place);
                self.send(Frame::new(moment.number, moment.at_ms).add_events(missed, &[]).end()).await?;
            }
        }
        Ok(())
    }

    /// Takes the events from the hub again if it keeps what follows the last one.
    fn return_to_hub(&mut self) {
        let Events::Port(..) = self.events else { return };
        if let Some(place) = self.last.as_ref().and_then(|last| self.site.hub.recent().place_after(last)) {
            self.events = Events::Hub(place);
        }
    }

    /// Shows an event of the port's stream, and those that are ready behind it.
    async fn show_of_port(&mut self, first: Encoded) -> Result<(), axum::Error> {
        let (mut bytes, mut events) = (first.json.len(), vec![first]);
        while events.len() < FRAME_EVENTS && bytes < FRAME_BYTES {
            let Some(Some(event)) = self.events.next_of_port().now_or_never() else { break };
            bytes += event.json.len();
            events.push(event);
        }
        let moment = self.moment();
        // A gap begins a frame.
        let mut rest = events.as_slice();
        while !rest.is_empty() {
            let end = rest.iter().skip(1).position(|event| event.missed > 0).map_or(rest.len(), |at| at + 1);
            let (now, later) = rest.split_at(end);
            self.show(&moment, now).await?;
            rest = later;
        }
        self.return_to_hub();
        if let Events::Hub(_) = self.events {
            // What the hub keeps behind it comes at once.
            self.moments.mark_changed();
        }
        Ok(())
    }

    /// Sends a frame of this page's own.
    async fn show(&mut self, moment: &Moment, events: &[Encoded]) -> Result<(), axum::Error> {
        let is_first = self.had.is_none();
        let mut frame = Frame::new(moment.number, moment.at_ms)
            .add_changed("overview", &moment.overview, self.had)
            .add_changed("basis", &moment.basis, self.had);
        frame = if is_first {
            // How much time is left for an answer has changed since the questions did.
            frame
                .add("questions", &json(&self.site.port.questions()))
                .add("you", &json(&You::new(self.caller, self.connection, self.site)))
        } else {
            frame.add_changed("questions", &moment.questions, self.had)
        };
        let had_lines = self.lines.replace(moment.lines_end);
        let mut lines = self.site.hub.lines().between(had_lines.unwrap_or_default(), moment.lines_end);
        if had_lines.is_none() {
            // A page that opens misses nothing.
            lines.left_out = 0;
        }
        frame = frame.add_lines(&lines);
        let missed = events.first().map_or(0, |event| event.missed);
        self.had = Some(moment.number);
        self.last = events.last().map(|event| event.id.clone()).or_else(|| self.last.take());
        self.send(frame.add_events(missed, events).end()).await
    }

    async fn send(&mut self, frame: String) -> Result<(), axum::Error> {
        self.send_text(frame.into()).await
    }

    async fn send_text(&mut self, frame: Utf8Bytes) -> Result<(), axum::Error> {
        self.sink.send(Message::Text(frame)).await
    }
}

/// Who the page is logged in as.
#[derive(Serialize)]
struct You<'a> {
    name: &'a str,
    role: cortex_protocol::Role,
    /// Whether there is a session to log out of.
    session: bool,
    /// Whether the robot has a memory to look at.
    has_memory: bool,
    /// Whether the robot uses skills.
    has_skills: bool,
    /// This connection, for commands that are given over it.
    connection: &'a ConnectionId,
}

impl<'a> You<'a> {
    fn new(caller: &'a Caller, connection: &'a ConnectionId, site: &Site) -> Self {
        Self {
            name: caller.name(),
            role: caller.role(),
            session: !caller.session_id().is_nil(),
            has_memory: site.port.memory().is_some(),
            has_skills: site.port.skills().is_some(),
            connection,
        }
    }
}

/// `GET /api/v1/seen`: what a program that has no live stream looks at.
pub(crate) async fn seen(State(site): State<Arc<Site>>, Reading(_): Reading) -> Json<crate::seen::Seen> {
    Json(site.hub.seen_now())
}
