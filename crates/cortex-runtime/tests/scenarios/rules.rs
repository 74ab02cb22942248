//! What holds in every scenario, whatever it expects.

use std::collections::{BTreeMap, BTreeSet};

use cortex_core::chat::Purpose;
use cortex_protocol::{
    CallId, CloudEvent, Decision, Effect, MissionEvent, MissionId, ResourceName, StepNumber, ToolCall, ToolName,
    ToolSpec,
};
use serde_json::{Map, Value};

use crate::run::Observed;

/// The rules that were broken, in words.
pub(crate) fn broken(observed: &Observed) -> Vec<String> {
    let mut problems = Vec::new();
    let mut missions: BTreeMap<&MissionId, Vec<&CloudEvent>> = BTreeMap::new();
    for event in &observed.events {
        missions.entry(&event.subject).or_default().push(event);
    }
    let mut begun = Vec::new();
    for events in missions.values() {
        follow(events, observed, &mut begun, &mut problems);
    }
    let mut called: Vec<String> = observed.calls.iter().map(shown).collect();
    called.sort();
    begun.sort();
    if !is_part_of(&called, &begun) {
        problems.push(format!("something was called that no event tells: called {called:?}, told {begun:?}"));
    }
    for request in observed.requests.iter().filter(|request| request.purpose != Purpose::Plan) {
        if request.tools.len() > 1 {
            problems.push(format!("a confirmation carries the schemas of {} tools", request.tools.len()));
        }
    }
    let unended = observed.result.steps.iter().filter(|step| !step.status.is_terminal()).count();
    if unended > 0 {
        problems.push(format!("{unended} steps of the result have not ended"));
    }
    if !observed.at_rest {
        problems.push("something was left running after the shut-down".to_owned());
    }
    problems
}

fn shown(call: &ToolCall) -> String {
    crate::compare::shown_call(call)
}

/// Whether every one of the calls was told; a tool may be gone before the call that was told reaches it.
fn is_part_of(called: &[String], told: &[String]) -> bool {
    let mut told = told.iter();
    called.iter().all(|call| told.any(|other| other == call))
}

/// Follows one mission event by event.
fn follow(events: &[&CloudEvent], observed: &Observed, begun: &mut Vec<String>, problems: &mut Vec<String>) {
    let mut mission = Followed { specs: &observed.specs, ..Followed::default() };
    for (index, event) in events.iter().enumerate() {
        if event.sequence != index as u64 + 1 {
            mission.problems.push(format!("event {} of a mission has the number {}", index + 1, event.sequence));
        }
        if matches!(event.data.payload, MissionEvent::Finished { .. }) && index + 1 != events.len() {
            mission.problems.push("something happened after the mission's end".to_owned());
        }
        mission.take(&event.data.payload);
    }
    if !matches!(events.last().map(|event| &event.data.payload), Some(MissionEvent::Finished { .. })) {
        mission.problems.push("a mission has no last word".to_owned());
    }
    begun.append(&mut mission.begun);
    problems.append(&mut mission.problems);
}

/// What is known of a mission so far.
#[derive(Default)]
struct Followed<'a> {
    specs: &'a [ToolSpec],
    /// The steps of the current plan.
    planned: BTreeMap<StepNumber, ToolName>,
    /// Those that may be called once.
    allowed: BTreeSet<StepNumber>,
    /// What runs, with what it holds.
    held: BTreeMap<CallId, (Option<StepNumber>, Vec<ResourceName>)>,
    halting: bool,
    begun: Vec<String>,
    problems: Vec<String>,
}

impl Followed<'_> {
    fn take(&mut self, event: &MissionEvent) {
        match event {
            MissionEvent::Planned { steps, .. } => {
                self.planned = steps.steps.iter().map(|step| (step.number, step.call.tool.clone())).collect();
                self.allowed.clear();
                self.halting = false;
            }
            // A further plan may look again once everything is at rest.
            MissionEvent::Planning { .. } => self.halting = false,
            MissionEvent::Stopping { .. } => self.halting = true,
            MissionEvent::Decided { step, decision: Decision::Execute, .. }
            | MissionEvent::Retrying { step, .. }
            | MissionEvent::Correcting { step, .. } => {
                // What failed and is tried again holds nothing meanwhile.
                self.held.retain(|_, (holder, _)| *holder != Some(*step));
                self.allowed.insert(*step);
            }
            MissionEvent::StepStarted { call, step, tool, by, arguments, .. } => {
                if self.planned.get(step) != Some(tool) {
                    self.problems.push(format!("step {step} called {tool}, which was not planned as such"));
                }
                if !self.allowed.remove(step) {
                    self.problems.push(format!("step {step} ({tool}) was called without having been confirmed"));
                }
                self.begin(*call, Some(*step), by.as_ref().unwrap_or(tool), arguments);
            }
            MissionEvent::Researching { call, tool, arguments } => {
                let spec = self.specs.iter().find(|spec| spec.name == *tool);
                if spec.is_none_or(|spec| spec.effect != Effect::Observe) {
                    self.problems.push(format!("{tool} was called as research, though it acts"));
                }
                self.begin(*call, None, tool, arguments);
            }
            MissionEvent::Researched { call, .. } => {
                self.held.remove(call);
            }
            MissionEvent::StepFinished { report, .. } => {
                self.held.retain(|_, (holder, _)| *holder != Some(report.number));
            }
            _ => {}
        }
    }

    fn begin(&mut self, call: CallId, step: Option<StepNumber>, tool: &ToolName, arguments: &Map<String, Value>) {
        self.begun.push(shown(&ToolCall { tool: tool.clone(), arguments: arguments.clone() }));
        if self.halting {
            self.problems.push(format!("{tool} was called while everything was told to halt"));
        }
        let spec = self.specs.iter().find(|spec| spec.name == *tool);
        let needed = spec.map(|spec| spec.resources.clone()).unwrap_or_default();
        let mut held = self.held.values().flat_map(|(_, held)| held);
        if let Some(taken) = held.find(|one| needed.contains(one) && !one.as_str().ends_with(":read")) {
            self.problems.push(format!("{tool} began while another call held {taken}"));
        }
        self.held.insert(call, (step, needed));
    }
}
