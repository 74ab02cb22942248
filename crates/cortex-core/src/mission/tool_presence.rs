//! Components that leave in mid mission and come back. A plan that needs a tool which has left begins nothing more, but
//! what is in flight goes on, until the tool is back or its time is up: then the steps that need it have failed. A mission
//! that failed for want of a component waits for it in the same way before it plans anew or gives up. It waits for what it
//! is told of the tools; it never looks.

use std::collections::BTreeSet;
use std::time::Duration;

use cortex_protocol::{FailureKind, MissionEvent, MissionStatus, OutcomeStatus, StepReport, StepStatus, ToolName};
use serde::{Deserialize, Serialize};

use super::{Mission, Phase};
use crate::chat::Message;
use crate::fragment::Fragment;
use crate::toolset::ToolSet;

/// What follows when the waiting is over.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum AfterWait {
    /// A new plan, for this reason, whether the tools are back or not.
    Replan { reason: String },
    /// The end with this output. If the tools are back, the model, which said that it gives up, is asked again.
    GiveUp { said: String, output: String },
    /// Another request for a plan: the model wanted these, which were away before there was any plan.
    Plan { wanted: BTreeSet<ToolName> },
}

/// Where the tools are that the plan needs.
#[derive(Debug, PartialEq, Eq)]
enum Presence {
    AllThere,
    /// Some have left, and have time to come back.
    Awaited {
        tools: BTreeSet<ToolName>,
        until: Duration,
    },
    /// The time of these is up.
    Gone {
        tools: BTreeSet<ToolName>,
    },
}

impl Mission {
    /// Takes the tools that are there, and may be called, as they are now.
    pub(super) fn take_present(&mut self, tools: ToolSet) {
        let left = self.setup.tools.iter().map(|spec| &spec.name).filter(|name| tools.get(name).is_none());
        let left: Vec<ToolName> = left.cloned().collect();
        for name in left {
            self.absences.note_left(name, self.clock.now());
        }
        let returned = self.absences.note_there(&tools);
        self.take_tools(tools);
        self.run.note_tools_changed();
        if !returned.is_empty() {
            self.report(MissionEvent::ComponentReturned { tools: returned.into_iter().collect() });
        }
        match &self.phase {
            Phase::Underway => self.advance(),
            Phase::Away { .. } => self.end_wait_if_over(),
            Phase::Asking { .. } => self.review_question(),
            _ => self.give_up_what_is_gone(),
        }
    }

    /// Whether the plan needs a tool that has left. Then nothing begins; what follows is told by
    /// [`advance`](Self::advance).
    pub(super) fn misses_component(&self) -> bool {
        self.presence_of_planned() != Presence::AllThere
    }

    /// Fails the steps that need what is gone, or waits for what may come back. Returns whether the plan can't go on now.
    pub(super) fn hold_for_components(&mut self) -> bool {
        match self.presence_of_planned() {
            Presence::AllThere => false,
            Presence::Awaited { tools, until } => {
                self.tell_missing(tools, until);
                self.phase = Phase::Underway;
                true
            }
            Presence::Gone { tools } => {
                let is_lost = |report: &&StepReport| needs_in_future(report) && tools.contains(&report.tool);
                let lost: Vec<_> = self.current_reports().filter(is_lost).map(|report| report.number).collect();
                for number in lost {
                    if let Some(Err(outcome)) = self.step(number).map(|step| self.is_as_planned(step)) {
                        self.end_step(number, outcome);
                    }
                }
                self.advance();
                true
            }
        }
    }

    /// Before a new plan: waits, if one that needs what has left would be in vain. Returns whether it does.
    pub(super) fn waits_to_replan(&mut self, reason: &str) -> bool {
        self.wait_for_components(AfterWait::Replan { reason: reason.to_owned() })
    }

    /// The model gives up in these words: asks it again, if a component is back that was wanting, or waits for it. Returns
    /// whether the mission goes on.
    pub(super) fn waits_to_give_up(&mut self, said: &str, output: &str) -> bool {
        if self.run.number() >= self.plans_allowed() {
            return false;
        }
        let back = self.back_again();
        if back.is_empty() {
            return self.wait_for_components(AfterWait::GiveUp { said: said.to_owned(), output: output.to_owned() });
        }
        self.ask_again(said, &back);
        true
    }

    fn wait_for_components(&mut self, then: AfterWait) -> bool {
        let Presence::Awaited { tools, until } = self.presence_of(failed_for_want) else { return false };
        self.tell_missing(tools, until);
        self.phase = Phase::Away { then, until };
        true
    }

    /// Whether there is still time for a tool that has left, or was not there from the beginning.
    pub(super) fn may_come_back(&self, tool: &ToolName) -> bool {
        self.time_of(tool) > self.clock.now()
    }

    fn time_of(&self, tool: &ToolName) -> Duration {
        let left_at = self.absences.left_at(tool).unwrap_or(self.clock.started());
        left_at.saturating_add(self.setup.limits.component_grace)
    }

    /// The model wants what is away: it is asked again once that is back, or its time is up. What it said is as if it had
    /// never been said, since nothing of it could be done.
    pub(super) fn wait_to_plan(&mut self, wanted: BTreeSet<ToolName>) {
        let until = wanted.iter().map(|tool| self.time_of(tool)).min().unwrap_or(self.clock.now());
        self.tell_missing(wanted.clone(), until);
        self.phase = Phase::Away { then: AfterWait::Plan { wanted }, until };
    }

