//! Conditions in words, for people and models.

use std::fmt;

use super::{Check, Condition, Source, Test};

impl fmt::Display for Source {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Topic { topic, field } if field.is_empty() => formatter.write_str(topic),
            Self::Topic { topic, field } => write!(formatter, "{topic} {field}"),
            Self::Parameter { parameter } => write!(formatter, "the parameter {parameter}"),
            Self::Component { component } => write!(formatter, "the component {component}"),
        }
    }
}

impl fmt::Display for Test {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Present => formatter.write_str("is there"),
            Self::Change => formatter.write_str("has changed"),
            Self::Equal(value) => write!(formatter, "is {value}"),
            Self::Different(value) => write!(formatter, "is not {value}"),
            Self::Greater(value) => write!(formatter, "is above {value}"),
            Self::Less(value) => write!(formatter, "is below {value}"),
            Self::AtLeast(value) => write!(formatter, "is at least {value}"),
            Self::AtMost(value) => write!(formatter, "is at most {value}"),
            Self::In(value) => write!(formatter, "is one of {value}"),
            Self::Contains(value) => write!(formatter, "contains {value}"),
            Self::Near { value, tolerance, unit } => {
                write!(formatter, "is {value}, give or take {tolerance}")?;
                if unit.is_empty() { Ok(()) } else { write!(formatter, " {unit}") }
            }
        }
    }
}

impl fmt::Display for Condition {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let joined = |all: &[Self], word: &str| {
            let all: Vec<String> = all.iter().map(|one| format!("({one})")).collect();
            all.join(&format!(" {word} "))
        };
        match self {
            Self::And(all) => formatter.write_str(&joined(all, "and")),
            Self::Or(all) => formatter.write_str(&joined(all, "or")),
            Self::Not(inner) => write!(formatter, "not ({inner})"),
            Self::Check(Check { source, test, max_age }) => {
                write!(formatter, "{source} {test}")?;
                match max_age {
                    Some(age) => write!(formatter, ", seen within {} s", age.as_secs_f64()),
                    None => Ok(()),
                }
            }
        }
    }
}
