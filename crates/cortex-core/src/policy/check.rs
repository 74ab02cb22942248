//! Checks rules once, before anything is judged by them. A rule that can't mean what it says is refused: a rule that is
//! silently without effect is a hole.

use cortex_protocol::PolicyRule;
use cortex_protocol::condition::{Check, Reference, Source, Test, reference};
use cortex_protocol::policy::ArgumentTest;
use serde_json::Value;

use super::compiled::hours_of;
use super::{MAX_RULES, PolicyError, PolicySettings};

/// Most patterns, values or tests of one list.
const MAX_ENTRIES: usize = 256;
/// Longest pattern, path, value or reason, in bytes.
const MAX_BYTES: usize = 1_024;

pub(super) fn check(settings: &PolicySettings) -> Result<(), PolicyError> {
    let count = settings.rules.len();
    if count > MAX_RULES {
        let problem = format!("there are {count} rules; at most {MAX_RULES} are taken. Join some of them");
        return Err(PolicyError { rule: None, problem });
    }
    for (index, rule) in settings.rules.iter().enumerate() {
        check_rule(rule).map_err(|problem| PolicyError { rule: Some(index + 1), problem })?;
    }
    Ok(())
}

fn check_rule(rule: &PolicyRule) -> Result<(), String> {
    let names_nothing = rule.tools.is_empty()
        && rule.effects.is_empty()
        && rule.arguments.is_empty()
        && rule.when.is_none()
        && rule.hours.is_none()
        && rule.who.is_empty();
    if names_nothing {
        return Err(
            "it names nothing, so it would match every call. Fix: name tools, effects, arguments, when, hours \
                    or who; for every tool, write tools = [\"*\"]"
                .to_owned(),
        );
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
        check_argument(path, test).map_err(|problem| format!("arguments.{path}: {problem}"))?;
    }
    if let Some(hours) = &rule.hours
        && hours_of(hours).is_none()
    {
        return Err(format!(
            "hours = \"{hours}\" is no span of the day. Fix: write it as \"22:00-06:00\", local time, the end not part \
             of it"
        ));
    }
    if let Some(condition) = &rule.when {
        condition.checks().into_iter().try_for_each(check_condition)?;
    }
    if rule.because.len() > MAX_BYTES {
        return Err(format!("because has {} bytes; at most {MAX_BYTES} are taken", rule.because.len()));
    }
    Ok(())
}

fn bounded(what: &str, count: usize) -> Result<(), String> {
    if count <= MAX_ENTRIES {
        return Ok(());
    }
    Err(format!("{what} has {count} entries; at most {MAX_ENTRIES} are taken"))
}

fn check_pattern(what: &str, pattern: &str) -> Result<(), String> {
    let problem = if pattern.trim().is_empty() {
        "an empty pattern matches nothing"
    } else if pattern.len() > MAX_BYTES {
        "the pattern is too long"
    } else if pattern.contains(|character: char| character.is_whitespace() || character.is_control()) {
        "a pattern has no spaces"
    } else if pattern.contains(['?', '[', ']', '{', '}']) {
        "only * is a wildcard, for any text"
    } else {
        return Ok(());
    };
    Err(format!("{what}: \"{pattern}\": {problem}. Fix: write a name, or a pattern such as \"base.*\""))
}

fn check_argument(path: &str, test: &ArgumentTest) -> Result<(), String> {
    if path.is_empty() || path.len() > MAX_BYTES || path.split('.').any(str::is_empty) {
        return Err("the path is none. Fix: write the argument's name, or a path such as pose.position.x".to_owned());
    }
    let ArgumentTest { above, below, one_of, none_of, contains } = test;
    if above.is_none() && below.is_none() && one_of.is_none() && none_of.is_none() && contains.is_none() {
        return Err("it compares with nothing. Fix: give above, below, one_of, none_of or contains".to_owned());
    }
    if [above, below].into_iter().flatten().any(|bound| !bound.is_finite()) {
        return Err("above and below must be finite numbers".to_owned());
    }
    if let (Some(above), Some(below)) = (above, below)
        && above >= below
    {
        return Err(format!(
            "no number is above {above} and below {below}. Fix: for what lies outside of a range, write two rules"
        ));
    }
    for (what, values) in [("one_of", one_of), ("none_of", none_of)] {
        let Some(values) = values else { continue };
        bounded(what, values.len())?;
        if values.is_empty() {
            return Err(format!("{what} is empty. Fix: list values, or leave it out"));
        }
        if let Some(value) = values.iter().find(|value| matches!(value, Value::Array(_))) {
            return Err(format!(
                "{what}: {value} is a list. Fix: list its elements; each element of an argument is compared"
            ));
        }
    }
    if let Some(parts) = contains {
        bounded("contains", parts.len())?;
        if parts.is_empty() || parts.iter().any(|part| part.trim().is_empty()) {
            return Err("contains must list texts, and every text holds an empty one".to_owned());
        }
    }
    Ok(())
}

fn check_condition(check: &Check) -> Result<(), String> {
    let name = match &check.source {
        Source::Topic { topic, .. } => topic.as_str(),
        Source::Parameter { parameter } => parameter.as_str(),
        Source::Component { .. } => "/",
    };
    if !name.starts_with('/') {
        return Err(format!("when: \"{name}\" is not a full name. Fix: write it with its leading slash"));
    }
    if check.test == Test::Change {
        return Err("when: a change is of a call, and a rule is judged before there is one. Fix: compare with a value"
            .to_owned());
    }
    if check.test.value().is_some_and(refers) {
        return Err(
            "when: the condition of a rule is about the robot and can't refer to an argument. Fix: compare the \
                    argument under 'arguments'"
                .to_owned(),
        );
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
