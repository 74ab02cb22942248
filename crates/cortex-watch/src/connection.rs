//! The connection to Cortex: the live stream, made again whenever it breaks, without losing an event; and the requests.

use std::time::Duration;

use cortex_protocol::{EventId, MissionId};
use futures::stream::{SplitSink, SplitStream};
use futures::{SinkExt as _, StreamExt as _};
use reqwest::header::{AUTHORIZATION, ORIGIN};
use tokio::net::TcpStream;
use tokio::sync::mpsc;
use tokio::time::{sleep, timeout};
use tokio_tungstenite::tungstenite::client::IntoClientRequest as _;
use tokio_tungstenite::tungstenite::http::HeaderValue;
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;
use tokio_tungstenite::tungstenite::{Error as SocketError, Message};
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream, connect_async_with_config};

use crate::address::Address;
use crate::error::WatchError;
use crate::http::{Http, bearer, failed, refusal};
use crate::model::Update;
use crate::wire::{FRAME_BYTES, Frame, RequestError};

const CONNECT: Duration = Duration::from_secs(3);
/// A stream without a frame for so long is given up: the server sends one every 250 ms.
const SILENCE: Duration = Duration::from_secs(3);
/// Pauses between one connection and the next: the first, and the longest.
const PAUSE: Duration = Duration::from_millis(200);
const LONGEST_PAUSE: Duration = Duration::from_secs(2);
/// Updates that may wait for the view.
pub(crate) const UPDATES: usize = 64;
/// STOPs that may wait for the stream.
pub(crate) const STOPS: usize = 4;

type Socket = WebSocketStream<MaybeTlsStream<TcpStream>>;

/// Whether the events of a mission that runs already are fetched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Begin {
    /// Yes: the view shows the whole mission.
    WithMission,
    /// No: only what comes from now on.
    Now,
}

/// See the module.
pub(crate) struct Connection {
    http: Http,
    address: Address,
    token: Option<HeaderValue>,
    begin: Begin,
    updates: mpsc::Sender<Update>,
    stops: mpsc::Receiver<()>,
    /// The last event that was passed on.
    after: Option<EventId>,
    /// The mission whose events were asked for.
    fetched: Option<MissionId>,
    /// Whether a frame was passed on.
    was_live: bool,
}

/// Why a stream has ended.
enum Ended {
    /// It broke.
    Broken(String),
    /// A mission runs whose beginning is not known.
    Unknown(MissionId),
    /// Nobody takes updates any more.
    Unwanted,
}

impl Connection {
    pub(crate) fn new(
        http: Http,
        address: Address,
        token: Option<&str>,
        begin: Begin,
        updates: mpsc::Sender<Update>,
        stops: mpsc::Receiver<()>,
    ) -> Result<Self, WatchError> {
        let token = token.map(bearer).transpose()?;
        Ok(Self { http, address, token, begin, updates, stops, after: None, fetched: None, was_live: false })
    }

    /// Asks whether there is a Cortex that takes this client.
    ///
    /// # Errors
    /// When there is none, or it does not.
    pub(crate) async fn check(&self) -> Result<(), WatchError> {
        let address = || self.address.to_string();
        match self.http.overview().await {
            Ok(_) => Ok(()),
            Err(RequestError::Failed(problem)) => Err(WatchError::Unreachable { address: address(), problem }),
            Err(RequestError::Refused(error)) => {
                let advice = if error.kind == "unauthenticated" {
                    " From another machine, set CORTEX_WATCH_TOKEN to the token of a session."
                } else {
                    ""
                };
                Err(WatchError::Refused { address: address(), reason: format!("{}{advice}", error.reason) })
            }
        }
    }

    /// Goes on until nobody takes updates any more.
    pub(crate) async fn run(mut self) {
        let mut pause = PAUSE;
        loop {
            let ended = match self.connect().await {
                Ok(socket) => {
                    pause = PAUSE;
                    self.follow(socket).await
                }
                Err(error) => Ended::Broken(error.to_string()),
            };
            match ended {
                Ended::Unwanted => return,
                Ended::Unknown(mission) => {
                    if !self.fetch(mission).await {
                        return;
                    }
                }
                Ended::Broken(reason) => {
                    if self.updates.send(Update::Lost { reason }).await.is_err() {
                        return;
                    }
                    sleep(pause).await;
                    pause = (pause * 2).min(LONGEST_PAUSE);
                }
            }
            // A STOP that the broken stream did not take goes on a way of its own.
            while self.stops.try_recv().is_ok() {}
        }
    }

