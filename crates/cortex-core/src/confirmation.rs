//! Reading the answer to "shall this step run?".
//!
//! A yes stands alone: EXECUTE counts only with no word beside it, and words beside it are never interpreted, since no table
//! can read language. The other decisions may be wrapped in words. What can't be read is never EXECUTE.

use cortex_protocol::{Decision, Effect, strict_json};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::chat::{CallArguments, ChatReply, ChatRequest, Message, Purpose};
use crate::fragment::{Fragment, one_line, quoted};

/// The word that lets a step run.
const EXECUTE: &str = "EXECUTE";
/// What may stand on both sides of EXECUTE, the same on each.
const MARKUP: [char; 3] = ['*', '_', '`'];
const NO_DECISION: &str = "it holds none of EXECUTE, SKIP, ABORT, CONTINUE";
/// Most characters of such words.
const WORDS_QUOTED: usize = 300;
/// Most characters of a name that a model wrote, and of what is wrong with what it wrote, which may quote it.
const WRITTEN_QUOTED: usize = 200;
const WORDS_BESIDE_EXECUTE: &str = "words stood beside EXECUTE, and words are not read";
const WORDS_BESIDE_CALL: &str = "words stood beside the call, and words are not read";

/// A decision as read.
#[derive(Debug, Clone, PartialEq)]
pub struct Reading {
    /// What was decided.
    pub decision: Decision,
    /// The arguments that the model resolved, for EXECUTE.
    pub arguments: Option<Map<String, Value>>,
    /// The model's words besides the decision. Empty for EXECUTE, beside which none may stand.
    pub reason: String,
}

/// Why a reply is no decision.
#[derive(Debug, Clone, PartialEq)]
pub struct Unusable {
    /// In words for the model that is asked again.
    pub problem: String,
    /// The arguments of a call of the step's tool beside which words stood: what a bare EXECUTE would confirm.
    pub proposed: Option<Map<String, Value>>,
}

impl From<String> for Unusable {
    fn from(problem: String) -> Self {
        Self { problem, proposed: None }
    }
}

impl From<&str> for Unusable {
    fn from(problem: &str) -> Self {
        problem.to_owned().into()
    }
}

impl ChatRequest {
    /// The JSON Schema of what the model says in words, where it can be held to one: its name, and the schema. It may
    /// still call a tool instead.
    #[must_use]
    pub fn answer_schema(&self) -> Option<(&'static str, Value)> {
        let is_in_flight =
            |fragment: &Fragment| matches!(fragment, Fragment::InFlight { goals, .. } if !goals.is_empty());
        let waits = self.messages.iter().any(|message| match message {
            Message::User { fragments } => fragments.iter().any(is_in_flight),
            Message::System { .. } | Message::Assistant { .. } | Message::Tool { .. } => false,
        });
        match self.purpose {
            Purpose::Confirm => Some(("decision", schema(waits))),
            Purpose::Plan | Purpose::Correct => None,
        }
    }
}

