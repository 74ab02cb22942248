//! The standard parameter services of a ROS node, and its change events.
//!
//! The client library has its own; they take values of any type and any name, know no ranges, and end with a panic
//! when an answer can't be sent.

use r2r::rcl_interfaces::msg::{
    self, FloatingPointRange, IntegerRange, ListParametersResult, ParameterDescriptor, ParameterEvent,
    SetParametersResult,
};
use r2r::rcl_interfaces::srv::{
    DescribeParameters, GetParameterTypes, GetParameters, ListParameters, SetParameters, SetParametersAtomically,
};
use r2r::{Node, builtin_interfaces::msg::Time};

use super::value::{from_message, to_message, type_of, value_as_json};
use super::{Access, Parameter, ParameterValue, Parameters, Range};
use crate::serving::Serving;
use crate::text::carried;
use crate::{QosProfile, RosError, publisher};

/// Events that are kept for a slow reader, as everywhere in ROS.
const EVENTS: usize = 1000;

/// Creates the services on `node`, and tells of the parameters on `/parameter_events`. `now` stamps what is told.
///
/// # Errors
/// When an endpoint can't be created.
pub fn serve(
    node: &mut Node,
    serving: &Serving,
    parameters: &Parameters,
    now: impl Fn() -> Time + Clone + Send + 'static,
) -> Result<(), RosError> {
    let events =
        publisher::shared(node.create_publisher("/parameter_events", QosProfile::RELIABLE.keep_last(EVENTS).into())?);
    let node_name = node.fully_qualified_name()?;
    events.publish(&ParameterEvent {
        stamp: now(),
        node: node_name.clone(),
        new_parameters: messages(parameters.names().map(|name| (name.to_owned(), value(parameters, name)))),
        ..Default::default()
    });
    let set = move |parameters: &Parameters, wanted: Vec<msg::Parameter>| {
        let stamp = now();
        apply(parameters, wanted, |changed_parameters| {
            let node = node_name.clone();
            events.publish(&ParameterEvent { stamp, node, changed_parameters, ..Default::default() });
        })
    };

    let (values, setter) = (parameters.clone(), set.clone());
    serving.serve::<SetParameters::Service>(node, "~/set_parameters", move |request| SetParameters::Response {
        results: request.parameters.into_iter().map(|one| setter(&values, vec![one])).collect(),
    })?;
    let values = parameters.clone();
    serving.serve::<SetParametersAtomically::Service>(node, "~/set_parameters_atomically", move |request| {
        SetParametersAtomically::Response { result: set(&values, request.parameters) }
    })?;
    let values = parameters.clone();
    serving.serve::<GetParameters::Service>(node, "~/get_parameters", move |request| GetParameters::Response {
        values: request.names.iter().map(|name| to_message(value(&values, name))).collect(),
    })?;
    let values = parameters.clone();
    serving.serve::<GetParameterTypes::Service>(node, "~/get_parameter_types", move |request| {
        let types = request.names.iter().map(|name| type_of(&value(&values, name))).collect();
        GetParameterTypes::Response { types }
    })?;
    let values = parameters.clone();
    serving.serve::<DescribeParameters::Service>(node, "~/describe_parameters", move |request| {
        let descriptors = request.names.iter().map(|name| describe(name, values.declaration(name))).collect();
        DescribeParameters::Response { descriptors }
    })?;
    let values = parameters.clone();
    serving.serve::<ListParameters::Service>(node, "~/list_parameters", move |request| ListParameters::Response {
        result: list(values.names(), &request.prefixes, request.depth),
    })
}

fn value(parameters: &Parameters, name: &str) -> ParameterValue {
    parameters.get(name).unwrap_or(ParameterValue::NotSet)
}

fn messages(values: impl Iterator<Item = (String, ParameterValue)>) -> Vec<msg::Parameter> {
    values.map(|(name, value)| msg::Parameter { name, value: to_message(value) }).collect()
}

fn apply(
    parameters: &Parameters,
    wanted: Vec<msg::Parameter>,
    tell: impl FnOnce(Vec<msg::Parameter>),
) -> SetParametersResult {
    let wanted = wanted.into_iter().map(|one| (one.name, from_message(one.value))).collect();
    let (successful, reason) = match parameters.set(wanted) {
        Ok(changed) => {
            for (name, value) in &changed {
                tracing::info!("parameter {name} is now {}", value_as_json(value));
            }
            if !changed.is_empty() {
                tell(messages(changed.into_iter()));
            }
            (true, String::new())
        }
        Err(problem) => (false, carried(problem.to_string())),
    };
    SetParametersResult { successful, reason }
}

