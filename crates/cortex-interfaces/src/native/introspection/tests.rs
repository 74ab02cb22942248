//! Descriptions written by hand: right ones, and such as no generator writes.

use std::ffi::c_void;
use std::ptr;

use r2r_rcl::{
    rosidl_runtime_c__String__fini, rosidl_runtime_c__String__init, rosidl_runtime_c__message_initialization,
    rosidl_runtime_c__uint8__Sequence, rosidl_runtime_c__uint8__Sequence__fini,
    rosidl_runtime_c__uint8__Sequence__init,
};

use super::*;
use crate::native::edit::Target;
use crate::native::memory::Memory;
use crate::native::view::Values;

/// A message of C: a number, a text and bytes.
#[repr(C)]
struct Small {
    number: i32,
    text: r2r_rcl::rosidl_runtime_c__String,
    bytes: rosidl_runtime_c__uint8__Sequence,
}

unsafe extern "C" fn init(message: *mut c_void, _: rosidl_runtime_c__message_initialization) {
    // SAFETY: `Memory` gives it zeroed memory of the size of `Small`.
    unsafe {
        let message = message.cast::<Small>();
        (*message).number = 7;
        assert!(rosidl_runtime_c__String__init(&raw mut (*message).text));
        assert!(rosidl_runtime_c__uint8__Sequence__init(&raw mut (*message).bytes, 2));
        // The function leaves the elements as the allocator gave them.
        (*message).bytes.data.copy_from([5, 6].as_ptr(), 2);
    }
}

unsafe extern "C" fn fini(message: *mut c_void) {
    // SAFETY: a message that `init` made.
    unsafe {
        let message = message.cast::<Small>();
        rosidl_runtime_c__String__fini(&raw mut (*message).text);
        rosidl_runtime_c__uint8__Sequence__fini(&raw mut (*message).bytes);
    }
}

unsafe extern "C" fn resize(sequence: *mut c_void, size: usize) -> bool {
    // SAFETY: a sequence of bytes that was initialised.
    unsafe {
        rosidl_runtime_c__uint8__Sequence__fini(sequence.cast());
        rosidl_runtime_c__uint8__Sequence__init(sequence.cast(), size)
    }
}

fn member(name: &'static CStr, kind: Types, offset: usize) -> RawMember {
    RawMember {
        name_: name.as_ptr(),
        type_id_: u8::try_from(kind as u32).unwrap(),
        string_upper_bound_: 0,
        members_: ptr::null(),
        is_key_: false,
        is_array_: false,
        array_size_: 0,
        is_upper_bound_: false,
        offset_: u32::try_from(offset).unwrap(),
        default_value_: ptr::null(),
        size_function: None,
        get_const_function: None,
        get_function: None,
        fetch_function: None,
        assign_function: None,
        resize_function: None,
    }
}

fn small() -> Vec<RawMember> {
    use std::mem::offset_of;
    let number =
        member(c"number", Types::rosidl_typesupport_introspection_c__ROS_TYPE_INT32, offset_of!(Small, number));
    let text = member(c"text", Types::rosidl_typesupport_introspection_c__ROS_TYPE_STRING, offset_of!(Small, text));
    let mut bytes =
        member(c"bytes", Types::rosidl_typesupport_introspection_c__ROS_TYPE_UINT8, offset_of!(Small, bytes));
    bytes.is_array_ = true;
    bytes.resize_function = Some(resize);
    vec![number, text, bytes]
}

fn described(members: Vec<RawMember>, change: impl FnOnce(&mut RawMembers)) -> NonNull<rosidl_message_type_support_t> {
    // As in a library: for as long as the process lives.
    let members: &'static [RawMember] = members.leak();
    let mut description = RawMembers {
        message_namespace_: c"small_msgs__msg".as_ptr(),
        message_name_: c"Small".as_ptr(),
        member_count_: u32::try_from(members.len()).unwrap(),
        size_of_: size_of::<Small>(),
        has_any_key_member_: false,
        members_: members.as_ptr(),
        init_function: Some(init),
        fini_function: Some(fini),
    };
    change(&mut description);
    support(IDENTIFIER, ptr::from_ref(Box::leak(Box::new(description))).cast())
}

