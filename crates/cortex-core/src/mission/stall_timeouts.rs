//! What goes on for ever ends here: a goal that has stopped telling how it is getting on, a mission in which nothing happens
//! any more, and a call that does not come back after it was told to halt. Each ends in a decision, with its reason.

use std::time::Duration;

use cortex_protocol::{CallId, FailureKind, HaltState, ToolOutcome};
use serde::{Deserialize, Serialize};

use super::{Effect, Mission, Phase, RunningCall};
use crate::feedback::in_seconds;

/// A goal has hung when it is silent for so many times the longest that it was silent before.
const GAPS: u32 = 5;

/// Why a call is ended before it ends by itself, while its mission goes on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Cut {
    kind: FailureKind,
    because: String,
    /// When it counts as one that did not confirm that it is at rest. The dispatcher's own bound is shorter.
    until: Duration,
}

impl Cut {
    /// What is told of the call, however it came back.
    pub(super) fn outcome(self, came_back: ToolOutcome) -> ToolOutcome {
        // A goal that ended well while it was halted for its silence did what it says; what a failing component says of
        // itself is believed no more.
        if came_back.is_success() && self.kind != FailureKind::ComponentLost {
            return came_back;
        }
        ToolOutcome::failure(self.kind, self.because).with_halt(came_back.halt)
    }
}

impl RunningCall {
    /// When it counts as hung. Never, where it does not give feedback again and again: then its own time bounds it. One that
    /// tells little, each phase for example, has more time than one that tells how it gets on all the while.
    fn hangs_at(&self, hung_after: Option<Duration>) -> Option<Duration> {
        let silent_since = self.feedback_at.filter(|_| self.cut.is_none())?;
        Some(silent_since.saturating_add(hung_after?.max(self.longest_gap?.saturating_mul(GAPS))))
    }
}

impl Mission {
    /// Halts one call. When it is at rest it has failed so, and the plan goes on from there.
    pub(super) fn cut_call(&mut self, call: CallId, kind: FailureKind, because: String) {
        let until = self.clock.now().saturating_add(self.setup.limits.halt_timeout);
        let Some(running) = self.calls.get_mut(call).filter(|running| running.cut.is_none()) else { return };
        running.cut = Some(Cut { kind, because, until });
        self.effects.push(Effect::CancelCall { call });
    }

    /// Halts the goals that have stopped telling how they are getting on.
    pub(super) fn cut_hung_goals(&mut self) {
        let hung_after = self.setup.limits.hung_after;
        let is_hung = |call: &RunningCall| call.hangs_at(hung_after).is_some_and(|at| at <= self.clock.now());
        let hung: Vec<CallId> = self.calls.iter().filter(|(_, call)| is_hung(call)).map(|(id, _)| id).collect();
        for call in hung {
            let silent_since = self.calls.get(call).and_then(|running| running.feedback_at).unwrap_or_default();
            let seconds = in_seconds(self.clock.now().saturating_sub(silent_since));
            self.cut_call(call, FailureKind::Timeout, format!("it gave no feedback for {seconds} s, and was halted"));
        }
    }

    /// Gives up on the calls that did not come back after they were told to halt.
    pub(super) fn give_up_on_cut_calls(&mut self) {
        while let Some(call) = self.overdue_call() {
            let outcome = ToolOutcome::failure(FailureKind::Timeout, "it did not come back after it was told to halt");
            self.on_call_ended(call, outcome.with_halt(HaltState::Unconfirmed));
        }
    }

    fn overdue_call(&self) -> Option<CallId> {
        if matches!(self.phase, Phase::Halting { .. } | Phase::Finished) {
            return None;
        }
        let is_overdue = |call: &RunningCall| call.cut.as_ref().is_some_and(|cut| cut.until <= self.clock.now());
        self.calls.iter().find(|(_, call)| is_overdue(call)).map(|(id, _)| id)
    }

    /// Ends a mission in which nothing has happened for too long. Returns whether it did.
    pub(super) fn give_up_without_progress(&mut self) -> bool {
        if self.idle_ends().is_none_or(|end| self.clock.now() < end) {
            return false;
        }
        let seconds = self.setup.limits.max_idle.unwrap_or_default().as_secs_f64();
        let tools: Vec<&str> = self.calls.values().map(|call| call.tool.as_str()).collect();
        let in_flight = if tools.is_empty() { String::new() } else { format!(" In flight was {}.", tools.join(", ")) };
        self.fail(format!(
            "Nothing has happened for {seconds} s: no step ended, no goal gave feedback, and the model gave no answer.\
             {in_flight}"
        ));
        true
    }

    /// When too little has happened. What is waited for with a deadline of its own does not count: the end of a pause, and a
    /// component that may come back, an answer of a person.
    fn idle_ends(&self) -> Option<Duration> {
        let waits =
            self.is_paused() || matches!(self.phase, Phase::Away { .. } | Phase::Asking { .. } | Phase::Halting { .. });
        let max_idle = self.setup.limits.max_idle.filter(|_| !waits)?;
        Some(self.clock.progress_at().saturating_add(max_idle))
    }

    /// When the next of all this is due.
    pub(super) fn next_supervision(&self) -> Option<Duration> {
        let hung_after = self.setup.limits.hung_after;
        let hung = self.calls.values().filter_map(|call| call.hangs_at(hung_after));
        let cut = self.calls.values().filter_map(|call| call.cut.as_ref().map(|cut| cut.until));
        hung.chain(cut).chain(self.idle_ends()).chain(self.pause_ends()).min()
    }
}
