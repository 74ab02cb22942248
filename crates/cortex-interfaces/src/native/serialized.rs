//! Messages as the middleware writes them on the wire (CDR): what bags and raw subscriptions hold.

use std::ffi::{CStr, c_char};

use r2r_rcl::{
    RMW_RET_OK, rcutils_get_default_allocator, rcutils_get_error_string, rcutils_reset_error, rcutils_uint8_array_fini,
    rcutils_uint8_array_t, rmw_deserialize, rmw_serialize,
};

use super::handle::MessageTypeSupport;
use super::memory::Memory;
use crate::SerializationError;

/// The room that is made at first. Messages that need more are written twice.
const FIRST_ROOM: usize = 4096;

/// The message as the middleware writes it; else what the middleware says.
///
/// The middleware skips the bytes between values that alignment asks for. They are zero here, so that equal messages are
/// equal bytes, and nothing of this process's memory leaves it.
pub(crate) fn serialize(memory: &Memory, support: MessageTypeSupport) -> Result<Vec<u8>, SerializationError> {
    let mut room = FIRST_ROOM;
    loop {
        let mut bytes = Buffer::zeroed(room)?;
        // SAFETY: an initialised message, its own type support, and a buffer with its allocator.
        let code = unsafe { rmw_serialize(memory.as_ptr(), support.as_ptr(), &raw mut bytes.0) };
        if !is_ok(code) {
            return Err(last_error());
        }
        if bytes.0.buffer_length <= room {
            return Ok(bytes.written().to_vec());
        }
        room = bytes.0.buffer_length;
    }
}

/// A buffer of the middleware.
struct Buffer(rcutils_uint8_array_t);

impl Buffer {
    fn zeroed(room: usize) -> Result<Self, SerializationError> {
        // SAFETY: returns a plain value by copy; needs no set-up.
        let allocator = unsafe { rcutils_get_default_allocator() };
        let allocate = allocator
            .zero_allocate
            .ok_or_else(|| SerializationError { problem: "there is no allocator".to_owned() })?;
        // SAFETY: the allocator's own function, with its own state.
        let buffer: *mut u8 = unsafe { allocate(room, 1, allocator.state) }.cast();
        if buffer.is_null() {
            return Err(SerializationError { problem: "there is no memory for it".to_owned() });
        }
        Ok(Self(rcutils_uint8_array_t { buffer, buffer_length: 0, buffer_capacity: room, allocator }))
    }

    fn written(&self) -> &[u8] {
        // SAFETY: all of the buffer was zeroed, and so many bytes of it were written.
        unsafe { std::slice::from_raw_parts(self.0.buffer, self.0.buffer_length) }
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        // SAFETY: what it points to came from its allocator.
        unsafe { rcutils_uint8_array_fini(&raw mut self.0) };
    }
}

/// Replaces the message with what the bytes say; else what the middleware says, and the message then is anything of its
/// type.
pub(crate) fn deserialize(
    memory: &mut Memory,
    support: MessageTypeSupport,
    bytes: &[u8],
) -> Result<(), SerializationError> {
    // SAFETY: returns a plain value by copy; needs no set-up.
    let allocator = unsafe { rcutils_get_default_allocator() };
    let buffer = rcutils_uint8_array_t {
        buffer: bytes.as_ptr().cast_mut(),
        buffer_length: bytes.len(),
        buffer_capacity: bytes.len(),
        allocator,
    };
    // SAFETY: the buffer is only read; the message is initialised and of that type.
    let code = unsafe { rmw_deserialize(&raw const buffer, support.as_ptr(), memory.as_mut_ptr()) };
    if is_ok(code) { Ok(()) } else { Err(last_error()) }
}

fn is_ok(code: i32) -> bool {
    code == RMW_RET_OK.cast_signed()
}

/// What the middleware says of its last failure on this thread. Resets it, as it demands.
fn last_error() -> SerializationError {
    // SAFETY: returns a plain value by copy; needs no set-up.
    let text = unsafe { rcutils_get_error_string() };
    let text: *const c_char = text.str_.as_ptr();
    // SAFETY: the text ends with a zero and lives until the end of this function.
    let text = unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned();
    // SAFETY: only touches state of this thread.
    unsafe { rcutils_reset_error() };
    // The rest names a line of the library's source.
    SerializationError { problem: text.split(", at ").next().unwrap_or_default().to_owned() }
}
