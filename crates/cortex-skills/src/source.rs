//! The skills that fit a task.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use cortex_core::context::SKILLS;
use cortex_core::fragment::one_line;
use cortex_core::{ContextError, ContextPassage, ContextQuery, ContextSource, Embedder, PassageKind};
use cortex_protocol::TaskClass;

use crate::folders::{FoundSkill, SkillFolders, Skills};
use crate::meaning::Meaning;
use crate::words::telling;

/// Where the list of skills is cited, most skills in it, and most characters of what each is for.
const LIST: &str = "all";
const MOST_LISTED: usize = 40;
const PURPOSE_CHARACTERS: usize = 120;
/// Most skills for one task: each of them may be long.
const MOST: usize = 3;
/// Least share of the telling words of a task that a skill must be about, and least number of them, to be used unasked.
const LEAST_SHARE: f64 = 0.5;
const LEAST_WORDS: usize = 2;
/// Least likeness of meaning between a task and what a skill is for, to be used unasked.
const LEAST_LIKENESS: f64 = 0.4;
/// What is known by then of the meaning counts; a plan does not wait longer, and goes by the words. Less than a source may take
/// for all that it does.
const MEANING_PATIENCE: Duration = Duration::from_millis(400);

/// The skills of some folders as planning uses them. Clones share them.
#[derive(Debug, Clone)]
pub struct SkillSource {
    folders: Arc<SkillFolders>,
    meaning: Option<Meaning>,
    patience: Duration,
    /// Whether the names of those that don't fire are told.
    lists_others: bool,
}

impl SkillSource {
    /// The skills of these folders.
    #[must_use]
    pub fn new(folders: Arc<SkillFolders>) -> Self {
        Self { folders, meaning: None, patience: MEANING_PATIENCE, lists_others: false }
    }

    /// The same, and skills also fire where a task means what they are for, in other words.
    #[must_use]
    pub fn with_embedder(self, embedder: Arc<dyn Embedder>) -> Self {
        Self { meaning: Some(Meaning::new(embedder)), ..self }
    }

    /// The same, and the names of those that don't fire are told, for a planner that can read one ([`SkillTools`]).
    ///
    /// [`SkillTools`]: crate::SkillTools
    #[must_use]
    pub fn with_list(self) -> Self {
        Self { lists_others: true, ..self }
    }

    /// The same, and it is waited so long for what a task means. By itself, a plan waits for 400 ms.
    #[must_use]
    pub fn with_patience(self, patience: Duration) -> Self {
        Self { patience, ..self }
    }

    /// How much the task means what each skill is for, by name. Nothing where that can't be told in time.
    async fn likeness(&self, skills: &[FoundSkill], said: &str, begun: Instant) -> BTreeMap<String, f64> {
        let Some(meaning) = &self.meaning else { return BTreeMap::new() };
        let left = self.patience.saturating_sub(begun.elapsed());
        match tokio::time::timeout(left, meaning.likeness(skills, said)).await {
            Ok(Ok(likeness)) => likeness,
            Ok(Err(problem)) => {
                tracing::warn!("skills fire by their words alone: {problem}");
                BTreeMap::new()
            }
            Err(_) => {
                tracing::warn!("skills fire by their words alone: what the task means was not known in time");
                BTreeMap::new()
            }
        }
    }
}

#[async_trait]
impl ContextSource for SkillSource {
    fn name(&self) -> &str {
        SKILLS
    }

    fn is_empty(&self) -> bool {
        self.folders.are_missing()
    }

    async fn gather(&self, query: &ContextQuery) -> Result<Vec<ContextPassage>, ContextError> {
        let begun = Instant::now();
        let folders = Arc::clone(&self.folders);
        let read = tokio::task::spawn_blocking(move || folders.read()).await;
        let Skills { skills, troubles } = read.map_err(|problem| ContextError(problem.to_string()))?;
        // It may have said how this very task is to be done.
        if let Some(lost) = troubles.iter().find(|trouble| trouble.was_skill) {
            return Err(ContextError(format!("{} {}", lost.file.display(), lost.problem)));
        }
        let said = said_last(query);
        let asked = asked_for(&skills, said);
        if !asked.is_empty() || query.class == TaskClass::Conversation {
            return Ok(asked);
        }
        let likeness = self.likeness(&skills, said, begun).await;
        let mut passages = about(&skills, query, &likeness);
        if self.lists_others {
            passages.extend(list_of_others(&skills, &passages));
        }
        Ok(passages)
    }
}

