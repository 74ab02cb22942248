//! The memory of a robot, as others use it.

mod meaning;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use self::meaning::Meaning;
use crate::answers::{
    CurrentContext, Entity, Forgotten, FoundFact, Located, LookedAt, MemorySize, Noted, PresenceAnswer, Recollection,
};
use crate::bulletin::{self, Standing};
use crate::episode::{Episode, EpisodeId, Outcome};
use crate::error::MemoryError;
use crate::exchange::{Exchange, ExchangeQuery};
use crate::fact::{Fact, FactAnswer, FactId, Now, ObservationRun};
use crate::interaction::Interaction;
use crate::observation::Observation;
use crate::rules::MemoryRules;
use crate::sqlite::{Forget, Rebuilt, Span, SpatialQuery, Store};

/// Most answers to one question, whatever was asked for.
const MOST_ANSWERS: usize = 1_000;

/// A memory in one file. Clones share it. One process has a file at a time.
///
/// All questions are answered from one state of the file. Work that blocks is done on threads for that; dropping a future
/// is safe, and an addition that has begun is then finished.
#[derive(Clone)]
pub struct Memory {
    store: Arc<Store>,
    /// What finds facts by their meaning, too.
    pub(crate) meaning: Option<Meaning>,
}

impl Memory {
    /// Opens a file, makes it where it is missing, and takes over one of an earlier format.
    ///
    /// # Errors
    /// When it can't be opened, is in use by another process, is damaged, or is of a newer format.
    pub async fn open(file: impl Into<PathBuf>, rules: MemoryRules) -> Result<Self, MemoryError> {
        let file = file.into();
        let store = blocking(move || Store::open(&file, rules)).await?;
        Ok(Self { store: Arc::new(store), meaning: None })
    }

    /// Keeps a damaged file aside, and makes a new one of what can be read of it. Nothing is deleted.
    ///
    /// # Errors
    /// When the file can't be set aside, is in use by another process, or the new one can't be written.
    pub async fn rebuild(file: impl Into<PathBuf>, rules: MemoryRules) -> Result<(Self, Rebuilt), MemoryError> {
        let file = file.into();
        let (store, rebuilt) = blocking(move || Store::rebuild(&file, rules)).await?;
        Ok((Self { store: Arc::new(store), meaning: None }, rebuilt))
    }

    /// Its rules.
    #[must_use]
    pub fn rules(&self) -> &MemoryRules {
        self.store.rules()
    }

    /// Keeps observations: all of them, or none. What was acknowledged survives the death of the process.
    ///
    /// # Errors
    /// When one of them can't be kept, the disk is full, or the file is damaged. Nothing is kept then.
    pub async fn add(&self, observations: Vec<Observation>) -> Result<Vec<Noted>, MemoryError> {
        let noted = self.ask(move |store| store.add(&observations)).await?;
        self.catch_up_with(&noted);
        Ok(noted)
    }

    /// Where a thing is or was last. None: nobody ever spoke of it.
    ///
    /// # Errors
    /// When the name is none, or the file can't be read.
    pub async fn locate(&self, subject: &str, now: &Now) -> Result<Option<Located>, MemoryError> {
        let (subject, now) = (subject.to_owned(), now.clone());
        self.ask(move |store| store.locate(&subject, &now)).await
    }

    /// Whether a thing is at a place or a part of it; a look that did not find it is told from one that could not see.
    ///
    /// # Errors
    /// When a name is none, or the file can't be read.
    pub async fn presence(&self, subject: &str, place: &str, now: &Now) -> Result<PresenceAnswer, MemoryError> {
        let (subject, place, now) = (subject.to_owned(), place.to_owned(), now.clone());
        self.ask(move |store| store.presence(&subject, &place, &now)).await
    }

    /// What is known of all that a text names, with at most so many facts.
    ///
    /// # Errors
    /// When the file can't be read.
    pub async fn recall(&self, text: &str, most: usize, now: &Now) -> Result<Recollection, MemoryError> {
        self.recall_within(meaning::PATIENCE, text, most, now).await
    }

