//! Skills as a tool: a planner that is told their names reads the one that it wants.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use cortex_core::context::{READ_SKILL, SKILLS};
use cortex_core::{CallObserver, Invocation, ToolProvider};
use cortex_protocol::{
    CancelMode, Effect, EffectSource, FailureKind, HaltState, ToolOutcome, ToolPhase, ToolSpec, words::did_you_mean,
};
use serde_json::{Value, json};

use crate::folders::{FoundSkill, SkillFolders};

/// How long reading may take. It takes milliseconds, unless the disk hangs.
const PATIENCE: Duration = Duration::from_secs(10);

/// Offers the skills of some folders to whoever plans.
#[derive(Debug, Clone)]
pub struct SkillTools {
    folders: Arc<SkillFolders>,
}

impl SkillTools {
    /// The skills of these folders.
    #[must_use]
    pub fn new(folders: Arc<SkillFolders>) -> Self {
        Self { folders }
    }

    /// What is offered.
    #[must_use]
    pub fn specs() -> Vec<ToolSpec> {
        let name = json!({"type": "string", "minLength": 1, "maxLength": 64});
        vec![
            ToolSpec::new(READ_SKILL.into(), "Tells what a skill says, by its name in the list of skills.".to_owned())
                .with_parameters(json!({
                    "type": "object", "properties": {"name": name}, "required": ["name"], "additionalProperties": false,
                }))
                .with_phase(ToolPhase::Planning)
                .with_effect(Effect::Observe)
                .with_effect_source(EffectSource::Declared)
                .with_timeout(PATIENCE)
                .with_cancel(CancelMode::Drop),
        ]
    }
}

/// What the skill of this name says.
fn told(skills: &[FoundSkill], name: &str) -> ToolOutcome {
    if let Some(found) = skills.iter().find(|found| found.skill.name == name) {
        return ToolOutcome::success(json!({"name": name, "text": found.skill.told()}));
    }
    let names: Vec<&str> = skills.iter().map(|found| found.skill.name.as_str()).collect();
    let meant = did_you_mean(name, names.iter().copied());
    let told = format!("there is no skill '{name}'{meant}; there are: {}", names.join(", "));
    ToolOutcome::failure(FailureKind::InvalidArguments, told)
}

#[async_trait]
impl ToolProvider for SkillTools {
    fn label(&self) -> String {
        SKILLS.to_owned()
    }

    async fn invoke(&self, invocation: Invocation, observer: Arc<dyn CallObserver>) -> ToolOutcome {
        observer.accepted();
        let name = invocation.call.arguments.get("name").and_then(Value::as_str).unwrap_or_default().trim().to_owned();
        let folders = Arc::clone(&self.folders);
        match tokio::task::spawn_blocking(move || told(&folders.read().skills, &name)).await {
            Ok(outcome) => outcome,
            Err(problem) => ToolOutcome::failure(FailureKind::Reported, problem.to_string()),
        }
    }

    async fn halt(&self, _invocation: &Invocation) -> HaltState {
        // Nothing moves.
        HaltState::AtRest
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use cortex_protocol::skill_view::SkillDigest;

    use super::*;
    use crate::Skill;

    #[test]
    fn a_skill_is_read_by_its_name_and_a_wrong_name_is_answered_with_the_right_ones() {
        let text = "---\nname: water-plants\ndescription: Waters the plants.\n---\nOnly the pots.\n";
        let skill = Arc::new(Skill::read("water-plants", text).expect("a skill"));
        let skills = [FoundSkill { skill, file: PathBuf::new(), digest: SkillDigest(0) }];
        let read = told(&skills, "water-plants");
        assert_eq!(read.value["text"], "Waters the plants.\n\nOnly the pots.");
        let wrong = told(&skills, "water-plant");
        assert_eq!(
            wrong.message,
            "there is no skill 'water-plant' (did you mean 'water-plants'?); there are: water-plants"
        );
    }
}
