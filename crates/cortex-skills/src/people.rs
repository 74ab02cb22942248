//! The skills as people look at them and decide upon those that the robot has learned.

use std::sync::Arc;

use async_trait::async_trait;
use cortex_core::SkillPort;
use cortex_core::fragment::one_line;
use cortex_protocol::skill_view::{SkillDecision, SkillDigest, SkillStanding, SkillView, SkillsView};
use cortex_protocol::{CommandError, CommandErrorKind};

use crate::file::{Links, SkillText};
use crate::folders::{FoundSkill, SkillFolders, Skills};
use crate::learned::{LearnedError, LearnedSkills};
use crate::outcomes::{OutcomeFile, Outcomes};

/// Characters of a name that is none in an error.
const NOTED: usize = 80;

/// The skills of a robot for people.
#[derive(Debug, Clone)]
pub struct SkillsForPeople {
    folders: Arc<SkillFolders>,
    state: Option<SkillState>,
}

/// What a robot keeps of skills: how well each works, and those that it has learned.
#[derive(Debug, Clone)]
pub struct SkillState {
    /// What came of the tasks that each was told to.
    pub outcomes: OutcomeFile,
    /// Those that were learned.
    pub learned: LearnedSkills,
}

impl SkillState {
    /// What is kept in this folder, which need not exist yet.
    #[must_use]
    pub fn new(folder: std::path::PathBuf) -> Self {
        Self { outcomes: OutcomeFile::new(folder.join("outcomes.jsonl")), learned: LearnedSkills::new(folder) }
    }
}

impl SkillsForPeople {
    /// The skills of these folders, with what is kept of them.
    #[must_use]
    pub fn new(folders: Arc<SkillFolders>, state: Option<SkillState>) -> Self {
        Self { folders, state }
    }

    /// All of them. Blocks.
    #[must_use]
    pub fn view(&self) -> SkillsView {
        let outcomes = self.state.as_ref().map(|state| state.outcomes.known()).unwrap_or_default();
        let mut view = SkillsView::default();
        for (standing, skills) in self.read() {
            add(&mut view, &skills, standing, &outcomes);
        }
        view
    }

    /// All of this name, with whether each is used. Blocks.
    #[must_use]
    pub fn named(&self, name: &str) -> Vec<(SkillStanding, FoundSkill)> {
        let all = self.read().into_iter();
        let each = all.flat_map(|(standing, found)| found.skills.into_iter().map(move |found| (standing, found)));
        each.filter(|(_, found)| found.skill.name == name).collect()
    }

    fn read(&self) -> Vec<(SkillStanding, Skills)> {
        let mut read = vec![(SkillStanding::On, self.folders.read())];
        if let Some(state) = &self.state {
            let learned = [SkillStanding::Proposed, SkillStanding::Off];
            read.extend(learned.map(|standing| (standing, state.learned.read(standing))));
        }
        read
    }

    /// The whole file of the skill of this name that has this digest. Blocks.
    ///
    /// # Errors
    /// When there is no skill of that name, or it was changed since.
    pub fn text(&self, name: &str, digest: SkillDigest) -> Result<String, CommandError> {
        let named = self.named(name);
        if named.is_empty() {
            let reason = format!("There is no skill '{}'. Look at the list again.", one_line(name, NOTED));
            return Err(CommandError::new(CommandErrorKind::NotFound, reason));
        }
        // What was listed may be another text by now.
        let found = named.iter().find(|(_, found)| found.digest == digest);
        let read = found.and_then(|(_, found)| SkillText::read(&found.file, Links::Follow).ok());
        read.filter(|read| read.digest == digest).map(|read| read.text).ok_or_else(|| {
            let reason = format!("The skill '{name}' was changed since you saw it. Look at the list again.");
            CommandError::new(CommandErrorKind::Changed, reason)
        })
    }

    /// Carries out what a person says of a learned skill, as the person saw it. Blocks.
    ///
    /// # Errors
    /// When there is none of that name, it was changed since it was seen, or it can't be moved.
    pub fn carry_out(&self, name: &str, seen: SkillDigest, decision: SkillDecision) -> Result<(), LearnedError> {
        match &self.state {
            Some(state) => state.learned.decide(name, seen, decision),
            None => Err(LearnedError::Unknown(name.to_owned())),
        }
    }

    /// Forgets what is counted of a skill, or of all. Blocks.
    ///
    /// # Errors
    /// When nothing is counted, or the counts can't be changed.
    pub fn forget(&self, name: Option<&str>) -> Result<(), CommandError> {
        let had_any = match &self.state {
            Some(state) => state.outcomes.forget(name).map_err(|problem| unavailable(&problem))?,
            None => false,
        };
        let of_what = name.map_or_else(|| "any skill".to_owned(), |name| format!("'{}'", one_line(name, NOTED)));
        let reason = || format!("Nothing is counted of {of_what}. Look at the list again.");
        if had_any { Ok(()) } else { Err(CommandError::new(CommandErrorKind::NotFound, reason())) }
    }
}

fn add(view: &mut SkillsView, found: &Skills, standing: SkillStanding, outcomes: &Outcomes) {
    view.skills.extend(found.skills.iter().map(|found| shown(found, standing, outcomes)));
    let troubles = found.troubles.iter();
    view.troubles.extend(troubles.map(|trouble| format!("{}: {}", trouble.file.display(), trouble.problem)));
}

