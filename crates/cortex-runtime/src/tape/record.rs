//! One line of a tape: a CloudEvent that holds what was published, or an [`Entry`] of the tape's own.

use std::borrow::Cow;
use std::time::{Duration, SystemTime};

use cortex_core::fragment::capped;
use cortex_core::mission::MissionSetup;
use cortex_core::{Effect, Input};
use cortex_protocol::event::{EventData, SPEC_VERSION};
use cortex_protocol::words::counted;
use cortex_protocol::{CloudEvent, ComponentName, EventId, MissionEvent, MissionId, MissionStatus, Origin};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use uuid::Uuid;

use super::TapeError;
use super::chain::LINK_BYTES;
use crate::envelope::Envelope;

/// The version of the format that this Cortex writes. A newer one is not read; an older one is.
///
/// Counts on whenever an input, an effect or an event is added or can't be read any more as it was. (2: meters,
/// revisions of a task, conditions. 3: changes of the tools as differences, accounts, questions to people.
/// 4: each line carries the hash of the line before. 5: what a second model says of a plan, the name of the model.)
pub const VERSION: u32 = 5;
/// Longest line, in bytes. An outcome of a tool may have 4 MiB, and twice that or more once it is escaped; what is longer
/// is cut.
pub(super) const MAX_LINE_BYTES: usize = 16 * 1024 * 1024;
/// How much of a payload that was cut stays, in bytes.
const KEPT_OF_CUT: usize = 4 * 1024;
/// Most characters of a value in a readable line.
const SHOWN: usize = 200;

/// One line of a tape, in the attributes of [`CloudEvent`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Record<Payload = Value> {
    /// The version of CloudEvents.
    pub specversion: String,
    /// Unique without coordination. What was published has the id under which it was.
    pub id: EventId,
    /// The robot and node: `/{robot}/cortex`.
    pub source: String,
    /// `cortex.{event}.{action}`.
    #[serde(rename = "type")]
    pub kind: String,
    /// The mission.
    pub subject: MissionId,
    /// RFC 3339, UTC.
    pub time: String,
    /// `application/json`.
    pub datacontenttype: String,
    /// The subsystem that produced it.
    pub provider: String,
    /// The domain: `mission`, `step`, and `input`, `effect`, `tape` for the tape's own lines.
    pub event: String,
    /// What happened to it.
    pub action: String,
    /// Who caused it.
    pub actor: String,
    /// Counts what was published of the mission, from 1. None on the tape's own lines.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sequence: Option<u64>,
    /// Counts the lines of the tape, from 1.
    pub line: u64,
    /// The id of the input that caused it, for what an input caused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub causationid: Option<EventId>,
    /// The body.
    pub data: RecordData<Payload>,
    /// SHA-256 over the line before, without the end of the line, in hexadecimal digits. None on the first line, and in
    /// formats before 4. The writer adds it to lines that are made without.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub previous: Option<String>,
}

/// The body of a line.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RecordData<Payload = Value> {
    /// Where the mission came from.
    pub origin: Origin,
    /// One readable line.
    pub text: String,
    /// A [`MissionEvent`] or an [`Entry`].
    pub payload: Payload,
}

/// What a tape holds besides the published events.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "tape", rename_all = "snake_case")]
pub enum Entry<'a> {
    /// The first line.
    Opened {
        /// [`VERSION`].
        version: u32,
        /// The version of Cortex.
        cortex: String,
        /// Whether it was rehearsed: what acts was not called.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        dry_run: bool,
    },
    /// What the mission starts with.
    Setup {
        /// Everything that the machine is made of.
        setup: Box<Cow<'a, MissionSetup>>,
        /// The model that is asked, as people name it. Empty on tapes that were recorded before it was noted.
        #[serde(default, skip_serializing_if = "str::is_empty")]
        model: Cow<'a, str>,
    },
    /// What the machine was given.
    Input {
        /// The time that it was given with it, since the mission began.
        at: Duration,
        /// What.
        input: Cow<'a, Input>,
    },
    /// What the machine wants done; written before it is. Events that are published stand for themselves.
    Effect {
        /// What.
        effect: Cow<'a, Effect>,
    },
    /// A payload that was too long for a line. It can't be replayed.
    Cut {
        /// How long the line would have been.
        bytes: u64,
        /// The beginning of the payload's JSON.
        beginning: String,
    },
    /// The end of the tape was torn by a crash, and was cut.
    Repaired {
        /// How much was cut.
        bytes: u64,
    },
    /// A person says that the mission, which has ended, did not do what was asked. Its verification no longer counts.
    Disputed {
        /// What was not as it should be.
        reason: String,
        /// Who says so.
        by: Origin,
        /// How the mission had ended.
        status: MissionStatus,
    },
    /// The last line, unless the mission is disputed afterwards.
    Closed {
        /// How the mission ended.
        status: MissionStatus,
    },
}

