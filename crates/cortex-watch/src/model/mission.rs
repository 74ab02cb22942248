//! One mission, put together from its events.

use std::collections::BTreeMap;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use cortex_protocol::mission::InFlight;
use cortex_protocol::{
    CloudEvent, Decision, MissionEvent, MissionId, MissionResult, Plan, StepNumber, StepReport, StepStatus, ToolName,
};

use super::millis;

/// Where a step stands.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct StepView {
    /// In one word.
    pub status: StepStatus,
    /// When it began, by the robot's clock, in milliseconds since 1970.
    pub started_ms: Option<u64>,
    /// How long it ran.
    pub ran: Option<Duration>,
    /// The latest feedback of what runs.
    pub feedback: String,
    /// Since when there was no new feedback, where that is worth a warning.
    pub stalled_since_ms: Option<u64>,
    /// What else there is to say.
    pub note: String,
}

/// Research that runs.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ResearchView {
    /// What is called.
    pub tool: ToolName,
    /// Since when, by the robot's clock.
    pub since_ms: u64,
}

/// See the module.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct MissionView {
    /// Which.
    pub id: MissionId,
    /// What it is for. Empty: its beginning was not seen.
    pub task: String,
    /// How people revised the task.
    pub revisions: Vec<String>,
    /// When it was accepted, by the robot's clock.
    pub accepted_ms: Option<u64>,
    /// The number of the plan. 0: none yet.
    pub plan_number: u32,
    /// The plan.
    pub plan: Plan,
    /// Where its steps stand.
    pub steps: BTreeMap<StepNumber, StepView>,
    /// The tool that the model asks while it plans.
    pub research: Option<ResearchView>,
    /// What the mission waits for, or why it ends.
    pub waits: Option<String>,
    /// How it ended.
    pub result: Option<Box<MissionResult>>,
    /// The number of the last event.
    sequence: u64,
}

impl MissionView {
    pub(super) fn new(id: MissionId) -> Self {
        Self {
            id,
            task: String::new(),
            revisions: Vec::new(),
            accepted_ms: None,
            plan_number: 0,
            plan: Plan::default(),
            steps: BTreeMap::new(),
            research: None,
            waits: None,
            result: None,
            sequence: 0,
        }
    }

    /// How long after the mission's beginning the event was, in milliseconds.
    pub(super) fn since_begin(&self, event: &CloudEvent) -> u64 {
        let begun = self.accepted_ms.unwrap_or_default();
        event_ms(event).map_or(0, |at| at.saturating_sub(begun))
    }

    /// Takes an event. Returns false if it was known already.
    pub(super) fn take(&mut self, event: &CloudEvent) -> bool {
        if event.sequence <= self.sequence {
            return false;
        }
        self.sequence = event.sequence;
        let at_ms = event_ms(event).unwrap_or_default();
        self.accepted_ms.get_or_insert(at_ms);
        self.take_payload(&event.data.payload, at_ms);
        true
    }

    fn take_payload(&mut self, payload: &MissionEvent, at_ms: u64) {
        match payload {
            MissionEvent::Accepted { task, .. } => self.task = task.clone(),
            MissionEvent::TaskRevised { text, .. } => self.revisions.push(text.clone()),
            MissionEvent::Planned { plan, steps, .. } => self.take_plan(*plan, steps),
            MissionEvent::Researching { tool, .. } => {
                self.research = Some(ResearchView { tool: tool.clone(), since_ms: at_ms });
            }
            MissionEvent::Researched { .. } => self.research = None,
            MissionEvent::StepStarted { step, by, .. } => {
                let note = by.as_ref().map(|by| format!("by the standby's {by}")).unwrap_or_default();
                let started_ms = Some(at_ms);
                let started = StepView { status: StepStatus::Running, started_ms, note, ..StepView::default() };
                self.steps.insert(*step, started);
                self.waits = None;
            }
            MissionEvent::Progress { in_flight } => self.take_in_flight(in_flight, at_ms),
            MissionEvent::Decided { step, decision, reason, in_flight, .. } => {
                self.take_in_flight(in_flight, at_ms);
                let waits = matches!(decision, Decision::Continue).then(|| "waits for what is in flight".to_owned());
                self.step(*step).note = waits.unwrap_or_else(|| reason.clone());
            }
            MissionEvent::Conflict { step, resource, holder, .. } => {
                let holder = holder.map_or_else(|| "research".to_owned(), |holder| format!("step {holder}"));
                self.step(*step).note = format!("waits for {resource}, which {holder} holds");
            }
            MissionEvent::Correcting { step, problem, .. } => self.step(*step).note = format!("failed: {problem}"),
            MissionEvent::Retrying { step, problem, .. } => self.step(*step).note = format!("tried again: {problem}"),
            MissionEvent::PolicyDenied { step, reason, .. } => self.step(*step).note = format!("denied: {reason}"),
            MissionEvent::StepFinished { report, .. } => self.take_report(report),
            MissionEvent::Halted { step: Some(step), state, .. } if state.may_go_on() => {
                self.step(*step).note = "not known to be at rest".to_owned();
            }
            MissionEvent::Asked { .. } => self.waits = Some("a person is asked".to_owned()),
            MissionEvent::Replanning { plan, reason } => self.waits = Some(format!("making plan {plan}: {reason}")),
            MissionEvent::ComponentMissing { tools, .. } => self.waits = Some(format!("waits for {}", names(tools))),
            MissionEvent::ControlChanged { control, .. } => self.waits = control.reason().map(str::to_owned),
            MissionEvent::Paused { because, .. } => self.waits = Some(format!("paused: {because}")),
            MissionEvent::Stopping { reason, .. } => self.waits = Some(format!("stopping: {reason}")),
            MissionEvent::QuestionEnded { .. } | MissionEvent::ComponentReturned { .. } | MissionEvent::Unpaused => {
                self.waits = None;
            }
            MissionEvent::Finished { result } => {
                (self.waits, self.research) = (None, None);
                self.result = Some(Box::new(result.clone()));
            }
            _ => {}
        }
    }

