//! A person pauses the robot, or takes the controls, in mid mission. What is in flight is halted, the model is not asked, and
//! no time of the mission runs until the robot acts by itself again. Then the mission plans anew: what was halted is not
//! done, and what was so before may be so no more.

use std::time::Duration;

use cortex_protocol::{Control, ControlState, MissionEvent, Origin};
use serde::{Deserialize, Serialize};

use super::{Ending, Mission, Phase, prompts};
use crate::feedback::in_seconds;
use crate::fragment::{INTERRUPTED_NOTE, quoted};

/// Most characters of a person's name.
const NAME_CHARACTERS: usize = 60;
/// How often an interrupted mission is woken: it waits for a person, for as long as that takes.
const WAKE: Duration = Duration::from_secs(3_600);

const DROPPED: &str = "not done, because the robot was paused";
const WITHDRAWN: &str = "the robot was paused";

/// The interruptions of a mission by people.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Interruptions {
    /// The one that goes on, or whose end the mission has not acted on yet.
    open: Option<Interruption>,
    /// How many are over. Each allows one more plan.
    over: u32,
}

/// From the first pause until the mission plans anew.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Interruption {
    since: Duration,
    /// Whether a person had the controls at any time.
    was_held: bool,
    /// Who had them last, or paused the robot.
    by: String,
}

impl Interruptions {
    /// How many are over.
    pub(super) fn over(&self) -> u32 {
        self.over
    }
}

impl Mission {
    /// Whether the controls are with people: nothing begins, and no model is asked.
    pub(super) fn is_interrupted(&self) -> bool {
        !self.control().is_autonomous()
    }

    /// When an interrupted mission is woken.
    pub(super) fn interrupted_wake(&self) -> Duration {
        self.clock.now().saturating_add(WAKE)
    }

    /// The mission begins while the controls are with people. Returns whether it waits.
    pub(super) fn begins_interrupted(&mut self) -> bool {
        if !self.is_interrupted() {
            return false;
        }
        self.note_interruption();
        let control = self.control().clone();
        self.report(MissionEvent::ControlChanged { control, lasted: None });
        self.phase = Phase::Interrupted { is_told: true };
        true
    }

    /// Halts what is in flight where people have taken the controls from the mission since, also where they have given them
    /// back before the mission heard of it.
    pub(super) fn interrupt_if_taken(&mut self, before: &Control) {
        if *before == *self.control() || matches!(self.phase, Phase::New | Phase::Finished) {
            return;
        }
        let was_interrupted = self.interruptions.open.is_some();
        self.note_interruption();
        let control = self.control().clone();
        let lasted = control.is_autonomous().then(|| self.interrupted_for());
        let reason = control.because.clone();
        self.report(MissionEvent::ControlChanged { control, lasted });
        if !was_interrupted || self.is_interrupted() {
            self.interrupt(reason);
        }
    }

    fn interrupt(&mut self, reason: String) {
        let then = Ending::Interrupted { reason };
        self.record.interrupt(self.run.number());
        self.leave_question(WITHDRAWN);
        self.void_approvals();
        match &mut self.phase {
            Phase::New | Phase::Finished | Phase::Interrupted { .. } => {}
            Phase::Halting {
                then: Ending::Failed { .. } | Ending::Closed { .. } | Ending::Cancelled { .. }, ..
            } => {}
            Phase::Halting { then: after, .. } => *after = then,
            Phase::Gathering { .. } | Phase::Planning { .. } => {
                self.abandon_model();
                self.phase = Phase::Interrupted { is_told: true };
            }
            Phase::Researching { .. } => {
                self.answer_unfinished_research(DROPPED);
                self.halt_all(then);
            }
            _ => {
                self.abandon_model();
                self.phase = Phase::Underway;
                self.end_plan(then, INTERRUPTED_NOTE);
            }
        }
    }

    /// Goes on where the mission has the controls again and everything is at rest.
    pub(super) fn end_interruption_if_over(&mut self) {
        if self.interruptions.open.is_none() || self.is_interrupted() {
            return;
        }
        if let Phase::Interrupted { is_told } = self.phase {
            self.plan_after_interruption(is_told);
        }
    }

    /// Everything is at rest: waits for the controls, or plans anew.
    pub(super) fn wait_interrupted(&mut self) {
        self.phase = Phase::Interrupted { is_told: false };
        self.end_interruption_if_over();
    }

    /// Asks for a plan of what is left to do. `is_told`: the model knows already how the latest plan ended.
    fn plan_after_interruption(&mut self, is_told: bool) {
        let lasted = in_seconds(self.interrupted_for());
        self.clock.resume();
        self.clock.note_progress();
        let Some(Interruption { was_held, by, .. }) = self.interruptions.open.take() else { return };
        self.interruptions.over = self.interruptions.over.saturating_add(1);
        let did = if was_held { "had the controls of the robot" } else { "paused the robot" };
        let who = quoted(&by, NAME_CHARACTERS);
        let ended = (!is_told && self.run.number() > 0).then(|| self.plan_record());
        let untold = self.revisions.take_new();
        self.conversation.push(prompts::interrupted(ended, untold, &format!("A person ({who}) {did} for {lasted} s.")));
        self.conversation.begin_phase();
        if self.run.number() > 0 {
            let reason = format!("{by} {did} for {lasted} s.");
            self.report(MissionEvent::Replanning { plan: self.run.next_number(), reason });
        }
        self.ask_for_plan();
    }

    fn note_interruption(&mut self) {
        let (now, control) = (self.clock.now(), self.control().clone());
        let is_first = self.interruptions.open.is_none();
        let interruption =
            self.interruptions.open.get_or_insert(Interruption { since: now, was_held: false, by: String::new() });
        if is_first || !control.is_autonomous() {
            interruption.by = control.by.as_ref().map_or_else(|| "somebody".to_owned(), Origin::name);
        }
        interruption.was_held |= control.state == ControlState::Held;
        self.clock.suspend();
    }

    fn interrupted_for(&self) -> Duration {
        let since = self.interruptions.open.as_ref().map_or(self.clock.now(), |open| open.since);
        self.clock.now().saturating_sub(since)
    }
}
