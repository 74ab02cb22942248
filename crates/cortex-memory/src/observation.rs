//! An observation: what a sensor, a person or a model says of a thing, when and where.

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::place::{Location, Region};

/// The relation that says where a thing is. It has one value at a time.
pub const IS_AT: &str = "is at";
/// The relation that says which place another one is in: the table `is part of` the kitchen. It has one value at a time.
pub const IS_PART_OF: &str = "is part of";

/// The layer for what people tell, where a recipe names no other.
pub const NOTES: &str = "notes";

/// Most bytes of a name: of a subject, a relation, a place, a source.
const NAME_BYTES: usize = 200;
/// Most bytes of a text as a value.
const TEXT_BYTES: usize = 2_000;
/// Farther out is no robot, in metres.
const FARTHEST_M: f64 = 1e7;
/// The end of the year 9999, in milliseconds since 1970: later times can't be written as RFC 3339.
const LATEST_MS: u64 = 253_402_300_799_999;

/// What was observed, before it is kept.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Observation {
    /// Of which thing, such as `red cup`. Case, spaces and an article in front make no difference.
    pub subject: String,
    /// What is said of it.
    pub claim: Claim,
    /// When it was observed by the clock of the robot, in milliseconds since 1970. The order of arrival decides what is
    /// later: clocks jump.
    pub wall_ms: u64,
    /// Where the subject was.
    #[serde(default)]
    pub location: Option<Location>,
    /// To which layer it belongs: one that the rules name.
    pub layer: String,
    /// Through which view of a sensor.
    #[serde(default)]
    pub view: Option<View>,
    /// Who says so.
    pub source: Source,
    /// How sure the sensor is, from 0 to 1, where it says so.
    #[serde(default)]
    pub confidence: Option<f64>,
}

/// What is said of a subject.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Claim {
    /// The relation has this value.
    Is {
        /// Such as `is at`.
        relation: String,
        /// Such as `kitchen`.
        value: Value,
    },
    /// The relation does not have this value.
    IsNot {
        /// Such as `is at`.
        relation: String,
        /// Such as `kitchen`.
        value: Value,
    },
    /// All of this was in sight, and the subject was not there.
    NotThere {
        /// What was in sight.
        covered: Coverage,
    },
    /// Somebody looked there, and could not see whether the subject is there.
    CouldNotSee {
        /// Where it was looked for.
        covered: Coverage,
        /// Why, as a clause: `the door was closed`.
        reason: String,
    },
}

/// What a look covered.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Coverage {
    /// A whole place, by its name.
    Place(String),
    /// A part of the map.
    Region(Region),
}

/// A value.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Value {
    /// A name or a text.
    Text(String),
    /// A reading, in the unit that the relation names.
    Number(f64),
    /// Yes or no.
    Flag(bool),
    /// Where the location of the observation says: a place without a name.
    AtPose,
}

/// How a sensor saw it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct View {
    /// Which sensor.
    pub sensor: String,
    /// A number that is the same only for the same picture: its counter or digest. A sensor that repeats one picture shows
    /// nothing new.
    #[serde(default)]
    pub picture: Option<u64>,
}

/// Who says something.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Source {
    /// What kind of source it is. It decides what outranks what.
    pub kind: SourceKind,
    /// Its name, such as `/detections` or `anna`.
    pub name: String,
}

/// What kind of source something is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SourceKind {
    /// A sensor or a part of the robot.
    Sensor,
    /// A person.
    Person,
    /// A language model. Its opinion never changes what sensors and people said.
    Model,
}

/// What is wrong with an observation or a question.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("the {field} {problem}")]
pub struct ObservationProblem {
    /// Which part of it.
    pub field: &'static str,
    /// What is wrong, and what it should be.
    pub problem: String,
}

impl Observation {
    /// What somebody says of a thing, in the layer for what people tell. Without a relation: where it is.
    #[must_use]
    pub fn note(subject: String, relation: Option<String>, value: String, source: Source, wall_ms: u64) -> Self {
        let relation = relation.filter(|relation| !relation.trim().is_empty()).unwrap_or_else(|| IS_AT.to_owned());
        Self {
            subject,
            claim: Claim::Is { relation, value: Value::Text(value) },
            wall_ms,
            location: None,
            layer: NOTES.to_owned(),
            view: None,
            source,
            confidence: None,
        }
    }

    /// Checks all that comes from outside.
    ///
    /// # Errors
    /// The first part that can't be kept.
    pub fn check(&self) -> Result<(), ObservationProblem> {
        name("subject", &self.subject)?;
        name("layer", &self.layer)?;
        name("source", &self.source.name)?;
        if let Some(view) = &self.view {
            name("sensor", &view.sensor)?;
        }
        time(self.wall_ms)?;
        if self.confidence.is_some_and(|confidence| !(0.0..=1.0).contains(&confidence)) {
            return Err(problem("confidence", "is not between 0 and 1"));
        }
        if let Some(location) = &self.location {
            numbers("location", &[location.pose.x_m, location.pose.y_m, location.pose.yaw_rad])?;
            names("location", [&location.frame, &location.map.id, &location.map.version])?;
        }
        match &self.claim {
            Claim::Is { relation, value } | Claim::IsNot { relation, value } => {
                name("relation", relation)?;
                self.check_value(value)
            }
            Claim::NotThere { covered } => check_coverage(covered),
            Claim::CouldNotSee { covered, reason } => {
                name("reason", reason)?;
                check_coverage(covered)
            }
        }
    }

