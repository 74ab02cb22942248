//! Checks rules once, before anything is judged by them. A rule that can't mean what it says is refused: a rule that is
//! silently without effect is a hole.

use cortex_protocol::PolicyRule;
use cortex_protocol::condition::{Check, Reference, Source, Test, reference};
use cortex_protocol::policy::ArgumentTest;
use serde_json::Value;

use super::compiled::hours_of;
use super::problem::{ArgumentTestProblem, PatternProblem, PolicyProblem, TooManyEntries};
use super::{MAX_RULES, PolicyError, PolicySettings};

/// Most patterns, values or tests of one list.
pub(super) const MAX_ENTRIES: usize = 256;
/// Longest pattern, path, value or reason, in bytes.
pub(super) const MAX_BYTES: usize = 1_024;

pub(super) fn check(settings: &PolicySettings) -> Result<(), PolicyError> {
    let count = settings.rules.len();
    if count > MAX_RULES {
        return Err(PolicyError { rule: None, problem: PolicyProblem::TooManyRules { count } });
    }
    for (index, rule) in settings.rules.iter().enumerate() {
        check_rule(rule).map_err(|problem| PolicyError { rule: Some(index + 1), problem })?;
    }
    Ok(())
}

fn check_rule(rule: &PolicyRule) -> Result<(), PolicyProblem> {
    let names_nothing = rule.tools.is_empty()
        && rule.effects.is_empty()
        && rule.arguments.is_empty()
        && rule.when.is_none()
        && rule.hours.is_none()
        && rule.who.is_empty();
    if names_nothing {
        return Err(PolicyProblem::NamesNothing);
    }
    for pattern in rule.tools.iter() {
        check_pattern("tools", pattern)?;
    }
    for pattern in rule.who.iter() {
        check_pattern("who", pattern)?;
    }
    bounded("tools", rule.tools.len())?;
    bounded("who", rule.who.len())?;
    bounded("arguments", rule.arguments.len())?;
    for (path, test) in &rule.arguments {
        check_argument(path, test).map_err(|problem| PolicyProblem::Argument { path: path.clone(), problem })?;
    }
    if let Some(hours) = &rule.hours
        && hours_of(hours).is_none()
    {
        return Err(PolicyProblem::Hours { hours: hours.clone() });
    }
    if let Some(condition) = &rule.when {
        condition.checks().into_iter().try_for_each(check_condition)?;
    }
    if rule.because.len() > MAX_BYTES {
        return Err(PolicyProblem::LongReason { bytes: rule.because.len() });
    }
    Ok(())
}

fn bounded(list: &'static str, count: usize) -> Result<(), TooManyEntries> {
    if count <= MAX_ENTRIES { Ok(()) } else { Err(TooManyEntries { list, count }) }
}

fn check_pattern(list: &'static str, pattern: &str) -> Result<(), PolicyProblem> {
    let problem = if pattern.trim().is_empty() {
        PatternProblem::Empty
    } else if pattern.len() > MAX_BYTES {
        PatternProblem::TooLong
    } else if pattern.contains(|character: char| character.is_whitespace() || character.is_control()) {
        PatternProblem::Spaces
    } else if pattern.contains(['?', '[', ']', '{', '}']) {
        PatternProblem::Wildcard
    } else {
        return Ok(());
    };
    Err(PolicyProblem::Pattern { list, pattern: pattern.to_owned(), problem })
}

fn check_argument(path: &str, test: &ArgumentTest) -> Result<(), ArgumentTestProblem> {
    if path.is_empty() || path.len() > MAX_BYTES || path.split('.').any(str::is_empty) {
        return Err(ArgumentTestProblem::Path);
    }
    let ArgumentTest { above, below, one_of, none_of, contains } = test;
    if above.is_none() && below.is_none() && one_of.is_none() && none_of.is_none() && contains.is_none() {
        return Err(ArgumentTestProblem::ComparesWithNothing);
    }
    if [above, below].into_iter().flatten().any(|bound| !bound.is_finite()) {
        return Err(ArgumentTestProblem::InfiniteBound);
    }
    if let (Some(above), Some(below)) = (above, below)
        && above >= below
    {
        return Err(ArgumentTestProblem::EmptyRange { above: *above, below: *below });
    }
    for (list, values) in [("one_of", one_of), ("none_of", none_of)] {
        let Some(values) = values else { continue };
        bounded(list, values.len())?;
        if values.is_empty() {
            return Err(ArgumentTestProblem::EmptyList { list });
        }
        if let Some(value) = values.iter().find(|value| matches!(value, Value::Array(_))) {
            return Err(ArgumentTestProblem::ListInList { list, value: value.clone() });
        }
    }
    if let Some(parts) = contains {
        bounded("contains", parts.len())?;
        if parts.is_empty() || parts.iter().any(|part| part.trim().is_empty()) {
            return Err(ArgumentTestProblem::EmptyText);
        }
    }
    Ok(())
}

fn check_condition(check: &Check) -> Result<(), PolicyProblem> {
    let name = match &check.source {
        Source::Topic { topic, .. } => topic.as_str(),
        Source::Parameter { parameter } => parameter.as_str(),
        Source::Component { .. } => "/",
    };
    if !name.starts_with('/') {
        return Err(PolicyProblem::RelativeName { name: name.to_owned() });
    }
    if check.test == Test::Change {
        return Err(PolicyProblem::ConditionOnChange);
    }
    if check.test.value().is_some_and(refers) {
        return Err(PolicyProblem::ConditionOnArgument);
    }
    Ok(())
}

/// Whether a value refers to an argument of a call.
fn refers(value: &Value) -> bool {
    match value {
        Value::String(text) => matches!(reference(text), Reference::Argument(_)),
        Value::Array(items) => items.iter().any(refers),
        _ => false,
    }
}
