//! The one way to make a call, whoever wants it: a step of a mission, or a client without one.
//!
//! It is sent when nobody else holds what it needs (`resource_locks`), when it stands where a later life of Cortex finds it
//! (`journal`), and if nothing keeps it back at that very moment (`gate`). When it has come back, it is at rest, or
//! among the unconfirmed halts.

use std::sync::Arc;
use std::time::Duration;

use cortex_core::feedback::in_seconds;
use cortex_core::{CallObserver, Invocation, ToolProvider};
use cortex_protocol::{
    CancelMode, FailureKind, HaltState, OutcomeStatus, ToolCall, ToolFingerprint, ToolName, ToolOutcome, ToolSpec,
};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::conditions::run_call;
use crate::not_written::Unrecorded;
use crate::process_end::EndsWithProcess;
use crate::resource_locks::{ResourceLock, Wanted};
use crate::risk_class::RiskClass;
use crate::shared::Shared;
use crate::tape::WritePermit;
use crate::unconfirmed_halts::GivenUp;

/// A call to be made.
pub(crate) struct Call {
    pub(crate) provider: Arc<dyn ToolProvider>,
    pub(crate) spec: ToolSpec,
    pub(crate) invocation: Invocation,
    /// Who wants it, in words for people.
    pub(crate) wanted_by: String,
    /// How long it waits for what others hold.
    pub(crate) patience: Duration,
    /// How long it may have waited for what others hold and still be sent. None: however long. Whoever decided that it
    /// shall be made looked at a state that is over by then.
    pub(crate) decision_holds: Option<Duration>,
    /// The leave of the tape, where one is needed.
    pub(crate) write_permit: Option<WritePermit>,
}

impl Unrecorded {
    pub(crate) fn outcome(&self) -> ToolOutcome {
        ToolOutcome::failure(FailureKind::Unavailable, self.to_string())
    }
}

impl Shared {
    /// Who carries out a call, if the tool still is what the call was made for.
    ///
    /// # Errors
    /// The outcome of a call that can't be made.
    pub(crate) fn find(
        &self,
        call: &ToolCall,
        fingerprint: ToolFingerprint,
    ) -> Result<(Arc<dyn ToolProvider>, ToolSpec), ToolOutcome> {
        let tool = &call.tool;
        let registry = self.registry.borrow().clone();
        let provider = registry.routes.get(tool).and_then(|provider| self.providers.get(*provider));
        let (Some(provider), Some(spec)) = (provider, registry.get(tool)) else {
            return Err(no_longer_there(tool));
        };
        if spec.fingerprint() != fingerprint {
            let message = format!("the tool '{tool}' has just changed; it was not called with the old arguments");
            return Err(ToolOutcome::failure(FailureKind::Changed, message));
        }
        Ok((provider, spec.clone()))
    }

    /// Makes a call, to its one outcome. Always comes back, within the bounds of all that it waits for.
    ///
    /// # Errors
    /// When it could not be recorded, and nothing was called.
    pub(crate) async fn make(
        &self,
        call: Call,
        observer: Arc<dyn CallObserver>,
        cancelled: CancellationToken,
    ) -> Result<ToolOutcome, Unrecorded> {
        let began = Instant::now();
        let claim = match self.hold(&call, observer.as_ref(), &cancelled).await {
            Ok(claim) => claim,
            Err(outcome) => return Ok(outcome),
        };
        let waited = began.elapsed();
        if call.decision_holds.is_some_and(|holds| waited > holds) {
            // The claim goes: nobody waits for a decision with what others need in hand.
            return Ok(too_late(waited));
        }
        if !self.providers.has(&call.provider) {
            // It has left meanwhile.
            return Ok(no_longer_there(&call.invocation.call.tool));
        }
        let Call { provider, spec, invocation, write_permit, .. } = call;
        // What held it a moment ago may have been given up, and still move.
        let in_the_way = self.unconfirmed_halts.in_the_way(&spec, &invocation.call, &self.registry.borrow().tools);
        if !in_the_way.is_empty() {
            return Ok(over_leftovers(&in_the_way));
        }
        // What may just be dropped leaves nothing behind.
        let halts = spec.cancel == CancelMode::Halt;
        let noted = async {
            match self.journal.begin_call(&invocation, &cancelled).await {
                // A disk that has failed is no reason not to halt something.
                Err(problem) if RiskClass::of(&spec) == RiskClass::Light => {
                    tracing::warn!("{} begins all the same: {problem}", spec.name);
                    Ok(())
                }
                noted => noted,
            }
        };
        let noted = async { if halts { noted.await } else { Ok(()) } };
        let (cleared, noted) = tokio::join!(cleared(write_permit, &cancelled), noted);
        if let Err(problem) = noted.and(cleared) {
            if halts {
                self.journal.end_call(&invocation);
            }
            return Err(problem);
        }
        if cancelled.is_cancelled() {
            if halts {
                self.journal.end_call(&invocation);
            }
            return Ok(before_it_began());
        }
        let process = self.unconfirmed_halts.life(&spec, &invocation.call);
        let carries_out: Arc<dyn ToolProvider> = match process.clone() {
            Some(process) => Arc::new(EndsWithProcess {
                provider: Arc::clone(&provider),
                unconfirmed_halts: Arc::clone(&self.unconfirmed_halts),
                process,
                has_ended: CancellationToken::new(),
            }),
            None => Arc::clone(&provider),
        };
        let guarded = self.config.gate.guard(spec.clone(), carries_out);
        let bounds = self.config.calls;
        let outcome = run_call(guarded, spec.clone(), invocation.clone(), observer, cancelled, bounds).await;
        let outcome = if outcome.halt.may_go_on() {
            let timed_out = outcome.status == OutcomeStatus::Failed(FailureKind::Timeout);
            let (why, invocation) = (outcome.message.clone(), invocation.clone());
            let given_up = GivenUp { provider, invocation, spec: Some(spec), process, why, timed_out };
            self.given_up(given_up, outcome).await
        } else {
            outcome
        };
        if halts && !outcome.halt.may_go_on() {
            self.journal.end_call(&invocation);
        }
        drop(claim);
        Ok(outcome)
    }

