//! A client of a service of any type.

use std::ffi::CString;
use std::sync::Arc;

use cortex_interfaces::{Message, ServiceInterface};
use r2r_rcl as rcl;

use super::context::Node;
use super::{is_ok, last_error};
use crate::RosError;

/// Answers that the middleware keeps until they are taken. Its default of 10 is less than what may come while a thread
/// does something else; what does not fit is lost.
const WAITING_ANSWERS: usize = 100;

/// A client. The middleware has it until it is dropped.
pub(crate) struct Client {
    client: *mut rcl::rcl_client_t,
    name: String,
    interface: Arc<ServiceInterface>,
    node: Arc<Node>,
}

// SAFETY: nothing in it belongs to the thread that made it.
unsafe impl Send for Client {}
// SAFETY: the library lets requests be sent, answers be taken and servers be looked for from any thread at a time.
unsafe impl Sync for Client {}

impl Client {
    /// Creates the client of a service. Blocks for some milliseconds.
    ///
    /// # Errors
    /// When the client library refuses, such as for a name that is none.
    pub(crate) fn create(node: &Arc<Node>, name: &str, interface: &Arc<ServiceInterface>) -> Result<Self, RosError> {
        let refused = |problem: String| RosError::Endpoint { name: name.to_owned(), problem };
        let text = CString::new(name).map_err(|_| refused("the name holds a zero".to_owned()))?;
        let _turn = node.turn();
        // SAFETY: zero-initialised value by copy, as the library demands before `init`.
        let client = unsafe { Box::into_raw(Box::new(rcl::rcl_get_zero_initialized_client())) };
        // SAFETY: the client is zero-initialised, the node is valid, the type support lives as long as the process, and
        // name and options are copied.
        let code = unsafe {
            let mut options = rcl::rcl_client_get_default_options();
            options.qos.depth = WAITING_ANSWERS;
            let support = interface.type_support.as_ptr();
            rcl::rcl_client_init(client, node.as_ptr(), support, text.as_ptr(), &options)
        };
        if !is_ok(code) {
            // SAFETY: it comes from `Box::into_raw`, and the library did not keep it.
            drop(unsafe { Box::from_raw(client) });
            return Err(refused(last_error()));
        }
        Ok(Self { client, name: name.to_owned(), interface: Arc::clone(interface), node: Arc::clone(node) })
    }

    /// Sends a request. Its number is that of the answer.
    ///
    /// # Errors
    /// When the request is one of another service, or the middleware can't send it.
    pub(crate) fn send(&self, request: &Message) -> Result<i64, RosError> {
        super::check_type(&self.name, request, &self.interface.request)?;
        let mut number = 0;
        // SAFETY: the client is initialised and the request is a message of its type.
        let code = unsafe { rcl::rcl_send_request(self.client, request.as_ptr(), &mut number) };
        if is_ok(code) { Ok(number) } else { Err(self.failed()) }
    }

    /// Takes an answer that has arrived, with the number of its request.
    ///
    /// # Errors
    /// When the middleware can't read it.
    pub(crate) fn take(&self) -> Result<Option<(i64, Message)>, RosError> {
        let mut answer = Message::new(&self.interface.response);
        // SAFETY: a structure of plain numbers.
        let mut header: rcl::rmw_service_info_t = unsafe { std::mem::zeroed() };
        // SAFETY: the client is initialised, and the answer is an initialised message of its type.
        let code = unsafe { rcl::rcl_take_response_with_info(self.client, &mut header, answer.as_mut_ptr()) };
        if is_ok(code) {
            return Ok(Some((header.request_id.sequence_number, answer)));
        }
        let nothing_there = code == rcl::RCL_RET_CLIENT_TAKE_FAILED.cast_signed();
        let problem = self.failed();
        if nothing_there { Ok(None) } else { Err(problem) }
    }

    /// Whether a server is there that would get a request.
    ///
    /// # Errors
    /// When the client library refuses the query.
    pub(crate) fn has_server(&self) -> Result<bool, RosError> {
        let mut available = false;
        // SAFETY: node and client are initialised; writes one truth value.
        let code = unsafe { rcl::rcl_service_server_is_available(self.node.as_ptr(), self.client, &mut available) };
        if is_ok(code) { Ok(available) } else { Err(self.failed()) }
    }

    pub(super) fn as_ptr(&self) -> *const rcl::rcl_client_t {
        self.client
    }

    fn failed(&self) -> RosError {
        RosError::Endpoint { name: self.name.clone(), problem: last_error() }
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        let _turn = self.node.turn();
        // SAFETY: initialised in `create`, and given back once; the node is still there.
        unsafe {
            rcl::rcl_client_fini(self.client, self.node.as_ptr());
            rcl::rcutils_reset_error();
            drop(Box::from_raw(self.client));
        }
    }
}
