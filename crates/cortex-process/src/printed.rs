//! What a process prints, as the log has it.
//!
//! Nodes print their log, as `rclcpp` and `rclpy` do: `[INFO] [1790000000.123456789] [base]: text`, in colours of their own.
//! Such a line keeps its level, and is marked as one that `/rosout` has from the node itself.

use tracing::Level;

/// A line as it is logged.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Printed {
    /// None where the line does not say.
    pub(crate) level: Option<Level>,
    /// Without colours, and without what stands before the text of a line of a node's log.
    pub(crate) text: String,
}

impl Printed {
    pub(crate) fn read(line: &str) -> Self {
        let line = without_colours(line);
        match logged(&line) {
            Some((level, text)) => Self { level: Some(level), text: text.to_owned() },
            None => Self { level: None, text: line },
        }
    }
}

/// Level and text of a line of a node's log.
fn logged(line: &str) -> Option<(Level, &str)> {
    let (level, rest) = line.strip_prefix('[')?.split_once("] [")?;
    let level = match level {
        "DEBUG" => Level::DEBUG,
        "INFO" => Level::INFO,
        "WARN" => Level::WARN,
        "ERROR" | "FATAL" => Level::ERROR,
        _ => return None,
    };
    let (stamp, rest) = rest.split_once("] [")?;
    if stamp.is_empty() || !stamp.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.') {
        return None;
    }
    let (_, text) = rest.split_once("]: ")?;
    Some((level, text))
}

/// The text without the sequences that steer a terminal.
fn without_colours(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        if letter != '\u{1b}' {
            plain.push(letter);
        } else if letters.next_if_eq(&'[').is_some() {
            // Parameters, then one letter.
            while letters.next_if(|letter| matches!(letter, ' '..='?')).is_some() {}
            let _ = letters.next_if(|letter| matches!(letter, '@'..='~'));
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_a_nodes_log_keeps_its_level_and_loses_its_colours() {
        for (line, level, text) in [
            ("[INFO] [1790000000.123456789] [base]: rolls", Some(Level::INFO), "rolls"),
            ("\u{1b}[33m[WARN] [1790000000.123456789] [robot1.base]: slips: 3\u{1b}[0m", Some(Level::WARN), "slips: 3"),
            ("[FATAL] [1.5] [base]: ", Some(Level::ERROR), ""),
            ("Traceback (most recent call last):", None, "Traceback (most recent call last):"),
            ("[INFO] base is ready", None, "[INFO] base is ready"),
            ("[LOUD] [1.5] [base]: x", None, "[LOUD] [1.5] [base]: x"),
            ("[INFO] [now] [base]: x", None, "[INFO] [now] [base]: x"),
            ("\u{1b}[1;31mbad\u{1b}[0m \u{1b}", None, "bad "),
            ("\u{1b}[38;5;", None, ""),
        ] {
            assert_eq!(Printed::read(line), Printed { level, text: text.to_owned() }, "{line}");
        }
    }
}