/// What a line holds.
#[derive(Debug, Clone, PartialEq)]
pub enum Body {
    /// Something that was published.
    Published(MissionEvent),
    /// Something of the tape's own.
    Entry(Entry<'static>),
}

impl Record {
    /// What the line holds.
    ///
    /// # Errors
    /// [`TapeError::Unreadable`] for a payload that this Cortex does not know.
    pub fn body(&self) -> Result<Body, TapeError> {
        let payload = &self.data.payload;
        let body = if payload.get("tape").is_some() {
            Entry::deserialize(payload).map(Body::Entry)
        } else {
            MissionEvent::deserialize(payload).map(Body::Published)
        };
        body.map_err(|problem| TapeError::Unreadable { line: self.line, problem: words(&problem.to_string()) })
    }

    /// What was published, if the line holds all of it.
    #[must_use]
    pub fn into_event(self) -> Option<CloudEvent> {
        let sequence = self.sequence?;
        let Ok(Body::Published(payload)) = self.body() else { return None };
        Some(CloudEvent {
            specversion: self.specversion,
            id: self.id,
            source: self.source,
            kind: self.kind,
            subject: self.subject,
            time: self.time,
            datacontenttype: self.datacontenttype,
            provider: self.provider,
            event: self.event,
            action: self.action,
            actor: self.actor,
            sequence,
            data: EventData { origin: self.data.origin, text: self.data.text, payload },
        })
    }

