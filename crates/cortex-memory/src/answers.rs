//! What a memory answers. Each answer says as of when and who says so; whatever is asked, a fact is never younger than its
//! last observation.

use serde::{Deserialize, Serialize};

use crate::consolidate::Unchanged;
use crate::episode::Episode;
use crate::fact::{Fact, FactAnswer, FactId, ObservationRun};
use crate::observation::{Source, Value};
use crate::time::{ClockNote, Stamp};

/// What was done with an observation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Noted {
    /// Its number in the order of arrival.
    pub sequence: u64,
    /// What it changed.
    pub change: Change,
    /// The facts that it ended.
    pub ended: Vec<FactId>,
    /// Whether the clock contradicts the order of arrival.
    pub clock: Option<ClockNote>,
}

/// What an observation changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Change {
    /// There is a new fact.
    New(FactId),
    /// The fact was seen again.
    Confirmed(FactId),
    /// There is no fact of it.
    None(Unchanged),
}

/// Where a thing is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Located {
    /// The thing, as it was named first.
    pub subject: String,
    /// Where.
    pub whereabouts: Whereabouts,
    /// What another source says that goes on contradicting it.
    pub disputed_by: Option<Dispute>,
    /// Where it was before, the last first.
    pub before: Vec<Fact>,
    /// The last look that did not find it, if it came after it was last seen.
    pub looked: Option<ObservationRun>,
}

/// Where a thing is, as far as anybody knows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Whereabouts {
    /// It was seen there, and nothing says that it is not there any more.
    At(FactAnswer),
    /// It was seen there last, and is not there any more.
    LastSeen(FactAnswer),
    /// Nobody ever saw it anywhere.
    NeverSeen,
}

/// What another source says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Dispute {
    /// The value that it gives.
    pub value: Value,
    /// When it last said so.
    pub seen_at: Stamp,
    /// Who.
    pub source: Source,
}

/// Whether a thing is at a place.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PresenceAnswer {
    /// In one word.
    pub presence: Presence,
    /// The fact that it is or was there.
    pub there: Option<FactAnswer>,
    /// The fact that it is at another place.
    pub elsewhere: Option<FactAnswer>,
    /// The last look at the place that did not find it.
    pub looked: Option<ObservationRun>,
    /// The last look that could not see.
    pub could_not_see: Option<ObservationRun>,
}

/// Whether a thing is at a place, in one word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Presence {
    /// It was seen there, and nothing says otherwise.
    Present,
    /// Somebody looked there since, and it was not there.
    NotThere,
    /// It was seen at another place since; nobody looked there again.
    Elsewhere,
    /// It was looked for there, and nobody could see.
    CouldNotSee,
    /// Nobody ever looked for it there.
    NeverLooked,
}

/// What is known of a thing or a place.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Entity {
    /// The name, as it was given first.
    pub name: String,
    /// What holds of it, the last seen first; then what held.
    pub facts: Vec<FactAnswer>,
    /// Facts that have it as their value, the last seen first: what is at the place.
    pub named_by: Vec<FactAnswer>,
    /// When it was first observed.
    pub first: Option<Stamp>,
    /// When it was last observed.
    pub last: Option<Stamp>,
    /// How many rows of observations there are of it.
    pub runs: u64,
}

/// A fact that was found by words or by meaning.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FoundFact {
    /// The fact.
    pub answer: FactAnswer,
    /// How much of what was asked for it holds, from 0 to 1: the share of the telling words, rare ones counting more.
    /// 0 where it was found by its meaning alone.
    pub relevance: f64,
    /// How much it means what was asked for, from 0 to 1: the cosine of both vectors. 0 where it was found by its words alone.
    #[serde(default)]
    pub likeness: f64,
}

/// What a text brings to mind.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Recollection {
    /// The things and places that the text names in full, as they are known.
    pub named: Vec<String>,
    /// Where the things are that it names.
    pub located: Vec<Located>,
    /// Whether the things are at the places that it names.
    pub presence: Vec<NamedPresence>,
    /// Facts that fit, the best first.
    pub facts: Vec<FoundFact>,
}

/// Whether a thing is at a place, with their names.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct NamedPresence {
    /// The thing.
    pub subject: String,
    /// The place.
    pub place: String,
    /// The answer.
    pub answer: PresenceAnswer,
}

/// What the robot knows of itself and of what is around it now.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct CurrentContext {
    /// The episodes that go on, the last begun first.
    pub episodes: Vec<Episode>,
    /// The last readings of the body.
    pub body: Vec<FactAnswer>,
    /// What was seen last, the last first.
    pub seen_last: Vec<FactAnswer>,
}

/// A place that was looked at: all of it was in sight.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LookedAt {
    /// The place, as it was named first.
    pub place: String,
    /// Who looked.
    pub source: Source,
    /// When that was last so.
    pub at: Stamp,
}

/// What was forgotten.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Forgotten {
    /// Rows of observations.
    pub observations: u64,
    /// Facts.
    pub facts: u64,
    /// Episodes that are gone.
    pub episodes: u64,
    /// Episodes whose words were changed.
    pub redacted: u64,
    /// What people did with tasks that is gone, or whose words were changed.
    #[serde(default)]
    pub interactions: u64,
    /// Tasks of conversations that are gone, or whose words were changed.
    #[serde(default)]
    pub exchanges: u64,
}

/// How much there is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemorySize {
    /// Rows of observations.
    pub observations: u64,
    /// Facts that hold.
    pub open_facts: u64,
    /// Facts that ended.
    pub ended_facts: u64,
    /// Bytes of the file, without its log of writes.
    pub bytes: u64,
}

impl PresenceAnswer {
    /// Weighs what is on record. `there` is the last fact at the place or a part of it, `elsewhere` an open one at another.
    #[must_use]
    pub fn of(
        there: Option<FactAnswer>,
        elsewhere: Option<FactAnswer>,
        looked: Option<ObservationRun>,
        could_not_see: Option<ObservationRun>,
    ) -> Self {
        let last_there = there.as_ref().map(|there| there.fact.seen_at.sequence);
        let looked_since = looked.as_ref().is_some_and(|look| Some(look.last.sequence) > last_there);
        let presence = if there.as_ref().is_some_and(|there| there.fact.ended.is_none()) {
            Presence::Present
        } else if looked_since {
            Presence::NotThere
        } else if elsewhere.is_some() || there.is_some() {
            Presence::Elsewhere
        } else if could_not_see.is_some() {
            Presence::CouldNotSee
        } else {
            Presence::NeverLooked
        };
        Self { presence, there, elsewhere, looked, could_not_see }
    }

    /// As of when the answer holds, if it rests on anything.
    #[must_use]
    pub fn as_of(&self) -> Option<Stamp> {
        let fact = |answer: &FactAnswer| answer.fact.seen_at;
        let run = |run: &ObservationRun| run.last;
        match self.presence {
            Presence::Present => self.there.as_ref().map(fact),
            Presence::NotThere => self.looked.as_ref().map(run),
            Presence::Elsewhere => self.elsewhere.as_ref().or(self.there.as_ref()).map(fact),
            Presence::CouldNotSee => self.could_not_see.as_ref().map(run),
            Presence::NeverLooked => None,
        }
    }
}