    /// The same; what is known of the meaning by then counts.
    pub(crate) async fn recall_within(
        &self,
        patience: Duration,
        text: &str,
        most: usize,
        now: &Now,
    ) -> Result<Recollection, MemoryError> {
        let (words, then, candidates) = (text.to_owned(), now.clone(), self.candidates(capped(most)));
        let mut recalled = self.ask(move |store| store.recall(&words, candidates, &then)).await?;
        recalled.facts = self.add_by_meaning(recalled.facts, patience, text, capped(most), now).await;
        Ok(recalled)
    }

    /// The facts that share most words with a text or mean most what it says, the best first. Without an
    /// [embedder](Self::with_embedder), the words alone count.
    ///
    /// # Errors
    /// When the file can't be read.
    pub async fn semantic_search(&self, text: &str, most: usize, now: &Now) -> Result<Vec<FoundFact>, MemoryError> {
        let (words, then, candidates) = (text.to_owned(), now.clone(), self.candidates(capped(most)));
        let found = self.ask(move |store| store.search(&words, candidates, &then)).await?;
        Ok(self.add_by_meaning(found, meaning::PATIENCE, text, capped(most), now).await)
    }

    /// What holds, or held, in a part of the map, the last seen first.
    ///
    /// # Errors
    /// When the region is none, or the file can't be read.
    pub async fn spatial_query(
        &self,
        query: SpatialQuery,
        most: usize,
        now: &Now,
    ) -> Result<Vec<FactAnswer>, MemoryError> {
        let now = now.clone();
        self.ask(move |store| store.spatial(&query, capped(most), &now)).await
    }

    /// The observations of a time, in the order of arrival.
    ///
    /// # Errors
    /// When the file can't be read.
    pub async fn temporal_query(&self, span: Span, most: usize) -> Result<Vec<ObservationRun>, MemoryError> {
        self.ask(move |store| store.temporal(&span, capped(most))).await
    }

    /// All that is known of a thing or a place. None: nobody ever spoke of it.
    ///
    /// # Errors
    /// When the name is none, or the file can't be read.
    pub async fn entity_query(&self, name: &str, most: usize, now: &Now) -> Result<Option<Entity>, MemoryError> {
        let (name, now) = (name.to_owned(), now.clone());
        self.ask(move |store| store.entity(&name, capped(most), &now)).await
    }

    /// All values of a relation of a thing, those that ended, too; the last seen first.
    ///
    /// # Errors
    /// When the file can't be read.
    pub async fn history(&self, subject: &str, relation: &str, most: usize) -> Result<Vec<Fact>, MemoryError> {
        let (subject, relation) = (subject.to_owned(), relation.to_owned());
        self.ask(move |store| store.history(&subject, &relation, capped(most))).await
    }

    /// The observations that a fact rests on, the last first.
    ///
    /// # Errors
    /// When the file can't be read.
    pub async fn trail(&self, fact: FactId, most: usize) -> Result<Vec<ObservationRun>, MemoryError> {
        self.ask(move |store| store.trail(fact, capped(most))).await
    }

    /// The last readings of the body, by subject and relation.
    ///
    /// # Errors
    /// When the file can't be read.
    pub async fn body_status(&self, now: &Now) -> Result<Vec<FactAnswer>, MemoryError> {
        let now = now.clone();
        self.ask(move |store| store.body(&now)).await
    }

    /// The places that were looked at within [`MemoryRules::fresh_look_ms`], each once, the last first.
    ///
    /// # Errors
    /// When the file can't be read.
    pub async fn looked_at(&self, now: &Now) -> Result<Vec<LookedAt>, MemoryError> {
        let now = now.clone();
        self.ask(move |store| store.looked_at(&now)).await
    }

    /// Keeps what a person did with a task.
    ///
    /// # Errors
    /// When a text can't be kept, or the file can't be written.
    pub async fn note_interaction(&self, interaction: Interaction) -> Result<(), MemoryError> {
        self.ask(move |store| store.add_interaction(&interaction)).await
    }

