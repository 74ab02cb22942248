//! A call whose process has ended is over, whether or not anybody answers any more.

use std::sync::Arc;

use async_trait::async_trait;
use cortex_core::{CallObserver, Invocation, ToolProvider, Watching};
use cortex_protocol::{FailureKind, HaltState, ToolOutcome};
use tokio_util::sync::CancellationToken;

use crate::unconfirmed_halts::{ProcessLife, UnconfirmedHalts};

/// The provider of one call that ends with a process.
pub(crate) struct EndsWithProcess {
    pub(crate) provider: Arc<dyn ToolProvider>,
    pub(crate) unconfirmed_halts: Arc<UnconfirmedHalts>,
    /// The process that carries the call out.
    pub(crate) process: ProcessLife,
    /// Whether the call was halted and that process has ended: then nothing answers any more.
    pub(crate) has_ended: CancellationToken,
}

#[async_trait]
impl ToolProvider for EndsWithProcess {
    fn label(&self) -> String {
        self.provider.label()
    }

    async fn invoke(&self, invocation: Invocation, observer: Arc<dyn CallObserver>) -> ToolOutcome {
        tokio::select! {
            biased;
            outcome = self.provider.invoke(invocation, observer) => outcome,
            () = self.has_ended.cancelled() => {
                ToolOutcome::failure(FailureKind::ComponentLost, "the process of its component has ended")
            }
        }
    }

    async fn halt(&self, invocation: &Invocation) -> HaltState {
        // The provider first, so that what was not sent never will be.
        let state = tokio::select! {
            biased;
            state = self.provider.halt(invocation) => state,
            () = self.unconfirmed_halts.ended(&self.process) => HaltState::Unconfirmed,
        };
        if !state.may_go_on() || !self.unconfirmed_halts.is_over(&self.process) {
            return state;
        }
        self.has_ended.cancel();
        HaltState::AtRest
    }

    async fn ended(&self, invocation: &Invocation) {
        self.provider.ended(invocation).await;
    }

    async fn end_earlier(&self, invocation: &Invocation) -> HaltState {
        self.provider.end_earlier(invocation).await
    }

    fn watching(&self) -> Watching {
        self.provider.watching()
    }
}
