//! A context of the client library, and nodes in it.
//!
//! One context is one participant of the middleware, with its sockets and threads. So all that Cortex does besides
//! `r2r` shares one: each thread has a hidden node of its own in it. Who uses a thing holds what it lies in (endpoint,
//! node, context), so everything is given back in the order that the library demands.

use std::ffi::{CStr, CString};
use std::ptr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use r2r_rcl as rcl;

use super::arguments::Arguments;
use super::{is_ok, last_error};
use crate::RosError;

/// A context with the ROS arguments of the process.
pub struct Context {
    // Raw rather than boxed: the library keeps pointers to it. It comes from `Box::into_raw` and is given back in `drop`.
    context: *mut rcl::rcl_context_t,
}

// SAFETY: nothing in it belongs to the thread that made it.
unsafe impl Send for Context {}
// SAFETY: through a shared reference, nodes and conditions are made in it, which the library lets any thread do: it only
// reads what is initialised here. It is shut down when nobody has it any more.
unsafe impl Sync for Context {}

impl Context {
    /// Initialises a context.
    ///
    /// # Errors
    /// When ROS can't be initialised with the arguments of this process.
    pub fn create() -> Result<Arc<Self>, RosError> {
        let arguments = Arguments::of_process()?;
        arguments.check()?;
        // SAFETY: zero-initialised value by copy, as the library demands before `init`.
        let context = unsafe { Box::into_raw(Box::new(rcl::rcl_get_zero_initialized_context())) };
        // From here on `drop` gives back what was made: the library's `fini` accepts what was never initialised.
        let created = Self { context };
        initialise_context(context, &arguments)?;
        Ok(Arc::new(created))
    }

    pub(super) fn as_ptr(&self) -> *mut rcl::rcl_context_t {
        self.context
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        // SAFETY: the pointer comes from `Box::into_raw` and is given back once; `fini` accepts a value that was
        // zero-initialised only. All that was made in the context holds it, so that is gone.
        unsafe {
            if rcl::rcl_context_is_valid(self.context) {
                rcl::rcl_shutdown(self.context);
            }
            rcl::rcl_context_fini(self.context);
            rcl::rcutils_reset_error();
            drop(Box::from_raw(self.context));
        }
    }
}

/// A node without endpoints beyond what the middleware makes for every node.
pub struct Node {
    node: *mut rcl::rcl_node_t,
    /// Held while endpoints are made and destroyed: the library notes their types in the node, without a lock.
    endpoints: Mutex<()>,
    /// What it lies in. None: it is another's, who finishes it after all that is made on it.
    context: Option<Arc<Context>>,
}

// SAFETY: nothing in it belongs to the thread that made it.
unsafe impl Send for Node {}
// SAFETY: queries only read the node, and the middleware locks what it shares; what writes to it takes `endpoints`.
unsafe impl Sync for Node {}

impl Node {
    /// Creates a node of this name, whatever the ROS arguments of the process say.
    ///
    /// # Errors
    /// When the client library refuses.
    pub fn create(context: &Arc<Context>, name: &str) -> Result<Arc<Self>, RosError> {
        let name = CString::new(name).map_err(|_| initialisation("the node's name holds a zero".to_owned()))?;
        // SAFETY: zero-initialised value by copy, as the library demands before `init`.
        let node = unsafe { Box::into_raw(Box::new(rcl::rcl_get_zero_initialized_node())) };
        let created = Self { node, endpoints: Mutex::default(), context: Some(Arc::clone(context)) };
        initialise_node(node, context.as_ptr(), &name)?;
        Ok(Arc::new(created))
    }

    /// The node behind a handle that somebody else has made and will finish, after this is gone. Its endpoints are made and
    /// destroyed on that one's thread only.
    pub(super) fn of_another(node: *mut rcl::rcl_node_t) -> Arc<Self> {
        Arc::new(Self { node, endpoints: Mutex::default(), context: None })
    }

    /// What it lies in.
    pub(super) fn context(&self) -> *mut rcl::rcl_context_t {
        // SAFETY: the node is initialised, so its context is set.
        unsafe { (*self.node).context }
    }

