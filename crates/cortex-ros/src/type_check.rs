//! Whether conditions and messages that a recipe writes down fit the types of messages that are installed. Needs no
//! graph.

use cortex_interfaces::{
    Arity, Field, FieldKind, InterfaceError, Interfaces, Message, MessageInterface, MessageType, ReadOptions,
};
use cortex_protocol::condition::Test;
use serde_json::{Map, Value};

/// Why something does not fit a type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TypeProblem {
    /// The package of the type is not installed here, so nothing is known of it.
    NotInstalled(String),
    /// It does not fit.
    Misfit {
        /// What is wrong.
        message: String,
        /// What can be written instead. Empty where nothing is known.
        choices: Vec<String>,
    },
}

/// What a message is to be used for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Use {
    /// It is published.
    Message,
    /// It is the request to a service.
    Request,
}

/// Checks that a type of message has a field, a path with dots, and that a test can be made of its values.
///
/// # Errors
/// When it can't, or nothing is known of the type.
pub fn check_field(
    interfaces: &Interfaces,
    type_name: &str,
    path: &str,
    test: Option<&Test>,
) -> Result<(), TypeProblem> {
    let message = interfaces.message(type_name).map_err(unknown)?;
    let Some(found) = find(message.message_type(), path)? else { return Ok(()) };
    let Some(test) = test else { return Ok(()) };
    let misfit = |is: &str| {
        Err(TypeProblem::Misfit {
            message: format!("'{path}' of {type_name} is {}, and is compared with {is}", found.words()),
            choices: Vec::new(),
        })
    };
    match test {
        Test::Greater(_) | Test::Less(_) | Test::AtLeast(_) | Test::AtMost(_) | Test::Near { .. }
            if found != Found::Number =>
        {
            misfit("a number")
        }
        Test::Equal(value) | Test::Different(value) => match value {
            Value::Number(_) if found != Found::Number => misfit("a number"),
            Value::Bool(_) if found != Found::Truth => misfit("true or false"),
            Value::String(_) if found != Found::Text => misfit("a text"),
            _ => Ok(()),
        },
        _ => Ok(()),
    }
}

/// Checks that these fields make a message of a type, or the request of a type of service.
///
/// # Errors
/// When they do not, or nothing is known of the type.
pub fn check_message(
    interfaces: &Interfaces,
    usage: Use,
    type_name: &str,
    fields: &Map<String, Value>,
) -> Result<(), TypeProblem> {
    let interface = match usage {
        Use::Message => interfaces.message(type_name),
        Use::Request => interfaces.service(type_name).map(|service| service.request.clone()),
    };
    let interface: std::sync::Arc<MessageInterface> = interface.map_err(unknown)?;
    match Message::from_json(&interface, &Value::Object(fields.clone()), &ReadOptions::exact()) {
        Ok(_) => Ok(()),
        Err(problem) => Err(TypeProblem::Misfit { message: problem.to_string(), choices: Vec::new() }),
    }
}

fn unknown(error: InterfaceError) -> TypeProblem {
    match error {
        InterfaceError::PackageNotFound { package, .. } => {
            TypeProblem::NotInstalled(format!("the package {package} is not installed here"))
        }
        InterfaceError::InterfaceNotFound { interface, known, .. } => TypeProblem::Misfit {
            message: format!("the package {} has no '{interface}'", interface.package()),
            choices: known.iter().map(ToString::to_string).collect(),
        },
        other => TypeProblem::Misfit { message: other.to_string(), choices: Vec::new() },
    }
}

/// What a field holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Found {
    Number,
    Truth,
    Text,
    List,
    Message,
}

impl Found {
    fn words(self) -> &'static str {
        match self {
            Self::Number => "a number",
            Self::Truth => "true or false",
            Self::Text => "a text",
            Self::List => "a list",
            Self::Message => "a message",
        }
    }
}