/// What an answer is in JSON, for a model that can be held to a schema.
///
/// EXECUTE has no place for a reason, so a model that is held to this can't put words beside it. The form keeps to the
/// strict subset that providers take: the root is an object and no union, every property is required, every object is
/// closed, and every value has a type. Both forms begin alike, so that the choice between them is the decision itself.
/// CONTINUE is among the decisions only where something is in flight (`waits`).
#[must_use]
pub fn schema(waits: bool) -> Value {
    let others: &[&str] = if waits { &["SKIP", "ABORT", "CONTINUE"] } else { &["SKIP", "ABORT"] };
    let decision = |words: &[&str]| json!({"type": "string", "enum": words});
    json!({
        "type": "object",
        "properties": {"answer": {"anyOf": [
            {
                "type": "object",
                "properties": {"decision": decision(&[EXECUTE])},
                "required": ["decision"],
                "additionalProperties": false,
            },
            {
                "type": "object",
                "properties": {"decision": decision(others), "reason": {"type": "string"}},
                "required": ["decision", "reason"],
                "additionalProperties": false,
            },
        ]}},
        "required": ["answer"],
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
/// Why the reply can't be read.
pub fn read(reply: &ChatReply, wire_name: &str, canonical_name: &str) -> Result<Reading, Unusable> {
    if let Some(refusal) = &reply.refusal {
        return Ok(Reading { decision: Decision::Abort, arguments: None, reason: refusal.trim().to_owned() });
    }
    match reply.calls.as_slice() {
        [] => read_text(reply.text.trim()),
        [call] => {
            if call.name != wire_name && call.name != canonical_name {
                let name = one_line(&call.name, WRITTEN_QUOTED);
                return Err(format!("it calls '{name}', but the step's tool is '{wire_name}'").into());
            }
            let arguments = match &call.arguments {
                CallArguments::Object(arguments) => arguments.clone(),
                CallArguments::Malformed { problem, .. } => {
                    return Err(format!("the arguments of its call can't be read: {problem}").into());
                }
            };
            if reply.text.trim().is_empty() {
                return Ok(Reading { decision: Decision::Execute, arguments: Some(arguments), reason: String::new() });
            }
            Err(Unusable { problem: beside(WORDS_BESIDE_CALL, reply.text.trim()), proposed: Some(arguments) })
        }
        calls => Err(format!("it makes {} calls; at most one call of the step's tool is allowed", calls.len()).into()),
    }
}

/// What is said of words that are not read, with the words: whoever is asked again may not remember them.
fn beside(problem: &str, words: &str) -> String {
    format!("{problem}: {}", quoted(words, WORDS_QUOTED))
}

/// Reads a reply of words alone.
fn read_text(text: &str) -> Result<Reading, Unusable> {
    if is_bare_execute(text) {
        return Ok(Reading { decision: Decision::Execute, arguments: None, reason: String::new() });
    }
    if let Some(answer) = read_json(text)? {
        return Ok(answer);
    }
    let words = text.split(|character: char| !character.is_alphanumeric());
    let mut decisions: Vec<Decision> = words.filter_map(decision_word).collect();
    decisions.dedup();
    match decisions.as_slice() {
        [] => Err(NO_DECISION.into()),
        [Decision::Execute] => Err(beside(WORDS_BESIDE_EXECUTE, text).into()),
        [decision] => Ok(Reading { decision: *decision, arguments: None, reason: rest_of(text) }),
        _ => Err("it holds more than one decision".into()),
    }
}

/// Whether the text is EXECUTE and nothing else, but for markup around it and one full stop. A label, a question mark, a
/// quotation or an ellipsis says something with it.
fn is_bare_execute(text: &str) -> bool {
    let (mut rest, mut has_stop) = (text.trim(), false);
    while rest != EXECUTE {
        if let Some(inner) = rest.strip_suffix('.').filter(|_| !has_stop) {
            has_stop = true;
            rest = inner.trim_end();
            continue;
        }
        let within = |mark: &char| rest.strip_prefix(*mark)?.strip_suffix(*mark);
        let Some(inner) = MARKUP.iter().find_map(within) else { return false };
        rest = inner.trim();
    }
    true
}

/// An answer in JSON. One that says something twice, or something else, is refused: who knows what it means?
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Answer {
    decision: String,
    reason: Option<String>,
}

/// As the schema has it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Wrapped {
    answer: Answer,
}

/// Reads `{"decision": "SKIP", "reason": "..."}`, also as the schema wraps it, and within a code fence.
fn read_json(text: &str) -> Result<Option<Reading>, Unusable> {
    let fenced = text.strip_prefix("```").and_then(|inner| inner.strip_suffix("```"));
    let inner = fenced.map_or(text, |inner| inner.strip_prefix("json").unwrap_or(inner).trim());
    if !inner.starts_with('{') {
        return Ok(None);
    }
    let wrapped = strict_json::read(inner).map(|Wrapped { answer }| answer);
    let Answer { decision: word, reason } = wrapped.or_else(|_| strict_json::read(inner)).map_err(|problem| {
        let problem = one_line(&problem.to_string(), WRITTEN_QUOTED);
        format!("it looks like JSON but is not {{\"decision\": ..., \"reason\": ...}}: {problem}")
    })?;
    let reason = reason.unwrap_or_default().trim().to_owned();
    // Only the word itself is a yes, not what some table of letters makes of another one.
    let decision = if word == EXECUTE { Some(Decision::Execute) } else { decision_word(&word.to_ascii_uppercase()) };
    match decision {
        None => Err("its \"decision\" is none of EXECUTE, SKIP, ABORT, CONTINUE".into()),
        Some(Decision::Execute) if word != EXECUTE => Err("its \"decision\" is not written as EXECUTE".into()),
        Some(Decision::Execute) if !reason.is_empty() => Err(beside(WORDS_BESIDE_EXECUTE, &reason).into()),
        Some(decision) => Ok(Some(Reading { decision, arguments: None, reason })),
    }
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
mod fuzzed;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chat::ModelCall;
    use serde_json::json;

    fn decided(text: &str) -> Result<Decision, String> {
        let reply = ChatReply { text: text.into(), ..ChatReply::default() };
        let read = read(&reply, "base-go_to", "base.go_to");
        read.map(|reading| reading.decision).map_err(|unusable| unusable.problem)
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
            (" EXECUTE.\n", Decision::Execute),
            ("**EXECUTE**", Decision::Execute),
            ("**EXECUTE.**", Decision::Execute),
            ("**EXECUTE**.", Decision::Execute),
            ("```\nEXECUTE\n```", Decision::Execute),
            ("{\"decision\": \"EXECUTE\"}", Decision::Execute),
            ("{\"decision\": \"EXECUTE\", \"reason\": \"\"}", Decision::Execute),
            ("{\"decision\": \"EXECUTE\", \"reason\": null}", Decision::Execute),
            ("{\"answer\": {\"decision\": \"EXECUTE\"}}", Decision::Execute),
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
            "{\"answer\": {\"decision\": \"EXECUTE\"}, \"answer\": {\"decision\": \"EXECUTE\"}}",
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

    /// A table of words that take a yes back let each of these through.
    #[test]
    fn regression_a_yes_with_words_beside_it_executed() {
        for text in [
            "{\"decision\": \"EXECUTE\", \"reason\": \"Somebody lies in the doorway.\"}",
            "{\"decision\": \"EXECUTE\", \"reason\": \"戸口に人が倒れています。\"}",
            "Decision: EXECUTE",
            "EXECUTE!",
            "EXECUTE..",
            "!EXECUTE",
            "- EXECUTE",
            "> EXECUTE",
            "~~EXECUTE~~",
            "**EXECUTE",
        ] {
            assert_ne!(decided(text), Ok(Decision::Execute), "{text}");
        }
    }

    #[test]
    fn a_call_of_the_planned_tool_without_words_resolves_its_arguments() {
        for (text, name) in [("", "base-go_to"), (" \n", "base.go_to")] {
            let reading = read(&reply_with_call(text, name), "base-go_to", "base.go_to").unwrap();
            assert_eq!((reading.decision, reading.reason.as_str()), (Decision::Execute, ""), "{text}");
            assert_eq!(reading.arguments.map(Value::Object), Some(json!({"place": "kitchen"})));
        }
    }

    /// "No. Unsafe, abort: a child is in the way." and a call of the step's tool was read as EXECUTE.
    #[test]
    fn regression_a_call_with_words_beside_it_executed() {
        for text in ["No. Unsafe, abort: a child is in the way.", "ABORT, unsafe", "EXECUTE", "Going now.", "\u{200b}"]
        {
            let unusable = read(&reply_with_call(text, "base-go_to"), "base-go_to", "base.go_to").unwrap_err();
            assert!(unusable.problem.starts_with(WORDS_BESIDE_CALL), "{text}");
            assert_eq!(unusable.proposed.map(Value::Object), Some(json!({"place": "kitchen"})), "kept as proposed");
        }
    }

    /// The name of the call, and a name in JSON, went whole into what the model and people are told, megabytes and all.
    #[test]
    fn regression_what_is_said_of_a_confirmation_was_as_long_as_what_the_model_wrote() {
        let long = "a\n".repeat(1_000_000);
        let named = read(&reply_with_call("", &long), "base-go_to", "base.go_to").unwrap_err().problem;
        let in_json = decided(&json!({"decision": "EXECUTE", long: 1}).to_string()).unwrap_err();
        for problem in [named, in_json] {
            assert!(problem.len() < 500 && !problem.contains('\n'), "{} bytes: {problem:.300}", problem.len());
        }
    }

    /// The reference system ran whatever tool the confirmation named and reported the planned one.
    #[test]
    fn regression_a_confirmation_that_names_another_tool_is_refused() {
        let unusable = read(&reply_with_call("EXECUTE", "arm-grasp"), "base-go_to", "base.go_to").unwrap_err();
        assert_eq!(unusable, "it calls 'arm-grasp', but the step's tool is 'base-go_to'".into());
    }

    #[test]
    fn a_reply_with_two_calls_is_refused() {
        let mut twice = reply_with_call("", "base-go_to");
        twice.calls.push(twice.calls[0].clone());
        assert!(read(&twice, "base-go_to", "base.go_to").is_err());
    }

    #[test]
    fn every_answer_that_fits_the_schema_is_read_as_it_says_and_execute_has_no_reason() {
        let schema = schema(true);
        for word in ["EXECUTE", "SKIP", "ABORT", "CONTINUE"] {
            let bare = json!({"answer": {"decision": word}});
            let reasoned = json!({"answer": {"decision": word, "reason": "the door is open"}});
            let (fits, other) = if word == "EXECUTE" { (bare, reasoned) } else { (reasoned, bare) };
            assert!(jsonschema::is_valid(&schema, &fits) && !jsonschema::is_valid(&schema, &other), "{word}");
            assert_eq!(decided(&fits.to_string()).unwrap().to_string(), word);
        }
        assert!(!jsonschema::is_valid(&schema, &json!({"answer": {"decision": "GO", "reason": ""}})));
        // Where nothing is in flight there is nothing to wait for.
        let waits = json!({"answer": {"decision": "CONTINUE", "reason": "the drive"}});
        assert!(jsonschema::is_valid(&schema, &waits) && !jsonschema::is_valid(&super::schema(false), &waits));
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
