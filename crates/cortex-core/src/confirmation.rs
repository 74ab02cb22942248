//! Reading the answer to "shall this step run?".
//!
//! The reading fails closed: EXECUTE must stand alone, the other decisions may be wrapped in words, and what
//! contradicts itself is unreadable. What can't be read is never EXECUTE.

use cortex_protocol::{Decision, Effect};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::chat::{CallArguments, ChatReply};

/// What may stand around EXECUTE. A question mark asks, and brackets make it a part of something else.
const MARKUP: &str = "*_`#>-\"'.:!";

/// A decision as read.
#[derive(Debug, Clone, PartialEq)]
pub struct Reading {
    /// What was decided.
    pub decision: Decision,
    /// The arguments that the model resolved, for EXECUTE.
    pub arguments: Option<Map<String, Value>>,
    /// The model's words besides the decision. May be empty.
    pub reason: String,
}

/// What an answer is in JSON, for a model that can be held to a schema (the strict subset that providers take).
#[must_use]
pub fn schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "decision": {"enum": ["EXECUTE", "SKIP", "ABORT", "CONTINUE"]},
            "reason": {"type": "string", "description": "A few words."},
        },
        "required": ["decision", "reason"],
        "additionalProperties": false,
    })
}

/// The decision that is taken when none can be read: a step that only reads is left out, anything else ends the plan.
#[must_use]
pub fn safe_decision(effect: Effect) -> Decision {
    match effect {
        Effect::Observe => Decision::Skip,
        Effect::Act | Effect::Move => Decision::Abort,
    }
}

/// Reads a reply about a step whose tool has this wire name (`wire_name`) and this canonical name (`canonical_name`).
///
/// # Errors
/// Why the reply can't be read, in words for the model that is asked again.
pub fn read(reply: &ChatReply, wire_name: &str, canonical_name: &str) -> Result<Reading, String> {
    if let Some(refusal) = &reply.refusal {
        return Ok(Reading { decision: Decision::Abort, arguments: None, reason: refusal.trim().to_owned() });
    }
    let said = read_text(&reply.text)?;
    match (reply.calls.as_slice(), said) {
        ([], Some(reading)) => Ok(reading),
        ([], None) => Err("it holds none of EXECUTE, SKIP, ABORT, CONTINUE".to_owned()),
        ([call], said) => {
            if call.name != wire_name && call.name != canonical_name {
                return Err(format!("it calls '{}', but the step's tool is '{wire_name}'", call.name));
            }
            let arguments = match &call.arguments {
                CallArguments::Object(arguments) => arguments.clone(),
                CallArguments::Malformed { problem, .. } => {
                    return Err(format!("the arguments of its call can't be read: {problem}"));
                }
            };
            match said {
                None => Ok(Reading {
                    decision: Decision::Execute,
                    arguments: Some(arguments),
                    reason: reply.text.trim().to_owned(),
                }),
                Some(reading) if reading.decision == Decision::Execute => {
                    Ok(Reading { arguments: Some(arguments), ..reading })
                }
                Some(reading) => Err(format!("it says {} and calls the tool as well", reading.decision)),
            }
        }
        (calls, _) => Err(format!("it makes {} calls; at most one call of the step's tool is allowed", calls.len())),
    }
}

