//! Brackets and quotes that are not closed. A parser of TOML notices them at the end of the text, or at every line
//! after the mistake; the person who writes needs the line where the bracket was opened.

use std::ops::Range;

/// Most brackets of one kind that may stand open. The parser calls itself for each of them, also where it looks for more
/// mistakes: a text with thousands ends the process.
const DEEPEST: usize = 100;

/// What is not closed, or closes nothing.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Unbalanced {
    pub(crate) span: Range<usize>,
    pub(crate) message: String,
    pub(crate) fix: String,
}

/// The bracket with which more stand open than a parser can follow. Quotes are not looked at, since in a text with
/// mistakes nobody knows where they end.
pub(crate) fn too_deep(text: &str) -> Option<Unbalanced> {
    let (mut square, mut curly) = (0_usize, 0_usize);
    for (at, character) in text.char_indices() {
        match character {
            '[' => square += 1,
            '{' => curly += 1,
            ']' => square = square.saturating_sub(1),
            '}' => curly = curly.saturating_sub(1),
            _ => {}
        }
        if square.max(curly) > DEEPEST {
            return Some(Unbalanced {
                span: at..at + 1,
                message: format!("with this '{character}' more than {DEEPEST} of them stand open"),
                fix: format!("write '{}' where each of those before it ends", partner(character)),
            });
        }
    }
    None
}

/// The first bracket or quote of a text that has no partner.
pub(crate) fn unbalanced(text: &str) -> Option<Unbalanced> {
    let mut open: Vec<(char, usize)> = Vec::new();
    let mut start = 0;
    // What a line ends with, where that is no comment and no space.
    let mut last = None;
    while start < text.len() {
        let rest = text.get(start..)?;
        let line = rest.lines().next().unwrap_or_default();
        let begins = start + (line.len() - line.trim_start().len());
        match open.last() {
            None if line.trim_start().starts_with('[') => {
                if let Some(found) = header(line.trim_start(), begins) {
                    return Some(found);
                }
                start += rest.find('\n').map_or(rest.len(), |end| end + 1);
                continue;
            }
            Some((bracket, at)) if begins_anew(line.trim(), *bracket, last) => return Some(unclosed(*bracket, *at)),
            _ => {}
        }
        let mut at = start;
        while let Some(next) = text.get(at..).and_then(|rest| rest.chars().next()) {
            match next {
                '\n' => break,
                '#' => at += text.get(at..)?.find('\n').unwrap_or(text.len() - at) - 1,
                '"' | '\'' => match end_of_text(text.get(at..)?, next) {
                    Some(length) => at += length - next.len_utf8(),
                    None => return Some(unclosed_text(next, at)),
                },
                '[' | '{' => open.push((next, at)),
                ']' | '}' => match open.pop() {
                    Some((bracket, _)) if partner(bracket) == next => {}
                    Some((bracket, opened)) => return Some(unclosed(bracket, opened)),
                    None => return Some(closes_nothing(next, at)),
                },
                _ => {}
            }
            if !next.is_whitespace() && next != '#' {
                last = Some(next);
            }
            at += next.len_utf8();
        }
        start = at + 1;
    }
    open.pop().map(|(bracket, at)| unclosed(bracket, at))
}

/// The name of a table, `[components.base]`: it is closed in its line.
fn header(line: &str, at: usize) -> Option<Unbalanced> {
    let mut depth = 0_usize;
    let mut rest = line;
    while let Some(next) = rest.chars().next() {
        let length = match next {
            '#' => break,
            '"' | '\'' => match end_of_text(rest, next) {
                Some(length) => length,
                None => return Some(unclosed_text(next, at + (line.len() - rest.len()))),
            },
            '[' => {
                depth += 1;
                1
            }
            ']' if depth == 0 => return Some(closes_nothing(']', at + (line.len() - rest.len()))),
            ']' => {
                depth -= 1;
                1
            }
            other => other.len_utf8(),
        };
        rest = rest.get(length..).unwrap_or_default();
    }
    (depth > 0).then(|| unclosed('[', at))
}

