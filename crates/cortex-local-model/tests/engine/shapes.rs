//! Replies that the grammar shapes: whatever the model would like to say, they fit.

use std::path::Path;

use cortex_local_model::protocol::{Ask, Finish, Role, Tool};
use cortex_local_model::shape;
use serde_json::{Value, json};

use super::model_file;
use super::program::{Program, real_model, tool, words};

/// Replies of each model.
const OF_REAL_MODEL: usize = 200;
const OF_RANDOM_WEIGHTS: usize = 10_000;

fn tools() -> Vec<Tool> {
    let place = json!({"type": "string", "enum": ["kitchen", "office", "Wohnzimmer \"Süd\""]});
    vec![
        tool(
            "base-go_to",
            json!({"type": "object", "properties": {"place": {"$ref": "#/$defs/place"}}, "required": ["place"],
                "additionalProperties": false, "$defs": {"place": place}}),
        ),
        tool(
            "light-set",
            json!({"type": "object", "properties": {
                "on": {"type": "boolean"}, "level": {"type": "integer", "minimum": 0, "maximum": 100}},
                "required": ["on"], "additionalProperties": false}),
        ),
        tool(
            "base-follow",
            json!({"type": "object", "properties": {"points": {"type": "array", "minItems": 1, "maxItems": 2, "items": {
                "type": "object", "properties": {"x": {"type": "integer", "minimum": -9, "maximum": 9}},
                "required": ["x"], "additionalProperties": false}}}, "required": ["points"], "additionalProperties": false}),
        ),
        tool(
            "speaker-say",
            json!({"type": "object", "properties": {"text": {"type": "string", "maxLength": 20}}, "required": ["text"],
                "additionalProperties": false}),
        ),
        tool("base-dock", json!({"type": "object", "properties": {}, "additionalProperties": false})),
    ]
}

fn decision() -> Value {
    let of = |words: &[&str]| json!({"type": "string", "enum": words});
    json!({"type": "object", "properties": {"answer": {"anyOf": [
        {"type": "object", "properties": {"decision": of(&["EXECUTE"])}, "required": ["decision"], "additionalProperties": false},
        {"type": "object", "properties": {"decision": of(&["SKIP", "ABORT"]), "reason": {"type": "string", "maxLength": 30}},
         "required": ["decision", "reason"], "additionalProperties": false},
    ]}}, "required": ["answer"], "additionalProperties": false})
}

/// What came of many replies.
#[derive(Debug, Default)]
struct Count {
    calls: usize,
    decisions: usize,
    words: usize,
    cut: usize,
}

/// Asks so many times, mostly for a decision or calls, and fails at the first reply outside its shape.
fn asked(file: &Path, times: usize, max_tokens: u32) -> Count {
    let (mut program, _) = Program::with(file);
    let (tools, decision) = (tools(), decision());
    let mut count = Count::default();
    for turn in 0..times {
        let answer = (turn % 4 > 0).then(|| decision.clone());
        let schema = shape::schema(&tools, answer.as_ref()).unwrap();
        let validator = jsonschema::validator_for(&schema).unwrap();
        // Each reply begins by chance elsewhere.
        let task = format!("Task {turn}: call tools as you like. Reply in JSON.");
        let ask = words(&[(Role::System, "You plan for a robot."), (Role::User, &task)], max_tokens);
        let reply = program.answer(Ask { tools: tools.clone(), answer: answer.clone(), temperature: 1.5, ..ask });
        let text = reply.text.as_str();
        if reply.done.finish != Finish::Whole {
            count.cut += 1;
            continue;
        }
        if !text.starts_with(['[', '{']) {
            assert!(shape::may_be_words(answer.as_ref()) && !text.starts_with(shape::NO_WORDS_BEGIN), "{text:?}");
            count.words += 1;
            continue;
        }
        let value: Value = serde_json::from_str(text).unwrap_or_else(|problem| panic!("{problem}: {text:?}"));
        assert!(
            validator.is_valid(&value),
            "{text:?}: {:?}",
            validator.iter_errors(&value).map(|error| error.to_string()).collect::<Vec<_>>()
        );
        if value.is_array() { count.calls += 1 } else { count.decisions += 1 }
    }
    println!("{times} replies: {count:?}");
    count
}

#[test]
fn each_reply_of_the_real_model_is_words_calls_or_a_decision() {
    let count = asked(&real_model(), OF_REAL_MODEL, 60);
    assert!(count.calls + count.decisions > OF_REAL_MODEL / 4, "{count:?}");
}

/// Noise, held to the same shape.
#[test]
fn each_reply_of_random_weights_is_words_calls_or_a_decision() {
    let file = model_file::file(&model_file::bytes("llama"));
    let count = asked(file.path(), OF_RANDOM_WEIGHTS, 200);
    assert!(count.calls + count.decisions > OF_RANDOM_WEIGHTS / 4, "{count:?}");
}
