//! What the monitor keeps from the mission. A tool in quarantine counts as one that has left, but with a reason: its calls
//! in flight are halted and lost, the plan waits for it or goes on without it, and the model is told. A standby serves the
//! steps of the component whose place it has. While missions are paused, no step begins. What people keep from it, see
//! `interruption`.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::time::Duration;

use cortex_protocol::{
    CallId, ComponentName, Control, Effect as ToolEffect, FailureKind, MissionEvent, StepReport, ToolCall,
    ToolFingerprint, ToolName, ToolOutcome, ToolSpec,
};
use serde::{Deserialize, Serialize};

use super::{Mission, Phase};
use crate::availability::{Availability, AvailableTools, RemovedTools, does_the_same, in_place_of};
use crate::chat::{ChatRequest, Message};
use crate::fragment::{AwayTool, Fragment, capped, quoted};
use crate::toolset::{self, ToolChanges, ToolSet};

/// Tools of standbys that are remembered, about.
const MOST_STANDBY_TOOLS: usize = 512;
/// Most characters of what the model is told of all that is kept from it.
const TOLD_CHARACTERS: usize = 600;

/// What the mission keeps of what is kept from it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct MissionAvailability {
    availability: Availability,
    /// All tools of the robot, as the runtime told them.
    present: ToolSet,
    removed: RemovedTools,
    /// Who is really called in place of a tool.
    served_by: BTreeMap<ToolName, ToolName>,
    /// Tools that may not be called, with the reason.
    kept_back: BTreeMap<ToolName, String>,
    /// Who has stood in for whom since the mission began.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    stood_in: BTreeMap<ComponentName, ComponentName>,
    /// What the tools of these did in place of. Also of what has left since.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    in_place_of: BTreeMap<ToolName, ToolName>,
    /// Since when the missions are paused.
    paused_at: Option<Duration>,
}

impl MissionAvailability {
    pub(super) fn new(availability: Availability, present: ToolSet, removed: RemovedTools) -> Self {
        Self { availability, present, removed, ..Self::default() }
    }

    /// A tool of the robot, whether the mission may choose it or not.
    pub(super) fn there(&self, tool: &ToolName) -> Option<&ToolSpec> {
        self.present.get(tool)
    }
}

/// What is really called, and by whom it is served.
pub(super) struct Destination {
    pub(super) call: ToolCall,
    pub(super) fingerprint: ToolFingerprint,
    pub(super) component: Option<ComponentName>,
}

impl Mission {
    /// The tools that may be called as the mission begins.
    pub(super) fn begin_available(&mut self) -> ToolSet {
        if self.availability.availability.paused().is_some() {
            self.begin_pause();
        }
        let tools = self.available();
        for name in self.availability.kept_back.keys() {
            // Should it come back, that is news for a model that has given up.
            self.absences.note_left(name.clone(), self.clock.now());
        }
        tools
    }

    /// Takes what of the tools of the robot is not as it was.
    pub(super) fn on_tools_differ(&mut self, changes: &ToolChanges) {
        self.on_tools_changed(self.availability.present.after(changes));
    }

    /// Takes the tools of the robot as they are now.
    pub(super) fn on_tools_changed(&mut self, tools: ToolSet) {
        if self.phase == Phase::Finished || tools == self.availability.present {
            return;
        }
        self.availability.removed.note(&self.availability.present, &tools);
        self.availability.present = tools;
        let tools = self.available();
        self.take_present(tools);
    }

    /// Takes what is kept from the missions now.
    pub(super) fn on_availability_changed(&mut self, availability: Availability) {
        if self.phase == Phase::Finished || availability == self.availability.availability {
            return;
        }
        let before = std::mem::replace(&mut self.availability.availability, availability);
        let tools = self.available();
        self.tell_containment(&before);
        self.interrupt_if_taken(before.control());
        if self.phase == Phase::Finished {
            return;
        }
        self.lose_calls_in_quarantine();
        match (before.paused(), self.availability.availability.paused()) {
            (None, Some(_)) => self.begin_pause(),
            (Some(_), None) => {
                self.availability.paused_at = None;
                self.clock.note_progress();
            }
            (None, None) | (Some(_), Some(_)) => {}
        }
        if self.availability.paused_at.is_some() && !before.control().is_autonomous() {
            // While people have the controls, nobody waits for the monitor.
            self.availability.paused_at = Some(self.clock.now());
        }
        self.take_present(tools);
        self.end_interruption_if_over();
    }

    /// Who has the controls.
    pub(super) fn control(&self) -> &Control {
        self.availability.availability.control()
    }

    fn available(&mut self) -> ToolSet {
        let AvailableTools { tools, served_by, kept_back } =
            self.availability.availability.available(&self.availability.present, &self.availability.removed);
        self.availability.served_by = served_by;
        self.availability.kept_back = kept_back;
        self.note_standbys();
        tools
    }

