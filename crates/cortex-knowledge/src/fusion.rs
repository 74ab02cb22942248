//! Two rankings as one: a weighted sum of both relevances, which finds more than the places alone would (Bruch, Gai and Ingber,
//! "An Analysis of Fusion Functions for Hybrid Retrieval", 2023).

use std::collections::BTreeMap;

use crate::store::{Found, PassageId};

/// How much words count; meaning counts the rest. Found on every other question of `tests/meaning`.
const WORDS: f64 = 0.2;

/// The passages of both rankings, at most `most`, the best first. Of one that is in both, the greater relevance counts.
pub(crate) fn fused(by_words: Vec<Found>, by_meaning: Vec<Found>, most: usize) -> Vec<Found> {
    // What is found by its words alone means no more than the last that is found by its meaning.
    let least = by_meaning.last().map(|found| found.relevance).unwrap_or_default();
    let mut scored: BTreeMap<PassageId, (f64, Found)> = BTreeMap::new();
    for found in by_words {
        scored.insert(found.id, (WORDS * found.relevance + (1.0 - WORDS) * least, found));
    }
    for found in by_meaning {
        let meaning = (1.0 - WORDS) * found.relevance;
        scored
            .entry(found.id)
            .and_modify(|(score, earlier)| {
                *score = WORDS * earlier.relevance + meaning;
                earlier.relevance = earlier.relevance.max(found.relevance);
            })
            .or_insert((meaning, found));
    }
    let mut fused: Vec<(f64, Found)> = scored.into_values().collect();
    fused.sort_by(|one, other| other.0.total_cmp(&one.0));
    fused.into_iter().take(most).map(|(_, found)| found).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::document::Passage;

    #[test]
    fn what_both_rankings_find_comes_before_what_one_finds() {
        let ranking = |found: &[(u64, f64)]| -> Vec<Found> {
            let found = found.iter().map(|(id, relevance)| Found {
                id: PassageId(*id),
                document: String::new(),
                passage: Passage { place: String::new(), text: String::new() },
                metadata: BTreeMap::new(),
                relevance: *relevance,
            });
            found.collect()
        };
        let told = |found: Vec<Found>| found.iter().map(|found| (found.id.0, found.relevance)).collect::<Vec<_>>();
        let (words, meaning) = (ranking(&[(1, 0.9), (2, 0.5)]), ranking(&[(3, 0.6), (2, 0.55), (4, 0.2)]));
        let found = told(fused(words.clone(), meaning.clone(), 9));
        assert_eq!(found, [(2, 0.55), (3, 0.6), (1, 0.9), (4, 0.2)]);
        assert_eq!(told(fused(words, Vec::new(), 1)), [(1, 0.9)]);
        assert_eq!(told(fused(Vec::new(), meaning, 1)), [(3, 0.6)]);
    }
}
