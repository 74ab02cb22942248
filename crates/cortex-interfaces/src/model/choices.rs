//! Which constants of an interface belong to which of its fields. The rules are told at [`Choices`].

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::{Arity, Choices, Constant, Field, FieldKind};

/// One constant alone is a default or a limit, not a choice.
const FEWEST_CHOICES: usize = 2;
/// Fewer in a wide type may be just some special values, such as a time-out of -1.
const FEWEST_IN_WIDE_TYPE: usize = 3;
/// Fewer powers of two may be an enumeration: 1 and 2.
const FEWEST_FLAGS: usize = 3;

/// Gives the fields the choices that the constants make.
pub(crate) fn assign_choices(fields: &mut [Field], constants: &[Constant]) {
    let mut owned: BTreeMap<usize, Vec<Constant>> = BTreeMap::new();
    let mut left_over: Vec<&Constant> = Vec::new();
    for constant in constants {
        match owner_by_name(fields, constant) {
            Some(field) => owned.entry(field).or_default().push(constant.clone()),
            None => left_over.push(constant),
        }
    }
    for constant in left_over {
        if let Some(field) = only_field(fields, &constant.kind).filter(|field| !owner_has_name(&owned, fields, *field))
        {
            owned.entry(field).or_default().push(constant.clone());
        }
    }
    for (index, constants) in owned {
        if let Some(field) = fields.get_mut(index) {
            field.choices = choices(&field.kind, constants);
        }
    }
}

/// The field whose name the constant starts with.
fn owner_by_name(fields: &[Field], constant: &Constant) -> Option<usize> {
    fields
        .iter()
        .enumerate()
        .filter(|(_, field)| same_kind(&field.kind, &constant.kind) && is_enumerable(&field.kind))
        .filter(|(_, field)| {
            constant.name.strip_prefix(&field.name.to_uppercase()).is_some_and(|rest| rest.starts_with('_'))
        })
        .max_by_key(|(_, field)| field.name.len())
        .map(|(index, _)| index)
}

/// Whether the field has constants that carry its name: then those without it are none of its values.
fn owner_has_name(owned: &BTreeMap<usize, Vec<Constant>>, fields: &[Field], index: usize) -> bool {
    let prefix = fields.get(index).map(|field| format!("{}_", field.name.to_uppercase())).unwrap_or_default();
    owned.get(&index).is_some_and(|constants| constants.iter().any(|constant| constant.name.starts_with(&prefix)))
}

/// The one field of an integer type that holds a single value.
fn only_field(fields: &[Field], kind: &FieldKind) -> Option<usize> {
    kind.integer_range()?;
    let mut matching =
        fields.iter().enumerate().filter(|(_, field)| field.arity == Arity::One && same_kind(&field.kind, kind));
    match (matching.next(), matching.next()) {
        (Some((index, _)), None) => Some(index),
        _ => None,
    }
}

fn choices(kind: &FieldKind, constants: Vec<Constant>) -> Choices {
    let different: BTreeSet<String> = constants.iter().map(|constant| constant.value.to_string()).collect();
    if different.len() < FEWEST_CHOICES {
        return Choices::Free;
    }
    if are_flags(&constants) {
        return Choices::SumOf(constants);
    }
    let is_narrow = kind.integer_range().is_none_or(|(_, highest)| highest <= u8::MAX.into());
    if is_narrow || different.len() >= FEWEST_IN_WIDE_TYPE {
        Choices::OneOf(constants)
    } else {
        Choices::Named(constants)
    }
}

fn are_flags(constants: &[Constant]) -> bool {
    let bits: Option<Vec<u64>> = constants.iter().map(|constant| constant.value.as_u64()).collect();
    let Some(bits) = bits else { return false };
    let different: BTreeSet<u64> = bits.into_iter().filter(|bit| *bit != 0).collect();
    different.len() >= FEWEST_FLAGS && different.iter().all(|bit| bit.is_power_of_two())
}

fn is_enumerable(kind: &FieldKind) -> bool {
    kind.integer_range().is_some() || matches!(kind, FieldKind::String { .. } | FieldKind::WideString { .. })
}

