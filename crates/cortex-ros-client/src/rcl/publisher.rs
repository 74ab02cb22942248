//! A publisher of a topic of any type.

use std::ffi::CString;
use std::ptr;
use std::sync::Arc;
use std::time::Duration;

use cortex_interfaces::{Message, MessageInterface};
use r2r_rcl as rcl;

use super::context::Node;
use super::qos::profile;
use super::{is_ok, last_error};
use crate::{QosProfile, RosError};

/// A publisher. The middleware has it until it is dropped.
pub(crate) struct Publisher {
    publisher: *mut rcl::rcl_publisher_t,
    name: String,
    interface: Arc<MessageInterface>,
    node: Arc<Node>,
}

// SAFETY: nothing in it belongs to the thread that made it.
unsafe impl Send for Publisher {}
// SAFETY: the library lets messages be published from any thread at a time.
unsafe impl Sync for Publisher {}

impl Publisher {
    /// Announces that a topic is published. Blocks for some milliseconds.
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
        let publisher = unsafe { Box::into_raw(Box::new(rcl::rcl_get_zero_initialized_publisher())) };
        // SAFETY: the publisher is zero-initialised, the node is valid, the type support lives as long as the process,
        // and name and options are copied.
        let code = unsafe {
            let mut options = rcl::rcl_publisher_get_default_options();
            options.qos = profile(quality);
            let support = interface.type_support().as_ptr();
            rcl::rcl_publisher_init(publisher, node.as_ptr(), support, text.as_ptr(), &options)
        };
        if !is_ok(code) {
            // SAFETY: it comes from `Box::into_raw`, and the library did not keep it.
            drop(unsafe { Box::from_raw(publisher) });
            return Err(refused(last_error()));
        }
        Ok(Self { publisher, name: name.to_owned(), interface: Arc::clone(interface), node: Arc::clone(node) })
    }

    /// Publishes a message.
    ///
    /// # Errors
    /// When the message is one of another type, or the middleware can't send it.
    pub(crate) fn publish(&self, message: &Message) -> Result<(), RosError> {
        super::check_type(&self.name, message, &self.interface)?;
        // SAFETY: the publisher is initialised and the message is one of its type.
        let code = unsafe { rcl::rcl_publish(self.publisher, message.as_ptr(), ptr::null_mut()) };
        if is_ok(code) { Ok(()) } else { Err(self.failed()) }
    }

    /// How many subscriptions get what is published.
    ///
    /// # Errors
    /// When the client library refuses the query.
    pub(crate) fn readers(&self) -> Result<usize, RosError> {
        let mut count = 0;
        // SAFETY: the publisher is initialised; writes one number.
        let code = unsafe { rcl::rcl_publisher_get_subscription_count(self.publisher, &mut count) };
        if is_ok(code) { Ok(count) } else { Err(self.failed()) }
    }

    /// Waits until all who read reliably have confirmed what was published; false when they have not within `limit`, and
    /// where the middleware can't tell. Blocks.
    ///
    /// # Errors
    /// When the client library refuses.
    pub(crate) fn wait_until_confirmed(&self, limit: Duration) -> Result<bool, RosError> {
        let nanoseconds = i64::try_from(limit.as_nanos()).unwrap_or(i64::MAX);
        // SAFETY: the publisher is initialised, and this handle keeps it.
        let code = unsafe { rcl::rcl_publisher_wait_for_all_acked(self.publisher, nanoseconds) };
        if is_ok(code) {
            return Ok(true);
        }
        let problem = last_error();
        let is_open = [rcl::RCL_RET_TIMEOUT, rcl::RCL_RET_UNSUPPORTED].iter().any(|open| code == open.cast_signed());
        if is_open { Ok(false) } else { Err(RosError::Endpoint { name: self.name.clone(), problem }) }
    }

    fn failed(&self) -> RosError {
        RosError::Endpoint { name: self.name.clone(), problem: last_error() }
    }
}

impl Drop for Publisher {
    fn drop(&mut self) {
        let _turn = self.node.turn();
        // SAFETY: initialised in `create`, and given back once; the node is still there.
        unsafe {
            rcl::rcl_publisher_fini(self.publisher, self.node.as_ptr());
            rcl::rcutils_reset_error();
            drop(Box::from_raw(self.publisher));
        }
    }
}
