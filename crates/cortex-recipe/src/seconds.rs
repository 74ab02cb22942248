//! Times in recipes.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Seconds of a day, the longest time that a recipe may name.
const DAY: f64 = 86_400.0;

/// A time in seconds: above 0, at most a day.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "f64", into = "f64")]
#[schemars(extend("exclusiveMinimum" = 0, "maximum" = 86_400))]
pub struct Seconds(f64);

impl Seconds {
    /// A whole number of seconds, as defaults have; 0 counts as 1, and more than a day as a day.
    pub(crate) const fn whole(seconds: u32) -> Self {
        match seconds {
            0 => Self(1.0),
            1..=86_400 => Self(seconds as f64),
            _ => Self(DAY),
        }
    }

    /// The same for programs.
    #[must_use]
    pub fn duration(self) -> Duration {
        Duration::try_from_secs_f64(self.0).unwrap_or_default()
    }
}

impl TryFrom<f64> for Seconds {
    type Error = String;

    fn try_from(seconds: f64) -> Result<Self, String> {
        if seconds.is_finite() && seconds > 0.0 && seconds <= DAY {
            Ok(Self(seconds))
        } else {
            Err(format!("{seconds} is no time; write a number of seconds above 0 and at most {DAY}"))
        }
    }
}

impl From<Seconds> for f64 {
    fn from(seconds: Seconds) -> Self {
        seconds.0
    }
}
