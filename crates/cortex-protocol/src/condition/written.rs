//! Conditions as people and components write them: one flat object for each.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{
    Check, Condition, ConditionError, DEFAULT_EVIDENCE_WITHIN, Evidence, MAX_CHECKS, MAX_DEPTH, MAX_NAME_BYTES,
    MAX_SECONDS, MAX_VALUE_BYTES, Reference, Source, Test, reference,
};
use crate::ComponentName;

/// `within_s`: how long a call's evidence may take. A key of evidence only.
const WITHIN: &str = "within_s";

/// A condition: `and`, `or` or `not`, or one source (`topic`, `parameter` or `component`) with at most one comparison.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct WrittenCondition {
    /// All of these hold.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    and: Option<Vec<Condition>>,
    /// At least one of these holds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    or: Option<Vec<Condition>>,
    /// This is known not to hold.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    not: Option<Box<Condition>>,

    /// The topic that tells the value: `/odom`, `~/place`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    topic: Option<String>,
    /// The field of its message: `pose.pose.position.x`. Left out: the whole message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    field: Option<String>,
    /// The parameter that is the value: `/base/speed_mps`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    parameter: Option<String>,
    /// The component whose health is the value: `healthy`, `algorithm`, `component`, `system`, `general`, `present`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    component: Option<ComponentName>,

    /// `true`: it is another than at the beginning of the call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    change: Option<bool>,
    /// It is this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    equal: Option<Value>,
    /// It is not this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    different: Option<Value>,
    /// It is a number above.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    greater: Option<Value>,
    /// It is a number below.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    less: Option<Value>,
    /// It is this number or one above.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    at_least: Option<Value>,
    /// It is this number or one below.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    at_most: Option<Value>,
    /// It is one of this list.
    #[serde(default, rename = "in", skip_serializing_if = "Option::is_none")]
    one_of: Option<Value>,
    /// It is a list with this in it, or a text with this text in it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    contains: Option<Value>,
    /// It is a number near this one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    near: Option<Near>,

    /// How old the value may be, in seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    max_age_s: Option<f64>,
}

/// A number with a tolerance.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Near {
    /// The number.
    value: Value,
    /// How far from it, both ways.
    tolerance: f64,
    /// Of both: `m`. Of `rad` and `deg` the shorter way round counts.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    unit: String,
}

/// A condition, with `within_s` beside its keys: how long after the success it may take to be seen, in seconds.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub(super) struct WrittenEvidence(Map<String, Value>);

impl TryFrom<WrittenCondition> for Condition {
    type Error = ConditionError;

    fn try_from(written: WrittenCondition) -> Result<Self, ConditionError> {
        let condition = read(written)?;
        let (depth, checks) = extent(&condition);
        if depth > MAX_DEPTH {
            return Err(format!("it is nested {depth} deep; at most {MAX_DEPTH} is taken").into());
        }
        if checks > MAX_CHECKS {
            return Err(format!("it has {checks} checks; at most {MAX_CHECKS} are taken").into());
        }
        Ok(condition)
    }
}

fn read(written: WrittenCondition) -> Result<Condition, ConditionError> {
    let WrittenCondition { and, or, not, topic, field, parameter, component, max_age_s, .. } = &written;
    let kinds = [
        ("and", and.is_some()),
        ("or", or.is_some()),
        ("not", not.is_some()),
        ("topic", topic.is_some()),
        ("parameter", parameter.is_some()),
        ("component", component.is_some()),
    ];
    let named: Vec<&str> = kinds.iter().filter(|(_, is_there)| *is_there).map(|(name, _)| *name).collect();
    let &[kind] = named.as_slice() else {
        let found = if named.is_empty() { "none of them".to_owned() } else { named.join(" and ") };
        return Err(format!(
            "a condition has one of 'and', 'or', 'not', 'topic', 'parameter', 'component'; this one has {found}"
        )
        .into());
    };
    if field.is_some() && kind != "topic" {
        return Err("'field' belongs to a 'topic'".to_owned().into());
    }
    let max_age = max_age_s.map(|age| seconds("max_age_s", age)).transpose()?;
    let test = test(&written)?;
    if ["and", "or", "not"].contains(&kind) {
        if test != Test::Present || max_age.is_some() {
            return Err(format!("a comparison and 'max_age_s' belong to what is compared, not beside '{kind}'").into());
        }
        return match (written.and, written.or, written.not) {
            (Some(all), ..) if !all.is_empty() => Ok(Condition::And(all)),
            (_, Some(any), _) if !any.is_empty() => Ok(Condition::Or(any)),
            (.., Some(inner)) => Ok(Condition::Not(inner)),
            _ => Err(format!("'{kind}' holds no condition").into()),
        };
    }
    let source = match (written.topic, written.parameter, written.component) {
        (Some(topic), ..) => {
            check_name("topic", &topic)?;
            let field = written.field.unwrap_or_default();
            check_field(&field)?;
            Source::Topic { topic, field }
        }
        (_, Some(parameter), _) => {
            check_name("parameter", &parameter)?;
            if parameter.trim_start_matches('/').split('/').count() < 2 {
                return Err(format!(
                    "'{parameter}' is not the name of a node's parameter; write the node before it, '/base/{}'",
                    parameter.trim_start_matches('/')
                )
                .into());
            }
            Source::Parameter { parameter }
        }
        (.., component) => {
            let component = component.unwrap_or_else(|| "".into());
            let component = ComponentName::new(component.as_str().trim_start_matches('/'));
            check_name("component", component.as_str())?;
            Source::Component { component }
        }
    };
    Ok(Condition::Check(Check { source, test, max_age }))
}