/// What a person said last takes the place of what they said before.
fn said_last(query: &ContextQuery) -> &str {
    query.revisions.last().unwrap_or(&query.task)
}

/// Those that are asked for by a sentence of theirs.
fn asked_for(skills: &[FoundSkill], said: &str) -> Vec<ContextPassage> {
    let asked = skills.iter().filter_map(|found| Some(passage(found, 1.0, found.skill.asked_for(said)?)));
    asked.take(MOST).collect()
}

/// Those that are about enough of the task, or mean it.
fn about(skills: &[FoundSkill], query: &ContextQuery, likeness: &BTreeMap<String, f64>) -> Vec<ContextPassage> {
    let words = telling(&std::iter::once(&query.task).chain(&query.revisions).cloned().collect::<Vec<_>>().join(" "));
    let mut about: Vec<(f64, &FoundSkill)> = Vec::new();
    for found in skills {
        let own = telling(&format!("{} {}", found.skill.name, found.skill.description));
        let shared = words.intersection(&own).count();
        #[allow(clippy::cast_precision_loss, reason = "a task has few words")]
        let share = shared as f64 / words.len().max(1) as f64;
        let means = likeness.get(&found.skill.name).copied().unwrap_or_default();
        if shared >= LEAST_WORDS && share >= LEAST_SHARE || means >= LEAST_LIKENESS {
            about.push((share.max(means).min(1.0), found));
        }
    }
    about.sort_by(|one, other| other.0.total_cmp(&one.0));
    about.into_iter().take(MOST).map(|(share, found)| passage(found, share, Vec::new())).collect()
}

/// The names of the others, for a planner that knows better what they are good for. The same for the same skills.
fn list_of_others(skills: &[FoundSkill], told: &[ContextPassage]) -> Option<ContextPassage> {
    let others = skills.iter().map(|found| &found.skill).filter(|skill| told.iter().all(|it| it.place != skill.name));
    let lines: Vec<String> = others
        .take(MOST_LISTED)
        .map(|skill| format!("{}: {}", skill.name, one_line(&skill.description, PURPOSE_CHARACTERS)))
        .collect();
    (!lines.is_empty()).then(|| ContextPassage {
        source: SKILLS.to_owned(),
        place: LIST.to_owned(),
        as_of: None,
        text: lines.join("; "),
        relevance: 0.0,
        kind: PassageKind::SkillList,
    })
}

fn passage(found: &FoundSkill, relevance: f64, procedure: Vec<String>) -> ContextPassage {
    let skill = &found.skill;
    ContextPassage {
        source: SKILLS.to_owned(),
        place: skill.name.clone(),
        as_of: None,
        text: skill.told(),
        relevance,
        kind: PassageKind::Skill { procedure },
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;
    use crate::Skill;

    fn skill(name: &str, description: &str, rest: &str) -> FoundSkill {
        let text = format!("---\nname: {name}\ndescription: {description}\n{rest}");
        FoundSkill { skill: Arc::new(Skill::read(name, &text).unwrap()), file: PathBuf::new() }
    }

    fn found(task: &str) -> Vec<(String, PassageKind)> {
        let round = "metadata:\n  cortex-phrases: make the night round in {room}\n---\n# Procedure\n- go to {room}\n";
        let skills = [
            skill("night-round", "Looks after the rooms at night.", round),
            skill(
                "water-plants",
                "How to water the plants of the house. Use it for watering.",
                "---\nOnly the pots.\n",
            ),
        ];
        let query = ContextQuery { task: task.to_owned(), revisions: Vec::new(), class: TaskClass::Action };
        let asked = asked_for(&skills, task);
        let found = if asked.is_empty() { about(&skills, &query, &BTreeMap::new()) } else { asked };
        found.into_iter().map(|passage| (passage.place, passage.kind)).collect()
    }

    #[test]
    fn a_skill_fires_by_its_sentence_or_by_what_it_is_about_and_else_not_at_all() {
        let procedure = vec!["go to the kitchen".to_owned()];
        let asked = ("night-round".to_owned(), PassageKind::Skill { procedure });
        assert_eq!(found("make the night round in the kitchen"), [asked]);
        let about = ("water-plants".to_owned(), PassageKind::Skill { procedure: Vec::new() });
        assert_eq!(found("please water the plants"), std::slice::from_ref(&about));
        assert_eq!(found("Watering plants now"), [about]);
        for other in ["go to the kitchen", "water", "bring me a plant from the garden shop", "what is at night?", ""] {
            assert_eq!(found(other), [], "{other}");
        }
    }
}
