//! How well skills fit what was said: by their examples, or by what they are for.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use cortex_core::{ContextQuery, EmbedError, Embedder, likeness};

use crate::classifier::Classifier;
use crate::examples::ExampleSet;
use crate::folders::FoundSkill;
use crate::meaning::{Meaning, Vectors};
use crate::words::parts;

/// Most texts that a task is judged by: itself, how it was revised, and their parts.
const MOST_TEXTS: usize = 8;

/// How well skills fit, by name.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Fits {
    /// Those with examples, if what was said is like them: by how much.
    pub(crate) by_examples: BTreeMap<String, f64>,
    /// Those without: how much they are for what was said, by its meaning.
    pub(crate) by_purpose: BTreeMap<String, f64>,
}

/// Judges. Clones share what was computed of the skills.
#[derive(Clone, Default)]
pub(crate) struct Judge {
    meaning: Option<Meaning>,
    by_meaning: Learned,
    by_words: Learned,
}

/// What was learned from the newest version of the examples.
type Learned = Arc<Mutex<Option<Arc<Classifier>>>>;

impl std::fmt::Debug for Judge {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_tuple("Judge").field(&self.meaning).finish()
    }
}

impl Judge {
    pub(crate) fn with(embedder: Arc<dyn Embedder>) -> Self {
        Self { meaning: Some(Meaning::new(embedder)), ..Self::default() }
    }

    /// How well these skills fit. By words alone where what was said and the skills mean is not known by then.
    pub(crate) async fn fits(
        &self,
        skills: &[FoundSkill],
        query: &ContextQuery,
        patience: Duration,
        words_patience: Duration,
    ) -> Fits {
        let set = example_set(skills);
        let texts = texts(query);
        // The words are learned meanwhile: a plan does not wait for one after the other.
        let by_meaning = self.by_meaning_in_time(skills, &set, &texts, patience);
        let by_words = tokio::time::timeout(words_patience, learned(&self.by_words, &set, None));
        let (by_words, by_meaning) = tokio::join!(by_words, by_meaning);
        if let Some(fits) = by_meaning {
            return fits;
        }
        let left_out = |problem: &dyn std::fmt::Display| {
            tracing::warn!("the examples of skills are left out: {problem}");
            BTreeMap::new()
        };
        let by_examples = match by_words {
            Ok(Ok(classifier)) => classifier.map(|classifier| classifier.wanted(&texts, &[])).unwrap_or_default(),
            Ok(Err(problem)) => left_out(&problem),
            Err(_) => left_out(&"they were not learned in time"),
        };
        Fits { by_examples, ..Fits::default() }
    }

    /// None where there is no model, or it could not tell by then.
    async fn by_meaning_in_time(
        &self,
        skills: &[FoundSkill],
        set: &ExampleSet,
        texts: &[String],
        patience: Duration,
    ) -> Option<Fits> {
        let meaning = self.meaning.as_ref()?;
        match tokio::time::timeout(patience, self.by_meaning(meaning, skills, set, texts)).await {
            Ok(Ok(fits)) => return Some(fits),
            Ok(Err(problem)) => tracing::warn!("skills fire by their words alone: {problem}"),
            Err(_) => tracing::warn!("skills fire by their words alone: what the task means was not known in time"),
        }
        None
    }

    async fn by_meaning(
        &self,
        meaning: &Meaning,
        skills: &[FoundSkill],
        set: &ExampleSet,
        texts: &[String],
    ) -> Result<Fits, EmbedError> {
        let purposes = purposes(skills);
        let vectors = meaning.of_skills(texts_of_skills(set, &purposes)).await?;
        let classifier = learned(&self.by_meaning, set, Some(Arc::clone(&vectors))).await?;
        let needed = if set.is_empty() { 1 } else { texts.len() };
        let said = meaning.of_said(texts.iter().take(needed).cloned().collect()).await?;
        // Of what was said last, as a whole.
        let last = said.first().cloned().unwrap_or_default();
        let by_examples = classifier.map(|classifier| classifier.wanted(texts, &said)).unwrap_or_default();
        let likeness = |(name, purpose): (String, String)| Some((name, likeness(&last, vectors.get(&purpose)?)));
        Ok(Fits { by_examples, by_purpose: purposes.into_iter().filter_map(likeness).collect() })
    }

    /// Computes what these skills need, however long it takes.
    pub(crate) async fn catch_up(&self, skills: &[FoundSkill]) {
        let set = example_set(skills);
        let by_words = learned(&self.by_words, &set, None).await.map(|_| ());
        let by_meaning = match &self.meaning {
            Some(meaning) => match meaning.of_skills(texts_of_skills(&set, &purposes(skills))).await {
                Ok(vectors) => learned(&self.by_meaning, &set, Some(vectors)).await.map(|_| ()),
                Err(problem) => Err(problem),
            },
            None => Ok(()),
        };
        if let Err(problem) = by_words.and(by_meaning) {
            tracing::warn!("the examples of skills are not learned ahead: {problem}");
        }
    }
}

/// What has learned from these examples; none where there are none. Whoever comes meanwhile waits, and what was begun is ended
/// also where nobody waits any more.
async fn learned(
    learned: &Learned,
    set: &ExampleSet,
    vectors: Option<Vectors>,
) -> Result<Option<Arc<Classifier>>, EmbedError> {
    if set.is_empty() {
        return Ok(None);
    }
    let (learned, set) = (Arc::clone(learned), set.clone());
    let learning = move || {
        let mut learned = learned.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(classifier) = learned.as_ref().filter(|classifier| classifier.is_of(&set)) {
            return Arc::clone(classifier);
        }
        let of = |vectors: Vectors| {
            let vector = |text: &str| vectors.get(text).cloned().unwrap_or_default();
            Classifier::sentences(&set).map(vector).collect()
        };
        let vectors = vectors.map(of);
        Arc::clone(learned.insert(Arc::new(Classifier::learn(set, vectors))))
    };
    tokio::task::spawn_blocking(learning).await.map(Some).map_err(|problem| EmbedError(problem.to_string()))
}

/// What was said, the newest first, each followed by its parts.
fn texts(query: &ContextQuery) -> Vec<String> {
    let said = query.revisions.iter().rev().chain([&query.task]);
    said.flat_map(|said| std::iter::once(said.clone()).chain(parts(said))).take(MOST_TEXTS).collect()
}

fn example_set(skills: &[FoundSkill]) -> ExampleSet {
    ExampleSet::of(skills.iter().map(|found| (found.skill.name.as_str(), &found.skill.triggers.examples)))
}

/// All texts of skills of which vectors are needed.
fn texts_of_skills(set: &ExampleSet, purposes: &BTreeMap<String, String>) -> BTreeSet<String> {
    let examples = Classifier::sentences(set).filter(|_| !set.is_empty()).map(str::to_owned);
    examples.chain(purposes.values().cloned()).collect()
}

/// What each skill without examples is for, in words.
fn purposes(skills: &[FoundSkill]) -> BTreeMap<String, String> {
    let without = skills.iter().map(|found| &found.skill).filter(|skill| skill.triggers.examples.wanted.is_empty());
    without
        .map(|skill| (skill.name.clone(), format!("{}. {}", skill.name.replace('-', " "), skill.description)))
        .collect()
}