/// What is at a path; none where that depends on the message.
fn find(root: &MessageType, path: &str) -> Result<Option<Found>, TypeProblem> {
    let mut message = root;
    let mut found = Found::Message;
    let mut parts = path.split('.').filter(|part| !part.is_empty()).peekable();
    while let Some(part) = parts.next() {
        if found != Found::Message {
            let message = format!("'{path}' goes on below '{part}', and what is before that is {}", found.words());
            return Err(TypeProblem::Misfit { message, choices: Vec::new() });
        }
        let Some(field) = message.field(part) else {
            return Err(TypeProblem::Misfit {
                message: format!("{} has no field '{part}'", message.name),
                choices: message.fields.iter().map(|field| field.name.clone()).collect(),
            });
        };
        found = kind(field);
        if let Arity::Array(_) | Arity::Sequence { .. } = field.arity {
            found = Found::List;
            let Some(index) = parts.next() else { break };
            if index.parse::<usize>().is_err() {
                let message = format!("'{part}' of {} is a list; '{index}' is no place in it", message.name);
                return Err(TypeProblem::Misfit { message, choices: vec!["0".to_owned()] });
            }
            found = kind(field);
        }
        if let FieldKind::Message(inner) = &field.kind {
            message = inner;
        }
    }
    Ok(Some(found))
}

/// What one element of a field is.
fn kind(field: &Field) -> Found {
    match field.kind {
        FieldKind::Boolean => Found::Truth,
        FieldKind::String { .. } | FieldKind::WideString { .. } => Found::Text,
        FieldKind::Message(_) => Found::Message,
        _ => Found::Number,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn problem(type_name: &str, path: &str, test: Option<Test>) -> String {
        match check_field(&Interfaces::from_environment(), type_name, path, test.as_ref()) {
            Ok(()) => String::new(),
            Err(TypeProblem::NotInstalled(message)) => message,
            Err(TypeProblem::Misfit { message, choices }) => format!("{message}: {}", choices.join(" ")),
        }
    }

    #[test]
    fn a_field_that_a_message_has_not_is_told_with_those_that_it_has() {
        for (path, expected) in [
            ("pose.pose.position.x", ""),
            ("pose.covariance.35", ""),
            ("", ""),
            ("pose.position.x", "geometry_msgs/msg/PoseWithCovariance has no field 'position': pose covariance"),
            ("pose.covariance.x", "is a list"),
            ("child_frame_id.x", "goes on below"),
        ] {
            let found = problem("nav_msgs/msg/Odometry", path, None);
            assert!(if expected.is_empty() { found.is_empty() } else { found.contains(expected) }, "{path}: {found}");
        }
        assert!(problem("no_such_msgs/msg/X", "x", None).contains("not installed"));
        assert!(problem("std_msgs/msg/Bol", "data", None).contains("has no 'std_msgs/msg/Bol'"));
    }

    #[test]
    fn a_comparison_must_suit_what_the_field_holds() {
        for (test, expected) in [
            (Test::Less(json!(3)), "is true or false, and is compared with a number"),
            (Test::Equal(json!("open")), "is compared with a text"),
            (Test::Equal(json!(true)), ""),
            (Test::Change, ""),
        ] {
            let found = problem("std_msgs/msg/Bool", "data", Some(test));
            assert!(if expected.is_empty() { found.is_empty() } else { found.contains(expected) }, "{found}");
        }
    }

    #[test]
    fn the_fields_of_a_request_are_checked() {
        let check = |fields: Value| {
            let fields = fields.as_object().cloned().unwrap_or_default();
            check_message(&Interfaces::from_environment(), Use::Request, "std_srvs/srv/SetBool", &fields)
        };
        assert_eq!(check(json!({"data": true})), Ok(()));
        assert!(matches!(check(json!({"dat": true})), Err(TypeProblem::Misfit { .. })));
        assert!(matches!(check(json!({"data": 3})), Err(TypeProblem::Misfit { .. })));
    }
}
