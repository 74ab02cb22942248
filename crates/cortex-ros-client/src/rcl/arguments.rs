//! The ROS arguments of the process, checked before `r2r` sees them: it panics on bad ones.

use std::ffi::{CString, OsString, c_char, c_int};

use r2r_rcl::rcl_arguments_t;

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
        let text = |argument: OsString| {
            let unreadable =
                |argument: OsString| RosError::Arguments { problem: format!("{argument:?} is not valid Unicode") };
            argument.into_string().map_err(unreadable)
        };
        Self::of(std::env::args_os().map(text).collect::<Result<Vec<_>, _>>()?)
    }

    /// These, the program first.
    ///
    /// # Errors
    /// When one holds a zero byte.
    pub(crate) fn of(texts: impl IntoIterator<Item = String>) -> Result<Self, RosError> {
        let unreadable = |_| RosError::Arguments { problem: "one of them holds a zero byte".to_owned() };
        let texts = texts.into_iter().map(|text| CString::new(text).map_err(unreadable));
        Ok(Self { texts: texts.collect::<Result<_, _>>()? })
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
        // SAFETY: the arguments were parsed.
        let unknown = self.parsed(|parsed| unsafe { r2r_rcl::rcl_arguments_get_count_unparsed_ros(parsed) })?;
        if unknown != 0 {
            return Err(RosError::Arguments { problem: format!("{unknown} after --ros-args is not understood") });
        }
        check_domain()
    }

    /// Looks at the arguments as the client library understands them.
    ///
    /// # Errors
    /// When they are not valid.
    pub(super) fn parsed<T>(&self, look: impl FnOnce(&rcl_arguments_t) -> T) -> Result<T, RosError> {
        let pointers = self.pointers();
        // SAFETY: plain values by copy.
        let (allocator, mut parsed) =
            unsafe { (r2r_rcl::rcutils_get_default_allocator(), r2r_rcl::rcl_get_zero_initialized_arguments()) };
        // SAFETY: `pointers` holds `count` texts that live as long as `self`; `parsed` is zero-initialised.
        let code = unsafe { r2r_rcl::rcl_parse_arguments(self.count(), pointers.as_ptr(), allocator, &mut parsed) };
        if !is_ok(code) {
            return Err(RosError::Arguments { problem: last_error() });
        }
        let seen = look(&parsed);
        // SAFETY: `parsed` was filled by the call above and is given back once.
        unsafe { r2r_rcl::rcl_arguments_fini(&mut parsed) };
        Ok(seen)
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
