//! Comparing JSON values as conditions mean it.
//!
//! JSON has no words for the odd numbers of a message: they are written as texts, and are read as what they stand for here.
//! NaN is what a sensor says that has measured nothing, so it is never known to be anything. An infinity is a number beyond
//! all others: a range sensor says so that sees nothing as far as it can see.

use std::cmp::Ordering;

use cortex_protocol::condition::Test;
use serde_json::{Number, Value};

/// How NaN is written.
const NOT_A_NUMBER: &str = "NaN";
/// How the infinities are written.
const INFINITIES: [(&str, f64); 2] = [("Infinity", f64::INFINITY), ("-Infinity", f64::NEG_INFINITY)];

/// Whether a value passes a test. None when they can't be compared, and for a change, which one value can't tell.
pub(super) fn holds(test: &Test, value: &Value) -> Option<bool> {
    let ordered = |wanted: &Value, fits: fn(Ordering) -> bool| order(value, wanted).map(fits);
    match test {
        Test::Present => is_known(value).then_some(true),
        Test::Change => None,
        Test::Equal(wanted) => same_kind(value, wanted),
        Test::Different(wanted) => same_kind(value, wanted).map(|same| !same),
        Test::Greater(wanted) => ordered(wanted, Ordering::is_gt),
        Test::Less(wanted) => ordered(wanted, Ordering::is_lt),
        Test::AtLeast(wanted) => ordered(wanted, Ordering::is_ge),
        Test::AtMost(wanted) => ordered(wanted, Ordering::is_le),
        Test::In(wanted) => one_of(value, wanted.as_array()?),
        Test::Contains(wanted) => match value {
            Value::Array(items) if items.is_empty() => Some(false),
            Value::Array(items) => one_of(wanted, items),
            Value::String(text) => Some(text.contains(wanted.as_str()?)),
            _ => None,
        },
        Test::Near { value: wanted, tolerance, unit } => {
            let (found, wanted) = (real(value)?, real(wanted)?);
            distance(found, wanted, unit).map(|distance| distance <= *tolerance)
        }
    }
}

/// Whether anything of a value is known: it is not NaN, or not all of it.
pub(super) fn is_known(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::String(text) => text != NOT_A_NUMBER,
        Value::Array(items) => items.is_empty() || items.iter().any(is_known),
        Value::Object(fields) => fields.is_empty() || fields.values().any(is_known),
        Value::Bool(_) | Value::Number(_) => true,
    }
}

/// Whether two values are the same, whatever they are. None where that rests on what is not known.
pub(super) fn same(left: &Value, right: &Value) -> Option<bool> {
    match (left, right) {
        (Value::Array(left), Value::Array(right)) => {
            let same = left.len() == right.len();
            all(std::iter::once(Some(same)).chain(left.iter().zip(right).map(|(left, right)| self::same(left, right))))
        }
        (Value::Object(left), Value::Object(right)) => {
            let same = left.len() == right.len();
            let in_right = |(name, value)| right.get(name).map_or(Some(false), |other| self::same(value, other));
            all(std::iter::once(Some(same)).chain(left.iter().map(in_right)))
        }
        _ if is_unknown(left) || is_unknown(right) => None,
        _ => Some(order(left, right).map_or_else(|| left == right, Ordering::is_eq)),
    }
}

/// Whether all are true: one that is not decides, then one that is not known.
fn all(each: impl Iterator<Item = Option<bool>>) -> Option<bool> {
    let mut result = Some(true);
    for one in each {
        match one {
            Some(false) => return Some(false),
            None => result = None,
            Some(true) => {}
        }
    }
    result
}

/// Null stands for what is not known, too.
fn is_unknown(value: &Value) -> bool {
    value.is_null() || value == NOT_A_NUMBER
}

/// As [`same`], for values of one kind.
fn same_kind(left: &Value, right: &Value) -> Option<bool> {
    let is_one_kind = std::mem::discriminant(left) == std::mem::discriminant(right) || order(left, right).is_some();
    is_one_kind.then(|| same(left, right)).flatten()
}

/// Whether a value is in a list. None where nothing of the list is of its kind, or where what may be it is not known.
fn one_of(value: &Value, list: &[Value]) -> Option<bool> {
    let compared: Vec<bool> = list.iter().filter_map(|item| same_kind(value, item)).collect();
    if compared.contains(&true) {
        return Some(true);
    }
    (!compared.is_empty() && !list.iter().any(is_unknown)).then_some(false)
}

fn order(left: &Value, right: &Value) -> Option<Ordering> {
    match (left, right) {
        (Value::Number(left), Value::Number(right)) => compare(left, right),
        // Two texts are texts.
        (Value::Number(_), Value::String(_)) | (Value::String(_), Value::Number(_)) => {
            real(left)?.partial_cmp(&real(right)?)
        }
        _ => None,
    }
}

/// Whole numbers are compared exactly.
fn compare(left: &Number, right: &Number) -> Option<Ordering> {
    let whole = |number: &Number| number.as_i64().map(i128::from).or_else(|| number.as_u64().map(i128::from));
    match (whole(left), whole(right)) {
        (Some(left), Some(right)) => Some(left.cmp(&right)),
        _ => left.as_f64()?.partial_cmp(&right.as_f64()?),
    }
}

/// A number, be it infinite.
fn real(value: &Value) -> Option<f64> {
    let infinite = || INFINITIES.iter().find(|(name, _)| value == name).map(|(_, number)| *number);
    value.as_f64().or_else(infinite)
}

/// How far two numbers are apart. None where there is no such thing: an infinite angle is none.
fn distance(left: f64, right: f64, unit: &str) -> Option<f64> {
    let round = match unit {
        "rad" => std::f64::consts::TAU,
        "deg" => 360.0,
        _ => return Some((left - right).abs()).filter(|distance| !distance.is_nan()),
    };
    let way = (left - right).rem_euclid(round);
    Some(way.min(round - way)).filter(|distance| distance.is_finite())
}
