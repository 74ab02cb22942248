//! Two rankings as one: a weighted sum of both relevances, which finds more than the places alone would (Bruch, Gai and Ingber,
//! "An Analysis of Fusion Functions for Hybrid Retrieval", 2023).

use std::collections::BTreeMap;

/// How much words count; meaning counts the rest. Found on every other question of `tests/meaning`.
const WORDS: f64 = 0.2;

/// An entry of a ranking by words or by meaning.
pub trait Ranked {
    /// What it is an entry of.
    type Key: Ord;

    /// Which: the same in both rankings.
    fn key(&self) -> Self::Key;

    /// How well it fits by its words, from 0 to 1.
    fn relevance(&self) -> f64;

    /// How well it fits by its meaning, from 0 to 1.
    fn likeness(&self) -> f64;

    /// Takes over what the ranking by meaning says of it.
    fn set_likeness(&mut self, likeness: f64);
}

/// The entries of both rankings, the best first.
#[must_use]
pub fn fused<R: Ranked>(by_words: Vec<R>, by_meaning: Vec<R>) -> Vec<R> {
    // Without the meaning, the ranking by words stays as it is.
    let Some(last) = by_meaning.last() else { return by_words };
    // What is found by its words alone means no more than the last that is found by its meaning.
    let least = last.likeness();
    let mut found: BTreeMap<R::Key, R> = by_words.into_iter().map(|found| (found.key(), found)).collect();
    for near in by_meaning {
        let likeness = near.likeness();
        found.entry(near.key()).and_modify(|earlier| earlier.set_likeness(likeness)).or_insert(near);
    }
    let score = |found: &R| WORDS * found.relevance() + (1.0 - WORDS) * found.likeness().max(least);
    let mut fused: Vec<R> = found.into_values().collect();
    fused.sort_by(|one, other| score(other).total_cmp(&score(one)));
    fused
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Clone)]
    struct Entry(u64, f64, f64);

    impl Ranked for Entry {
        type Key = u64;

        fn key(&self) -> u64 {
            self.0
        }

        fn relevance(&self) -> f64 {
            self.1
        }

        fn likeness(&self) -> f64 {
            self.2
        }

        fn set_likeness(&mut self, likeness: f64) {
            self.2 = likeness;
        }
    }

    #[test]
    fn what_both_rankings_find_comes_before_what_one_finds() {
        let ids = |found: Vec<Entry>| found.iter().map(|found| found.0).collect::<Vec<_>>();
        let words = vec![Entry(1, 0.9, 0.0), Entry(5, 0.3, 0.0), Entry(2, 0.5, 0.0)];
        let meaning = vec![Entry(3, 0.0, 0.6), Entry(2, 0.0, 0.55), Entry(4, 0.0, 0.2)];
        let both = fused(words.clone(), meaning.clone());
        assert_eq!((both[0].1, both[0].2), (0.5, 0.55));
        assert_eq!(ids(both), [2, 3, 1, 5, 4]);
        assert_eq!(ids(fused(words, Vec::new())), [1, 5, 2], "as it was");
        assert_eq!(ids(fused(Vec::new(), meaning)), [3, 2, 4]);
    }
}