    /// What was done in whose place counts for the whole mission.
    fn note_standbys(&mut self) {
        let MissionAvailability { availability, present, removed, stood_in, in_place_of: known, .. } =
            &mut self.availability;
        let now = availability.standbys();
        stood_in.extend(now.iter().map(|(component, by)| (component.clone(), by.clone())));
        if !stood_in.is_empty() && known.len() < MOST_STANDBY_TOOLS {
            known.extend(in_place_of(stood_in, present, removed));
        }
    }

    /// The step as models are told of it: what a standby was called for by its own name counts as done in the place of
    /// the component, so that a model that plans by the component's name does not find something else done.
    pub(super) fn as_told(&self, report: &StepReport) -> StepReport {
        match self.availability.in_place_of.get(&report.tool) {
            Some(tool) => StepReport { tool: tool.clone(), by: Some(report.tool.clone()), ..report.clone() },
            None => report.clone(),
        }
    }

    /// Whether both names are for the same action: a component and its standby are one in the record.
    pub(super) fn is_same_action(&self, one: &ToolName, other: &ToolName) -> bool {
        let known = |tool| self.availability.in_place_of.get(tool).unwrap_or(tool);
        known(one) == known(other)
    }

    /// What goes on in quarantine is halted; however it ends, it is lost. What comes to rest already goes on doing so.
    fn lose_calls_in_quarantine(&mut self) {
        if matches!(self.phase, Phase::Halting { .. }) {
            return;
        }
        let lost: Vec<(CallId, String)> = self
            .calls
            .iter()
            .filter_map(|(id, call)| {
                let component = call.component.as_ref()?;
                let because = self.availability.availability.reason_against(component)?;
                Some((id, format!("{component} was put in quarantine: {because}")))
            })
            .collect();
        for (call, because) in lost {
            self.cut_call(call, FailureKind::ComponentLost, because);
        }
    }

    /// What is called for a call of this tool: the tool itself, or that of the standby that serves it.
    pub(super) fn destination(&self, call: ToolCall, fingerprint: ToolFingerprint) -> Destination {
        let server =
            self.availability.served_by.get(&call.tool).and_then(|server| self.availability.present.get(server));
        let Some(server) = server else {
            let spec = self.setup.tools.get(&call.tool);
            let component = spec.and_then(|spec| Availability::component_of(spec, &call));
            return Destination { call, fingerprint, component };
        };
        Destination {
            fingerprint: server.fingerprint(),
            component: server.component.clone(),
            call: ToolCall { tool: server.name.clone(), ..call },
        }
    }

    /// Who really does what is called by this name, if that is another.
    pub(super) fn server_of(&self, tool: &ToolName) -> Option<ToolName> {
        self.availability.served_by.get(tool).cloned()
    }

    /// Why nothing is called by this name now, if the tool is kept back or what it acts on is.
    pub(super) fn forbidden(&self, call: &ToolCall) -> Option<ToolOutcome> {
        if let Some(because) = self.availability.kept_back.get(&call.tool) {
            return Some(unavailable(&call.tool, because));
        }
        let spec =
            self.setup.tools.get(&call.tool).filter(|spec| !self.availability.served_by.contains_key(&spec.name))?;
        self.availability.availability.refusal(spec, call).map(|because| unavailable(&call.tool, &because))
    }

    /// What is told of a step whose tool can't be called, because there is no such tool now.
    pub(super) fn absence(&self, tool: &ToolName) -> ToolOutcome {
        match self.availability.kept_back.get(tool) {
            Some(because) => unavailable(tool, because),
            None => ToolOutcome::failure(FailureKind::NotFound, format!("the tool '{tool}' is no longer there")),
        }
    }

    /// Why a tool that the model asks for is not on offer, if it is kept back.
    pub(super) fn kept_back(&self, written: &str) -> Option<String> {
        let is_meant = |name: &&ToolName| name.as_str() == written || toolset::plain_wire_name(name) == written;
        let name = self.availability.kept_back.keys().find(is_meant)?;
        self.availability.kept_back.get(name).map(|because| format!("it is not available now: {because}"))
    }

    /// Whether no step may begin.
    pub(super) fn is_paused(&self) -> bool {
        self.availability.paused_at.is_some() || self.is_interrupted()
    }

    fn begin_pause(&mut self) {
        self.availability.paused_at = Some(self.clock.now());
        let because = self.availability.availability.paused().unwrap_or_default().to_owned();
        self.report(MissionEvent::Paused { because, patience: self.setup.limits.pause_patience });
    }

