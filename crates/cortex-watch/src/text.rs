//! Text of robots, models and people on its way to a terminal. Nothing in it may move the cursor, give the terminal
//! commands, turn the direction of reading, or hide.

use unicode_segmentation::UnicodeSegmentation as _;
use unicode_width::UnicodeWidthStr as _;

/// Most characters without a width that one letter may carry.
const MARKS: usize = 4;

/// Whether the character does something else than to show itself.
fn is_hostile(letter: char) -> bool {
    letter.is_control()
        || matches!(letter,
            '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' // direction
            | '\u{2028}' | '\u{2029}' // line and paragraph
            | '\u{200b}' | '\u{2060}'..='\u{2065}' | '\u{206a}'..='\u{206f}' | '\u{feff}' | '\u{ad}' | '\u{180e}' // unseen
            | '\u{fff0}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}')
}

/// Whether the text holds letters only.
pub(crate) fn is_clean(text: &str) -> bool {
    !text.chars().any(is_hostile)
}

/// The text in one line: white space is one space, and what does something else than to show itself is left out.
#[must_use]
pub(crate) fn one_line(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    for word in text.split(|letter: char| letter.is_whitespace()) {
        let word = visible(word);
        if !word.is_empty() {
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(&word);
        }
    }
    line
}

/// The text without what does something else than to show itself. Spaces stay as they are.
pub(crate) fn visible(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for letters in text.graphemes(true) {
        let kept = letters.chars().filter(|letter| !is_hostile(*letter));
        shown.extend(kept.take(1 + MARKS));
    }
    shown
}

/// JSON in one line, in which every character that does something else than to show itself is written as its number: what
/// people approve hides nothing. It is still the same JSON.
#[must_use]
pub(crate) fn exact_json(value: &impl serde::Serialize) -> String {
    // Only maps with other keys than texts cannot be written, and there are none.
    let json = serde_json::to_string(value).unwrap_or_default();
    let mut exact = String::with_capacity(json.len());
    for letter in json.chars() {
        if is_hostile(letter) {
            let mut units = [0; 2];
            for unit in letter.encode_utf16(&mut units) {
                exact.push_str(&format!("\\u{unit:04x}"));
            }
        } else {
            exact.push(letter);
        }
    }
    exact
}

/// How many columns the text takes.
pub(crate) fn width(text: &str) -> usize {
    text.width()
}

/// The text, cut to so many columns.
pub(crate) fn cut(text: &str, columns: usize) -> String {
    if width(text) <= columns {
        return text.to_owned();
    }
    let mut shown = String::new();
    let mut used = 1;
    for letters in text.graphemes(true) {
        used += width(letters);
        if used > columns {
            break;
        }
        shown.push_str(letters);
    }
    if columns > 0 {
        shown.push('…');
    }
    shown
}

/// The text in lines of so many columns, to the letter: no space is left out.
pub(crate) fn chop(text: &str, columns: usize) -> Vec<String> {
    let columns = columns.max(2);
    let (mut lines, mut line, mut used) = (Vec::new(), String::new(), 0);
    for letters in text.graphemes(true) {
        let wide = width(letters);
        if used + wide > columns {
            lines.push(std::mem::take(&mut line));
            used = 0;
        }
        line.push_str(letters);
        used += wide;
    }
    lines.push(line);
    lines
}

/// The text in lines of so many columns, broken between words where that goes.
pub(crate) fn wrap(text: &str, columns: usize) -> Vec<String> {
    let columns = columns.max(2);
    let (mut lines, mut line, mut used) = (Vec::new(), String::new(), 0);
    for word in text.split_word_bounds() {
        let wide = width(word);
        if used + wide > columns && used > 0 {
            lines.push(std::mem::take(&mut line).trim_end().to_owned());
            used = 0;
        }
        if used == 0 && word.trim().is_empty() {
            continue;
        }
        if wide <= columns {
            line.push_str(word);
            used += wide;
            continue;
        }
        for letters in word.graphemes(true) {
            let wide = width(letters);
            if used + wide > columns {
                lines.push(std::mem::take(&mut line));
                used = 0;
            }
            line.push_str(letters);
            used += wide;
        }
    }
    if !line.trim().is_empty() || lines.is_empty() {
        lines.push(line.trim_end().to_owned());
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_of_a_hostile_text_reaches_the_terminal_but_letters() {
        let hostile =
            "cup\u{1b}]0;owned\u{7}\u{1b}[2J\r\n\u{9b}31m \u{202e}nekat\u{2066} a\u{200b}\u{feff}b\u{7f}\u{0}\u{e0041}";
        assert_eq!(one_line(hostile), "cup]0;owned[2J 31m nekat ab");
        let piled = format!("o{}", "\u{301}".repeat(1_000));
        assert_eq!(one_line(&piled).chars().count(), 1 + MARKS);
        // Scripts keep their joiners.
        assert_eq!(one_line("می\u{200c}خواهم  👩\u{200d}🚀"), "می\u{200c}خواهم 👩\u{200d}🚀");
    }

    #[test]
    fn json_that_is_approved_hides_nothing_and_stays_the_same() {
        let value = serde_json::json!({"place": "kit\u{202e}chen\u{1b}[2J\u{9b}\u{e0041}"});
        let exact = exact_json(&value);
        assert_eq!(exact, r#"{"place":"kit\u202echen\u001b[2J\u009b\udb40\udc41"}"#);
        assert_eq!(serde_json::from_str::<serde_json::Value>(&exact).unwrap(), value);
    }

    #[test]
    fn lines_are_as_wide_as_they_may_be() {
        assert_eq!(cut("kitchen", 7), "kitchen");
        assert_eq!(cut("kitchen", 4), "kit…");
        assert_eq!(cut("日本語", 4), "日…");
        assert_eq!(wrap("go to the kitchen", 7), ["go to", "the", "kitchen"]);
        assert_eq!(wrap("abcdefghij k", 4), ["abcd", "efgh", "ij k"]);
        assert_eq!(wrap("", 4), [""]);
        assert_eq!(chop("a   b", 3), ["a  ", " b"]);
        for columns in 0..30 {
            let lines = wrap("日本語 and the kitchen, abcdefghijklmnopqrst 👩\u{200d}🚀", columns);
            assert!(lines.iter().all(|line| width(line) <= columns.max(2)), "{columns} {lines:?}");
        }
    }
}
