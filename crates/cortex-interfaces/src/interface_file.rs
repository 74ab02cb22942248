//! The text of an interface file (`.msg`, `.srv`, `.action`): what the compiled interface has lost.
//!
//! That are comments, constants, and whether a default was declared. The fields themselves are *not* taken from here: the
//! compiled interface is the truth, and a text that does not fit it adds nothing. Reading is lenient (a line that is not
//! understood is passed over) and bounded.
//!
//! Comments belong to elements as in ROS' own generators: those above an element and on its line, and indented ones
//! below it. The first block of a section describes the section, with one difference: a block that stands directly on
//! its first field describes that field instead if other fields of the section have blocks of their own, and both if
//! there is no other field; a `std_msgs/Header` never takes it.

use serde_json::Value;

use crate::model::{Constant, FieldKind};

/// Longer files are cut: the longest of the common packages has 12 kB.
pub(crate) const MAX_FILE_BYTES: u64 = 256 * 1024;
/// Longer descriptions are cut: they go to a model, each time.
const MAX_DESCRIPTION: usize = 1000;
/// More elements in one section are passed over.
const MAX_ELEMENTS: usize = 2000;

/// One part of an interface file. A message has one, a service two, an action three.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Section {
    /// What is said of the whole.
    pub(crate) description: String,
    /// Its fields.
    pub(crate) fields: Vec<FieldText>,
    /// Its constants.
    pub(crate) constants: Vec<Constant>,
}

/// What an interface file says of a field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FieldText {
    /// Its name.
    pub(crate) name: String,
    /// Its comments.
    pub(crate) description: String,
    /// The default, as it is written.
    pub(crate) default: Option<String>,
}

/// Reads the text of an interface file: its sections, in order.
pub(crate) fn parse(text: &str) -> Vec<Section> {
    let mut sections = Vec::new();
    let mut reader = SectionReader::default();
    for line in text.lines() {
        if line.trim_end() == "---" {
            sections.push(std::mem::take(&mut reader).finish());
        } else {
            reader.line(&line.replace('\t', " "));
        }
    }
    sections.push(reader.finish());
    sections
}

#[derive(Default)]
struct SectionReader {
    section: Section,
    /// Comments that stand above what comes next.
    pending: Vec<String>,
    /// Whether the pending block is the first thing in the section.
    pending_is_first: bool,
    /// The first block, if it stands directly on the first element.
    first_block: Option<String>,
    /// How many fields after the first have a block of their own.
    blocks_of_others: usize,
    first_is_header: bool,
    last: Option<Last>,
}

/// The element that an indented comment goes on with.
#[derive(Clone, Copy)]
enum Last {
    Field,
    Constant,
}

impl SectionReader {
    fn line(&mut self, line: &str) {
        let (code, comment) = match line.split_once('#') {
            Some((code, comment)) => (code, Some(comment.trim_start_matches('#').trim())),
            None => (line, None),
        };
        if !code.trim().is_empty() {
            return self.element(code.trim(), comment);
        }
        match comment {
            None => self.blank(),
            Some(comment) if !code.is_empty() && self.last.is_some() => self.append_to_last(comment),
            Some(comment) => {
                if self.pending.is_empty() {
                    self.pending_is_first = self.is_empty() && self.section.description.is_empty();
                }
                self.pending.push(comment.to_owned());
            }
        }
    }

    fn is_empty(&self) -> bool {
        self.section.fields.is_empty() && self.section.constants.is_empty()
    }

    /// An empty line ends a block; the first block then describes the section, and others describe nothing that could
    /// be named.
    fn blank(&mut self) {
        let block = joined(&std::mem::take(&mut self.pending));
        if self.pending_is_first {
            self.section.description = block;
            self.pending_is_first = false;
        }
        self.last = None;
    }

    fn append_to_last(&mut self, comment: &str) {
        let description = match self.last {
            Some(Last::Field) => self.section.fields.last_mut().map(|field| &mut field.description),
            Some(Last::Constant) => self.section.constants.last_mut().map(|constant| &mut constant.description),
            None => None,
        };
        if let Some(description) = description {
            *description = joined(&[std::mem::take(description), comment.to_owned()]);
        }
    }

    fn element(&mut self, code: &str, comment: Option<&str>) {
        let mut above = joined(&std::mem::take(&mut self.pending));
        if std::mem::take(&mut self.pending_is_first) {
            self.first_block = Some(std::mem::take(&mut above));
        }
        let has_block = !above.is_empty();
        let description = joined(&[above, String::new(), comment.unwrap_or_default().to_owned()]);
        self.last = None;
        if self.section.fields.len().saturating_add(self.section.constants.len()) >= MAX_ELEMENTS {
            return;
        }
        let Some((type_name, rest)) = code.split_once(' ') else { return };
        let rest = rest.trim_start();
        if let Some((name, value)) = rest.split_once('=') {
            if let Some(constant) = constant(type_name, name.trim(), value.trim(), description) {
                self.section.constants.push(constant);
                self.last = Some(Last::Constant);
            }
            return;
        }
        let (name, default) = rest.split_once(' ').unwrap_or((rest, ""));
        let default = Some(default.trim()).filter(|text| !text.is_empty()).map(str::to_owned);
        if self.section.fields.is_empty() {
            self.first_is_header = type_name == "std_msgs/Header";
        } else if has_block {
            self.blocks_of_others += 1;
        }
        self.section.fields.push(FieldText { name: name.to_owned(), description, default });
        self.last = Some(Last::Field);
    }