    fn check_value(&self, value: &Value) -> Result<(), ObservationProblem> {
        match value {
            Value::Text(text) if text.trim().is_empty() => Err(problem("value", "is empty")),
            Value::Text(text) if text.len() > TEXT_BYTES => {
                Err(problem("value", &format!("has {} bytes; at most {TEXT_BYTES} are kept", text.len())))
            }
            Value::Text(text) if text.contains('\0') => Err(problem("value", "holds a null character")),
            Value::Number(number) if !number.is_finite() => Err(problem("value", "is no finite number")),
            Value::AtPose if self.location.is_none() => {
                Err(problem("value", "is its pose, but it has no location; give one, or name the place"))
            }
            Value::Text(_) | Value::Number(_) | Value::Flag(_) | Value::AtPose => Ok(()),
        }
    }
}

impl Claim {
    /// The name of the relation; a look is about where the subject is.
    #[must_use]
    pub fn relation(&self) -> &str {
        match self {
            Self::Is { relation, .. } | Self::IsNot { relation, .. } => relation,
            Self::NotThere { .. } | Self::CouldNotSee { .. } => IS_AT,
        }
    }
}

/// A place or region that can be looked at.
pub(crate) fn check_coverage(covered: &Coverage) -> Result<(), ObservationProblem> {
    match covered {
        Coverage::Place(place) => name("covered place", place),
        Coverage::Region(region) if region.radius_m.is_nan() || region.radius_m <= 0.0 => {
            Err(problem("covered region", "has no radius above 0"))
        }
        Coverage::Region(region) => {
            numbers("covered region", &[region.x_m, region.y_m, region.radius_m])?;
            names("covered region", [&region.frame, &region.map.id, &region.map.version])
        }
    }
}

fn names(field: &'static str, all: [&String; 3]) -> Result<(), ObservationProblem> {
    all.into_iter().try_for_each(|one| name(field, one))
}

/// A time that can be kept, in milliseconds since 1970.
pub(crate) fn time(wall_ms: u64) -> Result<(), ObservationProblem> {
    let is_bad = wall_ms > LATEST_MS;
    if is_bad { Err(problem("time", "is after the year 9999; give milliseconds since 1970")) } else { Ok(()) }
}

/// A name that can be kept.
pub(crate) fn name(field: &'static str, name: &str) -> Result<(), ObservationProblem> {
    if name.trim().is_empty() {
        return Err(problem(field, "has an empty name"));
    }
    if name.len() > NAME_BYTES || name.contains(char::is_control) {
        return Err(problem(field, &format!("needs a name of at most {NAME_BYTES} bytes without control characters")));
    }
    Ok(())
}

fn numbers(field: &'static str, numbers: &[f64]) -> Result<(), ObservationProblem> {
    let is_good = |number: &f64| number.is_finite() && number.abs() <= FARTHEST_M;
    if numbers.iter().all(is_good) {
        Ok(())
    } else {
        Err(problem(field, "has a number that is not finite, or too far out"))
    }
}

fn problem(field: &'static str, problem: &str) -> ObservationProblem {
    ObservationProblem { field, problem: problem.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::place::{MapRef, Pose};

    fn good() -> Observation {
        Observation {
            subject: "red cup".to_owned(),
            claim: Claim::Is { relation: IS_AT.to_owned(), value: Value::Text("kitchen".to_owned()) },
            wall_ms: 1_000,
            location: Some(Location {
                pose: Pose { x_m: 1.0, y_m: 2.0, yaw_rad: 0.0 },
                frame: "map".to_owned(),
                map: MapRef { id: "floor".to_owned(), version: "1".to_owned() },
            }),
            layer: "things".to_owned(),
            view: Some(View { sensor: "camera".to_owned(), picture: Some(1) }),
            source: Source { kind: SourceKind::Sensor, name: "/detections".to_owned() },
            confidence: Some(0.9),
        }
    }

    fn refused(change: impl FnOnce(&mut Observation)) -> &'static str {
        let mut observation = good();
        change(&mut observation);
        observation.check().expect_err("it can't be kept").field
    }

    #[test]
    fn a_good_one_is_kept_and_each_bad_part_is_named() {
        good().check().expect("it is good");
        assert_eq!(refused(|it| it.subject = " ".to_owned()), "subject");
        assert_eq!(refused(|it| it.subject = "x".repeat(201)), "subject");
        assert_eq!(refused(|it| it.layer = "two\nlines".to_owned()), "layer");
        assert_eq!(refused(|it| it.source.name.clear()), "source");
        assert_eq!(refused(|it| it.wall_ms = u64::MAX), "time");
        assert_eq!(refused(|it| it.confidence = Some(f64::NAN)), "confidence");
        assert_eq!(refused(|it| it.confidence = Some(1.1)), "confidence");
        assert_eq!(refused(|it| it.location.as_mut().unwrap().pose.x_m = f64::INFINITY), "location");
        assert_eq!(refused(|it| it.location.as_mut().unwrap().map.version.clear()), "location");
        let is = |value| Claim::Is { relation: IS_AT.to_owned(), value };
        assert_eq!(refused(|it| it.claim = is(Value::Number(f64::NAN))), "value");
        assert_eq!(refused(|it| it.claim = is(Value::Text("x".repeat(2_001)))), "value");
        assert_eq!(
            refused(|it| {
                it.claim = is(Value::AtPose);
                it.location = None;
            }),
            "value"
        );
        assert_eq!(
            refused(|it| it.claim = Claim::NotThere { covered: Coverage::Place(String::new()) }),
            "covered place"
        );
        let region = Region {
            x_m: 0.0,
            y_m: 0.0,
            radius_m: f64::NAN,
            frame: "map".to_owned(),
            map: MapRef { id: "floor".to_owned(), version: "1".to_owned() },
        };
        assert_eq!(refused(|it| it.claim = Claim::NotThere { covered: Coverage::Region(region) }), "covered region");
    }
}
