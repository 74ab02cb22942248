//! A node of its own that only looks at the ROS graph.
//!
//! `r2r` keeps its node private and has no graph events, so this one lives in a second context of the same process. It
//! has no endpoints beyond what the middleware makes for every node.

use std::ffi::{CStr, CString, c_char};
use std::ptr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use r2r_rcl as rcl;

use super::arguments::Arguments;
use super::{is_ok, last_error, owned};
use crate::RosError;
use crate::graph::{InstanceId, Interface};

/// The topic on which almost every node of every client library publishes; who publishes there tells instances apart.
const LOG_TOPIC: &CStr = c"/rosout";

/// Asks for the names and types of one kind of endpoint of one node.
type QueryByNode = dyn Fn(
    *const rcl::rcl_node_t,
    *mut rcl::rcl_allocator_t,
    *const c_char,
    *const c_char,
    *mut rcl::rcl_names_and_types_t,
) -> rcl::rcl_ret_t;

/// What ended a wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wakeup {
    /// Something on the graph may have changed.
    GraphChanged,
    /// [`Waker::wake`] was called.
    Woken,
    /// Nothing happened in time.
    TimedOut,
}

/// The observing node. Used by one thread at a time.
pub(crate) struct Observer {
    // Raw rather than boxed: the library keeps pointers among them. Each comes from `Box::into_raw` and is given back
    // in `drop`.
    context: *mut rcl::rcl_context_t,
    node: *mut rcl::rcl_node_t,
    wake: *mut rcl::rcl_guard_condition_t,
    waker: Waker,
}

// SAFETY: nothing in it belongs to the thread that made it; `&self` is never shared, since it is not `Sync`.
unsafe impl Send for Observer {}

/// Ends a wait of the [`Observer`] from another thread.
#[derive(Clone)]
pub(crate) struct Waker(Arc<Mutex<Option<GuardCondition>>>);

struct GuardCondition(*mut rcl::rcl_guard_condition_t);

// SAFETY: the library lets a guard condition be triggered from any thread, also while another one waits for it. It is
// taken out of the `Waker` before it is destroyed.
unsafe impl Send for GuardCondition {}

impl Waker {
    /// Ends the wait that is under way, or the next one. Does nothing once the observer is gone.
    pub(crate) fn wake(&self) {
        let guard = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(condition) = guard.as_ref() {
            // SAFETY: it is in the waker, so it was not destroyed, and the lock keeps it so.
            let code = unsafe { rcl::rcl_trigger_guard_condition(condition.0) };
            if !is_ok(code) {
                tracing::warn!("the graph observer could not be woken: {}", last_error());
            }
        }
    }
}

impl Observer {
    /// Creates the context and the node. ROS arguments of the process apply to the context; the node keeps its name.
    ///
    /// # Errors
    /// When ROS can't be initialised with these arguments.
    pub(crate) fn create(name: &str) -> Result<Self, RosError> {
        let arguments = Arguments::of_process()?;
        arguments.check()?;
        let initialisation = |problem: String| RosError::Initialisation { problem };
        let name = CString::new(name).map_err(|_| initialisation("the observer's name holds a zero".to_owned()))?;
        // SAFETY: zero-initialised values by copy, as the library demands before each `init`.
        let mut observer = unsafe {
            Self {
                context: Box::into_raw(Box::new(rcl::rcl_get_zero_initialized_context())),
                node: Box::into_raw(Box::new(rcl::rcl_get_zero_initialized_node())),
                wake: Box::into_raw(Box::new(rcl::rcl_get_zero_initialized_guard_condition())),
                waker: Waker(Arc::default()),
            }
        };
        // From here on `drop` gives back what was made: the library's `fini` calls accept what was never initialised.
        initialise_context(observer.context, &arguments).map_err(initialisation)?;
        initialise_node(observer.node, observer.context, &name).map_err(initialisation)?;
        // SAFETY: the condition is zero-initialised and the context is valid.
        let code = unsafe {
            let options = rcl::rcl_guard_condition_get_default_options();
            rcl::rcl_guard_condition_init(observer.wake, observer.context, options)
        };
        if !is_ok(code) {
            return Err(initialisation(last_error()));
        }
        observer.waker = Waker(Arc::new(Mutex::new(Some(GuardCondition(observer.wake)))));
        Ok(observer)
    }

    /// Wakes this observer from elsewhere.
    pub(crate) fn waker(&self) -> Waker {
        self.waker.clone()
    }

    /// Waits until the graph changes, the waker is used, or `timeout` has passed.
    ///
    /// # Errors
    /// When the client library refuses the wait.
    pub(crate) fn wait(&self, timeout: Duration) -> Result<Wakeup, RosError> {
        // SAFETY: zero-initialised value by copy.
        let mut set = unsafe { rcl::rcl_get_zero_initialized_wait_set() };
        // SAFETY: the set is zero-initialised, context and node are valid, and both conditions outlive the set.
        let woken = unsafe {
            let code =
                rcl::rcl_wait_set_init(&mut set, 0, 2, 0, 0, 0, 0, self.context, rcl::rcutils_get_default_allocator());
            if !is_ok(code) {
                return Err(RosError::Graph { problem: last_error() });
            }
            let woken = self.wait_with(&mut set, timeout);
            rcl::rcl_wait_set_fini(&mut set);
            woken
        };
        woken.map_err(|problem| RosError::Graph { problem })
    }

