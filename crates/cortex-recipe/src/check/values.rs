//! The numbers of conditions: within what their field can be, and with a hysteresis on the right side.

use cortex_protocol::Condition;
use cortex_protocol::condition::{Check, Source, Test};
use serde_json::Value;

use super::Finding;
use crate::topics::Known;
use crate::{Event, Recipe};

/// Fields of usual messages that the comments of those messages give a range: the type, how the path of the field ends,
/// the least and the largest value, and what the number means.
const RANGES: [(&str, &str, f64, f64, &str); 9] = [
    ("sensor_msgs/msg/BatteryState", "percentage", 0.0, 1.0, FRACTION),
    ("sensor_msgs/msg/RelativeHumidity", "relative_humidity", 0.0, 1.0, FRACTION),
    ("sensor_msgs/msg/NavSatFix", "latitude", -90.0, 90.0, "it is in degrees"),
    ("sensor_msgs/msg/NavSatFix", "longitude", -180.0, 180.0, "it is in degrees"),
    ("diagnostic_msgs/msg/DiagnosticStatus", "level", 0.0, 3.0, "0 is OK, 1 WARN, 2 ERROR, 3 STALE"),
    ("", "orientation.x", -1.0, 1.0, QUATERNION),
    ("", "orientation.y", -1.0, 1.0, QUATERNION),
    ("", "orientation.z", -1.0, 1.0, QUATERNION),
    ("", "orientation.w", -1.0, 1.0, QUATERNION),
];
const FRACTION: &str = "it is a fraction: 15 % is 0.15";
const QUATERNION: &str = "it is a part of a quaternion, no angle";
/// Messages with an `orientation`, which is a quaternion in all of them.
const ORIENTED: [&str; 5] = [
    "nav_msgs/msg/Odometry",
    "geometry_msgs/msg/Pose",
    "geometry_msgs/msg/PoseStamped",
    "geometry_msgs/msg/PoseWithCovarianceStamped",
    "sensor_msgs/msg/Imu",
];

pub(super) fn check(recipe: &Recipe, findings: &mut Vec<Finding>) {
    for used in recipe.topic_uses() {
        let Some(check) = used.check else { continue };
        let Some((interface, known)) = recipe.type_of_topic(used.topic) else { continue };
        if let Some((message, mut fix)) = out_of_range(interface, used.field, check) {
            if known == Known::Usual {
                let way_out =
                    format!("; if '{}' is of another type than {interface}, say so in `publishes`", used.topic);
                fix.push_str(&way_out);
            }
            findings.push(Finding { path: used.path.iter().map(|key| key.as_str().into()).collect(), message, fix });
        }
    }
    for (name, event) in &recipe.events {
        if wrong_side(event) {
            findings.push(Finding::new(
                ["events".into(), name.as_str().into(), "until".into()],
                "'until' holds where 'when' still holds: the event would be ready again at once",
                "put the value of 'until' on the other side of that of 'when', some way off: less = 0.2 and greater = \
                 0.5, for example",
            ));
        }
    }
}

/// What is wrong with a comparison of a field of a type of message, and how to fix it: no value of that field can be
/// what it is compared with.
pub(crate) fn out_of_range(interface: &str, field: &str, check: &Check) -> Option<(String, String)> {
    let (.., least, most, meaning) = RANGES.iter().find(|(of, ends, ..)| {
        let is_type = if of.is_empty() { ORIENTED.contains(&interface) } else { *of == interface };
        is_type && field.strip_suffix(ends).is_some_and(|before| before.is_empty() || before.ends_with('.'))
    })?;
    let numbers = match &check.test {
        Test::In(Value::Array(values)) => values.iter().filter_map(Value::as_f64).collect(),
        test => test.value().and_then(Value::as_f64).into_iter().collect::<Vec<_>>(),
    };
    let wrong = numbers.into_iter().find(|number| number < least || number > most)?;
    Some((
        format!("'{field}' of {interface} is a number from {least} to {most}, and never {wrong}"),
        (*meaning).to_owned(),
    ))
}

/// Whether `until` holds for values for which `when` holds, too.
fn wrong_side(event: &Event) -> bool {
    let Some(until) = &event.until else { return false };
    let (Some(when), Some(until)) = (required(&event.when), required(until)) else { return false };
    // Where `until` looks at something else as well, that may be what keeps them apart.
    let [until] = until.as_slice() else { return false };
    let Some(ready) = Span::of(until) else { return false };
    let same = when.iter().filter(|check| check.source == until.source && is_value(&check.source));
    let mut spans = same.map(|check| Span::of(check)).peekable();
    if spans.peek().is_none() {
        return false;
    }
    let mut both = ready;
    for span in spans {
        let Some(span) = span else { return false };
        both = both.and(span);
    }
    both.is_inhabited()
}

fn is_value(source: &Source) -> bool {
    !matches!(source, Source::Component { .. })
}

/// The comparisons that all have to pass. None: there is more to it than that.
fn required(condition: &Condition) -> Option<Vec<&Check>> {
    match condition {
        Condition::Check(check) => Some(vec![check]),
        Condition::And(all) => Some(all.iter().map(required).collect::<Option<Vec<_>>>()?.concat()),
        Condition::Or(_) | Condition::Not(_) => None,
    }
}

/// The numbers that pass a comparison.
#[derive(Debug, Clone, Copy)]
struct Span {
    least: f64,
    most: f64,
    has_least: bool,
    has_most: bool,
    is_point: bool,
}

impl Span {
    fn of(check: &Check) -> Option<Self> {
        let all =
            Self { least: f64::NEG_INFINITY, most: f64::INFINITY, has_least: false, has_most: false, is_point: false };
        let number = check.test.value()?.as_f64()?;
        Some(match &check.test {
            Test::Greater(_) => Self { least: number, ..all },
            Test::AtLeast(_) => Self { least: number, has_least: true, ..all },
            Test::Less(_) => Self { most: number, ..all },
            Test::AtMost(_) => Self { most: number, has_most: true, ..all },
            Test::Equal(_) => Self { least: number, most: number, has_least: true, has_most: true, is_point: true },
            Test::Near { tolerance, unit, .. } if !["rad", "deg"].contains(&unit.as_str()) => Self {
                least: number - tolerance,
                most: number + tolerance,
                has_least: true,
                has_most: true,
                is_point: false,
            },
            _ => return None,
        })
    }

    fn and(self, other: Self) -> Self {
        let (lower, upper) = if self.least >= other.least { (self, other) } else { (other, self) };
        let has_least = lower.has_least && (lower.least > upper.least || upper.has_least);
        let least = lower.least;
        let (lower, upper) = if self.most <= other.most { (self, other) } else { (other, self) };
        let has_most = lower.has_most && (lower.most < upper.most || upper.has_most);
        Self { least, most: lower.most, has_least, has_most, is_point: self.is_point || other.is_point }
    }

    /// Whether there is such a number. Two that only touch, at most 11 and at least 11, are no mistake.
    fn is_inhabited(self) -> bool {
        self.least < self.most || (self.is_point && self.least == self.most && self.has_least && self.has_most)
    }
}
