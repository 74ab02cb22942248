//! What the HTTP API and the live stream of Cortex say, as far as the view needs it.
//!
//! Fields that a newer Cortex adds are passed over; a part that cannot be read is an error of that part alone.

use cortex_protocol::overview::{OVERVIEW_VERSION, Overview};
use cortex_protocol::{CloudEvent, Command, CommandOutcome, MissionId, OpenQuestion, Role, strict_json};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use thiserror::Error;
use uuid::Uuid;

/// Longest frame of the live stream, in bytes.
pub(crate) const FRAME_BYTES: usize = 16 << 20;

/// What of the robot's state commands depend on.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Basis {
    /// How often the robot was stopped since Cortex runs.
    pub stops: u64,
    /// Whether it is stopped.
    pub stopped: bool,
    /// The mission that runs.
    pub mission: Option<MissionId>,
    /// The plan that it carries out, from 1. 0: none.
    pub plan: u32,
    /// How often the controls have changed hands.
    #[serde(default)]
    pub control: u64,
}

/// What the person was looking at when they gave a command.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Seen {
    /// The number of the frame of the live stream.
    pub frame: u64,
    /// The robot's state that the decision rests on.
    pub basis: Basis,
}

/// The body of `POST /api/v1/commands`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct CommandRequest {
    /// The same command with the same id is carried out once.
    pub id: Uuid,
    /// What its sender was looking at.
    pub seen: Option<Seen>,
    /// What is asked for.
    pub command: Command,
}

/// Why a request was refused, in the server's words.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub(crate) struct ApiError {
    /// For programs.
    pub kind: String,
    /// For people: what happened, and what to do.
    pub reason: String,
}

/// Why a request came to nothing.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub(crate) enum RequestError {
    /// The server refuses. Nothing has changed then.
    #[error("{}", .0.reason)]
    Refused(ApiError),
    /// There was no answer, or none that can be read.
    #[error("{0}")]
    Failed(String),
}

/// Who the server takes this client for.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub(crate) struct You {
    /// The name of the session.
    pub name: String,
    /// What it may do.
    pub role: Role,
}

/// What came of a STOP.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum StopAnswer {
    /// It was carried out.
    Outcome(CommandOutcome),
    /// It was not.
    Error(ApiError),
}

/// An event: what was read of it, and the JSON as it came.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ReceivedEvent {
    /// As this program reads it. None: a kind of event that this program does not know.
    pub event: Option<Box<CloudEvent>>,
    /// As it came.
    pub json: Value,
}

impl ReceivedEvent {
    /// The event's id, also of one that cannot be read otherwise.
    #[must_use]
    pub(crate) fn id(&self) -> Option<&str> {
        self.json.get("id").and_then(Value::as_str)
    }
}

impl From<Value> for ReceivedEvent {
    fn from(json: Value) -> Self {
        Self { event: CloudEvent::deserialize(&json).ok().map(Box::new), json }
    }
}

/// One frame of the live stream.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Frame {
    /// Its number.
    pub frame: u64,
    /// When it was made, by the server's clock, in milliseconds since 1970.
    pub at_ms: u64,
    /// The overview, if it has changed.
    pub overview: Option<Box<Overview>>,
    /// The basis, if it has changed.
    pub basis: Option<Basis>,
    /// The open questions, if they have changed.
    pub questions: Option<Vec<OpenQuestion>>,
    /// Events, in order.
    pub events: Vec<ReceivedEvent>,
    /// How many events before these could not be had.
    pub missed: u64,
    /// Who this client is; in the first frame.
    pub you: Option<You>,
    /// The answer to this client's STOP.
    pub stop: Option<StopAnswer>,
    /// Parts that this program cannot read, by name.
    pub unreadable: Vec<&'static str>,
}

#[derive(Deserialize)]
struct Written {
    frame: u64,
    at_ms: u64,
    overview: Option<Value>,
    basis: Option<Value>,
    questions: Option<Value>,
    #[serde(default)]
    events: Vec<Value>,
    #[serde(default)]
    missed: u64,
    you: Option<Value>,
    stop: Option<Value>,
}

impl Frame {
    /// Reads a frame. A part that cannot be read is left out, and named in [`unreadable`](Self::unreadable).
    ///
    /// # Errors
    /// When it is no JSON, or has no number and time.
    pub(crate) fn read(text: &str) -> serde_json::Result<Self> {
        let written: Written = strict_json::read(text)?;
        let mut unreadable = Vec::new();
        let frame = Self {
            frame: written.frame,
            at_ms: written.at_ms,
            overview: part(written.overview.map(of_this_version), "overview", &mut unreadable),
            basis: part(written.basis, "basis", &mut unreadable),
            questions: part(written.questions, "questions", &mut unreadable),
            events: written.events.into_iter().map(ReceivedEvent::from).collect(),
            missed: written.missed,
            you: part(written.you, "you", &mut unreadable),
            stop: part(written.stop, "stop", &mut unreadable),
            unreadable: Vec::new(),
        };
        Ok(Self { unreadable, ..frame })
    }
}

/// The overview, unless it is of another version: that would mislead whoever reads it as this one.
fn of_this_version(overview: Value) -> Value {
    let is_known = overview.get("version").and_then(Value::as_u64) == Some(OVERVIEW_VERSION.into());
    if is_known { overview } else { Value::Null }
}

fn part<T: serde::de::DeserializeOwned>(
    value: Option<Value>,
    name: &'static str,
    unreadable: &mut Vec<&'static str>,
) -> Option<T> {
    let read = serde_json::from_value(value?);
    if read.is_err() {
        unreadable.push(name);
    }
    read.ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_that_a_newer_cortex_writes_otherwise_takes_no_other_part_with_it() {
        let frame = Frame::read(
            r#"{"frame":7,"at_ms":9,"new":1,"basis":{"stops":"two"},"events":[{"id":"e","odd":true}],
                "stop":{"error":{"kind":"busy","reason":"Later."}}}"#,
        )
        .unwrap();
        assert_eq!((frame.frame, frame.basis, frame.unreadable), (7, None, vec!["basis"]));
        assert_eq!((frame.events[0].id(), &frame.events[0].event), (Some("e"), &None));
        let error = ApiError { kind: "busy".to_owned(), reason: "Later.".to_owned() };
        assert_eq!(frame.stop, Some(StopAnswer::Error(error)));
    }

    #[test]
    fn an_overview_of_another_version_is_not_read_as_one_of_this() {
        let mut frame = serde_json::json!({"frame": 1, "at_ms": 1, "overview": crate::made::overview()});
        assert!(Frame::read(&frame.to_string()).unwrap().overview.is_some());
        frame["overview"]["version"] = 2.into();
        let frame = Frame::read(&frame.to_string()).unwrap();
        assert_eq!((frame.overview, frame.unreadable), (None, vec!["overview"]));
    }

    #[test]
    fn text_that_is_no_frame_or_says_two_things_is_refused() {
        for text in ["", "[]", "{}", r#"{"frame":1}"#, r#"{"frame":1,"frame":2,"at_ms":1}"#] {
            assert!(Frame::read(text).is_err(), "{text}");
        }
    }
}
