//! How answers say that something was not done. There is no rule for it in ROS, only habits; these are known.

use cortex_interfaces::{Arity, Field, MessageType, MessageView};

/// Fields that hold one truth value: false says no. Whatever the type.
const BOOLEANS: [&str; 4] = ["success", "ok", "successful", "accepted"];

/// Further ones that say no when they are false, of these types only: elsewhere they may be what was asked for.
const BOOLEANS_OF: [(&str, &str); 1] = [("nav2_msgs/srv/SaveMap_Response", "result")];

/// Fields that hold a number: every one but the good one says no. Which one is good is told by a constant of the same
/// message; without one the number says nothing.
const CODES: [&str; 5] = ["error_code", "result", "result_code", "return_code", "val"];

/// How the constant of the good number is called, alone or after the name of the field: `RESULT_SUCCESS`.
const GOOD: [&str; 4] = ["SUCCESS", "SUCCESSFUL", "NONE", "OK"];

/// Packages and fields in which zero is good, also in the versions that have no constant for it.
const ZERO_IS_GOOD: [(&str, &str); 1] = [("nav2_msgs/", "error_code")];

/// Fields that hold such a number in a message of its own: that of `MoveIt`.
const NESTED_CODES: [&str; 1] = ["error_code"];

/// What a field holds.
#[derive(Debug, Clone, Copy)]
enum Said {
    Boolean(bool),
    Number(i128),
}

/// Whether the answer says that what was asked was not done.
pub(crate) fn says_no(answer: MessageView<'_>) -> bool {
    let of = answer.message_type();
    let mut single = of.fields.iter().filter(|field| field.arity == Arity::One);
    single.any(|field| match (said(answer, field), NESTED_CODES.contains(&field.name.as_str())) {
        (Some(said), _) => is_no(of, &field.name, said),
        (None, true) => answer.nested(&field.name).is_some_and(says_no_by_number),
        (None, false) => false,
    })
}

/// The same of a message that is nothing but a code.
fn says_no_by_number(code: MessageView<'_>) -> bool {
    let of = code.message_type();
    of.fields
        .iter()
        .any(|field| matches!(said(code, field), Some(said @ Said::Number(_)) if is_no(of, &field.name, said)))
}

fn said(message: MessageView<'_>, field: &Field) -> Option<Said> {
    let number = || message.integer(&field.name).map(Said::Number);
    message.boolean(&field.name).map(Said::Boolean).or_else(number)
}

fn is_no(of: &MessageType, field: &str, said: Said) -> bool {
    match said {
        Said::Boolean(true) => false,
        Said::Boolean(false) => BOOLEANS.contains(&field) || BOOLEANS_OF.contains(&(&of.name.to_string(), field)),
        Said::Number(number) => CODES.contains(&field) && good(of, field).is_some_and(|good| number != good),
    }
}

/// The number that says yes, where one is known to.
fn good(of: &MessageType, field: &str) -> Option<i128> {
    let beginning = format!("{}_", field.to_uppercase());
    let is_good = |name: &str| GOOD.contains(&name.strip_prefix(&beginning).unwrap_or(name));
    let told = of.constants.iter().find(|constant| is_good(&constant.name)).and_then(|good| good.value.as_i64());
    let name = of.name.to_string();
    let is_zero = || ZERO_IS_GOOD.iter().any(|(package, good)| name.starts_with(package) && *good == field);
    told.map(i128::from).or_else(|| is_zero().then_some(0))
}

#[cfg(test)]
mod tests {
    use cortex_interfaces::{Constant, FieldKind, Interfaces, Message, ReadOptions};
    use serde_json::json;

    use super::*;

    fn of(name: &str, constants: &[(&str, i64)]) -> MessageType {
        let constant = |(name, value): &(&str, i64)| Constant {
            name: (*name).to_owned(),
            kind: FieldKind::Int32,
            value: json!(value),
            description: String::new(),
        };
        MessageType {
            name: name.parse().unwrap(),
            description: String::new(),
            fields: Vec::new(),
            constants: constants.iter().map(constant).collect(),
            size_of: 1,
        }
    }

    #[test]
    fn no_is_said_in_many_words() {
        let switch = of("controller_manager_msgs/srv/SwitchController_Response", &[]);
        let save = of("nav2_msgs/srv/SaveMap_Response", &[]);
        let load = of("nav2_msgs/srv/LoadMap_Response", &[("RESULT_SUCCESS", 0), ("RESULT_MAP_DOES_NOT_EXIST", 1)]);
        let navigate = of("nav2_msgs/action/NavigateToPose_Result", &[("UNKNOWN", 9000), ("NONE", 0)]);
        let older = of("nav2_msgs/action/FollowPath_Result", &[]);
        let trajectory =
            of("control_msgs/action/FollowJointTrajectory_Result", &[("SUCCESSFUL", 0), ("INVALID_GOAL", -1)]);
        let moveit = of("moveit_msgs/msg/MoveItErrorCodes", &[("SUCCESS", 1), ("FAILURE", 99_999), ("TIMED_OUT", -6)]);
        let unknown = of("vendor_msgs/srv/Add_Response", &[]);
        for (of, field, said, expected) in [
            (&switch, "ok", Said::Boolean(false), true),
            (&switch, "ok", Said::Boolean(true), false),
            (&unknown, "accepted", Said::Boolean(false), true),
            (&unknown, "is_open", Said::Boolean(false), false),
            (&unknown, "result", Said::Boolean(false), false),
            (&save, "result", Said::Boolean(false), true),
            (&load, "result", Said::Number(0), false),
            (&load, "result", Said::Number(1), true),
            (&navigate, "error_code", Said::Number(0), false),
            (&navigate, "error_code", Said::Number(9001), true),
            (&older, "error_code", Said::Number(0), false),
            (&older, "error_code", Said::Number(100), true),
            (&trajectory, "error_code", Said::Number(0), false),
            (&trajectory, "error_code", Said::Number(-4), true),
            (&moveit, "val", Said::Number(1), false),
            (&moveit, "val", Said::Number(0), true),
            (&moveit, "val", Said::Number(-6), true),
            (&moveit, "val", Said::Number(99_999), true),
            (&unknown, "result", Said::Number(41), false),
            (&unknown, "error_code", Said::Number(41), false),
            (&load, "width", Said::Number(41), false),
        ] {
            assert_eq!(is_no(of, field, said), expected, "{} {field} {said:?}", of.name);
        }
    }

    #[test]
    fn an_answer_that_arrived_is_read_by_its_type() {
        let interfaces = Interfaces::from_environment();
        let load = interfaces.service("nav_msgs/srv/LoadMap").unwrap();
        let switch = interfaces.service("std_srvs/srv/SetBool").unwrap();
        for (of, answer, expected) in [
            (&load.response, json!({"result": 0}), false),
            (&load.response, json!({"result": 2}), true),
            (&switch.response, json!({"success": true}), false),
            (&switch.response, json!({"success": false}), true),
        ] {
            let message = Message::from_json(of, &answer, &ReadOptions::exact()).unwrap();
            assert_eq!(says_no(message.view()), expected, "{answer}");
        }
    }
}
