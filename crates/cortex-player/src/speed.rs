//! How fast a recording is played.

use std::str::FromStr;

/// How much faster than it was recorded a mission is shown.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Speed(f64);

/// A speed that can't be.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("it must be a number from 0.1 to 100: 1 is the speed at which the mission was recorded")]
pub struct InvalidSpeed;

impl Speed {
    /// From 0.1 to 100; 1 is that of the recording.
    ///
    /// # Errors
    /// When it is another number, or none.
    pub fn new(times: f64) -> Result<Self, InvalidSpeed> {
        if (0.1..=100.0).contains(&times) { Ok(Self(times)) } else { Err(InvalidSpeed) }
    }

    pub(crate) fn times(self) -> f64 {
        self.0
    }
}

impl Default for Speed {
    fn default() -> Self {
        Self(1.0)
    }
}

impl FromStr for Speed {
    type Err = InvalidSpeed;

    fn from_str(text: &str) -> Result<Self, InvalidSpeed> {
        text.parse().map_err(|_| InvalidSpeed).and_then(Self::new)
    }
}
