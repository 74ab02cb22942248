//! `[memory]`: what the robot remembers, and from which topics.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use cortex_memory::{
    Cardinality, FORGET, IS_AT, Layer, LayerKind, MapRef, MemoryRules, MessageContent, MessageFields, NOTES, Named,
    NamedRegion, RelationRule, TopicReading,
};
use cortex_protocol::{PolicyRule, PolicyVerdict};
use serde::{Deserialize, Serialize};

use super::{file_name, seconds};

/// The folder of the memories, in the folder of the tapes.
const FOLDER: &str = "memory";
/// Bytes of a megabyte.
const MEGABYTE: u64 = 1_000_000;
/// Largest file, in megabytes.
const MOST_MEGABYTES: u32 = 100_000;
/// Milliseconds of a day.
const DAY_MS: f64 = 86_400_000.0;
/// Longest that observations are kept, in days.
const MOST_DAYS: f64 = 36_500.0;
/// Most layers, places and relations, each.
const MOST_NAMES: usize = 1_000;

/// What the robot remembers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct MemoryConfig {
    pub(crate) enable_memory: bool,
    /// Empty: named after the robot.
    pub(crate) file: String,
    pub(crate) max_mb: u32,
    pub(crate) map_topic: String,
    pub(crate) map_frame: String,
    pub(crate) map: String,
    /// Empty: what the map looks like.
    pub(crate) map_version: String,
    /// 0: not told.
    pub(crate) fresh_look_s: f64,
    #[serde(default)]
    pub(crate) layers: BTreeMap<String, LayerConfig>,
    #[serde(default)]
    pub(crate) places: BTreeMap<String, PlaceConfig>,
    #[serde(default)]
    pub(crate) relations: BTreeMap<String, RelationConfig>,
}

/// From which topic a layer comes, and what of its messages is read. Where all fields are empty, they are
/// `cortex_msgs/msg/Observations`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct LayerConfig {
    kind: LayerKind,
    topic: String,
    #[serde(default)]
    each: String,
    #[serde(default)]
    subject: String,
    #[serde(default)]
    subject_field: String,
    #[serde(default)]
    relation: String,
    #[serde(default)]
    value_field: String,
    #[serde(default)]
    pose_field: String,
    #[serde(default)]
    confidence_field: String,
    #[serde(default = "default_days")]
    max_age_days: f64,
    #[serde(default = "default_rows")]
    max_rows: u64,
    #[serde(default)]
    min_confidence: f64,
}

/// A part of the map that has a name.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PlaceConfig {
    x_m: f64,
    y_m: f64,
    radius_m: f64,
}

/// How a relation behaves.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RelationConfig {
    values: Cardinality,
    #[serde(default)]
    resolution: f64,
}

fn default_days() -> f64 {
    90.0
}

fn default_rows() -> u64 {
    Layer::new(LayerKind::Perception).max_rows
}

impl Default for MemoryConfig {
    fn default() -> Self {
        Self {
            enable_memory: false,
            file: String::new(),
            max_mb: 1_000,
            map_topic: "/map".to_owned(),
            map_frame: "map".to_owned(),
            map: "map".to_owned(),
            map_version: String::new(),
            fresh_look_s: 60.0,
            layers: BTreeMap::new(),
            places: BTreeMap::new(),
            relations: BTreeMap::new(),
        }
    }
}

/// What the robot remembers, and from which topics.
#[derive(Debug, Clone, PartialEq)]
pub struct MemorySettings {
    /// The file.
    pub file: PathBuf,
    /// The layers, relations and bounds.
    pub rules: MemoryRules,
    /// How messages of topics become observations.
    pub readings: Vec<TopicReading>,
    /// The places that have names.
    pub places: Vec<NamedRegion>,
    /// Which map is in use.
    pub map: MapChoice,
    /// The frame of the map.
    pub map_frame: String,
}

