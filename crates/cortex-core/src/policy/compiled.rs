//! Rules as they are matched: patterns split, hours read, texts folded, once for a policy and not once for each call.

use cortex_protocol::policy::ArgumentTest;
use cortex_protocol::{Origin, PolicyRule, ToolName, ToolSpec};
use serde_json::Value;

/// A checked rule.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct CompiledRule {
    pub written: PolicyRule,
    tools: Vec<Pattern>,
    who: Vec<Pattern>,
    pub hours: Option<Hours>,
    pub arguments: Vec<CompiledTest>,
}

impl CompiledRule {
    pub(super) fn new(written: PolicyRule) -> Self {
        let tests = written.arguments.iter().map(|(path, test)| CompiledTest::new(path, test));
        let mut arguments: Vec<CompiledTest> = tests.collect();
        // Numbers first: they are quick to compare, and one test that fails is enough.
        arguments.sort_by_key(CompiledTest::compares_texts);
        Self {
            tools: written.tools.iter().map(|pattern| Pattern::new(pattern)).collect(),
            who: written.who.iter().map(|pattern| Pattern::new(pattern)).collect(),
            // Hours that can't be read were refused.
            hours: written.hours.as_deref().and_then(hours_of),
            arguments,
            written,
        }
    }

    /// Whether the rule is about this tool, as far as its name and its effect say so.
    pub(super) fn is_about(&self, spec: &ToolSpec) -> bool {
        let by_name = self.tools.is_empty() || self.tools.iter().any(|pattern| pattern.is_like(spec.name.as_str()));
        by_name && (self.written.effects.is_empty() || self.written.effects.contains(&spec.effect))
    }

    /// Whether the rule names this tool in full, without a wildcard.
    pub(super) fn names_in_full(&self, tool: &ToolName) -> bool {
        self.tools.iter().any(|pattern| pattern.rest.is_empty() && pattern.is_like(tool.as_str()))
    }

    /// Whether the rule is about tasks from here.
    pub(super) fn is_for(&self, origin: &Origin) -> bool {
        if self.who.is_empty() {
            return true;
        }
        let channel = origin.channel.as_str();
        let client = format!("{channel}:{}", origin.client);
        self.who.iter().any(|pattern| pattern.is_like(channel) || pattern.is_like(&client))
    }
}

/// A pattern in which `*` stands for any text: what stands before the first one, and what stands after each.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Pattern {
    first: String,
    rest: Vec<String>,
}

impl Pattern {
    fn new(pattern: &str) -> Self {
        let mut parts = pattern.split('*').map(str::to_owned);
        Self { first: parts.next().unwrap_or_default(), rest: parts.collect() }
    }

    fn is_like(&self, text: &str) -> bool {
        let Some(mut rest) = text.strip_prefix(self.first.as_str()) else { return false };
        let Some((last, middle)) = self.rest.split_last() else { return rest.is_empty() };
        for part in middle {
            let Some((_, after)) = rest.split_once(part.as_str()) else { return false };
            rest = after;
        }
        rest.ends_with(last.as_str())
    }
}

/// What an argument is compared with.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct CompiledTest {
    /// The path as it is written, and its names.
    pub path: String,
    pub names: Vec<String>,
    pub above: Option<f64>,
    pub below: Option<f64>,
    pub one_of: Option<Vec<(Value, Option<Text>)>>,
    pub none_of: Option<Vec<(Value, Option<Text>)>>,
    pub contains: Option<Vec<Text>>,
}

impl CompiledTest {
    fn new(path: &str, test: &ArgumentTest) -> Self {
        let ArgumentTest { above, below, one_of, none_of, contains } = test;
        let listed =
            |values: &Vec<Value>| values.iter().map(|value| (value.clone(), value.as_str().map(Text::new))).collect();
        Self {
            path: path.to_owned(),
            names: path.split('.').map(str::to_owned).collect(),
            above: *above,
            below: *below,
            one_of: one_of.as_ref().map(listed),
            none_of: none_of.as_ref().map(listed),
            contains: contains.as_ref().map(|parts| parts.iter().map(|part| Text::new(part)).collect()),
        }
    }

    fn compares_texts(&self) -> bool {
        self.one_of.is_some() || self.none_of.is_some() || self.contains.is_some()
    }
}

/// Which spellings of a text are the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Spelling {
    /// Case and surrounding space do not matter.
    Exact,
    /// Nor does anything that is no letter and no digit: `operating wing` is `operating_wing`.
    Loose,
}

/// A text, folded for either spelling. Case is folded both ways, because one letter may have two small forms or none that
/// is large. A text without letters and digits stays as it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Text {
    exact: String,
    loose: Option<String>,
}

impl Text {
    pub(super) fn new(text: &str) -> Self {
        let text = text.trim();
        // The same for ASCII, and much quicker.
        let exact = if text.is_ascii() { text.to_ascii_lowercase() } else { text.to_uppercase().to_lowercase() };
        let is_bare = !exact.contains(char::is_alphanumeric) || exact.chars().all(char::is_alphanumeric);
        let loose = (!is_bare).then(|| exact.chars().filter(|character| character.is_alphanumeric()).collect());
        Self { exact, loose }
    }

    pub(super) fn folded(&self, spelling: Spelling) -> &str {
        match spelling {
            Spelling::Exact => &self.exact,
            Spelling::Loose => self.loose.as_ref().unwrap_or(&self.exact),
        }
    }
}

/// A span of the day, in minutes. The end is not part of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Hours {
    from: u16,
    to: u16,
}

impl Hours {
    pub(super) fn contains(self, minute: u16) -> bool {
        if self.from < self.to {
            (self.from..self.to).contains(&minute)
        } else {
            minute >= self.from || minute < self.to
        }
    }
}

/// Reads `22:00-06:00`. None where it is none, or empty.
pub(super) fn hours_of(text: &str) -> Option<Hours> {
    let minute = |text: &str| -> Option<u16> {
        let (hour, minute) = text.trim().split_once(':')?;
        let is_number = |text: &str| (1..=2).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
        if !is_number(hour) || minute.len() != 2 || !is_number(minute) {
            return None;
        }
        let (hour, minute): (u16, u16) = (hour.parse().ok()?, minute.parse().ok()?);
        (hour < 24 && minute < 60).then_some(hour * 60 + minute)
    };
    let (from, to) = text.split_once('-')?;
    let hours = Hours { from: minute(from)?, to: if to.trim() == "24:00" { 0 } else { minute(to)? } };
    (hours.from != hours.to || to.trim() == "24:00").then_some(hours)
}
