//! The rules of a memory: its layers, its relations and its bounds. A recipe names them.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::observation::{IS_AT, IS_PART_OF, NOTES, Value};
use crate::place::Location;
use crate::words::key;

/// The rules of a memory.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MemoryRules {
    /// The layers, by name. An observation of another layer is refused.
    pub layers: BTreeMap<String, Layer>,
    /// The relations that are not as their layer has them, by name.
    pub relations: BTreeMap<String, RelationRule>,
    /// Most bytes of the file.
    pub most_bytes: u64,
    /// For how long after a place was looked at a plan is told so, in milliseconds. 0: not at all.
    #[serde(default = "fresh_look_ms")]
    pub fresh_look_ms: u64,
}

/// A minute.
fn fresh_look_ms() -> u64 {
    60_000
}

/// A layer: what comes from one kind of sensing.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Layer {
    /// What it is about.
    pub kind: LayerKind,
    /// Rows of observations are forgotten when they were last seen longer ago, in milliseconds. What people said is not.
    pub max_age_ms: u64,
    /// Most rows of observations; the least telling ones are forgotten first.
    pub max_rows: u64,
    /// An observation that is less sure, from 0 to 1, is kept and makes no fact.
    pub min_confidence: f64,
}

/// What a layer is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LayerKind {
    /// The world around the robot.
    Perception,
    /// The robot's own body: battery, faults, temperatures.
    Interoception,
}

/// How a relation behaves.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct RelationRule {
    /// How many values it has at a time.
    pub cardinality: Cardinality,
    /// Numbers that differ by no more are the same reading, in the unit of the relation.
    pub resolution: f64,
}

/// How many values a relation has at a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cardinality {
    /// One: another value ends the one before.
    One,
    /// Many: values never end each other.
    Many,
}

impl Layer {
    /// A layer that keeps 90 days and 1,000,000 rows.
    #[must_use]
    pub fn new(kind: LayerKind) -> Self {
        Self { kind, max_age_ms: 90 * 24 * 3_600_000, max_rows: 1_000_000, min_confidence: 0.0 }
    }
}

impl Default for MemoryRules {
    /// The layer for what people tell, where things are, at most 1 GiB, and looks of the last minute.
    fn default() -> Self {
        let one = RelationRule { cardinality: Cardinality::One, resolution: 0.0 };
        Self {
            layers: [(NOTES.to_owned(), Layer::new(LayerKind::Perception))].into(),
            relations: [(IS_AT.to_owned(), one), (IS_PART_OF.to_owned(), one)].into(),
            most_bytes: 1 << 30,
            fresh_look_ms: fresh_look_ms(),
        }
    }
}

impl MemoryRules {
    /// The rule of a relation in a layer. One that is not declared has many values in a layer of perception, so that nothing
    /// ends by mistake, and one in a layer of the body: readings follow each other.
    #[must_use]
    pub fn relation(&self, relation: &str, layer: &Layer) -> RelationRule {
        let declared = self.relations.iter().find(|(name, _)| key(name) == key(relation));
        declared.map_or_else(
            || {
                let cardinality = match layer.kind {
                    LayerKind::Perception => Cardinality::Many,
                    LayerKind::Interoception => Cardinality::One,
                };
                RelationRule { cardinality, resolution: 0.0 }
            },
            |(_, rule)| *rule,
        )
    }

    /// The layers of a kind, in the order of their names.
    pub fn of_kind(&self, kind: LayerKind) -> impl Iterator<Item = &str> {
        self.layers.iter().filter(move |(_, layer)| layer.kind == kind).map(|(name, _)| name.as_str())
    }
}

impl RelationRule {
    /// Whether two values are the same. A place without a name is the same as long as it is near.
    pub(crate) fn same(self, one: (&Value, Option<&Location>), other: (&Value, Option<&Location>)) -> bool {
        match (one.0, other.0) {
            (Value::Text(one), Value::Text(other)) => key(one) == key(other),
            (Value::Number(one), Value::Number(other)) => (one - other).abs() <= self.resolution,
            (Value::Flag(one), Value::Flag(other)) => one == other,
            (Value::AtPose, Value::AtPose) => match (one.1, other.1) {
                (Some(one), Some(other)) => one.is_near(other),
                _ => false,
            },
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_relation_that_nobody_declared_ends_nothing_in_the_world() {
        let rules = MemoryRules::default();
        let cardinality = |relation, kind| rules.relation(relation, &Layer::new(kind)).cardinality;
        assert_eq!(cardinality("likes", LayerKind::Perception), Cardinality::Many);
        assert_eq!(cardinality("battery", LayerKind::Interoception), Cardinality::One);
        assert_eq!(cardinality("Is  at", LayerKind::Perception), Cardinality::One);
    }

    #[test]
    fn readings_are_the_same_within_the_resolution() {
        let rule = RelationRule { cardinality: Cardinality::One, resolution: 0.01 };
        let same = |one: &Value, other: &Value| rule.same((one, None), (other, None));
        assert!(same(&Value::Number(0.73), &Value::Number(0.735)) && !same(&Value::Number(0.73), &Value::Number(0.75)));
        assert!(same(&Value::Text("The Kitchen".to_owned()), &Value::Text("kitchen".to_owned())));
        assert!(!same(&Value::Flag(true), &Value::Number(1.0)));
        assert!(!same(&Value::AtPose, &Value::AtPose), "without a location nobody can tell");
    }
}
