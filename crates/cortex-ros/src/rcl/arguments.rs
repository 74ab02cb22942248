//! The ROS arguments of the process, checked before `r2r` sees them: it panics on bad ones.

use std::ffi::{CString, c_char, c_int};

use super::{is_ok, last_error};
use crate::RosError;

/// The highest domain for which DDS has port numbers.
const HIGHEST_DOMAIN: usize = 232;

/// The arguments of the process in the form that the client library reads. Keeps the texts alive that it points to.
pub(crate) struct Arguments {
    texts: Vec<CString>,
}

impl Arguments {
    /// Those of this process.
    ///
    /// # Errors
    /// When one is not valid Unicode; the client library could not read it.
    pub(crate) fn of_process() -> Result<Self, RosError> {
        let texts = std::env::args_os()
            .map(|argument| {
                let shown = argument.to_string_lossy().into_owned();
                let text = argument.into_string().ok().and_then(|text| CString::new(text).ok());
                text.ok_or_else(|| RosError::Arguments { problem: format!("'{shown}' is not valid Unicode") })
            })
            .collect::<Result<_, _>>()?;
        Ok(Self { texts })
    }

    pub(super) fn count(&self) -> c_int {
        c_int::try_from(self.texts.len()).unwrap_or(c_int::MAX)
    }

    pub(super) fn pointers(&self) -> Vec<*const c_char> {
        self.texts.iter().map(|text| text.as_ptr()).collect()
    }

    /// Checks what `rcl_init` would check, without touching the network.
    ///
    /// # Errors
    /// When ROS could not be initialised with these arguments and this environment.
    pub(crate) fn check(&self) -> Result<(), RosError> {
        let pointers = self.pointers();
        // SAFETY: plain values by copy.
        let (allocator, mut parsed) =
            unsafe { (r2r_rcl::rcutils_get_default_allocator(), r2r_rcl::rcl_get_zero_initialized_arguments()) };
        // SAFETY: `pointers` holds `count` texts that live as long as `self`; `parsed` is zero-initialised.
        let code = unsafe { r2r_rcl::rcl_parse_arguments(self.count(), pointers.as_ptr(), allocator, &mut parsed) };
        if !is_ok(code) {
            return Err(RosError::Arguments { problem: last_error() });
        }
        // SAFETY: `parsed` was filled by the call above and is given back once.
        let unknown = unsafe {
            let unknown = r2r_rcl::rcl_arguments_get_count_unparsed_ros(&parsed);
            r2r_rcl::rcl_arguments_fini(&mut parsed);
            unknown
        };
        if unknown != 0 {
            return Err(RosError::Arguments { problem: format!("{unknown} after --ros-args is not understood") });
        }
        check_domain()
    }
}

fn check_domain() -> Result<(), RosError> {
    let mut domain = usize::MAX;
    // SAFETY: writes one number, or leaves it where the environment names none.
    let code = unsafe { r2r_rcl::rcl_get_default_domain_id(&mut domain) };
    if !is_ok(code) {
        return Err(RosError::Initialisation { problem: last_error() });
    }
    if domain != usize::MAX && domain > HIGHEST_DOMAIN {
        let problem = format!("ROS_DOMAIN_ID is {domain}; the highest domain is {HIGHEST_DOMAIN}");
        return Err(RosError::Initialisation { problem });
    }
    Ok(())
}