    /// # Safety
    /// `set` must have room for two guard conditions.
    unsafe fn wait_with(&self, set: &mut rcl::rcl_wait_set_t, timeout: Duration) -> Result<Wakeup, String> {
        let nanoseconds = i64::try_from(timeout.as_nanos()).unwrap_or(i64::MAX);
        // SAFETY: the node is valid; the returned condition lives as long as it; the set has room for both; the library
        // puts null into the set's list for each condition that was not triggered.
        unsafe {
            let graph = rcl::rcl_node_get_graph_guard_condition(self.node);
            let (mut graph_index, mut wake_index) = (0, 0);
            let code = rcl::rcl_wait_set_add_guard_condition(set, graph, &mut graph_index);
            if !is_ok(code) {
                return Err(last_error());
            }
            let code = rcl::rcl_wait_set_add_guard_condition(set, self.wake, &mut wake_index);
            if !is_ok(code) {
                return Err(last_error());
            }
            let code = rcl::rcl_wait(set, nanoseconds);
            if code == rcl::RCL_RET_TIMEOUT.cast_signed() {
                return Ok(Wakeup::TimedOut);
            }
            if !is_ok(code) {
                return Err(last_error());
            }
            let was_woken = !(*set.guard_conditions.add(wake_index)).is_null();
            Ok(if was_woken { Wakeup::Woken } else { Wakeup::GraphChanged })
        }
    }

    /// The nodes as `(name, namespace)`. One may be listed twice while discovery settles.
    ///
    /// # Errors
    /// When the client library refuses the query.
    pub(crate) fn nodes(&self) -> Result<Vec<(String, String)>, RosError> {
        // SAFETY: zero-initialised arrays are filled by the query and given back once; both have the same length.
        unsafe {
            let mut names = rcl::rcutils_get_zero_initialized_string_array();
            let mut namespaces = rcl::rcutils_get_zero_initialized_string_array();
            let allocator = rcl::rcutils_get_default_allocator();
            let code = rcl::rcl_get_node_names(self.node, allocator, &mut names, &mut namespaces);
            let nodes = if is_ok(code) {
                Ok(texts(&names).into_iter().zip(texts(&namespaces)).collect())
            } else {
                Err(RosError::Graph { problem: last_error() })
            };
            rcl::rcutils_string_array_fini(&mut names);
            rcl::rcutils_string_array_fini(&mut namespaces);
            nodes
        }
    }

    /// The services that a node offers. None when it is gone.
    ///
    /// # Errors
    /// When the client library refuses the query.
    pub(crate) fn services_of(&self, name: &str, namespace: &str) -> Result<Option<Vec<Interface>>, RosError> {
        // SAFETY: `query` passes valid pointers only.
        self.query(name, namespace, &|node, allocator, name, namespace, found| unsafe {
            rcl::rcl_get_service_names_and_types_by_node(node, allocator, name, namespace, found)
        })
    }

    /// The topics that a node publishes. None when it is gone.
    ///
    /// # Errors
    /// When the client library refuses the query.
    pub(crate) fn publishers_of(&self, name: &str, namespace: &str) -> Result<Option<Vec<Interface>>, RosError> {
        // SAFETY: `query` passes valid pointers only.
        self.query(name, namespace, &|node, allocator, name, namespace, found| unsafe {
            rcl::rcl_get_publisher_names_and_types_by_node(node, allocator, false, name, namespace, found)
        })
    }

    /// The topics that a node reads. None when it is gone.
    ///
    /// # Errors
    /// When the client library refuses the query.
    pub(crate) fn subscriptions_of(&self, name: &str, namespace: &str) -> Result<Option<Vec<Interface>>, RosError> {
        // SAFETY: `query` passes valid pointers only.
        self.query(name, namespace, &|node, allocator, name, namespace, found| unsafe {
            rcl::rcl_get_subscriber_names_and_types_by_node(node, allocator, false, name, namespace, found)
        })
    }

    fn query(&self, name: &str, namespace: &str, ask: &QueryByNode) -> Result<Option<Vec<Interface>>, RosError> {
        let (Ok(name), Ok(namespace)) = (CString::new(name), CString::new(namespace)) else {
            // No node has such a name.
            return Ok(None);
        };
        // SAFETY: the node is valid, the names end with a zero, and `found` is zero-initialised, filled by the query
        // and given back once; its two lists have the same length.
        unsafe {
            let mut found = rcl::rmw_get_zero_initialized_names_and_types();
            let mut allocator = rcl::rcutils_get_default_allocator();
            let code = ask(self.node, &mut allocator, name.as_ptr(), namespace.as_ptr(), &mut found);
            let interfaces = if is_ok(code) {
                Ok(Some(interfaces(&found)))
            } else {
                let problem = last_error();
                let gone = code == rcl::RCL_RET_NODE_NAME_NON_EXISTENT.cast_signed();
                if gone { Ok(None) } else { Err(RosError::Graph { problem }) }
            };
            rcl::rmw_names_and_types_fini(&mut found);
            interfaces
        }
    }