    fn take_plan(&mut self, number: u32, plan: &Plan) {
        self.plan_number = number;
        self.plan = plan.clone();
        let view = |status| StepView { status, ..StepView::default() };
        self.steps = plan.steps.iter().map(|step| (step.number, view(step.status))).collect();
        self.waits = None;
    }

    fn take_in_flight(&mut self, in_flight: &[InFlight], at_ms: u64) {
        for one in in_flight {
            let Some(number) = one.step else { continue };
            let step = self.step(number);
            if step.status.is_terminal() {
                continue;
            }
            step.status = StepStatus::Running;
            step.started_ms.get_or_insert(at_ms.saturating_sub(millis(one.age)));
            step.feedback = one.feedback.clone();
            step.stalled_since_ms = one.stalled.map(|silence| at_ms.saturating_sub(millis(silence)));
        }
    }

    fn take_report(&mut self, report: &StepReport) {
        if report.plan != self.plan_number && self.plan_number != 0 {
            return;
        }
        let said = report.outcome.as_ref().filter(|outcome| !outcome.is_success()).map(|outcome| outcome.text());
        let note = said.unwrap_or_else(|| report.note.clone());
        let step = self.step(report.number);
        *step = StepView { status: report.status, ran: report.duration, note, ..StepView::default() };
    }

    fn step(&mut self, number: StepNumber) -> &mut StepView {
        self.steps.entry(number).or_default()
    }
}

fn names(tools: &[ToolName]) -> String {
    tools.iter().map(ToolName::as_str).collect::<Vec<_>>().join(", ")
}

/// The time of an event, in milliseconds since 1970.
fn event_ms(event: &CloudEvent) -> Option<u64> {
    let time: SystemTime = humantime::parse_rfc3339(&event.time).ok()?;
    Some(millis(time.duration_since(UNIX_EPOCH).ok()?))
}

/// How much of a call is done, where its feedback says it: `40%`, `2 of 5`, `2/5`.
pub(crate) fn fraction(feedback: &str) -> Option<f64> {
    let words: Vec<&str> = feedback.split([' ', ',', ';', ':', '=']).filter(|word| !word.is_empty()).collect();
    let share = |done: &str, of: &str| {
        let (done, of) = (done.parse::<f64>().ok()?, of.parse::<f64>().ok()?);
        (done >= 0.0 && of > 0.0 && done <= of).then_some(done / of)
    };
    let percent = words.iter().find_map(|word| share(word.strip_suffix('%')?, "100"));
    let ratio = || words.iter().find_map(|word| word.split_once('/').and_then(|(done, of)| share(done, of)));
    let counted = || {
        words.windows(3).find_map(|three| match three {
            [done, "of", of] => share(done, of),
            _ => None,
        })
    };
    percent.or_else(ratio).or_else(counted)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn feedback_that_says_how_far_it_is_is_understood_and_other_feedback_is_not() {
        for (feedback, expected) in [
            ("40%", Some(0.4)),
            ("done: 12.5%, 3 m left", Some(0.125)),
            ("1 of 2", Some(0.5)),
            ("waypoint 2/5", Some(0.4)),
            ("under way", None),
            ("140%", None),
            ("3 of 2", None),
            ("1/0", None),
            ("NaN%", None),
            ("and/or", None),
        ] {
            assert_eq!(fraction(feedback), expected, "{feedback}");
        }
    }
}
