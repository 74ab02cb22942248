//! What is known of the types of what is offered. The libraries themselves are loaded elsewhere: see `type_loader`.

use std::collections::BTreeMap;
use std::sync::Arc;

use cortex_interfaces::{
    ActionInterface, Arity, Conventions, Field, MessageInterface, MessageType, SchemaLimits, ServiceInterface,
    fill_schema,
};
use serde_json::Value;

use super::OfferKind;

/// Characters of a type's own description that a model is shown.
const DESCRIPTION_CHARACTERS: usize = 1_200;
/// Fields of an answer that are listed.
const MOST_FIELDS: usize = 16;

/// How a type is called.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct TypeForm {
    /// What its interface file says.
    pub(crate) description: String,
    /// JSON Schema of what is sent.
    pub(crate) schema: Value,
    /// What the schema leaves out, with the reasons.
    pub(crate) left_out: Vec<String>,
    /// What comes back, in few words; empty for nothing.
    pub(crate) answer: String,
}

/// Where a type stands.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum TypeState {
    /// It can be called.
    Ready(Arc<TypeForm>),
    /// It can't, for this reason, which says what to do.
    Unusable(String),
}

/// A type, and as what it is needed.
pub(crate) type TypeKey = (OfferKind, String);

/// The types that are known. What is missing is being loaded.
pub(crate) type Types = BTreeMap<TypeKey, TypeState>;

impl TypeForm {
    /// Of a service.
    pub(crate) fn of_service(service: &ServiceInterface, conventions: &Conventions) -> Self {
        Self::new(&service.request, Some(&service.response), conventions)
    }

    /// Of an action.
    pub(crate) fn of_action(action: &ActionInterface, conventions: &Conventions) -> Self {
        Self::new(&action.goal, Some(&action.result), conventions)
    }

    /// Of a topic.
    pub(crate) fn of_message(message: &MessageInterface, conventions: &Conventions) -> Self {
        Self::new(message, None, conventions)
    }

    fn new(sent: &MessageInterface, answer: Option<&Arc<MessageInterface>>, conventions: &Conventions) -> Self {
        let filled = fill_schema(sent.message_type(), conventions, &SchemaLimits::default());
        Self {
            description: cortex_core::fragment::capped(&sent.message_type().description, DESCRIPTION_CHARACTERS),
            schema: filled.schema,
            left_out: filled.left_out,
            answer: answer.map(|answer| fields(answer.message_type())).unwrap_or_default(),
        }
    }
}

/// `success (bool), poses (geometry_msgs/msg/Pose, a list)`.
fn fields(message_type: &MessageType) -> String {
    let told = |field: &Field| match field.arity {
        Arity::One => format!("{} ({})", field.name, field.kind.name()),
        Arity::Array(_) | Arity::Sequence { .. } => format!("{} (a list of {})", field.name, field.kind.name()),
    };
    let mut parts: Vec<String> = message_type.fields.iter().take(MOST_FIELDS).map(told).collect();
    let more = message_type.fields.len().saturating_sub(MOST_FIELDS);
    if more > 0 {
        parts.push(format!("and {more} more"));
    }
    parts.join(", ")
}
