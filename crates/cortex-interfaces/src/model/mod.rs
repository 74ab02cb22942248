//! What is known about a type of message: pure data, without pointers into loaded libraries.
//!
//! A [`MessageType`] says what a message *means*. How it lies in memory is known to the `native` module only, which
//! does not trust what is written here.

mod choices;

pub(crate) use choices::assign_choices;

use std::sync::Arc;

use serde_json::Value;

use crate::InterfaceName;

/// A type of message: its fields in the order of the interface file.
#[derive(Debug, Clone, PartialEq)]
pub struct MessageType {
    /// Such as `geometry_msgs/msg/Pose`; the parts of a service or an action are named as ROS names them,
    /// `std_srvs/srv/SetBool_Request`.
    pub name: InterfaceName,
    /// What the interface file says of it; empty where it says nothing or is not installed.
    pub description: String,
    /// Its fields. Empty for a message without any.
    pub fields: Vec<Field>,
    /// Its constants, in the order of the interface file.
    pub constants: Vec<Constant>,
    /// Bytes that one message takes in memory, without what its strings and sequences point to.
    pub size_of: usize,
}

impl MessageType {
    /// The field of that name.
    #[must_use]
    pub fn field(&self, name: &str) -> Option<&Field> {
        self.fields.iter().find(|field| field.name == name)
    }
}

/// A field of a message.
#[derive(Debug, Clone, PartialEq)]
pub struct Field {
    /// Unique within the message.
    pub name: String,
    /// What one element is.
    pub kind: FieldKind,
    /// How many elements there are.
    pub arity: Arity,
    /// What the interface file says of it: often the unit, and what special values mean.
    pub description: String,
    /// The default that the interface declares, in exact JSON. Without one, a field starts as zero, false or empty.
    pub default: Option<Value>,
    /// Which values have names, and whether others are allowed.
    pub choices: Choices,
    /// Bytes from the start of the message to the field.
    pub offset: usize,
}

/// What one element of a field is.
#[derive(Debug, Clone, PartialEq)]
pub enum FieldKind {
    /// `bool`
    Boolean,
    /// `byte`: eight bits without a meaning.
    Byte,
    /// `char` of an `.idl` file. The `char` of a `.msg` file is a [`FieldKind::Uint8`].
    Character,
    /// `wchar` of an `.idl` file: one unit of UTF-16.
    WideCharacter,
    /// `int8`
    Int8,
    /// `uint8`
    Uint8,
    /// `int16`
    Int16,
    /// `uint16`
    Uint16,
    /// `int32`
    Int32,
    /// `uint32`
    Uint32,
    /// `int64`
    Int64,
    /// `uint64`
    Uint64,
    /// `float32`
    Float32,
    /// `float64`
    Float64,
    /// `string`, at most so many bytes.
    String {
        /// The bound in bytes.
        bound: Option<usize>,
    },
    /// `wstring`, at most so many units of UTF-16.
    WideString {
        /// The bound in units.
        bound: Option<usize>,
    },
    /// A message within the message.
    Message(Arc<MessageType>),
}

impl FieldKind {
    /// The values that an integer of this kind can hold; none for what is not an integer.
    #[must_use]
    pub fn integer_range(&self) -> Option<(i128, i128)> {
        Some(match self {
            Self::Byte | Self::Uint8 => (0, u8::MAX.into()),
            Self::Character | Self::Int8 => (i8::MIN.into(), i8::MAX.into()),
            Self::WideCharacter | Self::Uint16 => (0, u16::MAX.into()),
            Self::Int16 => (i16::MIN.into(), i16::MAX.into()),
            Self::Int32 => (i32::MIN.into(), i32::MAX.into()),
            Self::Uint32 => (0, u32::MAX.into()),
            Self::Int64 => (i64::MIN.into(), i64::MAX.into()),
            Self::Uint64 => (0, u64::MAX.into()),
            Self::Boolean
            | Self::Float32
            | Self::Float64
            | Self::String { .. }
            | Self::WideString { .. }
            | Self::Message(_) => return None,
        })
    }

    /// As it is written in an interface file.
    #[must_use]
    pub fn name(&self) -> String {
        let bounded = |name: &str, bound: &Option<usize>| match bound {
            Some(bound) => format!("{name}<={bound}"),
            None => name.to_owned(),
        };
        match self {
            Self::Boolean => "bool".to_owned(),
            Self::Byte => "byte".to_owned(),
            Self::Character => "char".to_owned(),
            Self::WideCharacter => "wchar".to_owned(),
            Self::Int8 => "int8".to_owned(),
            Self::Uint8 => "uint8".to_owned(),
            Self::Int16 => "int16".to_owned(),
            Self::Uint16 => "uint16".to_owned(),
            Self::Int32 => "int32".to_owned(),
            Self::Uint32 => "uint32".to_owned(),
            Self::Int64 => "int64".to_owned(),
            Self::Uint64 => "uint64".to_owned(),
            Self::Float32 => "float32".to_owned(),
            Self::Float64 => "float64".to_owned(),
            Self::String { bound } => bounded("string", bound),
            Self::WideString { bound } => bounded("wstring", bound),
            Self::Message(message) => message.name.to_string(),
        }
    }
}

/// How many elements a field has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Arity {
    /// The value itself.
    One,
    /// A list of exactly so many.
    Array(usize),
    /// A list of any length, up to the bound if there is one.
    Sequence {
        /// The most elements.
        bound: Option<usize>,
    },
}

/// A constant of an interface file.
#[derive(Debug, Clone, PartialEq)]
pub struct Constant {
    /// In capitals.
    pub name: String,
    /// Its type.
    pub kind: FieldKind,
    /// Its value in exact JSON.
    pub value: Value,
    /// What the interface file says of it.
    pub description: String,
}

/// Which values of a field have names. Interface files do not say which constants belong to which field; it is decided
/// like this, and in doubt the field is left free:
///
/// 1. A constant belongs to the field of its type whose name it starts with: `POWER_SUPPLY_STATUS_FULL` to
///    `power_supply_status`. Where several names fit, to the longest.
/// 2. Integer constants that are left over belong to the one field of their type, if there is exactly one that holds a
///    single value: `DEBUG`, `INFO` and `WARN` to `level`.
///
/// Two or more constants of one field then are [flags](Choices::SumOf) if at least three of them are different powers of
/// two and the others zero; a closed [enumeration](Choices::OneOf) if the field has eight bits or is a string, or if
/// there are at least three of them; and otherwise [names](Choices::Named) of special values.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Choices {
    /// No value has a name.
    #[default]
    Free,
    /// One of these, and nothing else.
    OneOf(Vec<Constant>),
    /// A sum of some of these.
    SumOf(Vec<Constant>),
    /// These have names; other values are allowed.
    Named(Vec<Constant>),
}