    async fn connect(&self) -> Result<Socket, RequestError> {
        let after = self.after.as_ref().map(|after| format!("?after={after}")).unwrap_or_default();
        let url = self.address.web_socket(&format!("/api/v1/live{after}"));
        let mut request = url.into_client_request().map_err(failed)?;
        let origin = HeaderValue::try_from(self.address.http("")).map_err(failed)?;
        request.headers_mut().insert(ORIGIN, origin);
        if let Some(token) = &self.token {
            request.headers_mut().insert(AUTHORIZATION, token.clone());
        }
        let config = WebSocketConfig::default().max_message_size(Some(FRAME_BYTES)).max_frame_size(Some(FRAME_BYTES));
        match timeout(CONNECT, connect_async_with_config(request, Some(config), true)).await {
            Ok(Ok((socket, _))) => Ok(socket),
            Ok(Err(SocketError::Http(response))) => {
                let body = response.body().as_deref().unwrap_or_default();
                Err(refusal(response.status(), body))
            }
            Ok(Err(error)) => Err(failed(error)),
            Err(_) => Err(RequestError::Failed(format!("no answer within {} s", CONNECT.as_secs()))),
        }
    }

    /// Reads and writes side by side: a view that is slow to take frames holds no STOP back.
    async fn follow(&mut self, socket: Socket) -> Ended {
        let (sink, stream) = socket.split();
        let Self { updates, stops, after, fetched, was_live, .. } = self;
        let reader = Reader { updates, after, fetched: fetched.as_ref(), was_live };
        tokio::select! {
            biased;
            ended = send_stops(sink, stops) => ended,
            ended = reader.run(stream) => ended,
        }
    }

    /// Fetches the events of a mission that began before the view did. Returns false if nobody takes them any more.
    async fn fetch(&mut self, mission: MissionId) -> bool {
        let fetched = self.http.events_of(&mission).await;
        self.fetched = Some(mission);
        // Without them the view shows what the overview says of the mission.
        let Ok(events) = fetched else { return true };
        self.after = events.last().and_then(|event| event_id(event.id()?));
        // What happened while there was no connection is news in either case.
        let is_wanted = self.begin == Begin::WithMission || self.was_live;
        !is_wanted || self.updates.send(Update::History(events)).await.is_ok()
    }
}

async fn send_stops(mut sink: SplitSink<Socket, Message>, stops: &mut mpsc::Receiver<()>) -> Ended {
    while stops.recv().await.is_some() {
        if let Err(error) = sink.send(Message::text(r#"{"stop":true}"#)).await {
            return Ended::Broken(error.to_string());
        }
    }
    Ended::Unwanted
}

/// Passes the frames of one stream on.
struct Reader<'a> {
    updates: &'a mpsc::Sender<Update>,
    after: &'a mut Option<EventId>,
    fetched: Option<&'a MissionId>,
    was_live: &'a mut bool,
}

impl Reader<'_> {
    async fn run(self, mut stream: SplitStream<Socket>) -> Ended {
        loop {
            let text = match timeout(SILENCE, stream.next()).await {
                Ok(Some(Ok(Message::Text(text)))) => text,
                Ok(Some(Ok(Message::Close(close)))) => {
                    let reason = close.map(|close| close.reason.to_string()).filter(|reason| !reason.is_empty());
                    return Ended::Broken(reason.unwrap_or_else(|| "the server closed the connection".to_owned()));
                }
                Ok(Some(Ok(_))) => continue,
                Ok(Some(Err(error))) => return Ended::Broken(error.to_string()),
                Ok(None) => return Ended::Broken("the server closed the connection".to_owned()),
                Err(_) => return Ended::Broken(format!("nothing came for {} s", SILENCE.as_secs())),
            };
            let frame = match Frame::read(&text) {
                Ok(frame) => frame,
                Err(error) => return Ended::Broken(format!("what the server sends can't be read: {error}")),
            };
            if self.after.is_none()
                && let Some(unknown) = unknown_mission(&frame, self.fetched)
            {
                return Ended::Unknown(unknown);
            }
            if let Some(last) = frame.events.iter().rev().find_map(|event| event_id(event.id()?)) {
                *self.after = Some(last);
            }
            if self.updates.send(Update::Frame(Box::new(frame))).await.is_err() {
                return Ended::Unwanted;
            }
            *self.was_live = true;
        }
    }
}

/// The id, if it can stand in an address as it is.
fn event_id(id: &str) -> Option<EventId> {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_' | '.');
    (!id.is_empty() && id.chars().all(is_plain)).then(|| EventId::new(id))
}

/// The mission of a first frame whose events are to be fetched: the one that runs, or else the last one that has ended. Its
/// last event is the place from which the stream is followed.
fn unknown_mission(frame: &Frame, fetched: Option<&MissionId>) -> Option<MissionId> {
    if !frame.events.is_empty() {
        return None;
    }
    let running = frame.basis.as_ref().and_then(|basis| basis.mission.as_ref());
    let last = || frame.overview.as_ref()?.missions.last().map(|mission| &mission.id);
    running.or_else(last).filter(|mission| Some(*mission) != fetched).cloned()
}
