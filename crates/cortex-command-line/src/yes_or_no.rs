//! A question to the person at the terminal, before something that must not happen unseen.

use std::fs::File;
use std::io::{self, BufRead as _, BufReader, IsTerminal as _, Read as _, Write};
use std::os::fd::AsFd as _;

use rustix::termios::{QueueSelector, tcflush};

/// Most bytes of an answer: a terminal gives no longer line.
const ANSWER_BYTES: u64 = 4_096;

/// Asks, and waits for an answer. None: nobody is there to be asked.
///
/// # Errors
/// When the terminal can't be read or written.
pub(crate) fn ask(question: &str) -> io::Result<Option<bool>> {
    let (stdin, stdout) = (io::stdin(), io::stdout());
    if !(stdin.is_terminal() && stdout.is_terminal()) {
        return Ok(None);
    }
    ask_at(&File::from(stdin.as_fd().try_clone_to_owned()?), stdout.lock(), question).map(Some)
}

fn ask_at(terminal: &File, mut shown: impl Write, question: &str) -> io::Result<bool> {
    // Keys that were pressed before the question are no answer.
    tcflush(terminal, QueueSelector::IFlush)?;
    write!(shown, "{question} [y/N] ")?;
    shown.flush()?;
    let mut answer = String::new();
    BufReader::new(terminal.take(ANSWER_BYTES)).read_line(&mut answer)?;
    Ok(matches!(answer.trim().to_lowercase().as_str(), "y" | "yes"))
}

#[cfg(test)]
mod tests {
    use rustix::event::{PollFd, PollFlags, poll};
    use rustix::fs::{Mode, OFlags};
    use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

    use super::*;

    /// The two ends of a terminal: the person's, and the program's.
    fn terminal() -> (File, File) {
        let outside = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).unwrap();
        grantpt(&outside).unwrap();
        unlockpt(&outside).unwrap();
        let name = ptsname(&outside, Vec::new()).unwrap();
        let inside = rustix::fs::open(name, OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC, Mode::empty()).unwrap();
        (File::from(outside), File::from(inside))
    }

    /// Waits until the person sees this.
    fn see(outside: &mut File, text: &str) {
        let (mut seen, mut byte) = (Vec::new(), [0]);
        while !String::from_utf8_lossy(&seen).contains(text) {
            outside.read_exact(&mut byte).unwrap();
            seen.extend_from_slice(&byte);
        }
    }

    #[test]
    fn only_a_yes_that_is_typed_after_the_question_is_one() {
        for (typed, is_yes) in
            [("y", true), ("YES", true), ("n", false), ("", false), ("yes please", false), ("\u{4}", false)]
        {
            let (mut outside, inside) = terminal();
            outside.write_all(b"yes\n").unwrap();
            let mut come = [PollFd::new(&inside, PollFlags::IN)];
            assert_eq!(poll(&mut come, None).unwrap(), 1, "it is there to be read");
            let asking = std::thread::spawn(move || ask_at(&inside, &inside, "Use it?").unwrap());
            see(&mut outside, "Use it? [y/N] ");
            outside.write_all(format!("{typed}\n").as_bytes()).unwrap();
            assert_eq!(asking.join().unwrap(), is_yes, "{typed:?}");
        }
    }
}
