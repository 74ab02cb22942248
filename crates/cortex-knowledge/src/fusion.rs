//! Passages in the rankings that [`fused`] makes one of.

use cortex_core::Ranked;
pub(crate) use cortex_core::fused;

use crate::store::{Found, PassageId};

impl Ranked for Found {
    type Key = PassageId;

    fn key(&self) -> PassageId {
        self.id
    }

    fn relevance(&self) -> f64 {
        self.relevance
    }

    fn likeness(&self) -> f64 {
        self.likeness
    }

    fn set_likeness(&mut self, likeness: f64) {
        self.likeness = likeness;
    }
}
