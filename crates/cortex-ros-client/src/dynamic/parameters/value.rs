//! The value of a parameter, as JSON.

use serde_json::{Value, json};
use thiserror::Error;

use super::{Descriptor, ParameterType, Range};

/// Of a value that was given, so much is shown in an error.
const SHOWN: usize = 60;
/// Two numbers that differ by less, relative to their size, are the same to a step.
const PRECISION: f64 = 1e-9;
/// Whole numbers up to here are exact as floating-point numbers.
const EXACT: f64 = 9_007_199_254_740_992.0;

/// The value in exact JSON of `rcl_interfaces/msg/ParameterValue`. Null where it is not set.
pub(super) fn of_message(message: &Value) -> Value {
    let number = message.get("type").and_then(Value::as_u64).unwrap_or_default();
    let (_, field) = ParameterType::of(number).place();
    message.get(field).cloned().unwrap_or_default()
}

/// A value that a parameter can't have.
#[derive(Debug, PartialEq, Error)]
#[error("expected {expected}, got {given}")]
pub(super) struct Unexpected {
    expected: String,
    given: String,
}

/// Exact JSON of `rcl_interfaces/msg/ParameterValue`, when the value is one that the parameter may have; else what would
/// be right.
pub(super) fn to_message(descriptor: &Descriptor, value: &Value) -> Result<Value, Unexpected> {
    let declared = descriptor.parameter_type;
    let expected = |right: &dyn std::fmt::Display| Unexpected { expected: right.to_string(), given: shown(value) };
    let found = match converted(declared, value) {
        Some(converted) => Some((declared, converted)),
        // Without a type of its own it takes that of the value.
        None if descriptor.dynamic_typing || declared == ParameterType::NotSet => {
            type_of(value).and_then(|found| Some((found, converted(found, value)?)))
        }
        None => None,
    };
    let Some((parameter_type, converted)) = found else {
        return Err(match descriptor.range {
            Some(range) => expected(&format_args!("{declared} {range}")),
            None if declared == ParameterType::NotSet => expected(&"a value of one type"),
            None => expected(&declared),
        });
    };
    if let Some(range) = descriptor.range.filter(|_| parameter_type == declared)
        && !is_within(range, &converted)
    {
        return Err(expected(&format_args!("{declared} {range}")));
    }
    let (number, field) = parameter_type.place();
    Ok(json!({ "type": number, field: converted }))
}

/// The value as one of that type. None when it is not.
fn converted(parameter_type: ParameterType, value: &Value) -> Option<Value> {
    let element = match parameter_type {
        ParameterType::NotSet => return None,
        ParameterType::String => return value.as_str().map(|text| json!(text)),
        ParameterType::Bool => return boolean(value).map(|value| json!(value)),
        ParameterType::Integer => return integer(value).map(|value| json!(value)),
        ParameterType::Double => return double(value).map(number),
        ParameterType::ByteArray => |value: &Value| Some(json!(u8::try_from(integer(value)?).ok()?)),
        ParameterType::BoolArray => |value: &Value| Some(json!(boolean(value)?)),
        ParameterType::IntegerArray => |value: &Value| Some(json!(integer(value)?)),
        ParameterType::DoubleArray => |value: &Value| Some(number(double(value)?)),
        ParameterType::StringArray => |value: &Value| Some(json!(value.as_str()?)),
    };
    let spelled;
    let list = match value {
        Value::String(text) => {
            spelled = serde_json::from_str::<Value>(text).ok()?;
            spelled.as_array()?
        }
        other => other.as_array()?,
    };
    list.iter().map(element).collect()
}

