//! What OpenAI-compatible servers refuse in a request: the rules that each of the usual servers has.

use std::collections::BTreeSet;

use serde_json::Value;

/// Checks the body of a chat completion request.
///
/// # Errors
/// What is wrong with it.
pub(crate) fn check(request: &Value) -> Result<(), String> {
    let messages = request.get("messages").and_then(Value::as_array).ok_or("there are no messages")?;
    if request.get("model").and_then(Value::as_str).is_none_or(str::is_empty) {
        return Err("there is no model".to_owned());
    }
    check_messages(messages)?;
    if let Some(tools) = request.get("tools") {
        check_tools(tools)?;
    }
    request.get("response_format").map_or(Ok(()), check_format)
}

/// Each call has one answer after it, and no answer is without a call.
fn check_messages(messages: &[Value]) -> Result<(), String> {
    let mut open = BTreeSet::new();
    for message in messages {
        let role = message.get("role").and_then(Value::as_str).unwrap_or_default();
        if !["system", "user", "assistant", "tool"].contains(&role) {
            return Err(format!("there is no role '{role}'"));
        }
        if role == "tool" {
            let id = message.get("tool_call_id").and_then(Value::as_str).unwrap_or_default();
            if !open.remove(id) {
                return Err(format!("'{id}' answers no call"));
            }
        } else if !open.is_empty() {
            return Err(format!("these calls have no answer: {open:?}"));
        }
        for call in message.get("tool_calls").and_then(Value::as_array).into_iter().flatten() {
            open.insert(call.get("id").and_then(Value::as_str).unwrap_or_default());
        }
    }
    if open.is_empty() { Ok(()) } else { Err(format!("these calls have no answer: {open:?}")) }
}

fn check_tools(tools: &Value) -> Result<(), String> {
    let tools = tools.as_array().filter(|tools| !tools.is_empty()).ok_or("tools is no list, or an empty one")?;
    let mut names = BTreeSet::new();
    for tool in tools {
        let name = tool.pointer("/function/name").and_then(Value::as_str).unwrap_or_default();
        if !is_name(name) || !names.insert(name) {
            return Err(format!("'{name}' is no name of a tool, or one of two"));
        }
        if !tool.pointer("/function/parameters").is_some_and(Value::is_object) {
            return Err(format!("'{name}' has no parameters"));
        }
    }
    Ok(())
}

/// A schema for an answer, in the strict subset: the root is an object and no union, every object is closed, all of its
/// properties are required, and every value has a type.
fn check_format(format: &Value) -> Result<(), String> {
    if format.get("type").and_then(Value::as_str) != Some("json_schema") {
        return Err("response_format must be a json_schema".to_owned());
    }
    let name = format.pointer("/json_schema/name").and_then(Value::as_str).unwrap_or_default();
    if !is_name(name) {
        return Err(format!("response_format: '{name}' is no name of a schema"));
    }
    let schema = format.pointer("/json_schema/schema").ok_or("response_format has no schema")?;
    if schema.get("anyOf").is_some() {
        return Err("response_format: the root of a strict schema is an object and no anyOf".to_owned());
    }
    check_object(schema)
}

fn check_object(schema: &Value) -> Result<(), String> {
    let properties = schema.get("properties").and_then(Value::as_object).ok_or("response_format: no properties")?;
    let required: BTreeSet<&str> =
        schema.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect();
    let is_closed = schema.get("additionalProperties") == Some(&Value::Bool(false));
    if !is_closed || !properties.keys().all(|name| required.contains(name.as_str())) {
        return Err("response_format: a strict schema is closed and requires everything".to_owned());
    }
    properties.values().try_for_each(check_value)
}

fn check_value(schema: &Value) -> Result<(), String> {
    if let Some(choices) = schema.get("anyOf").and_then(Value::as_array) {
        return choices.iter().try_for_each(check_value);
    }
    match schema.get("type").and_then(Value::as_str) {
        None => Err("response_format: a strict schema must have a 'type' key for every value".to_owned()),
        Some("object") => check_object(schema),
        Some(_) => Ok(()),
    }
}

/// `[a-zA-Z0-9_-]{1,64}`
fn is_name(name: &str) -> bool {
    (1..=64).contains(&name.len()) && name.chars().all(|letter| letter.is_ascii_alphanumeric() || "_-".contains(letter))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_servers_refuse_is_refused() {
        let hello = json!([{"role": "user", "content": "hello"}]);
        let good = json!({"model": "m", "messages": hello});
        assert_eq!(check(&good), Ok(()));
        let with = |key: &str, value: Value| {
            let mut request = good.clone();
            request[key] = value;
            check(&request)
        };
        let of = |property: Value| json!({"type": "object", "properties": {"a": property}, "required": ["a"], "additionalProperties": false});
        let strict = of(json!({"type": "string"}));
        let format = |schema: Value| json!({"type": "json_schema", "json_schema": {"name": "n", "schema": schema}});
        assert_eq!(with("response_format", format(strict.clone())), Ok(()));
        assert_eq!(with("response_format", format(of(json!({"anyOf": [strict, strict]})))), Ok(()));
        let unclosed = of(json!({"anyOf": [strict, {"type": "object", "properties": {}}]}));
        let without_type = of(json!({"enum": ["a"]}));
        let union = json!({"anyOf": [strict]});
        let mut open = strict;
        open["additionalProperties"] = json!(true);
        for (key, value) in [
            ("model", json!("")),
            ("messages", json!([{"role": "tool", "tool_call_id": "x", "content": ""}])),
            ("messages", json!([{"role": "assistant", "tool_calls": [{"id": "x"}]}])),
            ("messages", json!([{"role": "robot", "content": ""}])),
            ("tools", json!([])),
            ("tools", json!([{"type": "function", "function": {"name": "base.go", "parameters": {}}}])),
            ("response_format", json!({"type": "json"})),
            ("response_format", format(json!({"type": "object"}))),
            ("response_format", format(open)),
            ("response_format", format(unclosed)),
            ("response_format", format(without_type)),
            ("response_format", format(union)),
        ] {
            assert!(with(key, value.clone()).is_err(), "{key}: {value}");
        }
    }
}
