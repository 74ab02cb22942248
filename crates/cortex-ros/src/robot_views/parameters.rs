//! Parameters as people see them. No IO.

use std::collections::BTreeMap;

use cortex_protocol::robot_view::{NodeParameter, ParameterKind, ParameterRange};
use cortex_ros_client::dynamic::parameters::{Descriptor, ParameterType, Range};
use serde_json::Value;

/// Parameters of a node that are shown: far more than nodes have.
pub(super) const MOST: usize = 500;

/// The parameters with these values, as their node describes them. One that it does not describe may still be looked at.
pub(super) fn views(described: &[Descriptor], values: Vec<(String, Value)>) -> Vec<NodeParameter> {
    let described: BTreeMap<&str, &Descriptor> = described.iter().map(|found| (found.name.as_str(), found)).collect();
    let view = |(name, value): (String, Value)| {
        let descriptor = described.get(name.as_str());
        NodeParameter {
            kind: descriptor.map_or(ParameterKind::NotSet, |found| kind(found.parameter_type)),
            value,
            description: descriptor.map(|found| found.description.clone()).unwrap_or_default(),
            constraints: descriptor.map(|found| found.constraints.clone()).unwrap_or_default(),
            range: descriptor.and_then(|found| found.range).map(range),
            is_read_only: descriptor.is_none_or(|found| found.read_only),
            name,
        }
    };
    values.into_iter().map(view).collect()
}

fn kind(parameter_type: ParameterType) -> ParameterKind {
    match parameter_type {
        ParameterType::NotSet => ParameterKind::NotSet,
        ParameterType::Bool => ParameterKind::Boolean,
        ParameterType::Integer => ParameterKind::Integer,
        ParameterType::Double => ParameterKind::Number,
        ParameterType::String => ParameterKind::Text,
        ParameterType::ByteArray
        | ParameterType::BoolArray
        | ParameterType::IntegerArray
        | ParameterType::DoubleArray
        | ParameterType::StringArray => ParameterKind::List,
    }
}

#[expect(clippy::cast_precision_loss, reason = "bounds that people read; the node checks the exact ones")]
fn range(range: Range) -> ParameterRange {
    match range {
        Range::Integer { from, to, step } => {
            ParameterRange { from: from as f64, to: to as f64, step: step.max(1) as f64 }
        }
        Range::Double { from, to, step } => ParameterRange { from, to, step },
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_parameter_that_its_node_does_not_describe_can_be_looked_at_but_not_changed() {
        let described = Descriptor {
            name: "speed".to_owned(),
            parameter_type: ParameterType::Integer,
            description: "How fast.".to_owned(),
            constraints: String::new(),
            read_only: false,
            dynamic_typing: false,
            range: Some(Range::Integer { from: 0, to: 10, step: 0 }),
        };
        let shown = views(&[described], vec![("odd".to_owned(), json!("x")), ("speed".to_owned(), json!(3))]);
        assert!(matches!(&shown[0], odd if odd.is_read_only && odd.kind == ParameterKind::NotSet && odd.value == "x"));
        assert_eq!(shown[1].range, Some(ParameterRange { from: 0.0, to: 10.0, step: 1.0 }));
        assert!(!shown[1].is_read_only && shown[1].kind == ParameterKind::Integer);
    }
}
