//! The parameters among the ROS arguments: files of them, and `-p name:=value`. `r2r` reads them, too, but passes by the
//! sections whose name holds a wildcard, other than `/**`.

use std::ffi::c_char;

use r2r_rcl::{rcl_node_params_t, rcl_params_t, rcl_variant_t};

use super::arguments::Arguments;
use super::{is_ok, last_error, owned};
use crate::RosError;
use crate::parameters::ParameterValue;

/// What one section gives, under its name as it was written.
#[derive(Debug, PartialEq)]
pub(crate) struct Section {
    pub(crate) node: String,
    pub(crate) values: Vec<(String, ParameterValue)>,
}

/// All sections, in the order in which they count: what comes later goes over what came before.
///
/// # Errors
/// When the arguments are not valid.
pub(crate) fn sections(arguments: &Arguments) -> Result<Vec<Section>, RosError> {
    let failed = || RosError::Arguments { problem: last_error() };
    arguments.parsed(|parsed| {
        let mut given: *mut rcl_params_t = std::ptr::null_mut();
        // SAFETY: `parsed` is valid; `given` is null, as is asked for, and gets a copy that is ours, or stays null.
        let code = unsafe { r2r_rcl::rcl_arguments_get_param_overrides(parsed, &mut given) };
        if !is_ok(code) {
            return Err(failed());
        }
        // SAFETY: null, or the structure that was made above.
        let Some(found) = (unsafe { given.as_ref() }) else { return Ok(Vec::new()) };
        let (names, nodes) = (elements(found.node_names, found.num_nodes), elements(found.params, found.num_nodes));
        let read =
            |(name, node): (&*mut c_char, &rcl_node_params_t)| Section { node: owned(*name), values: values(node) };
        let sections = names.iter().zip(nodes).map(read).collect();
        // SAFETY: it was made above, is given back once, and nothing of it is left in `sections`.
        unsafe { r2r_rcl::rcl_yaml_node_struct_fini(given) };
        Ok(sections)
    })?
}

fn values(node: &rcl_node_params_t) -> Vec<(String, ParameterValue)> {
    let names = elements(node.parameter_names, node.num_params);
    let values = elements(node.parameter_values, node.num_params);
    names.iter().zip(values).map(|(name, value)| (owned(*name), value_of(value))).collect()
}

/// At most one of its pointers is set.
fn value_of(value: &rcl_variant_t) -> ParameterValue {
    // SAFETY: each is null, or points to one value of its type, which lives as long as `value`.
    let (boolean, integer, double) =
        unsafe { (value.bool_value.as_ref(), value.integer_value.as_ref(), value.double_value.as_ref()) };
    // SAFETY: the same.
    let (bytes, booleans) = unsafe { (value.byte_array_value.as_ref(), value.bool_array_value.as_ref()) };
    // SAFETY: the same.
    let (integers, doubles) = unsafe { (value.integer_array_value.as_ref(), value.double_array_value.as_ref()) };
    // SAFETY: the same.
    let texts = unsafe { value.string_array_value.as_ref() };
    let scalar = boolean.map(|value| ParameterValue::Bool(*value));
    let scalar = scalar.or_else(|| integer.map(|value| ParameterValue::Integer(*value)));
    let scalar = scalar.or_else(|| double.map(|value| ParameterValue::Double(*value)));
    let text = (!value.string_value.is_null()).then(|| ParameterValue::String(owned(value.string_value)));
    let arrays = [
        bytes.map(|array| ParameterValue::ByteArray(elements(array.values, array.size).to_vec())),
        booleans.map(|array| ParameterValue::BoolArray(elements(array.values, array.size).to_vec())),
        integers.map(|array| ParameterValue::IntegerArray(elements(array.values, array.size).to_vec())),
        doubles.map(|array| ParameterValue::DoubleArray(elements(array.values, array.size).to_vec())),
        texts.map(|array| {
            let texts = elements(array.data, array.size).iter();
            ParameterValue::StringArray(texts.map(|text| owned(*text)).collect())
        }),
    ];
    scalar.or(text).or_else(|| arrays.into_iter().flatten().next()).unwrap_or(ParameterValue::NotSet)
}

/// An array of the client library. It must live as long as what is returned.
fn elements<'a, T>(first: *const T, count: usize) -> &'a [T] {
    if first.is_null() {
        return &[];
    }
    // SAFETY: not null, and the client library says how many there are.
    unsafe { std::slice::from_raw_parts(first, count) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn given(arguments: &[&str]) -> Vec<Section> {
        sections(&Arguments::of(arguments.iter().map(|text| (*text).to_owned())).unwrap()).unwrap()
    }

    #[test]
    fn every_type_of_value_is_read_in_the_section_where_it_stands() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("parameters.yaml");
        let text = "/robot1/**:\n  ros__parameters:\n    flag: true\n    whole: 3\n    part: 0.5\n    text: a\n\
                    /*/cortex:\n  ros__parameters:\n    deep: {flags: [true, false], whole: [1, 2], parts: [0.5], \
                    texts: [a, b]}\n";
        std::fs::write(&file, text).unwrap();
        let file = file.display().to_string();
        let found = given(&["cortex", "--ros-args", "--params-file", &file, "-p", "last:=7"]);
        let named = |name: &str, value| (name.to_owned(), value);
        let expected = [
            Section {
                node: "/robot1/**".to_owned(),
                values: vec![
                    named("flag", ParameterValue::Bool(true)),
                    named("whole", ParameterValue::Integer(3)),
                    named("part", ParameterValue::Double(0.5)),
                    named("text", ParameterValue::String("a".to_owned())),
                ],
            },
            Section {
                node: "/*/cortex".to_owned(),
                values: vec![
                    named("deep.flags", ParameterValue::BoolArray(vec![true, false])),
                    named("deep.whole", ParameterValue::IntegerArray(vec![1, 2])),
                    named("deep.parts", ParameterValue::DoubleArray(vec![0.5])),
                    named("deep.texts", ParameterValue::StringArray(vec!["a".to_owned(), "b".to_owned()])),
                ],
            },
            Section { node: "/**".to_owned(), values: vec![named("last", ParameterValue::Integer(7))] },
        ];
        assert_eq!(found, expected);
        assert_eq!(given(&["cortex"]), []);
    }
}
