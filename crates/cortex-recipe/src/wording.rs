//! What a reader of TOML says, in the words of a recipe, with a remedy. It speaks of types of this program, `f64`,
//! which say nothing to a person who writes a recipe.

use crate::check::nearest;

/// A message in other words, and how to fix it; empty where the message says it.
pub(crate) fn told(message: &str) -> (String, String) {
    let message = message.replace('\n', ", ");
    if let Some(value) = message.strip_suffix(crate::seconds::NO_NUMBER) {
        return (message.clone(), format!("write a number such as {}", crate::seconds::meant(value)));
    }
    if let Some((unknown, known)) = message.split_once(", expected ")
        && (unknown.starts_with("unknown field `") || unknown.starts_with("unknown variant `"))
    {
        let names: Vec<&str> = known.split('`').skip(1).step_by(2).collect();
        let wrong = unknown.split('`').nth(1).unwrap_or_default();
        let words = if unknown.starts_with("unknown field") { "the keys here are" } else { "write one of" };
        let fix = match nearest(wrong, names.iter().copied()) {
            Some(name) => format!("did you mean `{name}`?"),
            None if names.is_empty() => String::new(),
            None => format!("{words} {}", names.join(", ")),
        };
        return (unknown.to_owned(), fix);
    }
    if let Some(field) = message.strip_prefix("missing field `").and_then(|rest| rest.split('`').next()) {
        return (message.clone(), missing(field));
    }
    if message.starts_with("duplicate key") {
        return (message, "write it once, with everything that belongs to it".to_owned());
    }
    if let Some((found, expected)) =
        message.strip_prefix("invalid type: ").and_then(|rest| rest.split_once(", expected "))
        && let Some((kind, fix)) = kind(expected, found)
    {
        return (format!("{} is no {kind}", shown(found)), fix);
    }
    (message, String::new())
}

/// What is to be written for a key that has no default.
fn missing(field: &str) -> String {
    match field {
        "start" => "add start = { program = \"NAME\" }, or start = \"external\" if something else starts it".to_owned(),
        "recipe" => "add recipe = 1 at the top".to_owned(),
        _ => format!("add {field} = ..."),
    }
}

/// A value as it is written, of what the reader says of it: ``string "x"``, ``integer `3` ``.
fn shown(found: &str) -> &str {
    let value = found.split_once([' ']).map_or(found, |(_, value)| value);
    value.trim_matches('`')
}

/// What was expected, in words, and how the value that was found becomes that.
fn kind(expected: &str, found: &str) -> Option<(&'static str, String)> {
    let value = shown(found);
    let is_text = found.starts_with("string ");
    let unquoted = value.trim_matches('"');
    Some(match expected {
        "f64" | "f32" => {
            let fix = if is_text && unquoted.parse::<f64>().is_ok() { "without quotes" } else { "such as 1.0" };
            ("number", format!("write a number {fix}"))
        }
        "u8" | "u16" | "u32" | "u64" | "usize" | "i32" | "i64" => {
            let fix = if is_text && unquoted.parse::<i64>().is_ok() { "without quotes" } else { "such as 1" };
            ("whole number", format!("write a whole number {fix}"))
        }
        "a string" => ("text", format!("write it in quotes: \"{unquoted}\"")),
        "a boolean" => ("truth value", "write true or false, without quotes".to_owned()),
        "a sequence" => ("list", format!("write it in brackets: [{value}]")),
        "a map" => ("table", "write it in braces: { key = value }".to_owned()),
        _ if expected.starts_with("struct ") => ("table", "write it in braces: { key = value }".to_owned()),
        _ => return None,
    })
}
