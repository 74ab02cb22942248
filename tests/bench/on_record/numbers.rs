//! Numbers, words and vectors that look random and are the same in each run.

use async_trait::async_trait;
use cortex_core::{EmbedError, Embedder};

/// Words that there are; of each text, the first ones are the most frequent (Zipf).
const WORDS: f64 = 20_000.0;
/// The most frequent words tell nothing; they are left out, as they are of a question.
const STOP_WORDS: f64 = 20.0;
/// Numbers of a vector, as all-MiniLM-L6-v2 has them.
const DIMENSION: usize = 384;

/// A sequence of numbers (SplitMix64).
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound.max(1)
    }

    /// From 0 to 1.
    fn part(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// A word, frequent ones more often.
    fn word(&mut self) -> String {
        let rank = STOP_WORDS * (WORDS / STOP_WORDS).powf(self.part());
        spelled(rank as u64)
    }

    /// So many words.
    pub(crate) fn words(&mut self, count: usize) -> String {
        (0..count).map(|_| self.word()).collect::<Vec<_>>().join(" ")
    }
}

/// A word for a number, of syllables.
fn spelled(mut number: u64) -> String {
    const SYLLABLES: [&str; 16] =
        ["ba", "do", "ki", "lu", "me", "na", "po", "ri", "su", "ta", "ve", "wo", "za", "fi", "gu", "he"];
    let mut word = String::new();
    while word.len() < 4 || number > 0 {
        word.push_str(SYLLABLES.get(usize::try_from(number % 16).unwrap_or_default()).copied().unwrap_or_default());
        number /= 16;
    }
    word
}

/// Gives vectors of length 1 that depend on the text and look random, at once: the time of a model is apart.
pub(crate) struct GivenVectors;

#[async_trait]
impl Embedder for GivenVectors {
    fn model(&self) -> &str {
        "given"
    }

    async fn embed(&self, texts: Vec<String>) -> Result<Vec<Vec<f32>>, EmbedError> {
        Ok(texts.iter().map(|text| vector(text)).collect())
    }
}

fn vector(text: &str) -> Vec<f32> {
    // FNV-1a.
    let seed = text
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3));
    let mut random = Random(seed);
    let numbers: Vec<f32> = (0..DIMENSION).map(|_| (random.part() * 2.0 - 1.0) as f32).collect();
    let length = numbers.iter().map(|number| number * number).sum::<f32>().sqrt();
    numbers.into_iter().map(|number| number / length).collect()
}