    /// Goes on once the tools are back or their time is up.
    pub(super) fn end_wait_if_over(&mut self) {
        let Phase::Away { then, until } = self.phase.clone() else { return };
        let is_back = match &then {
            AfterWait::Plan { wanted } => wanted.iter().all(|tool| self.setup.tools.get(tool).is_some()),
            AfterWait::Replan { .. } | AfterWait::GiveUp { .. } => {
                self.presence_of(failed_for_want) == Presence::AllThere
            }
        };
        if !is_back && self.clock.now() < until {
            return;
        }
        match then {
            AfterWait::Replan { reason } if is_back => {
                let back = self.back_again();
                self.replan_now(format!("{reason} {}", came_back(&back)));
            }
            AfterWait::Replan { reason } => self.replan_now(reason),
            AfterWait::GiveUp { said, .. } if is_back => {
                let back = self.back_again();
                self.ask_again(&said, &back);
            }
            AfterWait::GiveUp { output, .. } => self.finish(MissionStatus::Failed, output),
            AfterWait::Plan { .. } => self.ask_for_plan(),
        }
    }

    /// When the waiting for components is over.
    pub(super) fn next_departure(&self) -> Option<Duration> {
        match self.phase {
            Phase::Away { until, .. } => Some(until),
            Phase::Confirming { .. } | Phase::Waiting { .. } | Phase::Underway => match self.presence_of_planned() {
                Presence::Awaited { until, .. } => Some(until),
                Presence::AllThere | Presence::Gone { .. } => None,
            },
            _ => None,
        }
    }

    /// Ends a confirmation or a wait in a plan that can't be carried out any more.
    pub(super) fn give_up_what_is_gone(&mut self) {
        let runs = matches!(self.phase, Phase::Confirming { .. } | Phase::Waiting { .. } | Phase::Underway);
        if runs && matches!(self.presence_of_planned(), Presence::Gone { .. }) {
            self.ask_anew();
        }
    }

    /// Asks the model that gave up once more: one turn further, so not for ever.
    fn ask_again(&mut self, said: &str, back: &BTreeSet<ToolName>) {
        self.conversation.push(Message::Assistant { text: said.to_owned(), calls: Vec::new() });
        let back: BTreeSet<ToolName> = back.iter().map(|name| self.offered_name(name)).collect();
        let text = format!("{} If the task can be done now, plan what is missing.", came_back(&back));
        self.conversation.push(Message::User { fragments: vec![Fragment::Notice { text }] });
        self.ask_for_plan();
    }

    /// The tools for want of which steps of the current plan have failed.
    fn wanting(&self) -> BTreeSet<ToolName> {
        self.current_reports().filter(failed_for_want).map(|report| report.tool.clone()).collect()
    }

    fn back_again(&self) -> BTreeSet<ToolName> {
        self.absences.back_among(&self.wanting())
    }

    fn tell_missing(&mut self, tools: BTreeSet<ToolName>, until: Duration) {
        if !self.absences.note_reported(&tools) {
            return;
        }
        let patience = until.saturating_sub(self.clock.now());
        self.report(MissionEvent::ComponentMissing { tools: tools.into_iter().collect(), patience });
    }

    fn presence_of_planned(&self) -> Presence {
        // A plan is made of tools that are there; asked before each step, this must cost nothing where none has left.
        if self.absences.is_empty() { Presence::AllThere } else { self.presence_of(needs_in_future) }
    }

    fn presence_of(&self, is_needed: impl Fn(&&StepReport) -> bool) -> Presence {
        let needed = self.current_reports().filter(is_needed).map(|report| &report.tool);
        let missing = needed.filter(|tool| self.setup.tools.get(tool).is_none());
        let (mut awaited, mut gone) = (BTreeSet::new(), BTreeSet::new());
        let mut first = None;
        for tool in missing {
            let left_at = self.absences.left_at(tool).unwrap_or_default();
            let until = left_at.saturating_add(self.setup.limits.component_grace);
            if until > self.clock.now() {
                awaited.insert(tool.clone());
                first = Some(first.map_or(until, |first: Duration| first.min(until)));
            } else {
                gone.insert(tool.clone());
            }
        }
        match first {
            _ if !gone.is_empty() => Presence::Gone { tools: gone },
            Some(until) => Presence::Awaited { tools: awaited, until },
            None => Presence::AllThere,
        }
    }
}

/// Whether the step has not begun.
fn needs_in_future(report: &&StepReport) -> bool {
    report.status == StepStatus::Pending
}

/// Whether the step failed because its component was not there.
fn failed_for_want(report: &&StepReport) -> bool {
    let kind = report.outcome.as_ref().map(|outcome| outcome.status);
    let wants = matches!(
        kind,
        Some(OutcomeStatus::Failed(FailureKind::NotFound | FailureKind::Unavailable | FailureKind::ComponentLost))
    );
    report.status == StepStatus::Failed && wants
}

fn came_back(tools: &BTreeSet<ToolName>) -> String {
    let names: Vec<&str> = tools.iter().map(ToolName::as_str).collect();
    match names.as_slice() {
        [] => "The tools that were wanting are there again.".to_owned(),
        [name] => format!("{name} was away and is back."),
        names => format!("{} were away and are back.", names.join(", ")),
    }
}