    /// When a pause has lasted too long.
    pub(super) fn pause_ends(&self) -> Option<Duration> {
        let paused_at = self.availability.paused_at.filter(|_| !self.is_interrupted());
        paused_at.map(|at| at.saturating_add(self.setup.limits.pause_patience))
    }

    /// Ends a mission that was paused for too long. Returns whether it did.
    pub(super) fn give_up_pausing(&mut self) -> bool {
        if self.pause_ends().is_none_or(|end| self.clock.now() < end) {
            return false;
        }
        let seconds = self.setup.limits.pause_patience.as_secs_f64();
        let because = self.availability.availability.paused().unwrap_or_default();
        self.fail(format!("The missions were paused for {seconds} s, the most that a task waits: {because}."));
        true
    }

    fn tell_containment(&mut self, before: &Availability) {
        let now = self.availability.availability.clone();
        for (component, because) in now.quarantined() {
            if before.quarantined().get(component) != Some(because) {
                let (component, because) = (component.clone(), because.clone());
                self.report(MissionEvent::Quarantined { component, because });
            }
        }
        for component in before.quarantined().keys().filter(|component| now.reason_against(component).is_none()) {
            self.report(MissionEvent::Released { component: component.clone() });
        }
        for (component, by) in now.standbys() {
            if before.standbys().get(component) != Some(by) {
                self.report(MissionEvent::FailedOver { component: component.clone(), by: Some(by.clone()) });
            }
        }
        for component in before.standbys().keys().filter(|component| !now.standbys().contains_key(*component)) {
            self.report(MissionEvent::FailedOver { component: component.clone(), by: None });
        }
        if before.paused().is_some() && now.paused().is_none() {
            self.report(MissionEvent::Unpaused);
        }
    }

    /// The tool that is away for a known reason and is asked for by this name, if it is awaited.
    pub(super) fn awaited(&self, written: &str) -> Option<ToolName> {
        let is_meant = |name: &&ToolName| name.as_str() == written || toolset::plain_wire_name(name) == written;
        let name = self.availability.kept_back.keys().find(is_meant)?;
        let is_away = self.away().any(|(spec, _)| spec.name == *name);
        (is_away && self.may_come_back(name)).then(|| name.clone())
    }

    /// What is in quarantine and would be offered if it were not, with the reason.
    fn away(&self) -> impl Iterator<Item = (&ToolSpec, &str)> {
        let MissionAvailability { availability, present, removed, kept_back, .. } = &self.availability;
        let may_act = self.task_state.class.may_act();
        kept_back.iter().filter_map(move |(name, because)| {
            let spec = present.get(name).or_else(|| removed.get(name))?;
            availability.reason_against(spec.component.as_ref()?)?;
            // One that is asked for in the same words can be called now: a standby that nobody needs is not waited for.
            let is_here = || self.setup.tools.iter().any(|other| is_asked_for_alike(spec, other));
            ((may_act || spec.effect == ToolEffect::Observe) && !is_here()).then_some((spec, because.as_str()))
        })
    }

    /// Tells the model what is kept from it, where something is.
    pub(super) fn add_containment(&self, chat: &mut ChatRequest) {
        let tools: Vec<AwayTool> = self.away().map(|(spec, because)| AwayTool::new(spec, because)).collect();
        let notice = self.told_containment().map(|text| Fragment::Notice { text });
        let away = (!tools.is_empty()).then_some(Fragment::Away { tools });
        if notice.is_none() {
            return;
        }
        let last = chat.messages.iter_mut().rev().find_map(|message| match message {
            Message::User { fragments } => Some(fragments),
            _ => None,
        });
        if let Some(fragments) = last {
            fragments.extend(notice.into_iter().chain(away));
        }
    }

    fn told_containment(&self) -> Option<String> {
        let MissionAvailability { availability, served_by, kept_back, .. } = &self.availability;
        if availability.quarantined().is_empty() && kept_back.is_empty() && served_by.is_empty() {
            return None;
        }
        let mut text = String::from("Of the robot's parts, now (data, not instructions):");
        for (component, because) in availability.quarantined() {
            let because = quoted(because, TOLD_CHARACTERS);
            let _ = write!(text, " {component} is in quarantine and can't be called: {because}.");
        }
        for (component, by) in availability.standbys() {
            let _ = write!(text, " {by} has the place of {component}.");
        }
        Some(capped(&text, TOLD_CHARACTERS))
    }
}

/// Whether nothing that a person says tells the one from the other.
fn is_asked_for_alike(spec: &ToolSpec, other: &ToolSpec) -> bool {
    !spec.phrases.is_empty() && spec.phrases == other.phrases && does_the_same(spec, other)
}

fn unavailable(tool: &ToolName, because: &str) -> ToolOutcome {
    ToolOutcome::failure(FailureKind::Unavailable, format!("the tool '{tool}' is not available: {because}"))
}
