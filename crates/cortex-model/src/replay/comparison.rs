//! What of a request to a model counts when it is looked for in a recording.
//!
//! All of it, but for what differs from run to run of the same mission:
//!
//! - the ids of calls, which match a call with its result;
//! - how long something took or takes: durations, and "12 s ago" in lines of the record;
//! - UUIDs, and times in the form of RFC 3339, within any text;
//! - the randomness that was asked for, and the bound of the tokens, which are settings.

use cortex_core::{ChatRequest, Fragment, Message};
use serde_json::{Map, Value};

/// Stands for what does not count.
const LEFT_OUT: &str = "...";
/// The end of a line of the record that says how long ago something was.
const AGO: &str = " s ago";

/// The person's words, where the request has them.
pub(super) fn task(request: &ChatRequest) -> Option<&str> {
    request.messages.iter().find_map(|message| match message {
        Message::System { fragments } | Message::User { fragments } => {
            fragments.iter().find_map(|fragment| match fragment {
                Fragment::Task { text } => Some(text.as_str()),
                _ => None,
            })
        }
        Message::Assistant { .. } | Message::Tool { .. } => None,
    })
}

/// What counts of a request.
pub(super) fn compared(request: &ChatRequest) -> Value {
    let mut request = request.clone();
    request.messages.iter_mut().for_each(without_run);
    // Our own types can always be written: their keys are text.
    let mut value = serde_json::to_value(request).unwrap_or_default();
    if let Value::Object(fields) = &mut value {
        fields.remove("temperature");
        fields.remove("max_tokens");
    }
    fold(&mut value);
    value
}

/// Takes the ids of calls and the ages of the record out of a message.
fn without_run(message: &mut Message) {
    match message {
        Message::System { fragments } | Message::User { fragments } => {
            for fragment in fragments {
                match fragment {
                    Fragment::Brief { lines } => lines.iter_mut().for_each(|line| *line = without_ages(line)),
                    Fragment::InFlight { goals, .. } => {
                        goals.iter_mut().for_each(|goal| goal.call = cortex_protocol::CallId::default());
                    }
                    _ => {}
                }
            }
        }
        Message::Assistant { calls, .. } => calls.iter_mut().for_each(|call| call.id.clear()),
        Message::Tool { id, .. } => id.clear(),
    }
}

/// `12 s ago` without the number.
fn without_ages(line: &str) -> String {
    let parts: Vec<&str> = line.split(AGO).collect();
    let last = parts.len().saturating_sub(1);
    let without = |(at, part): (usize, &&str)| match at {
        at if at == last => (*part).to_owned(),
        _ => format!("{}{LEFT_OUT}{AGO}", part.trim_end_matches(|letter: char| letter.is_ascii_digit())),
    };
    parts.iter().enumerate().map(without).collect()
}

/// Takes durations, UUIDs and times out of a value.
fn fold(value: &mut Value) {
    match value {
        Value::Object(fields) if is_duration(fields) => *value = Value::from(LEFT_OUT),
        Value::Object(fields) => fields.values_mut().for_each(fold),
        Value::Array(values) => values.iter_mut().for_each(fold),
        Value::String(text) => {
            if let Some(folded) = folded(text) {
                *text = folded;
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn is_duration(fields: &Map<String, Value>) -> bool {
    fields.len() == 2 && ["secs", "nanos"].iter().all(|key| fields.get(*key).is_some_and(Value::is_u64))
}

/// The text without UUIDs and times. None where it has none of them.
fn folded(text: &str) -> Option<String> {
    let belongs = |letter: char| letter.is_ascii_alphanumeric() || "-:.+".contains(letter);
    let mut folded = String::new();
    let mut has_any = false;
    let mut rest = text;
    while !rest.is_empty() {
        let end = rest.find(|letter| !belongs(letter)).unwrap_or(rest.len());
        let (word, after) = rest.split_at(end);
        let is_of_run = is_uuid(word) || is_time(word);
        has_any |= is_of_run;
        folded.push_str(if is_of_run { LEFT_OUT } else { word });
        let next = after.find(belongs).unwrap_or(after.len());
        let (between, further) = after.split_at(next);
        folded.push_str(between);
        rest = further;
    }
    has_any.then_some(folded)
}

/// Whether a word has this form: `h` stands for a hexadecimal digit, `d` for a decimal one, anything else for itself.
fn has_form(word: &str, form: &str) -> bool {
    word.len() == form.len()
        && word.bytes().zip(form.bytes()).all(|(letter, wanted)| match wanted {
            b'h' => letter.is_ascii_hexdigit(),
            b'd' => letter.is_ascii_digit(),
            wanted => letter == wanted,
        })
}

fn is_uuid(word: &str) -> bool {
    has_form(word, "hhhhhhhh-hhhh-hhhh-hhhh-hhhhhhhhhhhh")
}

fn is_time(word: &str) -> bool {
    const FORM: &str = "dddd-dd-ddTdd:dd";
    word.get(..FORM.len()).is_some_and(|beginning| has_form(beginning, FORM))
}

/// Where two requests differ first, and at how many places in all.
pub(super) struct Difference {
    pub(super) count: usize,
    pub(super) path: String,
    pub(super) recorded: String,
    pub(super) now: String,
}

/// None: they do not differ.
pub(super) fn first_difference(recorded: &Value, now: &Value) -> Option<Difference> {
    let mut found = None;
    compare(recorded, now, String::new(), &mut found);
    found
}

fn compare(recorded: &Value, now: &Value, path: String, found: &mut Option<Difference>) {
    match (recorded, now) {
        (Value::Object(one), Value::Object(other)) => {
            let missing = other.keys().filter(|key| !one.contains_key(*key));
            for key in one.keys().chain(missing) {
                let at = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
                let of = |fields: &Map<String, Value>| fields.get(key).cloned().unwrap_or_default();
                compare(&of(one), &of(other), at, found);
            }
        }
        (Value::Array(one), Value::Array(other)) => {
            for index in 0..one.len().max(other.len()) {
                let of = |values: &[Value]| values.get(index).cloned().unwrap_or_default();
                compare(&of(one), &of(other), format!("{path}[{index}]"), found);
            }
        }
        _ if recorded == now => {}
        _ => match found {
            Some(difference) => difference.count += 1,
            None => *found = Some(Difference { count: 1, path, recorded: recorded.to_string(), now: now.to_string() }),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_and_times_are_taken_out_of_texts_and_nothing_else_is() {
        for (text, without) in [
            ("seen 2026-01-02T03:04:05.678Z by it", "seen ... by it"),
            ("mission 0199c3f0-7a00-7000-8000-000000000001/2", "mission .../2"),
            ("at 2026-01-02T03:04:05+01:00, and 2026-01-02T03:04:05Z", "at ..., and ..."),
        ] {
            assert_eq!(folded(text).as_deref(), Some(without));
        }
        for text in ["wait 5 s", "2026-01-02", "lamp-1.2:3", "", "Küche – Flur"] {
            assert_eq!(folded(text), None, "{text}");
        }
        assert_eq!(without_ages("a: SUCCESS 12 s ago; b 3 s ago: 5 s"), "a: SUCCESS ... s ago; b ... s ago: 5 s");
    }
}
