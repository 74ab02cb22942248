//! Reading and checking a world file. What is wrong is named with its key and with how to fix it.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use thiserror::Error;

use super::{Room, World};

/// The world that is built into the program.
pub const BUILT_IN: &str = include_str!("../../../../config/worlds/home.toml");

/// Largest world file that is read, in bytes.
const MAX_FILE_BYTES: u64 = 1 << 20;
/// Most rooms of a world: their names go to a model with each description.
const MAX_ROOMS: usize = 100;
/// Longest name of a room or a thing, in characters.
const MAX_NAME_CHARACTERS: usize = 60;
/// Farthest that a room may be from the origin, in metres.
const MAX_COORDINATE_M: f64 = 10_000.0;
/// How far apart the middles of two rooms must be, in metres.
const MIN_DISTANCE_M: f64 = 0.1;

/// Why a world can't be used.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum WorldError {
    /// The file can't be read.
    #[error("the world file {} can't be read: {source}", path.display())]
    Unreadable {
        /// Which file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// Not TOML of the expected form.
    #[error("{world}: {problem}")]
    Malformed {
        /// Which world.
        world: String,
        /// What the parser says, with line and column.
        problem: String,
    },
    /// A value that makes no sense.
    #[error("{world}: {key}: {problem}; {fix}")]
    Invalid {
        /// Which world.
        world: String,
        /// Which value.
        key: String,
        /// What is wrong.
        problem: String,
        /// What to do.
        fix: String,
    },
}

/// A problem before it is known in which world.
struct Problem {
    key: String,
    problem: String,
    fix: String,
}

fn problem(key: impl Into<String>, problem: impl Into<String>, fix: impl Into<String>) -> Result<(), Problem> {
    Err(Problem { key: key.into(), problem: problem.into(), fix: fix.into() })
}

impl World {
    /// The world of that file, or the built-in one.
    ///
    /// # Errors
    /// When the file can't be read or what it says makes no sense.
    pub fn load(path: Option<&Path>) -> Result<Self, WorldError> {
        let Some(path) = path else { return Self::parse("the built-in world", BUILT_IN) };
        let unreadable = |source| WorldError::Unreadable { path: path.to_owned(), source };
        let length = std::fs::metadata(path).map_err(unreadable)?.len();
        if length > MAX_FILE_BYTES {
            return Err(WorldError::Malformed {
                world: path.display().to_string(),
                problem: format!("the file has {length} bytes; at most {MAX_FILE_BYTES} are read"),
            });
        }
        Self::parse(&path.display().to_string(), &std::fs::read_to_string(path).map_err(unreadable)?)
    }

    /// Reads a world from text; `label` names it in errors.
    ///
    /// # Errors
    /// When what it says makes no sense.
    pub fn parse(label: &str, text: &str) -> Result<Self, WorldError> {
        let world: Self = toml::from_str(text)
            .map_err(|error| WorldError::Malformed { world: label.to_owned(), problem: error.to_string() })?;
        match world.check() {
            Ok(()) => Ok(world),
            Err(Problem { key, problem, fix }) => {
                Err(WorldError::Invalid { world: label.to_owned(), key, problem, fix })
            }
        }
    }

    fn check(&self) -> Result<(), Problem> {
        if self.rooms.is_empty() || self.rooms.len() > MAX_ROOMS {
            return problem("rooms", format!("there are {}", self.rooms.len()), format!("give 1 to {MAX_ROOMS}"));
        }
        let mut seen = BTreeSet::new();
        for (index, room) in self.rooms.iter().enumerate() {
            check_room(index, room)?;
            if !seen.insert(room.name.as_str()) {
                return problem(format!("rooms[{index}].name"), format!("'{}' comes twice", room.name), "rename one");
            }
            let mut earlier = self.rooms.iter().take(index);
            let too_near = |other: &&Room| other.position().distance_m(room.position()) < MIN_DISTANCE_M;
            if let Some(other) = earlier.find(too_near) {
                return problem(
                    format!("rooms[{index}].x"),
                    format!("the {} is where the {} is", room.name, other.name),
                    format!("put them at least {MIN_DISTANCE_M} m apart"),
                );
            }
        }
        let known = format!("name one of the rooms: {}", seen.iter().copied().collect::<Vec<_>>().join(", "));
        for (key, name) in [("start", &self.start), ("dock", &self.dock)] {
            if !seen.contains(name.as_str()) {
                return problem(key, format!("there is no room '{name}'"), known);
            }
        }
        for (index, (one, other)) in self.doors.iter().enumerate() {
            let key = format!("doors[{index}]");
            if let Some(name) = [one, other].into_iter().find(|name| !seen.contains(name.as_str())) {
                return problem(key, format!("there is no room '{name}'"), known);
            }
            if one == other {
                return problem(key, format!("'{one}' leads to itself"), "name two different rooms");
            }
        }
        self.check_reach()?;
        within("time_scale", self.time_scale, 0.01, 1000.0)?;
        within("base.speed_mps", self.base.speed_mps, 0.05, 10.0)?;
        let battery = &self.battery;
        within("battery.start_percent", battery.start_percent, 0.0, 100.0)?;
        within("battery.capacity_ah", battery.capacity_ah, 0.1, 1000.0)?;
        within("battery.voltage_v", battery.voltage_v, 1.0, 1000.0)?;
        within("battery.drain_percent_per_metre", battery.drain_percent_per_metre, 0.0, 100.0)?;
        within("battery.drain_percent_per_second", battery.drain_percent_per_second, 0.0, 100.0)?;
        within("battery.charge_percent_per_second", battery.charge_percent_per_second, 0.0, 100.0)
    }

