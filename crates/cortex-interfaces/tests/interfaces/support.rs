//! What the tests share.

use std::sync::{Arc, OnceLock};

use cortex_interfaces::{
    AmentIndex, FieldKind, Interfaces, Message, MessageInterface, MessageType, ReadError, ReadOptions, Timestamp,
    WriteOptions,
};
use serde_json::Value;

/// The time that "now" is in the tests.
pub(crate) const NOW: Timestamp = Timestamp { sec: 1000, nanosec: 500_000_000 };

/// The interfaces of this process.
pub(crate) fn interfaces() -> &'static Interfaces {
    static INTERFACES: OnceLock<Interfaces> = OnceLock::new();
    INTERFACES.get_or_init(Interfaces::from_environment)
}

/// A message by its full name, a part of a service (`pkg/srv/Name_Request`) or of an action included.
pub(crate) fn load(name: &str) -> Arc<MessageInterface> {
    load_from(interfaces(), name)
}

pub(crate) fn load_from(interfaces: &Interfaces, name: &str) -> Arc<MessageInterface> {
    let (stem, part) = name.rsplit_once('_').unwrap_or((name, ""));
    if name.contains("/msg/") {
        return interfaces.message(name).unwrap_or_else(|error| panic!("{error}"));
    }
    if name.contains("/srv/") {
        let service = interfaces.service(stem).unwrap_or_else(|error| panic!("{error}"));
        return match part {
            "Request" => Arc::clone(&service.request),
            _ => Arc::clone(&service.response),
        };
    }
    let inner = stem.trim_end_matches("_SendGoal").trim_end_matches("_GetResult");
    let action = interfaces.action(inner).unwrap_or_else(|error| panic!("{error}"));
    Arc::clone(match (name.strip_prefix(inner).unwrap_or_default(), part) {
        (_, "Goal") => &action.goal,
        (_, "Result") => &action.result,
        (_, "Feedback") => &action.feedback,
        (_, "FeedbackMessage") => &action.feedback_message,
        ("_SendGoal_Request", _) => &action.send_goal.request,
        ("_SendGoal_Response", _) => &action.send_goal.response,
        ("_GetResult_Request", _) => &action.get_result.request,
        _ => &action.get_result.response,
    })
}

/// The full names of all messages that are installed, and of all parts of services and actions.
pub(crate) fn all_names(index: &AmentIndex) -> Vec<String> {
    index
        .interfaces()
        .into_iter()
        .flat_map(|name| {
            let parts: &[&str] = match name.kind().as_str() {
                "msg" => &[""],
                "srv" => &["_Request", "_Response"],
                _ => &[
                    "_Goal",
                    "_Result",
                    "_Feedback",
                    "_FeedbackMessage",
                    "_SendGoal_Request",
                    "_SendGoal_Response",
                    "_GetResult_Request",
                    "_GetResult_Response",
                ],
            };
            parts.iter().map(move |part| format!("{name}{part}"))
        })
        .collect()
}

/// Reads exact JSON.
pub(crate) fn read(name: &str, value: &Value) -> Result<Message, ReadError> {
    Message::from_json(&load(name), value, &ReadOptions::exact())
}

/// The whole message as exact JSON.
pub(crate) fn written(message: &Message) -> Value {
    let written = message.view().to_json(&WriteOptions::exact());
    assert_eq!(written.left_out, []);
    written.value
}

/// The whole message as exact JSON, without base64.
pub(crate) fn written_as_numbers(message: &Message) -> Value {
    message.view().to_json(&WriteOptions { base64_over: usize::MAX, ..WriteOptions::exact() }).value
}

/// The tree with the narrow floats as `rclpy` has them: as wide ones of the same value, not of the same digits.
pub(crate) fn with_wide_floats(value: &Value, message_type: &MessageType) -> Value {
    let Value::Object(fields) = value else { return value.clone() };
    let widen = |element: &Value, kind: &FieldKind| match (kind, element.as_f64()) {
        #[expect(clippy::cast_possible_truncation, reason = "it was narrow before it was written")]
        (FieldKind::Float32, Some(number)) => Value::from(f64::from(number as f32)),
        (FieldKind::Message(nested), _) => with_wide_floats(element, nested),
        _ => element.clone(),
    };
    let widened = fields.iter().map(|(name, value)| {
        let kind = &message_type.field(name).unwrap().kind;
        let value = match value {
            Value::Array(elements) => elements.iter().map(|element| widen(element, kind)).collect(),
            single => widen(single, kind),
        };
        (name.clone(), value)
    });
    Value::Object(widened.collect())
}

/// The first place where two trees differ, and how.
pub(crate) fn difference(left: &Value, right: &Value) -> Option<String> {
    match (left, right) {
        (Value::Array(left), Value::Array(right)) if left.len() == right.len() => left
            .iter()
            .zip(right)
            .enumerate()
            .find_map(|(index, (left, right))| Some(format!("[{index}]{}", difference(left, right)?))),
        (Value::Object(left), Value::Object(right)) if left.keys().eq(right.keys()) => {
            left.iter().find_map(|(name, value)| Some(format!(".{name}{}", difference(value, right.get(name)?)?)))
        }
        _ => (left != right).then(|| format!(": {left} and {right}")),
    }
}

/// What the reader says of exact JSON that does not fit.
pub(crate) fn problems(name: &str, value: &Value) -> Vec<String> {
    problems_with(name, value, &ReadOptions::exact())
}

pub(crate) fn problems_with(name: &str, value: &Value, options: &ReadOptions<'_>) -> Vec<String> {
    let from_tree = Message::from_json(&load(name), value, options).err();
    let from_text = Message::from_json_str(&load(name), &value.to_string(), options).err();
    assert_eq!(from_tree, from_text, "a tree and its text are read alike");
    let error = from_tree.unwrap_or_else(|| panic!("{value} was taken"));
    error.problems.iter().map(ToString::to_string).collect()
}
