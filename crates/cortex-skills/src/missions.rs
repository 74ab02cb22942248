//! What skills have to do with a mission: which were told to it, what came of it, and how it was done.

use std::collections::BTreeSet;

use cortex_core::context::READ_SKILL;
use cortex_protocol::question::Subject;
use cortex_protocol::{
    CallId, MissionEvent, MissionId, MissionResult, MissionStatus, OutcomeStatus, StepReport, StepStatus, ToolCall,
    Verification,
};

use crate::outcomes::SkillOutcome;

/// Most steps of a task that a skill is learned from.
const MOST_STEPS: usize = 20;

/// A mission, followed by its events from the first one on.
#[derive(Debug, Clone, Default)]
pub struct FollowedMission {
    task: String,
    skills: BTreeSet<String>,
    /// The calls under way that read a skill.
    reading: BTreeSet<CallId>,
    /// Whether it does something else than its task says: a person reopened or revised it.
    is_changed: bool,
    /// Whether its plan may follow from what was found, or from what a person chose: the words of the task don't say all of it.
    depends_on_findings: bool,
}

/// A mission that has ended.
#[derive(Debug, Clone, PartialEq)]
pub struct EndedMission {
    /// The skills that were told to it, by name.
    pub skills: Vec<String>,
    /// What came of it. None: it says nothing of how skills work, as of a question that words answered.
    pub outcome: Option<SkillOutcome>,
    /// How it was done, where that is something to learn from.
    pub done: Option<DoneTask>,
}

/// A task that was carried out by its first plan and verified, as far as it can be.
#[derive(Debug, Clone, PartialEq)]
pub struct DoneTask {
    /// Which mission.
    pub mission: MissionId,
    /// In the person's words.
    pub task: String,
    /// The steps.
    pub calls: Vec<ToolCall>,
}

impl FollowedMission {
    /// Takes in what happened. Says what is to be known of the mission where that was its end.
    pub fn take(&mut self, mission: &MissionId, event: &MissionEvent) -> Option<EndedMission> {
        match event {
            MissionEvent::Accepted { task, .. } => task.clone_into(&mut self.task),
            MissionEvent::ContextGathered { skills, .. } => self.skills.extend(skills.iter().cloned()),
            MissionEvent::Researching { call, tool, .. } if tool.as_str() == READ_SKILL => {
                self.reading.insert(*call);
            }
            MissionEvent::Researching { .. } => self.depends_on_findings = true,
            MissionEvent::Asked { question } => {
                self.depends_on_findings |= matches!(question.subject, Subject::Choice { .. });
            }
            MissionEvent::Researched { call, outcome, .. } if self.reading.remove(call) => {
                let name = outcome.value.get("name").and_then(serde_json::Value::as_str);
                self.skills.extend(name.filter(|_| outcome.status == OutcomeStatus::Succeeded).map(str::to_owned));
            }
            MissionEvent::Disputed { .. } | MissionEvent::TaskRevised { .. } => self.is_changed = true,
            MissionEvent::Finished { result } => {
                return Some(EndedMission {
                    skills: self.skills.iter().cloned().collect(),
                    // What a person changed was another task than the one that the skills fired for.
                    outcome: outcome(result).filter(|_| !self.is_changed),
                    done: self.done(mission, result),
                });
            }
            _ => {}
        }
        None
    }

    fn done(&self, mission: &MissionId, result: &MissionResult) -> Option<DoneTask> {
        let is_order = result.class.may_act() && !result.class.goes_on();
        let is_plain = |step: &StepReport| {
            step.plan == 1
                && step.status == StepStatus::Success
                && step.planned.is_empty()
                && !step.overtaken
                && !step.interrupted
        };
        let is_whole = (1..=MOST_STEPS).contains(&result.steps.len()) && result.steps.iter().all(is_plain);
        // "If the light is on" is looked up by research, which leaves no step: the steps alone would act whatever is so.
        let is_of_its_words = !self.is_changed && !self.depends_on_findings;
        if !is_of_its_words || !is_order || !is_whole || outcome(result) != Some(SkillOutcome::Succeeded) {
            return None;
        }
        let call = |step: &StepReport| ToolCall { tool: step.tool.clone(), arguments: step.arguments.clone() };
        let calls = result.steps.iter().map(call).collect();
        Some(DoneTask { mission: mission.clone(), task: self.task.clone(), calls })
    }
}

