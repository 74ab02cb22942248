//! Asks every source what the robot has on record for a task, all at the same time, each within its time.

use std::fmt;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use cortex_core::context::MOST_PASSAGES;
use cortex_core::{Context, ContextPassage, ContextQuery, ContextSource, MissingSource};
use futures::FutureExt;
use futures::future::join_all;

/// Most bytes of one passage that are kept; a planner is shown less.
const PASSAGE_BYTES: usize = 8_192;
/// Most bytes of one skill that are kept.
const SKILL_BYTES: usize = 128 << 10;

/// The sources of what the robot has on record, in the order in which they are shown.
#[derive(Clone)]
pub struct ContextSources {
    sources: Vec<Arc<dyn ContextSource>>,
    patience: Duration,
}

impl Default for ContextSources {
    fn default() -> Self {
        Self::new(Vec::new())
    }
}

impl fmt::Debug for ContextSources {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("ContextSources")
            .field("names", &self.names())
            .field("patience", &self.patience)
            .finish()
    }
}

impl ContextSources {
    /// These, each with 500 ms to answer.
    #[must_use]
    pub fn new(sources: Vec<Arc<dyn ContextSource>>) -> Self {
        Self { sources, patience: Duration::from_millis(500) }
    }

    /// The same, each with so long to answer.
    #[must_use]
    pub fn with_patience(self, patience: Duration) -> Self {
        Self { patience, ..self }
    }

    /// The names of those that have anything on record now.
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        self.filled().map(|source| source.name().to_owned()).collect()
    }

    fn filled(&self) -> impl Iterator<Item = &Arc<dyn ContextSource>> {
        self.sources.iter().filter(|source| !source.is_empty())
    }

    /// What they all have on record. A source that is late, fails or panics is left out and named.
    pub async fn gather(&self, query: &ContextQuery) -> Context {
        let mut context = Context::default();
        let most = MOST_PASSAGES / self.sources.len().max(1);
        for answer in join_all(self.filled().map(|source| self.ask(source.as_ref(), query))).await {
            match answer {
                Ok(passages) => context.passages.extend(passages.into_iter().take(most)),
                Err(missing) => context.missing.push(missing),
            }
        }
        context
    }

    async fn ask(
        &self,
        source: &dyn ContextSource,
        query: &ContextQuery,
    ) -> Result<Vec<ContextPassage>, MissingSource> {
        let gathering = AssertUnwindSafe(source.gather(query)).catch_unwind();
        let because = match tokio::time::timeout(self.patience, gathering).await {
            Ok(Ok(Ok(passages))) => {
                return Ok(passages.into_iter().map(|passage| checked(passage, source.name())).collect());
            }
            Ok(Ok(Err(error))) => error.to_string(),
            Ok(Err(_)) => "it has a flaw: it panicked".to_owned(),
            Err(_) => format!("it did not answer within {} ms", self.patience.as_millis()),
        };
        Err(MissingSource { source: source.name().to_owned(), because })
    }
}

/// The passage under the name of the source that gave it, and not longer than is kept.
fn checked(mut passage: ContextPassage, source: &str) -> ContextPassage {
    source.clone_into(&mut passage.source);
    let most = if passage.kind.is_record() { PASSAGE_BYTES } else { SKILL_BYTES };
    passage.text.truncate(passage.text.floor_char_boundary(most));
    if !passage.relevance.is_finite() {
        passage.relevance = 0.0;
    }
    passage
}

#[cfg(test)]
mod tests {
    use async_trait::async_trait;
    use cortex_core::ContextError;
    use cortex_protocol::TaskClass;

    use super::*;

    /// What a source does when it is asked.
    enum Habit {
        Answers(usize),
        Fails,
        Panics,
        NeverAnswers,
    }

    struct Source(&'static str, Habit);

    #[async_trait]
    impl ContextSource for Source {
        fn name(&self) -> &str {
            self.0
        }

        async fn gather(&self, _: &ContextQuery) -> Result<Vec<ContextPassage>, ContextError> {
            let passage = || ContextPassage {
                source: "somebody else".to_owned(),
                place: "here".to_owned(),
                as_of: None,
                text: "é".repeat(PASSAGE_BYTES),
                relevance: f64::NAN,
                kind: cortex_core::PassageKind::default(),
            };
            match self.1 {
                Habit::Answers(passages) => Ok((0..passages).map(|_| passage()).collect()),
                Habit::Fails => Err(ContextError("its file is damaged".to_owned())),
                Habit::Panics => panic!("a flaw"),
                Habit::NeverAnswers => std::future::pending().await,
            }
        }
    }

    async fn gathered(sources: Vec<Source>) -> Context {
        let sources = sources.into_iter().map(|source| Arc::new(source) as Arc<dyn ContextSource>).collect();
        let query = ContextQuery::new("make tea", TaskClass::Action);
        ContextSources::new(sources).gather(&query).await
    }

    #[tokio::test(start_paused = true)]
    async fn a_source_that_fails_panics_or_is_late_is_named_and_the_others_are_heard() {
        let context = gathered(vec![
            Source("damaged", Habit::Fails),
            Source("flawed", Habit::Panics),
            Source("knowledge", Habit::Answers(1)),
            Source("late", Habit::NeverAnswers),
        ])
        .await;
        assert_eq!(context.passages.len(), 1);
        let missing: Vec<(&str, &str)> =
            context.missing.iter().map(|missing| (missing.source.as_str(), missing.because.as_str())).collect();
        assert_eq!(
            missing,
            [
                ("damaged", "its file is damaged"),
                ("flawed", "it has a flaw: it panicked"),
                ("late", "it did not answer within 500 ms"),
            ]
        );
    }

    #[tokio::test]
    async fn a_source_speaks_under_its_own_name_and_leaves_room_for_others() {
        let context = gathered(vec![Source("a", Habit::Answers(1_000)), Source("b", Habit::Answers(2))]).await;
        let of = |name: &str| context.passages.iter().filter(|passage| passage.source == name).count();
        assert_eq!((of("a"), of("b"), context.passages.len()), (MOST_PASSAGES / 2, 2, MOST_PASSAGES / 2 + 2));
        assert!(context.passages.iter().all(|passage| passage.text.len() <= PASSAGE_BYTES && passage.relevance == 0.0));
    }
}
