//! The ROS parameters of this node: read once at start, then shown to others over the standard services.
//!
//! They are one layer of the configuration, which is resolved when the process starts. So the services show the
//! values and refuse to change them, rather than take a value that nothing would follow. (The handler that `r2r` has
//! accepts everything, and panics when whoever asked has gone.)

use std::collections::BTreeMap;
use std::sync::Arc;

use futures::{Stream, StreamExt};
use r2r::rcl_interfaces::msg::{
    ListParametersResult, ParameterDescriptor, ParameterValue as ValueMessage, SetParametersResult,
};
use r2r::rcl_interfaces::srv::{
    DescribeParameters, GetParameterTypes, GetParameters, ListParameters, SetParameters, SetParametersAtomically,
};
use r2r::{ParameterValue, QosProfile, ServiceRequest, WrappedServiceTypeSupport};
use serde_json::{Value, json};

use crate::{RosError, RosNode};

/// Why a parameter is not set.
const READ_ONLY: &str = "parameters are read when the node starts: restart it with --ros-args -p NAME:=VALUE";
/// What separates the levels of a parameter's name.
const SEPARATOR: char = '.';

/// A parameter as JSON. Null when it is not set; numbers that JSON does not have are text.
#[must_use]
pub fn value_as_json(value: &ParameterValue) -> Value {
    let number = |number: &f64| if number.is_finite() { json!(number) } else { json!(number.to_string()) };
    match value {
        ParameterValue::NotSet => Value::Null,
        ParameterValue::Bool(value) => json!(value),
        ParameterValue::Integer(value) => json!(value),
        ParameterValue::Double(value) => number(value),
        ParameterValue::String(value) => json!(value),
        ParameterValue::BoolArray(values) => json!(values),
        ParameterValue::ByteArray(values) => json!(values),
        ParameterValue::IntegerArray(values) => json!(values),
        ParameterValue::DoubleArray(values) => values.iter().map(number).collect(),
        ParameterValue::StringArray(values) => json!(values),
    }
}

fn message_of(value: &ParameterValue) -> ValueMessage {
    let mut message = ValueMessage { type_: type_of(value), ..ValueMessage::default() };
    match value.clone() {
        ParameterValue::NotSet => {}
        ParameterValue::Bool(value) => message.bool_value = value,
        ParameterValue::Integer(value) => message.integer_value = value,
        ParameterValue::Double(value) => message.double_value = value,
        ParameterValue::String(value) => message.string_value = value,
        ParameterValue::ByteArray(value) => message.byte_array_value = value,
        ParameterValue::BoolArray(value) => message.bool_array_value = value,
        ParameterValue::IntegerArray(value) => message.integer_array_value = value,
        ParameterValue::DoubleArray(value) => message.double_array_value = value,
        ParameterValue::StringArray(value) => message.string_array_value = value,
    }
    message
}

fn type_of(value: &ParameterValue) -> u8 {
    match value {
        ParameterValue::NotSet => 0,
        ParameterValue::Bool(_) => 1,
        ParameterValue::Integer(_) => 2,
        ParameterValue::Double(_) => 3,
        ParameterValue::String(_) => 4,
        ParameterValue::ByteArray(_) => 5,
        ParameterValue::BoolArray(_) => 6,
        ParameterValue::IntegerArray(_) => 7,
        ParameterValue::DoubleArray(_) => 8,
        ParameterValue::StringArray(_) => 9,
    }
}

/// Shows `parameters` over the six standard services of the node, as read-only. To be called within a tokio runtime;
/// ends with the node.
///
/// # Errors
/// When the node was shut down or a service can't be created.
pub async fn serve(node: &RosNode, parameters: BTreeMap<String, ParameterValue>) -> Result<(), RosError> {
    let shown = Arc::new(Shown(parameters));
    serve_one::<GetParameters::Service>(node, "get_parameters", &shown, Shown::get).await?;
    serve_one::<GetParameterTypes::Service>(node, "get_parameter_types", &shown, Shown::types).await?;
    serve_one::<ListParameters::Service>(node, "list_parameters", &shown, Shown::list).await?;
    serve_one::<DescribeParameters::Service>(node, "describe_parameters", &shown, Shown::describe).await?;
    serve_one::<SetParameters::Service>(node, "set_parameters", &shown, Shown::set).await?;
    serve_one::<SetParametersAtomically::Service>(node, "set_parameters_atomically", &shown, Shown::set_at_once).await
}

async fn serve_one<T>(
    node: &RosNode,
    name: &'static str,
    shown: &Arc<Shown>,
    answer: fn(&Shown, T::Request) -> T::Response,
) -> Result<(), RosError>
where
    T: WrappedServiceTypeSupport + 'static,
    T::Request: Send,
{
    let quality = QosProfile::parameters();
    let requests = node.with_node(move |node| node.create_service::<T>(&format!("~/{name}"), quality)).await??;
    let shown = Arc::clone(shown);
    // Ends with the node, which drops the sending side.
    tokio::spawn(answer_all::<T>(requests, shown, answer));
    Ok(())
}

async fn answer_all<T: WrappedServiceTypeSupport + 'static>(
    mut requests: impl Stream<Item = ServiceRequest<T>> + Unpin + Send,
    shown: Arc<Shown>,
    answer: fn(&Shown, T::Request) -> T::Response,
) {
    while let Some(request) = requests.next().await {
        let response = answer(&shown, request.message.clone());
        if let Err(problem) = request.respond(response) {
            tracing::debug!("a question about parameters went unanswered: {problem}");
        }
    }
}

