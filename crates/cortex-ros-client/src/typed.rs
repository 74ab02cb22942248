//! Types of messages and services that were compiled in.

use serde_json::Value;

use crate::text::carried;

/// A type of messages: one of [`messages`](crate::messages), or of another package that was compiled in.
pub trait TypedMessage: sealed::Message + Send + Sync + 'static {}

impl<T: sealed::Message + Send + Sync + 'static> TypedMessage for T {}

/// A type of services, likewise. `S::Request` and `S::Response` are its messages.
pub trait TypedService: sealed::Service<Request: Send, Response: Send> + 'static {}

impl<S: sealed::Service<Request: Send, Response: Send> + 'static> TypedService for S {}

/// A message from JSON. NUL, which no text of ROS can carry, is left out of texts.
///
/// # Errors
/// When the JSON is none of that type.
pub(crate) fn from_json<T: TypedMessage>(json: &Value) -> Result<T, serde_json::Error> {
    serde_json::from_value(without_nul(json))
}

fn without_nul(json: &Value) -> Value {
    match json {
        Value::String(text) => Value::String(carried(text.clone())),
        Value::Array(values) => values.iter().map(without_nul).collect(),
        Value::Object(fields) => fields.iter().map(|(key, value)| (key.clone(), without_nul(value))).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) => json.clone(),
    }
}

mod sealed {
    pub trait Message: r2r::WrappedTypesupport {}

    impl<T: r2r::WrappedTypesupport> Message for T {}

    pub trait Service: r2r::WrappedServiceTypeSupport {}

    impl<S: r2r::WrappedServiceTypeSupport> Service for S {}
}
