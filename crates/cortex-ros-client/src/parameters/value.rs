//! Values of parameters as ROS messages, and as JSON.

use r2r::rcl_interfaces::msg;
use serde_json::{Value, json};

use crate::text::carried;

/// The value of a parameter.
#[derive(Debug, Clone, PartialEq)]
pub enum ParameterValue {
    /// The parameter has none.
    NotSet,
    /// Yes or no.
    Bool(bool),
    /// A whole number.
    Integer(i64),
    /// A number.
    Double(f64),
    /// Text.
    String(String),
    /// Truth values.
    BoolArray(Vec<bool>),
    /// Bytes.
    ByteArray(Vec<u8>),
    /// Whole numbers.
    IntegerArray(Vec<i64>),
    /// Numbers.
    DoubleArray(Vec<f64>),
    /// Texts.
    StringArray(Vec<String>),
}

impl ParameterValue {
    /// The name of its type, as people see it.
    pub(super) fn type_name(&self) -> &'static str {
        match self {
            Self::NotSet => "not set",
            Self::Bool(_) => "boolean",
            Self::Integer(_) => "integer",
            Self::Double(_) => "double",
            Self::String(_) => "string",
            Self::BoolArray(_) => "boolean array",
            Self::ByteArray(_) => "byte array",
            Self::IntegerArray(_) => "integer array",
            Self::DoubleArray(_) => "double array",
            Self::StringArray(_) => "string array",
        }
    }
}

/// A parameter as JSON. Null when it is not set; numbers that JSON does not have are text.
#[must_use]
pub fn value_as_json(value: &ParameterValue) -> Value {
    let number = |number: &f64| if number.is_finite() { json!(number) } else { json!(number.to_string()) };
    match value {
        ParameterValue::NotSet => Value::Null,
        ParameterValue::Bool(value) => json!(value),
        ParameterValue::Integer(value) => json!(value),
        ParameterValue::Double(value) => number(value),
        ParameterValue::String(value) => json!(value),
        ParameterValue::BoolArray(values) => json!(values),
        ParameterValue::ByteArray(values) => json!(values),
        ParameterValue::IntegerArray(values) => json!(values),
        ParameterValue::DoubleArray(values) => values.iter().map(number).collect(),
        ParameterValue::StringArray(values) => json!(values),
    }
}

/// The number of a value's type in `rcl_interfaces/msg/ParameterType`.
pub(super) fn type_of(value: &ParameterValue) -> u8 {
    match value {
        ParameterValue::NotSet => 0,
        ParameterValue::Bool(_) => 1,
        ParameterValue::Integer(_) => 2,
        ParameterValue::Double(_) => 3,
        ParameterValue::String(_) => 4,
        ParameterValue::ByteArray(_) => 5,
        ParameterValue::BoolArray(_) => 6,
        ParameterValue::IntegerArray(_) => 7,
        ParameterValue::DoubleArray(_) => 8,
        ParameterValue::StringArray(_) => 9,
    }
}

pub(super) fn to_message(value: ParameterValue) -> msg::ParameterValue {
    let mut message = msg::ParameterValue { type_: type_of(&value), ..msg::ParameterValue::default() };
    match value {
        ParameterValue::NotSet => {}
        ParameterValue::Bool(value) => message.bool_value = value,
        ParameterValue::Integer(value) => message.integer_value = value,
        ParameterValue::Double(value) => message.double_value = value,
        ParameterValue::String(value) => message.string_value = carried(value),
        ParameterValue::ByteArray(value) => message.byte_array_value = value,
        ParameterValue::BoolArray(value) => message.bool_array_value = value,
        ParameterValue::IntegerArray(value) => message.integer_array_value = value,
        ParameterValue::DoubleArray(value) => message.double_array_value = value,
        ParameterValue::StringArray(value) => {
            message.string_array_value = value.into_iter().map(carried).collect();
        }
    }
    message
}

/// The value of a message. A type that there is not counts as not set.
pub(super) fn from_message(message: msg::ParameterValue) -> ParameterValue {
    match message.type_ {
        1 => ParameterValue::Bool(message.bool_value),
        2 => ParameterValue::Integer(message.integer_value),
        3 => ParameterValue::Double(message.double_value),
        4 => ParameterValue::String(message.string_value),
        5 => ParameterValue::ByteArray(message.byte_array_value),
        6 => ParameterValue::BoolArray(message.bool_array_value),
        7 => ParameterValue::IntegerArray(message.integer_array_value),
        8 => ParameterValue::DoubleArray(message.double_array_value),
        9 => ParameterValue::StringArray(message.string_array_value),
        _ => ParameterValue::NotSet,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_type_comes_back_from_a_message() {
        let values = [
            ParameterValue::NotSet,
            ParameterValue::Bool(true),
            ParameterValue::Integer(-3),
            ParameterValue::Double(0.5),
            ParameterValue::String("a".to_owned()),
            ParameterValue::ByteArray(vec![1, 2]),
            ParameterValue::BoolArray(vec![true]),
            ParameterValue::IntegerArray(vec![4]),
            ParameterValue::DoubleArray(vec![1.5]),
            ParameterValue::StringArray(vec!["b".to_owned()]),
        ];
        for (number, value) in values.into_iter().enumerate() {
            let message = to_message(value.clone());
            assert_eq!(usize::from(message.type_), number);
            assert_eq!(from_message(message), value);
        }
        let unknown = msg::ParameterValue { type_: 99, ..Default::default() };
        assert_eq!(from_message(unknown), ParameterValue::NotSet);
    }

    #[test]
    fn numbers_that_json_does_not_have_are_text_and_zeros_are_replaced() {
        assert_eq!(value_as_json(&ParameterValue::Double(f64::INFINITY)), json!("inf"));
        assert_eq!(to_message(ParameterValue::String("a\0b".to_owned())).string_value, "a\u{fffd}b");
    }
}