/// Which map is in use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MapChoice {
    /// None: poses mean nothing.
    None,
    /// Always this one.
    Fixed(MapRef),
    /// The one on this topic (`nav_msgs/msg/OccupancyGrid`); what it looks like is its version.
    Topic {
        /// The full name.
        topic: String,
        /// The name of the map.
        id: String,
    },
}

/// None: it remembers nothing.
pub(super) fn settings(memory: &MemoryConfig, robot: &str, tapes: &Path) -> anyhow::Result<Option<MemorySettings>> {
    anyhow::ensure!(
        (1..=MOST_MEGABYTES).contains(&memory.max_mb),
        "configuration: memory.max_mb is {}; it must be from 1 to {MOST_MEGABYTES}",
        memory.max_mb
    );
    for (table, number) in
        [("layers", memory.layers.len()), ("places", memory.places.len()), ("relations", memory.relations.len())]
    {
        anyhow::ensure!(
            number <= MOST_NAMES,
            "configuration: memory.{table} has {number} entries; at most {MOST_NAMES} are taken"
        );
    }
    let fresh_look = match memory.fresh_look_s {
        0.0 => Duration::ZERO,
        fresh => seconds("memory.fresh_look_s", fresh)?,
    };
    let mut rules = MemoryRules {
        most_bytes: u64::from(memory.max_mb) * MEGABYTE,
        fresh_look_ms: u64::try_from(fresh_look.as_millis()).unwrap_or(u64::MAX),
        ..MemoryRules::default()
    };
    let mut readings = Vec::new();
    for (name, layer) in &memory.layers {
        anyhow::ensure!(
            name != NOTES,
            "configuration: memory.layers.{NOTES} can't be set: it holds what people and models tell; give the layer another name"
        );
        rules.layers.insert(name.clone(), layer.layer(name)?);
        readings.push(layer.reading(name)?);
    }
    for (name, relation) in &memory.relations {
        anyhow::ensure!(
            relation.resolution.is_finite() && relation.resolution >= 0.0,
            "configuration: memory.relations.{name}.resolution is {}; it must be a number from 0",
            relation.resolution
        );
        let rule = RelationRule { cardinality: relation.values, resolution: relation.resolution };
        rules.relations.insert(name.clone(), rule);
    }
    let places = memory.places.iter().map(|(name, place)| place.region(name)).collect::<anyhow::Result<_>>()?;
    let file = match memory.file.trim() {
        "" => tapes.join(FOLDER).join(format!("{}.sqlite", file_name(robot))),
        file => PathBuf::from(file),
    };
    anyhow::ensure!(
        file.is_absolute(),
        "configuration: memory.file is '{}'; give a full path, or leave it empty for the folder of the tapes",
        file.display()
    );
    let settings = MemorySettings {
        file,
        rules,
        readings,
        places,
        map: map(memory)?,
        map_frame: memory.map_frame.trim_start_matches('/').to_owned(),
    };
    Ok(memory.enable_memory.then_some(settings))
}

/// What is forgotten is gone for good, so a person is asked before a mission does it.
pub(super) fn rule(is_enabled: bool) -> Option<PolicyRule> {
    is_enabled.then(|| PolicyRule {
        then: PolicyVerdict::Ask,
        tools: vec![FORGET.to_owned()],
        effects: Vec::new(),
        arguments: BTreeMap::new(),
        when: None,
        hours: None,
        who: Vec::new(),
        because: "What is forgotten is gone for good.".to_owned(),
    })
}

fn map(memory: &MemoryConfig) -> anyhow::Result<MapChoice> {
    let (id, version, topic) = (memory.map.trim(), memory.map_version.trim(), memory.map_topic.trim());
    anyhow::ensure!(!id.is_empty(), "configuration: memory.map must not be empty; give the map a name");
    if !version.is_empty() {
        return Ok(MapChoice::Fixed(MapRef { id: id.to_owned(), version: version.to_owned() }));
    }
    if topic.is_empty() {
        return Ok(MapChoice::None);
    }
    full_name("map_topic", topic)?;
    Ok(MapChoice::Topic { topic: topic.to_owned(), id: id.to_owned() })
}

