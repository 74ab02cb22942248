//! Messages of topics as observations. Pure: no topic is heard here.
//!
//! A message is `cortex_msgs/msg/Observations`, which says all by itself, or of any type, of which a recipe names the fields.

use cortex_core::condition::at_path;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;
use thiserror::Error;

use crate::observation::{Claim, Coverage, IS_AT, Observation, ObservationProblem, Source, SourceKind, Value, View};
use crate::place::{Location, MapRef, Pose, Region};
use crate::rules::LayerKind;

/// Most observations of one message.
const MOST: usize = 1_000;

/// How the messages of a topic become observations of a layer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TopicReading {
    /// The layer.
    pub layer: String,
    /// The full name of the topic. It is the source of what is observed.
    pub topic: String,
    /// What is read of a message.
    pub content: MessageContent,
}

/// What is read of a message.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum MessageContent {
    /// The message is `cortex_msgs/msg/Observations`.
    Observations,
    /// The message is of any type, and has these fields.
    Fields(MessageFields),
}

/// The fields of a message, by paths such as `detections.0.pose`: names of the message's definition and places in lists.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MessageFields {
    /// The list whose elements are observations each; the other fields are then fields of an element. None: the message is
    /// one observation.
    pub each: Option<String>,
    /// The thing.
    pub subject: Named,
    /// What is said of it.
    pub relation: String,
    /// The value. None: where its pose is.
    pub value: Option<String>,
    /// The pose of the thing: a pose, or a point.
    pub pose: Option<String>,
    /// How sure the sensor is, from 0 to 1.
    pub confidence: Option<String>,
}

/// A name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Named {
    /// Always this one.
    Fixed(String),
    /// The text of this field.
    Field(String),
}

/// A part of the map that has a name. What is seen in it is at that place.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct NamedRegion {
    /// Such as `kitchen`.
    pub name: String,
    /// Its centre, in metres.
    pub x_m: f64,
    /// Its centre, in metres.
    pub y_m: f64,
    /// In metres.
    pub radius_m: f64,
}

/// Under which circumstances a message has come.
#[derive(Debug, Clone, Copy)]
pub struct Arrival<'a> {
    /// When it was made, by the clock of the robot, in milliseconds since 1970.
    pub wall_ms: u64,
    /// Whether nobody knows when it was made. What the world looked like then is not told by it; of the body it is the state
    /// that holds.
    pub is_of_unknown_age: bool,
    /// The map that is in use. Without one, poses mean nothing and are left out.
    pub map: Option<&'a MapRef>,
    /// The frame of the map: poses in other frames are left out.
    pub map_frame: &'a str,
    /// The places that have names, on the map.
    pub places: &'a [NamedRegion],
}

/// Why a message, or a part of it, makes no observation.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum IntakeProblem {
    /// The message has no such field.
    #[error("it has no field '{0}'")]
    NoField(String),
    /// The field holds something else.
    #[error("its field '{field}' holds no {wanted}")]
    Unfit {
        /// Which.
        field: String,
        /// What it should hold.
        wanted: &'static str,
    },
    /// There are too many.
    #[error("it holds {0} observations; the first {MOST} are taken")]
    TooMany(usize),
    /// What it says can't be kept.
    #[error(transparent)]
    Unkept(#[from] ObservationProblem),
}

/// What a message makes: the observations that can be kept, and what is wrong with the first that can't.
#[derive(Debug, Default)]
pub struct Taken {
    /// In the order of the message.
    pub observations: Vec<Observation>,
    /// What is wrong with what was left out.
    pub problem: Option<IntakeProblem>,
}

impl TopicReading {
    /// Reads a message for a layer of this kind.
    #[must_use]
    pub fn read(&self, message: &Json, kind: LayerKind, arrival: &Arrival<'_>) -> Taken {
        if arrival.is_of_unknown_age && kind == LayerKind::Perception {
            return Taken::default();
        }
        match &self.content {
            MessageContent::Observations => {
                self.all(message, Some("observations"), |one| self.observation(message, one, arrival))
            }
            MessageContent::Fields(fields) => {
                self.all(message, fields.each.as_deref(), |one| self.reading(fields, message, one, arrival))
            }
        }
    }

