//! What was seen of the robot, with times.

use std::collections::BTreeMap;
use std::time::Duration;

use cortex_protocol::condition::Source;
use serde_json::Value;

use super::compare;

/// How old a value is when it arrives.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Age {
    /// Its message has no time of its own: it counts from its arrival on.
    Arrival,
    /// So old by the stamp of its message, which may have been kept, replayed or late.
    Stamped(Duration),
    /// Its message has a stamp that tells nothing.
    Unknown {
        /// Why, for a person.
        reason: String,
    },
}

/// What is seen of a source at a moment.
#[derive(Debug, Clone, PartialEq)]
pub enum Observation {
    /// It has this value.
    Value {
        /// The value; of a topic, that of the field.
        value: Value,
        /// Whether the topic had kept it for who comes late: it says what was.
        kept: bool,
        /// How old it was on arrival.
        age: Age,
    },
    /// Somebody is there to tell it, and has told nothing yet. What is told from now on is seen.
    Silent,
    /// It is told, but not in a form that can be used: the field is missing.
    Unusable {
        /// Why, for a person.
        reason: String,
    },
    /// Nobody is there to tell it.
    Absent {
        /// Why, for a person.
        reason: String,
    },
}

/// The latest of each source.
#[derive(Debug, Clone, Default)]
pub struct Observations {
    sources: BTreeMap<Source, Seen>,
    began: bool,
}

/// The latest of one source.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Seen {
    Nothing,
    Silent,
    Value {
        value: Value,
        /// By its stamp, or else when it arrived.
        at: Duration,
        kept: bool,
        age: Age,
        /// The value at the beginning of the call, or the first after it.
        baseline: Option<Value>,
    },
    Unusable {
        reason: String,
        baseline: Option<Value>,
    },
    Absent {
        reason: String,
    },
}

impl Seen {
    pub(super) fn seen_at(&self) -> Option<Duration> {
        match self {
            Self::Value { at, .. } => Some(*at),
            Self::Nothing | Self::Silent | Self::Unusable { .. } | Self::Absent { .. } => None,
        }
    }

    fn baseline(&self) -> Option<&Value> {
        match self {
            Self::Value { baseline, .. } | Self::Unusable { baseline, .. } => baseline.as_ref(),
            // Who comes back begins anew.
            Self::Nothing | Self::Silent | Self::Absent { .. } => None,
        }
    }
}

impl Observations {
    /// Takes what was seen at `now`.
    pub fn see(&mut self, source: Source, observation: Observation, now: Duration) {
        let seen = self.sources.entry(source).or_insert(Seen::Nothing);
        let baseline = seen.baseline().cloned();
        *seen = match observation {
            // What was kept is not newer than what was seen.
            Observation::Value { kept: true, .. } if matches!(seen, Seen::Value { kept: false, .. }) => return,
            Observation::Silent if matches!(seen, Seen::Value { .. } | Seen::Unusable { .. }) => return,
            Observation::Silent => Seen::Silent,
            Observation::Value { value, kept, age } => {
                let baseline = baseline.or_else(|| self.began.then(|| known(&value)).flatten());
                let before = if let Age::Stamped(before) = age { before } else { Duration::ZERO };
                Seen::Value { value, at: now.saturating_sub(before), kept, age, baseline }
            }
            Observation::Unusable { reason } => Seen::Unusable { reason, baseline },
            Observation::Absent { reason } => Seen::Absent { reason },
        };
    }

    /// Whether anything is known of a source, be it that nobody tells it.
    #[must_use]
    pub fn knows(&self, source: &Source) -> bool {
        !matches!(self.sources.get(source), None | Some(Seen::Nothing))
    }

    /// From here on a change is one from what is seen now.
    pub fn begin(&mut self) {
        self.began = true;
        for seen in self.sources.values_mut() {
            if let Seen::Value { value, baseline, .. } = seen {
                *baseline = known(value);
            }
        }
    }

    pub(super) fn of(&self, source: &Source) -> Option<&Seen> {
        self.sources.get(source)
    }
}

/// A value that later ones can be compared with. From one that is no number nothing can have changed.
fn known(value: &Value) -> Option<Value> {
    compare::is_known(value).then(|| value.clone())
}
