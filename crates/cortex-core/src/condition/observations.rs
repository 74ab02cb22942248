//! What was seen of the robot, with times.

use std::collections::BTreeMap;
use std::time::Duration;

use cortex_protocol::condition::Source;
use serde_json::Value;

/// What is seen of a source at a moment.
#[derive(Debug, Clone, PartialEq)]
pub enum Sighting {
    /// It has this value.
    Value {
        /// The value; of a topic, that of the field.
        value: Value,
        /// Whether the topic had kept it for who comes late: nobody knows how old it is.
        kept: bool,
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
        at: Duration,
        kept: bool,
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
    pub fn see(&mut self, source: Source, sighting: Sighting, now: Duration) {
        let seen = self.sources.entry(source).or_insert(Seen::Nothing);
        let baseline = seen.baseline().cloned();
        *seen = match sighting {
            // What was kept is not newer than what was seen.
            Sighting::Value { kept: true, .. } if matches!(seen, Seen::Value { kept: false, .. }) => return,
            Sighting::Silent if matches!(seen, Seen::Value { .. } | Seen::Unusable { .. }) => return,
            Sighting::Silent => Seen::Silent,
            Sighting::Value { value, kept } => {
                let baseline = baseline.or_else(|| self.began.then(|| value.clone()));
                Seen::Value { value, at: now, kept, baseline }
            }
            Sighting::Unusable { reason } => Seen::Unusable { reason, baseline },
            Sighting::Absent { reason } => Seen::Absent { reason },
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
                *baseline = Some(value.clone());
            }
        }
    }

    pub(super) fn of(&self, source: &Source) -> Option<&Seen> {
        self.sources.get(source)
    }
}
