//! The best readings of a text up to each joint. They share their beginnings: one more clause is one more link.

use std::rc::Rc;

use serde_json::Value;

use super::Taken;
use super::follow_ups::Earlier;
use crate::reading::Reading;

/// The best reading of the pieces up to here.
#[derive(Debug, Clone)]
pub(super) struct Node {
    pub(super) cost: f64,
    /// Without its last clause.
    pub(super) cost_before: f64,
    pub(super) clauses: Clauses,
    pub(super) place: Option<Value>,
    /// What was done before the text, the last first.
    pub(super) earlier: Rc<[Reading]>,
}

impl Node {
    /// Before the first clause.
    pub(super) fn start(earlier: &Earlier) -> Self {
        let Earlier { readings, place } = earlier.clone();
        Self { cost: 0.0, cost_before: 0.0, clauses: Clauses::default(), place, earlier: readings }
    }

    /// With one more clause.
    pub(super) fn with(&self, cost: f64, taken: Taken) -> Self {
        let clauses = self.clauses.with(taken);
        Self { cost: self.cost + cost, cost_before: self.cost, clauses, ..self.clone() }
    }

    /// The readings so far, the last first.
    pub(super) fn readings(&self) -> Vec<&Reading> {
        self.clauses.last_first().filter_map(Taken::reading).chain(self.earlier.iter()).collect()
    }

    /// The last reading of the text.
    pub(super) fn last_reading(&self) -> Option<&Reading> {
        self.clauses.last_first().find_map(Taken::reading)
    }
}

/// Clauses in a row.
#[derive(Debug, Clone, Default)]
pub(super) struct Clauses(Option<Rc<Link>>);

#[derive(Debug)]
struct Link {
    taken: Taken,
    before: Clauses,
}

impl Clauses {
    pub(super) fn with(&self, taken: Taken) -> Self {
        Self(Some(Rc::new(Link { taken, before: self.clone() })))
    }

    pub(super) fn last(&self) -> Option<&Taken> {
        self.0.as_ref().map(|link| &link.taken)
    }

    pub(super) fn first(&self) -> Option<&Taken> {
        self.last_first().last()
    }

    /// All but the last one.
    pub(super) fn without_last(&self) -> Self {
        self.0.as_ref().map(|link| link.before.clone()).unwrap_or_default()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    pub(super) fn last_first(&self) -> impl Iterator<Item = &Taken> {
        std::iter::successors(self.0.as_deref(), |link| link.before.0.as_deref()).map(|link| &link.taken)
    }

    /// The clauses, the first one first.
    pub(super) fn into_vec(self) -> Vec<Taken> {
        let mut clauses: Vec<Taken> = self.last_first().cloned().collect();
        clauses.reverse();
        clauses
    }
}
