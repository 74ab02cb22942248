//! Tables of words, and a filter before them: most words are in none of them, and that is known without a look-up.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasherDefault, Hasher};

/// A table by words. Only for data and for the words of a robot's tools: nobody who speaks chooses its keys.
pub(crate) type WordMap<V> = HashMap<String, V, BuildHasherDefault<WordHasher>>;

/// The same for data, whose words are kept.
pub(crate) type KeptMap<V> = HashMap<&'static str, V, BuildHasherDefault<WordHasher>>;

/// Words, for the same.
pub(crate) type WordSet = HashSet<String, BuildHasherDefault<WordHasher>>;

/// The FNV-1a hash, which is fast for short words.
#[derive(Debug, Clone, Copy)]
pub(crate) struct WordHasher(u64);

impl Default for WordHasher {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl Hasher for WordHasher {
    fn write(&mut self, bytes: &[u8]) {
        self.0 = bytes.iter().fold(self.0, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3));
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

/// Blocks of 64 bits.
const BLOCKS: usize = 16;

/// A bit for each group of words: a word whose bit is not set is surely absent.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct WordFilter([u64; BLOCKS]);

impl WordFilter {
    pub(crate) fn add(&mut self, word: &str) {
        let (block, bit) = place(word);
        if let Some(bits) = self.0.get_mut(block) {
            *bits |= bit;
        }
    }

    /// Returns false if the word was surely not added.
    pub(crate) fn may_have(&self, word: &str) -> bool {
        let (block, bit) = place(word);
        self.0.get(block).is_some_and(|bits| bits & bit != 0)
    }
}

/// The block of a word and its bit, by its length and three of its letters.
fn place(word: &str) -> (usize, u64) {
    let bytes = word.as_bytes();
    let at = |index: usize| usize::from(bytes.get(index).copied().unwrap_or_default());
    let mixed = at(0)
        .wrapping_mul(0x9e37)
        .wrapping_add(at(bytes.len() / 2).wrapping_mul(0x2f0b))
        .wrapping_add(at(bytes.len().wrapping_sub(1)).wrapping_mul(0x6d4d))
        .wrapping_add(bytes.len().wrapping_mul(0x1c69));
    let mixed = mixed ^ (mixed >> 7);
    (mixed / 64 % BLOCKS, 1 << (mixed % 64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_that_were_added_are_never_denied() {
        let words = ["", "a", "it", "the", "kitchen", "küche", "go", "going", "twenty"];
        let mut filter = WordFilter::default();
        words.iter().for_each(|word| filter.add(word));
        assert!(words.iter().all(|word| filter.may_have(word)));
        assert!(!filter.may_have("garage"));
    }
}
