//! What a parameter may be set to.

use std::fmt;

use serde_json::Value;

/// The type of a parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ParameterType {
    /// It has no value, and so no type.
    NotSet,
    /// `true` or `false`.
    Bool,
    /// A whole number of 64 bits.
    Integer,
    /// A number.
    Double,
    /// Text.
    String,
    /// A list of bytes.
    ByteArray,
    /// A list of `true` and `false`.
    BoolArray,
    /// A list of whole numbers.
    IntegerArray,
    /// A list of numbers.
    DoubleArray,
    /// A list of texts.
    StringArray,
}

impl ParameterType {
    /// By the numbers of `rcl_interfaces/msg/ParameterType`. What is not among them is not set.
    pub(super) fn of(number: u64) -> Self {
        match number {
            1 => Self::Bool,
            2 => Self::Integer,
            3 => Self::Double,
            4 => Self::String,
            5 => Self::ByteArray,
            6 => Self::BoolArray,
            7 => Self::IntegerArray,
            8 => Self::DoubleArray,
            9 => Self::StringArray,
            _ => Self::NotSet,
        }
    }

    /// The number, and the field of `rcl_interfaces/msg/ParameterValue` that holds the value.
    pub(super) fn place(self) -> (u8, &'static str) {
        match self {
            Self::NotSet => (0, ""),
            Self::Bool => (1, "bool_value"),
            Self::Integer => (2, "integer_value"),
            Self::Double => (3, "double_value"),
            Self::String => (4, "string_value"),
            Self::ByteArray => (5, "byte_array_value"),
            Self::BoolArray => (6, "bool_array_value"),
            Self::IntegerArray => (7, "integer_array_value"),
            Self::DoubleArray => (8, "double_array_value"),
            Self::StringArray => (9, "string_array_value"),
        }
    }
}

impl fmt::Display for ParameterType {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::NotSet => "no value",
            Self::Bool => "true or false",
            Self::Integer => "a whole number",
            Self::Double => "a number",
            Self::String => "text",
            Self::ByteArray => "a list of bytes",
            Self::BoolArray => "a list of true and false",
            Self::IntegerArray => "a list of whole numbers",
            Self::DoubleArray => "a list of numbers",
            Self::StringArray => "a list of texts",
        })
    }
}

/// The values that a number may have: both ends, and what is a whole number of steps above the first. A step of zero means
/// all between.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Range {
    /// Of a whole number.
    Integer {
        /// The least.
        from: i64,
        /// The most.
        to: i64,
        /// The distance of two values.
        step: u64,
    },
    /// Of a number.
    Double {
        /// The least.
        from: f64,
        /// The most.
        to: f64,
        /// The distance of two values.
        step: f64,
    },
}

impl fmt::Display for Range {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Integer { from, to, step: 0 | 1 } => write!(formatter, "from {from} to {to}"),
            Self::Integer { from, to, step } => write!(formatter, "from {from} to {to} in steps of {step}"),
            Self::Double { from, to, step } if *step > 0.0 => {
                write!(formatter, "from {from} to {to} in steps of {step}")
            }
            Self::Double { from, to, .. } => write!(formatter, "from {from} to {to}"),
        }
    }
}

/// What a node says of one of its parameters.
#[derive(Debug, Clone, PartialEq)]
pub struct Descriptor {
    /// Its name.
    pub name: String,
    /// Its type.
    pub parameter_type: ParameterType,
    /// What it is for.
    pub description: String,
    /// In words, what else it must be.
    pub constraints: String,
    /// Whether it can't be changed.
    pub read_only: bool,
    /// Whether its type may change with its value.
    pub dynamic_typing: bool,
    /// The values that it may have, where they are bounded.
    pub range: Option<Range>,
}

impl Descriptor {
    /// From exact JSON of `rcl_interfaces/msg/ParameterDescriptor`.
    pub(super) fn read(message: &Value) -> Option<Self> {
        let text = |field: &str| message.get(field).and_then(Value::as_str).map(str::to_owned);
        let flag = |field: &str| message.get(field).and_then(Value::as_bool).unwrap_or_default();
        let parameter_type = ParameterType::of(message.get("type")?.as_u64()?);
        let range = match parameter_type {
            ParameterType::Integer => message.pointer("/integer_range/0").and_then(integer_range),
            ParameterType::Double => message.pointer("/floating_point_range/0").and_then(double_range),
            _ => None,
        };
        Some(Self {
            name: text("name")?,
            parameter_type,
            description: text("description")?,
            constraints: text("additional_constraints")?,
            read_only: flag("read_only"),
            dynamic_typing: flag("dynamic_typing"),
            range,
        })
    }
}

fn integer_range(range: &Value) -> Option<Range> {
    Some(Range::Integer {
        from: range.get("from_value")?.as_i64()?,
        to: range.get("to_value")?.as_i64()?,
        step: range.get("step")?.as_u64()?,
    })
}

fn double_range(range: &Value) -> Option<Range> {
    let number = |field: &str| super::value::double(range.get(field)?);
    Some(Range::Double { from: number("from_value")?, to: number("to_value")?, step: number("step")? })
}
