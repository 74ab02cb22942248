//! Conditions over what was observed of the robot: each holds, is broken, or is not known.
//!
//! Pure: times come in as values, since any fixed moment. What is not known never counts as holding: nothing was seen, it
//! is too old, nobody tells it any more, the field is missing, the value is no number (NaN), or it is of another kind than
//! what it is compared with. `and`, `or` and `not` follow Kleene's logic of three values.

mod compare;
mod observations;

use std::time::Duration;

use cortex_protocol::Condition;
use cortex_protocol::condition::{Check, Reference, Test, reference};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use thiserror::Error;

pub use observations::{Age, Observation, Observations};

use crate::fragment::capped;
use observations::Seen;

/// Most characters of a value that are told.
const SHOWN: usize = 160;

/// What is known of a condition.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// It holds.
    Holds,
    /// It does not.
    Broken,
    /// Nobody can say.
    Unknown,
}

/// A verdict, with what it rests on in words for a person and a model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// What is known.
    pub verdict: Verdict,
    /// The condition and what was seen. What was seen is data from the robot.
    pub explanation: String,
}

/// A condition whose references to arguments were replaced by their values.
#[derive(Debug, Clone, PartialEq)]
pub struct BoundCondition(Condition);

/// A condition that refers to an argument that the call does not have.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("the call has no argument '{path}', which a condition compares with")]
pub struct UnknownArgument {
    /// The argument, or the path within one.
    pub path: String,
}

/// The condition for a call with these arguments.
///
/// # Errors
/// When it refers to an argument that the call does not have.
pub fn bind(condition: &Condition, arguments: &Map<String, Value>) -> Result<BoundCondition, UnknownArgument> {
    bound(condition, arguments).map(BoundCondition)
}

fn bound(condition: &Condition, arguments: &Map<String, Value>) -> Result<Condition, UnknownArgument> {
    let each = |all: &[Condition]| all.iter().map(|one| bound(one, arguments)).collect::<Result<Vec<_>, _>>();
    Ok(match condition {
        Condition::And(all) => Condition::And(each(all)?),
        Condition::Or(any) => Condition::Or(each(any)?),
        Condition::Not(inner) => Condition::Not(Box::new(bound(inner, arguments)?)),
        Condition::Check(check) => {
            let test = match check.test.value() {
                Some(value) => check.test.with_value(bound_value(value, arguments)?),
                None => check.test.clone(),
            };
            Condition::Check(Check { test, ..check.clone() })
        }
    })
}

fn bound_value(value: &Value, arguments: &Map<String, Value>) -> Result<Value, UnknownArgument> {
    match value {
        Value::String(text) => match reference(text) {
            Reference::Literal(text) => Ok(Value::String(text.to_owned())),
            Reference::Argument(path) => {
                let (first, rest) = path.split_once('.').unwrap_or((path, ""));
                let found = arguments.get(first).and_then(|value| at_path(value, rest));
                found.cloned().ok_or_else(|| UnknownArgument { path: path.to_owned() })
            }
        },
        Value::Array(items) => items.iter().map(|item| bound_value(item, arguments)).collect(),
        other => Ok(other.clone()),
    }
}

/// The part of a value at a path: names and indices with dots between them. An empty path is the value itself.
#[must_use]
pub fn at_path<'a>(value: &'a Value, path: &str) -> Option<&'a Value> {
    let mut names = path.split('.').filter(|name| !name.is_empty());
    names.try_fold(value, |value, name| match value {
        Value::Object(fields) => fields.get(name),
        Value::Array(items) => items.get(name.parse::<usize>().ok()?),
        _ => None,
    })
}

impl BoundCondition {
    /// The condition.
    #[must_use]
    pub fn condition(&self) -> &Condition {
        &self.0
    }

    /// What is known of it at `now`. `since`: only what was observed after that counts, and of that not what a topic had
    /// kept from before.
    #[must_use]
    pub fn evaluate(&self, observations: &Observations, since: Option<Duration>, now: Duration) -> Finding {
        evaluate(&self.0, observations, since, now)
    }

