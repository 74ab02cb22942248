//! The words of passages and tasks, as a server of Qdrant finds them: a sparse vector with a number for each word. The product
//! of a task's vector with that of a passage is the BM25 of the passage (Robertson and Zaragoza, "The Probabilistic Relevance
//! Framework: BM25 and Beyond", 2009). How rare a word is stands in the vector of the task: among the documents of this robot, not
//! among those of all robots that share the collection.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use bm25::{DefaultTokenizer, Language, Tokenizer as _};
use qdrant_client::qdrant::SparseVector;
use sha2::{Digest as _, Sha256};

use crate::document::Passage;
use crate::words::{MOST_WORDS, split, telling};

/// How soon a word that comes again adds nothing, and how much a long passage is held back: the usual values of BM25.
const SATURATION: f64 = 1.2;
const LENGTH: f64 = 0.75;
/// How many words a passage has at most, about (`passages.rs`), and with that the usual one.
const USUAL_WORDS: f64 = 150.0;
/// A heading tells more than a word of the text; the id of a document is seldom words at all. As in the file.
const TEXT_WEIGHT: f64 = 1.0;
const PLACE_WEIGHT: f64 = 2.0;
const ID_WEIGHT: f64 = 0.5;

/// Letters without their marks, words without their endings. English ones, as in the file.
static STEMS: LazyLock<DefaultTokenizer> = LazyLock::new(|| {
    DefaultTokenizer::builder()
        .language_mode(Language::English)
        .normalization(true)
        .stemming(true)
        .stopwords(false)
        .build()
});

fn stems(text: &str) -> impl Iterator<Item = String> {
    split(text).flat_map(|word| STEMS.tokenize(&word))
}

/// What a task is about: its telling words, each once, in the order of their first place.
pub(super) fn wanted(task: &str) -> Vec<String> {
    let mut seen = BTreeSet::new();
    let words = telling(task);
    // Without its marks, a long word of a script without spaces comes apart into many.
    words.iter().flat_map(|word| stems(word)).filter(|word| seen.insert(word.clone())).take(MOST_WORDS).collect()
}

/// The words of a passage, each once, and its vector.
pub(super) fn of_passage(document: &str, passage: &Passage) -> (Vec<String>, SparseVector) {
    let mut weights: BTreeMap<String, f64> = BTreeMap::new();
    let mut all = 0.0;
    for (text, weight) in [(passage.text.as_str(), TEXT_WEIGHT), (&passage.place, PLACE_WEIGHT), (document, ID_WEIGHT)]
    {
        for word in stems(text) {
            *weights.entry(word).or_default() += weight;
            all += weight;
        }
    }
    let held_back = SATURATION * (1.0 - LENGTH + LENGTH * all / USUAL_WORDS);
    let numbers =
        weights.iter().map(|(word, weight)| (word.as_str(), weight * (SATURATION + 1.0) / (weight + held_back)));
    let vector = sparse(numbers);
    (weights.into_keys().collect(), vector)
}

/// The words of a passage that was found.
pub(super) fn held(document: &str, passage: &Passage) -> BTreeSet<String> {
    [passage.text.as_str(), &passage.place, document].into_iter().flat_map(stems).collect()
}

/// How much a word tells that so many passages of all hold.
pub(super) fn rarity(all: u64, holding: u64) -> f64 {
    #[allow(clippy::cast_precision_loss, reason = "nobody has so many passages")]
    let (all, holding) = (all.max(holding) as f64, holding as f64);
    (1.0 + (all - holding + 0.5) / (holding + 0.5)).ln()
}

/// A vector with a number for each word. Of two words that come to lie at one index, both count.
pub(super) fn sparse<'a>(numbers: impl Iterator<Item = (&'a str, f64)>) -> SparseVector {
    let mut vector: BTreeMap<u32, f64> = BTreeMap::new();
    for (word, number) in numbers {
        *vector.entry(index(word)).or_default() += number;
    }
    let indices = vector.keys().copied().collect();
    #[allow(clippy::cast_possible_truncation, reason = "a ranking needs no more")]
    let values = vector.into_values().map(|number| number as f32).collect();
    SparseVector { values, indices }
}

/// Where a word stands in a vector.
fn index(word: &str) -> u32 {
    let digest: [u8; 32] = Sha256::digest(word).into();
    let [a, b, c, d, ..] = digest;
    u32::from_le_bytes([a, b, c, d])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn passage(place: &str, text: &str) -> Passage {
        Passage { place: place.to_owned(), text: text.to_owned() }
    }

    #[test]
    fn a_word_is_found_with_other_endings_and_without_marks() {
        let (words, vector) = of_passage("café.md", &passage("Kettle, Descaling", "The cups are red."));
        let task = wanted("How do I descale a cup in the cafe?");
        assert_eq!(task.len(), 3, "{task:?}");
        for word in task {
            assert!(words.contains(&word), "{word} {words:?}");
            assert!(vector.indices.contains(&index(&word)), "{word}");
        }
        assert_eq!(vector.indices.len(), vector.values.len());
        assert!(vector.indices.is_sorted());
    }

    #[test]
    fn a_long_word_without_spaces_has_so_many_parts() {
        let word: String = ('\u{4e00}'..'\u{5000}').collect();
        assert_eq!(wanted(&word).len(), MOST_WORDS);
    }

    #[test]
    fn a_heading_counts_more_and_a_long_text_less() {
        let weight = |passage: &Passage| {
            let (_, vector) = of_passage("a", passage);
            let kettle = index(&wanted("kettle")[0]);
            let at = vector.indices.iter().position(|found| *found == kettle).expect("it has the word");
            vector.values[at]
        };
        let in_text = weight(&passage("", "the kettle"));
        assert!(weight(&passage("Kettle", "it is there")) > in_text);
        assert!(weight(&passage("", &format!("the kettle {}", "is there ".repeat(80)))) < in_text);
    }

    #[test]
    fn a_word_that_fewer_passages_hold_tells_more() {
        assert!(rarity(100, 0) > rarity(100, 1) && rarity(100, 1) > rarity(100, 100));
        assert!(rarity(0, 0) > 0.0 && rarity(1, 5) > 0.0, "whatever a server says");
    }
}
