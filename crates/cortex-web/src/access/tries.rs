//! How often somebody may try something within a time.

use std::collections::HashMap;
use std::hash::Hash;
use std::time::{Duration, Instant};

/// How many are counted at a time. So many within the time are one attack, and nobody new may try.
pub(crate) const COUNTED: usize = 1_024;

/// The tries of each.
pub(crate) struct Tries<Who> {
    most: u32,
    within: Duration,
    counted: HashMap<Who, Counted>,
}

#[derive(Clone, Copy)]
struct Counted {
    since: Instant,
    count: u32,
}

impl<Who: Hash + Eq> Tries<Who> {
    pub(crate) fn new(most: u32, within: Duration) -> Self {
        Self { most, within, counted: HashMap::new() }
    }

    /// Counts a try. False where it is one too many.
    pub(crate) fn count(&mut self, who: Who, now: Instant) -> bool {
        if self.counted.len() >= COUNTED {
            self.counted.retain(|_, tries| now.saturating_duration_since(tries.since) < self.within);
        }
        if self.counted.len() >= COUNTED && !self.counted.contains_key(&who) {
            return false;
        }
        let tries = self.counted.entry(who).or_insert(Counted { since: now, count: 0 });
        if now.saturating_duration_since(tries.since) >= self.within {
            *tries = Counted { since: now, count: 0 };
        }
        if tries.count >= self.most {
            return false;
        }
        tries.count += 1;
        true
    }

    /// How many are counted.
    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.counted.len()
    }
}
