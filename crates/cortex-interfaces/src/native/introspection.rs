//! Reads the description that a package carries of its own messages, and checks it.
//!
//! The description is C data (`rosidl_typesupport_introspection_c/message_introspection.h`). It was written by ROS' own
//! generator, so it is believed where it can't be checked; what can be checked is, since a package that was built for
//! another ROS 2 would otherwise be undefined behaviour.

use std::collections::BTreeMap;
use std::ffi::{CStr, c_char};
use std::ptr::NonNull;
use std::sync::Arc;

use r2r_rcl::rosidl_typesupport_introspection_c_field_types as Types;
use r2r_rcl::{
    rosidl_message_type_support_t, rosidl_typesupport_introspection_c__MessageMember_s as RawMember,
    rosidl_typesupport_introspection_c__MessageMembers_s as RawMembers,
};

use super::layout::{ALIGNMENT, ElementLayout, Extent, FieldLayout, Layout};
use crate::model::{Arity, Choices, Field, FieldKind};
use crate::{InterfaceError, InterfaceKind, InterfaceName, MessageType};

/// What the type support of this kind calls itself.
const IDENTIFIER: &CStr = c"rosidl_typesupport_introspection_c";
/// A C structure can't be empty, so the generator puts this field into a message that is.
const PLACEHOLDER: &str = "structure_needs_at_least_one_member";
/// Messages are not nested deeper; also stops what nests in itself.
const MAX_NESTING: usize = 64;
/// No message has more fields.
const MAX_FIELDS: u32 = 10_000;
/// No message is larger, without what it points to.
const MAX_SIZE: usize = 256 * 1024 * 1024;

/// Completes a type with what the compiled interface does not have: comments, constants, defaults. Gets the type as it
/// was compiled, and its layout to make one.
pub(crate) type Complete<'a> = dyn Fn(&Arc<Layout>) -> MessageType + 'a;

/// The layouts that were read already, by the address of their description.
pub(crate) type KnownLayouts = BTreeMap<usize, Arc<Layout>>;

/// Reads descriptions.
pub(crate) struct Reader<'a> {
    pub(crate) known: &'a mut KnownLayouts,
    pub(crate) complete: &'a Complete<'a>,
    /// What errors name.
    pub(crate) interface: &'a InterfaceName,
}