/// The one comparison; without any, that there is a value.
fn test(written: &WrittenCondition) -> Result<Test, ConditionError> {
    let WrittenCondition { change, near, .. } = written;
    let mut tests = Vec::new();
    let mut add = |name: &'static str, value: &Option<Value>, test: fn(Value) -> Test| {
        tests.extend(value.clone().map(|value| (name, test(value))));
    };
    add("equal", &written.equal, Test::Equal);
    add("different", &written.different, Test::Different);
    add("greater", &written.greater, Test::Greater);
    add("less", &written.less, Test::Less);
    add("at_least", &written.at_least, Test::AtLeast);
    add("at_most", &written.at_most, Test::AtMost);
    add("in", &written.one_of, Test::In);
    add("contains", &written.contains, Test::Contains);
    if let Some(Near { value, tolerance, unit }) = near.clone() {
        if !(tolerance.is_finite() && tolerance >= 0.0) {
            return Err(
                format!("the tolerance of 'near' is {tolerance}; it must be a number that is not negative").into()
            );
        }
        if unit.len() > MAX_NAME_BYTES {
            return Err("the unit of 'near' is too long".to_owned().into());
        }
        tests.push(("near", Test::Near { value, tolerance, unit }));
    }
    match change {
        Some(true) => tests.push(("change", Test::Change)),
        Some(false) => return Err("'change' is true; for what must not change write 'not'".to_owned().into()),
        None => {}
    }
    if tests.len() > 1 {
        let names: Vec<&str> = tests.iter().map(|(name, _)| *name).collect();
        return Err(format!("it compares in several ways ({}); join conditions with 'and'", names.join(", ")).into());
    }
    let Some((name, test)) = tests.pop() else { return Ok(Test::Present) };
    if let Some(value) = test.value() {
        check_value(name, value)?;
    }
    Ok(test)
}

fn check_value(name: &str, value: &Value) -> Result<(), ConditionError> {
    let bytes = value.to_string().len();
    if bytes > MAX_VALUE_BYTES {
        return Err(format!("the value of '{name}' has {bytes} bytes; at most {MAX_VALUE_BYTES} are taken").into());
    }
    let is_argument = value.as_str().is_some_and(|text| matches!(reference(text), Reference::Argument(_)));
    let fits = is_argument
        || match name {
            "greater" | "less" | "at_least" | "at_most" | "near" => value.is_number(),
            "in" => value.as_array().is_some_and(|all| !all.is_empty()),
            _ => !value.is_null(),
        };
    let wanted = match name {
        "in" => "a list with something in it",
        "greater" | "less" | "at_least" | "at_most" | "near" => "a number",
        _ => "a value",
    };
    if fits { Ok(()) } else { Err(format!("'{name}' takes {wanted}, or an argument in braces; found {value}").into()) }
}

fn check_name(kind: &str, name: &str) -> Result<(), ConditionError> {
    let plain = name.strip_prefix("~/").or_else(|| name.strip_prefix('/')).unwrap_or(name);
    // Names of parameters have dots, too.
    let is_good = |part: &str| {
        !part.is_empty() && part.chars().all(|next| next.is_ascii_alphanumeric() || ['_', '.', '-'].contains(&next))
    };
    if name.len() > MAX_NAME_BYTES || !plain.split('/').all(is_good) {
        return Err(format!("'{}' is no name of a {kind}", shown(name)).into());
    }
    Ok(())
}