    /// When the next part of it will no longer be known, if nothing new is seen. None: never. What is too old already does
    /// not count: it may not decide.
    #[must_use]
    pub fn stale_after(&self, observations: &Observations, now: Duration) -> Option<Duration> {
        let checks = self.0.checks().into_iter();
        let ends = checks.filter_map(|check| observations.of(&check.source)?.seen_at()?.checked_add(check.max_age?));
        ends.filter(|end| *end >= now).min()
    }
}

fn evaluate(condition: &Condition, observations: &Observations, since: Option<Duration>, now: Duration) -> Finding {
    let each =
        |all: &[Condition]| -> Vec<Finding> { all.iter().map(|one| evaluate(one, observations, since, now)).collect() };
    match condition {
        Condition::And(all) => joined(each(all), Verdict::Broken, Verdict::Holds),
        Condition::Or(any) => joined(each(any), Verdict::Holds, Verdict::Broken),
        Condition::Not(inner) => {
            let Finding { verdict, explanation } = evaluate(inner, observations, since, now);
            let verdict = match verdict {
                Verdict::Holds => Verdict::Broken,
                Verdict::Broken => Verdict::Holds,
                Verdict::Unknown => Verdict::Unknown,
            };
            Finding { verdict, explanation: format!("not: {explanation}") }
        }
        Condition::Check(check) => judge(check, observations, since, now),
    }
}

/// `decisive` of one decides for all; otherwise what is not known does; otherwise it is `rest`.
fn joined(all: Vec<Finding>, decisive: Verdict, rest: Verdict) -> Finding {
    for verdict in [decisive, Verdict::Unknown] {
        if let Some(found) = all.iter().find(|finding| finding.verdict == verdict) {
            return found.clone();
        }
    }
    let explanation: Vec<String> = all.into_iter().map(|finding| finding.explanation).collect();
    Finding { verdict: rest, explanation: explanation.join("; ") }
}

fn judge(check: &Check, observations: &Observations, since: Option<Duration>, now: Duration) -> Finding {
    let wanted = Condition::Check(check.clone());
    let finding = |verdict: Verdict, seen: &str| Finding {
        verdict,
        explanation: format!("{} ({seen})", capped(&wanted.to_string(), SHOWN * 2)),
    };
    let unknown = |why: &str| finding(Verdict::Unknown, why);
    let (value, at, kept, aged, baseline) = match observations.of(&check.source) {
        None | Some(Seen::Nothing | Seen::Silent) => return unknown("nothing was seen of it"),
        Some(Seen::Absent { reason } | Seen::Unusable { reason, .. }) => return unknown(&capped(reason, SHOWN)),
        Some(Seen::Value { value, at, kept, age, baseline }) => (value, *at, *kept, age, baseline.as_ref()),
    };
    let age = now.saturating_sub(at);
    if let (Age::Unknown { reason }, true) = (aged, since.is_some() || check.max_age.is_some()) {
        return unknown(&format!("nobody knows how old it is: {}", capped(reason, SHOWN)));
    }
    if since.is_some_and(|since| kept || at <= since) {
        return unknown("nothing was seen of it since the call began");
    }
    if check.max_age.is_some() && kept && !matches!(aged, Age::Stamped(_)) {
        return unknown("it was kept from before, so nobody knows how old it is");
    }
    if check.max_age.is_some_and(|longest| age > longest) {
        let by = if matches!(aged, Age::Stamped(_)) { ", by the stamp of its message" } else { "" };
        return unknown(&format!("it was last seen {:.1} s ago{by}", age.as_secs_f64()));
    }
    let shown = capped(&value.to_string(), SHOWN);
    let holds = match &check.test {
        Test::Change => baseline.and_then(|before| compare::same(before, value)).map(|same| !same),
        test => compare::holds(test, value),
    };
    match holds {
        None => unknown(&format!("it is {shown}, which can't be compared")),
        Some(holds) => {
            let verdict = if holds { Verdict::Holds } else { Verdict::Broken };
            finding(verdict, &format!("it is {shown}, seen {:.1} s ago", age.as_secs_f64()))
        }
    }
}

#[cfg(test)]
mod tests;
