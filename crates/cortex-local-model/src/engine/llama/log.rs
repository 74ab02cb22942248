//! What llama.cpp says when something fails: its functions only return that it did.

use std::io;
use std::sync::{Mutex, PoisonError};

use llama_cpp_2::{LogOptions, send_logs_to_tracing};
use tracing::Level;

/// Most bytes of a line that are kept.
const MOST_BYTES: usize = 300;

/// The first error since the last one was taken or forgotten.
static LAST: Mutex<Option<String>> = Mutex::new(None);

/// Keeps the errors that llama.cpp logs from now on, and writes them to standard error.
pub(super) fn keep() {
    let lines = tracing_subscriber::fmt()
        .with_max_level(Level::ERROR)
        .with_ansi(false)
        .without_time()
        .with_level(false)
        .with_target(false)
        .with_writer(|| Kept)
        .finish();
    // Nobody else sets one in this program.
    let _ = tracing::subscriber::set_global_default(lines);
    send_logs_to_tracing(LogOptions::default());
}

/// Forgets what was logged until now.
pub(super) fn forget() {
    drop(last());
}

/// The error that llama.cpp logged, once.
pub(super) fn last() -> Option<String> {
    LAST.lock().unwrap_or_else(PoisonError::into_inner).take()
}

struct Kept;

impl io::Write for Kept {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let beginning = bytes.get(..MOST_BYTES).unwrap_or(bytes);
        let text = String::from_utf8_lossy(beginning).trim().to_owned();
        if !text.is_empty() {
            let mut last = LAST.lock().unwrap_or_else(PoisonError::into_inner);
            // The first one names the cause, those after it only say that it failed.
            let _ = last.get_or_insert(text);
        }
        io::stderr().write_all(bytes)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        io::stderr().flush()
    }
}
