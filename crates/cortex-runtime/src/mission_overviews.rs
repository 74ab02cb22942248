//! The missions of an overview, from their events. No IO, no clock.

use std::collections::VecDeque;

use cortex_protocol::overview::{MissionOverview, MissionPhase, StepOverview};
use cortex_protocol::{CloudEvent, MissionEvent, MissionResult, StepNumber, StepStatus};

/// Characters of a task and of an output that are shown.
const TEXT_CHARACTERS: usize = 200;
/// Steps of a plan that are listed.
const MOST_STEPS: usize = 50;
/// Missions that are kept: more than a queue holds. Of those that have ended, the last few.
const MOST_OPEN: usize = 64;
const MOST_ENDED: usize = 5;

/// The missions so far, as an overview shows them.
#[derive(Debug, Default)]
pub struct MissionOverviews {
    open: Vec<MissionOverview>,
    ended: VecDeque<MissionOverview>,
}

impl MissionOverviews {
    /// Those that run and wait, in order, and the last that have ended, the latest last.
    #[must_use]
    pub fn all(&self) -> Vec<MissionOverview> {
        self.open.iter().chain(&self.ended).cloned().collect()
    }

    /// The one that runs.
    #[must_use]
    pub fn running(&self) -> Option<&MissionOverview> {
        self.open.iter().find(|mission| mission.phase != MissionPhase::Queued)
    }

    /// Takes note of an event of that time, in milliseconds since 1970.
    pub fn note(&mut self, event: &CloudEvent, now_ms: u64) {
        if let MissionEvent::Accepted { task, .. } = &event.data.payload {
            if self.open.len() >= MOST_OPEN {
                self.open.remove(0);
            }
            return self.open.push(MissionOverview {
                id: event.subject.clone(),
                task: task.chars().take(TEXT_CHARACTERS).collect(),
                phase: MissionPhase::Queued,
                since_ms: now_ms,
                ended_ms: None,
                plan: 0,
                steps: Vec::new(),
                more_steps: 0,
                output: String::new(),
                words_alone: false,
            });
        }
        let Some(place) = self.open.iter().position(|mission| mission.id == event.subject) else { return };
        if let MissionEvent::Finished { result } = &event.data.payload {
            let mut mission = self.open.remove(place);
            mission.phase = MissionPhase::Ended(result.status);
            mission.ended_ms = Some(now_ms);
            mission.words_alone = result.words_alone;
            mission.output = shown(result);
            self.ended.push_back(mission);
            if self.ended.len() > MOST_ENDED {
                self.ended.pop_front();
            }
        } else if let Some(mission) = self.open.get_mut(place) {
            note(mission, &event.data.payload);
        }
    }
}

/// What it said, as far as it fits before what was done, which is never cut for it.
fn shown(result: &MissionResult) -> String {
    let account: String = result.account.chars().take(TEXT_CHARACTERS).collect();
    let left = TEXT_CHARACTERS.saturating_sub(account.chars().count() + 1);
    let words: String = result.words().chars().take(left).collect();
    format!("{words} {account}").trim().to_owned()
}

fn note(mission: &mut MissionOverview, event: &MissionEvent) {
    match event {
        MissionEvent::Planning { .. } => mission.phase = MissionPhase::Planning,
        MissionEvent::Planned { plan, steps, .. } => {
            mission.phase = MissionPhase::Acting;
            mission.plan = *plan;
            let listed = steps.steps.iter().take(MOST_STEPS);
            mission.steps = listed
                .map(|step| StepOverview {
                    number: step.number,
                    tool: step.call.tool.clone(),
                    status: StepStatus::Pending,
                })
                .collect();
            let more = steps.steps.len().saturating_sub(mission.steps.len());
            mission.more_steps = u32::try_from(more).unwrap_or(u32::MAX);
        }
        MissionEvent::StepStarted { step, .. } => {
            mission.phase = MissionPhase::Acting;
            set(mission, *step, StepStatus::Running);
        }
        MissionEvent::StepFinished { report, .. } if report.plan == mission.plan => {
            set(mission, report.number, report.status);
        }
        MissionEvent::ComponentMissing { .. } => mission.phase = MissionPhase::Waiting,
        MissionEvent::ComponentReturned { .. } => mission.phase = MissionPhase::Acting,
        MissionEvent::ControlChanged { control, .. } if mission.phase != MissionPhase::Queued => {
            mission.phase = if control.is_autonomous() { MissionPhase::Planning } else { MissionPhase::Waiting };
        }
        // What a person has interrupted is halted, and waits for that person.
        MissionEvent::Stopping { .. } if mission.phase != MissionPhase::Waiting => {
            mission.phase = MissionPhase::Stopping;
        }
        _ => {}
    }
}

