//! What is in flight: the calls under way, what they hold, and how they are getting on.

use std::time::Duration;

use cortex_protocol::mission::InFlight;
use cortex_protocol::{CallId, ComponentName, Dispatch, ResourceName, StepNumber, ToolCall, ToolFingerprint, ToolName};
use serde::{Deserialize, Serialize};

use super::availability::Destination;
use super::stall_timeouts::Cut;
use super::{Effect, Mission};
use crate::schedule::Holder;

/// A call in flight.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct RunningCall {
    pub(super) tool: ToolName,
    /// What it reaches.
    pub(super) component: Option<ComponentName>,
    pub(super) step: Option<StepNumber>,
    pub(super) started: Duration,
    /// What it holds until it ends.
    pub(super) resources: Vec<ResourceName>,
    pub(super) dispatch: Dispatch,
    /// Whether it was accepted.
    pub(super) accepted: bool,
    pub(super) feedback: String,
    pub(super) feedback_at: Option<Duration>,
    /// The longest time between two of its feedbacks.
    pub(super) longest_gap: Option<Duration>,
    /// Whether a CONTINUE was ended because its feedback has stopped.
    pub(super) stall_noticed: bool,
    /// Why it is being halted while the mission goes on.
    pub(super) cut: Option<Cut>,
}

impl RunningCall {
    /// When it counts as stalled. Never, where it gives no feedback.
    pub(super) fn stalls_at(&self, stall_after: Duration) -> Option<Duration> {
        self.feedback_at.map(|at| at.saturating_add(stall_after)).filter(|_| !self.stall_noticed)
    }

    pub(super) fn holder(&self) -> Holder<'_> {
        let lets_go = self.accepted && self.dispatch == Dispatch::Background;
        Holder { step: self.step, resources: &self.resources, lets_go }
    }
}

impl Mission {
    pub(super) fn on_call_progressed(&mut self, call: CallId, feedback: String) {
        let now = self.clock.now();
        if let Some(running) = self.calls.get_mut(call) {
            running.feedback = feedback;
            running.longest_gap = running.feedback_at.map(|at| now.saturating_sub(at)).max(running.longest_gap);
            running.feedback_at = Some(now);
            running.stall_noticed = false;
            self.clock.note_progress();
        }
    }

    /// When the next goal in flight counts as stalled.
    pub(super) fn next_stall(&self) -> Option<Duration> {
        self.calls.values().filter_map(|call| call.stalls_at(self.setup.limits.stall_after)).min()
    }

    /// Whether a goal in flight has stalled since this was last asked.
    pub(super) fn notice_stalls(&mut self) -> bool {
        let (now, stall_after) = (self.clock.now(), self.setup.limits.stall_after);
        let has_stalled = |call: &&mut RunningCall| call.stalls_at(stall_after).is_some_and(|at| at <= now);
        let stalled = self.calls.values_mut().filter(has_stalled);
        stalled.map(|call| call.stall_noticed = true).count() > 0
    }

    /// What is in flight, oldest first.
    pub(super) fn in_flight(&self) -> Vec<InFlight> {
        let stall_after = self.setup.limits.stall_after;
        self.calls
            .iter()
            .map(|(id, call)| InFlight {
                call: id,
                step: call.step,
                tool: call.tool.clone(),
                age: self.clock.now().saturating_sub(call.started),
                feedback: call.feedback.clone(),
                stalled: call
                    .feedback_at
                    .map(|at| self.clock.now().saturating_sub(at))
                    .filter(|silence| *silence >= stall_after),
            })
            .collect()
    }

    /// Begins a call.
    pub(super) fn invoke(
        &mut self,
        tool_call: ToolCall,
        fingerprint: ToolFingerprint,
        step: Option<StepNumber>,
    ) -> CallId {
        let spec = self.setup.tools.get(&tool_call.tool);
        let Destination { call: tool_call, fingerprint, component } = self.destination(tool_call.clone(), fingerprint);
        let first_progress = self.clock.now() + self.setup.limits.progress_interval;
        let call = self.calls.begin(
            RunningCall {
                tool: tool_call.tool.clone(),
                component,
                step,
                started: self.clock.now(),
                resources: spec.map(|spec| spec.resources.clone()).unwrap_or_default(),
                dispatch: spec.map(|spec| spec.dispatch).unwrap_or_default(),
                accepted: false,
                feedback: String::new(),
                feedback_at: None,
                longest_gap: None,
                stall_noticed: false,
                cut: None,
            },
            first_progress,
        );
        self.effects.push(Effect::Invoke { call, tool_call, fingerprint });
        call
    }
}
