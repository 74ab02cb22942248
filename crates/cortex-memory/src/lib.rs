//! What a robot remembers, in one file: what it observed ([`Observation`]), the facts that this adds up to ([`Fact`]), and
//! the episodes in which it acted. Needs no model and no network; with an
//! [`Embedder`](cortex_core::Embedder), facts are also found by their meaning.
//!
//! - Facts follow from observations by structure alone; no opinion ever ends one. The rules stand in `consolidate.rs`, and
//!   in `docs/memory.md` for people.
//! - "Looked, and it was not there" is told from "could not see", and both from "never looked".
//! - Every answer says as of when and who says so. A pose of another map is never for driving ([`PoseUse`]).
//! - What is forgotten leaves no byte in the file.
//! - What people ask in conversations, and what came of it ([`Exchange`]), is what the next task of the same conversation goes
//!   on with, after a restart, too.
//! - What people do with tasks ([`Interaction`]) is kept beside it; with the rest it makes the bulletin, by rule
//!   (`bulletin.rs`).
//!
//! The names of the questions follow `seeds/0`.

mod answers;
mod bulletin;
mod consolidate;
mod conversations;
mod episode;
mod error;
mod exchange;
mod fact;
mod intake;
mod interaction;
mod memory;
mod observation;
mod phrases;
mod place;
mod port;
pub mod render;
mod rules;
mod source;
mod spoken;
mod sqlite;
mod time;
mod tools;
mod words;

pub use answers::{
    Change, CurrentContext, Dispute, Entity, Forgotten, FoundFact, Located, LookedAt, MemorySize, NamedPresence, Noted,
    Presence, PresenceAnswer, Recollection, Whereabouts,
};
pub use bulletin::Standing;
pub use consolidate::Unchanged;
pub use conversations::Conversations;
pub use episode::{Episode, EpisodeEnd, EpisodeId, Outcome};
pub use error::MemoryError;
pub use exchange::{Exchange, ExchangeQuery};
pub use fact::{EndReason, Ending, Fact, FactAnswer, FactId, Now, ObservationRun};
pub use intake::{Arrival, IntakeProblem, MessageContent, MessageFields, Named, NamedRegion, Taken, TopicReading};
pub use interaction::{Interaction, InteractionKind, InteractionReader, WaitingTasks, is_person, person};
pub use memory::Memory;
pub use observation::{
    Claim, Coverage, IS_AT, IS_PART_OF, NOTES, Observation, ObservationProblem, Source, SourceKind, Value, View,
};
pub use place::{Location, MapRef, Pose, PoseUse, Region};
pub use port::MemoryForPeople;
pub use rules::{Cardinality, Layer, LayerKind, MemoryRules, RelationRule};
pub use source::{MapInUse, MemorySource, StandingNow};
pub use spoken::SpokenTasks;
pub use sqlite::{Forget, Rebuilt, Span, SpatialQuery};
pub use time::{ClockNote, Stamp, utc_offset_min};
pub use tools::{FORGET, MemoryTools};
