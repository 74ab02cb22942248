//! Stops: everything ends, and whoever asked hears what did not; and what is done with what is not known to be at rest.

use std::sync::Arc;

use cortex_core::CancelReason;
use cortex_protocol::{ComponentName, MissionStatus, StopOutcome, ToolName};
use tokio::sync::oneshot;
use tokio_util::task::TaskTracker;

use super::{Admission, MissionQueue};
use crate::tool_registry::ToolRegistry;

/// Who waits for a stop, and what it has ended so far.
pub(super) struct Stop {
    reply: oneshot::Sender<StopOutcome>,
    missions_ended: usize,
    /// What of them did not confirm that it is at rest.
    pub(super) not_stopped: Vec<ToolName>,
    /// The calls of clients that it ends.
    calls: TaskTracker,
}

impl MissionQueue {
    /// Ends everything, and reports when it is at rest. Admission was closed before.
    pub(super) fn halt(&mut self, reply: oneshot::Sender<StopOutcome>) {
        let missions_ended = self.end_all(CancelReason::Stop);
        let stop = Stop { reply, missions_ended, not_stopped: Vec::new(), calls: self.clients.open() };
        if self.is_running() {
            self.stops.push(stop);
        } else {
            self.report_stop(stop);
        }
    }

    /// Waits for the calls of clients, halts what is not known to be at rest once more, and reports. The mission queue does not wait
    /// for it.
    pub(super) fn report_stop(&self, stop: Stop) {
        let shared = Arc::clone(&self.shared);
        self.shared.tracker.spawn(async move {
            let Stop { reply, missions_ended, mut not_stopped, calls } = stop;
            // Each has its own bounds; this is for a flaw of them.
            let bounds = shared.config.calls;
            if tokio::time::timeout((bounds.halt_timeout + bounds.return_grace) * 2, calls.wait()).await.is_err() {
                tracing::error!("some calls of clients have not ended; see what is named as not at rest");
            }
            let (going_on, at_rest) = shared.unconfirmed_halts.halt(bounds.halt_timeout).await;
            shared.journal.end_calls(&at_rest);
            not_stopped.extend(going_on);
            not_stopped.sort();
            not_stopped.dedup();
            // Who asked may have left.
            let _ = reply.send(StopOutcome { not_stopped, missions_ended });
        });
    }

    /// Cancels what runs and ends what waits; how many missions that were.
    pub(super) fn end_all(&mut self, reason: CancelReason) -> usize {
        let text = match reason {
            CancelReason::Client => "The task was cancelled before it began.",
            CancelReason::Stop => "The robot was stopped before the task began.",
            // Of those that wait none is for the holder of the controls.
            CancelReason::ShutDown | CancelReason::ControlsLost { .. } => {
                "Cortex is shutting down; the task was not begun."
            }
        };
        let mut ended = 0;
        for running in self.running.iter().chain(&self.by_hand) {
            running.end.send_replace(Some(reason.clone()));
            ended += 1;
        }
        ended + self.end_waiting(text)
    }

    /// Ends every task that waits; how many that were.
    fn end_waiting(&mut self, text: &str) -> usize {
        let count = self.waiting.len();
        for waiting in self.waiting.drain(..) {
            waiting.end(MissionStatus::Cancelled, text.to_owned());
        }
        count
    }

    /// Asks what is not known to be at rest again, except of what is in quarantine: a component that has come back can
    /// say so. Does not wait.
    pub(super) fn settle(&self) {
        if self.admission != Admission::Open || self.shared.unconfirmed_halts.is_empty() {
            return;
        }
        let shared = Arc::clone(&self.shared);
        self.shared.tracker.spawn(async move {
            let availability = shared.availability.borrow().clone();
            let is_unusable = |component: &ComponentName| availability.reason_against(component).is_some();
            let patience = shared.config.calls.halt_timeout;
            let (_, at_rest) = shared.unconfirmed_halts.halt_unless(patience, is_unusable).await;
            for call in &at_rest {
                tracing::info!("{} was not known to be at rest, and has confirmed that it is", call.call.tool);
            }
            shared.journal.end_calls(&at_rest);
        });
    }

    /// Asks what is not known to be at rest again, where the tool of such a call is offered that was not before: whoever
    /// carries it out has come back, or has only now described itself.
    pub(super) fn settle_what_came_back(&self, before: &ToolRegistry) {
        let now = self.registry.borrow().clone();
        let came = |tool: &ToolName| now.routes.contains_key(tool) && !before.routes.contains_key(tool);
        if self.shared.unconfirmed_halts.names().iter().any(came) {
            self.settle();
        }
    }

    /// A person has looked. Returns whether anything was refused until now.
    pub(super) fn resume(&mut self) -> bool {
        if self.admission == Admission::ShuttingDown {
            return false;
        }
        let was_stopped = self.admission == Admission::Stopped;
        self.admission = Admission::Open;
        self.stopped_earlier = None;
        let left = self.shared.unconfirmed_halts.forget();
        self.shared.journal.end_calls(&left);
        was_stopped || !left.is_empty()
    }
}
