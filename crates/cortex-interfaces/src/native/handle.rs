//! Pointers to the type support of loaded interfaces, for calls of `rcl` that are made elsewhere.

use std::fmt;
use std::ptr::NonNull;

use r2r_rcl::{rosidl_action_type_support_t, rosidl_message_type_support_t, rosidl_service_type_support_t};

/// The type support of a loaded interface. The library that it lies in is never unloaded.
pub struct TypeSupport<T>(NonNull<T>);

/// The type support of a message.
pub type MessageTypeSupport = TypeSupport<rosidl_message_type_support_t>;
/// The type support of a service.
pub type ServiceTypeSupport = TypeSupport<rosidl_service_type_support_t>;
/// The type support of an action.
pub type ActionTypeSupport = TypeSupport<rosidl_action_type_support_t>;

impl<T> TypeSupport<T> {
    /// # Safety
    /// `pointer` must point to a type support that lives as long as the process and that nobody changes.
    pub(super) unsafe fn new(pointer: NonNull<T>) -> Self {
        Self(pointer)
    }

    /// What `rcl` wants. Valid until the process ends.
    #[must_use]
    pub fn as_ptr(self) -> *const T {
        self.0.as_ptr()
    }
}

impl<T> Clone for TypeSupport<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for TypeSupport<T> {}

impl<T> PartialEq for TypeSupport<T> {
    fn eq(&self, other: &Self) -> bool {
        self.0 == other.0
    }
}

impl<T> Eq for TypeSupport<T> {}

impl<T> fmt::Debug for TypeSupport<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("TypeSupport").field(&self.0).finish()
    }
}

// SAFETY: it points to constant data of a library that is never unloaded.
unsafe impl<T> Send for TypeSupport<T> {}
// SAFETY: as above; nothing is changed through it.
unsafe impl<T> Sync for TypeSupport<T> {}

macro_rules! hashed {
    ($support:ty, $what:literal) => {
        impl TypeSupport<$support> {
            #[doc = concat!("The hash of the ", $what, ", such as `RIHS01_8b3c…`: the same wherever the interface is the same. ")]
            /// Two sides with different hashes do not understand each other. None on ROS 2 before Iron, which has no hashes.
            #[must_use]
            pub fn hash(self) -> Option<String> {
                #[cfg(has_type_hashes)]
                {
                    // SAFETY: it points to a type support of a library that is never unloaded.
                    let support = unsafe { self.0.as_ref() };
                    // SAFETY: generated functions that take the type support they belong to, and only read.
                    let hash = unsafe { support.get_type_hash_func?(support).as_ref() }?;
                    Some(shown(hash))
                }
                #[cfg(not(has_type_hashes))]
                None
            }
        }
    };
}

hashed!(rosidl_message_type_support_t, "message");
hashed!(rosidl_service_type_support_t, "service");
hashed!(rosidl_action_type_support_t, "action");

/// A hash as ROS writes it.
#[cfg(has_type_hashes)]
fn shown(hash: &r2r_rcl::rosidl_type_hash_t) -> String {
    use std::fmt::Write as _;

    let mut text = format!("RIHS{:02}_", hash.version);
    for byte in hash.value {
        // Writing to a string does not fail.
        let _ = write!(text, "{byte:02x}");
    }
    text
}