/// Reads the words of a reply. `None` if they hold no decision at all.
fn read_text(text: &str) -> Result<Option<Reading>, String> {
    let text = text.trim();
    if let Some(reading) = read_json(text)? {
        return Ok(Some(reading));
    }
    let words: Vec<&str> =
        text.split(|character: char| !character.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    let mut decisions: Vec<Decision> = words.iter().filter_map(|word| decision_word(word)).collect();
    decisions.dedup();
    match decisions.as_slice() {
        [] => Ok(None),
        [Decision::Execute] => {
            if says_execute_plainly(text, &words) {
                Ok(Some(Reading { decision: Decision::Execute, arguments: None, reason: rest_of(text) }))
            } else {
                Err("EXECUTE must stand alone, without any other word".to_owned())
            }
        }
        [decision] => Ok(Some(Reading { decision: *decision, arguments: None, reason: rest_of(text) })),
        _ => Err("it holds more than one decision".to_owned()),
    }
}

/// An answer in JSON. One that says something twice, or something else, is refused: who knows what it means?
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Answer {
    decision: String,
    reason: Option<String>,
}

/// Reads `{"decision": "SKIP", "reason": "..."}`, also within a code fence.
fn read_json(text: &str) -> Result<Option<Reading>, String> {
    let inner = text.trim_matches('`').trim_start_matches("json").trim();
    if !inner.starts_with('{') {
        return Ok(None);
    }
    let Answer { decision: word, reason } = serde_json::from_str(inner).map_err(|problem| {
        format!("it looks like JSON but is not {{\"decision\": ..., \"reason\": ...}}: {problem}")
    })?;
    let Some(decision) = decision_word(&word.to_uppercase()) else {
        return Err("its \"decision\" is none of EXECUTE, SKIP, ABORT, CONTINUE".to_owned());
    };
    let reason = reason.unwrap_or_default();
    let mut said = reason.split(|character: char| !character.is_alphanumeric()).filter_map(decision_word);
    if decision == Decision::Execute && said.any(|other| other != decision) {
        return Err("its \"reason\" holds another decision than its \"decision\"".to_owned());
    }
    Ok(Some(Reading { decision, arguments: None, reason }))
}

/// Decisions are written in capitals; "continue" in a sentence is not one.
fn decision_word(word: &str) -> Option<Decision> {
    match word {
        "EXECUTE" => Some(Decision::Execute),
        "SKIP" => Some(Decision::Skip),
        "ABORT" => Some(Decision::Abort),
        "CONTINUE" => Some(Decision::Continue),
        _ => None,
    }
}

/// Whether EXECUTE stands alone, but for markup and a label such as `Decision:`. Whatever else is said with it may
/// take it back ("EXECUTE would be dangerous"), and no list of such words is complete.
fn says_execute_plainly(text: &str, words: &[&str]) -> bool {
    let is_markup = |character: char| character.is_whitespace() || MARKUP.contains(character);
    if !text.chars().all(|character| character.is_alphanumeric() || is_markup(character)) {
        return false;
    }
    let mut words = words
        .iter()
        .skip_while(|word| ["decision", "answer", "final"].iter().any(|label| word.eq_ignore_ascii_case(label)));
    words.next() == Some(&"EXECUTE") && words.next().is_none()
}

/// The words besides the decision itself.
fn rest_of(text: &str) -> String {
    let rest = text
        .trim_start_matches(|character: char| !character.is_alphanumeric())
        .trim_start_matches("Decision")
        .trim_start_matches("decision")
        .trim_start_matches(|character: char| !character.is_alphanumeric());
    let rest = ["EXECUTE", "SKIP", "ABORT", "CONTINUE"].iter().find_map(|word| rest.strip_prefix(word)).unwrap_or(rest);
    rest.trim_start_matches(|character: char| !character.is_alphanumeric()).trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chat::ModelCall;
    use serde_json::json;

    fn decided(text: &str) -> Result<Decision, String> {
        let reply = ChatReply { text: text.into(), ..ChatReply::default() };
        read(&reply, "base-go_to", "base.go_to").map(|reading| reading.decision)
    }

    fn reply_with_call(text: &str, name: &str) -> ChatReply {
        ChatReply {
            text: text.into(),
            calls: vec![ModelCall {
                id: "1".into(),
                name: name.into(),
                arguments: CallArguments::read("{\"place\": \"kitchen\"}"),
            }],
            ..ChatReply::default()
        }
    }

    #[test]
    fn decisions_are_read_in_the_forms_that_models_use() {
        for (text, decision) in [
            ("EXECUTE", Decision::Execute),
            ("EXECUTE.", Decision::Execute),
            ("**EXECUTE**", Decision::Execute),
            ("Decision: EXECUTE", Decision::Execute),
            ("{\"decision\": \"EXECUTE\"}", Decision::Execute),
            ("```json\n{\"decision\": \"skip\", \"reason\": \"done already\"}\n```", Decision::Skip),
            ("**ABORT** - unsafe", Decision::Abort),
            ("Decision: ABORT", Decision::Abort),
            ("The door is closed, so ABORT.", Decision::Abort),
            ("SKIP\nAlready there.", Decision::Skip),
            ("CONTINUE", Decision::Continue),
        ] {
            assert_eq!(decided(text), Ok(decision), "{text}");
        }
    }

    /// The reference system executed on every one of these.
    #[test]
    fn regression_a_garbled_confirmation_never_executes() {
        for text in [
            "",
            "   ",
            "ok",
            "yes, go ahead",
            "execute",
            "I would execute this",
            "Do not EXECUTE",
            "EXECUTE? No, that is unsafe",
            "EXECUTE only if the door is open",
            "EXECUTE would be dangerous: a child is in the way",
            "EXECUTE... actually, abort",
            "EXECUTE is too risky",
            "{\"decision\": \"EXECUTE\", \"tool\": \"base.halt\", \"arguments\": {\"place\": \"x\"}}",
            "EXECUTE is not safe here",
            "ABORT or EXECUTE",
            "I continue to think about whether to skip it",
            "{\"decision\": \"GO\"}",
            "{\"decision\": \"ABORT\", \"decision\": \"EXECUTE\"}",
            "{\"decision\": \"EXECUTE\", \"decision\": \"EXECUTE\"}",
            "{\"decision\": \"EXECUTE\", \"reason\": \"unsafe, so ABORT\"}",
            "{\"decision\": [\"EXECUTE\"]}",
            "{\"reason\": \"EXECUTE\"}",
            "{\"decision\": \"EXECUTE\"} {\"decision\": \"ABORT\"}",
            "{\"decision\": ",
            "[{\"decision\": \"EXECUTE\"}]",
            "[EXECUTE]",
            "EXECUTE?",
            "decision = EXECUTE",
            "\u{0}\u{fffd}EXEC",
        ] {
            assert_ne!(decided(text), Ok(Decision::Execute), "{text}");
        }
    }

    #[test]
    fn a_call_of_the_planned_tool_resolves_its_arguments() {
        for (text, name) in [("", "base-go_to"), ("EXECUTE", "base.go_to"), ("Going now.", "base-go_to")] {
            let reading = read(&reply_with_call(text, name), "base-go_to", "base.go_to").unwrap();
            assert_eq!(reading.decision, Decision::Execute, "{text}");
            assert_eq!(reading.arguments.map(Value::Object), Some(json!({"place": "kitchen"})));
        }
    }

    /// The reference system ran whatever tool the confirmation named and reported the planned one.
    #[test]
    fn regression_a_confirmation_that_names_another_tool_is_refused() {
        let problem = read(&reply_with_call("EXECUTE", "arm-grasp"), "base-go_to", "base.go_to").unwrap_err();
        assert_eq!(problem, "it calls 'arm-grasp', but the step's tool is 'base-go_to'");
    }

    #[test]
    fn a_reply_that_contradicts_itself_is_refused() {
        assert!(read(&reply_with_call("ABORT, unsafe", "base-go_to"), "base-go_to", "base.go_to").is_err());
        let mut twice = reply_with_call("", "base-go_to");
        twice.calls.push(twice.calls[0].clone());
        assert!(read(&twice, "base-go_to", "base.go_to").is_err());
    }

    #[test]
    fn every_answer_that_fits_the_schema_is_read_as_it_says() {
        let schema = schema();
        let words = schema.pointer("/properties/decision/enum").and_then(Value::as_array).unwrap();
        for word in words {
            let said = json!({"decision": word, "reason": "the door is open"});
            assert!(jsonschema::is_valid(&schema, &said));
            assert_eq!(decided(&said.to_string()).unwrap().to_string(), word.as_str().unwrap());
        }
        assert!(!jsonschema::is_valid(&schema, &json!({"decision": "GO", "reason": ""})));
    }

    #[test]
    fn a_refusal_aborts() {
        let reply = ChatReply { refusal: Some("I can't help with that.".into()), ..ChatReply::default() };
        assert_eq!(read(&reply, "a", "a").map(|reading| reading.decision), Ok(Decision::Abort));
    }

    #[test]
    fn without_a_decision_nothing_moves() {
        assert_eq!(safe_decision(Effect::Observe), Decision::Skip);
        assert_eq!(safe_decision(Effect::Act), Decision::Abort);
        assert_eq!(safe_decision(Effect::Move), Decision::Abort);
    }
}
