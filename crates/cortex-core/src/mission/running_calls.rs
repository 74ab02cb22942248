//! The calls under way, and what may still be going on after its call has ended.

use std::collections::BTreeMap;
use std::time::Duration;

use cortex_protocol::{CallId, HaltState, ToolName};
use serde::{Deserialize, Serialize};

use super::in_flight::RunningCall;

/// The calls in flight, and the tools that are not at rest.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct RunningCalls {
    running: BTreeMap<CallId, RunningCall>,
    /// Tools of which a call has ended without being at rest, and what they said of it.
    not_stopped: Vec<(ToolName, HaltState)>,
    next_call: u32,
    /// When the calls in flight are reported next.
    next_progress: Duration,
}

impl RunningCalls {
    pub(super) fn new() -> Self {
        Self { running: BTreeMap::new(), not_stopped: Vec::new(), next_call: 1, next_progress: Duration::ZERO }
    }

    /// Begins a call. The first one of several determines when progress is reported.
    pub(super) fn begin(&mut self, call: RunningCall, first_progress: Duration) -> CallId {
        let id = CallId(self.next_call);
        self.next_call += 1;
        if self.running.is_empty() {
            self.next_progress = first_progress;
        }
        self.running.insert(id, call);
        id
    }

    /// Ends a call, if it is under way.
    pub(super) fn end(&mut self, call: CallId) -> Option<RunningCall> {
        self.running.remove(&call)
    }

    /// Ends all calls: nobody waits for them any more.
    pub(super) fn end_all(&mut self) -> BTreeMap<CallId, RunningCall> {
        std::mem::take(&mut self.running)
    }

    /// Oldest first.
    pub(super) fn iter(&self) -> impl Iterator<Item = (CallId, &RunningCall)> {
        self.running.iter().map(|(id, call)| (*id, call))
    }

    /// Oldest first.
    pub(super) fn values(&self) -> impl Iterator<Item = &RunningCall> {
        self.running.values()
    }

    pub(super) fn values_mut(&mut self) -> impl Iterator<Item = &mut RunningCall> {
        self.running.values_mut()
    }

    pub(super) fn get(&self, call: CallId) -> Option<&RunningCall> {
        self.running.get(&call)
    }

    pub(super) fn get_mut(&mut self, call: CallId) -> Option<&mut RunningCall> {
        self.running.get_mut(&call)
    }

    pub(super) fn len(&self) -> usize {
        self.running.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.running.is_empty()
    }

    /// When the calls in flight are reported next, if there are any.
    pub(super) fn next_progress(&self) -> Option<Duration> {
        (!self.running.is_empty()).then_some(self.next_progress)
    }

    pub(super) fn report_progress_at(&mut self, at: Duration) {
        self.next_progress = at;
    }

    /// A call of this tool has ended, but what it began may go on.
    pub(super) fn note_not_stopped(&mut self, tool: ToolName, state: HaltState) {
        self.not_stopped.push((tool, state));
    }

    /// The tools that may still be doing something although their calls have ended.
    pub(super) fn not_stopped(&self) -> &[(ToolName, HaltState)] {
        &self.not_stopped
    }
}
