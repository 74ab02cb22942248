//! Two rankings as one: a weighted sum of both relevances, which finds more than the places alone would (Bruch, Gai and Ingber,
//! "An Analysis of Fusion Functions for Hybrid Retrieval", 2023).

use std::collections::BTreeMap;

use crate::store::{Found, PassageId};

/// How much words count; meaning counts the rest. Found on every other question of `tests/meaning`.
const WORDS: f64 = 0.2;

/// The passages of both rankings, the best first.
pub(crate) fn fused(by_words: Vec<Found>, by_meaning: Vec<Found>) -> Vec<Found> {
    // Without the meaning, the ranking by words stays as it is.
    let Some(last) = by_meaning.last() else { return by_words };
    // What is found by its words alone means no more than the last that is found by its meaning.
    let least = last.likeness;
    let mut found: BTreeMap<PassageId, Found> = by_words.into_iter().map(|found| (found.id, found)).collect();
    for near in by_meaning {
        found.entry(near.id).and_modify(|earlier| earlier.likeness = near.likeness).or_insert(near);
    }
    let score = |found: &Found| WORDS * found.relevance + (1.0 - WORDS) * found.likeness.max(least);
    let mut fused: Vec<Found> = found.into_values().collect();
    fused.sort_by(|one, other| score(other).total_cmp(&score(one)));
    fused
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::document::Passage;

    #[test]
    fn what_both_rankings_find_comes_before_what_one_finds() {
        let found = |(id, relevance, likeness): &(u64, f64, f64)| Found {
            id: PassageId(*id),
            document: String::new(),
            passage: Passage { place: String::new(), text: String::new() },
            metadata: BTreeMap::new(),
            relevance: *relevance,
            likeness: *likeness,
        };
        let ranking = |found_so: &[(u64, f64, f64)]| -> Vec<Found> { found_so.iter().map(found).collect() };
        let ids = |found: Vec<Found>| found.iter().map(|found| found.id.0).collect::<Vec<_>>();
        let words = ranking(&[(1, 0.9, 0.0), (5, 0.3, 0.0), (2, 0.5, 0.0)]);
        let meaning = ranking(&[(3, 0.0, 0.6), (2, 0.0, 0.55), (4, 0.0, 0.2)]);
        let both = fused(words.clone(), meaning.clone());
        assert_eq!((both[0].relevance, both[0].likeness), (0.5, 0.55));
        assert_eq!(ids(both), [2, 3, 1, 5, 4]);
        assert_eq!(ids(fused(words, Vec::new())), [1, 5, 2], "as it was");
        assert_eq!(ids(fused(Vec::new(), meaning)), [3, 2, 4]);
    }
}
