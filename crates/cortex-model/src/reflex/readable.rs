//! What tools return, as people read and hear it.

use cortex_core::fragment::capped;
use cortex_language::name_words;
use serde_json::Value;

/// Most characters of a result that is told.
const TOLD_CHARACTERS: usize = 4_000;
/// Most characters of a result that is spoken.
const SPOKEN_CHARACTERS: usize = 1_000;
/// How deep a result is spelt out.
const RESULT_DEPTH: usize = 4;
/// Endings of names that are units, besides single letters, and how they are written.
const UNITS: [(&str, &str); 14] = [
    ("cm", "cm"),
    ("mm", "mm"),
    ("km", "km"),
    ("ms", "ms"),
    ("sec", "s"),
    ("mps", "m/s"),
    ("kmh", "km/h"),
    ("rad", "rad"),
    ("deg", "degrees"),
    ("degrees", "degrees"),
    ("radps", "rad/s"),
    ("hz", "Hz"),
    ("kg", "kg"),
    ("celsius", "°C"),
];

/// The words of a name, and the unit that it ends in: `speed_mps` is a speed in m/s.
pub(super) fn without_unit(name: &str) -> (Vec<String>, Option<String>) {
    let mut words = name_words(name);
    let unit = match words.as_slice() {
        [_, .., last] => match last.as_str() {
            "v" | "a" | "w" => Some(last.to_uppercase()),
            "m" | "s" | "h" | "g" => Some(last.clone()),
            last => UNITS.iter().find(|(ending, _)| *ending == last).map(|(_, written)| (*written).to_owned()),
        },
        _ => None,
    };
    if unit.is_some() {
        words.pop();
    }
    (words, unit)
}

/// A result as a person reads it: text as it is, fields as `key: value`, shares in percent, units where names tell.
pub(super) fn readable(value: &Value) -> String {
    capped(&readable_at(value, 0), TOLD_CHARACTERS)
}

/// A result as it is spoken: of at most so many characters as the tool takes.
pub(super) fn spoken_text(value: &Value, limit: Option<u64>) -> String {
    let text = readable(value);
    let text = if text.is_empty() { "There is nothing to tell.".to_owned() } else { text };
    let most = limit.and_then(|limit| usize::try_from(limit).ok()).unwrap_or(SPOKEN_CHARACTERS);
    text.chars().take(most.min(SPOKEN_CHARACTERS)).collect()
}

fn readable_at(value: &Value, depth: usize) -> String {
    match value {
        Value::Null => String::new(),
        Value::Bool(flag) => if *flag { "yes" } else { "no" }.to_owned(),
        Value::Number(number) => number.to_string(),
        Value::String(text) => text.trim().to_owned(),
        _ if depth >= RESULT_DEPTH => value.to_string(),
        Value::Array(items) if items.is_empty() => "none".to_owned(),
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(|item| readable_at(item, depth + 1)).collect();
            items.join(", ")
        }
        Value::Object(fields) => {
            // What only wraps one text is that text, and what brings words of its own is told in those.
            let only = fields.values().next().filter(|_| fields.len() == 1);
            if let Some(text) = fields.get("text").or(only).and_then(Value::as_str)
                && !text.trim().is_empty()
            {
                return text.trim().to_owned();
            }
            let fields: Vec<String> = fields
                .iter()
                .filter(|(_, field)| !field.is_null())
                .map(|(name, field)| readable_field(name, field, depth + 1))
                .collect();
            fields.join("; ")
        }
    }
}

fn readable_field(name: &str, value: &Value, depth: usize) -> String {
    let Some(number) = value.as_f64() else {
        return format!("{}: {}", name_words(name).join(" "), readable_at(value, depth));
    };
    let (words, unit) = without_unit(name);
    if words.iter().any(|word| matches!(word.as_str(), "percent" | "percentage" | "pct")) {
        // A fraction, as ROS 2 gives it, or already percent.
        let is_share = value.is_f64() && (0.0..=1.0).contains(&number);
        let percent = if is_share { number * 100.0 } else { number };
        return format!("{}: {} %", words.join(" "), rounded(percent));
    }
    let unit = unit.map(|unit| format!(" {unit}")).unwrap_or_default();
    format!("{}: {}{unit}", words.join(" "), rounded(number))
}

/// Without the digits that only a machine wants.
fn rounded(number: f64) -> f64 {
    (number * 100.0).round() / 100.0
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn results_are_told_as_a_person_reads_them() {
        for (value, text) in [
            (json!("a red cup "), "a red cup"),
            (json!({"text": "a red cup"}), "a red cup"),
            (json!({"place": "kitchen", "sees": ["cup"], "text": "I see a cup."}), "I see a cup."),
            (
                json!({"percentage": 0.834, "voltage_v": 12.103, "charging": false}),
                "charging: no; percentage: 83.4 %; voltage: 12.1 V",
            ),
            (json!({"percent": 42}), "percent: 42 %"),
            (
                json!({"speed_mps": 0.5, "pose": {"x": 1.0, "room": "kitchen"}}),
                "pose: room: kitchen; x: 1; speed: 0.5 m/s",
            ),
            (json!(["cup", "table"]), "cup, table"),
            (json!({"on": true}), "on: yes"),
            (json!([]), "none"),
            (json!(null), ""),
        ] {
            assert_eq!(readable(&value), text, "{value}");
        }
        assert!(readable(&json!("x".repeat(100_000))).chars().count() < TOLD_CHARACTERS + 100);
    }
}
