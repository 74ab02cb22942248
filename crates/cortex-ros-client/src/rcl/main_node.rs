//! The client library's handle of the main node, which `r2r` keeps to itself.
//!
//! What `r2r` makes on the main node is served by the one thread that spins it. The stop must be served by a thread of its
//! own, and yet belong to the main node, or nobody who looks at that node finds it. So the function by which `r2r` makes its
//! node is defined here, in front of that of the client library: it does nothing but call it, and remember the handle while
//! [`created`] asks for it.

use std::cell::Cell;
use std::ffi::{c_char, c_int, c_void};
use std::ptr;
use std::sync::Arc;

use r2r_rcl::{rcl_context_t, rcl_node_options_t, rcl_node_t};

use super::context::Node;

type Initialise = unsafe extern "C" fn(
    *mut rcl_node_t,
    *const c_char,
    *const c_char,
    *mut rcl_context_t,
    *const rcl_node_options_t,
) -> c_int;

thread_local! {
    static IS_WANTED: Cell<bool> = const { Cell::new(false) };
    static MADE: Cell<*mut rcl_node_t> = const { Cell::new(ptr::null_mut()) };
}

/// Calls the client library's own function.
///
/// # Safety
/// As for that function.
#[unsafe(no_mangle)]
unsafe extern "C" fn rcl_node_init(
    node: *mut rcl_node_t,
    name: *const c_char,
    namespace: *const c_char,
    context: *mut rcl_context_t,
    options: *const rcl_node_options_t,
) -> c_int {
    // SAFETY: looks up a symbol by its name.
    let next: *mut c_void = unsafe { libc::dlsym(libc::RTLD_NEXT, c"rcl_node_init".as_ptr()) };
    if next.is_null() {
        return r2r_rcl::RCL_RET_ERROR.cast_signed();
    }
    // SAFETY: it is the function of that name of the client library, whose signature this is.
    let next: Initialise = unsafe { std::mem::transmute::<*mut c_void, Initialise>(next) };
    // SAFETY: what the caller has promised.
    let code = unsafe { next(node, name, namespace, context, options) };
    if IS_WANTED.get() && super::is_ok(code) {
        MADE.set(node);
    }
    code
}

/// Runs `create`, and gives with what it returned the node that it has made on this thread. None where that can't be told: then
/// the main node is `r2r`'s alone.
///
/// The node must not be finished before every clone of the handle is gone.
pub(crate) fn created<T>(create: impl FnOnce() -> T) -> (T, Option<Arc<Node>>) {
    MADE.set(ptr::null_mut());
    IS_WANTED.set(true);
    let made = create();
    IS_WANTED.set(false);
    let handle = MADE.replace(ptr::null_mut());
    (made, (!handle.is_null()).then(|| Node::of_another(handle)))
}