    pub(super) fn as_ptr(&self) -> *mut rcl::rcl_node_t {
        self.node
    }

    /// To be held while an endpoint of the node is made or destroyed.
    pub(super) fn turn(&self) -> MutexGuard<'_, ()> {
        self.endpoints.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        if self.context.is_none() {
            return;
        }
        // SAFETY: the pointer comes from `Box::into_raw` and is given back once; `fini` accepts a value that was
        // zero-initialised only. All endpoints hold the node, so they are gone; the context is still there.
        unsafe {
            rcl::rcl_node_fini(self.node);
            rcl::rcutils_reset_error();
            drop(Box::from_raw(self.node));
        }
    }
}

/// Ends a wait in another thread.
pub struct GuardCondition {
    condition: *mut rcl::rcl_guard_condition_t,
    // Dropped after the condition.
    context: Arc<Context>,
}

// SAFETY: nothing in it belongs to the thread that made it.
unsafe impl Send for GuardCondition {}
// SAFETY: the library lets a guard condition be triggered from any thread, also while another one waits for it.
unsafe impl Sync for GuardCondition {}

impl GuardCondition {
    /// Creates a condition.
    ///
    /// # Errors
    /// When the client library refuses.
    pub fn create(context: &Arc<Context>) -> Result<Arc<Self>, RosError> {
        // SAFETY: zero-initialised value by copy, as the library demands before `init`.
        let condition = unsafe { Box::into_raw(Box::new(rcl::rcl_get_zero_initialized_guard_condition())) };
        let created = Self { condition, context: Arc::clone(context) };
        // SAFETY: the condition is zero-initialised and the context is valid.
        let code = unsafe {
            let options = rcl::rcl_guard_condition_get_default_options();
            rcl::rcl_guard_condition_init(condition, context.as_ptr(), options)
        };
        if is_ok(code) { Ok(Arc::new(created)) } else { Err(initialisation(last_error())) }
    }

    /// Ends the wait that is under way, or the next one.
    pub fn trigger(&self) {
        // SAFETY: it is initialised, and lives as long as `self`.
        let code = unsafe { rcl::rcl_trigger_guard_condition(self.condition) };
        if !is_ok(code) {
            tracing::warn!("a thread that waits for ROS could not be woken: {}", last_error());
        }
    }

    /// What it lies in.
    pub(super) fn context(&self) -> *mut rcl::rcl_context_t {
        self.context.as_ptr()
    }

    pub(super) fn as_ptr(&self) -> *const rcl::rcl_guard_condition_t {
        self.condition
    }
}

impl Drop for GuardCondition {
    fn drop(&mut self) {
        // SAFETY: the pointer comes from `Box::into_raw` and is given back once; `fini` accepts a value that was
        // zero-initialised only. The context is still there, and who waits for the condition holds it.
        unsafe {
            rcl::rcl_guard_condition_fini(self.condition);
            rcl::rcutils_reset_error();
            drop(Box::from_raw(self.condition));
        }
    }
}

fn initialisation(problem: String) -> RosError {
    RosError::Initialisation { problem }
}

fn initialise_context(context: *mut rcl::rcl_context_t, arguments: &Arguments) -> Result<(), RosError> {
    let pointers = arguments.pointers();
    // SAFETY: options and context are zero-initialised; the arguments outlive the call, which copies them.
    unsafe {
        let mut options = rcl::rcl_get_zero_initialized_init_options();
        let code = rcl::rcl_init_options_init(&mut options, rcl::rcutils_get_default_allocator());
        if !is_ok(code) {
            return Err(initialisation(last_error()));
        }
        let code = rcl::rcl_init(arguments.count(), pointers.as_ptr(), &options, context);
        let initialised = if is_ok(code) { Ok(()) } else { Err(initialisation(last_error())) };
        rcl::rcl_init_options_fini(&mut options);
        initialised
    }
}

fn initialise_node(node: *mut rcl::rcl_node_t, context: *mut rcl::rcl_context_t, name: &CStr) -> Result<(), RosError> {
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
        let initialised = if is_ok(code) { Ok(()) } else { Err(initialisation(last_error())) };
        rcl::rcl_node_options_fini(&mut options);
        initialised
    }
}
