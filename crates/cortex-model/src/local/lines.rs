//! Lines of a process, none longer than is borne.

use std::io;

use tokio::io::{AsyncBufReadExt as _, AsyncRead, BufReader};

/// Why there is no further line.
#[derive(Debug)]
pub(super) enum NoLine {
    /// The other side has closed.
    Ended,
    /// The line has no end within what is borne.
    TooLong,
    /// It can't be read.
    Unreadable(io::Error),
}

/// Reads lines. Dropping a future of [`next`](Self::next) loses nothing.
pub(super) struct Lines<R> {
    reader: BufReader<R>,
    line: Vec<u8>,
    most: usize,
}

impl<R: AsyncRead + Unpin> Lines<R> {
    /// Lines of at most so many bytes, their ends not counted.
    pub(super) fn new(reader: R, most: usize) -> Self {
        Self { reader: BufReader::new(reader), line: Vec::new(), most }
    }

    /// The next line, without its end. What stands after the last one is none: its writer died within it.
    pub(super) async fn next(&mut self) -> Result<Vec<u8>, NoLine> {
        loop {
            let available = self.reader.fill_buf().await.map_err(NoLine::Unreadable)?;
            if available.is_empty() {
                return Err(NoLine::Ended);
            }
            let end = available.iter().position(|byte| *byte == b'\n');
            let part = available.get(..end.unwrap_or(available.len())).unwrap_or_default();
            if self.line.len() + part.len() > self.most {
                return Err(NoLine::TooLong);
            }
            self.line.extend_from_slice(part);
            let read = part.len() + usize::from(end.is_some());
            self.reader.consume(read);
            if end.is_some() {
                return Ok(std::mem::take(&mut self.line));
            }
        }
    }

    /// The beginning of a line of which [`next`](Self::next) said that it is too long. The rest is read and left out.
    pub(super) async fn beginning(&mut self) -> Result<Vec<u8>, NoLine> {
        loop {
            let available = self.reader.fill_buf().await.map_err(NoLine::Unreadable)?;
            let is_last = available.is_empty();
            let end = available.iter().position(|byte| *byte == b'\n');
            let part = available.get(..end.unwrap_or(available.len())).unwrap_or_default();
            let room = self.most.saturating_sub(self.line.len());
            self.line.extend_from_slice(part.get(..room).unwrap_or(part));
            let read = part.len() + usize::from(end.is_some());
            self.reader.consume(read);
            if is_last || end.is_some() {
                return Ok(std::mem::take(&mut self.line));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn lines_come_whole_or_not_at_all() {
        let mut lines = Lines::new(&b"one\n\nthree\ncut"[..], 5);
        for expected in ["one", "", "three"] {
            assert_eq!(lines.next().await.unwrap(), expected.as_bytes());
        }
        assert!(matches!(lines.next().await, Err(NoLine::Ended)), "a line that its writer did not end is none");
        let mut endless = Lines::new(tokio::io::repeat(b'x'), 100_000);
        assert!(matches!(endless.next().await, Err(NoLine::TooLong)));
    }

    #[tokio::test]
    async fn after_a_line_that_is_too_long_the_next_one_can_be_read() {
        // Buffers of three bytes: the beginning comes in parts.
        let text = &b"too long\nnext\nnever ends"[..];
        let mut lines = Lines { reader: BufReader::with_capacity(3, text), line: Vec::new(), most: 5 };
        assert!(matches!(lines.next().await, Err(NoLine::TooLong)));
        assert_eq!(lines.beginning().await.unwrap(), b"too l");
        assert_eq!(lines.next().await.unwrap(), b"next");
        assert!(matches!(lines.next().await, Err(NoLine::TooLong)));
        assert_eq!(lines.beginning().await.unwrap(), b"never");
        assert!(matches!(lines.next().await, Err(NoLine::Ended)));
    }
}