fn shown(found: &FoundSkill, standing: SkillStanding, outcomes: &Outcomes) -> SkillView {
    let skill = &found.skill;
    SkillView {
        name: skill.name.clone(),
        digest: found.digest,
        description: skill.description.clone(),
        standing,
        is_learned: skill.is_learned(),
        phrases: skill.phrases.clone(),
        triggers: skill.triggers.told(),
        steps: skill.procedure.clone(),
        counts: outcomes.of(&skill.name),
    }
}

#[async_trait]
impl SkillPort for SkillsForPeople {
    async fn skills(&self) -> Result<SkillsView, CommandError> {
        let skills = self.clone();
        tokio::task::spawn_blocking(move || skills.view()).await.map_err(|problem| unavailable(&problem))
    }

    async fn text(&self, name: &str, digest: SkillDigest) -> Result<String, CommandError> {
        let (skills, name) = (self.clone(), name.to_owned());
        let read = tokio::task::spawn_blocking(move || skills.text(&name, digest)).await;
        read.map_err(|problem| unavailable(&problem))?
    }

    async fn decide(&self, name: &str, seen: SkillDigest, decision: SkillDecision) -> Result<(), CommandError> {
        let (skills, name) = (self.clone(), name.to_owned());
        let decided = tokio::task::spawn_blocking(move || skills.carry_out(&name, seen, decision)).await;
        decided.map_err(|problem| unavailable(&problem))?.map_err(|problem| {
            let kind = match problem {
                LearnedError::Unknown(_) => CommandErrorKind::NotFound,
                LearnedError::Changed(_) => CommandErrorKind::Changed,
                LearnedError::Broken { .. } | LearnedError::Taken { .. } => CommandErrorKind::Refused,
                LearnedError::Io { .. } => CommandErrorKind::Unavailable,
            };
            CommandError::new(kind, problem.to_string())
        })
    }

    async fn forget_counts(&self, name: Option<&str>) -> Result<(), CommandError> {
        let (skills, name) = (self.clone(), name.map(str::to_owned));
        let forgotten = tokio::task::spawn_blocking(move || skills.forget(name.as_deref())).await;
        forgotten.map_err(|problem| unavailable(&problem))?
    }
}

fn unavailable(problem: &dyn std::fmt::Display) -> CommandError {
    CommandError::new(CommandErrorKind::Unavailable, problem.to_string())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::{FILE, Proposal, SkillOutcome};

    /// Skills that people wrote, and what is kept, with one proposal.
    fn skills(root: &std::path::Path) -> SkillsForPeople {
        let written = |name: &str| format!("---\nname: {name}\ndescription: A tour.\n---\nSo.\n");
        fs::create_dir_all(root.join("skills/tour")).unwrap();
        fs::write(root.join("skills/tour").join(FILE), written("tour")).unwrap();
        let state = SkillState::new(root.join("state"));
        let proposal = Proposal { name: "learned-tour".to_owned(), text: written("learned-tour") };
        state.learned.propose(&proposal).unwrap().expect("a file");
        SkillsForPeople::new(Arc::new(SkillFolders::new(vec![root.join("skills")])), Some(state))
    }

    #[tokio::test]
    async fn the_text_that_a_person_reads_is_the_one_that_was_listed_or_none() {
        let root = tempfile::tempdir().unwrap();
        let skills = skills(root.path());
        for one in skills.skills().await.unwrap().skills {
            let text = SkillPort::text(&skills, &one.name, one.digest).await.unwrap();
            assert!(text.starts_with("---\nname: ") && text.ends_with("So.\n"), "with its front matter: {text}");
            let other = SkillPort::text(&skills, &one.name, SkillDigest(1)).await.expect_err("another text");
            assert_eq!(other.kind, CommandErrorKind::Changed, "{}", other.reason);
        }
        let unknown = SkillPort::text(&skills, "../tour", SkillDigest(1)).await.expect_err("no skill");
        assert_eq!(unknown.kind, CommandErrorKind::NotFound, "{}", unknown.reason);
        let proposed = skills.named("learned-tour").remove(0).1;
        fs::write(&proposed.file, "no skill any more").unwrap();
        let refused = SkillPort::decide(&skills, "learned-tour", proposed.digest, SkillDecision::Accept).await;
        assert_eq!(refused.expect_err("it is no skill").kind, CommandErrorKind::Refused);
    }

    #[tokio::test]
    async fn what_is_counted_is_forgotten_of_one_skill_or_of_all_and_the_skills_stay() {
        let root = tempfile::tempdir().unwrap();
        let skills = skills(root.path());
        let nothing = skills.forget_counts(Some("tour")).await.expect_err("nothing is counted");
        assert_eq!(nothing.kind, CommandErrorKind::NotFound, "{}", nothing.reason);
        let outcomes = &skills.state.as_ref().unwrap().outcomes;
        let counted = ["tour", "learned-tour", "gone"].map(str::to_owned);
        outcomes.count(&counted, SkillOutcome::Succeeded).unwrap();
        skills.forget_counts(Some("tour")).await.unwrap();
        let counts: Vec<u32> = skills.view().skills.iter().map(|one| one.counts.succeeded).collect();
        assert_eq!(counts, [0, 1], "the others are kept, and so is the skill");
        skills.forget_counts(None).await.unwrap();
        assert_eq!((outcomes.known().of("gone").succeeded, skills.view().skills.len()), (0, 2));
    }
}
