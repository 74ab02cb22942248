//! From tokens to text: tokens end in the middle of letters, pieces do not.

/// Where a plain conversation goes on with somebody else's words.
const PLAIN_END: &str = "\nUser:";

/// The text of a reply, as far as it is certain.
pub(super) struct Letters {
    /// Bytes of a letter that is not whole, or of what may become the end of a plain reply.
    waiting: Vec<u8>,
    ends_plainly: bool,
    has_ended: bool,
}

impl Letters {
    /// `ends_plainly`: whether the reply ends where another person's words would begin.
    pub(super) fn new(ends_plainly: bool) -> Self {
        Self { waiting: Vec::new(), ends_plainly, has_ended: false }
    }

    /// Adds bytes, and returns the text that is certain from now on.
    pub(super) fn add(&mut self, bytes: &[u8]) -> String {
        self.waiting.extend_from_slice(bytes);
        let mut text = String::new();
        loop {
            match std::str::from_utf8(&self.waiting) {
                Ok(whole) => {
                    text.push_str(whole);
                    self.waiting.clear();
                    break;
                }
                Err(error) => {
                    let (whole, rest) = self.waiting.split_at(error.valid_up_to());
                    text.push_str(&String::from_utf8_lossy(whole));
                    let wrong = letter_bytes(rest);
                    if error.error_len().is_none() || wrong.is_none() {
                        self.waiting = rest.to_vec();
                        break;
                    }
                    text.push(char::REPLACEMENT_CHARACTER);
                    self.waiting = rest.get(wrong.unwrap_or(1)..).unwrap_or_default().to_vec();
                }
            }
        }
        if self.ends_plainly { self.up_to_plain_end(text) } else { text }
    }

    fn up_to_plain_end(&mut self, mut text: String) -> String {
        if let Some(at) = text.find(PLAIN_END) {
            self.has_ended = true;
            self.waiting.clear();
            text.truncate(at);
            return text;
        }
        let begun =
            (1..PLAIN_END.len()).rev().find(|length| PLAIN_END.get(..*length).is_some_and(|end| text.ends_with(end)));
        if let Some(length) = begun {
            let held_back = text.split_off(text.len() - length);
            self.waiting.splice(0..0, held_back.into_bytes());
        }
        text
    }

    /// Whether nothing that follows belongs to the reply.
    pub(super) fn has_ended(&self) -> bool {
        self.has_ended
    }

    /// What was not certain, at the end of the reply.
    pub(super) fn rest(self) -> String {
        String::from_utf8_lossy(&self.waiting).into_owned()
    }
}

/// The bytes of the letter that a text begins with, whether such a letter exists or not: the grammar counts it as one, so it
/// becomes one. None: there are more to come.
fn letter_bytes(text: &[u8]) -> Option<usize> {
    let length = match text.first()? {
        0xc0..=0xdf => 2,
        0xe0..=0xef => 3,
        0xf0..=0xff => 4,
        _ => 1,
    };
    let follow = text.iter().skip(1).take(length - 1).take_while(|byte| matches!(byte, 0x80..=0xbf)).count();
    let is_open = follow + 1 < length && follow + 1 == text.len();
    (!is_open).then_some(follow + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_whole_letters_wherever_tokens_end() {
        let text = "Grüße 👋 ok";
        let mut letters = Letters::new(false);
        let pieces: Vec<String> = text.bytes().map(|byte| letters.add(&[byte])).collect();
        assert_eq!(pieces.concat(), text);
        assert_eq!(letters.rest(), "");
        let mut cut = Letters::new(false);
        assert_eq!(cut.add(&[b'a', 0xff, b'b', 0xc3]), "a\u{fffd}b");
        assert_eq!(cut.rest(), "\u{fffd}");
    }

    /// A string of at most two letters had eight, and was outside its schema.
    #[test]
    fn regression_a_letter_that_does_not_exist_became_four() {
        let mut letters = Letters::new(false);
        let pieces: Vec<String> = b"a\xf4\x90\x80\x80\xed\xa0\x80b".iter().map(|byte| letters.add(&[*byte])).collect();
        assert_eq!(pieces.concat(), "a\u{fffd}\u{fffd}b");
    }

    #[test]
    fn a_plain_reply_ends_where_somebody_else_would_speak() {
        let mut letters = Letters::new(true);
        let pieces: Vec<String> =
            ["Hello.\nUs", "eful.\n", "Use", "r: and?"].iter().map(|piece| letters.add(piece.as_bytes())).collect();
        assert_eq!(pieces.concat(), "Hello.\nUseful.");
        assert!(letters.has_ended());
        let mut open = Letters::new(true);
        assert_eq!((open.add(b"So\nUser").as_str(), open.rest().as_str()), ("So", "\nUser"));
    }
}