fn full_name(key: &str, topic: &str) -> anyhow::Result<()> {
    anyhow::ensure!(
        topic.starts_with('/'),
        "configuration: memory.{key} is '{topic}'; it must be the full name of a topic, such as /{topic}"
    );
    Ok(())
}

impl LayerConfig {
    fn layer(&self, name: &str) -> anyhow::Result<Layer> {
        let days = self.max_age_days;
        anyhow::ensure!(
            days > 0.0 && days <= MOST_DAYS,
            "configuration: memory.layers.{name}.max_age_days is {days}; it must be above 0 and at most {MOST_DAYS}"
        );
        anyhow::ensure!(
            (0.0..=1.0).contains(&self.min_confidence),
            "configuration: memory.layers.{name}.min_confidence is {}; it must be from 0 to 1",
            self.min_confidence
        );
        anyhow::ensure!(self.max_rows > 0, "configuration: memory.layers.{name}.max_rows is 0; it must be at least 1");
        #[allow(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "it is positive, and far below the largest number"
        )]
        let max_age_ms = (days * DAY_MS) as u64;
        Ok(Layer { kind: self.kind, max_age_ms, max_rows: self.max_rows, min_confidence: self.min_confidence })
    }

    fn reading(&self, name: &str) -> anyhow::Result<TopicReading> {
        full_name(&format!("layers.{name}.topic"), &self.topic)?;
        Ok(TopicReading { layer: name.to_owned(), topic: self.topic.clone(), content: self.content(name)? })
    }

    fn content(&self, layer: &str) -> anyhow::Result<MessageContent> {
        let given = |text: &String| (!text.trim().is_empty()).then(|| text.trim().to_owned());
        let fields = [
            &self.each,
            &self.subject,
            &self.subject_field,
            &self.relation,
            &self.value_field,
            &self.pose_field,
            &self.confidence_field,
        ];
        if fields.into_iter().all(|field| given(field).is_none()) {
            return Ok(MessageContent::Observations);
        }
        let key = format!("configuration: memory.layers.{layer}");
        let subject = match (given(&self.subject), given(&self.subject_field)) {
            (Some(name), None) => Named::Fixed(name),
            (None, Some(field)) => Named::Field(field),
            _ => anyhow::bail!(
                "{key} needs either subject, the name of the thing that it is about, or subject_field, the field that names \
                 it; without any field its messages are cortex_msgs/msg/Observations"
            ),
        };
        let (value, pose) = (given(&self.value_field), given(&self.pose_field));
        let relation = match (given(&self.relation), &value, &pose) {
            (_, None, None) => {
                anyhow::bail!(
                    "{key} needs value_field, the field that says what is so, or pose_field, that says where it is"
                )
            }
            (None, Some(_), _) => {
                anyhow::bail!("{key} needs a relation: what its value_field says of the thing, such as \"battery\"")
            }
            (None, None, Some(_)) => IS_AT.to_owned(),
            (Some(relation), _, _) => relation,
        };
        Ok(MessageContent::Fields(MessageFields {
            each: given(&self.each),
            subject,
            relation,
            value,
            pose,
            confidence: given(&self.confidence_field),
        }))
    }
}

