//! What people look at of the robot beside its missions: maps, poses, pictures, numbers, parameters.
//!
//! Lengths are metres, angles radians, times milliseconds since 1970 by the clock of Cortex's machine.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Everything of the robot that can be looked at now, each list in a stable order.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RobotSources {
    /// Topics with maps.
    pub maps: Vec<ViewTopic>,
    /// Topics with pictures.
    pub cameras: Vec<ViewTopic>,
    /// Topics that tell where the robot is, the most telling first.
    pub poses: Vec<ViewTopic>,
    /// Topics with the path that the robot follows.
    pub paths: Vec<ViewTopic>,
    /// Numbers that can be plotted; the charge of a battery first.
    pub numbers: Vec<NumberSource>,
    /// The nodes of the robot, by name.
    pub nodes: Vec<NodeView>,
}

/// A topic that can be looked at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ViewTopic {
    /// Its full name.
    pub topic: String,
    /// The nodes that publish it.
    pub nodes: Vec<String>,
}

/// A number of a topic.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NumberSource {
    /// The full name of the topic.
    pub topic: String,
    /// The path of the field within its messages, `pose.pose.position.x`.
    pub field: String,
    /// Whether it is the charge of a battery, from 0 to 1.
    pub is_charge: bool,
}

/// A node of the robot.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NodeView {
    /// Its full name.
    pub name: String,
    /// Whether it has parameters that can be looked at.
    pub has_parameters: bool,
    /// The nodes whose topics it reads, by name. Topics that every node has do not count.
    pub reads: Vec<String>,
}

/// What was seen of a topic.
#[derive(Debug, Clone, PartialEq)]
pub enum RobotSight {
    /// Nobody publishes it, or it can't be read: why, for people.
    Absent {
        /// Why.
        reason: String,
    },
    /// A message came that can't be shown: why, for people. A later one may be fine.
    Unusable {
        /// Why.
        reason: String,
    },
    /// A map.
    Map(GridMap),
    /// A picture.
    Picture(CameraPicture),
    /// Where the robot is.
    Pose(FloorPose),
    /// A path.
    Path(FloorPath),
    /// Where the robot is in another frame than the one that was asked for, as it is not known how the two lie to each
    /// other.
    UnplacedPose {
        /// In its own frame.
        pose: FloorPose,
        /// Why, for people.
        reason: String,
    },
    /// The same of a path.
    UnplacedPath {
        /// In its own frame.
        path: FloorPath,
        /// Why, for people.
        reason: String,
    },
    /// A number.
    Number(f64),
}

/// A map of cells: rows along x, from the origin on.
#[derive(Debug, Clone, PartialEq)]
pub struct GridMap {
    /// Cells along x.
    pub width: u32,
    /// Cells along y.
    pub height: u32,
    /// How long a cell is, in metres.
    pub resolution_m: f64,
    /// The corner of the first cell, and how the map is turned.
    pub origin: FloorPose,
    /// How likely each is occupied, in percent; what is below 0 or above 100 is unknown. As many as width times height.
    pub cells: Vec<i8>,
}

/// A place and a heading on the floor.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FloorPose {
    /// The frame that it is given in, such as `map`.
    pub frame: String,
    /// Along x, in metres.
    pub x: f64,
    /// Along y, in metres.
    pub y: f64,
    /// Counterclockwise from x, in radians.
    pub heading: f64,
}

/// A path on the floor.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FloorPath {
    /// The frame that it is given in.
    pub frame: String,
    /// Its points, in order.
    pub points: Vec<(f64, f64)>,
}

/// A picture, as it came.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CameraPicture {
    /// Rows of pixels.
    Raw {
        /// Pixels of a row.
        width: u32,
        /// Rows.
        height: u32,
        /// Bytes from the start of one row to that of the next.
        step: u32,
        /// What a pixel consists of, by the names of ROS: `rgb8`, `mono16`.
        encoding: String,
        /// Whether the first byte of a number is its most significant one.
        is_big_endian: bool,
        /// The rows.
        data: Vec<u8>,
    },
    /// A file such as a JPEG.
    Compressed {
        /// What its sender calls the format.
        format: String,
        /// The file.
        data: Vec<u8>,
    },
}

/// A parameter of a node.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct NodeParameter {
    /// Its name within the node.
    pub name: String,
    /// Which values it takes.
    pub kind: ParameterKind,
    /// Its value. Null: it has none.
    pub value: Value,
    /// What it is for. May be empty.
    pub description: String,
    /// In words, what else a value must be. May be empty.
    pub constraints: String,
    /// The least, the greatest and the step of its numbers, where the node says so. A step of 0: all between.
    pub range: Option<ParameterRange>,
    /// Whether it can't be changed.
    pub is_read_only: bool,
}

/// Which values a parameter takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ParameterKind {
    /// It has no value, and so no kind.
    NotSet,
    /// `true` or `false`.
    Boolean,
    /// A whole number.
    Integer,
    /// A number.
    Number,
    /// A text.
    Text,
    /// A list of any of these, or of bytes.
    List,
}

/// Which numbers a parameter takes.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ParameterRange {
    /// The least.
    pub from: f64,
    /// The greatest.
    pub to: f64,
    /// The distance of two values. 0: all between.
    pub step: f64,
}
