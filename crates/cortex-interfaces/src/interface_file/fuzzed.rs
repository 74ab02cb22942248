//! Interface files that nobody has thought of: each is read within bounds, written and read again it says the same, and what
//! comes of it is a schema that readers of schemas take.

use std::fmt::Write as _;

use super::*;
use crate::model::{Arity, Choices, Field, MessageType, assign_choices};
use crate::{Conventions, SchemaLimits, fill_schema};

/// Longest description: as much as is kept, with the mark of the cut.
const LONGEST: usize = MAX_DESCRIPTION + 1;

fn check(section: &Section) {
    let elements = section.fields.len() + section.constants.len();
    assert!(elements <= MAX_ELEMENTS, "{elements} elements");
    let descriptions = section.fields.iter().map(|field| &field.description);
    let descriptions = descriptions.chain(section.constants.iter().map(|constant| &constant.description));
    for text in descriptions.chain([&section.description]) {
        assert!(text.chars().count() <= LONGEST, "{text}");
        assert!(!text.contains('\n'), "{text:?}");
    }
    for constant in &section.constants {
        let in_range = constant.kind.integer_range().is_none_or(|(lowest, highest)| {
            let value = constant.value.as_i64().map(i128::from).or_else(|| constant.value.as_u64().map(i128::from));
            value.is_some_and(|value| (lowest..=highest).contains(&value))
        });
        assert!(in_range, "{constant:?}");
    }
}

/// The sections as an interface file: what is said of a whole stands apart from its elements, and what is said of an
/// element behind it.
fn written(sections: &[Section]) -> String {
    let mut text = String::new();
    for (index, section) in sections.iter().enumerate() {
        if index > 0 {
            text.push_str("---\n");
        }
        if !section.description.is_empty() {
            let _ = write!(text, "# {}\n\n", section.description);
        }
        for FieldText { name, description, default } in &section.fields {
            let _ = writeln!(text, "any {name} {} # {description}", default.as_deref().unwrap_or_default());
        }
        for Constant { name, kind, value, description } in &section.constants {
            let value = match value {
                // What is quoted loses its quotes, whatever it holds.
                Value::String(text) => format!("\"{}\"", text.replace('"', "\\\"")),
                other => other.to_string(),
            };
            let _ = writeln!(text, "{} {name}={value} # {description}", kind.name());
        }
    }
    text
}

/// The type that a section describes, as if each field were what its constants are of.
fn message_type(section: &Section) -> MessageType {
    let kinds = section.constants.iter().map(|constant| constant.kind.clone());
    let kinds: Vec<FieldKind> = kinds.chain([FieldKind::String { bound: None }, FieldKind::Float64]).collect();
    let mut fields: Vec<Field> = Vec::new();
    for (text, kind) in section.fields.iter().zip(kinds.iter().cycle()) {
        // The compiled type has each name once.
        if fields.iter().all(|field| field.name != text.name) {
            fields.push(Field {
                name: text.name.clone(),
                kind: kind.clone(),
                arity: Arity::One,
                description: text.description.clone(),
                default: None,
                choices: Choices::Free,
                offset: 0,
            });
        }
    }
    assign_choices(&mut fields, &section.constants);
    MessageType {
        name: "fuzz_msgs/msg/Any".parse().expect("a name"),
        description: section.description.clone(),
        fields,
        constants: section.constants.clone(),
        size_of: 0,
    }
}

/// What of a section a model would be offered.
fn check_schema(section: &Section) -> String {
    let filled = fill_schema(&message_type(section), &Conventions::default(), &SchemaLimits::default());
    if let Err(problem) = jsonschema::validator_for(&filled.schema) {
        panic!("no schema: {problem}: {}", filled.schema);
    }
    let properties = filled.schema.get("properties").and_then(Value::as_object).map_or(0, serde_json::Map::len);
    let fields = section.fields.iter().map(|field| &field.name).collect::<std::collections::BTreeSet<_>>().len();
    assert_eq!(properties + filled.left_out.len(), fields, "a field is lost: {:?}", filled.left_out);
    let kinds = section.constants.iter().map(|constant| constant.kind.name());
    format!("{} {}", "f".repeat(section.fields.len().min(9)), kinds.collect::<Vec<_>>().join(" "))
}

#[test]
fn every_mutant_of_an_interface_file_is_read_and_says_the_same_when_it_is_written_again() {
    cortex_fuzz::fuzz(&["fuzz"], |input| {
        let text = String::from_utf8_lossy(input);
        let sections = parse(&text);
        sections.iter().for_each(check);
        let again = written(&sections);
        assert_eq!(parse(&again), sections, "{again}");
        sections.iter().take(3).map(check_schema).collect::<Vec<_>>().join("---")
    });
}
