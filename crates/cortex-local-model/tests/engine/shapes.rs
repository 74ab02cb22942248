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

/// Schemas that llama.cpp can't express, or only at a length that its sampler refuses.
fn hostile() -> Vec<Tool> {
    let of = |name: &str, argument: Value| {
        tool(
            name,
            json!({"type": "object", "properties": {"x": argument}, "required": ["x"], "additionalProperties": false}),
        )
    };
    let itself = json!({"type": "object", "properties": {"x": {"$ref": "#/$defs/a"}}, "required": ["x"],
        "$defs": {"a": {"$ref": "#/$defs/a"}}});
    let deep = (0..40).fold(
        json!({"type": "string", "maxLength": 60}),
        |inner, _| json!({"type": "array", "maxItems": 60, "items": inner}),
    );
    let choices: Vec<String> = (0..3_000).map(|number| format!("place {number}")).collect();
    vec![
        of("hostile-long", json!({"type": "string", "minLength": 5_000, "maxLength": 100_000})),
        of("hostile-list", json!({"type": "array", "minItems": 3_000, "items": {"type": "integer"}})),
        of("hostile-pattern", json!({"type": "string", "pattern": "^(?=(a+)+$)\\\\p{L}{1,99999}$"})),
        of("hostile-nowhere", json!({"$ref": "#/nowhere"})),
        of("hostile-elsewhere", json!({"$ref": "https://schemas.example/place.json"})),
        of("hostile-kind", json!({"type": "portrait"})),
        of("hostile-number", json!({"type": "integer", "minimum": -1e300, "maximum": 1e300})),
        tool("hostile-itself", itself),
        of("hostile-deep", deep),
        of("hostile-choices", json!({"enum": choices})),
    ]
}

/// One tool whose schema can't be expressed left the model without any tools.
#[test]
fn regression_a_hostile_schema_costs_only_its_own_tool() {
    let file = model_file::file(&model_file::bytes("llama"));
    let (mut program, _) = Program::with(file.path());
    let ordinary = tools();
    for alone in hostile() {
        let offered: Vec<Tool> = ordinary.iter().cloned().chain([alone.clone()]).collect();
        let ask = words(&[(Role::User, "Go on.")], 40);
        let reply = program.answer(Ask { tools: offered, temperature: 1.0, ..ask });
        println!("{}: held to less: {:?}", alone.name, reply.done.loosened);
        let others: Vec<&String> = reply.done.loosened.iter().filter(|name| **name != alone.name).collect();
        assert!(others.is_empty(), "{} costs {others:?}", alone.name);
    }
    let offered: Vec<Tool> = ordinary.iter().cloned().chain(hostile()).collect();
    let schema = shape::schema(&ordinary, None).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let mut held = 0;
    for turn in 0..60 {
        let ask = words(&[(Role::User, &format!("Task {turn}"))], 300);
        let answer = json!({"type": "object", "properties": {}, "additionalProperties": false});
        let reply = program.answer(Ask { tools: offered.clone(), answer: Some(answer), temperature: 1.5, ..ask });
        assert!(reply.done.loosened.iter().all(|name| name.starts_with("hostile-")), "{:?}", reply.done.loosened);
        assert!(reply.done.loosened.len() >= 4, "{:?}", reply.done.loosened);
        let Ok(Value::Array(calls)) = serde_json::from_str::<Value>(&reply.text) else { continue };
        let hostile = |call: &Value| call["name"].as_str().is_some_and(|name| name.starts_with("hostile-"));
        for call in calls.iter().filter(|call| !hostile(call)) {
            assert!(validator.is_valid(&json!([call])), "{call}");
            held += 1;
        }
    }
    assert!(held > 0, "no ordinary tool was called in a reply that ended");
}
