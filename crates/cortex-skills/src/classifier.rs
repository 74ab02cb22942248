//! Which skills a task is for, judged by the examples of all skills: by words that it shares with them and, with the vectors of a
//! model, by what it means. Pure, and the same for the same examples.
//!
//! An example counts 1 for the skill that it wants and 0 for all others; counter-examples count 0 for all, and so do some
//! sentences that robots are told all day. Between them the score of a task follows by regularized least squares. That is more
//! than the nearest example: words that are said for many skills, or for none, come to count little by themselves.

use std::collections::BTreeMap;

use cortex_core::likeness;

use crate::examples::ExampleSet;
use crate::least_squares::{Factor, dot};
use crate::words::features;

/// Sentences that no skill is needed for, unless it has examples like them: people said them to robots of many kinds.
const OF_NO_SKILL: &str = include_str!("../data/of_no_skill.txt");
/// How much the words count, where the meaning is known; the meaning counts the rest.
const WORDS: f64 = 0.6;
/// How fast the meaning loses by distance: only what is near counts.
const NEARNESS: i32 = 3;
/// How much a word that no example has counts among the others of a task.
const UNKNOWN: f64 = 0.5;
/// Least score of a task that a skill is used for, with the meaning and by words alone.
const LEAST_BY_MEANING: f64 = 0.34;
const LEAST_BY_WORDS: f64 = 0.4;

/// What is known of the examples.
pub(crate) struct Classifier {
    set: ExampleSet,
    /// The sentences of the set and those of no skill that have a word, with how much each of them has of it.
    having: BTreeMap<String, Vec<(usize, f64)>>,
    /// How telling a word is.
    telling: BTreeMap<String, f64>,
    unknown: f64,
    sentences: usize,
    vectors: Option<Vec<Vec<f32>>>,
    /// For each skill of the set, the weight of each sentence.
    weights: Vec<Vec<f64>>,
}

impl Classifier {
    /// The sentences that it judges by, in its order.
    pub(crate) fn sentences(set: &ExampleSet) -> impl Iterator<Item = &str> {
        set.sentences.iter().map(|(sentence, _)| sentence.as_str()).chain(OF_NO_SKILL.lines())
    }

    /// Learns from the examples, with a vector for each of the [sentences](Self::sentences), or by words alone. Takes a tenth of
    /// a second or more: not for a thread that others wait for.
    pub(crate) fn learn(set: ExampleSet, vectors: Option<Vec<Vec<f32>>>) -> Self {
        let sentences: Vec<BTreeMap<String, f64>> = Self::sentences(&set).map(features).collect();
        let mut counts: BTreeMap<String, f64> = BTreeMap::new();
        for feature in sentences.iter().flat_map(BTreeMap::keys) {
            *counts.entry(feature.clone()).or_default() += 1.0;
        }
        #[allow(clippy::cast_precision_loss, reason = "some thousand sentences")]
        let all = sentences.len() as f64 + 1.0;
        let rarity = |count: f64| (all / (count + 0.5)).ln();
        let mut classifier = Self {
            having: BTreeMap::new(),
            telling: counts.into_iter().map(|(feature, count)| (feature, rarity(count))).collect(),
            unknown: rarity(0.0) * UNKNOWN,
            sentences: sentences.len(),
            vectors,
            weights: Vec::new(),
            set,
        };
        for (at, features) in sentences.iter().enumerate() {
            for (feature, amount) in classifier.weighed(features) {
                classifier.having.entry(feature.to_owned()).or_default().push((at, amount));
            }
        }
        let vector_of = |at: usize| classifier.vectors.as_ref().and_then(|vectors| vectors.get(at)).map(Vec::as_slice);
        let likenesses: Vec<Vec<f64>> =
            sentences.iter().enumerate().map(|(at, features)| classifier.alike(features, vector_of(at))).collect();
        let factor = Factor::of(&likenesses);
        let targets = |skill: usize| -> Vec<f64> {
            let wanted = classifier.set.sentences.iter().map(|(_, wants)| f64::from(u8::from(*wants == Some(skill))));
            wanted.chain(std::iter::repeat(0.0)).take(classifier.sentences).collect()
        };
        classifier.weights = (0..classifier.set.skills.len()).map(|skill| factor.weights(&targets(skill))).collect();
        classifier
    }

    /// Whether it has learned from these examples.
    pub(crate) fn is_of(&self, set: &ExampleSet) -> bool {
        self.set == *set
    }

    /// The skills that a task of these texts is for, with their scores: of each the highest for one of the texts. `vectors`:
    /// those of the texts; without them it goes by the words.
    pub(crate) fn wanted(&self, texts: &[String], vectors: &[Vec<f32>]) -> BTreeMap<String, f64> {
        let least = if self.vectors.is_some() { LEAST_BY_MEANING } else { LEAST_BY_WORDS };
        let mut wanted: BTreeMap<String, f64> = BTreeMap::new();
        for (at, text) in texts.iter().enumerate() {
            let alike = self.alike(&features(text), vectors.get(at).map(Vec::as_slice));
            for (skill, weights) in self.set.skills.iter().zip(&self.weights) {
                let score = dot(weights, &alike);
                if score >= least {
                    let highest = wanted.entry(skill.clone()).or_default();
                    *highest = highest.max(score);
                }
            }
        }
        wanted
    }

