//! What fields consist of, as it lies in memory.

use r2r_rcl::{
    rosidl_runtime_c__String, rosidl_runtime_c__String__assignn, rosidl_runtime_c__String__init,
    rosidl_runtime_c__U16String, rosidl_runtime_c__U16String__assignn, rosidl_runtime_c__U16String__init,
};

/// A type of element that every ROS message may consist of.
///
/// # Safety
/// The type has the layout of the C type it stands for, and may be moved in memory without telling it.
pub(crate) unsafe trait Element: Sized {
    /// Makes a valid element that is zero or empty. False when there is no memory; nothing is made then.
    ///
    /// # Safety
    /// `place` must be aligned and writable; what it held before is not finalised.
    unsafe fn init(place: *mut Self) -> bool;
}

/// A `bool` of C, which is not trusted to be 0 or 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(transparent)]
pub(crate) struct CBool(u8);

impl CBool {
    pub(crate) fn get(self) -> bool {
        self.0 != 0
    }
}

impl From<bool> for CBool {
    fn from(value: bool) -> Self {
        Self(value.into())
    }
}

macro_rules! plain_elements {
    ($($element:ty = $zero:expr),+) => {$(
        // SAFETY: a number; every bit pattern is valid.
        unsafe impl Element for $element {
            unsafe fn init(place: *mut Self) -> bool {
                // SAFETY: aligned and writable, says the caller.
                unsafe { place.write($zero) };
                true
            }
        }
    )+};
}

plain_elements!(
    CBool = CBool(0),
    u8 = 0,
    i8 = 0,
    u16 = 0,
    i16 = 0,
    u32 = 0,
    i32 = 0,
    u64 = 0,
    i64 = 0,
    f32 = 0.0,
    f64 = 0.0
);

/// A `string`.
#[repr(transparent)]
pub(crate) struct Text(rosidl_runtime_c__String);

// SAFETY: transparent; a pointer into the heap, a size and a capacity.
unsafe impl Element for Text {
    unsafe fn init(place: *mut Self) -> bool {
        // SAFETY: transparent; aligned and writable, says the caller.
        unsafe { rosidl_runtime_c__String__init(place.cast()) }
    }
}

impl Text {
    /// The bytes without the zero at the end. ROS does not say that they are UTF-8.
    pub(crate) fn bytes(&self) -> &[u8] {
        if self.0.data.is_null() {
            return &[];
        }
        // SAFETY: an initialised string owns `size` bytes at `data`, and they are not changed while it is borrowed.
        unsafe { std::slice::from_raw_parts(self.0.data.cast(), self.0.size) }
    }

    /// Replaces the text. False when there is no memory; the old text then stays. The caller sees to it that there is no
    /// zero within.
    pub(crate) fn assign(&mut self, text: &str) -> bool {
        // SAFETY: an initialised string; `text` has that many bytes. The bytes are copied.
        unsafe { rosidl_runtime_c__String__assignn(&raw mut self.0, text.as_ptr().cast(), text.len()) }
    }
}

/// A `wstring`.
#[repr(transparent)]
pub(crate) struct WideText(rosidl_runtime_c__U16String);

// SAFETY: transparent; a pointer into the heap, a size and a capacity.
unsafe impl Element for WideText {
    unsafe fn init(place: *mut Self) -> bool {
        // SAFETY: transparent; aligned and writable, says the caller.
        unsafe { rosidl_runtime_c__U16String__init(place.cast()) }
    }
}

impl WideText {
    /// The units of UTF-16 without the zero at the end. Surrogates may be unpaired.
    pub(crate) fn units(&self) -> &[u16] {
        if self.0.data.is_null() {
            return &[];
        }
        // SAFETY: an initialised string owns `size` units at `data`, and they are not changed while it is borrowed.
        unsafe { std::slice::from_raw_parts(self.0.data.cast(), self.0.size) }
    }

    /// Replaces the text. False when there is no memory; the old text then stays. The caller sees to it that there is no
    /// zero within.
    pub(crate) fn assign(&mut self, units: &[u16]) -> bool {
        // SAFETY: an initialised string; `units` has that many. They are copied.
        unsafe { rosidl_runtime_c__U16String__assignn(&raw mut self.0, units.as_ptr(), units.len()) }
    }
}