impl Reader<'_> {
    /// The layout of a message and of all messages within it.
    ///
    /// # Safety
    /// `support` must be what the generated function of a library that is never unloaded returned, and no such function
    /// may run at the same time.
    pub(super) unsafe fn layout(
        &mut self,
        support: NonNull<rosidl_message_type_support_t>,
    ) -> Result<Arc<Layout>, InterfaceError> {
        // SAFETY: as for this function.
        unsafe { self.nested_layout(support, 0) }
    }

    unsafe fn nested_layout(
        &mut self,
        support: NonNull<rosidl_message_type_support_t>,
        depth: usize,
    ) -> Result<Arc<Layout>, InterfaceError> {
        if depth > MAX_NESTING {
            return Err(self.malformed(format!("messages are nested more than {MAX_NESTING} deep")));
        }
        // SAFETY: says the caller.
        let support = unsafe { support.as_ref() };
        // SAFETY: a text of the library, or null.
        if unsafe { text(support.typesupport_identifier) } != IDENTIFIER.to_str().ok() {
            return Err(self.malformed("it is not an introspection type support"));
        }
        let address = support.data as usize;
        if let Some(known) = self.known.get(&address) {
            return Ok(Arc::clone(known));
        }
        // SAFETY: the identifier says what `data` is.
        let Some(members) = (unsafe { support.data.cast::<RawMembers>().as_ref() }) else {
            return Err(self.malformed("it has no description"));
        };
        // SAFETY: as for this function.
        let layout = Arc::new(unsafe { self.read(members, depth) }?);
        // The draft is needed to make the message that shows the defaults.
        let completed = Arc::new((self.complete)(&layout));
        let layout = Arc::new(match Arc::try_unwrap(layout) {
            Ok(draft) => Layout { message_type: completed, ..draft },
            Err(_) => return Err(self.malformed("it is in use while it is made")),
        });
        self.known.insert(address, Arc::clone(&layout));
        Ok(layout)
    }

    /// # Safety
    /// `members` must be a description as the generator writes it.
    unsafe fn read(&mut self, members: &RawMembers, depth: usize) -> Result<Layout, InterfaceError> {
        let size = members.size_of_;
        if members.member_count_ > MAX_FIELDS || size > MAX_SIZE {
            return Err(self.malformed(format!("{} fields in {size} bytes", members.member_count_)));
        }
        let (Some(init), Some(fini)) = (members.init_function, members.fini_function) else {
            return Err(self.malformed("it has no functions to make and finalise a message"));
        };
        // SAFETY: texts of the library, or null.
        let name = unsafe { self.name(members) }?;
        let raw: &[RawMember] = if members.member_count_ == 0 || members.members_.is_null() {
            &[]
        } else {
            // SAFETY: the description has that many members.
            unsafe { std::slice::from_raw_parts(members.members_, members.member_count_ as usize) }
        };
        let mut fields = Vec::with_capacity(raw.len());
        let mut layouts = Vec::with_capacity(raw.len());
        let mut alignment = 1;
        for member in raw {
            // SAFETY: as for this function.
            let (field, layout) = unsafe { self.field(member, &name, depth) }?;
            let end = layout.size().and_then(|bytes| bytes.checked_add(layout.offset));
            if end.is_none_or(|end| end > size) || !layout.offset.is_multiple_of(layout.alignment()) {
                return Err(self.malformed(format!("the field {} does not lie within the message", field.name)));
            }
            alignment = alignment.max(layout.alignment());
            if field.name != PLACEHOLDER {
                fields.push(field);
                layouts.push(layout);
            }
        }
        if alignment > ALIGNMENT || size == 0 || !size.is_multiple_of(alignment) {
            return Err(self.malformed(format!("{size} bytes aligned to {alignment}")));
        }
        let message_type =
            MessageType { name, description: String::new(), fields, constants: Vec::new(), size_of: size };
        Ok(Layout { size, alignment, init, fini, fields: layouts.into(), message_type: Arc::new(message_type) })
    }

    /// # Safety
    /// `member` must be part of a description as the generator writes it.
    unsafe fn field(
        &mut self,
        member: &RawMember,
        owner: &InterfaceName,
        depth: usize,
    ) -> Result<(Field, FieldLayout), InterfaceError> {
        // SAFETY: a text of the library, or null.
        let Some(name) = unsafe { text(member.name_) }.filter(|name| !name.is_empty()) else {
            return Err(self.malformed("a field without a name"));
        };
        let arity = match (member.is_array_, member.array_size_, member.is_upper_bound_) {
            (false, _, _) => Arity::One,
            (true, 0, _) => Arity::Sequence { bound: None },
            (true, bound, true) => Arity::Sequence { bound: Some(bound) },
            (true, count, false) => Arity::Array(count),
        };
        let unsupported = |kind: &str| InterfaceError::UnsupportedField {
            interface: owner.clone(),
            field: name.to_owned(),
            kind: kind.to_owned(),
        };
        let bound = Some(member.string_upper_bound_).filter(|bound| *bound > 0);
        let id = u32::from(member.type_id_);
        let (kind, element) = if id == Types::rosidl_typesupport_introspection_c__ROS_TYPE_MESSAGE as u32 {
            let Some(support) = NonNull::new(member.members_.cast_mut()) else {
                return Err(self.malformed(format!("the field {name} has no type")));
            };
            // SAFETY: the generated function of the message set it before it returned.
            let layout = unsafe { self.nested_layout(support, depth + 1) }?;
            (FieldKind::Message(Arc::clone(&layout.message_type)), ElementLayout::Message(layout))
        } else {
            primitive(id, bound).map_err(|kind| unsupported(&kind.to_string()))?
        };
        let Some(extent) = Extent::new(arity, member.resize_function) else {
            return Err(self.malformed(format!("the sequence {name} can't be resized")));
        };
        let field = Field {
            name: name.to_owned(),
            kind,
            arity,
            description: String::new(),
            default: None,
            choices: Choices::Free,
            offset: member.offset_ as usize,
        };
        let layout = FieldLayout { offset: field.offset, element, extent };
        Ok((field, layout))
    }

    /// The name of a message: `geometry_msgs__msg` and `Pose`.
    ///
    /// # Safety
    /// The texts of `members` must be null or valid.
    unsafe fn name(&self, members: &RawMembers) -> Result<InterfaceName, InterfaceError> {
        // SAFETY: as for this function.
        let (namespace, name) = unsafe { (text(members.message_namespace_), text(members.message_name_)) };
        let parts = namespace.and_then(|namespace| namespace.rsplit_once("__")).zip(name);
        let checked = parts.and_then(|((package, kind), name)| {
            let kind = [InterfaceKind::Message, InterfaceKind::Service, InterfaceKind::Action]
                .into_iter()
                .find(|known| known.as_str() == kind)?;
            InterfaceName::new(package, kind, name).ok()
        });
        checked.ok_or_else(|| self.malformed(format!("a message named {namespace:?} {name:?}")))
    }

    fn malformed(&self, problem: impl Into<String>) -> InterfaceError {
        InterfaceError::Malformed { interface: self.interface.clone(), problem: problem.into() }
    }
}

