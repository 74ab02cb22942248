//! From observations to facts, by structure alone.
//!
//! 1. A fact is of one subject and one relation. Only an observation of both can end it; unrelated facts never do.
//! 2. A relation has one value at a time, or many. Of one, another value ends the one before; of many, none ends another.
//! 3. A look that covered the place of a thing and did not find it ends the fact that it is there. A look that could not
//!    see ends nothing.
//! 4. Only news changes a fact. The beginning of a run of observations is news; that a source goes on saying the same is
//!    none, as long as whoever contradicts it goes on, too. When the other has been silent for [`RUN_GAP_MS`], the run that
//!    goes on counts again.
//! 5. What a person says is always news. A run that a person corrected never counts again; a new observation does: of
//!    another value, by another sensor, or of the same after the run was interrupted.
//! 6. An opinion of a model changes nothing that a sensor or a person said.

use std::collections::BTreeSet;

use crate::fact::EndReason;
use crate::observation::{Claim, Coverage, IS_AT, Observation, SourceKind, Value};
use crate::place::Location;
use crate::rules::{Cardinality, RelationRule};
use crate::time::went_back;
use crate::words::key;

/// A source that is silent for longer, in milliseconds, begins anew with its next observation.
pub(crate) const RUN_GAP_MS: u64 = 600_000;

/// What is on record of the subject and relation of an observation that arrives.
#[derive(Debug, Clone, Default)]
pub(crate) struct OnRecord {
    /// The last run of the same source; where the relation has many values, the last of the same value.
    pub(crate) run: Option<Run>,
    /// The facts that have not ended.
    pub(crate) open: Vec<OpenFact>,
    /// The keys of the places that the claim is about: the place, and all that is part of it.
    pub(crate) covered: BTreeSet<String>,
    /// Whether a sensor or a person said anything of it.
    pub(crate) has_evidence: bool,
}

/// The last that a source said.
#[derive(Debug, Clone)]
pub(crate) struct Run {
    pub(crate) id: i64,
    pub(crate) claim: Claim,
    pub(crate) location: Option<Location>,
    pub(crate) picture: Option<u64>,
    pub(crate) last_ms: u64,
    /// The fact that it is evidence of.
    pub(crate) fact: Option<RunFact>,
}

/// The fact of a run.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RunFact {
    pub(crate) id: i64,
    pub(crate) ended: Option<Ended>,
}

/// How a fact ended, as far as it matters to a run that goes on.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ended {
    pub(crate) by: SourceKind,
    pub(crate) at_ms: u64,
}

/// A fact that has not ended.
#[derive(Debug, Clone)]
pub(crate) struct OpenFact {
    pub(crate) id: i64,
    pub(crate) value: Value,
    pub(crate) location: Option<Location>,
    pub(crate) source: SourceKind,
    pub(crate) seen_ms: u64,
}

/// What is done with an observation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Decision {
    pub(crate) row: RowChange,
    pub(crate) fact: FactChange,
    /// The facts that end.
    pub(crate) ends: Vec<(i64, EndReason)>,
}

/// What becomes of the rows of observations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RowChange {
    /// The picture was seen already: nothing is kept.
    SamePicture(i64),
    /// The run goes on.
    Extend(i64),
    /// A new row begins. It is evidence of this fact, if of none that the observation opens or confirms.
    Begin(Option<i64>),
}

/// What becomes of the facts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FactChange {
    /// It holds still.
    Confirm(i64),
    /// There is a new one.
    Open,
    /// None, and why.
    Unchanged(Unchanged),
}

/// Why an observation makes no fact.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Unchanged {
    /// It says what is not there, or that nobody could see.
    NoFact,
    /// It comes from a picture that was seen already.
    SamePicture,
    /// Its sensor is less sure than the layer wants.
    Unsure,
    /// It repeats what a person corrected.
    Corrected,
    /// It repeats what another source contradicts, which goes on saying so.
    Disputed,
    /// It is the opinion of a model on what sensors or people know.
    Opinion,
}

/// Decides what an observation changes.
pub(crate) fn decide(
    observation: &Observation,
    rule: RelationRule,
    min_confidence: f64,
    on_record: &OnRecord,
) -> Decision {
    let repeated = on_record.run.as_ref().filter(|run| says_the_same(observation, rule, run));
    let continued = repeated.filter(|run| is_soon_after(observation, run));
    let picture = observation.view.as_ref().and_then(|view| view.picture);
    if let Some(run) = repeated.filter(|run| picture.is_some() && run.picture == picture) {
        let fact = FactChange::Unchanged(Unchanged::SamePicture);
        return Decision { row: RowChange::SamePicture(run.id), fact, ends: Vec::new() };
    }
    let row = match continued {
        Some(run) if is_in_place(observation, run) => RowChange::Extend(run.id),
        _ => RowChange::Begin(continued.and_then(|run| run.fact).map(|fact| fact.id)),
    };
    let unchanged = |why| Decision { row, fact: FactChange::Unchanged(why), ends: Vec::new() };
    if observation.confidence.is_some_and(|confidence| confidence < min_confidence) {
        return unchanged(Unchanged::Unsure);
    }
    if observation.source.kind == SourceKind::Model && on_record.has_evidence {
        return unchanged(Unchanged::Opinion);
    }
    match &observation.claim {
        Claim::CouldNotSee { .. } => unchanged(Unchanged::NoFact),
        Claim::NotThere { .. } => Decision {
            ends: refuted(observation, rule, on_record, continued, EndReason::NotThere),
            ..unchanged(Unchanged::NoFact)
        },
        Claim::IsNot { .. } => Decision {
            ends: refuted(observation, rule, on_record, continued, EndReason::Denied),
            ..unchanged(Unchanged::NoFact)
        },
        Claim::Is { value, .. } => asserted(observation, value, rule, on_record, continued, row),
    }
}

