//! The skills that fit a task.

use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use cortex_core::context::SKILLS;
use cortex_core::fragment::one_line;
use cortex_core::{ContextError, ContextPassage, ContextQuery, ContextSource, Embedder, PassageKind};
use cortex_protocol::TaskClass;

use crate::fits::Judge;
use crate::folders::{FoundSkill, SkillFolders, Skills};
use crate::outcomes::OutcomeFile;
use crate::ranking::{asked_for, firing};

/// Where the list of skills is cited, most skills in it, and most characters of what each is for.
const LIST: &str = "all";
const MOST_LISTED: usize = 40;
const PURPOSE_CHARACTERS: usize = 120;
/// What is known by then of the meaning counts; a plan does not wait longer, and goes by the words. Less than a source may take
/// for all that it does.
const MEANING_PATIENCE: Duration = Duration::from_millis(400);
/// The same of the words of the examples, which are learned once: skills that fire for another reason must not wait for them.
const WORDS_PATIENCE: Duration = Duration::from_millis(400);

/// The skills of some folders as planning uses them. Clones share them.
#[derive(Debug, Clone)]
pub struct SkillSource {
    folders: Arc<SkillFolders>,
    judge: Judge,
    /// What came of the tasks that each was told to.
    outcomes: Option<OutcomeFile>,
    /// For the meaning, and for the words.
    patience: Duration,
    words_patience: Duration,
    /// Whether the names of those that don't fire are told.
    lists_others: bool,
}

impl SkillSource {
    /// The skills of these folders.
    #[must_use]
    pub fn new(folders: Arc<SkillFolders>) -> Self {
        Self {
            folders,
            judge: Judge::default(),
            outcomes: None,
            patience: MEANING_PATIENCE,
            words_patience: WORDS_PATIENCE,
            lists_others: false,
        }
    }

    /// The same, and skills also fire where a task means what they are for, in other words.
    #[must_use]
    pub fn with_embedder(self, embedder: Arc<dyn Embedder>) -> Self {
        Self { judge: Judge::with(embedder), ..self }
    }

    /// The same, and the names of those that don't fire are told, for a planner that can read one ([`SkillTools`]).
    ///
    /// [`SkillTools`]: crate::SkillTools
    #[must_use]
    pub fn with_list(self) -> Self {
        Self { lists_others: true, ..self }
    }

    /// The same, and of several that fire for one task those come first that have worked best.
    #[must_use]
    pub fn with_outcomes(self, outcomes: OutcomeFile) -> Self {
        Self { outcomes: Some(outcomes), ..self }
    }

    /// The same, and it is waited so long for what a task means, and at least so long until the words of examples are learned. By
    /// itself, a plan waits for 400 ms.
    #[must_use]
    pub fn with_patience(self, patience: Duration) -> Self {
        Self { patience, words_patience: self.words_patience.max(patience), ..self }
    }