fn support(identifier: &'static CStr, data: *const c_void) -> NonNull<rosidl_message_type_support_t> {
    // SAFETY: returns a plain value by copy.
    let mut support = unsafe { r2r_rcl::rosidl_get_zero_initialized_message_type_support_handle() };
    support.typesupport_identifier = identifier.as_ptr();
    support.data = data;
    NonNull::from(Box::leak(Box::new(support)))
}

fn read(support: NonNull<rosidl_message_type_support_t>) -> Result<Arc<Layout>, InterfaceError> {
    let interface = "small_msgs/msg/Small".parse().unwrap();
    let mut known = KnownLayouts::new();
    let complete = |layout: &Arc<Layout>| MessageType::clone(layout.message_type());
    let mut reader = Reader { known: &mut known, complete: &complete, interface: &interface };
    // SAFETY: a description that lives for ever, or one that is refused before it is used.
    unsafe { reader.layout(support) }
}

fn refused(members: Vec<RawMember>, change: impl FnOnce(&mut RawMembers)) -> String {
    match read(described(members, change)) {
        Ok(_) => panic!("it was taken"),
        Err(error) => error.to_string(),
    }
}

fn malformed(problem: &str) -> String {
    format!("the compiled small_msgs/msg/Small can't be understood ({problem}); rebuild its package for this ROS 2")
}

#[test]
fn a_message_is_made_read_and_written_by_its_description() {
    let layout = read(described(small(), |_| {})).ok().unwrap();
    let names: Vec<(&str, usize)> =
        layout.message_type().fields.iter().map(|field| (field.name.as_str(), field.offset)).collect();
    assert_eq!(names, [("number", 0), ("text", 8), ("bytes", 32)]);

    let mut memory = Memory::new(layout);
    assert!(matches!(memory.view().values(0), Some(Values::Int32([7]))));
    assert!(matches!(memory.view().values(2), Some(Values::Uint8([5, 6]))));
    let mut message = memory.edit();
    if let Some(Target::Text(mut slots)) = message.target(1) {
        assert!(slots.next().unwrap().assign("hello"));
        assert!(slots.next().is_none());
    }
    // What was in the list is gone, and it grows past its first block.
    if let Some(Target::Uint8(mut slots)) = message.target(2) {
        for byte in 0..100 {
            *slots.next().unwrap() = byte;
        }
    }
    let Some(Values::Uint8(bytes)) = memory.view().values(2) else { panic!("no bytes") };
    assert_eq!(bytes, (0..100).collect::<Vec<u8>>());
    let Some(Values::Text([text])) = memory.view().values(1) else { panic!("no text") };
    assert_eq!(text.bytes(), b"hello");
}

#[test]
fn room_that_is_not_used_leaves_a_valid_empty_list() {
    let mut memory = Memory::new(read(described(small(), |_| {})).ok().unwrap());
    let mut message = memory.edit();
    if let Some(Target::Uint8(mut slots)) = message.target(2) {
        slots.reserve(1000);
        // More than there can be: refused by the allocator, and harmless.
        slots.reserve(usize::MAX);
    }
    assert!(matches!(memory.view().values(2), Some(Values::Uint8([]))));
}

#[test]
fn the_placeholder_of_an_empty_message_is_no_field() {
    let placeholder =
        member(c"structure_needs_at_least_one_member", Types::rosidl_typesupport_introspection_c__ROS_TYPE_UINT8, 0);
    assert_eq!(read(described(vec![placeholder], |_| {})).ok().unwrap().message_type().fields, []);
}

#[test]
fn single_characters_are_small_integers() {
    let letter = member(c"letter", Types::rosidl_typesupport_introspection_c__ROS_TYPE_CHAR, 0);
    let wide = member(c"wide", Types::rosidl_typesupport_introspection_c__ROS_TYPE_WCHAR, 2);
    let layout = read(described(vec![letter, wide], |_| {})).ok().unwrap();
    let kinds: Vec<&FieldKind> = layout.message_type().fields.iter().map(|field| &field.kind).collect();
    assert_eq!(kinds, [&FieldKind::Character, &FieldKind::WideCharacter]);
    let memory = Memory::new(layout);
    // Both lie in the number that `init` writes: 7.
    assert!(matches!(memory.view().values(0), Some(Values::Int8([7]))));
    assert!(matches!(memory.view().values(1), Some(Values::Uint16([0]))));
}

