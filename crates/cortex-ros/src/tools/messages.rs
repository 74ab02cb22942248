//! Arguments as messages, and messages as what a model reads.

use std::sync::Arc;

use cortex_core::Invocation;
use cortex_core::fragment::capped;
use cortex_interfaces::{
    Conventions, Message, MessageInterface, MessageView, ReadOptions, Timestamp, WriteLimits, WriteOptions,
};
use cortex_protocol::{FailureKind, ToolOutcome};
use serde_json::Value;

use crate::catalog::says_no;
use crate::discovery::Shared;

/// Characters of a reason that are kept.
const REASON_CHARACTERS: usize = 2_000;
/// Characters of one line of feedback.
const LINE_CHARACTERS: usize = 300;
/// How much of feedback is written before it is cut to a line.
const LINE_LIMITS: WriteLimits = WriteLimits { elements: 8, string_bytes: 300, binary_bytes: 0, total_bytes: 1_024 };
/// The fields in which a service says why it did not do what was asked.
const REASONS: [&str; 6] = ["message", "error_msg", "error_message", "error_string", "status_message", "reason"];

/// The arguments of a call as a message. The arguments fit the schema, but a schema can't say everything.
pub(super) fn message_of(
    invocation: &Invocation,
    interface: &Arc<MessageInterface>,
    shared: &Shared,
) -> Result<Message, ToolOutcome> {
    let now = shared.node.clock().now();
    let now = Timestamp { sec: now.sec, nanosec: now.nanosec };
    let options = ReadOptions::friendly(&shared.conventions, now);
    let arguments = Value::Object(invocation.call.arguments.clone());
    Message::from_json(interface, &arguments, &options)
        .map_err(|problem| ToolOutcome::failure(FailureKind::InvalidArguments, problem.to_string()))
}

/// A message as a model reads it: without binary data, and cut where it is long. Null where it has no fields.
pub(super) fn readable(message: MessageView<'_>, conventions: &Conventions) -> Value {
    match message.to_json(&WriteOptions::friendly(conventions)).value {
        Value::Object(fields) if fields.is_empty() => Value::Null,
        value => value,
    }
}

/// A message as one short line.
pub(super) fn line(message: MessageView<'_>, conventions: &Conventions) -> String {
    let options = WriteOptions { limits: LINE_LIMITS, ..WriteOptions::friendly(conventions) };
    let value = message.to_json(&options).value;
    capped(&cortex_protocol::tool::value_as_text(&value), LINE_CHARACTERS)
}

/// An answer as an outcome: one that says that it was no success is none, whatever else it says.
pub(super) fn outcome_of(who: &str, answer: MessageView<'_>, conventions: &Conventions) -> ToolOutcome {
    let value = readable(answer, conventions);
    if says_no(answer) {
        return ToolOutcome::failure(FailureKind::Reported, reason(who, &value));
    }
    ToolOutcome::success(value)
}

/// Why it did not succeed, in its own words where there are any.
pub(super) fn reason(who: &str, value: &Value) -> String {
    let said = REASONS.iter().filter_map(|field| value.get(field)?.as_str()).find(|text| !text.trim().is_empty());
    match said {
        Some(text) => capped(text.trim(), REASON_CHARACTERS),
        None if value.is_null() => format!("{who} gave no reason"),
        None => capped(&format!("{who} gave no reason; it answered {value}"), REASON_CHARACTERS),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_reason_is_what_was_said_or_else_what_was_answered() {
        for (value, expected) in [
            (json!({"success": false, "message": " the bulb is out "}), "the bulb is out"),
            (
                json!({"success": false, "message": "", "code": 7}),
                "x gave no reason; it answered {\"code\":7,\"message\":\"\",\"success\":false}",
            ),
            (json!(null), "x gave no reason"),
            (json!({"error_msg": "stuck"}), "stuck"),
        ] {
            assert_eq!(reason("x", &value), expected);
        }
        assert!(reason("x", &json!({"message": "m".repeat(100_000)})).len() < 3_000);
    }
}