    /// Who publishes log messages, as `(name, namespace, identity)`: one entry for each running instance of each node.
    ///
    /// # Errors
    /// When the client library refuses the query.
    pub(crate) fn instances(&self) -> Result<Vec<(String, String, InstanceId)>, RosError> {
        // SAFETY: the node is valid, `found` is zero-initialised, filled by the query and given back once; its list has
        // `size` entries.
        unsafe {
            let mut allocator = rcl::rcutils_get_default_allocator();
            let mut found = rcl::rmw_get_zero_initialized_topic_endpoint_info_array();
            let code =
                rcl::rcl_get_publishers_info_by_topic(self.node, &mut allocator, LOG_TOPIC.as_ptr(), false, &mut found);
            let instances = if !is_ok(code) {
                Err(RosError::Graph { problem: last_error() })
            } else if found.info_array.is_null() {
                Ok(Vec::new())
            } else {
                let publishers = std::slice::from_raw_parts(found.info_array, found.size);
                Ok(publishers
                    .iter()
                    .map(|publisher| {
                        let identity = InstanceId::new(&publisher.endpoint_gid);
                        (owned(publisher.node_name), owned(publisher.node_namespace), identity)
                    })
                    .collect())
            };
            rcl::rmw_topic_endpoint_info_array_fini(&mut found, &mut allocator);
            instances
        }
    }
}

impl Drop for Observer {
    fn drop(&mut self) {
        *self.waker.0.lock().unwrap_or_else(PoisonError::into_inner) = None;
        // SAFETY: the pointers come from `Box::into_raw` and are given back once, in the order that the library
        // demands. The `fini` calls accept values that were zero-initialised only.
        unsafe {
            rcl::rcl_guard_condition_fini(self.wake);
            rcl::rcl_node_fini(self.node);
            if rcl::rcl_context_is_valid(self.context) {
                rcl::rcl_shutdown(self.context);
            }
            rcl::rcl_context_fini(self.context);
            rcl::rcutils_reset_error();
            drop(Box::from_raw(self.wake));
            drop(Box::from_raw(self.node));
            drop(Box::from_raw(self.context));
        }
    }
}

fn initialise_context(context: *mut rcl::rcl_context_t, arguments: &Arguments) -> Result<(), String> {
    let pointers = arguments.pointers();
    // SAFETY: options and context are zero-initialised; the arguments outlive the call, which copies them.
    unsafe {
        let mut options = rcl::rcl_get_zero_initialized_init_options();
        let code = rcl::rcl_init_options_init(&mut options, rcl::rcutils_get_default_allocator());
        if !is_ok(code) {
            return Err(last_error());
        }
        let code = rcl::rcl_init(arguments.count(), pointers.as_ptr(), &options, context);
        let initialised = if is_ok(code) { Ok(()) } else { Err(last_error()) };
        rcl::rcl_init_options_fini(&mut options);
        initialised
    }
}

fn initialise_node(node: *mut rcl::rcl_node_t, context: *mut rcl::rcl_context_t, name: &CStr) -> Result<(), String> {
    // SAFETY: node and arguments are zero-initialised and the context is valid; the options are given back once.
    unsafe {
        let mut options = rcl::rcl_node_get_default_options();
        // A remap of the process's node name must not rename this one, and it has nothing to log. Where the arguments
        // of the process are not used, the library wants others: none.
        options.use_global_arguments = false;
        options.enable_rosout = false;
        let allocator = rcl::rcutils_get_default_allocator();
        let mut code = rcl::rcl_parse_arguments(0, ptr::null(), allocator, &mut options.arguments);
        if is_ok(code) {
            code = rcl::rcl_node_init(node, name.as_ptr(), c"".as_ptr(), context, &options);
        }
        let initialised = if is_ok(code) { Ok(()) } else { Err(last_error()) };
        rcl::rcl_node_options_fini(&mut options);
        initialised
    }
}

/// # Safety
/// `array` must be zero-initialised or filled by the client library.
unsafe fn texts(array: &rcl::rcutils_string_array_t) -> Vec<String> {
    if array.data.is_null() {
        return Vec::new();
    }
    // SAFETY: not null, and of the given size.
    unsafe { std::slice::from_raw_parts(array.data, array.size) }.iter().map(|text| owned(*text)).collect()
}

/// # Safety
/// `found` must be zero-initialised or filled by the client library.
unsafe fn interfaces(found: &rcl::rmw_names_and_types_t) -> Vec<Interface> {
    if found.types.is_null() {
        return Vec::new();
    }
    // SAFETY: there is one list of types for each name.
    unsafe {
        let types = std::slice::from_raw_parts(found.types, found.names.size);
        texts(&found.names)
            .into_iter()
            .zip(types)
            .map(|(name, types)| Interface { name, types: texts(types) })
            .collect()
    }
}
