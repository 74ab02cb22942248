//! Pictures that tools return. The pixels stay where they were taken: what is passed around, recorded and sent to people is
//! which picture it was.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A picture that was taken.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PictureRef {
    /// The first 16 digits of the SHA-256 of its file, in hexadecimal: equal pictures have equal ids.
    pub id: String,
    /// What took it: the topic of a camera.
    pub source: String,
    /// `image/jpeg` or `image/png`.
    pub media_type: String,
    /// Pixels of a row as the camera took it.
    pub width: u32,
    /// Rows as the camera took it.
    pub height: u32,
}
