//! A task that is a sentence of a skill, done by the steps of the skill.

use cortex_core::PassageKind;
use cortex_core::context::SKILLS;
use cortex_core::fragment::one_line;
use cortex_language::{Part, Understanding};

use super::conversation::Conversation;
use super::refusals;
use super::toolbox::Toolbox;

/// Characters of a reason of others.
const REASON_CHARACTERS: usize = 300;

/// What a skill makes of the task.
pub(super) enum Procedure {
    /// These parts are to be done.
    Parts(Vec<Part>),
    /// Not all of its steps were understood, and why.
    NotUnderstood(String),
}

/// The procedure of the first skill that the task is a sentence of.
pub(super) fn read(toolbox: &Toolbox<'_>, conversation: &Conversation<'_>) -> Option<Procedure> {
    if let Some(missing) = conversation.missing.iter().find(|missing| missing.source == SKILLS) {
        let why = one_line(&missing.because, REASON_CHARACTERS);
        return Some(Procedure::NotUnderstood(format!(
            "The skills could not be read, and one of them may say how that is to be done: {why}. Nothing was done."
        )));
    }
    let (passage, steps) = conversation.on_record.iter().find_map(|passage| match &passage.kind {
        PassageKind::Skill { procedure } if !procedure.is_empty() => Some((passage, procedure)),
        PassageKind::Skill { .. } | PassageKind::SkillList | PassageKind::Record => None,
    })?;
    let text = text(steps);
    Some(match toolbox.understand(&text) {
        Understanding::Understood(parts) => Procedure::Parts(parts),
        not_understood => {
            let why = refusals::refusal(toolbox, &text, &not_understood);
            Procedure::NotUnderstood(format!("The skill '{}' says how to do that. {why}", passage.place))
        }
    })
}

/// The steps as one text.
pub(super) fn text(steps: &[String]) -> String {
    let steps: Vec<&str> = steps.iter().map(|step| step.trim().trim_end_matches(['.', ';', ','])).collect();
    steps.join(". ")
}
