//! One call of a tool: its time-out, its cancellation, and its one outcome.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use cortex_core::{CallObserver, Invocation, ToolProvider};
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

/// Carries out one call by its tool's word alone.
pub(crate) async fn carry_out(
    provider: Arc<dyn ToolProvider>,
    spec: ToolSpec,
    invocation: Invocation,
    observer: Arc<dyn CallObserver>,
    cancelled: CancellationToken,
    bounds: CallBounds,
) -> ToolOutcome {
    let mut running = AssertUnwindSafe(provider.invoke(invocation.clone(), observer)).catch_unwind().map(|ended| {
        let outcome = ended.unwrap_or_else(|_| {
            ToolOutcome::failure(FailureKind::Internal, "the tool's provider failed in an unforeseen way")
        });
        // Evidence is what is seen here, not what a provider says.
        ToolOutcome { evidence: Vec::new(), ..outcome }
    });
    let interruption = tokio::select! {
        biased;
        outcome = &mut running => return settled(outcome, &spec, halted(provider.as_ref(), &invocation, bounds)).await,
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
    let halt = halted(provider.as_ref(), &invocation, bounds);
    tokio::pin!(halt);
    // The call may return while it is being halted; that counts, and so does its own last word.
    let mut returned = None;
    let halt = loop {
        tokio::select! {
            biased;
            halt = &mut halt => break halt,
            outcome = &mut running, if returned.is_none() => returned = Some(outcome),
        }
    };
    if returned.is_none() && halt == Halt::Confirmed {
        returned = tokio::time::timeout(bounds.return_grace, &mut running).await.ok();
    }
    let rest = rest_after(halt, returned.as_ref());
    match (returned, interruption) {
        (Some(outcome), _) if outcome.is_success() => outcome,
        (Some(outcome), Interruption::Cancelled) if outcome.status == OutcomeStatus::NotBegun => outcome,
        (Some(outcome), Interruption::TimedOut) if outcome.status == OutcomeStatus::NotBegun => {
            let message = format!("it waited {seconds} s for its turn, and was not called");
            ToolOutcome::failure(FailureKind::Expired, message)
        }
        (_, Interruption::Cancelled) => ToolOutcome::cancelled(rest, "it was cancelled"),
        (_, Interruption::TimedOut) => timed_out(seconds, rest),
    }
}

/// What came of telling a call to halt.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Halt {
    /// It said that it is at rest.
    Confirmed,
    /// It said that it will not.
    Refused,
    /// It could not be told, or could not say.
    Unknown,
    /// It said nothing in time.
    Unanswered,
}

/// Tells a call to halt and waits for the answer, at most as long as the bounds allow.
async fn halted(provider: &dyn ToolProvider, invocation: &Invocation, bounds: CallBounds) -> Halt {
    let halting = AssertUnwindSafe(provider.halt(invocation)).catch_unwind();
    match tokio::time::timeout(bounds.halt_timeout, halting).await {
        Ok(Ok(HaltState::AtRest | HaltState::Halted)) => Halt::Confirmed,
        Ok(Ok(HaltState::Refused)) => Halt::Refused,
        Ok(Ok(HaltState::Unconfirmed) | Err(_)) => Halt::Unknown,
        Err(_) => Halt::Unanswered,
    }
}

/// What is known of rest after a halt. A call that came back by itself excuses a halt that was not answered, but not one
/// that failed, and only if its own last word does not say that it may go on.
fn rest_after(halt: Halt, returned: Option<&ToolOutcome>) -> HaltState {
    match (halt, returned) {
        (Halt::Confirmed, _) => HaltState::Halted,
        (Halt::Unanswered, Some(outcome)) if !may_go_on(outcome) => HaltState::Halted,
        (Halt::Refused, _) => HaltState::Refused,
        (Halt::Unanswered | Halt::Unknown, _) => HaltState::Unconfirmed,
    }
}

/// Whether what the call started may go on although the call has come back.
fn may_go_on(outcome: &ToolOutcome) -> bool {
    let abandoned = matches!(
        outcome.status,
        OutcomeStatus::Failed(FailureKind::ComponentLost | FailureKind::Unavailable | FailureKind::Internal)
    );
    abandoned || outcome.halt.may_go_on()
}

fn timed_out(seconds: f64, halt: HaltState) -> ToolOutcome {
    let what_then = match halt {
        HaltState::Refused => "told to halt, it refused",
        HaltState::Unconfirmed => "told to halt, it did not confirm",
        HaltState::AtRest | HaltState::Halted => "it was halted",
    };
    ToolOutcome::failure(FailureKind::Timeout, format!("it did not end within {seconds} s; {what_then}"))
        .with_halt(halt)
}

/// A call that came back by itself. If what it started may go on without it, it is told to halt all the same: a
/// component that was silent for a while, or one whose provider failed, may well hear it.
async fn settled(outcome: ToolOutcome, spec: &ToolSpec, halt: impl Future<Output = Halt>) -> ToolOutcome {
    let lost = matches!(outcome.status, OutcomeStatus::Failed(FailureKind::ComponentLost | FailureKind::Internal));
    let goes_on = outcome.halt.may_go_on() || (lost && spec.effect == ToolEffect::Move);
    if !goes_on || spec.cancel == CancelMode::Drop {
        return outcome;
    }
    let rest = rest_after(halt.await, None);
    outcome.with_halt(rest)
}
