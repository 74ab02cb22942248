//! Comparing JSON values as conditions mean it.

use std::cmp::Ordering;

use cortex_protocol::condition::Test;
use serde_json::{Number, Value};

/// Whether a value passes a test. None when they can't be compared, and for a change, which one value can't tell.
pub(super) fn holds(test: &Test, value: &Value) -> Option<bool> {
    let ordered = |wanted: &Value, fits: fn(Ordering) -> bool| order(value, wanted).map(fits);
    match test {
        Test::Present => Some(true),
        Test::Change => None,
        Test::Equal(wanted) => same(value, wanted),
        Test::Different(wanted) => same(value, wanted).map(|same| !same),
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
            let (found, wanted) = (finite(value)?, finite(wanted)?);
            Some(distance(found, wanted, unit) <= *tolerance)
        }
    }
}

/// Whether two values are the same, whatever they are.
pub(super) fn is_same(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Number(left), Value::Number(right)) => compare(left, right).is_some_and(Ordering::is_eq),
        (Value::Array(left), Value::Array(right)) => {
            left.len() == right.len() && left.iter().zip(right).all(|(left, right)| is_same(left, right))
        }
        (Value::Object(left), Value::Object(right)) => {
            let in_right =
                |(name, value): (&String, &Value)| right.get(name).is_some_and(|other| is_same(value, other));
            left.len() == right.len() && left.iter().all(in_right)
        }
        _ => left == right,
    }
}

/// As [`is_same`], for values of one kind. Nothing is the same as null, which stands for what is not known.
fn same(left: &Value, right: &Value) -> Option<bool> {
    let is_one_kind = match (left, right) {
        (Value::Null, _) | (_, Value::Null) => false,
        _ => std::mem::discriminant(left) == std::mem::discriminant(right),
    };
    is_one_kind.then(|| is_same(left, right))
}

/// Whether a value is in a list. None where nothing of the list is of its kind.
fn one_of(value: &Value, list: &[Value]) -> Option<bool> {
    let compared: Vec<bool> = list.iter().filter_map(|item| same(value, item)).collect();
    (!compared.is_empty()).then(|| compared.contains(&true))
}

fn order(left: &Value, right: &Value) -> Option<Ordering> {
    match (left, right) {
        (Value::Number(left), Value::Number(right)) => compare(left, right),
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

fn finite(value: &Value) -> Option<f64> {
    value.as_f64().filter(|number| number.is_finite())
}

fn distance(left: f64, right: f64, unit: &str) -> f64 {
    let round = match unit {
        "rad" => std::f64::consts::TAU,
        "deg" => 360.0,
        _ => return (left - right).abs(),
    };
    let way = (left - right).rem_euclid(round);
    way.min(round - way)
}