fn set(mission: &mut MissionOverview, number: StepNumber, status: StepStatus) {
    if let Some(step) = mission.steps.iter_mut().find(|step| step.number == number) {
        step.status = status;
    }
}

#[cfg(test)]
mod tests {
    use cortex_protocol::event::EventData;
    use cortex_protocol::execution::ExecutionReport;
    use cortex_protocol::{MissionStatus, Origin, Plan, Priority, Step, StepReport, TaskClass, ToolCall, Usage};

    use super::*;

    fn event(mission: &str, payload: MissionEvent) -> CloudEvent {
        CloudEvent {
            specversion: "1.0".to_owned(),
            id: "e".into(),
            source: String::new(),
            kind: String::new(),
            subject: mission.into(),
            time: String::new(),
            datacontenttype: String::new(),
            provider: String::new(),
            event: String::new(),
            action: String::new(),
            actor: String::new(),
            sequence: 1,
            data: EventData { origin: Origin::new("test", ""), text: String::new(), payload },
        }
    }

    fn accepted(task: &str) -> MissionEvent {
        MissionEvent::Accepted { task: task.to_owned(), session: None }
    }

    #[test]
    fn a_mission_is_followed_from_its_task_to_its_end() {
        let mut missions = MissionOverviews::default();
        missions.note(&event("m1", accepted("go")), 1_000);
        missions.note(&event("m2", accepted("wait")), 1_100);
        assert_eq!(missions.running(), None);
        missions.note(&event("m1", MissionEvent::Planning { turn: 1, plan: 1 }), 1_200);
        assert_eq!(missions.running().unwrap().phase, MissionPhase::Planning);
        let call = ToolCall { tool: "base.go_to".into(), arguments: serde_json::Map::new() };
        let step = Step {
            number: StepNumber(1),
            call,
            after: Vec::new(),
            status: StepStatus::Pending,
            priority: Priority::default(),
            again: String::new(),
        };
        let steps = Plan { steps: vec![step], groups: Vec::new() };
        missions.note(&event("m1", MissionEvent::Planned { plan: 1, steps, cut: Vec::new() }), 1_300);
        assert_eq!(missions.running().unwrap().steps.len(), 1);
        assert_eq!((missions.running().unwrap().phase, missions.running().unwrap().plan), (MissionPhase::Acting, 1));
        let result = MissionResult {
            status: MissionStatus::Succeeded,
            class: TaskClass::Action,
            output: format!("{}\nDone: base.go_to.", "x".repeat(1_000)),
            account: "Done: base.go_to.".to_owned(),
            words_alone: false,
            steps: Vec::<StepReport>::new(),
            execution: ExecutionReport::default(),
            revisions: Vec::new(),
            not_stopped: Vec::new(),
            usage: Usage::default(),
            duration: std::time::Duration::ZERO,
        };
        missions.note(&event("m1", MissionEvent::Finished { result }), 1_400);
        let all = missions.all();
        assert_eq!(all.iter().map(|mission| mission.id.as_str()).collect::<Vec<_>>(), ["m2", "m1"]);
        assert_eq!((all[1].phase, all[1].ended_ms), (MissionPhase::Ended(MissionStatus::Succeeded), Some(1_400)));
        assert_eq!(all[1].output.len(), TEXT_CHARACTERS);
        assert!(all[1].output.ends_with(" Done: base.go_to."), "what was done is not what is cut: {}", all[1].output);
        assert_eq!(missions.running(), None);
    }

    #[test]
    fn those_that_are_kept_are_bounded() {
        let mut missions = MissionOverviews::default();
        for number in 0..1_000 {
            missions.note(&event(&number.to_string(), accepted("go")), number);
        }
        assert_eq!(missions.all().len(), MOST_OPEN);
    }
}
