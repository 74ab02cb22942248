//! Memories as a source of context: what is known of the things that a task names.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use cortex_core::{ContextError, ContextPassage, ContextQuery, ContextSource, PassageKind};

use crate::answers::{FoundFact, Located, LookedAt, NamedPresence, Recollection, Whereabouts};
use crate::bulletin::Standing;
use crate::error::MemoryError;
use crate::fact::{FactAnswer, Now};
use crate::memory::Memory;
use crate::observation::IS_AT;
use crate::phrases::{self, line};
use crate::place::MapRef;
use crate::render::{self, age};
use crate::time::{Stamp, wall_ms};
use crate::words::key;

/// The name under which passages are cited.
const SOURCE: &str = "memory";
/// The place of the bulletin.
const BULLETIN: &str = "bulletin";
/// The place of what was looked at a moment ago.
const LOOKS: &str = "looks";
/// Most places of it.
const MOST_LOOKS: usize = 20;
/// Most passages for one task.
const MOST_PASSAGES: usize = 8;
/// Most bytes of all passages of one task.
const MOST_BYTES: usize = 4_000;
/// Least share of the telling words of a task that a fact must hold to be shown unasked, if it is of
/// nothing that the task names.
const LEAST_RELEVANCE: f64 = 0.5;

/// Least likeness of a fact that was found by its meaning alone to be shown unasked.
const LEAST_LIKENESS: f64 = 0.4;
/// What is known of the meaning by then counts; a plan does not wait longer, and goes by the words. Less than a source may take
/// for all that it does.
const MEANING_PATIENCE: Duration = Duration::from_millis(300);

/// Which map is in use, whenever it is asked.
pub type MapInUse = Arc<dyn Fn() -> Option<MapRef> + Send + Sync>;

/// What the bulletin says that the memory does not hold, whenever it is asked.
pub type StandingNow = Arc<dyn Fn() -> Standing + Send + Sync>;

/// The memory of a robot as planning uses it.
#[derive(Clone)]
pub struct MemorySource {
    memory: Memory,
    map: MapInUse,
    standing: StandingNow,
}

impl MemorySource {
    /// A source of what this memory holds.
    #[must_use]
    pub fn new(memory: Memory, map: MapInUse) -> Self {
        Self { memory, map, standing: Arc::new(Standing::default) }
    }

    /// The same, and the bulletin says this, too.
    #[must_use]
    pub fn with_standing(self, standing: StandingNow) -> Self {
        Self { standing, ..self }
    }
}

/// From where answers are given now.
pub(crate) fn now(map: &MapInUse) -> Now {
    Now { wall_ms: wall_ms(), map: map() }
}

#[async_trait]
impl ContextSource for MemorySource {
    fn name(&self) -> &str {
        SOURCE
    }

    async fn gather(&self, query: &ContextQuery) -> Result<Vec<ContextPassage>, ContextError> {
        let mut text = query.task.clone();
        for revision in &query.revisions {
            text.push('\n');
            text.push_str(revision);
        }
        let told = |error: MemoryError| ContextError(error.to_string());
        let now = now(&self.map);
        let standing = (self.standing)();
        let (bulletin, looks, recalled) = tokio::join!(
            self.memory.bulletin(&standing, &now),
            self.memory.looked_at(&now),
            self.memory.recall_within(MEANING_PATIENCE, &text, MOST_PASSAGES, &now),
        );
        let bulletin = bulletin.map_err(told)?;
        // Not before: it would be computed first.
        self.memory.catch_up();
        let recalled = recalled.map_err(told)?;
        let bulletin = (!bulletin.is_empty()).then(|| passage(BULLETIN, None, bulletin, 0.0));
        // It comes first: the most fitting of the others may be cut, and it is short.
        let looks = looks_lately(&looks.map_err(told)?, &now);
        Ok(bulletin.into_iter().chain(looks).chain(passages(&recalled)).collect())
    }
}

/// Which places were looked at a moment ago, so that a tour need not look there again.
fn looks_lately(looks: &[LookedAt], now: &Now) -> Option<ContextPassage> {
    let last = looks.first()?;
    let each = looks.iter().take(MOST_LOOKS).map(|LookedAt { place, source, at }| {
        format!("{} {} ago (by {})", line(place), age(now.wall_ms.saturating_sub(at.wall_ms)), phrases::source(source))
    });
    let text = format!(
        "A moment ago all of these was in sight: {}. A tour that only looks may leave them out, and then says so and when they \
         were looked at. Who names such a place, wants a new look, or wants anything else done there is not served by that.",
        each.collect::<Vec<_>>().join("; ")
    );
    Some(passage(LOOKS, Some(last.at), text, 0.0))
}

/// What was recalled, the most fitting first, within the bounds.
pub(crate) fn passages(recalled: &Recollection) -> Vec<ContextPassage> {
    let presence = recalled.presence.iter().map(present);
    let located = recalled.located.iter().map(whereabouts);
    let is_told = |answer: &FactAnswer| {
        let is_of = |located: &Located| key(&located.subject) == key(&answer.fact.subject);
        key(&answer.fact.relation) == IS_AT && recalled.located.iter().any(is_of)
    };
    let is_named = |answer: &FactAnswer| recalled.named.iter().any(|name| key(name) == key(&answer.fact.subject));
    let fits = |found: &&FoundFact| {
        found.relevance >= LEAST_RELEVANCE || found.likeness >= LEAST_LIKENESS || is_named(&found.answer)
    };
    let facts = recalled.facts.iter().filter(fits).filter(|found| !is_told(&found.answer));
    let facts = facts.map(|found| {
        let fact = &found.answer.fact;
        passage(&fact.subject, Some(fact.seen_at), render::fact(&found.answer), found.relevance.min(1.0))
    });
    let mut bytes = 0;
    let has_room = |passage: &ContextPassage| {
        bytes += passage.text.len();
        bytes <= MOST_BYTES
    };
    presence.chain(located).chain(facts).take(MOST_PASSAGES).take_while(has_room).collect()
}

fn present(named: &NamedPresence) -> ContextPassage {
    passage(&named.subject, named.answer.as_of(), render::presence(named), 1.0)
}

fn whereabouts(located: &Located) -> ContextPassage {
    let as_of = match &located.whereabouts {
        Whereabouts::At(answer) | Whereabouts::LastSeen(answer) => Some(answer.fact.seen_at),
        Whereabouts::NeverSeen => None,
    };
    passage(&located.subject, as_of, render::located(located), 1.0)
}

fn passage(place: &str, as_of: Option<Stamp>, text: String, relevance: f64) -> ContextPassage {
    let as_of = as_of.map(|stamp| stamp.rfc3339());
    ContextPassage { source: SOURCE.to_owned(), place: line(place), as_of, text, relevance, kind: PassageKind::Record }
}