/// The type that a value would have by itself.
fn type_of(value: &Value) -> Option<ParameterType> {
    Some(match value {
        Value::Null | Value::Object(_) => return None,
        Value::Bool(_) => ParameterType::Bool,
        Value::Number(number) if number.is_i64() => ParameterType::Integer,
        Value::Number(_) => ParameterType::Double,
        Value::String(_) => ParameterType::String,
        Value::Array(list) if list.is_empty() => return None,
        Value::Array(list) if list.iter().all(Value::is_boolean) => ParameterType::BoolArray,
        Value::Array(list) if list.iter().all(Value::is_i64) => ParameterType::IntegerArray,
        Value::Array(list) if list.iter().all(Value::is_number) => ParameterType::DoubleArray,
        Value::Array(list) if list.iter().all(Value::is_string) => ParameterType::StringArray,
        Value::Array(_) => return None,
    })
}

fn boolean(value: &Value) -> Option<bool> {
    match value {
        Value::Bool(value) => Some(*value),
        Value::String(text) => text.trim().parse().ok(),
        _ => None,
    }
}

fn integer(value: &Value) -> Option<i64> {
    match value {
        Value::String(text) => text.trim().parse().ok(),
        Value::Number(number) => number.as_i64().or_else(|| {
            let number = number.as_f64()?;
            let is_whole = number.fract() == 0.0 && number.abs() <= EXACT;
            // Exact, as was just checked.
            #[expect(clippy::cast_possible_truncation, reason = "whole and small enough")]
            is_whole.then_some(number as i64)
        }),
        _ => None,
    }
}

/// A number, or the name of an infinite one. "Not a number" is none.
pub(super) fn double(value: &Value) -> Option<f64> {
    let number = match value {
        Value::Number(number) => number.as_f64(),
        Value::String(text) => text.trim().parse().ok(),
        _ => None,
    };
    number.filter(|number| !number.is_nan())
}

/// As exact JSON has it.
fn number(number: f64) -> Value {
    if number.is_finite() { json!(number) } else { json!(if number > 0.0 { "Infinity" } else { "-Infinity" }) }
}

fn is_within(range: Range, value: &Value) -> bool {
    match range {
        Range::Integer { from, to, step } => {
            let Some(value) = value.as_i64() else { return false };
            let above = i128::from(value) - i128::from(from);
            let is_on_step = step == 0 || above % i128::from(step) == 0;
            value == from || value == to || (from..=to).contains(&value) && is_on_step
        }
        Range::Double { from, to, step } => {
            let Some(value) = double(value).filter(|value| value.is_finite()) else { return false };
            let same = |other: f64| value == other || (value - other).abs() <= PRECISION * value.abs().max(other.abs());
            let is_on_step = step <= 0.0 || same(from + ((value - from) / step).round() * step);
            same(from) || same(to) || (from..=to).contains(&value) && is_on_step
        }
    }
}