fn describe(name: &str, declared: Option<&Parameter>) -> ParameterDescriptor {
    let Some(parameter) = declared else {
        return ParameterDescriptor { name: name.to_owned(), ..Default::default() };
    };
    let mut descriptor = ParameterDescriptor {
        name: name.to_owned(),
        type_: type_of(&parameter.default),
        description: carried(parameter.description.clone()),
        ..Default::default()
    };
    if let Access::ReadOnly(because) = &parameter.access {
        descriptor.read_only = true;
        descriptor.additional_constraints = (*because).to_owned();
    }
    match &parameter.range {
        Some(Range::Integer(range)) => {
            let range = IntegerRange { from_value: *range.start(), to_value: *range.end(), step: 1 };
            descriptor.integer_range.push(range);
        }
        Some(Range::Double(range)) => {
            let range = FloatingPointRange { from_value: *range.start(), to_value: *range.end(), step: 0.0 };
            descriptor.floating_point_range.push(range);
        }
        None => {}
    }
    descriptor
}

/// Names under the prefixes (all, if there are none), at most `depth` levels deep (0: any).
fn list<'a>(names: impl Iterator<Item = &'a str>, prefixes: &[String], depth: u64) -> ListParametersResult {
    let deep_enough = |rest: &str| {
        let levels = rest.split('.').count();
        depth == u64::from(ListParameters::Request::DEPTH_RECURSIVE as u32)
            || u64::try_from(levels).is_ok_and(|levels| levels <= depth)
    };
    let mut result = ListParametersResult::default();
    for name in names {
        let wanted = if prefixes.is_empty() {
            deep_enough(name)
        } else {
            prefixes.iter().any(|prefix| {
                name == prefix
                    || name
                        .strip_prefix(prefix.as_str())
                        .and_then(|rest| rest.strip_prefix('.'))
                        .is_some_and(deep_enough)
            })
        };
        if wanted {
            result.names.push(name.to_owned());
            if let Some((prefix, _)) = name.rsplit_once('.')
                && !result.prefixes.iter().any(|known| known == prefix)
            {
                result.prefixes.push(prefix.to_owned());
            }
        }
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_declaration_is_described_with_its_type_and_range() {
        let speed = Parameter::double_within("speed_mps", 0.8, 0.05..=3.0).describe("Metres per second.").read_only();
        assert_eq!(
            describe("speed_mps", Some(&speed)),
            ParameterDescriptor {
                name: "speed_mps".to_owned(),
                type_: 3,
                description: "Metres per second.".to_owned(),
                read_only: true,
                additional_constraints: "can only be given at start: --ros-args -p NAME:=VALUE".to_owned(),
                floating_point_range: vec![FloatingPointRange { from_value: 0.05, to_value: 3.0, step: 0.0 }],
                ..Default::default()
            }
        );
        assert_eq!(describe("what", None).type_, 0, "not set");
    }

    #[test]
    fn lists_follow_prefix_and_depth() {
        let names = ["a", "b.c", "b.d.e", "bb.f"];
        let listed = |prefixes: &[&str], depth| {
            let prefixes: Vec<String> = prefixes.iter().map(ToString::to_string).collect();
            list(names.into_iter(), &prefixes, depth)
        };
        assert_eq!(listed(&[], 0).names, names);
        assert_eq!(listed(&[], 0).prefixes, ["b", "b.d", "bb"]);
        assert_eq!(listed(&[], 1).names, ["a"]);
        assert_eq!(listed(&["b"], 0).names, ["b.c", "b.d.e"]);
        assert_eq!(listed(&["b"], 1).names, ["b.c"]);
        assert_eq!(listed(&["a", "zz"], 0).names, ["a"]);
    }

    #[test]
    fn an_array_is_refused_for_its_type() {
        let parameters = Parameters::declare(vec![Parameter::text("voice", "en")], |_| None).unwrap();
        let wanted =
            msg::Parameter { name: "voice".to_owned(), value: msg::ParameterValue { type_: 7, ..Default::default() } };
        let result = apply(&parameters, vec![wanted], |_| panic!("nothing has changed"));
        assert!(!result.successful && result.reason.contains("'voice': its type is string"), "{result:?}");
    }
}