    /// What people asked in conversations, and what came of it; the last first.
    ///
    /// # Errors
    /// When the file can't be read.
    pub async fn exchanges(&self, query: ExchangeQuery, most: usize) -> Result<Vec<Exchange>, MemoryError> {
        self.ask(move |store| store.exchanges(&query, capped(most))).await
    }

    /// The bulletin, in at most 500 words: who the robot is, its body, what is to be done, what people decided, prefer and said,
    /// and the last tasks. Of the same memory, the same `standing` and the same time, the same bytes. Empty where nothing is known.
    ///
    /// # Errors
    /// When the file can't be read.
    pub async fn bulletin(&self, standing: &Standing, now: &Now) -> Result<String, MemoryError> {
        let (standing, now) = (standing.clone(), now.clone());
        self.ask(move |store| Ok(bulletin::render(&store.bulletin(&now)?, &standing, now.wall_ms))).await
    }

    /// What goes on: the episodes, the body, and what was seen last, at most so many facts.
    ///
    /// # Errors
    /// When the file can't be read.
    pub async fn get_current_context(&self, most: usize, now: &Now) -> Result<CurrentContext, MemoryError> {
        let now = now.clone();
        self.ask(move |store| {
            Ok(CurrentContext {
                episodes: store.open_episodes()?,
                body: store.body(&now)?,
                seen_last: store.seen_last(capped(most), &now)?,
            })
        })
        .await
    }

    /// Begins an episode: a task that the robot works on. Several may go on at a time.
    ///
    /// # Errors
    /// When the task is no text that can be kept, or the file can't be written.
    pub async fn begin_episode(&self, task: &str, wall_ms: u64) -> Result<EpisodeId, MemoryError> {
        let task = task.to_owned();
        self.ask(move |store| store.begin_episode(&task, wall_ms)).await
    }

    /// Ends an episode, and renders its gist. The detail is the reason or the result in words; it may be empty.
    ///
    /// # Errors
    /// When there is no such episode or it has ended, the detail can't be kept, or the file can't be written.
    pub async fn end_episode(
        &self,
        id: EpisodeId,
        outcome: Outcome,
        detail: &str,
        wall_ms: u64,
    ) -> Result<Episode, MemoryError> {
        let detail = detail.to_owned();
        self.ask(move |store| store.end_episode(id, outcome, &detail, wall_ms)).await
    }

    /// An episode with its gist; of one that goes on, as far as it has come. None: there is no such episode.
    ///
    /// # Errors
    /// When the file can't be read.
    pub async fn episode_summary(&self, id: EpisodeId) -> Result<Option<Episode>, MemoryError> {
        self.ask(move |store| store.episode(id)).await
    }

    /// The episodes that fit a text best; without any word that tells something, the last ones.
    ///
    /// # Errors
    /// When the file can't be read.
    pub async fn search_gists(&self, text: &str, most: usize) -> Result<Vec<Episode>, MemoryError> {
        let text = text.to_owned();
        self.ask(move |store| store.search_gists(&text, capped(most))).await
    }

    /// Forgets: no answer holds it any more, and no byte of it stays in the file, its log or its index.
    ///
    /// # Errors
    /// When the name is none, the file can't be written, or bytes may still be there ([`MemoryError::NotErased`]).
    pub async fn forget(&self, what: Forget) -> Result<Forgotten, MemoryError> {
        self.ask(move |store| store.forget(&what)).await
    }

    /// How much there is.
    ///
    /// # Errors
    /// When the file can't be read.
    pub async fn size(&self) -> Result<MemorySize, MemoryError> {
        self.ask(Store::size).await
    }

    pub(crate) async fn ask<T: Send + 'static>(
        &self,
        question: impl FnOnce(&Store) -> Result<T, MemoryError> + Send + 'static,
    ) -> Result<T, MemoryError> {
        let store = Arc::clone(&self.store);
        blocking(move || question(&store)).await
    }
}

fn capped(most: usize) -> usize {
    most.min(MOST_ANSWERS)
}

/// Runs work on a thread that may block.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, MemoryError> + Send + 'static,
) -> Result<T, MemoryError> {
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => done,
        Err(problem) => Err(MemoryError::Failed { problem: problem.to_string() }),
    }
}
