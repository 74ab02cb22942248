//! The memory as people look at it.

use async_trait::async_trait;
use cortex_core::MemoryPort;
use cortex_protocol::memory_view::{MemoryAnswer, MemoryFact, MemoryForgotten, MemoryNote, MemoryTask};
use cortex_protocol::{CommandError, CommandErrorKind};

use crate::episode::Episode;
use crate::error::MemoryError;
use crate::fact::{FactAnswer, FactId, ObservationRun};
use crate::memory::Memory;
use crate::observation::{Observation, Source, SourceKind};
use crate::phrases::{line, looked, source};
use crate::render;
use crate::source::{MapInUse, now};
use crate::sqlite::Forget;

/// Most facts and tasks of an answer.
const MOST: usize = 50;

/// The memory of a robot for people.
#[derive(Clone)]
pub struct MemoryForPeople {
    memory: Memory,
    map: MapInUse,
}

impl MemoryForPeople {
    /// What people see of this memory.
    #[must_use]
    pub fn new(memory: Memory, map: MapInUse) -> Self {
        Self { memory, map }
    }
}

#[async_trait]
impl MemoryPort for MemoryForPeople {
    async fn recall(&self, text: &str) -> Result<MemoryAnswer, CommandError> {
        let now = now(&self.map);
        if text.trim().is_empty() {
            let context = self.memory.get_current_context(MOST, &now).await.map_err(told)?;
            let facts = context.body.iter().chain(&context.seen_last).map(fact).collect();
            return Ok(MemoryAnswer { told: Vec::new(), facts });
        }
        let recalled = self.memory.recall(text, MOST, &now).await.map_err(told)?;
        let sentences =
            recalled.presence.iter().map(render::presence).chain(recalled.located.iter().map(render::located));
        Ok(MemoryAnswer {
            told: sentences.collect(),
            facts: recalled.facts.iter().map(|found| fact(&found.answer)).collect(),
        })
    }

    async fn trail(&self, fact: u64) -> Result<Vec<String>, CommandError> {
        let runs = self.memory.trail(FactId(fact), MOST).await.map_err(told)?;
        let sentence = |run: &ObservationRun| match run.count {
            1 => looked(run),
            count => format!("{} Said {count} times since {}.", looked(run), run.first.rfc3339()),
        };
        Ok(runs.iter().map(sentence).collect())
    }

    async fn tasks(&self, text: &str) -> Result<Vec<MemoryTask>, CommandError> {
        let episodes = self.memory.search_gists(text, MOST).await.map_err(told)?;
        let task = |episode: Episode| MemoryTask {
            episode: episode.id.0,
            task: episode.task,
            began: episode.began.rfc3339(),
            gist: episode.gist,
        };
        Ok(episodes.into_iter().map(task).collect())
    }

    async fn tell(&self, note: MemoryNote, person: &str) -> Result<(), CommandError> {
        let MemoryNote { subject, relation, value } = note;
        let source = Source { kind: SourceKind::Person, name: person.to_owned() };
        let said = Observation::note(subject, Some(relation), value, source, now(&self.map).wall_ms);
        said.check().map_err(|problem| told(problem.into()))?;
        self.memory.add(vec![said]).await.map_err(told)?;
        Ok(())
    }

    async fn forget(&self, subject: &str) -> Result<MemoryForgotten, CommandError> {
        let forgotten = self.memory.forget(Forget::Subject(subject.to_owned())).await.map_err(told)?;
        Ok(MemoryForgotten { observations: forgotten.observations, facts: forgotten.facts })
    }
}

fn told(problem: MemoryError) -> CommandError {
    let kind = match problem {
        MemoryError::BadRequest(_) | MemoryError::Refused { .. } => CommandErrorKind::Invalid,
        _ => CommandErrorKind::Unavailable,
    };
    let mut words = problem.to_string();
    words.push('.');
    CommandError::new(kind, words)
}

fn fact(answer: &FactAnswer) -> MemoryFact {
    let FactAnswer { fact, .. } = answer;
    MemoryFact {
        id: fact.id.0,
        subject: line(&fact.subject),
        relation: line(&fact.relation),
        value: render::value(fact),
        since: fact.valid_from.rfc3339(),
        as_of: fact.seen_at.rfc3339(),
        source: source(&fact.source),
        is_from_person: fact.source.kind == SourceKind::Person,
        observations: fact.observations,
        ended: render::ended(fact),
        sentence: render::fact(answer),
    }
}
