//! What the remap rules among the ROS arguments make of a name.

use std::ffi::{CString, c_char, c_int};
use std::ptr;

use r2r_rcl::{rcl_arguments_t, rcutils_allocator_t};

use super::arguments::Arguments;
use super::{is_ok, last_error, owned};
use crate::RosError;

/// What a name is the name of: rules may be for one of both alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NameKind {
    Topic,
    Service,
}

type Remap = unsafe extern "C" fn(
    *const rcl_arguments_t,
    *const rcl_arguments_t,
    *const c_char,
    *const c_char,
    *const c_char,
    rcutils_allocator_t,
    *mut *mut c_char,
) -> c_int;

unsafe extern "C" {
    fn rcl_remap_topic_name(
        local: *const rcl_arguments_t,
        global: *const rcl_arguments_t,
        name: *const c_char,
        node: *const c_char,
        namespace: *const c_char,
        allocator: rcutils_allocator_t,
        output: *mut *mut c_char,
    ) -> c_int;
    fn rcl_remap_service_name(
        local: *const rcl_arguments_t,
        global: *const rcl_arguments_t,
        name: *const c_char,
        node: *const c_char,
        namespace: *const c_char,
        allocator: rcutils_allocator_t,
        output: *mut *mut c_char,
    ) -> c_int;
}

/// The name that a node of this name and namespace has to use instead of `name`, which is fully qualified. None: no rule is
/// about it.
///
/// # Errors
/// When a name is none, or the arguments are not valid.
pub(crate) fn remapped(
    arguments: &Arguments,
    kind: NameKind,
    name: &str,
    (node, namespace): (&str, &str),
) -> Result<Option<String>, RosError> {
    let refused = |problem: String| RosError::Endpoint { name: name.to_owned(), problem };
    let text = |text: &str| CString::new(text).map_err(|_| refused("the name holds a zero".to_owned()));
    let (wanted, node, namespace) = (text(name)?, text(node)?, text(namespace)?);
    let remap: Remap = match kind {
        NameKind::Topic => rcl_remap_topic_name,
        NameKind::Service => rcl_remap_service_name,
    };
    arguments.parsed(|parsed| {
        let mut found: *mut c_char = ptr::null_mut();
        // SAFETY: a plain value by copy.
        let allocator = unsafe { r2r_rcl::rcutils_get_default_allocator() };
        // SAFETY: the names end with a zero, `parsed` is valid, and null stands for no arguments of the node's own; `found`
        // stays null or gets a text that is ours.
        let code = unsafe {
            let (wanted, node, namespace) = (wanted.as_ptr(), node.as_ptr(), namespace.as_ptr());
            remap(ptr::null(), parsed, wanted, node, namespace, allocator, &mut found)
        };
        if !is_ok(code) {
            return Err(refused(last_error()));
        }
        if found.is_null() {
            return Ok(None);
        }
        let name = owned(found);
        if let Some(deallocate) = allocator.deallocate {
            // SAFETY: it was allocated by this allocator, and is given back once.
            unsafe { deallocate(found.cast(), allocator.state) };
        }
        Ok(Some(name))
    })?
}
