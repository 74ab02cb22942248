//! Reads along while a tape is written: the operating system says when something happens in the folder.

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::path::Path;

use rustix::fs::inotify::{self, CreateFlags, WatchFlags};
use tokio::io::unix::AsyncFd;

/// Room for a good many events at a time; each has the name of a tape, which is short.
const EVENT_BYTES: usize = 4_096;

/// Waits for something to happen in a folder.
#[derive(Debug)]
pub struct Follower {
    events: AsyncFd<OwnedFd>,
}

impl Follower {
    /// Watches a folder: what happens from now on is not missed. The folder must exist.
    ///
    /// # Errors
    /// When the operating system can't.
    pub fn of(directory: &Path) -> io::Result<Self> {
        let watch = inotify::init(CreateFlags::NONBLOCK | CreateFlags::CLOEXEC)?;
        // The end of a writer, however it ends, closes its file.
        let interest = WatchFlags::CREATE | WatchFlags::MODIFY | WatchFlags::CLOSE_WRITE | WatchFlags::DELETE;
        inotify::add_watch(&watch, directory, interest)?;
        #[expect(
            deprecated,
            reason = "its successor is unsafe; it is unsound for types that change their descriptor only"
        )]
        let events = AsyncFd::new(watch)?;
        Ok(Self { events })
    }

    /// Waits until something has happened since the last call.
    ///
    /// # Errors
    /// When the operating system can't say.
    pub async fn changed(&mut self) -> io::Result<()> {
        loop {
            let mut ready = self.events.readable().await?;
            let mut room = [MaybeUninit::uninit(); EVENT_BYTES];
            let mut has_happened = false;
            // Everything that waits is one change.
            let drained = ready.try_io(|events| {
                let mut reader = inotify::Reader::new(events.get_ref(), &mut room);
                loop {
                    match reader.next() {
                        Ok(_) => has_happened = true,
                        Err(rustix::io::Errno::AGAIN) if has_happened => return Ok(()),
                        Err(problem) => return Err(io::Error::from(problem)),
                    }
                }
            });
            match drained {
                Ok(result) => return result,
                Err(_would_block) => {}
            }
        }
    }
}