    fn all(
        &self,
        message: &Json,
        list: Option<&str>,
        read: impl Fn(&Json) -> Result<Option<Observation>, IntakeProblem>,
    ) -> Taken {
        let elements = match list {
            None => std::slice::from_ref(message),
            Some(list) => match field(message, list).map(Json::as_array) {
                Ok(Some(elements)) => elements.as_slice(),
                Ok(None) => return failed(IntakeProblem::Unfit { field: list.to_owned(), wanted: "list" }),
                Err(problem) => return failed(problem),
            },
        };
        let mut taken = Taken::default();
        if elements.len() > MOST {
            taken.problem = Some(IntakeProblem::TooMany(elements.len()));
        }
        for element in elements.iter().take(MOST) {
            let checked = read(element).and_then(|one| match one {
                Some(one) => one.check().map(|()| Some(one)).map_err(IntakeProblem::from),
                None => Ok(None),
            });
            match checked {
                Ok(one) => taken.observations.extend(one),
                Err(problem) => {
                    taken.problem.get_or_insert(problem);
                }
            }
        }
        taken
    }

    fn source(&self) -> Source {
        Source { kind: SourceKind::Sensor, name: self.topic.clone() }
    }

    /// One of `cortex_msgs/msg/Observations`.
    fn observation(
        &self,
        message: &Json,
        one: &Json,
        arrival: &Arrival<'_>,
    ) -> Result<Option<Observation>, IntakeProblem> {
        let frame = text(message, "frame")?;
        let location = match field(one, "has_pose")?.as_bool() {
            Some(true) => located(one, frame, arrival)?,
            _ => None,
        };
        let covered = || -> Result<Option<Coverage>, IntakeProblem> {
            match (text(one, "place")?, &location) {
                ("", Some(at)) => Ok(Some(Coverage::Region(Region {
                    x_m: at.pose.x_m,
                    y_m: at.pose.y_m,
                    radius_m: number(one, "radius_m")?,
                    frame: at.frame.clone(),
                    map: at.map.clone(),
                }))),
                // Without a map, nobody can say what was looked at.
                ("", None) => Ok(None),
                (place, _) => Ok(Some(Coverage::Place(place.to_owned()))),
            }
        };
        let relation = match text(one, "relation")? {
            "" => IS_AT.to_owned(),
            relation => relation.to_owned(),
        };
        let value = || -> Result<Option<Value>, IntakeProblem> {
            match text(one, "value")? {
                "" => Ok(place_of(location.as_ref(), arrival)),
                value => Ok(Some(Value::Text(value.to_owned()))),
            }
        };
        let claim = match field(one, "claim")?.as_u64() {
            Some(0) => value()?.map(|value| Claim::Is { relation, value }),
            Some(1) => value()?.map(|value| Claim::IsNot { relation, value }),
            Some(2) => covered()?.map(|covered| Claim::NotThere { covered }),
            Some(3) => {
                let reason = text(one, "reason")?.to_owned();
                covered()?.map(|covered| Claim::CouldNotSee { covered, reason })
            }
            _ => return Err(IntakeProblem::Unfit { field: "claim".to_owned(), wanted: "claim from 0 to 3" }),
        };
        let Some(claim) = claim else { return Ok(None) };
        let sensor = text(message, "sensor")?;
        let picture = field(message, "picture")?.as_u64().filter(|picture| *picture > 0);
        let view = (!sensor.is_empty()).then(|| View { sensor: sensor.to_owned(), picture });
        let confidence = Some(number(one, "confidence")?).filter(|confidence| *confidence >= 0.0);
        // What a look covered is no pose of the thing.
        let location = location.filter(|_| matches!(claim, Claim::Is { .. } | Claim::IsNot { .. }));
        Ok(Some(Observation {
            subject: text(one, "subject")?.to_owned(),
            claim,
            wall_ms: arrival.wall_ms,
            location,
            layer: self.layer.clone(),
            view,
            source: self.source(),
            confidence,
        }))
    }

    /// One of fields that a recipe names.
    fn reading(
        &self,
        fields: &MessageFields,
        message: &Json,
        one: &Json,
        arrival: &Arrival<'_>,
    ) -> Result<Option<Observation>, IntakeProblem> {
        let frame = at_path(message, "header.frame_id").and_then(Json::as_str).unwrap_or_default();
        let location = match &fields.pose {
            Some(path) => located(pose_of(one, path)?, frame, arrival)?,
            None => None,
        };
        let value = match &fields.value {
            Some(path) => value(one, path)?,
            None => place_of(location.as_ref(), arrival),
        };
        let Some(value) = value else { return Ok(None) };
        let subject = match &fields.subject {
            Named::Fixed(name) => name.clone(),
            Named::Field(path) => text(one, path)?.to_owned(),
        };
        let confidence = fields.confidence.as_deref().map(|path| number(one, path)).transpose()?;
        Ok(Some(Observation {
            subject,
            claim: Claim::Is { relation: fields.relation.clone(), value },
            wall_ms: arrival.wall_ms,
            location,
            layer: self.layer.clone(),
            view: None,
            source: self.source(),
            confidence,
        }))
    }
}