    /// Whether the line tells people what happened, or was about to: not the machine's inner workings.
    #[must_use]
    pub fn is_for_people(&self) -> bool {
        let is_dry_run = self.data.payload.get("dry_run") == Some(&Value::Bool(true));
        match self.kind.as_str() {
            "cortex.effect.invoke" | "cortex.tape.repaired" | "cortex.tape.disputed" => true,
            "cortex.tape.opened" => is_dry_run,
            _ => self.sequence.is_some(),
        }
    }
}

/// What is wrong with a line, without what a terminal would obey and at a readable length: it may quote the line.
pub(super) fn words(problem: &str) -> String {
    let line: String = problem.chars().map(|letter| if letter.is_control() { ' ' } else { letter }).collect();
    capped(&line, SHOWN)
}

/// Provider, event, action and actor of a line.
type Routing = (&'static str, &'static str, &'static str, &'static str);

/// An entry as a line, and the id under which it is there.
pub(super) fn entry_line(
    envelope: &Envelope,
    line: u64,
    cause: Option<&EventId>,
    entry: &Entry<'_>,
) -> (EventId, Vec<u8>) {
    let (provider, event, action, actor) = routing(entry);
    let id = EventId::new(Uuid::now_v7().to_string());
    let record = Record {
        specversion: SPEC_VERSION.to_owned(),
        id: id.clone(),
        source: envelope.source().to_owned(),
        kind: format!("cortex.{event}.{action}"),
        subject: envelope.mission().clone(),
        time: humantime::format_rfc3339_micros(SystemTime::now()).to_string(),
        datacontenttype: "application/json".to_owned(),
        provider: provider.to_owned(),
        event: event.to_owned(),
        action: action.to_owned(),
        actor: actor.to_owned(),
        sequence: None,
        line,
        causationid: cause.cloned(),
        data: RecordData { origin: envelope.origin().clone(), text: text(entry), payload: entry },
        previous: None,
    };
    (id, as_line(&record))
}

/// A published event as a line.
pub(super) fn published_line(event: &CloudEvent, line: u64, cause: Option<&EventId>) -> Vec<u8> {
    as_line(&Record {
        specversion: event.specversion.clone(),
        id: event.id.clone(),
        source: event.source.clone(),
        kind: event.kind.clone(),
        subject: event.subject.clone(),
        time: event.time.clone(),
        datacontenttype: event.datacontenttype.clone(),
        provider: event.provider.clone(),
        event: event.event.clone(),
        action: event.action.clone(),
        actor: event.actor.clone(),
        sequence: Some(event.sequence),
        line,
        causationid: cause.cloned(),
        data: RecordData {
            origin: event.data.origin.clone(),
            text: event.data.text.clone(),
            payload: &event.data.payload,
        },
        previous: None,
    })
}

/// The line with its end, its payload cut if it is too long.
fn as_line<Payload: Serialize>(record: &Record<Payload>) -> Vec<u8> {
    let mut line = json(record);
    if line.len() + LINK_BYTES >= MAX_LINE_BYTES {
        let payload = json(&record.data.payload);
        let beginning = payload.get(..KEPT_OF_CUT).unwrap_or(&payload);
        let cut = Entry::Cut {
            bytes: u64::try_from(line.len()).unwrap_or(u64::MAX),
            beginning: String::from_utf8_lossy(beginning).into_owned(),
        };
        let data = RecordData {
            origin: record.data.origin.clone(),
            text: format!("{} (cut)", capped(&record.data.text, SHOWN)),
            payload: cut,
        };
        line = json(&with_data(record, data));
    }
    line.push(b'\n');
    line
}

fn with_data<Old, New>(record: &Record<Old>, data: RecordData<New>) -> Record<New> {
    Record {
        specversion: record.specversion.clone(),
        id: record.id.clone(),
        source: record.source.clone(),
        kind: record.kind.clone(),
        subject: record.subject.clone(),
        time: record.time.clone(),
        datacontenttype: record.datacontenttype.clone(),
        provider: record.provider.clone(),
        event: record.event.clone(),
        action: record.action.clone(),
        actor: record.actor.clone(),
        sequence: record.sequence,
        line: record.line,
        causationid: record.causationid.clone(),
        data,
        previous: None,
    }
}

/// The value as JSON on one line. Our own types can always be written: their keys are text, their numbers finite.
fn json(value: &impl Serialize) -> Vec<u8> {
    serde_json::to_vec(value).unwrap_or_else(|problem| {
        tracing::error!("a line of the tape can't be written as JSON: {problem}");
        b"{}".to_vec()
    })
}

fn routing(entry: &Entry<'_>) -> Routing {
    match entry {
        Entry::Opened { .. } => ("system", "tape", "opened", "cortex"),
        Entry::Setup { .. } => ("system", "tape", "setup", "cortex"),
        Entry::Cut { .. } => ("system", "tape", "cut", "cortex"),
        Entry::Repaired { .. } => ("system", "tape", "repaired", "cortex"),
        Entry::Disputed { .. } => ("agent", "tape", "disputed", "user"),
        Entry::Closed { .. } => ("system", "tape", "closed", "cortex"),
        Entry::Input { input, .. } => match input.as_ref() {
            Input::Start => ("agent", "input", "start", "cortex"),
            Input::ModelReplied { .. } => ("agent", "input", "model_replied", "model"),
            Input::AnswerStreamed { .. } => ("agent", "input", "answer_streamed", "model"),
            Input::ContextGathered { .. } => ("agent", "input", "context_gathered", "cortex"),
            Input::CallAccepted { .. } => ("tool", "input", "call_accepted", "component"),
            Input::CallProgressed { .. } => ("tool", "input", "call_progressed", "component"),
            Input::CallEnded { .. } => ("tool", "input", "call_ended", "component"),
            Input::ToolsChanged { .. } => ("system", "input", "tools_changed", "component"),
            Input::ToolsDiffer { .. } => ("system", "input", "tools_differ", "component"),
            Input::AvailabilityChanged { .. } => ("system", "input", "contained", "cortex"),
            Input::Revise { .. } => ("system", "input", "revise", "user"),
            Input::Answered { .. } => ("agent", "input", "answered", "user"),
            Input::RobotState { .. } => ("system", "input", "robot_state", "component"),
            Input::Metered { .. } => ("system", "input", "metered", "component"),
            Input::Cancel { .. } => ("system", "input", "cancel", "user"),
            Input::GiveUp { .. } => ("system", "input", "give_up", "cortex"),
            Input::Tick => ("system", "input", "tick", "cortex"),
        },
        Entry::Effect { effect } => match effect.as_ref() {
            Effect::AskModel { .. } => ("agent", "effect", "ask_model", "cortex"),
            Effect::GatherContext { .. } => ("agent", "effect", "gather_context", "cortex"),
            Effect::AbandonModel { .. } => ("agent", "effect", "abandon_model", "cortex"),
            Effect::Invoke { .. } => ("tool", "effect", "invoke", "cortex"),
            Effect::CancelCall { .. } => ("tool", "effect", "cancel_call", "cortex"),
            Effect::AskPerson { .. } => ("agent", "effect", "ask_person", "cortex"),
            Effect::CloseQuestion { .. } => ("agent", "effect", "close_question", "cortex"),
            Effect::Say { .. } => ("agent", "effect", "say", "cortex"),
            Effect::Report { .. } => ("agent", "effect", "report", "cortex"),
            Effect::Finish { .. } => ("agent", "effect", "finish", "cortex"),
        },
    }
}

/// The entry in one line.
fn text(entry: &Entry<'_>) -> String {
    match entry {
        Entry::Opened { cortex, dry_run: false, .. } => format!("recorded by cortex {cortex}"),
        Entry::Opened { cortex, dry_run: true, .. } => {
            format!("DRY RUN, recorded by cortex {cortex}: what acts was not called, and nothing moved")
        }
        Entry::Setup { setup, model } => {
            let asks = if model.is_empty() { String::new() } else { format!(" and asks {}", capped(model, SHOWN)) };
            format!("the mission has {}{asks}", counted(setup.tools.iter().count(), "tool"))
        }
        Entry::Cut { bytes, .. } => format!("a line of {bytes} bytes was cut"),
        Entry::Repaired { bytes } => format!("the last line was torn by a crash; {bytes} bytes were cut"),
        Entry::Disputed { reason, status, .. } => {
            format!("DISPUTED, it had ended {status}; what it verified no longer counts: {}", capped(reason, SHOWN))
        }
        Entry::Closed { status } => format!("the tape ends: {status}"),
        Entry::Input { input, .. } => match input.as_ref() {
            Input::Start => "the mission begins".to_owned(),
            Input::ModelReplied { reply: Ok(reply), .. } => {
                format!("the model replied: {} {}", counted(reply.calls.len(), "call"), capped(&reply.text, SHOWN))
            }
            Input::ModelReplied { reply: Err(problem), .. } => {
                format!("the model failed: {}", capped(&problem.message, SHOWN))
            }
            Input::AnswerStreamed { text, .. } => format!("the answer goes on: {}", capped(text, SHOWN)),
            Input::ContextGathered { context, .. } => {
                format!("{} passages are on record", context.passages.len())
            }
            Input::CallAccepted { call } => format!("{call} was accepted"),
            Input::CallProgressed { call, feedback } => format!("{call}: {}", capped(feedback, SHOWN)),
            Input::CallEnded { call, outcome } => {
                format!("{call} ended: {:?} {}", outcome.status, capped(&outcome.message, SHOWN))
            }
            Input::ToolsChanged { tools } => match tools.iter().count() {
                1 => "there is 1 tool now".to_owned(),
                count => format!("there are {count} tools now"),
            },
            Input::ToolsDiffer { changes } => {
                format!("{} came or changed, {} left", counted(changes.set.len(), "tool"), changes.removed.len())
            }
            Input::AvailabilityChanged { availability } => {
                let components: Vec<&str> = availability.quarantined().keys().map(ComponentName::as_str).collect();
                let paused = if availability.paused().is_some() { "; the missions are paused" } else { "" };
                let control = availability.control().reason().map(|because| format!("; {}", capped(because, SHOWN)));
                format!("in quarantine: [{}]{paused}{}", components.join(", "), control.unwrap_or_default())
            }
            Input::Revise { text, .. } => format!("revised by a person: {}", capped(text, SHOWN)),
            Input::Answered { number, answer, .. } => format!("question {} was answered: {answer:?}", number.0),
            Input::RobotState { .. } => "what policy asks of the robot and of the time has changed".to_owned(),
            Input::Metered { expense, total, is_live: true } => format!("{total:.3} {expense} so far"),
            Input::Metered { expense, total, is_live: false } => {
                format!("nothing measures the {expense} any more, after {total:.3}")
            }
            Input::Cancel { reason } => format!("ended from outside: {reason:?}"),
            Input::GiveUp { reason } => format!("given up: {}", capped(reason, SHOWN)),
            Input::Tick => "time passes".to_owned(),
        },
        Entry::Effect { effect } => match effect.as_ref() {
            Effect::AskModel { request, chat } => {
                format!("asking the model, request {}: {:?}", request.0, chat.purpose)
            }
            Effect::GatherContext { query, .. } => {
                format!("asking what is on record for: {}", capped(&query.task, SHOWN))
            }
            Effect::AbandonModel { request } => format!("dropping request {} to the model", request.0),
            Effect::Invoke { call, tool_call, .. } => {
                let arguments = Value::Object(tool_call.arguments.clone()).to_string();
                format!("about to begin {call}: {} {}", tool_call.tool, capped(&arguments, SHOWN))
            }
            Effect::CancelCall { call } => format!("ending {call}"),
            Effect::AskPerson { question } => {
                format!("asking people, question {}: {}", question.number.0, capped(&question.text, SHOWN))
            }
            Effect::CloseQuestion { number, .. } => format!("closing question {}", number.0),
            Effect::Say { text, .. } => format!("saying: {}", capped(text, SHOWN)),
            Effect::Report { .. } => "reporting".to_owned(),
            Effect::Finish { result } => format!("the result is out: {}", result.status),
        },
    }
}