/// How many bytes a text in quotes takes. None: it is not closed.
fn end_of_text(rest: &str, quote: char) -> Option<usize> {
    let triple = quote.to_string().repeat(3);
    let (opens, is_long) = if rest.starts_with(&triple) { (3, true) } else { (1, false) };
    let mut is_escaped = false;
    for (at, next) in rest.char_indices().skip(opens) {
        if next == '\n' && !is_long {
            return None;
        }
        if is_escaped {
            is_escaped = false;
        } else if next == '\\' && quote == '"' {
            is_escaped = true;
        } else if is_long && rest.get(at..).is_some_and(|end| end.starts_with(&triple)) {
            return Some(at + 3);
        } else if !is_long && next == quote {
            return Some(at + 1);
        }
    }
    None
}

/// Whether a line can't belong to the bracket that is open: it is the name of a table, or a key with a value where none
/// can stand.
fn begins_anew(line: &str, bracket: char, last: Option<char>) -> bool {
    if line.starts_with('[') {
        let inner = line.trim_start_matches('[');
        let name = inner.split(']').next().unwrap_or_default();
        let is_value = ["true", "false", "inf", "nan"].contains(&name.trim());
        return inner.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
            && !is_value
            && inner.contains(']')
            && !name.contains([',', '=', '{', '[']);
    }
    let is_key = line.split_once('=').is_some_and(|(key, _)| {
        let bare = |next: char| next.is_ascii_alphanumeric() || "_-. \"".contains(next);
        !key.trim().is_empty() && !key.starts_with('"') && key.chars().all(bare)
    });
    is_key && (bracket == '[' || !matches!(last, Some(',' | '{')))
}

fn partner(bracket: char) -> char {
    if bracket == '[' { ']' } else { '}' }
}

fn unclosed(bracket: char, at: usize) -> Unbalanced {
    Unbalanced {
        span: at..at + 1,
        message: format!("this '{bracket}' is never closed"),
        fix: format!("write '{}' where it ends", partner(bracket)),
    }
}

fn closes_nothing(bracket: char, at: usize) -> Unbalanced {
    let opens = if bracket == ']' { '[' } else { '{' };
    Unbalanced {
        span: at..at + 1,
        message: format!("this '{bracket}' closes nothing"),
        fix: format!("take it out, or write '{opens}' where it begins"),
    }
}

fn unclosed_text(quote: char, at: usize) -> Unbalanced {
    Unbalanced {
        span: at..at + 1,
        message: "this text is never closed".to_owned(),
        fix: format!("write {quote} at its end, in the same line"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_balanced_is_left_alone() {
        for text in [
            "",
            "a = [\n  [1, 2],\n  [true],\n  [\"x\"]\n]\n",
            "a = { b = \"}\", c = ']' } # }\n[x.\"]\"]\n[[y]]\nz = \"\"\"\n[\n\"\"\"\n",
            "a = { b = 1,\n  c = 2 }\n",
            "a = \"\\\"\" # \"\nb = '\\'\nü = \"ü\"\n",
        ] {
            assert_eq!(unbalanced(text), None, "{text}");
        }
    }

    /// 4,900 unclosed braces overflowed the stack of the thread that read them.
    #[test]
    fn regression_a_recipe_with_thousands_of_open_brackets_ended_the_process() {
        for (piece, message) in [
            ("start = { program = \"x\"]\n\n[components.camera]\n", "more than 100 of them stand open"),
            ("a = [[", "more than 100 of them stand open"),
        ] {
            let problems = crate::Recipe::read(&piece.repeat(5_000)).unwrap_err();
            assert!(problems.show("a.toml").to_string().contains(message), "{piece}");
        }
        let nested = format!("recipe = 1\n[cortex]\na = {}1{}\n", "[".repeat(50), "]".repeat(50));
        assert!(crate::Recipe::read(&nested).is_ok(), "what a parser follows is read");
    }

    #[test]
    fn no_text_makes_it_panic_and_its_places_are_within_the_text() {
        let pieces = ["[", "]", "{", "}", "\"", "'", "\"\"\"", "\n", "#", "ü", "a = ", "\\", " "];
        for first in pieces {
            for second in pieces {
                for third in pieces {
                    for fourth in pieces {
                        let text = [first, second, third, fourth].concat();
                        if let Some(found) = unbalanced(&text) {
                            assert!(text.get(found.span).is_some(), "{text:?}");
                        }
                    }
                }
            }
        }
    }
}
