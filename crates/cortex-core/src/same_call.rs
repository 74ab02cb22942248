//! Whether calls ask for the same, whoever planned them: another model, or the same one at another time.
//!
//! Numbers are compared by value, sentences by their words without the marks around them. Names and other texts without a space must be the same to the
//! letter: `lamp_a` is not `lamp_A`.

use cortex_protocol::ToolCall;
use serde_json::{Map, Value};

/// Whether two calls are of the same tool, with arguments that say the same.
#[must_use]
pub fn is_same_call(one: &ToolCall, other: &ToolCall) -> bool {
    one.tool == other.tool && are_same_arguments(&one.arguments, &other.arguments)
}

/// Whether arguments say the same. One that is left out is the same as `null`.
#[must_use]
pub fn are_same_arguments(one: &Map<String, Value>, other: &Map<String, Value>) -> bool {
    let covers = |one: &Map<String, Value>, other: &Map<String, Value>| {
        one.iter().all(|(name, value)| says_same(value, other.get(name).unwrap_or(&Value::Null)))
    };
    covers(one, other) && covers(other, one)
}

/// Those of `calls` that have no counterpart among `others`, in their order. Each of the others is the counterpart of one.
#[must_use]
pub fn without_counterpart<'c>(calls: &'c [ToolCall], others: &[ToolCall]) -> Vec<&'c ToolCall> {
    let mut open: Vec<&ToolCall> = others.iter().collect();
    let is_left = |call: &&ToolCall| match open.iter().position(|other| is_same_call(call, other)) {
        Some(at) => {
            open.remove(at);
            false
        }
        None => true,
    };
    calls.iter().filter(is_left).collect()
}

fn says_same(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(one), Value::Number(other)) => one == other || one.as_f64() == other.as_f64(),
        (Value::String(one), Value::String(other)) => one == other || is_worded_alike(one, other),
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| says_same(one, other))
        }
        (Value::Object(one), Value::Object(other)) => are_same_arguments(one, other),
        _ => one == other,
    }
}

/// Whether two sentences have the same words, whatever their case and the marks around them.
fn is_worded_alike(one: &str, other: &str) -> bool {
    let is_sentence = |text: &str| text.trim().contains(char::is_whitespace);
    is_sentence(one) && is_sentence(other) && words(one).eq(words(other))
}

fn words(text: &str) -> impl Iterator<Item = String> {
    text.split_whitespace().map(|word| bare(word).to_lowercase())
}

/// A word without the marks of its sentence. A mark within it is a part of it, as in `1/2`, `2,5` and `10:30`; so is one before
/// it, as in `!=` and `.5`, but for quotes. After a digit, a quote may be a unit. A word that is nothing but marks stays.
fn bare(word: &str) -> &str {
    const QUOTES: [char; 2] = ['"', '\''];
    const MARKS: [char; 6] = ['.', ',', '!', '?', ';', ':'];
    let begun = word.trim_start_matches(QUOTES);
    let bare = begun.trim_end_matches(|letter: char| MARKS.contains(&letter) || QUOTES.contains(&letter));
    let bare =
        if bare.ends_with(|letter: char| letter.is_ascii_digit()) { begun.trim_end_matches(MARKS) } else { bare };
    if bare.is_empty() { word } else { bare }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn call(tool: &str, arguments: &Value) -> ToolCall {
        ToolCall { tool: tool.into(), arguments: arguments.as_object().cloned().unwrap_or_default() }
    }

    #[test]
    fn what_is_written_otherwise_and_says_the_same_is_the_same() {
        for (one, other) in [
            (json!({"x": 1}), json!({"x": 1.0})),
            (json!({"text": "Hello, dear guests!"}), json!({"text": "hello dear guests"})),
            (json!({"text": "Say: \"I wait here.\""}), json!({"text": "say I wait here"})),
            (json!({"text": "wait 5, then 6."}), json!({"text": "wait 5 then 6"})),
            (json!({"place": "hall", "speed": null}), json!({"place": "hall"})),
            (json!({"pose": {"x": 1, "y": [2, 3]}}), json!({"pose": {"x": 1.0, "y": [2, 3.0]}})),
        ] {
            assert!(is_same_call(&call("a", &one), &call("a", &other)), "{one} {other}");
            assert!(!is_same_call(&call("a", &one), &call("b", &other)));
        }
    }

    #[test]
    fn what_says_something_else_is_not() {
        for (one, other) in [
            (json!({"place": "hall"}), json!({"place": "kitchen"})),
            (json!({"lamp": "lamp_a"}), json!({"lamp": "lamp_A"})),
            (json!({"place": "hall"}), json!({"place": "hall", "speed": 2})),
            (json!({"text": "turn by -5 degrees"}), json!({"text": "turn by 5 degrees"})),
            (json!({"text": "wait 2.5 seconds"}), json!({"text": "wait 25 seconds"})),
            (json!({"x": 1}), json!({"x": "1"})),
            (json!({"y": [1, 2]}), json!({"y": [1]})),
        ] {
            assert!(!is_same_call(&call("a", &one), &call("a", &other)), "{one} {other}");
        }
    }

    #[test]
    fn regression_marks_within_words_were_left_out_so_that_other_values_said_the_same() {
        for (one, other) in [
            ("pour 1/2 litre", "pour 12 litre"),
            ("pour 2,5 litres", "pour 25 litres"),
            ("come at 10:30 today", "come at 1030 today"),
            ("stop if x != 3", "stop if x = 3"),
            ("stop if !open now", "stop if open now"),
            ("wait .5 seconds", "wait 5 seconds"),
            ("go 5' ahead", "go 5\" ahead"),
            ("count 3 * 4", "count 3 / 4"),
            ("say ... now", "say now"),
        ] {
            let text = |text: &str| call("a", &json!({ "text": text }));
            assert!(!is_same_call(&text(one), &text(other)), "{one}; {other}");
        }
    }

    #[test]
    fn a_call_that_is_made_once_more_has_no_counterpart() {
        let go = |place: &str| call("base.go_to", &json!({"place": place}));
        let twice = [go("hall"), go("kitchen"), go("hall")];
        assert_eq!(without_counterpart(&twice, &[go("kitchen"), go("hall")]), [&go("hall")]);
        assert!(without_counterpart(&[go("hall"), go("kitchen")], &twice).is_empty());
    }
}
