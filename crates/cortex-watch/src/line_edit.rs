//! A line that is typed.

use crossterm::event::KeyCode;
use unicode_segmentation::UnicodeSegmentation as _;

use crate::text::visible;

/// The line before the cursor and behind it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LineEdit {
    before: String,
    behind: String,
    most_bytes: usize,
}

impl LineEdit {
    /// An empty line that takes so many bytes.
    pub(crate) fn new(most_bytes: usize) -> Self {
        Self { before: String::new(), behind: String::new(), most_bytes }
    }

    /// The whole line.
    #[must_use]
    pub(crate) fn text(&self) -> String {
        format!("{}{}", self.before, self.behind)
    }

    /// What is before the cursor, and what is behind it.
    pub(crate) fn parts(&self) -> (&str, &str) {
        (&self.before, &self.behind)
    }

    /// Puts text at the cursor, as much as there is room for.
    pub(crate) fn insert(&mut self, text: &str) {
        for letter in visible(text).chars() {
            if self.before.len() + self.behind.len() + letter.len_utf8() > self.most_bytes {
                return;
            }
            self.before.push(letter);
        }
    }

    /// Takes a key.
    pub(crate) fn press(&mut self, code: KeyCode) {
        match code {
            KeyCode::Char(letter) => self.insert(letter.encode_utf8(&mut [0; 4])),
            KeyCode::Backspace => {
                self.take_last();
            }
            KeyCode::Delete => {
                self.take_first();
            }
            KeyCode::Left => {
                let letters = self.take_last();
                self.behind.insert_str(0, &letters);
            }
            KeyCode::Right => {
                let letters = self.take_first();
                self.before.push_str(&letters);
            }
            KeyCode::Home => {
                self.behind.insert_str(0, &self.before);
                self.before.clear();
            }
            KeyCode::End => {
                self.before.push_str(&self.behind);
                self.behind.clear();
            }
            _ => {}
        }
    }

    fn take_last(&mut self) -> String {
        let at = self.before.grapheme_indices(true).next_back().map_or(0, |(at, _)| at);
        self.before.split_off(at)
    }

    fn take_first(&mut self) -> String {
        let at = self.behind.graphemes(true).next().map_or(0, str::len);
        let behind = self.behind.split_off(at);
        std::mem::replace(&mut self.behind, behind)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_edited_by_whole_letters_and_holds_nothing_hostile() {
        let mut line = LineEdit::new(64);
        line.insert("go\u{1b}[2J 👩\u{200d}🚀");
        line.press(KeyCode::Backspace);
        assert_eq!(line.text(), "go[2J ");
        for _ in 0..4 {
            line.press(KeyCode::Left);
        }
        line.press(KeyCode::Delete);
        line.press(KeyCode::Char('é'));
        line.press(KeyCode::Home);
        line.press(KeyCode::Right);
        assert_eq!(line.parts(), ("g", "oé2J "));
    }

    #[test]
    fn a_full_line_takes_no_more_and_no_half_letters() {
        let mut line = LineEdit::new(4);
        line.insert("日本");
        assert_eq!(line.text(), "日");
    }
}