/// Whether a constant of one kind can be a value of the other. A bound makes no difference, and the `char` of a `.msg`
/// file is a `uint8`.
fn same_kind(field: &FieldKind, constant: &FieldKind) -> bool {
    match (field, constant) {
        (FieldKind::String { .. }, FieldKind::String { .. })
        | (FieldKind::WideString { .. }, FieldKind::WideString { .. }) => true,
        _ => field == constant,
    }
}

impl Constant {
    /// As it is listed for people and models: `3 = FULL` or `"auto" = AUTOMATIC`.
    pub(crate) fn listed(&self) -> String {
        match &self.value {
            Value::String(text) => format!("{text:?} = {}", self.name),
            value => format!("{value} = {}", self.name),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn field(name: &str, kind: FieldKind) -> Field {
        Field {
            name: name.to_owned(),
            kind,
            arity: Arity::One,
            description: String::new(),
            default: None,
            choices: Choices::Free,
            offset: 0,
        }
    }

    fn constant(name: &str, kind: FieldKind, value: Value) -> Constant {
        Constant { name: name.to_owned(), kind, value, description: String::new() }
    }

    fn decided(fields: &[(&str, FieldKind)], constants: &[(&str, FieldKind, i64)]) -> Vec<String> {
        let mut fields: Vec<Field> = fields.iter().map(|(name, kind)| field(name, kind.clone())).collect();
        let constants: Vec<Constant> =
            constants.iter().map(|(name, kind, value)| constant(name, kind.clone(), json!(value))).collect();
        assign_choices(&mut fields, &constants);
        fields
            .iter()
            .map(|field| {
                let names = |list: &[Constant]| list.iter().map(Constant::listed).collect::<Vec<_>>().join(", ");
                match &field.choices {
                    Choices::Free => "free".to_owned(),
                    Choices::OneOf(list) => format!("one of {}", names(list)),
                    Choices::SumOf(list) => format!("sum of {}", names(list)),
                    Choices::Named(list) => format!("named {}", names(list)),
                }
            })
            .collect()
    }

    #[test]
    fn constants_go_to_the_field_whose_name_they_start_with() {
        use FieldKind::Uint8;
        assert_eq!(
            decided(
                &[("status", Uint8), ("status_detail", Uint8), ("health", Uint8)],
                &[
                    ("STATUS_OK", Uint8, 0),
                    ("STATUS_BAD", Uint8, 1),
                    ("STATUS_DETAIL_COLD", Uint8, 0),
                    ("STATUS_DETAIL_HOT", Uint8, 1),
                    ("HEALTHY", Uint8, 7),
                ]
            ),
            ["one of 0 = STATUS_OK, 1 = STATUS_BAD", "one of 0 = STATUS_DETAIL_COLD, 1 = STATUS_DETAIL_HOT", "free"]
        );
    }

    #[test]
    fn what_is_left_goes_to_the_only_field_of_the_type() {
        use FieldKind::{Int32, Uint8};
        let levels = [("DEBUG", Uint8, 10), ("INFO", Uint8, 20)];
        assert_eq!(decided(&[("level", Uint8), ("line", Int32)], &levels), ["one of 10 = DEBUG, 20 = INFO", "free"]);
        assert_eq!(decided(&[("level", Uint8), ("line", Uint8)], &levels), ["free", "free"]);
    }

    #[test]
    fn flags_and_special_values_do_not_close_a_field() {
        use FieldKind::{Int32, Uint16};
        assert_eq!(
            decided(
                &[("service", Uint16)],
                &[
                    ("SERVICE_NONE", Uint16, 0),
                    ("SERVICE_A", Uint16, 1),
                    ("SERVICE_B", Uint16, 2),
                    ("SERVICE_C", Uint16, 4)
                ]
            ),
            ["sum of 0 = SERVICE_NONE, 1 = SERVICE_A, 2 = SERVICE_B, 4 = SERVICE_C"]
        );
        assert_eq!(
            decided(&[("wait", Int32)], &[("WAIT_FOREVER", Int32, -1), ("WAIT_DEFAULT", Int32, 0)]),
            ["named -1 = WAIT_FOREVER, 0 = WAIT_DEFAULT"]
        );
        assert_eq!(decided(&[("size", Int32)], &[("SIZE_LIMIT", Int32, 100)]), ["free"]);
    }
}
