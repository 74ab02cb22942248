//! Server-sent events, as an endpoint streams its reply: the bytes become the texts of their `data` fields.
//! After the HTML standard, section 9.2 (server-sent events).

/// Cuts a stream of bytes into events. Whoever feeds it bounds its memory.
#[derive(Debug, Default)]
pub(super) struct Events {
    /// The line that has not ended yet.
    line: Vec<u8>,
    /// Whether the last line ended with CR: an LF that follows belongs to it.
    ended_with_cr: bool,
    /// The data of the event that has not ended yet.
    data: Option<Vec<u8>>,
}

impl Events {
    /// Takes the next bytes, and hands on the data of each event that they end.
    pub(super) fn take(&mut self, bytes: &[u8], mut event: impl FnMut(&[u8])) {
        for &byte in bytes {
            let follows_cr = std::mem::take(&mut self.ended_with_cr);
            match byte {
                b'\n' if follows_cr => {}
                b'\n' | b'\r' => {
                    self.ended_with_cr = byte == b'\r';
                    self.end_line(&mut event);
                }
                _ => self.line.push(byte),
            }
        }
    }

    /// Hands on an event that no empty line has ended; servers have been seen to forget it.
    pub(super) fn finish(mut self, mut event: impl FnMut(&[u8])) {
        self.end_line(&mut event);
        if let Some(data) = self.data.take() {
            event(&data);
        }
    }

    fn end_line(&mut self, event: &mut impl FnMut(&[u8])) {
        let line = std::mem::take(&mut self.line);
        if line.is_empty() {
            if let Some(data) = self.data.take() {
                event(&data);
            }
            return;
        }
        // Comments, which keep a connection alive, and other fields say nothing of the reply.
        let Some(value) = line.strip_prefix(b"data:") else { return };
        let value = value.strip_prefix(b" ").unwrap_or(value);
        match &mut self.data {
            None => self.data = Some(value.to_vec()),
            Some(data) => {
                data.push(b'\n');
                data.extend_from_slice(value);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(pieces: &[&[u8]]) -> Vec<String> {
        let (mut events, mut read) = (Events::default(), Vec::new());
        for piece in pieces {
            events.take(piece, |data| read.push(String::from_utf8_lossy(data).into_owned()));
        }
        events.finish(|data| read.push(String::from_utf8_lossy(data).into_owned()));
        read
    }

    #[test]
    fn events_are_read_whatever_their_line_ends_and_wherever_they_are_cut() {
        let text = "data: {\"a\":\r\ndata: 1}\r\n\r\n: still here\n\nevent: x\ndata:two\nid: 7\n\ndata: ü\r\r\ndata: [DONE]\n\n";
        let expected = ["{\"a\":\n1}", "two", "ü", "[DONE]"];
        assert_eq!(read(&[text.as_bytes()]), expected);
        for at in 0..text.len() {
            let (one, other) = text.as_bytes().split_at(at);
            assert_eq!(read(&[one, other]), expected, "cut at {at}");
        }
        let bytes: Vec<&[u8]> = text.as_bytes().chunks(1).collect();
        assert_eq!(read(&bytes), expected, "a byte at a time");
    }

    #[test]
    fn the_last_event_needs_no_empty_line() {
        assert_eq!(read(&[b"data: one\n\ndata: two"]), ["one", "two"]);
        assert_eq!(read(&[b""]), Vec::<String>::new());
        assert_eq!(read(&[b"data:\n\n"]), [""]);
    }
}
