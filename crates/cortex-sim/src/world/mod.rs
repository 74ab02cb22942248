//! The home of the simulated robot.
//!
//! - this file: what a world is;
//! - `load`: reading and checking a world file.

mod load;

pub use load::{BUILT_IN, WorldError};

use serde::Deserialize;
use serde_json::{Value, json};

/// A point on the floor, in metres, in the frame `map`.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Position {
    /// Metres along the first axis.
    pub x_m: f64,
    /// Metres along the second axis.
    pub y_m: f64,
}

impl Position {
    /// The distance to another point, in metres.
    #[must_use]
    pub fn distance_m(self, other: Self) -> f64 {
        (self.x_m - other.x_m).hypot(self.y_m - other.y_m)
    }

    /// The distance to the line between two other points, in metres.
    #[must_use]
    pub fn distance_to_line_m(self, (start, end): (Self, Self)) -> f64 {
        let (along_x, along_y) = (end.x_m - start.x_m, end.y_m - start.y_m);
        let length_squared = along_x.mul_add(along_x, along_y * along_y);
        if length_squared == 0.0 {
            return self.distance_m(start);
        }
        let share = ((self.x_m - start.x_m) * along_x + (self.y_m - start.y_m) * along_y) / length_squared;
        let share = share.clamp(0.0, 1.0);
        self.distance_m(Self { x_m: start.x_m + share * along_x, y_m: start.y_m + share * along_y })
    }
}

/// A home, checked.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct World {
    /// The room in which the robot is at first.
    pub start: String,
    /// The room in which the battery charges.
    pub dock: String,
    /// Simulated seconds per real second.
    #[serde(default = "real_time")]
    pub time_scale: f64,
    /// Pairs of rooms that are next to each other.
    #[serde(default)]
    pub doors: Vec<(String, String)>,
    /// The wheels.
    pub base: BaseSettings,
    /// The battery.
    pub battery: BatterySettings,
    /// The rooms.
    pub rooms: Vec<Room>,
}

fn real_time() -> f64 {
    1.0
}

/// The wheels.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BaseSettings {
    /// How fast it drives.
    pub speed_mps: f64,
    /// Where it can be sent.
    #[serde(default)]
    pub destinations: Destinations,
}

/// Where the wheels can be sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Destinations {
    /// To rooms.
    #[default]
    Rooms,
    /// To rooms, and to points of the map.
    Points,
}

/// The battery.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BatterySettings {
    /// How full it is at first, from 0 to 100.
    pub start_percent: f64,
    /// What it holds when full, in ampere hours.
    pub capacity_ah: f64,
    /// Its voltage.
    pub voltage_v: f64,
    /// What a driven metre costs.
    pub drain_percent_per_metre: f64,
    /// What a second costs.
    pub drain_percent_per_second: f64,
    /// What a second at the dock gives.
    pub charge_percent_per_second: f64,
}

/// A room.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Room {
    /// As people call it: lower-case words.
    pub name: String,
    /// Where its middle is, in metres.
    pub x: f64,
    /// Where its middle is, in metres.
    pub y: f64,
    /// What it is, for people and models.
    #[serde(default)]
    pub description: String,
    /// What a camera sees there, each thing with its article.
    #[serde(default)]
    pub sees: Vec<String>,
    /// Its light at first; none if it has no light that can be switched.
    #[serde(default)]
    pub light: Option<LightSwitch>,
}

/// Whether a light is on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LightSwitch {
    /// It shines.
    On,
    /// It does not.
    Off,
}

impl Room {
    /// Where its middle is.
    #[must_use]
    pub fn position(&self) -> Position {
        Position { x_m: self.x, y_m: self.y }
    }
}

impl World {
    /// The room of that name.
    #[must_use]
    pub fn room(&self, name: &str) -> Option<&Room> {
        self.rooms.iter().find(|room| room.name == name)
    }

    /// The room whose middle is nearest.
    #[must_use]
    pub fn nearest(&self, position: Position) -> Option<&Room> {
        self.rooms.iter().min_by(|left, right| {
            left.position().distance_m(position).total_cmp(&right.position().distance_m(position))
        })
    }

    /// The JSON Schema of an argument that names a room.
    #[must_use]
    pub fn room_schema(&self, description: &str) -> Value {
        let names: Vec<&str> = self.rooms.iter().map(|room| room.name.as_str()).collect();
        json!({"type": "string", "enum": names, "description": description})
    }
}