/// Whether that can be the name of a topic: `/odom`, `~/progress`.
pub(crate) fn is_topic(name: &str) -> bool {
    check_name("topic", name).is_ok()
}

fn check_field(field: &str) -> Result<(), ConditionError> {
    let is_good = |part: &str| !part.is_empty() && part.chars().all(|next| next.is_ascii_alphanumeric() || next == '_');
    if field.is_empty() || (field.len() <= MAX_NAME_BYTES && field.split('.').all(is_good)) {
        return Ok(());
    }
    Err(format!("'{}' is no field; write names and indices with dots between them, 'pose.position.x'", shown(field))
        .into())
}

fn shown(text: &str) -> String {
    text.chars().take(60).collect()
}

fn seconds(key: &str, value: f64) -> Result<Duration, ConditionError> {
    if value.is_finite() && value > 0.0 && value <= MAX_SECONDS {
        return Ok(Duration::from_secs_f64(value));
    }
    Err(format!("'{key}' is {value}; it must be a number of seconds above 0 and at most {MAX_SECONDS}").into())
}

/// How deep it is, and how many checks it has.
fn extent(condition: &Condition) -> (usize, usize) {
    let (depth, checks) = match condition {
        Condition::Check(_) => return (1, 1),
        Condition::And(all) | Condition::Or(all) => {
            all.iter().map(extent).fold((0, 0), |(depth, checks), one| (depth.max(one.0), checks + one.1))
        }
        Condition::Not(inner) => extent(inner),
    };
    (depth + 1, checks)
}

impl From<Condition> for WrittenCondition {
    fn from(condition: Condition) -> Self {
        let empty = Self::default();
        match condition {
            Condition::And(all) => Self { and: Some(all), ..empty },
            Condition::Or(any) => Self { or: Some(any), ..empty },
            Condition::Not(inner) => Self { not: Some(inner), ..empty },
            Condition::Check(Check { source, test, max_age }) => {
                let max_age_s = max_age.map(|age| age.as_secs_f64());
                let source = match source {
                    Source::Topic { topic, field } => {
                        Self { topic: Some(topic), field: (!field.is_empty()).then_some(field), ..empty }
                    }
                    Source::Parameter { parameter } => Self { parameter: Some(parameter), ..empty },
                    Source::Component { component } => Self { component: Some(component), ..empty },
                };
                with_test(Self { max_age_s, ..source }, test)
            }
        }
    }
}

fn with_test(written: WrittenCondition, test: Test) -> WrittenCondition {
    match test {
        Test::Present => written,
        Test::Change => WrittenCondition { change: Some(true), ..written },
        Test::Equal(value) => WrittenCondition { equal: Some(value), ..written },
        Test::Different(value) => WrittenCondition { different: Some(value), ..written },
        Test::Greater(value) => WrittenCondition { greater: Some(value), ..written },
        Test::Less(value) => WrittenCondition { less: Some(value), ..written },
        Test::AtLeast(value) => WrittenCondition { at_least: Some(value), ..written },
        Test::AtMost(value) => WrittenCondition { at_most: Some(value), ..written },
        Test::In(value) => WrittenCondition { one_of: Some(value), ..written },
        Test::Contains(value) => WrittenCondition { contains: Some(value), ..written },
        Test::Near { value, tolerance, unit } => {
            WrittenCondition { near: Some(Near { value, tolerance, unit }), ..written }
        }
    }
}

impl TryFrom<WrittenEvidence> for Evidence {
    type Error = ConditionError;

    fn try_from(WrittenEvidence(mut fields): WrittenEvidence) -> Result<Self, ConditionError> {
        let within = match fields.remove(WITHIN) {
            None => DEFAULT_EVIDENCE_WITHIN,
            Some(value) => {
                let number =
                    value.as_f64().ok_or_else(|| format!("'{WITHIN}' must be a number of seconds; found {value}"));
                seconds(WITHIN, number?)?
            }
        };
        let condition = serde_json::from_value(Value::Object(fields)).map_err(|problem| problem.to_string())?;
        Ok(Self { condition, within })
    }
}

impl From<Evidence> for WrittenEvidence {
    fn from(Evidence { condition, within }: Evidence) -> Self {
        // Only keys that are no text could make it fail; there are none.
        let mut fields = match serde_json::to_value(condition) {
            Ok(Value::Object(fields)) => fields,
            _ => Map::new(),
        };
        fields.insert(WITHIN.to_owned(), within.as_secs_f64().into());
        Self(fields)
    }
}
