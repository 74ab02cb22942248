//! Completes a type that was read from compiled code with what only its text and its first message tell: comments,
//! constants, defaults, choices.

use std::sync::Arc;

use serde_json::Value;

use crate::index::AmentIndex;
use crate::interface_file::{self, Section};
use crate::model::{FieldKind, assign_choices};
use crate::native::layout::Layout;
use crate::native::memory::Memory;
use crate::write::{WriteOptions, field_to_json};
use crate::{InterfaceKind, InterfaceName, MessageType};

/// The type of `layout`, completed.
pub(crate) fn complete(layout: &Arc<Layout>, index: &AmentIndex) -> MessageType {
    let section = section(&layout.message_type().name, index).unwrap_or_default();
    let message = Memory::new(Arc::clone(layout));
    let mut completed = MessageType::clone(layout.message_type());
    for (position, field) in completed.fields.iter_mut().enumerate() {
        let text = section.fields.iter().find(|text| text.name == field.name);
        if let Some(text) = text {
            field.description.clone_from(&text.description);
        }
        if !matches!(field.kind, FieldKind::Message(_)) {
            let first = field_to_json(message.view(), position, &WriteOptions::exact());
            let is_declared = text.is_some_and(|text| text.default.is_some());
            field.default = first.filter(|value| is_declared || !is_zero(value));
        }
    }
    assign_choices(&mut completed.fields, &section.constants);
    completed.description = section.description;
    completed.constants = section.constants;
    completed
}

/// What the interface file says of a message, or of a part of a service or an action.
fn section(name: &InterfaceName, index: &AmentIndex) -> Option<Section> {
    let parts: &[&str] = match name.kind() {
        InterfaceKind::Message => &[""],
        InterfaceKind::Service => &["_Request", "_Response"],
        InterfaceKind::Action => &["_Goal", "_Result", "_Feedback"],
    };
    let (position, stem) =
        parts.iter().enumerate().find_map(|(position, part)| Some((position, name.name().strip_suffix(part)?)))?;
    let file = InterfaceName::new(name.package(), name.kind(), stem).ok()?;
    interface_file::parse(&index.text_of(&file)?).into_iter().nth(position)
}

/// Whether a value is what a field has without a default.
fn is_zero(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Bool(value) => !value,
        Value::Number(number) => number.as_f64() == Some(0.0),
        Value::String(text) => text.is_empty(),
        Value::Array(elements) => elements.iter().all(is_zero),
        Value::Object(_) => false,
    }
}
