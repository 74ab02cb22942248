//! What holds in every scenario, whatever it expects.

use std::collections::{BTreeMap, BTreeSet};

use cortex_core::chat::Purpose;
use cortex_protocol::{
    CloudEvent, Decision, Effect, MissionEvent, MissionId, ResourceName, StepNumber, ToolCall, ToolName,
};

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
        problems.push(format!("{unended} step(s) of the result have not ended"));
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
    let mut planned: BTreeMap<StepNumber, ToolName> = BTreeMap::new();
    let mut allowed: BTreeSet<StepNumber> = BTreeSet::new();
    let mut held: BTreeMap<StepNumber, Vec<ResourceName>> = BTreeMap::new();
    let mut halting = false;
    for (index, event) in events.iter().enumerate() {
        if event.sequence != index as u64 + 1 {
            problems.push(format!("event {} of a mission has the number {}", index + 1, event.sequence));
        }
        match &event.data.payload {
            MissionEvent::Planned { steps, .. } => {
                planned = steps.steps.iter().map(|step| (step.number, step.call.tool.clone())).collect();
                (allowed, halting) = (BTreeSet::new(), false);
                held.clear();
            }
            // A further plan may look again once everything is at rest.
            MissionEvent::Planning { .. } => halting = false,
            MissionEvent::Decided { step, decision: Decision::Execute, .. }
            | MissionEvent::Retrying { step, .. }
            | MissionEvent::Correcting { step, .. } => {
                allowed.insert(*step);
            }
            MissionEvent::StepStarted { step, tool, arguments, .. } => {
                begun.push(shown(&ToolCall { tool: tool.clone(), arguments: arguments.clone() }));
                if planned.get(step) != Some(tool) {
                    problems.push(format!("step {step} called {tool}, which was not planned as such"));
                }
                if !allowed.remove(step) {
                    problems.push(format!("step {step} ({tool}) was called without having been confirmed"));
                }
                if halting {
                    problems.push(format!("step {step} ({tool}) was called while everything was told to halt"));
                }
                let needed = observed.specs.iter().find(|spec| spec.name == *tool).map(|spec| spec.resources.clone());
                let needed = needed.unwrap_or_default();
                let taken =
                    held.values().flatten().find(|one| needed.contains(one) && !one.as_str().ends_with(":read"));
                if let Some(taken) = taken {
                    problems.push(format!("step {step} ({tool}) began while another held {taken}"));
                }
                held.insert(*step, needed);
            }
            MissionEvent::Researching { tool, arguments, .. } => {
                begun.push(shown(&ToolCall { tool: tool.clone(), arguments: arguments.clone() }));
                let spec = observed.specs.iter().find(|spec| spec.name == *tool);
                if spec.is_none_or(|spec| spec.effect != Effect::Observe) {
                    problems.push(format!("{tool} was called as research, though it acts"));
                }
            }
            MissionEvent::StepFinished { report, .. } => {
                held.remove(&report.number);
            }
            MissionEvent::Stopping { .. } => halting = true,
            MissionEvent::Finished { .. } if index + 1 != events.len() => {
                problems.push("something happened after the mission's end".to_owned());
            }
            _ => {}
        }
    }
    if !matches!(events.last().map(|event| &event.data.payload), Some(MissionEvent::Finished { .. })) {
        problems.push("a mission has no last word".to_owned());
    }
}
