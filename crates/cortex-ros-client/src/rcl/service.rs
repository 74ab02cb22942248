//! Servers of services of any type, and waiting for their requests on a thread of one's own.

use std::ffi::CString;
use std::sync::Arc;
use std::time::Duration;

use cortex_interfaces::{Message, ServiceInterface};
use r2r_rcl as rcl;

use super::context::{GuardCondition, Node};
use super::{is_ok, last_error};
use crate::RosError;

/// Requests that the middleware keeps until they are taken.
const WAITING_REQUESTS: usize = 100;

/// A server. The middleware has it until it is dropped.
pub struct Service {
    service: *mut rcl::rcl_service_t,
    name: String,
    interface: Arc<ServiceInterface>,
    node: Arc<Node>,
}

// SAFETY: nothing in it belongs to the thread that made it.
unsafe impl Send for Service {}
// SAFETY: the library lets requests be taken and answers be sent from any thread.
unsafe impl Sync for Service {}

/// Who sent a request, for the answer.
#[derive(Clone, Copy)]
pub struct Asker(rcl::rmw_request_id_t);

impl Service {
    /// Offers a service. `name` is fully qualified. Blocks for some milliseconds.
    ///
    /// # Errors
    /// When the client library refuses, such as for a name that is none.
    pub fn create(node: &Arc<Node>, name: &str, interface: &Arc<ServiceInterface>) -> Result<Self, RosError> {
        let refused = |problem: String| RosError::Endpoint { name: name.to_owned(), problem };
        let text = CString::new(name).map_err(|_| refused("the name holds a zero".to_owned()))?;
        let _turn = node.turn();
        // SAFETY: zero-initialised value by copy, as the library demands before `init`.
        let service = unsafe { Box::into_raw(Box::new(rcl::rcl_get_zero_initialized_service())) };
        // SAFETY: the service is zero-initialised, the node is valid, the type support lives as long as the process, and
        // name and options are copied.
        let code = unsafe {
            let mut options = rcl::rcl_service_get_default_options();
            options.qos.depth = WAITING_REQUESTS;
            let support = interface.type_support.as_ptr();
            rcl::rcl_service_init(service, node.as_ptr(), support, text.as_ptr(), &options)
        };
        if !is_ok(code) {
            // SAFETY: it comes from `Box::into_raw`, and the library did not keep it.
            drop(unsafe { Box::from_raw(service) });
            return Err(refused(last_error()));
        }
        Ok(Self { service, name: name.to_owned(), interface: Arc::clone(interface), node: Arc::clone(node) })
    }

    /// Takes a request that has arrived.
    ///
    /// # Errors
    /// When the middleware can't read it.
    pub fn take(&self) -> Result<Option<(Asker, Message)>, RosError> {
        let mut request = Message::new(&self.interface.request);
        // SAFETY: a structure of plain numbers.
        let mut header: rcl::rmw_service_info_t = unsafe { std::mem::zeroed() };
        // SAFETY: the service is initialised, and the request is an initialised message of its type.
        let code = unsafe { rcl::rcl_take_request_with_info(self.service, &mut header, request.as_mut_ptr()) };
        if is_ok(code) {
            return Ok(Some((Asker(header.request_id), request)));
        }
        let nothing_there = code == rcl::RCL_RET_SERVICE_TAKE_FAILED.cast_signed();
        let problem = self.failed();
        if nothing_there { Ok(None) } else { Err(problem) }
    }

    /// Sends an answer.
    ///
    /// # Errors
    /// When it is one of another service, or the middleware can't send it, such as to a client that it does not know yet.
    pub fn answer(&self, asker: Asker, answer: &mut Message) -> Result<(), RosError> {
        super::check_type(&self.name, answer, &self.interface.response)?;
        let Asker(mut id) = asker;
        // SAFETY: the service is initialised and the answer is a message of its type.
        let code = unsafe { rcl::rcl_send_response(self.service, &mut id, answer.as_mut_ptr()) };
        if is_ok(code) { Ok(()) } else { Err(self.failed()) }
    }

    fn failed(&self) -> RosError {
        RosError::Endpoint { name: self.name.clone(), problem: last_error() }
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        let _turn = self.node.turn();
        // SAFETY: initialised in `create`, and given back once; the node is still there.
        unsafe {
            rcl::rcl_service_fini(self.service, self.node.as_ptr());
            rcl::rcutils_reset_error();
            drop(Box::from_raw(self.service));
        }
    }
}

/// Waits for requests. Not for the graph: the nodes of a context share one condition for that, which tells each event to
/// one waiting thread only. Used by one thread at a time.
pub struct RequestWait {
    set: rcl::rcl_wait_set_t,
    services: Vec<Arc<Service>>,
    wake: Arc<GuardCondition>,
}

// SAFETY: nothing in it belongs to the thread that made it; `wait` takes it alone.
unsafe impl Send for RequestWait {}

impl RequestWait {
    /// Makes room for these services, and a condition that ends a wait.
    ///
    /// # Errors
    /// When the client library refuses.
    pub fn create(wake: &Arc<GuardCondition>, services: Vec<Arc<Service>>) -> Result<Self, RosError> {
        // SAFETY: zero-initialised value by copy, as the library demands before `init`.
        let set = unsafe { rcl::rcl_get_zero_initialized_wait_set() };
        // From here on `drop` gives back what was made: the library's `fini` accepts what was never initialised.
        let mut created = Self { set, services, wake: Arc::clone(wake) };
        // SAFETY: the set is zero-initialised and the context is valid.
        let code = unsafe {
            let allocator = rcl::rcutils_get_default_allocator();
            let context = wake.context();
            rcl::rcl_wait_set_init(&mut created.set, 0, 1, 0, 0, created.services.len(), 0, context, allocator)
        };
        check(code).map(|()| created)
    }

    /// Waits until there may be a request, the condition is triggered, or `timeout` has passed. Whoever waits looks at all
    /// services then.
    ///
    /// # Errors
    /// When the client library refuses the wait.
    pub fn wait(&mut self, timeout: Duration) -> Result<(), RosError> {
        let nanoseconds = i64::try_from(timeout.as_nanos()).unwrap_or(i64::MAX);
        // SAFETY: the set has room for all that is added, which lives as long as it.
        unsafe {
            check(rcl::rcl_wait_set_clear(&mut self.set))?;
            let mut place = 0;
            check(rcl::rcl_wait_set_add_guard_condition(&mut self.set, self.wake.as_ptr(), &mut place))?;
            for service in &self.services {
                check(rcl::rcl_wait_set_add_service(&mut self.set, service.service, &mut place))?;
            }
            let code = rcl::rcl_wait(&mut self.set, nanoseconds);
            if code == rcl::RCL_RET_TIMEOUT.cast_signed() {
                // The library leaves a text behind for that, too.
                rcl::rcutils_reset_error();
                return Ok(());
            }
            check(code)
        }
    }
}

impl Drop for RequestWait {
    fn drop(&mut self) {
        // SAFETY: given back once; `fini` accepts a set that was zero-initialised only.
        unsafe {
            rcl::rcl_wait_set_fini(&mut self.set);
            rcl::rcutils_reset_error();
        }
    }
}

fn check(code: i32) -> Result<(), RosError> {
    if is_ok(code) { Ok(()) } else { Err(RosError::Graph { problem: last_error() }) }
}
