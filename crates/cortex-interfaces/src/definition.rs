//! The text that a message type is written in, with those of all types that it consists of, as bags hold it: what reads a
//! bag needs nothing installed.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::sync::Arc;

use crate::{AmentIndex, Arity, Field, FieldKind, MessageType};

/// What stands between one type and the next.
const SEPARATOR: &str = "================================================================================";

/// The text in the form `ros2msg`.
pub(crate) fn definition(index: &AmentIndex, message_type: &Arc<MessageType>) -> String {
    let mut text = text_of(index, message_type);
    let mut known = BTreeSet::from([message_type.name.clone()]);
    let mut waiting = parts(message_type);
    while let Some(part) = waiting.pop() {
        if known.insert(part.name.clone()) {
            let (package, name) = (part.name.package(), part.name.name());
            // Writing to a string does not fail.
            let _ = write!(text, "\n{SEPARATOR}\nMSG: {package}/{name}\n{}", text_of(index, &part));
            waiting.extend(parts(&part));
        }
    }
    text
}

/// The types of its fields, the first of them last.
fn parts(message_type: &MessageType) -> Vec<Arc<MessageType>> {
    let part = |field: &Field| match &field.kind {
        FieldKind::Message(part) => Some(Arc::clone(part)),
        _ => None,
    };
    message_type.fields.iter().rev().filter_map(part).collect()
}

/// The text of the type's file. Where only the compiled form is installed, and for parts of services and actions: its fields,
/// without what only the file says.
fn text_of(index: &AmentIndex, message_type: &MessageType) -> String {
    let is_file = !message_type.name.name().contains('_');
    let text = index.text_of(&message_type.name).filter(|_| is_file);
    text.unwrap_or_else(|| message_type.fields.iter().map(line).collect())
}

fn line(field: &Field) -> String {
    let kind = match &field.kind {
        // A file has no such types; these have the same bytes.
        FieldKind::Character => "int8".to_owned(),
        FieldKind::WideCharacter => "uint16".to_owned(),
        FieldKind::Message(part) => format!("{}/{}", part.name.package(), part.name.name()),
        kind => kind.name(),
    };
    let arity = match field.arity {
        Arity::One => String::new(),
        Arity::Array(length) => format!("[{length}]"),
        Arity::Sequence { bound: None } => "[]".to_owned(),
        Arity::Sequence { bound: Some(bound) } => format!("[<={bound}]"),
    };
    format!("{kind}{arity} {}\n", field.name)
}

#[cfg(test)]
mod tests {
    use crate::{AmentIndex, Interfaces};

    /// The types that a text defines, and the names of the other types that its fields have.
    fn sections(text: &str) -> Vec<(&str, &str)> {
        let separator = format!("{}\nMSG: ", super::SEPARATOR);
        let mut sections = text.split(separator.as_str());
        let first = ("", sections.next().unwrap());
        std::iter::once(first).chain(sections.map(|section| section.split_once('\n').unwrap())).collect()
    }

    #[test]
    fn a_type_comes_with_all_types_that_it_consists_of_once_each() {
        let interfaces = Interfaces::from_environment();
        let odometry = interfaces.message("nav_msgs/msg/Odometry").unwrap();
        let text = interfaces.definition(&odometry);
        let sections = sections(&text);
        let names: Vec<&str> = sections.iter().map(|(name, _)| *name).collect();
        for name in
            ["std_msgs/Header", "builtin_interfaces/Time", "geometry_msgs/PoseWithCovariance", "geometry_msgs/Point"]
        {
            assert_eq!(names.iter().filter(|found| **found == name).count(), 1, "{name} in {names:?}");
        }
        assert!(sections[0].1.contains("child_frame_id"), "{text}");
    }

    #[test]
    fn a_type_without_its_file_is_written_from_what_it_consists_of() {
        let interfaces = Interfaces::from_environment();
        let scan = interfaces.message("sensor_msgs/msg/LaserScan").unwrap();
        let text = super::definition(&AmentIndex::new(Vec::new()), scan.message_type());
        assert!(text.starts_with("std_msgs/Header header\nfloat32 angle_min\n"), "{text}");
        assert!(text.contains("\nfloat32[] ranges\n"), "{text}");
        assert!(text.contains("\nMSG: builtin_interfaces/Time\nint32 sec\nuint32 nanosec\n"), "{text}");
    }
}
