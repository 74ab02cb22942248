//! The file of the process in the folder of ROS' logs, which the client library has open since `r2r` has initialised it.

use std::ffi::{CString, c_char, c_int};

#[link(name = "rcl_logging_spdlog", kind = "dylib")]
unsafe extern "C" {
    /// Writes into the file. It must be open.
    fn rcl_logging_external_log(severity: c_int, name: *const c_char, text: *const c_char);
}

/// The file, which is open until the process ends.
pub(crate) struct LogFile(());

impl LogFile {
    /// Where there is a node, and these are the ROS arguments of the process. None: they do without the file.
    pub(crate) fn of(_node: &r2r::Node, ros: &[String]) -> Option<Self> {
        let told = ros.iter().rev().find(|argument| argument.ends_with("-external-lib-logs"));
        told.is_none_or(|argument| argument != "--disable-external-lib-logs").then_some(Self(()))
    }

    /// Writes a line. `severity` is as `rcl_interfaces/msg/Log` has it. Errors are on the disk at once.
    pub(crate) fn write(&self, severity: u8, name: &str, line: &str) {
        let text = |text: &str| CString::new(text.replace('\0', "\u{fffd}")).unwrap_or_default();
        let (name, line) = (text(name), text(line));
        // SAFETY: `r2r` makes no node without having the library open the file, unless the command line forbids it, which
        // `of` has looked for; both texts outlive the call. The library locks what it writes to.
        unsafe { rcl_logging_external_log(severity.into(), name.as_ptr(), line.as_ptr()) };
    }
}
