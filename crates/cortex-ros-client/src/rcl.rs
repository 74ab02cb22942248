//! The calls of the client library that `r2r` keeps private, and the end of a process in which it hangs. The only unsafe
//! code of this crate.
//!
//! Everything that leaves this module is safe and owned: no pointer, no borrowed text.

pub(crate) mod announced;
pub(crate) mod arguments;
pub(crate) mod client;
pub mod context;
pub(crate) mod ending;
pub(crate) mod logging;
pub(crate) mod main_node;
pub(crate) mod observer;
pub(crate) mod overrides;
pub mod priority;
pub(crate) mod publisher;
mod qos;
pub(crate) mod remap;
pub mod service;
pub(crate) mod subscription;
pub(crate) mod wait_set;

use std::ffi::{CStr, c_char};
use std::sync::Arc;

use cortex_interfaces::{Message, MessageInterface};

use crate::RosError;

/// What the client library says of its last failure on this thread. Resets it, as the library demands.
fn last_error() -> String {
    // SAFETY: returns a plain value by copy; needs no set-up.
    let text = unsafe { r2r_rcl::rcutils_get_error_string() };
    let text = owned(text.str_.as_ptr());
    forget_error();
    // The rest names a line of the library's source.
    text.split(", at ").next().unwrap_or_default().to_owned()
}

/// Forgets what the client library says of its last failure on this thread.
fn forget_error() {
    // SAFETY: only touches state of this thread.
    unsafe { r2r_rcl::rcutils_reset_error() };
}

/// The text behind a pointer that the client library gave. Null is empty; what is not UTF-8 is replaced.
fn owned(text: *const c_char) -> String {
    if text.is_null() {
        return String::new();
    }
    // SAFETY: not null, and the client library ends its texts with a zero and keeps them while the caller reads.
    unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
}

/// Whether a call of the client library went well.
fn is_ok(code: i32) -> bool {
    code == r2r_rcl::RCL_RET_OK.cast_signed()
}

/// Whether a message is what an endpoint of that name sends: the middleware would read its memory as that, whatever it is.
fn check_type(name: &str, message: &Message, expected: &Arc<MessageInterface>) -> Result<(), RosError> {
    let found = message.interface();
    if found.type_support() == expected.type_support() {
        return Ok(());
    }
    Err(RosError::WrongType {
        name: name.to_owned(),
        expected: expected.message_type().name.to_string(),
        found: found.message_type().name.to_string(),
    })
}
