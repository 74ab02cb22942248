//! The skills as people look at them and decide upon those that the robot has learned.

use std::sync::Arc;

use async_trait::async_trait;
use cortex_core::SkillPort;
use cortex_protocol::skill_view::{SkillDecision, SkillStanding, SkillView, SkillsView};
use cortex_protocol::{CommandError, CommandErrorKind};

use crate::folders::{FoundSkill, SkillFolders, Skills};
use crate::learned::{LearnedError, LearnedSkills};
use crate::outcomes::{OutcomeFile, Outcomes};

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
        add(&mut view, &self.folders.read(), SkillStanding::On, &outcomes);
        if let Some(state) = &self.state {
            for standing in [SkillStanding::Proposed, SkillStanding::Off] {
                add(&mut view, &state.learned.read(standing), standing, &outcomes);
            }
        }
        view
    }

    /// Carries out what a person says of a learned skill. Blocks.
    ///
    /// # Errors
    /// When there is none of that name, or it can't be moved.
    pub fn carry_out(&self, name: &str, decision: SkillDecision) -> Result<(), LearnedError> {
        match &self.state {
            Some(state) => state.learned.decide(name, decision),
            None => Err(LearnedError::Unknown(name.to_owned())),
        }
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

    async fn decide(&self, name: &str, decision: SkillDecision) -> Result<(), CommandError> {
        let (skills, name) = (self.clone(), name.to_owned());
        let decided = tokio::task::spawn_blocking(move || skills.carry_out(&name, decision)).await;
        decided.map_err(|problem| unavailable(&problem))?.map_err(|problem| match problem {
            LearnedError::Unknown(_) => CommandError::new(CommandErrorKind::NotFound, problem.to_string()),
            LearnedError::Broken { .. } | LearnedError::Taken { .. } => {
                CommandError::new(CommandErrorKind::Refused, problem.to_string())
            }
            LearnedError::Io { .. } => unavailable(&problem),
        })
    }
}

fn unavailable(problem: &dyn std::fmt::Display) -> CommandError {
    CommandError::new(CommandErrorKind::Unavailable, problem.to_string())
}
