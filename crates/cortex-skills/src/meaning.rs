//! How much a task means what a skill is for.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use cortex_core::{EmbedError, Embedder, likeness};
use tokio::sync::Mutex;

use crate::folders::FoundSkill;

/// Compares by the vectors of a model. Clones share those of the skills.
#[derive(Clone)]
pub(crate) struct Meaning {
    embedder: Arc<dyn Embedder>,
    /// By the text. A skill that is edited has another one.
    known: Arc<Mutex<BTreeMap<String, Vec<f32>>>>,
}

impl std::fmt::Debug for Meaning {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_tuple("Meaning").field(&self.embedder.model()).finish()
    }
}

impl Meaning {
    pub(crate) fn new(embedder: Arc<dyn Embedder>) -> Self {
        Self { embedder, known: Arc::default() }
    }

    /// The likeness of each skill, by its name. What is computed of the skills is kept, also where this is dropped.
    pub(crate) async fn likeness(
        &self,
        skills: &[FoundSkill],
        said: &str,
    ) -> Result<BTreeMap<String, f64>, EmbedError> {
        let purposes: BTreeMap<String, String> =
            skills.iter().map(|found| (found.skill.name.clone(), purpose(found))).collect();
        let (meaning, texts) = (self.clone(), purposes.values().cloned().collect());
        let learnt = tokio::spawn(async move { meaning.learn(texts).await }).await;
        learnt.map_err(|problem| EmbedError(problem.to_string()))??;
        let task = self.embedder.embed(vec![said.to_owned()]).await?.pop().unwrap_or_default();
        let known = self.known.lock().await;
        let likeness = |(name, purpose): (String, String)| Some((name, likeness(&task, known.get(&purpose)?)));
        Ok(purposes.into_iter().filter_map(likeness).collect())
    }

    /// Computes the vectors of these texts that are not known, and forgets all others. One at a time.
    async fn learn(&self, texts: BTreeSet<String>) -> Result<(), EmbedError> {
        let mut known = self.known.lock().await;
        known.retain(|text, _| texts.contains(text));
        let new: Vec<String> = texts.into_iter().filter(|text| !known.contains_key(text)).collect();
        if !new.is_empty() {
            let vectors = self.embedder.embed(new.clone()).await?;
            known.extend(new.into_iter().zip(vectors));
        }
        Ok(())
    }
}

/// What a skill is for, in words.
fn purpose(found: &FoundSkill) -> String {
    format!("{}. {}", found.skill.name.replace('-', " "), found.skill.description)
}
