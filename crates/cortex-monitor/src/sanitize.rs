//! Words of others, on their way to the log, to people and to models.

/// Characters that are kept.
const LONGEST: usize = 500;

/// The text as it can be shown: what moves the cursor, or turns the direction of reading, is a space, and it is no longer
/// than [`LONGEST`].
pub(crate) fn shown(text: &str) -> String {
    let cleaned: String = text.chars().map(|character| if is_plain(character) { character } else { ' ' }).collect();
    let words: Vec<&str> = cleaned.split_whitespace().collect();
    let words = words.join(" ");
    match words.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{} [...]", words.get(..end).unwrap_or_default()),
        None => words,
    }
}

fn is_plain(character: char) -> bool {
    let turns = matches!(character, '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    !character.is_control() && !turns
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_but_words_is_shown() {
        assert_eq!(shown("no\x1b[2J \0 path\n\u{202e}drow"), "no [2J path drow");
        assert_eq!(shown("the arm is too warm: 81 °C"), "the arm is too warm: 81 °C");
        assert_eq!(shown(&"x".repeat(100_000)).len(), LONGEST + " [...]".len());
    }
}
