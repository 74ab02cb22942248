//! The loop of the full screen: keys, updates and the clock go into the model; pictures, commands and STOP come out.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use cortex_protocol::MissionId;
use crossterm::event::{Event, KeyCode, KeyModifiers};
use futures::{Stream, StreamExt as _};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use tokio::sync::mpsc;
use tokio::task::{JoinError, JoinSet};
use tokio::time::{MissedTickBehavior, interval};
use uuid::Uuid;

use crate::error::WatchError;
use crate::http::Http;
use crate::incident::{SaveTo, save};
use crate::keys::{Intent, Ui};
use crate::model::{Model, StopState, StopWay, Tone, Update};
use crate::screen::{Ink, draw};
use crate::terminal::Picture;
use crate::wire::{CommandRequest, RequestError, Seen};

/// How often ages and countdowns are drawn anew, and STOP is looked after.
const TICK: Duration = Duration::from_millis(100);

/// What the loop is connected to.
pub(crate) struct Edges<Keys, Size> {
    pub(crate) http: Http,
    pub(crate) updates: mpsc::Receiver<Update>,
    pub(crate) stops: mpsc::Sender<()>,
    pub(crate) keys: Keys,
    pub(crate) size: Size,
    pub(crate) pictures: mpsc::Sender<Picture>,
    pub(crate) ink: Ink,
    /// Where incidents are saved.
    pub(crate) folder: PathBuf,
}

/// The state of the view.
struct View<Size> {
    model: Model,
    ui: Ui,
    begun: Instant,
    http: Http,
    stops: mpsc::Sender<()>,
    size: Size,
    ink: Ink,
    folder: PathBuf,
    /// Requests that are not answered. They end with the view.
    requests: JoinSet<Update>,
    leaves: bool,
    /// Whether the next picture is drawn as a whole.
    is_fresh: bool,
}

/// Shows the view until the person leaves it.
///
/// # Errors
/// When the terminal fails.
pub(crate) async fn show<Keys, Size>(edges: Edges<Keys, Size>) -> Result<ExitCode, WatchError>
where
    Keys: Stream<Item = std::io::Result<Event>> + Unpin,
    Size: Fn() -> Option<Rect>,
{
    let Edges { http, mut updates, stops, mut keys, size, pictures, ink, folder } = edges;
    let (model, ui, begun) = (Model::default(), Ui::default(), Instant::now());
    let mut view = View {
        model,
        ui,
        begun,
        http,
        stops,
        size,
        ink,
        folder,
        requests: JoinSet::new(),
        leaves: false,
        is_fresh: true,
    };
    let mut tick = interval(TICK);
    tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut is_old = true;
    while !view.leaves {
        tokio::select! {
            biased;
            event = keys.next() => match event {
                Some(event) => view.take(event.map_err(WatchError::Terminal)?),
                None => break,
            },
            Some(answer) = view.requests.join_next(), if !view.requests.is_empty() => {
                let failed = |error: JoinError| Update::Answered(Err(RequestError::Failed(error.to_string())));
                let answer = answer.unwrap_or_else(failed);
                view.update(answer);
            }
            update = updates.recv() => match update {
                Some(update) => view.update(update),
                None => break,
            },
            picture = pictures.reserve(), if is_old => {
                let Ok(place) = picture else { break };
                place.send(view.picture());
                is_old = false;
                continue;
            }
            _ = tick.tick() => {}
        }
        view.look_after_stop();
        is_old = true;
    }
    Ok(ExitCode::SUCCESS)
}

impl<Size: Fn() -> Option<Rect>> View<Size> {
    fn now(&self) -> Duration {
        self.begun.elapsed()
    }

    fn update(&mut self, update: Update) {
        let now = self.now();
        self.model.apply(update, now);
    }

    fn picture(&mut self) -> Picture {
        let now = self.now();
        let mut cells = Buffer::empty((self.size)().unwrap_or(Rect::new(0, 0, 80, 24)));
        self.ui.follow(&mut self.model, now);
        draw(&self.model, &mut self.ui, now, self.ink, &mut cells);
        Picture { cells, is_fresh: std::mem::take(&mut self.is_fresh) }
    }

    fn take(&mut self, event: Event) {
        let now = self.now();
        match event {
            // What another program wrote on the terminal goes away.
            Event::Key(key) if key.code == KeyCode::Char('l') && key.modifiers.contains(KeyModifiers::CONTROL) => {
                self.is_fresh = true;
            }
            Event::Resize(..) => self.is_fresh = true,
            Event::Key(key) => match self.ui.press(key, &mut self.model, now) {
                Some(Intent::Stop) => self.stop(),
                Some(Intent::Command { command, seen }) => self.command(command, seen),
                Some(Intent::SaveIncident(mission)) => self.save_incident(mission),
                Some(Intent::Quit) => self.leave(),
                None => {}
            },
            Event::Paste(text) => self.ui.paste(&text),
            _ => {}
        }
    }

    /// Leaves, but not over a STOP of which nothing is known: that asks for the key twice.
    fn leave(&mut self) {
        let is_unanswered = matches!(self.model.stop(), StopState::Sent { is_stopped: false, .. });
        let text = "STOP has no answer yet. Press the key again to leave all the same.";
        let was_told = self.model.notice().is_some_and(|notice| notice.text == text);
        if is_unanswered && !was_told {
            self.model.note(Tone::Bad, text);
        } else {
            self.leaves = true;
        }
    }

    fn stop(&mut self) {
        let now = self.now();
        match self.model.begin_stop(now) {
            StopWay::Socket => {
                if self.stops.try_send(()).is_err() {
                    self.request_stop();
                }
            }
            StopWay::Request => self.request_stop(),
        }
    }

    fn look_after_stop(&mut self) {
        let now = self.now();
        if self.model.must_repeat_stop(now) {
            self.request_stop();
        }
    }

    fn request_stop(&mut self) {
        let http = self.http.clone();
        self.requests.spawn(async move { Update::StopAnswered(http.stop().await) });
    }

    fn save_incident(&mut self, mission: MissionId) {
        let (http, to) = (self.http.clone(), SaveTo::Folder(self.folder.clone()));
        self.model.note(Tone::Quiet, "The incident is being saved.");
        self.requests.spawn(async move { Update::IncidentSaved(save(&http, &mission, to).await) });
    }

    fn command(&mut self, command: cortex_protocol::Command, seen: Seen) {
        let http = self.http.clone();
        let request = CommandRequest { id: Uuid::new_v4(), seen: Some(seen), command };
        self.model.note(Tone::Quiet, "Sent; no answer yet.");
        self.requests.spawn(async move { Update::Answered(http.command(&request).await) });
    }
}
