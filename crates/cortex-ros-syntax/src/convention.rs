//! How messages of certain types are written.

use serde::{Deserialize, Serialize};

/// How a message type is written for models and people. Each works for every type with the fields it names; what lacks them is
/// written plainly.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Convention {
    /// A point in time, in seconds, or `"now"`, which is also what it is when it is not given.
    /// For types with `int32 sec` and `uint32 nanosec`.
    Time,
    /// A length of time, in seconds. For types with `int32 sec` and `uint32 nanosec`.
    Duration,
    /// A rotation: `{"yaw_deg": 90}`, with `roll_deg` and `pitch_deg` where it is not flat; `x`, `y`, `z` and `w` are
    /// taken, too. For types with `float64` `x`, `y`, `z` and `w`.
    Rotation,
    /// Whose time is filled in with now, so that a model gives the frame at most. For types with `stamp` and `string
    /// frame_id`.
    Header,
    /// Bytes as hexadecimal text. For types with one field, a fixed list of `uint8`.
    HexText,
    /// Neither offered to a model nor shown to it. For all types.
    Hidden,
    /// No convention: written with its own fields.
    Plain,
}