    /// Every room must be reachable from the start.
    fn check_reach(&self) -> Result<(), Problem> {
        let mut reached = BTreeSet::from([self.start.as_str()]);
        loop {
            let before = reached.len();
            for (one, other) in &self.doors {
                if reached.contains(one.as_str()) || reached.contains(other.as_str()) {
                    reached.extend([one.as_str(), other.as_str()]);
                }
            }
            if reached.len() == before {
                break;
            }
        }
        match self.rooms.iter().find(|room| !reached.contains(room.name.as_str())) {
            None => Ok(()),
            Some(room) => problem(
                "doors",
                format!("the {} can't be reached from the {}", room.name, self.start),
                format!("add a door, for example [\"{}\", \"{}\"]", self.start, room.name),
            ),
        }
    }
}

fn check_room(index: usize, room: &Room) -> Result<(), Problem> {
    let key = |field: &str| format!("rooms[{index}].{field}");
    let is_word = |word: &str| !word.is_empty() && word.chars().all(|one| one.is_lowercase() || one.is_numeric());
    if room.name.chars().count() > MAX_NAME_CHARACTERS || !room.name.split(' ').all(is_word) {
        return problem(
            key("name"),
            format!("'{}' is not what people say", room.name),
            format!("give lower-case words with one blank between them, at most {MAX_NAME_CHARACTERS} characters"),
        );
    }
    within(&key("x"), room.x, -MAX_COORDINATE_M, MAX_COORDINATE_M)?;
    within(&key("y"), room.y, -MAX_COORDINATE_M, MAX_COORDINATE_M)?;
    for (place, thing) in room.sees.iter().enumerate() {
        if thing.trim().is_empty() || thing.chars().count() > MAX_NAME_CHARACTERS {
            return problem(
                key(&format!("sees[{place}]")),
                format!("'{thing}' is no thing"),
                format!("give a thing with its article, at most {MAX_NAME_CHARACTERS} characters"),
            );
        }
    }
    Ok(())
}

fn within(key: &str, value: f64, least: f64, most: f64) -> Result<(), Problem> {
    // Also false for what is not a number.
    if (least..=most).contains(&value) {
        Ok(())
    } else {
        problem(key, format!("{value} is out of range"), format!("give a number from {least} to {most}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_built_in_world_is_sound() {
        let world = World::load(None).unwrap();
        assert_eq!(world.start, "living room");
        assert_eq!(world.rooms.len(), 6);
    }

    #[test]
    fn what_is_wrong_is_named_with_its_fix() {
        let table = [
            (
                "start = \"living room\"",
                "start = \"cellar\"",
                "start: there is no room 'cellar'; name one of the rooms:",
            ),
            ("dock = \"living room\"", "dock = \"\"", "dock: there is no room ''"),
            ("\"kitchen\"],", "\"kitchn\"],", "doors[1]: there is no room 'kitchn'"),
            ("[\"hallway\", \"kitchen\"]", "[\"hallway\", \"hallway\"]", "doors[1]: 'hallway' leads to itself"),
            (
                "    [\"hallway\", \"kitchen\"],\n",
                "",
                "doors: the kitchen can't be reached from the living room; add a door, for example [\"living room\", \"kitchen\"]",
            ),
            ("speed_mps = 1.2", "speed_mps = 0", "base.speed_mps: 0 is out of range; give a number from 0.05 to 10"),
            ("speed_mps = 1.2", "speed_mps = nan", "base.speed_mps: NaN is out of range"),
            ("time_scale = 1.0", "time_scale = -1.0", "time_scale: -1 is out of range"),
            ("start_percent = 87.0", "start_percent = 870.0", "battery.start_percent: 870 is out of range"),
            ("name = \"office\"", "name = \"Office\"", "rooms[5].name: 'Office' is not what people say"),
            ("name = \"office\"", "name = \"kitchen\"", "rooms[5].name: 'kitchen' comes twice; rename one"),
            ("x = 3.0", "x = inf", "rooms[2].x: inf is out of range"),
            ("x = 3.0\ny = 1.5", "x = 2.0\ny = 0.0", "rooms[2].x: the kitchen is where the hallway is; put them"),
            ("\"a kettle\"", "\"\"", "rooms[2].sees[0]: '' is no thing"),
        ];
        for (from, to, expected) in table {
            assert!(BUILT_IN.contains(from), "{from}");
            let error = World::parse("test", &BUILT_IN.replacen(from, to, 1)).unwrap_err();
            assert!(matches!(error, WorldError::Invalid { .. }), "{error}");
            assert!(error.to_string().starts_with(&format!("test: {expected}")), "{error}");
        }
    }

    #[test]
    fn a_misspelled_key_is_shown_with_its_line() {
        let error = World::parse("test", &BUILT_IN.replacen("speed_mps", "sped_mps", 1)).unwrap_err().to_string();
        assert!(error.contains("sped_mps") && error.contains("line"), "{error}");
        let error = World::parse("test", "").unwrap_err().to_string();
        assert!(error.contains("start"), "{error}");
    }

    #[test]
    fn a_missing_file_is_named() {
        let error = World::load(Some(Path::new("/nonexistent/world.toml"))).unwrap_err().to_string();
        assert!(error.starts_with("the world file /nonexistent/world.toml can't be read"), "{error}");
    }
}