impl PlaceConfig {
    fn region(&self, name: &str) -> anyhow::Result<NamedRegion> {
        let Self { x_m, y_m, radius_m } = *self;
        anyhow::ensure!(
            x_m.is_finite() && y_m.is_finite() && radius_m.is_finite() && radius_m > 0.0,
            "configuration: memory.places.{name} needs x_m and y_m, and a radius_m above 0, in metres"
        );
        Ok(NamedRegion { name: name.to_owned(), x_m, y_m, radius_m })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> anyhow::Result<Option<MemorySettings>> {
        let with_defaults = figment::Figment::from(figment::providers::Serialized::defaults(MemoryConfig::default()));
        let config: MemoryConfig =
            with_defaults.merge(<figment::providers::Toml as figment::providers::Format>::string(text)).extract()?;
        settings(&config, "tidy", Path::new("/tapes"))
    }

    fn wrong(text: &str) -> String {
        read(text).expect_err(text).to_string()
    }

    #[test]
    fn nothing_is_remembered_unless_it_is_switched_on() {
        assert_eq!(read("").unwrap(), None);
        let on = read("enable_memory = true").unwrap().unwrap();
        assert_eq!(on.file, Path::new("/tapes/memory/tidy.sqlite"));
        assert_eq!(on.map, MapChoice::Topic { topic: "/map".to_owned(), id: "map".to_owned() });
        let fixed = read("enable_memory = true\nmap_version = \"spring\"").unwrap().unwrap();
        assert_eq!(fixed.map, MapChoice::Fixed(MapRef { id: "map".to_owned(), version: "spring".to_owned() }));
        assert_eq!(read("enable_memory = true\nmap_topic = \"\"").unwrap().unwrap().map, MapChoice::None);
    }

    #[test]
    fn layers_are_read_by_fields_or_as_observations() {
        let text = r#"
            enable_memory = true
            [layers.things]
            kind = "perception"
            topic = "/camera/observations"
            [layers.battery]
            kind = "interoception"
            topic = "/battery"
            subject = "robot"
            relation = "battery"
            value_field = "percentage"
            max_age_days = 7.5
            [places.kitchen]
            x_m = 1
            y_m = 2.0
            radius_m = 3.0
            [relations.battery]
            values = "one"
            resolution = 0.01
        "#;
        let read = read(text).unwrap().unwrap();
        assert_eq!(read.readings.len(), 2);
        assert_eq!(read.readings[1].content, MessageContent::Observations);
        let MessageContent::Fields(fields) = &read.readings[0].content else { panic!("no fields") };
        assert_eq!((fields.relation.as_str(), &fields.subject), ("battery", &Named::Fixed("robot".to_owned())));
        assert_eq!(read.rules.layers["battery"].max_age_ms, 648_000_000);
        assert!(read.rules.layers.contains_key(NOTES), "people can tell it something");
        assert_eq!(read.rules.relations["battery"].cardinality, Cardinality::One);
        assert!(read.rules.relations.contains_key(IS_AT), "the rules of Cortex stay");
        assert_eq!(read.places[0].name, "kitchen");
    }

    #[test]
    fn what_is_wrong_is_named_with_its_fix() {
        let layer = |rest: &str| wrong(&format!("[layers.x]\nkind = \"perception\"\ntopic = \"/x\"\n{rest}"));
        assert!(layer("value_field = \"data\"").contains("needs either subject"));
        assert!(layer("subject = \"x\"").contains("needs value_field"));
        assert!(layer("subject = \"x\"\nvalue_field = \"data\"").contains("needs a relation"));
        assert!(layer("min_confidence = 2").contains("must be from 0 to 1"));
        assert!(layer("max_age_days = 0").contains("above 0"));
        assert!(layer("max_rows = 0").contains("at least 1"));
        assert!(layer("bogus_field = \"data\"").contains("bogus_field"));
        let named = |text: &str, expected: &str| assert!(wrong(text).contains(expected), "{}", wrong(text));
        named("[layers.x]\nkind = \"perception\"\ntopic = \"x\"", "such as /x");
        named("[layers.notes]\nkind = \"perception\"\ntopic = \"/x\"", "another name");
        named("[layers.x]\nkind = \"smell\"\ntopic = \"/x\"", "smell");
        named("[places.x]\nx_m = 0\ny_m = 0\nradius_m = 0", "radius_m above 0");
        named("[relations.x]\nvalues = \"some\"", "some");
        named("[relations.x]\nvalues = \"one\"\nresolution = -1.0", "number from 0");
        named("max_mb = 0", "from 1 to");
        named("map = \"\"", "give the map a name");
        named("map_topic = \"map\"", "such as /map");
        named("file = \"here\"", "full path");
    }
}
