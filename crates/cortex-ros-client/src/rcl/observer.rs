//! A node of its own that only looks at the ROS graph.
//!
//! `r2r` keeps its node private and has no graph events, so this one lives in a second context of the same process.

use std::ffi::{CString, c_char};
use std::sync::{Arc, Weak};
use std::time::Duration;

use r2r_rcl as rcl;

use super::announced::{Announced, End, Naming, announced};
use super::context::{Context, GuardCondition, Node};
use super::{is_ok, last_error, owned};
use crate::RosError;
use crate::graph::{InstanceId, Interface};

/// The topic on which almost every node of every client library publishes; who publishes there tells instances apart.
const LOG_TOPIC: &str = "/rosout";

/// Asks for the names and types of all services, or of all topics.
type QueryAll =
    dyn Fn(*const rcl::rcl_node_t, *mut rcl::rcl_allocator_t, *mut rcl::rcl_names_and_types_t) -> rcl::rcl_ret_t;

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
    node: Arc<Node>,
    wake: Arc<GuardCondition>,
}

/// Ends a wait of the [`Observer`] from another thread.
#[derive(Clone)]
pub(crate) struct Waker(Weak<GuardCondition>);

impl Waker {
    /// Ends the wait that is under way, or the next one. Does nothing once the observer is gone.
    pub(crate) fn wake(&self) {
        if let Some(condition) = self.0.upgrade() {
            condition.trigger();
        }
    }
}

impl Observer {
    /// Creates the node.
    ///
    /// # Errors
    /// When the client library refuses.
    pub(crate) fn create(context: &Arc<Context>, name: &str) -> Result<Self, RosError> {
        Ok(Self { node: Node::create(context, name)?, wake: GuardCondition::create(context)? })
    }

    /// Wakes this observer from elsewhere.
    pub(crate) fn waker(&self) -> Waker {
        Waker(Arc::downgrade(&self.wake))
    }

    /// Waits until the graph changes, the waker is used, or `timeout` has passed.
    ///
    /// # Errors
    /// When the client library refuses the wait.
    pub(crate) fn wait(&self, timeout: Duration) -> Result<Wakeup, RosError> {
        // SAFETY: zero-initialised value by copy.
        let mut set = unsafe { rcl::rcl_get_zero_initialized_wait_set() };
        // SAFETY: the set is zero-initialised, context and node are valid, and both conditions outlive the set.
        unsafe {
            let code = rcl::rcl_wait_set_init(
                &mut set,
                0,
                2,
                0,
                0,
                0,
                0,
                self.node.context(),
                rcl::rcutils_get_default_allocator(),
            );
            if !is_ok(code) {
                return Err(RosError::Graph { problem: last_error() });
            }
            let woken = self.wait_with(&mut set, timeout);
            rcl::rcl_wait_set_fini(&mut set);
            woken
        }
    }

    /// # Safety
    /// `set` must have room for two guard conditions.
    unsafe fn wait_with(&self, set: &mut rcl::rcl_wait_set_t, timeout: Duration) -> Result<Wakeup, RosError> {
        let nanoseconds = i64::try_from(timeout.as_nanos()).unwrap_or(i64::MAX);
        // SAFETY: the node is valid; the returned condition lives as long as it; the set has room for both; the library
        // puts null into the set's list for each condition that was not triggered.
        unsafe {
            let graph = rcl::rcl_node_get_graph_guard_condition(self.node.as_ptr());
            let (mut graph_index, mut wake_index) = (0, 0);
            let code = rcl::rcl_wait_set_add_guard_condition(set, graph, &mut graph_index);
            if !is_ok(code) {
                return Err(RosError::Graph { problem: last_error() });
            }
            let code = rcl::rcl_wait_set_add_guard_condition(set, self.wake.as_ptr(), &mut wake_index);
            if !is_ok(code) {
                return Err(RosError::Graph { problem: last_error() });
            }
            let code = rcl::rcl_wait(set, nanoseconds);
            if code == rcl::RCL_RET_TIMEOUT.cast_signed() {
                return Ok(Wakeup::TimedOut);
            }
            if !is_ok(code) {
                return Err(RosError::Graph { problem: last_error() });
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
            let code = rcl::rcl_get_node_names(self.node.as_ptr(), allocator, &mut names, &mut namespaces);
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

    /// Every service that somebody offers or calls.
    ///
    /// # Errors
    /// When the client library refuses the query.
    pub(crate) fn services(&self) -> Result<Vec<Interface>, RosError> {
        // SAFETY: `query_all` passes valid pointers only.
        self.query_all(&|node, allocator, found| unsafe {
            rcl::rcl_get_service_names_and_types(node, allocator, found)
        })
    }

    /// Every topic that somebody publishes or reads.
    ///
    /// # Errors
    /// When the client library refuses the query.
    pub(crate) fn topics(&self) -> Result<Vec<Interface>, RosError> {
        // SAFETY: `query_all` passes valid pointers only.
        self.query_all(&|node, allocator, found| unsafe {
            rcl::rcl_get_topic_names_and_types(node, allocator, false, found)
        })
    }

    fn query_all(&self, ask: &QueryAll) -> Result<Vec<Interface>, RosError> {
        // SAFETY: the node is valid, and `found` is zero-initialised, filled by the query and given back once; its two
        // lists have the same length.
        unsafe {
            let mut found = rcl::rmw_get_zero_initialized_names_and_types();
            let mut allocator = rcl::rcutils_get_default_allocator();
            let code = ask(self.node.as_ptr(), &mut allocator, &mut found);
            let all = if is_ok(code) { Ok(interfaces(&found)) } else { Err(RosError::Graph { problem: last_error() }) };
            rcl::rmw_names_and_types_fini(&mut found);
            all
        }
    }

    /// Who publishes a topic, as `(name, namespace, type)`; one that publishes it twice is listed twice.
    ///
    /// # Errors
    /// When the client library refuses the query.
    pub(crate) fn who_publishes(&self, topic: &str) -> Result<Vec<(String, String, String)>, RosError> {
        let publishers = announced(&self.node, topic, Naming::Ros, End::Publishers)?.into_iter();
        Ok(publishers.map(|Announced { node: (name, space), topic_type, .. }| (name, space, topic_type)).collect())
    }

    /// Who offers a service, as [`instances`](Self::instances) has it; one that offers it twice is listed twice.
    ///
    /// # Errors
    /// When the client library refuses the query.
    pub(crate) fn servers_of(&self, service: &str) -> Result<Vec<(String, String, InstanceId)>, RosError> {
        // How the middleware calls the topic on which the servers of a service answer. It tells of what a node publishes in
        // the order in which it was made: a node that logs is known to log before its first service is seen.
        let answers = format!("rr{service}Reply");
        Ok(identities(announced(&self.node, &answers, Naming::Middleware, End::Publishers)?))
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
            let code = ask(self.node.as_ptr(), &mut allocator, name.as_ptr(), namespace.as_ptr(), &mut found);
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

    /// Who publishes log messages, as `(name, namespace, identity)`: one entry for each running instance of each node that
    /// does. Most do; those of r2r don't.
    ///
    /// # Errors
    /// When the client library refuses the query.
    pub(crate) fn instances(&self) -> Result<Vec<(String, String, InstanceId)>, RosError> {
        Ok(identities(announced(&self.node, LOG_TOPIC, Naming::Ros, End::Publishers)?))
    }
}

fn identities(publishers: Vec<Announced>) -> Vec<(String, String, InstanceId)> {
    publishers.into_iter().map(|Announced { node: (name, space), identity, .. }| (name, space, identity)).collect()
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
