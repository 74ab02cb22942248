//! How much a task means what a skill is for.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use cortex_core::{EmbedError, Embedder, likeness};

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

    /// The likeness of each skill, by its name.
    pub(crate) async fn likeness(
        &self,
        skills: &[FoundSkill],
        said: &str,
    ) -> Result<BTreeMap<String, f64>, EmbedError> {
        let purposes: Vec<(&str, String)> =
            skills.iter().map(|found| (found.skill.name.as_str(), purpose(found))).collect();
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner).clone();
        known.retain(|text, _| purposes.iter().any(|(_, purpose)| purpose == text));
        let new = purposes.iter().map(|(_, purpose)| purpose.clone()).filter(|purpose| !known.contains_key(purpose));
        let mut texts: Vec<String> = new.collect();
        texts.push(said.to_owned());
        let mut vectors = self.embedder.embed(texts.clone()).await?;
        let task = vectors.pop().unwrap_or_default();
        known.extend(texts.into_iter().zip(vectors));
        let found = purposes
            .iter()
            .filter_map(|(name, purpose)| Some(((*name).to_owned(), likeness(&task, known.get(purpose)?))));
        let found = found.collect();
        *self.known.lock().unwrap_or_else(PoisonError::into_inner) = known;
        Ok(found)
    }
}

/// What a skill is for, in words.
fn purpose(found: &FoundSkill) -> String {
    format!("{}. {}", found.skill.name.replace('-', " "), found.skill.description)
}