/// A type that can't be handled.
#[derive(Debug, thiserror::Error)]
enum UnsupportedType {
    #[error("long double")]
    LongDouble,
    #[error("type number {0}")]
    Unknown(u32),
}

/// The primitive type of that number.
fn primitive(id: u32, bound: Option<usize>) -> Result<(FieldKind, ElementLayout), UnsupportedType> {
    use ElementLayout as E;
    use FieldKind as K;
    use Types as T;
    let table = [
        (T::rosidl_typesupport_introspection_c__ROS_TYPE_BOOLEAN, K::Boolean, E::Boolean),
        (T::rosidl_typesupport_introspection_c__ROS_TYPE_OCTET, K::Byte, E::Uint8),
        (T::rosidl_typesupport_introspection_c__ROS_TYPE_CHAR, K::Character, E::Int8),
        (T::rosidl_typesupport_introspection_c__ROS_TYPE_WCHAR, K::WideCharacter, E::Uint16),
        (T::rosidl_typesupport_introspection_c__ROS_TYPE_INT8, K::Int8, E::Int8),
        (T::rosidl_typesupport_introspection_c__ROS_TYPE_UINT8, K::Uint8, E::Uint8),
        (T::rosidl_typesupport_introspection_c__ROS_TYPE_INT16, K::Int16, E::Int16),
        (T::rosidl_typesupport_introspection_c__ROS_TYPE_UINT16, K::Uint16, E::Uint16),
        (T::rosidl_typesupport_introspection_c__ROS_TYPE_INT32, K::Int32, E::Int32),
        (T::rosidl_typesupport_introspection_c__ROS_TYPE_UINT32, K::Uint32, E::Uint32),
        (T::rosidl_typesupport_introspection_c__ROS_TYPE_INT64, K::Int64, E::Int64),
        (T::rosidl_typesupport_introspection_c__ROS_TYPE_UINT64, K::Uint64, E::Uint64),
        (T::rosidl_typesupport_introspection_c__ROS_TYPE_FLOAT, K::Float32, E::Float32),
        (T::rosidl_typesupport_introspection_c__ROS_TYPE_DOUBLE, K::Float64, E::Float64),
        (T::rosidl_typesupport_introspection_c__ROS_TYPE_STRING, K::String { bound }, E::Text),
        (T::rosidl_typesupport_introspection_c__ROS_TYPE_WSTRING, K::WideString { bound }, E::WideText),
    ];
    if id == T::rosidl_typesupport_introspection_c__ROS_TYPE_LONG_DOUBLE as u32 {
        return Err(UnsupportedType::LongDouble);
    }
    let found = table.into_iter().find(|(known, _, _)| *known as u32 == id);
    found.map(|(_, kind, element)| (kind, element)).ok_or(UnsupportedType::Unknown(id))
}

/// # Safety
/// `pointer` must be null or point to a text that ends with a zero and outlives `'a`.
unsafe fn text<'a>(pointer: *const c_char) -> Option<&'a str> {
    if pointer.is_null() {
        return None;
    }
    // SAFETY: as for this function.
    unsafe { CStr::from_ptr(pointer) }.to_str().ok()
}

#[cfg(test)]
mod tests;
