//! The terminal that a person sits at.

use std::io::{IsTerminal as _, Stdin};
use std::os::fd::AsFd;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::termios::{QueueSelector, tcflush, tcgetpgrp};
use tokio::io::unix::AsyncFd;

/// Longest line that is taken. A terminal itself gives no longer one.
const LONGEST_LINE: usize = 4_096;

/// A terminal that is read from line by line. It is never read from before somebody is asked, so what is typed between
/// questions is no answer.
pub(super) struct Terminal {
    stdin: AsyncFd<Stdin>,
    /// What was read of a line that has not ended.
    begun: Vec<u8>,
}

impl Terminal {
    /// The terminal of this process: standard input and standard error both lead to one.
    pub(super) fn find() -> Option<Self> {
        let stdin = std::io::stdin();
        if !(stdin.is_terminal() && std::io::stderr().is_terminal()) {
            return None;
        }
        #[expect(
            deprecated,
            reason = "its successor is unsafe; it is unsound for types that change their descriptor only"
        )]
        let stdin = AsyncFd::with_interest(stdin, tokio::io::Interest::READABLE).ok()?;
        Some(Self { stdin, begun: Vec::new() })
    }

    /// Whether somebody can be asked now. A process in the background would be suspended if it read.
    pub(super) fn is_at_hand(&self) -> bool {
        match tcgetpgrp(self.stdin.get_ref()) {
            Ok(foreground) => foreground == rustix::process::getpgrp(),
            // It does not control this process, so nothing is suspended for its sake.
            Err(_) => true,
        }
    }

    /// Forgets what was typed before.
    pub(super) fn forget(&mut self) {
        self.begun.clear();
        // Where that fails, the next line is read as an answer to the wrong question only if it was typed already.
        let _ = tcflush(self.stdin.get_ref(), QueueSelector::IFlush);
    }

    /// The next line without its end. None: the person has ended the input. What was read is not lost when this is dropped.
    ///
    /// # Errors
    /// When the terminal can't be read.
    pub(super) async fn line(&mut self) -> std::io::Result<Option<String>> {
        loop {
            if let Some(end) = self.begun.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = self.begun.drain(..=end).collect();
                return Ok(Some(String::from_utf8_lossy(&line).trim().to_owned()));
            }
            let mut ready = self.stdin.readable().await?;
            // Somebody else may have read it, and then reading would block.
            if !has_input(ready.get_inner())? {
                ready.clear_ready();
                continue;
            }
            let mut buffer = [0; LONGEST_LINE];
            match rustix::io::read(ready.get_inner(), &mut buffer) {
                Ok(0) => return Ok(None),
                Ok(count) => self.begun.extend(buffer.iter().take(count)),
                Err(Errno::INTR | Errno::AGAIN) => {}
                Err(problem) => return Err(problem.into()),
            }
            if self.begun.len() > LONGEST_LINE && !self.begun.contains(&b'\n') {
                self.begun.clear();
            }
        }
    }
}

fn has_input(terminal: &impl AsFd) -> std::io::Result<bool> {
    let mut polled = [PollFd::new(terminal, PollFlags::IN)];
    match poll(&mut polled, Some(&Timespec { tv_sec: 0, tv_nsec: 0 })) {
        Ok(count) => Ok(count > 0),
        Err(Errno::INTR) => Ok(false),
        Err(problem) => Err(problem.into()),
    }
}