    /// Learns from the skills' examples before the first task needs it. Meanwhile skills fire by what is known so far.
    pub fn catch_up(&self) {
        let source = self.clone();
        tokio::spawn(async move {
            let folders = Arc::clone(&source.folders);
            match tokio::task::spawn_blocking(move || folders.read().skills).await {
                Ok(skills) => source.judge.catch_up(&skills).await,
                Err(problem) => tracing::warn!("the examples of skills are not learned ahead: {problem}"),
            }
        });
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
        let (folders, outcomes) = (Arc::clone(&self.folders), self.outcomes.clone());
        let reading = move || (folders.read(), outcomes.map(|file| file.known()).unwrap_or_default());
        let read = tokio::task::spawn_blocking(reading).await;
        let (Skills { skills, troubles }, outcomes) = read.map_err(|problem| ContextError(problem.to_string()))?;
        // It may have said how this very task is to be done.
        if let Some(lost) = troubles.iter().find(|trouble| trouble.was_skill) {
            return Err(ContextError(format!("{} {}", lost.file.display(), lost.problem)));
        }
        let said = said_last(query);
        let asked = asked_for(&skills, said, &outcomes);
        if !asked.is_empty() || query.class == TaskClass::Conversation {
            return Ok(asked.into_iter().map(|(found, procedure)| passage(found, 1.0, procedure)).collect());
        }
        let left = |patience: Duration| patience.saturating_sub(begun.elapsed());
        let fits = self.judge.fits(&skills, query, left(self.patience), left(self.words_patience)).await;
        let fired = firing(&skills, query, &fits, &outcomes);
        let mut passages: Vec<ContextPassage> =
            fired.iter().map(|firing| passage(firing.found, firing.fit, Vec::new())).collect();
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
    use std::sync::Mutex;

    use cortex_core::EmbedError;
    use tokio::sync::Semaphore;

    use cortex_protocol::skill_view::SkillDigest;

    use super::*;
    use crate::Skill;
    use crate::fits::Fits;
    use crate::outcomes::Outcomes;
    use crate::ranking::Firing;

    fn skill(name: &str, description: &str, rest: &str) -> FoundSkill {
        let text = format!("---\nname: {name}\ndescription: {description}\n{rest}");
        FoundSkill { skill: Arc::new(Skill::read(name, &text).unwrap()), file: PathBuf::new(), digest: SkillDigest(0) }
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
        let (query, outcomes) = (ContextQuery::new(task, TaskClass::Action), Outcomes::default());
        let asked = asked_for(&skills, task, &outcomes);
        if asked.is_empty() {
            let fired = firing(&skills, &query, &Fits::default(), &outcomes);
            let named =
                |firing: &Firing<'_>| (firing.found.skill.name.clone(), PassageKind::Skill { procedure: Vec::new() });
            return fired.iter().map(named).collect();
        }
        let named = |(found, procedure): (&FoundSkill, Vec<String>)| {
            (found.skill.name.clone(), PassageKind::Skill { procedure })
        };
        asked.into_iter().map(named).collect()
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

    /// Counts what it is asked for, and answers once it may.
    struct Counting {
        asked: Mutex<Vec<String>>,
        may_answer: Semaphore,
    }

    #[async_trait]
    impl Embedder for Counting {
        fn model(&self) -> &str {
            "counting"
        }

        async fn embed(&self, texts: Vec<String>) -> Result<Vec<Vec<f32>>, EmbedError> {
            let permit = self.may_answer.acquire().await;
            let vector = |text: &String| if text.contains("plant") { vec![0.0, 1.0] } else { vec![1.0, 0.0] };
            let vectors = texts.iter().map(vector).collect();
            self.asked.lock().unwrap().extend(texts);
            drop(permit);
            Ok(vectors)
        }
    }

    #[tokio::test]
    async fn a_model_that_does_not_answer_leaves_the_words_and_one_that_does_is_asked_once_for_each_example() {
        let root = tempfile::tempdir().unwrap();
        let write = |examples: &str| {
            let folder = root.path().join("water-plants");
            std::fs::create_dir_all(&folder).unwrap();
            let metadata = format!("metadata:\n  cortex-examples: |\n    {examples}\n");
            let text = format!("---\nname: water-plants\ndescription: Waters.\n{metadata}---\nOnly the pots.\n");
            std::fs::write(folder.join(crate::FILE), text).unwrap();
        };
        write("water the plants in the hall");
        let counting = Arc::new(Counting { asked: Mutex::default(), may_answer: Semaphore::new(0) });
        let folders = Arc::new(SkillFolders::new(vec![root.path().to_owned()]));
        let source = SkillSource::new(folders).with_embedder(Arc::clone(&counting) as _);
        let long = Duration::from_secs(600);
        let fired = async |source: &SkillSource| -> Vec<String> {
            let query = ContextQuery::new("please water the plants", TaskClass::Action);
            source.gather(&query).await.unwrap().into_iter().map(|passage| passage.place).collect()
        };
        let source = source.with_patience(long);
        assert_eq!(
            fired(&SkillSource { patience: Duration::ZERO, ..source.clone() }).await,
            ["water-plants"],
            "by words"
        );
        counting.may_answer.add_permits(1);
        let asked = |text: &str| counting.asked.lock().unwrap().iter().filter(|asked| *asked == text).count();
        for _ in 0..2 {
            assert_eq!(fired(&source).await, ["water-plants"]);
            assert_eq!(asked("water the plants in the hall"), 1, "it is kept");
        }
        write("water the plants in the hall\n    the plants are dry");
        assert_eq!(fired(&source).await, ["water-plants"]);
        assert_eq!((asked("water the plants in the hall"), asked("the plants are dry")), (1, 1));
    }
}
