//! A fact: what observations add up to, from when to when, and why it ended.

use serde::{Deserialize, Serialize};

use crate::observation::{Claim, Source, Value, View};
use crate::place::{Location, MapRef, PoseUse};
use crate::time::{CLOCK_TOLERANCE_MS, ClockNote, Stamp, went_back};

/// The number of a fact in its file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct FactId(pub u64);

/// A subject has a value, as far as was observed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Fact {
    /// Its number.
    pub id: FactId,
    /// Of which thing.
    pub subject: String,
    /// Such as `is at`.
    pub relation: String,
    /// Such as `kitchen`.
    pub value: Value,
    /// The layer of the last observation of it.
    pub layer: String,
    /// Where the subject was at the last observation of it that said so.
    pub location: Option<Location>,
    /// The first observation of it.
    pub valid_from: Stamp,
    /// The last observation of it: the fact is as of then.
    pub seen_at: Stamp,
    /// Who said so last.
    pub source: Source,
    /// How sure the sensor was last, from 0 to 1.
    pub confidence: Option<f64>,
    /// How many observations say so.
    pub observations: u64,
    /// When and why it ended. None: nothing says that it no longer holds.
    pub ended: Option<Ending>,
}

/// The end of a fact.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Ending {
    /// The observation that ended it.
    pub at: Stamp,
    /// How.
    pub reason: EndReason,
    /// Who said so.
    pub by: Source,
}

/// How a fact ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EndReason {
    /// Another value of the same relation of the same subject was observed.
    Superseded,
    /// Somebody looked, and the subject was not there.
    NotThere,
    /// Somebody said that it is not so.
    Denied,
}

/// Observations of the same, in a row, by one source: one row of the file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ObservationRun {
    /// Its number.
    pub id: u64,
    /// Of which thing.
    pub subject: String,
    /// What was said of it.
    pub claim: Claim,
    /// Where the subject was at the first of them.
    pub location: Option<Location>,
    /// The layer.
    pub layer: String,
    /// Through which view the last of them was made.
    pub view: Option<View>,
    /// Who said so.
    pub source: Source,
    /// How sure the sensor was at the last of them, from 0 to 1.
    pub confidence: Option<f64>,
    /// The first of them.
    pub first: Stamp,
    /// The last of them.
    pub last: Stamp,
    /// How many they are.
    pub count: u64,
    /// The fact that it is evidence of.
    pub fact: Option<FactId>,
}

/// From where an answer is given: what the clock and the map say now.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Now {
    /// The clock of the robot, in milliseconds since 1970.
    pub wall_ms: u64,
    /// The map that is in use.
    pub map: Option<MapRef>,
}

/// A fact, with what must be said of it now.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FactAnswer {
    /// The fact. It is as of its `seen_at`.
    pub fact: Fact,
    /// How long ago it was last seen, in milliseconds. None: the clock says that this is still to come.
    pub age_ms: Option<u64>,
    /// What its pose may be used for.
    pub pose_use: PoseUse,
    /// What is wrong with its times.
    pub clock: Option<ClockNote>,
}

impl Fact {
    /// The fact as an answer.
    #[must_use]
    pub fn answer(self, now: &Now) -> FactAnswer {
        let age_ms = now.wall_ms.checked_sub(self.seen_at.wall_ms);
        let ended_ms = self.ended.as_ref().map_or(self.seen_at.wall_ms, |ending| ending.at.wall_ms);
        let clock =
            if went_back(self.valid_from.wall_ms, self.seen_at.wall_ms) || went_back(self.seen_at.wall_ms, ended_ms) {
                Some(ClockNote::WentBack)
            } else if self.seen_at.wall_ms > now.wall_ms.saturating_add(CLOCK_TOLERANCE_MS) {
                Some(ClockNote::InFuture)
            } else {
                None
            };
        let pose_use = PoseUse::of(self.location.as_ref(), now.map.as_ref());
        FactAnswer { age_ms, pose_use, clock, fact: self }
    }
}
