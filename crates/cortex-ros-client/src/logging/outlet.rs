//! The thread that hands lines to ROS, so that nobody who logs waits for the middleware or a disk.

use std::collections::VecDeque;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::time::{Duration, SystemTime};

use tracing::Level;
use tracing_appender::non_blocking::ErrorCounter;

use super::line::Line;
use super::node::outlets;

/// Lines that may wait. What does not fit is counted and dropped.
const CAPACITY: usize = 1024;
/// How long an end waits until the lines that wait are written.
const FLUSH_TIMEOUT: Duration = Duration::from_millis(500);

static OUTLET: OnceLock<Outlet> = OnceLock::new();

struct Outlet {
    queue: SyncSender<Message>,
    dropped: AtomicU64,
}

enum Message {
    Line(Line),
    /// A node was made.
    Node,
    /// Everything before this is to be written now.
    Flush(SyncSender<()>),
}

/// Begins to take lines. `name` stands for the process in the file; `unread` counts what standard error did not take.
/// False where it was begun before, or no thread can be had.
pub(super) fn start(name: &str, unread: ErrorCounter) -> bool {
    let (queue, lines) = sync_channel(CAPACITY);
    if OUTLET.set(Outlet { queue, dropped: AtomicU64::new(0) }).is_err() {
        return false;
    }
    let writer = Writer { name: name.to_owned(), early: VecDeque::new(), has_node: false, unread, unread_told: 0 };
    std::thread::Builder::new().name("log".to_owned()).spawn(move || writer.run(&lines)).is_ok()
}

/// Whether lines are taken.
pub(super) fn is_open() -> bool {
    OUTLET.get().is_some()
}

/// Takes a line, or drops it. Never waits.
pub(super) fn add(line: Line) {
    if let Some(outlet) = OUTLET.get()
        && let Err(TrySendError::Full(_)) = outlet.queue.try_send(Message::Line(line))
    {
        outlet.dropped.fetch_add(1, Ordering::Relaxed);
    }
}

/// A node was made: what was logged before it can go out.
pub(super) fn node_made() {
    if let Some(outlet) = OUTLET.get() {
        // Where it is full, the lines that wait come to the same.
        let _ = outlet.queue.try_send(Message::Node);
    }
}

/// Waits until what was logged so far is written, for a bounded time.
pub(super) fn flush() {
    let Some(outlet) = OUTLET.get() else { return };
    let (done, is_done) = sync_channel(1);
    if outlet.queue.try_send(Message::Flush(done)).is_ok() {
        let _ = is_done.recv_timeout(FLUSH_TIMEOUT);
    }
}

/// What the thread has. It must log nothing: that would come back to it.
struct Writer {
    name: String,
    /// What was logged before there was a node.
    early: VecDeque<Line>,
    has_node: bool,
    unread: ErrorCounter,
    unread_told: usize,
}

impl Writer {
    fn run(mut self, lines: &Receiver<Message>) {
        for message in lines {
            match message {
                Message::Line(line) => self.take(line),
                Message::Node => self.write_early(),
                Message::Flush(done) => {
                    // Nobody may be waiting any more.
                    let _ = done.try_send(());
                }
            }
            self.tell_losses();
        }
    }

    fn take(&mut self, line: Line) {
        if !self.has_node && !outlets().had_node {
            if self.early.len() >= CAPACITY {
                self.early.pop_front();
                self.count_dropped(1);
            }
            self.early.push_back(line);
            return;
        }
        self.write_early();
        self.write(&line);
    }

    fn write_early(&mut self) {
        self.has_node = true;
        for line in std::mem::take(&mut self.early) {
            self.write(&line);
        }
    }

    fn write(&self, line: &Line) {
        outlets().write(&self.name, line);
    }

    fn count_dropped(&self, count: u64) {
        if let Some(outlet) = OUTLET.get() {
            outlet.dropped.fetch_add(count, Ordering::Relaxed);
        }
    }

    /// Says what was lost, once there is room again.
    fn tell_losses(&mut self) {
        if !self.has_node {
            return;
        }
        let dropped = OUTLET.get().map_or(0, |outlet| outlet.dropped.swap(0, Ordering::Relaxed));
        if dropped > 0 {
            self.write(&said(format!("{dropped} lines of the log were dropped: more came than could be written")));
        }
        let unread = self.unread.dropped_lines();
        if unread > self.unread_told {
            let lost = unread - self.unread_told;
            self.unread_told = unread;
            self.write(&said(format!("{lost} lines of the log are missing on standard error: nobody reads it")));
        }
    }
}

fn said(text: String) -> Line {
    let (target, file, line) = (module_path!(), file!(), line!());
    Line { at: SystemTime::now(), level: Level::WARN, target, file, line, text, for_rosout: true }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_logs_waits_for_nobody_and_what_does_not_fit_is_counted() {
        let unread = tracing_appender::non_blocking::NonBlocking::new(std::io::sink()).0.error_counter();
        assert!(start("test", unread), "nothing else in these tests takes lines");
        // As if the middleware or the disk took nothing.
        let held = outlets();
        let begun = std::time::Instant::now();
        for number in 0..CAPACITY + 500 {
            add(said(format!("line {number}")));
        }
        assert!(begun.elapsed() < Duration::from_secs(5), "{:?}", begun.elapsed());
        flush();
        let dropped = OUTLET.get().map_or(0, |outlet| outlet.dropped.load(Ordering::Relaxed));
        assert!((400..=500).contains(&dropped), "{dropped}");
        drop(held);
    }
}