#[test]
fn messages_and_type_supports_go_to_other_threads() {
    fn check<T: Send + Sync>() {}
    check::<crate::Message>();
    check::<crate::MessageView<'_>>();
    check::<crate::Interfaces>();
    check::<crate::ServiceInterface>();
    check::<crate::ActionInterface>();
}

#[test]
fn fields_that_can_not_be_handled_are_named() {
    let odd = |kind| refused(vec![member(c"odd", kind, 0)], |_| {});
    assert_eq!(
        odd(Types::rosidl_typesupport_introspection_c__ROS_TYPE_LONG_DOUBLE),
        "small_msgs/msg/Small: the field odd is a long double, which is not supported; use another type for it"
    );
    let mut unknown = member(c"odd", Types::rosidl_typesupport_introspection_c__ROS_TYPE_INT8, 0);
    unknown.type_id_ = 99;
    assert_eq!(
        refused(vec![unknown], |_| {}),
        "small_msgs/msg/Small: the field odd is a type number 99, which is not supported; use another type for it"
    );
}

#[test]
fn what_does_not_fit_in_the_message_is_refused() {
    let int = Types::rosidl_typesupport_introspection_c__ROS_TYPE_INT32;
    let outside = malformed("the field number does not lie within the message");
    assert_eq!(refused(vec![member(c"number", int, size_of::<Small>() - 2)], |_| {}), outside);
    assert_eq!(refused(vec![member(c"number", int, 2)], |_| {}), outside);
    let mut long = member(c"number", int, 0);
    long.is_array_ = true;
    long.array_size_ = usize::MAX / 2;
    assert_eq!(refused(vec![long], |_| {}), outside);
}

#[test]
fn descriptions_that_contradict_themselves_are_refused() {
    assert_eq!(
        refused(small(), |all| all.init_function = None),
        malformed("it has no functions to make and finalise a message")
    );
    assert_eq!(refused(small(), |all| all.member_count_ = u32::MAX), malformed("4294967295 fields in 56 bytes"));
    assert_eq!(
        refused(small(), |all| all.size_of_ = usize::MAX),
        malformed(&format!("3 fields in {} bytes", usize::MAX))
    );
    assert_eq!(refused(small(), |all| all.size_of_ = 57), malformed("57 bytes aligned to 8"));
    assert_eq!(
        refused(small(), |all| all.message_namespace_ = c"small_msgs".as_ptr()),
        malformed("a message named Some(\"small_msgs\") Some(\"Small\")")
    );
    assert_eq!(
        refused(small(), |all| all.message_name_ = ptr::null()),
        malformed("a message named Some(\"small_msgs__msg\") None")
    );
    let mut fixed = small();
    fixed[2].resize_function = None;
    assert_eq!(refused(fixed, |_| {}), malformed("the sequence bytes can't be resized"));
    let mut nameless = small();
    nameless[0].name_ = ptr::null();
    assert_eq!(refused(nameless, |_| {}), malformed("a field without a name"));
    let message = Types::rosidl_typesupport_introspection_c__ROS_TYPE_MESSAGE;
    assert_eq!(refused(vec![member(c"inner", message, 0)], |_| {}), malformed("the field inner has no type"));
}

#[test]
fn another_type_support_is_not_taken_for_a_description() {
    let problem = |identifier, data| match read(support(identifier, data)) {
        Ok(_) => panic!("it was taken"),
        Err(error) => error.to_string(),
    };
    assert_eq!(problem(c"rosidl_typesupport_c", ptr::null()), malformed("it is not an introspection type support"));
    assert_eq!(problem(IDENTIFIER, ptr::null()), malformed("it has no description"));
}

#[test]
fn a_message_that_contains_itself_is_refused() {
    let message = Types::rosidl_typesupport_introspection_c__ROS_TYPE_MESSAGE;
    let members: &'static mut [RawMember] = vec![member(c"inner", message, 0)].leak();
    let address = members.as_mut_ptr();
    // SAFETY: nobody else uses it until it is read below.
    let support = described(Vec::new(), |all| {
        all.members_ = address;
        all.member_count_ = 1;
    });
    // SAFETY: as above.
    unsafe { (*address).members_ = support.as_ptr() };
    let error = read(support).err().unwrap();
    assert_eq!(error.to_string(), malformed("messages are nested more than 64 deep"));
}
