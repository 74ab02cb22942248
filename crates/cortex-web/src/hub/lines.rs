//! The newest lines of the log of the robot's nodes, each encoded once, for all pages.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cortex_core::LogStream;
use cortex_protocol::LogLine;

use super::json;

/// Most lines of one frame; also what a page is given when it opens.
pub(crate) const FRAME_LINES: usize = 500;

/// The newest lines. A place counts the lines before it.
#[derive(Default)]
pub(crate) struct Lines(Mutex<Kept>);

#[derive(Default)]
struct Kept {
    /// The place after the newest one.
    end: u64,
    lines: VecDeque<Arc<str>>,
}

/// Lines for a page.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct NewLines {
    /// The newest ones, the oldest of them first.
    pub(crate) lines: Vec<Arc<str>>,
    /// How many before them are left out: a page that does not keep up has the newest.
    pub(crate) left_out: u64,
}

impl Lines {
    /// Adds the newest one, and returns the place after it.
    pub(crate) fn add(&self, line: &LogLine) -> u64 {
        let mut kept = self.kept();
        kept.lines.push_back(json(line).into());
        if kept.lines.len() > FRAME_LINES {
            kept.lines.pop_front();
        }
        kept.end += 1;
        kept.end
    }

    /// Lines that were lost before they came here.
    pub(crate) fn skip(&self, count: u64) {
        let mut kept = self.kept();
        kept.end += count;
        // They lie between those that are there and the next one.
        kept.lines.clear();
    }

    /// What lies between two places.
    pub(crate) fn between(&self, begin: u64, end: u64) -> NewLines {
        let kept = self.kept();
        let first = kept.end - kept.lines.len() as u64;
        let from = begin.max(first).min(end);
        let skipped = usize::try_from(from.saturating_sub(first)).unwrap_or(usize::MAX);
        let count = usize::try_from(end.saturating_sub(from)).unwrap_or(usize::MAX);
        let lines = kept.lines.iter().skip(skipped).take(count).cloned().collect();
        NewLines { lines, left_out: from.saturating_sub(begin) }
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The next line; waits for ever where no log is read.
pub(super) async fn next(stream: &mut Option<Box<dyn LogStream>>) -> Option<(Arc<LogLine>, u64)> {
    let Some(lines) = stream else { return std::future::pending().await };
    let line = lines.next().await?;
    Some((line, lines.missed()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use cortex_protocol::LogLevel;

    fn line(at_ms: u64) -> LogLine {
        LogLine { at_ms, level: LogLevel::Warn, node: "base".into(), text: "slips".into(), count: 1 }
    }

    #[test]
    fn a_page_that_keeps_up_gets_each_line_and_another_one_the_newest() {
        let lines = Lines::default();
        assert_eq!(lines.between(0, 0), NewLines::default());
        for at_ms in 0..2_000 {
            lines.add(&line(at_ms));
        }
        let new = lines.between(1_999, 2_000);
        assert_eq!((new.lines.len(), new.left_out), (1, 0));
        assert_eq!(&*new.lines[0], r#"{"at_ms":1999,"level":"warn","node":"base","text":"slips","count":1}"#);
        let slow = lines.between(100, 2_000);
        assert_eq!((slow.lines.len(), slow.left_out), (FRAME_LINES, 1_400));
        // What came after the frame is for the next one.
        assert_eq!(lines.between(1_900, 1_950).lines.len(), 50);
        lines.skip(10);
        lines.add(&line(2_000));
        let after_gap = lines.between(2_000, 2_011);
        assert_eq!((after_gap.lines.len(), after_gap.left_out), (1, 10));
    }
}
