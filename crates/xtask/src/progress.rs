//! What a person at the terminal sees while a command works: one line per step, with the seconds since the start.
//!
//! Everything goes to stderr, because stdout of `cargo xtask env` is read by a shell.

use std::io::Write as _;
use std::sync::OnceLock;
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::time::{Duration, Instant};

/// A step that is silent for longer than this looks stuck.
const SIGN_OF_LIFE: Duration = Duration::from_secs(10);

static START: OnceLock<Instant> = OnceLock::new();

/// Starts the clock that the lines show. Without it the clock starts at the first line.
pub(crate) fn start_clock() {
    START.get_or_init(Instant::now);
}

/// Prints one line with the elapsed seconds.
pub(crate) fn say(text: &str) {
    let seconds = START.get_or_init(Instant::now).elapsed().as_secs();
    print_line(&format!("[{seconds:>4} s] {text}"));
}

/// Prints one line. A terminal that is gone, or a reader such as `head` that has ended, is no reason to end here: `eprintln!`
/// would panic, and what this process has started would be left behind.
pub(crate) fn print_line(text: &str) {
    let _ = writeln!(std::io::stderr(), "{text}");
}

/// Runs a step, says when it starts, and says every few seconds that it is still at work.
pub(crate) fn step<T>(text: &str, work: impl FnOnce() -> T) -> T {
    say(text);
    let started = Instant::now();
    std::thread::scope(|scope| {
        let (finished, waiting) = sync_channel::<()>(1);
        scope.spawn(move || {
            while waiting.recv_timeout(SIGN_OF_LIFE) == Err(RecvTimeoutError::Timeout) {
                say(&format!("  ... still {text} ({} s)", started.elapsed().as_secs()));
            }
        });
        let result = work();
        // Dropping the sender wakes the other thread at once.
        drop(finished);
        result
    })
}
