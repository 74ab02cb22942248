//! Frames of the live stream, put together from parts that are encoded already.

use std::fmt::Write as _;
use std::sync::Arc;

use super::lines::NewLines;
use super::recent::Encoded;

/// A part of the picture that is sent when it has changed.
#[derive(Debug, Clone)]
pub(crate) struct Part {
    pub(crate) json: Arc<str>,
    /// The number of the frame in which it changed.
    pub(crate) since: u64,
}

impl Part {
    pub(crate) fn new(json: String, since: u64) -> Self {
        Self { json: json.into(), since }
    }

    /// Takes another value.
    pub(crate) fn set(&mut self, json: String, number: u64) {
        if *self.json != *json {
            *self = Self::new(json, number);
        }
    }
}

/// A frame that is being written.
pub(crate) struct Frame(String);

impl Frame {
    pub(crate) fn new(number: u64, at_ms: u64) -> Self {
        Self(format!("{{\"frame\":{number},\"at_ms\":{at_ms}"))
    }

    /// Adds JSON under a name.
    pub(crate) fn add(mut self, name: &str, json: &str) -> Self {
        let _ = write!(self.0, ",\"{name}\":{json}");
        self
    }

    /// Adds a part if it has changed since the frame that the client had last.
    pub(crate) fn add_changed(self, name: &str, part: &Part, had: Option<u64>) -> Self {
        if had.is_some_and(|had| part.since <= had) { self } else { self.add(name, &part.json) }
    }

    /// Adds events, and how many are missing before them.
    pub(crate) fn add_events(mut self, missed: u64, events: &[Encoded]) -> Self {
        if missed > 0 {
            let _ = write!(self.0, ",\"missed\":{missed}");
        }
        for (at, event) in events.iter().enumerate() {
            self.0.push_str(if at == 0 { ",\"events\":[" } else { "," });
            self.0.push_str(&event.json);
        }
        if !events.is_empty() {
            self.0.push(']');
        }
        self
    }

    /// Adds lines of the log, and how many before them are left out.
    pub(crate) fn add_lines(mut self, new: &NewLines) -> Self {
        if new.left_out > 0 {
            let _ = write!(self.0, ",\"logs_missed\":{}", new.left_out);
        }
        for (at, line) in new.lines.iter().enumerate() {
            self.0.push_str(if at == 0 { ",\"logs\":[" } else { "," });
            self.0.push_str(line);
        }
        if !new.lines.is_empty() {
            self.0.push(']');
        }
        self
    }

    pub(crate) fn end(mut self) -> String {
        self.0.push('}');
        self.0
    }
}
