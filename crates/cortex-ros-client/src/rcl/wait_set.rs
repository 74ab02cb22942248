//! Waiting for many endpoints at once.

use std::sync::Arc;
use std::time::Duration;

use r2r_rcl as rcl;

use super::client::Client;
use super::context::{GuardCondition, Node};
use super::subscription::Subscription;
use super::{is_ok, last_error};
use crate::RosError;

/// The conditions besides the endpoints: that of the graph, and that of whoever wants to end the wait.
const CONDITIONS: usize = 2;

/// What is waited for. Keeps all of it alive. Used by one thread at a time.
pub(crate) struct WaitSet {
    set: rcl::rcl_wait_set_t,
    clients: Vec<Arc<Client>>,
    subscriptions: Vec<Arc<Subscription>>,
    wake: Arc<GuardCondition>,
    node: Arc<Node>,
}

// SAFETY: nothing in it belongs to the thread that made it; `wait` takes it alone.
unsafe impl Send for WaitSet {}

/// What a wait found. Nothing of it, where the wait was ended from elsewhere.
#[derive(Debug)]
pub(crate) struct Ready {
    /// Something on the graph may have changed.
    pub(crate) graph: bool,
    /// The places of the clients that may have answers.
    pub(crate) clients: Vec<usize>,
    /// The places of the subscriptions that may have messages.
    pub(crate) subscriptions: Vec<usize>,
}

impl WaitSet {
    /// Makes room for these endpoints of the node, its graph, and a condition that ends a wait.
    ///
    /// # Errors
    /// When the client library refuses.
    pub(crate) fn create(
        node: &Arc<Node>,
        wake: &Arc<GuardCondition>,
        clients: Vec<Arc<Client>>,
        subscriptions: Vec<Arc<Subscription>>,
    ) -> Result<Self, RosError> {
        // SAFETY: zero-initialised value by copy, as the library demands before `init`.
        let set = unsafe { rcl::rcl_get_zero_initialized_wait_set() };
        // From here on `drop` gives back what was made: the library's `fini` accepts what was never initialised.
        let mut created = Self { set, clients, subscriptions, wake: Arc::clone(wake), node: Arc::clone(node) };
        let (clients, subscriptions) = (created.clients.len(), created.subscriptions.len());
        // SAFETY: the set is zero-initialised and the context is valid.
        let code = unsafe {
            let allocator = rcl::rcutils_get_default_allocator();
            let context = node.context();
            rcl::rcl_wait_set_init(&mut created.set, subscriptions, CONDITIONS, 0, clients, 0, 0, context, allocator)
        };
        check(code).map(|()| created)
    }

    /// Waits until something is there, or until `timeout` has passed: then there is none.
    ///
    /// # Errors
    /// When the client library refuses the wait.
    pub(crate) fn wait(&mut self, timeout: Duration) -> Result<Option<Ready>, RosError> {
        let nanoseconds = i64::try_from(timeout.as_nanos()).unwrap_or(i64::MAX);
        let mut graph = 0;
        // SAFETY: the set has room for all that is added, which lives as long as it. The graph condition lives as long as
        // the node.
        unsafe {
            check(rcl::rcl_wait_set_clear(&mut self.set))?;
            let condition = rcl::rcl_node_get_graph_guard_condition(self.node.as_ptr());
            check(rcl::rcl_wait_set_add_guard_condition(&mut self.set, condition, &mut graph))?;
            let mut place = 0;
            check(rcl::rcl_wait_set_add_guard_condition(&mut self.set, self.wake.as_ptr(), &mut place))?;
            // Places are given in order.
            for client in &self.clients {
                check(rcl::rcl_wait_set_add_client(&mut self.set, client.as_ptr(), &mut place))?;
            }
            for subscription in &self.subscriptions {
                check(rcl::rcl_wait_set_add_subscription(&mut self.set, subscription.as_ptr(), &mut place))?;
            }
            let code = rcl::rcl_wait(&mut self.set, nanoseconds);
            if code == rcl::RCL_RET_TIMEOUT.cast_signed() {
                // The library leaves a text behind for that, too.
                rcl::rcutils_reset_error();
                return Ok(None);
            }
            check(code)?;
        }
        // SAFETY: the lists have so many entries; the library put null in place of what is not ready.
        unsafe {
            Ok(Some(Ready {
                graph: places(self.set.guard_conditions, CONDITIONS).contains(&graph),
                clients: places(self.set.clients, self.clients.len()),
                subscriptions: places(self.set.subscriptions, self.subscriptions.len()),
            }))
        }
    }
}

impl Drop for WaitSet {
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

/// The places that are not null.
///
/// # Safety
/// `list` must have `count` entries, or be null where there are none.
unsafe fn places<T>(list: *const *const T, count: usize) -> Vec<usize> {
    if list.is_null() {
        return Vec::new();
    }
    // SAFETY: not null, and of that length.
    let entries = unsafe { std::slice::from_raw_parts(list, count) };
    entries.iter().enumerate().filter(|(_, entry)| !entry.is_null()).map(|(place, _)| place).collect()
}
