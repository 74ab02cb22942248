//! The missions, from their events. No IO, no clock.

use std::collections::VecDeque;

use cortex_core::fragment::capped;
use cortex_protocol::overview::{MissionOverview, MissionPhase, StepOverview};
use cortex_protocol::{CloudEvent, MissionEvent, StepNumber, StepStatus};

/// Characters of a task and of an output that are shown.
const TEXT_CHARACTERS: usize = 200;
/// Steps of a plan that are listed.
const MOST_STEPS: usize = 50;
/// Missions that are kept: more than a queue holds. Of those that have ended, the last few.
const MOST_OPEN: usize = 64;
const MOST_ENDED: usize = 5;

/// The missions so far.
#[derive(Debug, Default)]
pub(super) struct Missions {
    open: Vec<MissionOverview>,
    ended: VecDeque<MissionOverview>,
}

impl Missions {
    /// Those that run and wait, in order, and the last that have ended, the latest last.
    pub(super) fn all(&self) -> Vec<MissionOverview> {
        self.open.iter().chain(&self.ended).cloned().collect()
    }

    /// The one that runs.
    pub(super) fn running(&self) -> Option<&MissionOverview> {
        self.open.iter().find(|mission| mission.phase != MissionPhase::Queued)
    }

    /// Takes note of an event.
    pub(super) fn note(&mut self, event: &CloudEvent, now_ms: u64) {
        if let MissionEvent::Accepted { task, .. } = &event.data.payload {
            if self.open.len() >= MOST_OPEN {
                self.open.remove(0);
            }
            return self.open.push(MissionOverview {
                id: event.subject.clone(),
                task: capped(task, TEXT_CHARACTERS),
                phase: MissionPhase::Queued,
                since_ms: now_ms,
                ended_ms: None,
                plan: 0,
                steps: Vec::new(),
                more_steps: 0,
                output: String::new(),
            });
        }
        let Some(place) = self.open.iter().position(|mission| mission.id == event.subject) else { return };
        if let MissionEvent::Finished { result } = &event.data.payload {
            let mut mission = self.open.remove(place);
            mission.phase = MissionPhase::Ended(result.status);
            mission.ended_ms = Some(now_ms);
            mission.output = capped(&result.output, TEXT_CHARACTERS);
            self.ended.push_back(mission);
            if self.ended.len() > MOST_ENDED {
                self.ended.pop_front();
            }
        } else if let Some(mission) = self.open.get_mut(place) {
            note(mission, &event.data.payload);
        }
    }
}

fn note(mission: &mut MissionOverview, event: &MissionEvent) {
    match event {
        MissionEvent::Planning { .. } => mission.phase = MissionPhase::Planning,
        MissionEvent::Planned { plan, steps, .. } => {
            mission.phase = MissionPhase::Acting;
            mission.plan = *plan;
            let listed = steps.steps.iter().take(MOST_STEPS).zip(1..);
            mission.steps = listed
                .map(|(step, number)| StepOverview {
                    number: StepNumber(number),
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
        MissionEvent::Stopping { .. } => mission.phase = MissionPhase::Stopping,
        _ => {}
    }
}

fn set(mission: &mut MissionOverview, number: StepNumber, status: StepStatus) {
    if let Some(step) = mission.steps.iter_mut().find(|step| step.number == number) {
        step.status = status;
    }
}
