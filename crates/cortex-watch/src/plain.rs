//! What happens, as lines for programs, files and people without a screen: one line an event.

use std::io::{self, Write as _};
use std::thread;
use std::time::{Duration, UNIX_EPOCH};

use cortex_protocol::overview::{Overview, ReadinessOverview, StopOverview};
use tokio::sync::mpsc;

use crate::error::WatchError;
use crate::model::Update;
use crate::text::{exact_json, one_line};
use crate::wire::{Frame, ReceivedEvent};

/// Lines that may wait for whoever reads them.
const LINES: usize = 256;
/// The end of a mission's id that stands in a line.
const ID_CHARACTERS: usize = 8;

/// What is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    /// Lines for people.
    Text,
    /// The events as they are, as CloudEvents in JSON.
    Json,
}

/// Turns updates into lines. Pure.
#[derive(Debug)]
pub(crate) struct Lines {
    format: Format,
    stop: Option<StopOverview>,
    readiness: Option<ReadinessOverview>,
    is_lost: bool,
}

/// What is to be written, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Line {
    /// A result: standard output.
    Out(String),
    /// About the connection: standard error.
    About(String),
}

impl Lines {
    pub(crate) fn new(format: Format) -> Self {
        Self { format, stop: None, readiness: None, is_lost: false }
    }

    pub(crate) fn take(&mut self, update: &Update) -> Vec<Line> {
        let mut lines = Vec::new();
        match update {
            Update::Frame(frame) => self.take_frame(frame, &mut lines),
            Update::History(events) => self.take_events(events, &mut lines),
            // Each try that fails would say the same.
            Update::Lost { reason } if !self.is_lost => {
                self.is_lost = true;
                lines.push(Line::About(format!("no connection: {}. It is being made again.", one_line(reason))));
            }
            Update::Lost { .. } | Update::Answered(_) | Update::StopAnswered(_) | Update::IncidentSaved(_) => {}
        }
        lines
    }

    fn take_frame(&mut self, frame: &Frame, lines: &mut Vec<Line>) {
        if std::mem::take(&mut self.is_lost) {
            lines.push(Line::About("the connection is there again".to_owned()));
        }
        if frame.missed > 0 {
            lines.push(Line::About(format!("{} events can't be had any more", frame.missed)));
        }
        if let Some(overview) = frame.overview.as_ref().filter(|_| self.format == Format::Text) {
            self.take_overview(overview, frame.at_ms, lines);
        }
        self.take_events(&frame.events, lines);
    }

    fn take_overview(&mut self, overview: &Overview, at_ms: u64, lines: &mut Vec<Line>) {
        let mut say = |text: String| lines.push(Line::Out(format!("{} {:8} {text}", clock(at_ms), "robot")));
        let stop = &overview.stop;
        if self.stop.as_ref() != Some(stop) {
            let was_stopped = self.stop.as_ref().is_some_and(|before| before.stopped);
            if stop.stopped {
                let moving: Vec<String> = stop.not_stopped.iter().map(|tool| one_line(tool.as_str())).collect();
                let moving =
                    if moving.is_empty() { String::new() } else { format!("; NOT STOPPED: {}", moving.join(", ")) };
                say(format!("STOPPED: {}{moving}", one_line(&stop.why)));
            } else if was_stopped {
                say("resumed".to_owned());
            }
            self.stop = Some(stop.clone());
        }
        let readiness = &overview.readiness;
        if self.readiness.as_ref() != Some(readiness) {
            say(one_line(&readiness.to_string()));
            self.readiness = Some(readiness.clone());
        }
    }

    fn take_events(&self, events: &[ReceivedEvent], lines: &mut Vec<Line>) {
        lines.extend(events.iter().map(|received| match (self.format, &received.event) {
            (Format::Json, _) => Line::Out(exact_json(&received.json)),
            (Format::Text, Some(event)) => {
                let time = one_line(event.time.split('.').next().unwrap_or_default());
                let zone = if time.ends_with('Z') { "" } else { "Z" };
                let id: String = event.subject.as_str().chars().rev().take(ID_CHARACTERS).collect();
                let id: String = id.chars().rev().collect();
                Line::Out(format!("{time}{zone} {:8} {}", one_line(&id), one_line(&event.data.text)))
            }
            (Format::Text, None) => {
                let id = one_line(received.id().unwrap_or("without an id"));
                Line::Out(format!("an event that this program does not know: {id}"))
            }
        }));
    }
}

fn clock(at_ms: u64) -> String {
    let time = UNIX_EPOCH.checked_add(Duration::from_millis(at_ms)).unwrap_or(UNIX_EPOCH);
    humantime::format_rfc3339_seconds(time).to_string()
}

/// Writes lines until nobody reads them, or no update comes any more.
///
/// # Errors
/// When no thread can be started.
pub(crate) async fn print(mut updates: mpsc::Receiver<Update>, format: Format) -> Result<(), WatchError> {
    // On a thread of its own: whoever reads slowly does not keep signals from ending the program.
    let (sender, mut wanted) = mpsc::channel::<Line>(LINES);
    let writer = thread::Builder::new().name("watch-print".to_owned());
    let writing = writer.spawn(move || {
        while let Some(line) = wanted.blocking_recv() {
            if write(&line).is_err() {
                return;
            }
        }
    });
    writing.map_err(WatchError::Start)?;
    let mut lines = Lines::new(format);
    loop {
        let update = tokio::select! {
            () = sender.closed() => return Ok(()),
            update = updates.recv() => update,
        };
        let Some(update) = update else { return Ok(()) };
        for line in lines.take(&update) {
            if sender.send(line).await.is_err() {
                return Ok(());
            }
        }
    }
}

fn write(line: &Line) -> io::Result<()> {
    match line {
        Line::Out(line) => {
            let mut out = io::stdout().lock();
            writeln!(out, "{line}")?;
            out.flush()
        }
        Line::About(line) => writeln!(io::stderr().lock(), "cortex watch: {line}"),
    }
}

#[cfg(test)]
mod tests;
