//! What processes print, line by line, within bounds.

use std::io::Read;
use std::time::{Duration, Instant};

/// Longest line; what is longer is cut into several.
const MAX_LINE_BYTES: usize = 8 * 1024;

/// Most lines of one stream in a second; the others are counted and left out.
const MAX_LINES_PER_SECOND: u32 = 500;

/// How much is read at a time, so that one that prints without end does not keep the others waiting.
const CHUNK_BYTES: usize = 16 * 1024;

/// Where a line was printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stream {
    /// Standard output.
    Output,
    /// Standard error.
    Error,
}

/// One line of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Line<'a> {
    /// The name of the process.
    pub name: &'a str,
    /// Where it was printed.
    pub stream: Stream,
    /// The line without its end. What is no UTF-8 is replaced.
    pub text: &'a str,
}

/// Collects the lines of one stream.
#[derive(Debug)]
pub(crate) struct Lines {
    stream: Stream,
    rest: Vec<u8>,
    second: Instant,
    lines: u32,
    left_out: u64,
}

/// What came of an attempt to read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reading {
    /// There was something, and there may be more.
    More,
    /// There is nothing now.
    Nothing,
    /// There will be nothing more.
    End,
}

impl Lines {
    pub(crate) fn new(stream: Stream) -> Self {
        Self { stream, rest: Vec::new(), second: Instant::now(), lines: 0, left_out: 0 }
    }

    /// Reads once from a source that does not block.
    pub(crate) fn read(&mut self, source: &mut impl Read, name: &str, sink: &mut dyn FnMut(Line<'_>)) -> Reading {
        let mut chunk = [0; CHUNK_BYTES];
        match source.read(&mut chunk) {
            Ok(0) => {
                self.finish(name, sink);
                Reading::End
            }
            Ok(count) => {
                for byte in chunk.iter().take(count) {
                    if *byte == b'\n' {
                        self.emit(name, sink);
                    } else {
                        self.rest.push(*byte);
                        if self.rest.len() >= MAX_LINE_BYTES {
                            self.emit(name, sink);
                        }
                    }
                }
                Reading::More
            }
            Err(error) => match error.kind() {
                std::io::ErrorKind::WouldBlock | std::io::ErrorKind::Interrupted => Reading::Nothing,
                _ => Reading::End,
            },
        }
    }

    /// Gives out what was printed without the end of a line.
    pub(crate) fn finish(&mut self, name: &str, sink: &mut dyn FnMut(Line<'_>)) {
        if !self.rest.is_empty() {
            self.emit(name, sink);
        }
        self.tell_left_out(name, sink);
    }

    fn emit(&mut self, name: &str, sink: &mut dyn FnMut(Line<'_>)) {
        if self.second.elapsed() >= Duration::from_secs(1) {
            self.tell_left_out(name, sink);
            self.second = Instant::now();
            self.lines = 0;
        }
        self.lines = self.lines.saturating_add(1);
        if self.lines > MAX_LINES_PER_SECOND {
            self.left_out = self.left_out.saturating_add(1);
        } else {
            let text = String::from_utf8_lossy(&self.rest);
            sink(Line { name, stream: self.stream, text: text.trim_end_matches('\r') });
        }
        self.rest.clear();
    }

    fn tell_left_out(&mut self, name: &str, sink: &mut dyn FnMut(Line<'_>)) {
        if self.left_out > 0 {
            let text = format!("({} more lines were printed and left out)", self.left_out);
            sink(Line { name, stream: self.stream, text: &text });
            self.left_out = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(mut source: &[u8]) -> Vec<String> {
        let mut lines = Lines::new(Stream::Output);
        let mut found = Vec::new();
        while lines.read(&mut source, "a", &mut |line| found.push(line.text.to_owned())) == Reading::More {}
        found
    }

    #[test]
    fn lines_are_cut_where_they_end_and_nothing_is_lost_at_the_end() {
        assert_eq!(lines(b"one\r\ntwo\n\nthree"), ["one", "two", "", "three"]);
        assert_eq!(lines(b"\xff\xfe\n"), ["\u{fffd}\u{fffd}"]);
    }

    #[test]
    fn a_line_without_end_and_lines_without_number_stay_within_bounds() {
        let found = lines(&[b'x'; 3 * MAX_LINE_BYTES]);
        assert_eq!(found.iter().map(String::len).collect::<Vec<_>>(), [MAX_LINE_BYTES; 3]);
        let found = lines(&b"y\n".repeat(10_000));
        assert!(found.len() < 10_000 && found.last().is_some_and(|last| last.contains("left out")), "{}", found.len());
    }
}
