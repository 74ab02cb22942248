//! The standard streams, line by line.

use std::io::{self, BufRead as _, Read as _, Write as _};
use std::process;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::SyncSender;
use std::thread;

use cortex_local_model::protocol::{FromModel, MAX_REQUEST_BYTES, PROGRAM, ToModel};

/// Up to which request nothing is wanted any more.
#[derive(Debug, Clone, Default)]
pub(crate) struct Cancelled(Arc<AtomicU64>);

impl Cancelled {
    /// Whether this request is not wanted any more. Numbers rise.
    #[cfg_attr(not(feature = "llama"), expect(dead_code, reason = "without an engine nothing is asked"))]
    pub(crate) fn is(&self, id: u64) -> bool {
        self.0.load(Ordering::Relaxed) >= id
    }
}

/// Reads requests, and hears at once that one is cancelled or that the input has ended: then nobody wants anything more, and
/// the process ends whatever the engine is doing.
pub(crate) fn read_in_background(requests: SyncSender<ToModel>, cancelled: Cancelled) {
    thread::spawn(move || {
        let mut input = io::stdin().lock();
        let mut line = Vec::new();
        loop {
            line.clear();
            match (&mut input).take(MAX_REQUEST_BYTES as u64).read_until(b'\n', &mut line) {
                Ok(0) | Err(_) => process::exit(0),
                Ok(_) if !line.ends_with(b"\n") => end("a line is too long, or has no end"),
                Ok(_) => {}
            }
            match serde_json::from_slice(&line) {
                Ok(ToModel::Cancel(cancel)) => drop(cancelled.0.fetch_max(cancel.id, Ordering::Relaxed)),
                Ok(request) => {
                    if requests.send(request).is_err() {
                        return;
                    }
                }
                Err(problem) => end(&format!("a line can't be read: {problem}")),
            }
        }
    });
}

/// Something else than Cortex writes, or a Cortex of another version: nothing that follows can be relied on.
fn end(problem: &str) -> ! {
    // Nobody may read it.
    let _ = writeln!(io::stderr(), "{PROGRAM}: {problem}");
    process::exit(2)
}

/// Lines for Cortex.
#[derive(Debug)]
pub(crate) struct Output;

impl Output {
    /// Writes one line at once. Where nobody reads any more, the process ends.
    pub(crate) fn write(&self, line: &FromModel) {
        let written = serde_json::to_string(line).map_err(io::Error::from).and_then(|text| {
            let mut output = io::stdout().lock();
            writeln!(output, "{text}")?;
            output.flush()
        });
        if written.is_err() {
            process::exit(0);
        }
    }
}