/// What a result says of how its skills work.
fn outcome(result: &MissionResult) -> Option<SkillOutcome> {
    match result.status {
        MissionStatus::Cancelled => Some(SkillOutcome::Cancelled),
        MissionStatus::Failed => Some(SkillOutcome::Failed),
        MissionStatus::Answered => result.words_alone.then_some(SkillOutcome::Failed),
        MissionStatus::Succeeded => {
            let known: Vec<Verification> = result
                .steps
                .iter()
                .filter(|step| step.status == StepStatus::Success)
                .filter_map(|step| step.verification)
                .collect();
            let is = |one| known.contains(&one);
            let is_verified = is(Verification::Verified) && !is(Verification::Unknown) && !is(Verification::Failed);
            Some(if is_verified { SkillOutcome::Succeeded } else { SkillOutcome::Unverified })
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use cortex_protocol::{TaskClass, ToolOutcome};
    use serde_json::json;

    use super::*;

    fn result(status: MissionStatus, verifications: &[Verification]) -> MissionResult {
        let step = |verification: &Verification| {
            json!({
                "plan": 1, "number": 1, "tool": "base.go_to", "arguments": {"place": "kitchen"}, "instead_of": [],
                "status": "SUCCESS", "outcome": null, "note": "", "duration": null, "verification": verification,
            })
        };
        let steps: Vec<_> = verifications.iter().map(step).collect();
        MissionResult {
            status,
            class: TaskClass::Action,
            output: String::new(),
            account: String::new(),
            words_alone: false,
            steps: serde_json::from_value(json!(steps)).unwrap(),
            execution: cortex_protocol::execution::ExecutionReport::default(),
            revisions: Vec::new(),
            not_stopped: Vec::new(),
            usage: cortex_protocol::Usage::default(),
            duration: Duration::ZERO,
        }
    }

    fn ended(events: Vec<MissionEvent>, result: MissionResult) -> EndedMission {
        let (mut mission, id) = (FollowedMission::default(), MissionId::new("m"));
        let accepted = MissionEvent::Accepted { task: "check on the kitchen".to_owned(), session: None };
        for event in std::iter::once(accepted).chain(events) {
            assert_eq!(mission.take(&id, &event), None);
        }
        mission.take(&id, &MissionEvent::Finished { result }).expect("the end")
    }

    fn gathered(skill: &str) -> MissionEvent {
        MissionEvent::ContextGathered { found: Vec::new(), missing: Vec::new(), skills: vec![skill.to_owned()] }
    }

    #[test]
    fn the_skills_of_a_mission_are_those_that_fired_and_those_that_its_planner_read() {
        let call = CallId(1);
        let outcome = ToolOutcome::success(json!({"name": "tour", "text": "..."}));
        let read = [
            MissionEvent::Researching { call, tool: READ_SKILL.into(), arguments: serde_json::Map::new() },
            MissionEvent::Researched { call, tool: READ_SKILL.into(), outcome },
        ];
        let events = std::iter::once(gathered("round")).chain(read).collect();
        let ended = ended(events, result(MissionStatus::Failed, &[]));
        assert_eq!(
            (ended.skills, ended.outcome, ended.done),
            (vec!["round".to_owned(), "tour".to_owned()], Some(SkillOutcome::Failed), None)
        );
    }

    #[test]
    fn only_what_was_verified_counts_as_a_success_and_is_learned_from() {
        use Verification::{NotVerified, Unknown, Verified};
        for (verifications, outcome, is_learned) in [
            (&[Verified, NotVerified][..], SkillOutcome::Succeeded, true),
            (&[NotVerified], SkillOutcome::Unverified, false),
            (&[Verified, Unknown], SkillOutcome::Unverified, false),
        ] {
            let ended = ended(Vec::new(), result(MissionStatus::Succeeded, verifications));
            assert_eq!((ended.outcome, ended.done.is_some()), (Some(outcome), is_learned), "{verifications:?}");
        }
        let answered = ended(Vec::new(), result(MissionStatus::Answered, &[]));
        assert_eq!(answered.outcome, None, "words that answer a question say nothing of a skill");
        let cancelled = ended(Vec::new(), result(MissionStatus::Cancelled, &[Verified]));
        assert_eq!((cancelled.outcome, cancelled.done), (Some(SkillOutcome::Cancelled), None));
        let origin = cortex_protocol::Origin::new("cli", "anna");
        let revised = MissionEvent::TaskRevised { text: "no, the hall".to_owned(), origin };
        let revised = ended(vec![revised], result(MissionStatus::Succeeded, &[Verified]));
        assert_eq!((revised.outcome, revised.done), (None, None), "it was another task then");
    }

    /// A task with a condition that held three times became a skill that acts whether it holds or not.
    #[test]
    fn regression_a_plan_that_depends_on_what_was_found_or_chosen_teaches_nothing() {
        let research = |tool: &str| MissionEvent::Researching {
            call: CallId(1),
            tool: tool.into(),
            arguments: serde_json::Map::new(),
        };
        let asked = |subject: serde_json::Value| MissionEvent::Asked {
            question: serde_json::from_value(json!({
                "number": 1, "text": "Which?", "subject": subject, "patience": Duration::from_secs(1),
            }))
            .unwrap(),
        };
        let choice = json!({"kind": "choice", "choices": ["left", "right"], "default": null});
        for (event, is_learned) in
            [(research(READ_SKILL), true), (research("camera.look"), false), (asked(choice), false)]
        {
            let ended = ended(vec![event.clone()], result(MissionStatus::Succeeded, &[Verification::Verified]));
            assert_eq!((ended.outcome, ended.done.is_some()), (Some(SkillOutcome::Succeeded), is_learned), "{event:?}");
        }
    }
}