/// What becomes of the facts when a value is asserted.
fn asserted(
    observation: &Observation,
    value: &Value,
    rule: RelationRule,
    on_record: &OnRecord,
    continued: Option<&Run>,
    row: RowChange,
) -> Decision {
    let here = (value, observation.location.as_ref());
    let is_same = |fact: &OpenFact| rule.same((&fact.value, fact.location.as_ref()), here);
    let others: Vec<&OpenFact> = match rule.cardinality {
        Cardinality::One => on_record.open.iter().filter(|fact| !is_same(fact)).collect(),
        Cardinality::Many => Vec::new(),
    };
    let ends = others.iter().map(|fact| (fact.id, EndReason::Superseded)).collect();
    let run_fact = continued.and_then(|run| run.fact);
    if let Some(same) = on_record.open.iter().find(|fact| is_same(fact)) {
        // A row is evidence of one fact.
        let is_of_another = run_fact.is_some_and(|fact| fact.id != same.id);
        let row = if is_of_another { RowChange::Begin(None) } else { row };
        return Decision { row, fact: FactChange::Confirm(same.id), ends };
    }
    // A run that never made a fact, because it was unsure, is news when it does.
    if run_fact.is_some() {
        let ended = run_fact.and_then(|fact| fact.ended).map(|ended| (ended.by, ended.at_ms));
        let against = ended.into_iter().chain(others.iter().map(|fact| (fact.source, fact.seen_ms)));
        let standing: Vec<SourceKind> =
            against.filter(|(by, last_ms)| stands(observation, *by, *last_ms)).map(|(by, _)| by).collect();
        if !standing.is_empty() {
            let is_corrected = standing.contains(&SourceKind::Person);
            let why = if is_corrected { Unchanged::Corrected } else { Unchanged::Disputed };
            return Decision { row, fact: FactChange::Unchanged(why), ends: Vec::new() };
        }
    }
    Decision { row: RowChange::Begin(None), fact: FactChange::Open, ends }
}

/// The facts that a look or a denial ends.
fn refuted(
    observation: &Observation,
    rule: RelationRule,
    on_record: &OnRecord,
    continued: Option<&Run>,
    reason: EndReason,
) -> Vec<(i64, EndReason)> {
    let hit = on_record.open.iter().filter(|fact| contradicts(observation, rule, fact, &on_record.covered));
    let is_news = |fact: &&OpenFact| continued.is_none() || !stands(observation, fact.source, fact.seen_ms);
    hit.filter(is_news).map(|fact| (fact.id, reason)).collect()
}

/// Whether the word of another source stands against a run that only goes on.
fn stands(observation: &Observation, by: SourceKind, last_ms: u64) -> bool {
    let goes_on = observation.wall_ms.abs_diff(last_ms) <= RUN_GAP_MS;
    observation.source.kind != SourceKind::Person && (by == SourceKind::Person || goes_on)
}

/// Whether the source goes on without an interruption.
fn is_soon_after(observation: &Observation, run: &Run) -> bool {
    observation.wall_ms <= run.last_ms.saturating_add(RUN_GAP_MS) && !went_back(run.last_ms, observation.wall_ms)
}

/// Whether the observation says what its source said last.
fn says_the_same(observation: &Observation, rule: RelationRule, run: &Run) -> bool {
    match (&observation.claim, &run.claim) {
        (Claim::Is { value: one, .. }, Claim::Is { value: other, .. })
        | (Claim::IsNot { value: one, .. }, Claim::IsNot { value: other, .. }) => {
            rule.same((one, observation.location.as_ref()), (other, run.location.as_ref()))
        }
        (Claim::NotThere { covered: one }, Claim::NotThere { covered: other }) => same_coverage(one, other),
        (Claim::CouldNotSee { covered: one, .. }, Claim::CouldNotSee { covered: other, .. }) => {
            same_coverage(one, other)
        }
        _ => false,
    }
}

fn same_coverage(one: &Coverage, other: &Coverage) -> bool {
    match (one, other) {
        (Coverage::Place(one), Coverage::Place(other)) => key(one) == key(other),
        (Coverage::Region(one), Coverage::Region(other)) => one == other,
        _ => false,
    }
}

/// Whether the subject is still where the run saw it, so that the run says it all.
fn is_in_place(observation: &Observation, run: &Run) -> bool {
    match (&observation.location, &run.location) {
        (Some(one), Some(other)) => one.is_near(other),
        (None, _) => true,
        (Some(_), None) => false,
    }
}

/// Whether a look or a denial says that an open fact does not hold.
fn contradicts(observation: &Observation, rule: RelationRule, fact: &OpenFact, covered: &BTreeSet<String>) -> bool {
    let is_in = |fact: &OpenFact| matches!(&fact.value, Value::Text(place) if covered.contains(&key(place)));
    match &observation.claim {
        Claim::IsNot { relation, value } => {
            let here = (value, observation.location.as_ref());
            rule.same((&fact.value, fact.location.as_ref()), here) || key(relation) == IS_AT && is_in(fact)
        }
        Claim::NotThere { covered: Coverage::Place(_) } => is_in(fact),
        Claim::NotThere { covered: Coverage::Region(region) } => {
            fact.location.as_ref().is_some_and(|location| region.holds(location))
        }
        Claim::Is { .. } | Claim::CouldNotSee { .. } => false,
    }
}

#[cfg(test)]
mod tests;
