//! What a process that is started here gets of the open files of this one: its standard streams, and nothing else; and
//! in which control group it is.
//!
//! The sockets and shared memory of a middleware are not marked as this process's own. A child that had them, too, would
//! keep ports taken and peers connected after this process has gone.
#![expect(
    unsafe_code,
    reason = "only between fork and exec it is certain that no other thread opens something, and that the program is \
              in its control group before it runs"
)]

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd as _;
use std::os::unix::process::CommandExt as _;
use std::process::Command;

/// The first handle after the standard streams.
const FIRST: libc::c_int = 3;

/// Handles that are looked at one by one where the kernel can't be asked for all.
const MOST_HANDLES: libc::c_int = 1 << 16;

/// Lets the program have its standard streams, and no other handle of this process.
pub(crate) fn keep_nothing(command: &mut Command) {
    // SAFETY: between fork and exec, it makes system calls only: it allocates nothing and takes no lock.
    unsafe { command.pre_exec(mark_all) };
}

/// Puts the program into a control group, before it runs.
pub(crate) fn enter(command: &mut Command, entrance: &File) -> io::Result<()> {
    let entrance = entrance.try_clone()?;
    let put = move || {
        // 0 is whoever writes it.
        // SAFETY: the handle is open as long as the closure is there, and the bytes are a constant.
        let written = unsafe { libc::write(entrance.as_raw_fd(), b"0".as_ptr().cast(), 1) };
        if written == 1 { Ok(()) } else { Err(io::Error::last_os_error()) }
    };
    // SAFETY: between fork and exec, it makes one system call: it allocates nothing and takes no lock.
    unsafe { command.pre_exec(put) };
    Ok(())
}

/// Marks every handle as one that ends with the program, so that how the start goes can still be told by one of them.
fn mark_all() -> io::Result<()> {
    // By its number: older C libraries have no function for it.
    // SAFETY: it takes numbers, and marks handles; nothing is closed here.
    let marked = unsafe { libc::syscall(libc::SYS_close_range, FIRST, libc::c_uint::MAX, libc::CLOSE_RANGE_CLOEXEC) };
    if marked != 0 {
        // Linux before 5.11. Numbers without a handle are refused, which is as good.
        for handle in FIRST..MOST_HANDLES {
            // SAFETY: as above.
            unsafe { libc::fcntl(handle, libc::F_SETFD, libc::FD_CLOEXEC) };
        }
    }
    Ok(())
}