    /// A call was given up without a sign that it is at rest: it is among the unconfirmed halts from now on. Where its
    /// component is about to be started anew, the end of its process is waited for, for a while, since that is its end,
    /// too.
    async fn given_up(&self, call: GivenUp, outcome: ToolOutcome) -> ToolOutcome {
        let (process, timed_out) = (call.process.clone(), call.timed_out);
        let fails = process.as_ref().is_some_and(|process| {
            timed_out || self.availability.borrow().reason_against(process.component()).is_some()
        });
        let (provider, invocation) = (Arc::clone(&call.provider), call.invocation.clone());
        if !self.unconfirmed_halts.remember(call) {
            return outcome.with_halt(HaltState::AtRest);
        }
        let (unconfirmed_halts, journal) = (Arc::clone(&self.unconfirmed_halts), self.journal.clone());
        self.tracker.spawn(async move {
            if unconfirmed_halts.ended_late(provider, &invocation).await {
                tracing::info!("{} has ended after all, and is at rest", invocation.call.tool);
                journal.end_call(&invocation);
            }
        });
        let Some(process) = process.filter(|_| fails) else { return outcome };
        match self.unconfirmed_halts.outlived(&process, self.config.calls.halt_timeout).await {
            true => outcome.with_halt(HaltState::AtRest),
            false => outcome,
        }
    }

    /// Waits until nobody else holds what the call needs. Fails with the outcome of a call that never began.
    async fn hold(
        &self,
        call: &Call,
        observer: &dyn CallObserver,
        cancelled: &CancellationToken,
    ) -> Result<ResourceLock, ToolOutcome> {
        let wanted = Wanted {
            resources: call.spec.resources.clone(),
            tool: call.invocation.call.tool.clone(),
            by: call.wanted_by.clone(),
        };
        let claimed = self
            .resource_locks
            .acquire(wanted, call.patience, |conflict| observer.progressed(format!("it waits: {conflict}")));
        tokio::select! {
            biased;
            () = cancelled.cancelled() => Err(before_it_began()),
            claimed = claimed => claimed.map_err(|conflict| {
                let seconds = in_seconds(call.patience);
                let message = format!("it was not called: {conflict}, and was not free within {seconds} s");
                ToolOutcome::failure(FailureKind::NotReady, message)
            }),
        }
    }
}

fn no_longer_there(tool: &ToolName) -> ToolOutcome {
    ToolOutcome::failure(FailureKind::NotFound, format!("the tool '{tool}' is no longer there"))
}

/// Nothing is put on top of what may still move.
fn over_leftovers(tools: &[ToolName]) -> ToolOutcome {
    let names: Vec<&str> = tools.iter().map(ToolName::as_str).collect();
    let message = format!(
        "it was not called: {} did not confirm that it is at rest. Look at the robot; when it is safe, call ~/resume \
         (cortex resume)",
        names.join(", ")
    );
    ToolOutcome::failure(FailureKind::NotReady, message)
}

/// What was decided before the wait is asked about anew.
fn too_late(waited: Duration) -> ToolOutcome {
    let message = format!("it waited {:.0} s for what others held, and was not called", waited.as_secs_f64());
    ToolOutcome::failure(FailureKind::Expired, message)
}

fn before_it_began() -> ToolOutcome {
    ToolOutcome::not_begun("it was cancelled before it began")
}

/// Waits until a call that moves something is on the tape, or is not wanted any more.
async fn cleared(write_permit: Option<WritePermit>, cancelled: &CancellationToken) -> Result<(), Unrecorded> {
    let Some(write_permit) = write_permit else { return Ok(()) };
    tokio::select! {
        biased;
        // Whoever makes the call looks at that next.
        () = cancelled.cancelled() => Ok(()),
        granted = write_permit.granted() => granted,
    }
}

#[cfg(test)]
mod tests {
    use tokio::sync::oneshot;

    use super::*;
    use crate::not_written::NotWritten;

    /// A call that waits for a disk that hangs.
    fn waiting() -> (oneshot::Sender<Result<(), NotWritten>>, Option<WritePermit>) {
        let (disk, answer) = oneshot::channel();
        (disk, Some(WritePermit::awaiting(answer, true)))
    }

    #[tokio::test(start_paused = true)]
    async fn a_call_that_is_stopped_while_the_disk_hangs_ends_at_once() {
        let (_disk, write_permit) = waiting();
        let token = CancellationToken::new();
        token.cancel();
        let began = Instant::now();
        assert_eq!(cleared(write_permit, &token).await, Ok(()), "a stop is no reason to give up");
        assert_eq!(began.elapsed(), Duration::ZERO);
    }

    #[tokio::test(start_paused = true)]
    async fn a_call_waits_for_the_disk_for_a_while_only() {
        let (_disk, write_permit) = waiting();
        let reason = cleared(write_permit, &CancellationToken::new()).await.unwrap_err().to_string();
        assert!(reason.contains("the disk did not take it within 5 s"), "{reason}");
    }
}
