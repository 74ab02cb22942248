//! What a node says, so that it can be shown: it may be anything.

/// Most bytes of a name and of a text. What is longer is cut, and says so.
const NAME_BYTES: usize = 200;
const TEXT_BYTES: usize = 2_000;
/// Most lines of a text.
const TEXT_LINES: usize = 40;
/// A stamp so far from the time at which the line came is that of a clock that is wrong, or simulated.
const EARLIER_MS: u64 = 60_000;
const LATER_MS: u64 = 2_000;

/// The name of a logger.
pub(super) fn name(text: &str) -> String {
    let (name, _) = plain(text, NAME_BYTES, 1);
    if name.trim().is_empty() { "(no name)".to_owned() } else { name }
}

/// The text of a line.
pub(super) fn cleaned(text: &str) -> String {
    let (mut shown, read) = plain(text, TEXT_BYTES, TEXT_LINES);
    shown.truncate(shown.trim_end().len());
    if read < text.len() {
        shown.push_str(&format!("… ({} more bytes)", text.len() - read));
    }
    shown
}

/// When a line was logged, in milliseconds since 1970, in the clock of this machine.
pub(super) fn stamped(stamp_ns: i128, now_ms: u64) -> u64 {
    let stamp = u64::try_from(stamp_ns / 1_000_000).ok();
    let is_near = |stamp: &u64| (now_ms.saturating_sub(EARLIER_MS)..=now_ms.saturating_add(LATER_MS)).contains(stamp);
    stamp.filter(is_near).unwrap_or(now_ms)
}

/// The beginning of a text, without what steers a terminal, and how many bytes of it were read.
fn plain(text: &str, most_bytes: usize, most_lines: usize) -> (String, usize) {
    let mut plain = String::new();
    let (mut lines, mut letters) = (1, text.char_indices().peekable());
    while let Some((at, letter)) = letters.next() {
        match letter {
            '\u{1b}' => {
                if letters.next_if(|(_, letter)| *letter == '[').is_some() {
                    // Parameters, then one letter.
                    while letters.next_if(|(_, letter)| matches!(letter, ' '..='?')).is_some() {}
                    let _ = letters.next_if(|(_, letter)| matches!(letter, '@'..='~'));
                }
                continue;
            }
            '\n' if lines < most_lines => {
                lines += 1;
                plain.push('\n');
            }
            '\n' => return (plain, at),
            '\t' => plain.push(' '),
            letter if letter.is_control() => {}
            letter => plain.push(letter),
        }
        if plain.len() > most_bytes {
            plain.pop();
            return (plain, at);
        }
    }
    (plain, text.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_steers_a_terminal_is_left_out_and_lines_stay() {
        for (text, shown) in [
            ("rolls", "rolls"),
            ("\u{1b}[31mhot\u{1b}[0m", "hot"),
            ("a\r\n\tb\0\u{7}\u{9b}c\n", "a\n bc"),
            ("\u{1b}]0;title\u{7}x", "]0;titlex"),
            ("<script>ä\u{202e}", "<script>ä\u{202e}"),
            ("", ""),
        ] {
            assert_eq!(cleaned(text), shown, "{text:?}");
        }
    }

    #[test]
    fn long_texts_are_cut_between_letters_and_say_so() {
        let shown = cleaned(&"ä".repeat(5_000));
        assert_eq!(shown, format!("{}… (8000 more bytes)", "ä".repeat(1_000)));
        let shown = cleaned(&"x\n".repeat(50));
        assert_eq!(shown.lines().count(), TEXT_LINES);
        assert!(shown.ends_with("x… (21 more bytes)"), "{shown}");
        assert_eq!(name(&"n".repeat(10_000)).len(), NAME_BYTES);
        assert_eq!((name("a\nb").as_str(), name("\u{1b}[1m \0").as_str()), ("a", "(no name)"));
    }

    #[test]
    fn a_clock_that_is_wrong_orders_no_lines() {
        let now = 1_790_000_000_000;
        let stamp = |ms: i128| stamped(ms * 1_000_000, now);
        assert_eq!(stamp(1_790_000_000_000 - 9_000), now - 9_000);
        for wrong in [0, -5, 1_790_000_000_000 + 3_600_000, 1_790_000_000_000 - 3_600_000, i128::from(i64::MAX)] {
            assert_eq!(stamp(wrong), now, "{wrong}");
        }
    }
}