fn failed(problem: IntakeProblem) -> Taken {
    Taken { observations: Vec::new(), problem: Some(problem) }
}

fn field<'a>(message: &'a Json, path: &str) -> Result<&'a Json, IntakeProblem> {
    at_path(message, path).ok_or_else(|| IntakeProblem::NoField(path.to_owned()))
}

fn text<'a>(message: &'a Json, path: &str) -> Result<&'a str, IntakeProblem> {
    let unfit = || IntakeProblem::Unfit { field: path.to_owned(), wanted: "text" };
    field(message, path)?.as_str().map(str::trim).ok_or_else(unfit)
}

fn number(message: &Json, path: &str) -> Result<f64, IntakeProblem> {
    let unfit = || IntakeProblem::Unfit { field: path.to_owned(), wanted: "number" };
    field(message, path)?.as_f64().ok_or_else(unfit)
}

/// The value of a field. None: there is none now, as a sensor says by a number that is none.
fn value(message: &Json, path: &str) -> Result<Option<Value>, IntakeProblem> {
    match field(message, path)? {
        Json::Bool(flag) => Ok(Some(Value::Flag(*flag))),
        Json::Number(number) => Ok(number.as_f64().map(Value::Number)),
        Json::String(text) if ["NaN", "Infinity", "-Infinity", ""].contains(&text.trim()) => Ok(None),
        Json::String(text) => Ok(Some(Value::Text(text.trim().to_owned()))),
        Json::Null | Json::Array(_) | Json::Object(_) => {
            Err(IntakeProblem::Unfit { field: path.to_owned(), wanted: "text, number, or truth value" })
        }
    }
}

/// The pose within what may be a pose with a covariance, or with a header.
fn pose_of<'a>(message: &'a Json, path: &str) -> Result<&'a Json, IntakeProblem> {
    let mut pose = field(message, path)?;
    while let Some(inner) = pose.get("pose") {
        pose = inner;
    }
    Ok(pose)
}

/// A pose on the map: as a pose, a point, or `x_m`, `y_m` and `yaw_rad`. None: it is in another frame, or there is no map.
fn located(pose: &Json, frame: &str, arrival: &Arrival<'_>) -> Result<Option<Location>, IntakeProblem> {
    let frame = frame.trim_start_matches('/');
    let Some(map) = arrival.map.filter(|_| frame == arrival.map_frame) else { return Ok(None) };
    let pose = if pose.get("x_m").is_some() {
        Pose { x_m: number(pose, "x_m")?, y_m: number(pose, "y_m")?, yaw_rad: number(pose, "yaw_rad")? }
    } else {
        let position = pose.get("position").unwrap_or(pose);
        let yaw_rad = pose.get("orientation").map(yaw).transpose()?.unwrap_or_default();
        Pose { x_m: number(position, "x")?, y_m: number(position, "y")?, yaw_rad }
    };
    Ok(Some(Location { pose, frame: frame.to_owned(), map: map.clone() }))
}

/// The turn around the vertical axis of a quaternion (REP 103), in radians.
fn yaw(orientation: &Json) -> Result<f64, IntakeProblem> {
    let [x, y, z, w] =
        [number(orientation, "x")?, number(orientation, "y")?, number(orientation, "z")?, number(orientation, "w")?];
    Ok((2.0 * (w * z + x * y)).atan2(1.0 - 2.0 * (y * y + z * z)))
}

/// The place that a location is in: the nearest one that has a name, or else the location itself.
fn place_of(location: Option<&Location>, arrival: &Arrival<'_>) -> Option<Value> {
    let Location { pose, .. } = location?;
    let distance_m = |place: &NamedRegion| (place.x_m - pose.x_m).hypot(place.y_m - pose.y_m);
    let around = arrival.places.iter().filter(|place| distance_m(place) <= place.radius_m);
    let nearest = around.min_by(|one, other| distance_m(one).total_cmp(&distance_m(other)));
    Some(nearest.map_or(Value::AtPose, |place| Value::Text(place.name.clone())))
}

#[cfg(test)]
mod fuzzed;
#[cfg(test)]
mod tests;
