//! One line of the log, made of what was said and of what is known besides.

use std::fmt::{self, Write as _};
use std::time::{SystemTime, UNIX_EPOCH};

use tracing::field::{Field, Visit};
use tracing::{Level, Metadata};

/// Most bytes of a line. What is longer is cut.
const LONGEST: usize = 16 << 10;
/// The field that says of a line that `/rosout` has it from elsewhere.
const ROSOUT: &str = "rosout";

/// One line of the log.
#[derive(Debug, Clone)]
pub(super) struct Line {
    pub(super) at: SystemTime,
    pub(super) level: Level,
    /// The module that it comes from.
    pub(super) target: &'static str,
    pub(super) file: &'static str,
    pub(super) line: u32,
    pub(super) text: String,
    /// Whether it is for `/rosout`, too.
    pub(super) for_rosout: bool,
}

/// The fields of an event or a span.
#[derive(Debug, Clone, Default)]
pub(super) struct Fields {
    message: String,
    others: Vec<(&'static str, String)>,
    elsewhere: bool,
}

impl Fields {
    /// The text with all fields: first the message, then those of the event, then those of the spans that it is in, the
    /// innermost first. A name stands once.
    pub(super) fn text<'a>(&'a self, spans: impl Iterator<Item = &'a Self>) -> String {
        let mut shown: Vec<&str> = Vec::new();
        let mut text = plain(&self.message);
        for (name, value) in std::iter::once(self).chain(spans).flat_map(|fields| &fields.others) {
            if !shown.contains(name) {
                shown.push(name);
                let _ = write!(text, " {name}={}", plain(value));
            }
        }
        cut(text)
    }

    fn add(&mut self, field: &Field, value: String) {
        match field.name() {
            "message" => self.message = value,
            // What the bridge from the crate `log` notes of the place.
            name if name.starts_with("log.") => {}
            name => match self.others.iter_mut().find(|(known, _)| *known == name) {
                Some((_, known)) => *known = value,
                None => self.others.push((name, value)),
            },
        }
    }
}

impl Visit for Fields {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.add(field, format!("{value:?}"));
    }

    /// In quotes where it would not be seen where it ends.
    fn record_str(&mut self, field: &Field, value: &str) {
        let is_word = !value.is_empty() && !value.contains([' ', '"', '=', '\n', '\t']);
        let is_plain = is_word || field.name() == "message";
        self.add(field, if is_plain { value.to_owned() } else { format!("{value:?}") });
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        if field.name() == ROSOUT {
            self.elsewhere = !value;
        } else {
            self.add(field, value.to_string());
        }
    }
}

impl Line {
    pub(super) fn new(metadata: &'static Metadata<'static>, fields: &Fields, text: String) -> Self {
        Self {
            at: SystemTime::now(),
            level: *metadata.level(),
            target: metadata.target(),
            file: metadata.file().unwrap_or_default(),
            line: metadata.line().unwrap_or_default(),
            text,
            for_rosout: !fields.elsewhere,
        }
    }

    /// As ROS prints it: `[INFO] [1790000000.123456789] [cortex]: text`. Further lines of the text are indented, so that none
    /// can be taken for a line of its own.
    pub(super) fn printed(&self, name: &str) -> String {
        let since = self.at.duration_since(UNIX_EPOCH).unwrap_or_default();
        let level = match self.level {
            Level::ERROR => "ERROR",
            Level::WARN => "WARN",
            Level::INFO => "INFO",
            Level::DEBUG | Level::TRACE => "DEBUG",
        };
        let text = self.text.replace('\n', "\n    ");
        format!("[{level}] [{}.{:09}] [{name}]: {text}", since.as_secs(), since.subsec_nanos())
    }

    /// The same in the colour of its level, as ROS colours it.
    pub(super) fn coloured(&self, name: &str) -> String {
        let colour = match self.level {
            Level::ERROR => 31,
            Level::WARN => 33,
            Level::INFO => return self.printed(name),
            Level::DEBUG | Level::TRACE => 32,
        };
        format!("\u{1b}[{colour}m{}\u{1b}[0m", self.printed(name))
    }
}

/// The text with what steers a terminal written out.
fn plain(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    for letter in text.chars() {
        if letter.is_control() && !matches!(letter, '\n' | '\t') {
            plain.extend(letter.escape_default());
        } else {
            plain.push(letter);
        }
    }
    plain
}

fn cut(mut text: String) -> String {
    if text.len() > LONGEST {
        let end = (0..=LONGEST).rev().find(|at| text.is_char_boundary(*at)).unwrap_or_default();
        let left_out = text.len() - end;
        text.truncate(end);
        let _ = write!(text, "… ({left_out} more bytes)");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields(message: &str, others: &[(&'static str, &str)]) -> Fields {
        let others = others.iter().map(|(name, value)| (*name, (*value).to_owned())).collect();
        Fields { message: message.to_owned(), others, elsewhere: false }
    }

    fn line(level: Level, text: &str) -> Line {
        let at = UNIX_EPOCH + std::time::Duration::new(7, 5);
        Line { at, level, target: "t", file: "f", line: 1, text: text.to_owned(), for_rosout: true }
    }

    #[test]
    fn what_event_and_spans_say_stands_once() {
        let event = fields("step 1 begins", &[("mission", "a1")]);
        let spans = [fields("", &[("step", "1"), ("mission", "a1")]), fields("", &[("mission", "a1"), ("robot", "r")])];
        assert_eq!(event.text(spans.iter()), "step 1 begins mission=a1 step=1 robot=r");
    }

    #[test]
    fn a_line_looks_as_ros_prints_it_and_nothing_in_it_passes_for_another() {
        assert_eq!(line(Level::INFO, "hello").printed("base"), "[INFO] [7.000000005] [base]: hello");
        assert_eq!(line(Level::TRACE, "x").printed("base"), "[DEBUG] [7.000000005] [base]: x");
        assert!(line(Level::ERROR, "x").coloured("base").starts_with("\u{1b}[31m[ERROR]"));
        let text = fields("a\n[FATAL] [1.0] [base]: b \u{1b}[31m\r\0", &[]).text(std::iter::empty());
        let printed = line(Level::INFO, &text).printed("cortex");
        assert_eq!(printed, "[INFO] [7.000000005] [cortex]: a\n    [FATAL] [1.0] [base]: b \\u{1b}[31m\\r\\u{0}");
    }

    #[test]
    fn a_line_without_end_is_cut_between_letters() {
        let text = fields(&"ä".repeat(LONGEST), &[]).text(std::iter::empty());
        assert!(text.len() < LONGEST + 40 && text.ends_with("… (16384 more bytes)"), "{}", text.len());
    }
}
