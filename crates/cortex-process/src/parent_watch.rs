//! A process that this one comes from, to be told of its end.

use std::io;
use std::os::fd::OwnedFd;

use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, getppid};

use crate::process_tag::parent;

/// How many generations are looked at: more than there are between a launch system and what it starts.
const GENERATIONS: usize = 64;

/// A handle that is readable once the process with this id has ended. None: it has ended already, or is none of those that
/// this one comes from.
///
/// The kernel could also send a signal at the end of the parent (`prctl(2)`, `PR_SET_PDEATHSIG`), but does so when the
/// *thread* ends that started this process, and tells nobody why.
///
/// # Errors
/// When the kernel gives no handle.
pub fn watch_parent(id: i32) -> io::Result<Option<OwnedFd>> {
    let Some(pid) = Some(id).filter(|id| *id > 0).and_then(Pid::from_raw) else { return Ok(None) };
    let handle = match rustix::process::pidfd_open(pid, PidfdFlags::empty()) {
        Ok(handle) => handle,
        Err(Errno::SRCH) => return Ok(None),
        Err(problem) => return Err(problem.into()),
    };
    // After that: whoever ends leaves its children to another at once, so a process that is an ancestor now was it when
    // the handle was made, and no other can have got its id in between.
    let mut generation = getppid();
    for _ in 0..GENERATIONS {
        match generation {
            Some(older) if older == pid => return Ok(Some(handle)),
            Some(older) => generation = parent(older),
            None => return Ok(None),
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn has_ended(handle: &OwnedFd) -> bool {
        use rustix::event::{PollFd, PollFlags, Timespec, poll};
        let now = Timespec { tv_sec: 0, tv_nsec: 0 };
        poll(&mut [PollFd::new(handle, PollFlags::IN)], Some(&now)).unwrap() > 0
    }

    #[test]
    fn those_that_this_process_comes_from_are_known_and_no_others() {
        let own = rustix::process::getpid();
        let before = getppid().unwrap();
        let handle = watch_parent(before.as_raw_nonzero().get()).unwrap().unwrap();
        assert!(!has_ended(&handle));
        // Its parent is a further one, unless this one is the first of its namespace.
        if let Some(further) = parent(before) {
            assert!(watch_parent(further.as_raw_nonzero().get()).unwrap().is_some());
        }
        assert!(watch_parent(own.as_raw_nonzero().get()).unwrap().is_none(), "this one itself");
        let mut child = std::process::Command::new("sleep").arg("600").spawn().unwrap();
        let id = i32::try_from(child.id()).unwrap();
        assert!(watch_parent(id).unwrap().is_none(), "one that came from this one");
        child.kill().unwrap();
        child.wait().unwrap();
        for gone in [id, 0, -1, i32::MIN] {
            assert!(watch_parent(gone).unwrap().is_none(), "{gone}");
        }
    }
}