/// The parameters that are shown.
struct Shown(BTreeMap<String, ParameterValue>);

impl Shown {
    fn value(&self, name: &str) -> &ParameterValue {
        self.0.get(name).unwrap_or(&ParameterValue::NotSet)
    }

    fn get(&self, request: GetParameters::Request) -> GetParameters::Response {
        GetParameters::Response { values: request.names.iter().map(|name| message_of(self.value(name))).collect() }
    }

    fn types(&self, request: GetParameterTypes::Request) -> GetParameterTypes::Response {
        GetParameterTypes::Response { types: request.names.iter().map(|name| type_of(self.value(name))).collect() }
    }

    fn describe(&self, request: DescribeParameters::Request) -> DescribeParameters::Response {
        let describe = |name: String| ParameterDescriptor {
            type_: type_of(self.value(&name)),
            name,
            additional_constraints: READ_ONLY.to_owned(),
            read_only: true,
            ..ParameterDescriptor::default()
        };
        DescribeParameters::Response { descriptors: request.names.into_iter().map(describe).collect() }
    }

    fn set(&self, request: SetParameters::Request) -> SetParameters::Response {
        SetParameters::Response { results: request.parameters.iter().map(|_| refusal()).collect() }
    }

    fn set_at_once(&self, _: SetParametersAtomically::Request) -> SetParametersAtomically::Response {
        SetParametersAtomically::Response { result: refusal() }
    }

    fn list(&self, request: ListParameters::Request) -> ListParameters::Response {
        let within = |rest: &str| {
            let levels = u64::try_from(rest.matches(SEPARATOR).count()).unwrap_or(u64::MAX);
            request.depth == 0 || levels < request.depth
        };
        let is_asked_for = |name: &str| match request.prefixes.as_slice() {
            [] => within(name),
            prefixes => prefixes.iter().any(|prefix| {
                let rest = name.strip_prefix(prefix.as_str());
                rest.is_some_and(|rest| rest.is_empty() || rest.strip_prefix(SEPARATOR).is_some_and(within))
            }),
        };
        let names: Vec<String> = self.0.keys().filter(|name| is_asked_for(name)).cloned().collect();
        let mut prefixes: Vec<String> =
            names.iter().filter_map(|name| Some(name.rsplit_once(SEPARATOR)?.0.to_owned())).collect();
        prefixes.dedup();
        ListParameters::Response { result: ListParametersResult { names, prefixes } }
    }
}

fn refusal() -> SetParametersResult {
    SetParametersResult { successful: false, reason: READ_ONLY.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value_of_message(message: ValueMessage) -> Value {
        value_as_json(&match message.type_ {
            1 => ParameterValue::Bool(message.bool_value),
            2 => ParameterValue::Integer(message.integer_value),
            3 => ParameterValue::Double(message.double_value),
            4 => ParameterValue::String(message.string_value),
            5 => ParameterValue::ByteArray(message.byte_array_value),
            6 => ParameterValue::BoolArray(message.bool_array_value),
            7 => ParameterValue::IntegerArray(message.integer_array_value),
            8 => ParameterValue::DoubleArray(message.double_array_value),
            9 => ParameterValue::StringArray(message.string_array_value),
            _ => ParameterValue::NotSet,
        })
    }

    fn shown() -> Shown {
        Shown(BTreeMap::from([
            ("model".to_owned(), ParameterValue::String("reflex".to_owned())),
            ("limits.steps".to_owned(), ParameterValue::Integer(15)),
            ("limits.seconds.total".to_owned(), ParameterValue::Double(f64::INFINITY)),
        ]))
    }

    fn names(prefixes: &[&str], depth: u64) -> Vec<String> {
        let prefixes = prefixes.iter().map(|prefix| (*prefix).to_owned()).collect();
        shown().list(ListParameters::Request { prefixes, depth }).result.names
    }

    #[test]
    fn names_are_listed_by_prefix_and_depth() {
        assert_eq!(names(&[], 0), ["limits.seconds.total", "limits.steps", "model"]);
        assert_eq!(names(&[], 1), ["model"]);
        assert_eq!(names(&["limits"], 1), ["limits.steps"]);
        assert_eq!(names(&["limits"], 0), ["limits.seconds.total", "limits.steps"]);
        assert_eq!(names(&["model"], 0), ["model"]);
        assert_eq!(names(&["mod"], 0), Vec::<String>::new());
    }

    #[test]
    fn values_keep_their_types_and_unknown_names_are_not_set() {
        let request = GetParameters::Request { names: ["limits.steps", "nothing"].map(str::to_owned).to_vec() };
        let values = shown().get(request).values;
        assert_eq!(values.into_iter().map(value_of_message).collect::<Vec<_>>(), [json!(15), Value::Null]);
        assert_eq!(value_as_json(&ParameterValue::Double(f64::INFINITY)), json!("inf"));
    }

    #[test]
    fn nothing_is_set_and_the_reason_says_what_to_do() {
        let parameters = vec![r2r::rcl_interfaces::msg::Parameter::default(); 2];
        let results = shown().set(SetParameters::Request { parameters }).results;
        assert_eq!(results, vec![refusal(); 2]);
        assert!(!results[0].successful);
    }
}
