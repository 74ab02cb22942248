//! One call of a tool: its time-out, its cancellation, and its one outcome.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use cortex_core::{Invocation, ProgressSink, ToolProvider};
use cortex_protocol::{CancelMode, Effect as ToolEffect, FailureKind, HaltState, OutcomeStatus, ToolOutcome, ToolSpec};
use futures::FutureExt;
use tokio_util::sync::CancellationToken;

/// The bounds of a call's end.
#[derive(Debug, Clone, Copy)]
pub struct CallBounds {
    /// How long a tool may take to confirm that it has halted.
    pub halt_timeout: Duration,
    /// How long, after that, the halted call may take to return.
    pub return_grace: Duration,
}

impl Default for CallBounds {
    fn default() -> Self {
        Self { halt_timeout: Duration::from_secs(5), return_grace: Duration::from_secs(1) }
    }
}

/// Why a call is ended from outside.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Interruption {
    Cancelled,
    TimedOut,
}

/// Carries out one call. Always returns, within the tool's time and the bounds.
pub(crate) async fn run_call(
    provider: Arc<dyn ToolProvider>,
    spec: ToolSpec,
    invocation: Invocation,
    progress: ProgressSink,
    cancelled: CancellationToken,
    bounds: CallBounds,
) -> ToolOutcome {
    let mut running = AssertUnwindSafe(provider.invoke(invocation.clone(), progress)).catch_unwind().map(|ended| {
        ended.unwrap_or_else(|_| {
            ToolOutcome::failure(FailureKind::Internal, "the tool's provider failed in an unforeseen way")
        })
    });
    let interruption = tokio::select! {
        biased;
        outcome = &mut running => return settled(outcome, &spec),
        () = cancelled.cancelled() => Interruption::Cancelled,
        () = tokio::time::sleep(invocation.timeout) => Interruption::TimedOut,
    };
    let seconds = invocation.timeout.as_secs_f64();
    if spec.cancel == CancelMode::Drop {
        return match interruption {
            Interruption::Cancelled => ToolOutcome::cancelled(HaltState::AtRest, "it was cancelled"),
            Interruption::TimedOut => {
                ToolOutcome::failure(FailureKind::Timeout, format!("it gave no answer within {seconds} s"))
            }
        };
    }
    let halt = async {
        let halting = AssertUnwindSafe(provider.halt(&invocation)).catch_unwind();
        match tokio::time::timeout(bounds.halt_timeout, halting).await {
            Ok(Ok(state)) => state,
            Ok(Err(_)) | Err(_) => HaltState::Unconfirmed,
        }
    };
    let (state, returned) = {
        tokio::pin!(halt);
        // The call may return while it is being halted; that counts, and so does its own last word.
        let mut returned = None;
        let state = loop {
            tokio::select! {
                biased;
                state = &mut halt => break state,
                outcome = &mut running, if returned.is_none() => returned = Some(outcome),
            }
        };
        if returned.is_none() && state == HaltState::Halted {
            returned = tokio::time::timeout(bounds.return_grace, &mut running).await.ok();
        }
        (state, returned)
    };
    match (returned, interruption) {
        (Some(outcome), _) if outcome.is_success() => outcome,
        (Some(outcome), Interruption::Cancelled) => {
            ToolOutcome::cancelled(rest_after_return(&outcome, state), "it was cancelled")
        }
        (Some(outcome), Interruption::TimedOut) => {
            let halt = rest_after_return(&outcome, state);
            timed_out(seconds, halt)
        }
        (None, Interruption::Cancelled) => ToolOutcome::cancelled(state, "it was cancelled"),
        (None, Interruption::TimedOut) => timed_out(seconds, state),
    }
}

fn timed_out(seconds: f64, halt: HaltState) -> ToolOutcome {
    let what_then = match halt {
        HaltState::Unconfirmed => "told to halt, it did not confirm",
        HaltState::AtRest | HaltState::Halted => "it was halted",
    };
    ToolOutcome::failure(FailureKind::Timeout, format!("it did not end within {seconds} s; {what_then}"))
        .with_halt(halt)
}

/// A call that came back by itself has ended, even if nobody confirmed the halt; unless its component was lost.
fn rest_after_return(outcome: &ToolOutcome, halt: HaltState) -> HaltState {
    if halt == HaltState::Unconfirmed && outcome.status != OutcomeStatus::Failed(FailureKind::ComponentLost) {
        HaltState::Halted
    } else {
        halt
    }
}

/// What moves and has lost its component may still be moving.
fn settled(outcome: ToolOutcome, spec: &ToolSpec) -> ToolOutcome {
    let lost = outcome.status == OutcomeStatus::Failed(FailureKind::ComponentLost);
    if lost && spec.effect == ToolEffect::Move { outcome.with_halt(HaltState::Unconfirmed) } else { outcome }
}
