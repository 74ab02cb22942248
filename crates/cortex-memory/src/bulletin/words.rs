//! The entries of the bulletin in words.

use crate::episode::{Episode, Outcome};
use crate::fact::Fact;
use crate::observation::{Source, SourceKind, Value};
use crate::phrases::line;
use crate::render::value;

/// Most characters of who the robot is, of a place, and of any other text.
const IDENTITY_CHARACTERS: usize = 240;
const PLACE_CHARACTERS: usize = 120;
const TEXT_CHARACTERS: usize = 80;

/// A text of the world between quotation marks, cut, on one line. It can't end before they do.
pub(super) fn said(text: &str) -> String {
    format!("'{}'", shortened(&line(text), TEXT_CHARACTERS).replace('\'', "\u{2019}"))
}

/// A name of the world: as it is where it is plain words, between quotation marks where it is more.
fn name(text: &str) -> String {
    let is_plain = |letter: char| letter.is_alphanumeric() || matches!(letter, ' ' | '-' | '_' | '/');
    if text.chars().all(is_plain) { shortened(&line(text), TEXT_CHARACTERS) } else { said(text) }
}

/// Who says so.
pub(super) fn source(source: &Source) -> String {
    let by = name(&source.name);
    match source.kind {
        SourceKind::Sensor => by,
        SourceKind::Person => format!("{by} (a person)"),
        SourceKind::Model => format!("{by} (an opinion of a model)"),
    }
}

/// A place with the names of maps in it: between quotation marks where one could begin a part of the bulletin.
fn place(text: &str) -> String {
    let text = shortened(&line(text), PLACE_CHARACTERS);
    let is_plain = !text.contains(['\'', ';', '"']) && !text.contains(". ");
    if is_plain { text } else { format!("'{}'", text.replace('\'', "\u{2019}")) }
}

pub(super) fn statement(fact: &Fact) -> String {
    let value = match &fact.value {
        Value::Text(text) => name(text),
        Value::Number(_) | Value::Flag(_) | Value::AtPose => place(&value(fact)),
    };
    format!("{} {} {value}", name(&fact.subject), name(&fact.relation))
}

/// How a task ended. None: it goes on.
pub(super) fn ended(episode: &Episode) -> Option<String> {
    let ended = episode.ended.as_ref()?;
    let how = match ended.outcome {
        Outcome::Succeeded => "succeeded",
        Outcome::Failed => "failed",
        Outcome::Cancelled => "was cancelled",
        Outcome::Interrupted => "was interrupted",
    };
    Some(format!("{} {how}, {}", said(&episode.task), ended.at.rfc3339()))
}

/// Who the robot is. None: nothing is known of it.
pub(super) fn identity(text: &str) -> Option<String> {
    let text = text.trim().trim_end_matches('.');
    (!text.is_empty()).then(|| shortened(&line(text), IDENTITY_CHARACTERS))
}

fn shortened(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}...", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}
