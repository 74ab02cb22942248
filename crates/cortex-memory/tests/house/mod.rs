//! A house with a robot, for the stories of its memory.
#![allow(dead_code, reason = "each story uses a part of the house")]

use std::path::Path;

use cortex_memory::{
    Cardinality, Claim, Coverage, IS_AT, Layer, LayerKind, Location, MapRef, Memory, MemoryRules, Now, Observation,
    Pose, RelationRule, Source, SourceKind, Value,
};

pub(crate) const MINUTE: u64 = 60_000;
pub(crate) const HOUR: u64 = 60 * MINUTE;
pub(crate) const DAY: u64 = 24 * HOUR;
/// A day in November 2023, from which the stories count.
pub(crate) const START: u64 = 1_700_000_000_000;

pub(crate) fn rules() -> MemoryRules {
    let mut rules = MemoryRules::default();
    rules.layers.insert("things".to_owned(), Layer::new(LayerKind::Perception));
    rules.layers.insert("body".to_owned(), Layer::new(LayerKind::Interoception));
    let battery = RelationRule { cardinality: Cardinality::One, resolution: 0.005 };
    rules.relations.insert("battery".to_owned(), battery);
    rules
}

pub(crate) async fn open(folder: &Path) -> Memory {
    Memory::open(folder.join("memory.sqlite"), rules()).await.expect("it opens")
}

pub(crate) fn now(minute: u64) -> Now {
    Now { wall_ms: START + minute * MINUTE, map: Some(map("7")) }
}

pub(crate) fn map(version: &str) -> MapRef {
    MapRef { id: "ground floor".to_owned(), version: version.to_owned() }
}

pub(crate) fn at_pose(x_m: f64, y_m: f64, version: &str) -> Location {
    Location { pose: Pose { x_m, y_m, yaw_rad: 0.0 }, frame: "map".to_owned(), map: map(version) }
}

/// What the camera says in a minute of the story.
pub(crate) fn camera(subject: &str, claim: Claim, minute: u64) -> Observation {
    Observation {
        subject: subject.to_owned(),
        claim,
        wall_ms: START + minute * MINUTE,
        location: None,
        layer: "things".to_owned(),
        view: None,
        source: Source { kind: SourceKind::Sensor, name: "/camera".to_owned() },
        confidence: None,
    }
}

pub(crate) fn says(kind: SourceKind, name: &str, observation: Observation) -> Observation {
    Observation { source: Source { kind, name: name.to_owned() }, ..observation }
}

pub(crate) fn anna(observation: Observation) -> Observation {
    says(SourceKind::Person, "anna", observation)
}

pub(crate) fn battery(level: f64, minute: u64) -> Observation {
    let claim = Claim::Is { relation: "battery".to_owned(), value: Value::Number(level) };
    Observation { layer: "body".to_owned(), ..camera("robot", claim, minute) }
}

pub(crate) fn is(relation: &str, value: &str) -> Claim {
    Claim::Is { relation: relation.to_owned(), value: text(value) }
}

pub(crate) fn is_at(place: &str) -> Claim {
    is(IS_AT, place)
}

pub(crate) fn not_at(place: &str) -> Claim {
    Claim::IsNot { relation: IS_AT.to_owned(), value: text(place) }
}

pub(crate) fn not_there(place: &str) -> Claim {
    Claim::NotThere { covered: Coverage::Place(place.to_owned()) }
}

pub(crate) fn could_not_see(place: &str, reason: &str) -> Claim {
    Claim::CouldNotSee { covered: Coverage::Place(place.to_owned()), reason: reason.to_owned() }
}

pub(crate) fn text(value: &str) -> Value {
    Value::Text(value.to_owned())
}
