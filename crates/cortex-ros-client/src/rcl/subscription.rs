//! A subscription to a topic of any type.

use std::ffi::CString;
use std::ptr;
use std::sync::Arc;

use cortex_interfaces::{Message, MessageInterface};
use r2r_rcl as rcl;

use super::context::Node;
use super::qos::profile;
use super::{is_ok, last_error};
use crate::graph::InstanceId;
use crate::{QosProfile, RosError};

/// A subscription. The middleware has it until it is dropped.
pub(crate) struct Subscription {
    subscription: *mut rcl::rcl_subscription_t,
    name: String,
    interface: Arc<MessageInterface>,
    node: Arc<Node>,
}

// SAFETY: nothing in it belongs to the thread that made it.
unsafe impl Send for Subscription {}
// SAFETY: the library lets messages be taken from any thread.
unsafe impl Sync for Subscription {}

impl Subscription {
    /// Subscribes to a topic. Blocks for some milliseconds.
    ///
    /// # Errors
    /// When the client library refuses, such as for a name that is none.
    pub(crate) fn create(
        node: &Arc<Node>,
        name: &str,
        interface: &Arc<MessageInterface>,
        quality: QosProfile,
    ) -> Result<Self, RosError> {
        let refused = |problem: String| RosError::Endpoint { name: name.to_owned(), problem };
        let text = CString::new(name).map_err(|_| refused("the name holds a zero".to_owned()))?;
        let _turn = node.turn();
        // SAFETY: zero-initialised value by copy, as the library demands before `init`.
        let subscription = unsafe { Box::into_raw(Box::new(rcl::rcl_get_zero_initialized_subscription())) };
        // SAFETY: the subscription is zero-initialised, the node is valid, the type support lives as long as the process,
        // and name and options are copied; the options are given back once.
        let code = unsafe {
            let mut options = rcl::rcl_subscription_get_default_options();
            options.qos = profile(quality);
            let support = interface.type_support().as_ptr();
            let code = rcl::rcl_subscription_init(subscription, node.as_ptr(), support, text.as_ptr(), &options);
            rcl::rcl_subscription_options_fini(&mut options);
            code
        };
        if !is_ok(code) {
            // SAFETY: it comes from `Box::into_raw`, and the library did not keep it.
            drop(unsafe { Box::from_raw(subscription) });
            return Err(refused(last_error()));
        }
        Ok(Self { subscription, name: name.to_owned(), interface: Arc::clone(interface), node: Arc::clone(node) })
    }

    /// Takes a message that has arrived.
    ///
    /// # Errors
    /// When the middleware can't read it.
    pub(crate) fn take(&self) -> Result<Option<Message>, RosError> {
        let mut message = Message::new(&self.interface);
        Ok(self.take_into(&mut message)?.map(|_| message))
    }

    /// The same into a message that there is, whatever it holds; gives who published it. None when none has arrived: then
    /// it holds what it held.
    ///
    /// # Errors
    /// When it is a message of another type, or the middleware can't read what has arrived.
    pub(crate) fn take_into(&self, message: &mut Message) -> Result<Option<InstanceId>, RosError> {
        super::check_type(&self.name, message, &self.interface)?;
        // SAFETY: zero-initialised value by copy.
        let mut about = unsafe { rcl::rmw_get_zero_initialized_message_info() };
        // SAFETY: the subscription is initialised, and the message is an initialised one of its type. Null stands for
        // what is not wanted.
        let code = unsafe { rcl::rcl_take(self.subscription, message.as_mut_ptr(), &mut about, ptr::null_mut()) };
        if is_ok(code) {
            return Ok(Some(InstanceId::new(&about.publisher_gid.data)));
        }
        if code == rcl::RCL_RET_SUBSCRIPTION_TAKE_FAILED.cast_signed() {
            // It may leave a text behind for that, too.
            super::forget_error();
            return Ok(None);
        }
        Err(RosError::Endpoint { name: self.name.clone(), problem: last_error() })
    }

    /// Takes a message that has arrived as it was on the wire, and gives when it was published and when it arrived, in
    /// nanoseconds since 1970; 0 where the middleware does not tell. None when none has arrived: then the buffer holds
    /// nothing of use.
    ///
    /// # Errors
    /// When the middleware refuses.
    pub(crate) fn take_serialized(&self, buffer: &mut SerializedBuffer) -> Result<Option<(i64, i64)>, RosError> {
        // SAFETY: zero-initialised value by copy.
        let mut about = unsafe { rcl::rmw_get_zero_initialized_message_info() };
        // SAFETY: the subscription and the buffer are initialised; the library makes the buffer as large as it must be.
        // Null stands for what is not wanted.
        let code =
            unsafe { rcl::rcl_take_serialized_message(self.subscription, &mut buffer.0, &mut about, ptr::null_mut()) };
        if is_ok(code) {
            return Ok(Some((about.source_timestamp, about.received_timestamp)));
        }
        if code == rcl::RCL_RET_SUBSCRIPTION_TAKE_FAILED.cast_signed() {
            super::forget_error();
            return Ok(None);
        }
        Err(RosError::Endpoint { name: self.name.clone(), problem: last_error() })
    }

    /// How many publishers it is connected with.
    ///
    /// # Errors
    /// When the client library refuses the query.
    pub(crate) fn publishers(&self) -> Result<usize, RosError> {
        let mut count = 0;
        // SAFETY: the subscription is initialised; writes one number.
        let code = unsafe { rcl::rcl_subscription_get_publisher_count(self.subscription, &mut count) };
        let refused = || RosError::Endpoint { name: self.name.clone(), problem: last_error() };
        if is_ok(code) { Ok(count) } else { Err(refused()) }
    }

    pub(super) fn as_ptr(&self) -> *const rcl::rcl_subscription_t {
        self.subscription
    }
}

/// What messages are taken into as they were on the wire. Grows as it must.
pub(crate) struct SerializedBuffer(rcl::rcutils_uint8_array_t);

// SAFETY: nothing in it belongs to the thread that made it.
unsafe impl Send for SerializedBuffer {}

impl SerializedBuffer {
    /// An empty one.
    pub(crate) fn new() -> Self {
        // SAFETY: returns a plain value by copy; needs no set-up.
        let allocator = unsafe { rcl::rcutils_get_default_allocator() };
        Self(rcl::rcutils_uint8_array_t { buffer: ptr::null_mut(), buffer_length: 0, buffer_capacity: 0, allocator })
    }

    /// The message that was taken last.
    pub(crate) fn bytes(&self) -> &[u8] {
        if self.0.buffer.is_null() {
            return &[];
        }
        // SAFETY: the library has written so many bytes there, and nobody else writes while it is borrowed.
        unsafe { std::slice::from_raw_parts(self.0.buffer, self.0.buffer_length) }
    }
}

impl Drop for SerializedBuffer {
    fn drop(&mut self) {
        // SAFETY: what it points to came from its allocator. It accepts an empty one.
        unsafe { rcl::rcutils_uint8_array_fini(&mut self.0) };
    }
}

impl Drop for Subscription {
    fn drop(&mut self) {
        let _turn = self.node.turn();
        // SAFETY: initialised in `create`, and given back once; the node is still there.
        unsafe {
            rcl::rcl_subscription_fini(self.subscription, self.node.as_ptr());
            rcl::rcutils_reset_error();
            drop(Box::from_raw(self.subscription));
        }
    }
}