    fn finish(mut self) -> Section {
        if !self.pending.is_empty() {
            self.blank();
        }
        let Some(block) = self.first_block else { return self.section };
        let may_be_of_field = self.section.constants.is_empty() && !self.first_is_header;
        let is_only_field = self.section.fields.len() == 1;
        let is_of_field = may_be_of_field && (self.blocks_of_others > 0 || is_only_field);
        if let Some(field) = self.section.fields.first_mut().filter(|_| is_of_field) {
            field.description = joined(&[block.clone(), String::new(), std::mem::take(&mut field.description)]);
        }
        if !is_of_field || is_only_field {
            self.section.description = block;
        }
        self.section
    }
}

/// Lines as one text; empty ones end a sentence. Cut where it is too long.
fn joined(lines: &[String]) -> String {
    let lines: Vec<&str> = lines.iter().map(|line| line.trim()).collect();
    let paragraphs: Vec<String> = lines.split(|line| line.is_empty()).map(|lines| lines.join(" ")).collect();
    let text = sentences(paragraphs.iter().map(String::as_str));
    match text.char_indices().nth(MAX_DESCRIPTION) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default().trim_end()),
        None => text,
    }
}

/// Texts one after the other, each ended as a sentence if another follows. Empty ones are passed over.
pub(crate) fn sentences<'a>(parts: impl IntoIterator<Item = &'a str>) -> String {
    let mut text = String::new();
    for part in parts.into_iter().filter(|part| !part.is_empty()) {
        if !text.is_empty() {
            if text.ends_with(char::is_alphanumeric) {
                text.push('.');
            }
            text.push(' ');
        }
        text.push_str(part);
    }
    text
}

fn constant(type_name: &str, name: &str, value: &str, description: String) -> Option<Constant> {
    let is_name = name.starts_with(|first: char| first.is_ascii_alphabetic())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    if !is_name {
        return None;
    }
    let kind = kind(type_name)?;
    let value = constant_value(&kind, value)?;
    Some(Constant { name: name.to_owned(), kind, value, description })
}

/// The primitive type of that name.
fn kind(name: &str) -> Option<FieldKind> {
    Some(match name.split("<=").next().unwrap_or_default() {
        "bool" => FieldKind::Boolean,
        "byte" => FieldKind::Byte,
        "char" | "uint8" => FieldKind::Uint8,
        "int8" => FieldKind::Int8,
        "int16" => FieldKind::Int16,
        "uint16" => FieldKind::Uint16,
        "int32" => FieldKind::Int32,
        "uint32" => FieldKind::Uint32,
        "int64" => FieldKind::Int64,
        "uint64" => FieldKind::Uint64,
        "float32" => FieldKind::Float32,
        "float64" => FieldKind::Float64,
        "string" => FieldKind::String { bound: None },
        "wstring" => FieldKind::WideString { bound: None },
        _ => return None,
    })
}

fn constant_value(kind: &FieldKind, text: &str) -> Option<Value> {
    if let Some((lowest, highest)) = kind.integer_range() {
        let value = integer(text).filter(|value| (lowest..=highest).contains(value))?;
        return u64::try_from(value).map(Value::from).or_else(|_| i64::try_from(value).map(Value::from)).ok();
    }
    match kind {
        FieldKind::Boolean => match text.to_ascii_lowercase().as_str() {
            "true" | "1" => Some(Value::Bool(true)),
            "false" | "0" => Some(Value::Bool(false)),
            _ => None,
        },
        FieldKind::Float32 | FieldKind::Float64 => {
            text.parse::<f64>().ok().filter(|value| value.is_finite()).map(Value::from)
        }
        FieldKind::String { .. } | FieldKind::WideString { .. } => Some(Value::from(unquoted(text))),
        _ => None,
    }
}

fn integer(text: &str) -> Option<i128> {
    let (sign, digits) = text.strip_prefix('-').map_or((1, text), |digits| (-1, digits));
    let lower = digits.to_ascii_lowercase();
    let value = if let Some(digits) = lower.strip_prefix("0x") {
        i128::from_str_radix(digits, 16)
    } else if let Some(digits) = lower.strip_prefix("0b") {
        i128::from_str_radix(digits, 2)
    } else if let Some(digits) = lower.strip_prefix("0o") {
        i128::from_str_radix(digits, 8)
    } else {
        lower.parse()
    };
    value.ok()?.checked_mul(sign)
}

fn unquoted(text: &str) -> String {
    for quote in ['"', '\''] {
        if let Some(inner) = text.strip_prefix(quote).and_then(|rest| rest.strip_suffix(quote)) {
            return inner.replace(&format!("\\{quote}"), &quote.to_string());
        }
    }
    text.to_owned()
}

#[cfg(test)]
mod fuzzed;
#[cfg(test)]
mod tests;