fn shown(value: &Value) -> String {
    let text = value.to_string();
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn descriptor(parameter_type: ParameterType, range: Option<Range>) -> Descriptor {
        Descriptor {
            name: "p".to_owned(),
            parameter_type,
            description: String::new(),
            constraints: String::new(),
            read_only: false,
            dynamic_typing: false,
            range,
        }
    }

    fn set(parameter_type: ParameterType, value: Value) -> Result<Value, String> {
        let set = to_message(&descriptor(parameter_type, None), &value).map(|message| of_message(&message));
        set.map_err(|unexpected| unexpected.to_string())
    }

    #[test]
    fn what_spells_the_right_type_is_taken_for_it() {
        use ParameterType::*;
        for (parameter_type, given, taken) in [
            (Bool, json!("true"), json!(true)),
            (Integer, json!("-7"), json!(-7)),
            (Integer, json!(5.0), json!(5)),
            (Integer, json!(i64::MIN), json!(i64::MIN)),
            (Double, json!("0.5"), json!(0.5)),
            (Double, json!(3), json!(3.0)),
            (Double, json!("inf"), json!("Infinity")),
            (Double, json!("-Infinity"), json!("-Infinity")),
            (String, json!("7"), json!("7")),
            (ByteArray, json!([0, 255]), json!([0, 255])),
            (BoolArray, json!([true, "false"]), json!([true, false])),
            (IntegerArray, json!("[1, 2]"), json!([1, 2])),
            (DoubleArray, json!([1, 2.5, "3"]), json!([1.0, 2.5, 3.0])),
            (DoubleArray, json!([]), json!([])),
            (StringArray, json!(["a", ""]), json!(["a", ""])),
        ] {
            assert_eq!(set(parameter_type, given.clone()), Ok(taken), "{parameter_type:?} {given}");
        }
    }

    #[test]
    fn what_does_not_fit_is_refused_with_what_would() {
        use ParameterType::*;
        for (parameter_type, given, problem) in [
            (Bool, json!(1), "expected true or false, got 1"),
            (Integer, json!(0.5), "expected a whole number, got 0.5"),
            (Integer, json!(u64::MAX), "expected a whole number, got 18446744073709551615"),
            (Integer, json!(1e300), "expected a whole number, got 1e+300"),
            (Double, json!("fast"), "expected a number, got \"fast\""),
            (Double, json!("NaN"), "expected a number, got \"NaN\""),
            (String, json!(7), "expected text, got 7"),
            (ByteArray, json!([256]), "expected a list of bytes, got [256]"),
            (IntegerArray, json!("[1"), "expected a list of whole numbers, got \"[1\""),
            (StringArray, json!({"a": 1}), "expected a list of texts, got {\"a\":1}"),
            (NotSet, json!([1, "a"]), "expected a value of one type, got [1,\"a\"]"),
        ] {
            assert_eq!(set(parameter_type, given).unwrap_err(), problem);
        }
        let long = set(Integer, json!("ä".repeat(1000))).unwrap_err();
        assert!(long.chars().count() < 120 && long.ends_with('…'), "{long}");
    }

    #[test]
    fn ranges_and_steps_are_kept_and_their_ends_are_always_right() {
        let integer = Range::Integer { from: -10, to: 11, step: 5 };
        let double = Range::Double { from: 0.0, to: 1.0, step: 0.1 };
        let widest = Range::Integer { from: i64::MIN, to: i64::MAX, step: u64::MAX };
        for (parameter_type, range, value, fits) in [
            (ParameterType::Integer, integer, json!(-10), true),
            (ParameterType::Integer, integer, json!(5), true),
            (ParameterType::Integer, integer, json!(11), true),
            (ParameterType::Integer, integer, json!(4), false),
            (ParameterType::Integer, integer, json!(15), false),
            (ParameterType::Integer, widest, json!(i64::MAX), true),
            (ParameterType::Integer, widest, json!(0), false),
            (ParameterType::Double, double, json!(0.3), true),
            (ParameterType::Double, double, json!("1"), true),
            (ParameterType::Double, double, json!(0.35), false),
            (ParameterType::Double, double, json!(1.1), false),
            (ParameterType::Double, double, json!("inf"), false),
            (ParameterType::Double, Range::Double { from: 0.0, to: 1.0, step: 0.0 }, json!(0.123), true),
        ] {
            let descriptor = descriptor(parameter_type, Some(range));
            let set = to_message(&descriptor, &value);
            assert_eq!(set.is_ok(), fits, "{value}: {set:?}");
        }
        let descriptor = descriptor(ParameterType::Integer, Some(integer));
        assert_eq!(
            to_message(&descriptor, &json!(4)).unwrap_err().to_string(),
            "expected a whole number from -10 to 11 in steps of 5, got 4"
        );
    }

    #[test]
    fn a_parameter_without_a_fixed_type_takes_that_of_the_value() {
        let fixed = descriptor(ParameterType::Integer, None);
        let dynamic = Descriptor { dynamic_typing: true, ..fixed.clone() };
        assert!(to_message(&fixed, &json!("on")).is_err());
        assert_eq!(to_message(&dynamic, &json!("on")), Ok(json!({ "type": 4, "string_value": "on" })));
        assert_eq!(to_message(&dynamic, &json!("5")), Ok(json!({ "type": 2, "integer_value": 5 })));
        assert_eq!(to_message(&dynamic, &json!([0.5, 1])), Ok(json!({ "type": 8, "double_array_value": [0.5, 1.0] })));
    }
}
