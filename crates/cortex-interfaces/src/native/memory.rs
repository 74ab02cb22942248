//! The memory of one message: zeroed, initialised by its package, finalised by it.

use std::alloc::{self, handle_alloc_error};
use std::ffi::c_void;
use std::marker::PhantomData;
use std::ptr::NonNull;
use std::sync::Arc;

use r2r_rcl::rosidl_runtime_c__message_initialization::ROSIDL_RUNTIME_C_MSG_INIT_ALL;

use super::edit::MessageMut;
use super::layout::{ALIGNMENT, Layout};
use super::view::MessageView;

/// One initialised message. Owned.
pub(crate) struct Memory {
    base: NonNull<u8>,
    layout: Arc<Layout>,
}

// SAFETY: it owns all that it points to, and nothing in it belongs to a thread.
unsafe impl Send for Memory {}
// SAFETY: through a shared reference it is only read.
unsafe impl Sync for Memory {}

impl Memory {
    /// A message with the defaults of its interface.
    pub(crate) fn new(layout: Arc<Layout>) -> Self {
        let place = place(&layout);
        // SAFETY: its size is not zero.
        let base = unsafe { alloc::alloc_zeroed(place) };
        let Some(base) = NonNull::new(base) else { handle_alloc_error(place) };
        // SAFETY: zeroed memory of the message's size and alignment.
        unsafe { (layout.init)(base.as_ptr().cast(), ROSIDL_RUNTIME_C_MSG_INIT_ALL) };
        Self { base, layout }
    }

    pub(crate) fn as_ptr(&self) -> *const c_void {
        self.base.as_ptr().cast()
    }

    pub(crate) fn as_mut_ptr(&mut self) -> *mut c_void {
        self.base.as_ptr().cast()
    }

    pub(crate) fn view(&self) -> MessageView<'_> {
        MessageView { base: self.base, layout: &self.layout, lifetime: PhantomData }
    }

    pub(crate) fn edit(&mut self) -> MessageMut<'_> {
        MessageMut { base: self.base, layout: &self.layout, lifetime: PhantomData }
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        // SAFETY: initialised in `new` by the function that belongs to this one, and finalised only here.
        unsafe { (self.layout.fini)(self.base.as_ptr().cast()) };
        // SAFETY: allocated in `new` with the same size and alignment.
        unsafe { alloc::dealloc(self.base.as_ptr(), place(&self.layout)) };
    }
}

fn place(layout: &Layout) -> alloc::Layout {
    // `introspection` accepts only sizes that are far below the limit.
    alloc::Layout::from_size_align(layout.size.max(1), ALIGNMENT).unwrap_or(alloc::Layout::new::<u128>())
}