    /// How alike a text is to each of the sentences, from 0 to 1.
    fn alike(&self, features: &BTreeMap<String, f64>, vector: Option<&[f32]>) -> Vec<f64> {
        let mut alike = vec![0.0; self.sentences];
        for (feature, amount) in self.weighed(features) {
            for (at, other) in self.having.get(feature).into_iter().flatten() {
                if let Some(alike) = alike.get_mut(*at) {
                    *alike += amount * other;
                }
            }
        }
        let (Some(vectors), Some(vector)) = (&self.vectors, vector) else { return alike };
        for (alike, other) in alike.iter_mut().zip(vectors) {
            *alike = WORDS * *alike + (1.0 - WORDS) * likeness(vector, other).powi(NEARNESS);
        }
        alike
    }

    /// What a text has of the features that sentences have, by how telling each is; together of length 1, or less where it has
    /// others.
    fn weighed<'t>(&self, features: &'t BTreeMap<String, f64>) -> Vec<(&'t str, f64)> {
        let amount = |(feature, amount): (&'t String, &f64)| {
            (feature.as_str(), amount * self.telling.get(feature).copied().unwrap_or(self.unknown))
        };
        let weighed: Vec<(&str, f64)> = features.iter().map(amount).collect();
        let length = weighed.iter().map(|(_, amount)| amount * amount).sum::<f64>().sqrt().max(f64::MIN_POSITIVE);
        weighed.into_iter().map(|(feature, amount)| (feature, amount / length)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::examples::Examples;

    const BINS: [&str; 4] =
        ["Empty the bins in the office.", "The rubbish has to go out.", "take out the trash", "The bin is full again!"];
    const PLANTS: [&str; 4] =
        ["Water the plants.", "The basil is dry.", "give the tomatoes some water", "Are the herbs watered today?"];
    const NOT_PLANTS: [&str; 2] = ["Bring me a glass of water.", "Water boils at a hundred degrees."];

    fn set() -> ExampleSet {
        let all = |sentences: &[&str]| sentences.iter().map(|sentence| (*sentence).to_owned()).collect();
        let bins = Examples { wanted: all(&BINS), unwanted: Vec::new() };
        let plants = Examples { wanted: all(&PLANTS), unwanted: all(&NOT_PLANTS) };
        ExampleSet::of([("bins", &bins), ("plants", &plants)].into_iter())
    }

    fn wanted(classifier: &Classifier, texts: &[&str], vectors: &[Vec<f32>]) -> Vec<String> {
        let texts: Vec<String> = texts.iter().map(|text| (*text).to_owned()).collect();
        classifier.wanted(&texts, vectors).into_keys().collect()
    }

    #[test]
    fn a_task_is_for_the_skill_whose_examples_it_is_like_and_for_none_that_it_only_mentions() {
        let classifier = Classifier::learn(set(), None);
        let wanted = |task: &str| wanted(&classifier, &[task], &[]);
        assert_eq!(wanted("please empty the bins in the hall"), ["bins"]);
        assert_eq!(wanted("the herbs are dry"), ["plants"]);
        for other in [
            "bring a glass of water",
            "Water boils",
            "go to the office",
            "Could you pop the kettle on?",
            "",
            "\u{202e}?!",
            "völlig andere Wörter",
        ] {
            assert_eq!(wanted(other), [""; 0], "{other}");
        }
    }

    #[test]
    fn what_is_said_for_two_skills_in_two_parts_is_for_both() {
        let classifier = Classifier::learn(set(), None);
        assert_eq!(wanted(&classifier, &["go", "water the plants", "empty the bins"], &[]), ["bins", "plants"]);
    }

    /// A model of this test means by each sentence for a skill one direction, and another by each other one.
    #[test]
    fn what_means_the_same_in_other_words_is_for_the_same_skill() {
        let set = set();
        let meant = |text: &str| match text {
            _ if BINS.contains(&text) => vec![1.0, 0.0, 0.0],
            _ if PLANTS.contains(&text) => vec![0.0, 1.0, 0.0],
            _ => vec![0.0, 0.0, 1.0],
        };
        let vectors = Classifier::sentences(&set).map(meant).collect();
        let classifier = Classifier::learn(set, Some(vectors));
        let by = |vector: [f32; 3]| wanted(&classifier, &["away with the garbage, would you"], &[vector.to_vec()]);
        assert_eq!(by([1.0, 0.0, 0.0]), ["bins"]);
        assert_eq!(by([0.0, 0.0, 1.0]), [""; 0]);
        assert_eq!(by([f32::NAN; 3]), [""; 0], "what a model does not know fires nothing");
    }

    #[test]
    fn learning_is_the_same_for_the_same_examples() {
        let (one, other) = (Classifier::learn(set(), None), Classifier::learn(set(), None));
        assert!(one.is_of(&set()) && !one.is_of(&ExampleSet::default()));
        assert_eq!(one.weights, other.weights);
    }
}
