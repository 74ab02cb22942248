//! The last look at what is kept from the missions, as the monitor says, before a call is begun.
//!
//! A mission learns of a quarantine by an input, which may wait behind others. Nothing waits here: a call is begun only if
//! nothing speaks against it at that very moment.

use std::sync::Arc;

use async_trait::async_trait;
use cortex_core::{CallObserver, Containment, Invocation, ToolProvider, Watching};
use cortex_protocol::{FailureKind, HaltState, ToolOutcome, ToolSpec};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::leftovers::{Leftovers, ProcessLife};

/// The provider of one call, which it begins only if nothing speaks against it.
pub(crate) struct Contained {
    pub(crate) provider: Arc<dyn ToolProvider>,
    pub(crate) containment: watch::Receiver<Containment>,
    /// What is called.
    pub(crate) spec: ToolSpec,
    pub(crate) leftovers: Arc<Leftovers>,
    /// The process that carries it out, where its end is the end of the call.
    pub(crate) process: Option<ProcessLife>,
    /// Whether the call was halted and that process has ended: then nothing answers any more.
    pub(crate) has_ended: CancellationToken,
}

#[async_trait]
impl ToolProvider for Contained {
    fn label(&self) -> String {
        self.provider.label()
    }

    async fn invoke(&self, invocation: Invocation, observer: Arc<dyn CallObserver>) -> ToolOutcome {
        let refusal = self.containment.borrow().refusal(&self.spec, &invocation.call);
        if let Some(because) = refusal {
            return ToolOutcome::failure(FailureKind::Unavailable, format!("it was not called: {because}"));
        }
        tokio::select! {
            biased;
            outcome = self.provider.invoke(invocation, observer) => outcome,
            () = self.has_ended.cancelled() => {
                ToolOutcome::failure(FailureKind::ComponentLost, "the process of its component has ended")
            }
        }
    }

    async fn halt(&self, invocation: &Invocation) -> HaltState {
        let Some(process) = &self.process else { return self.provider.halt(invocation).await };
        // The provider first, so that what was not sent never will be.
        let state = tokio::select! {
            biased;
            state = self.provider.halt(invocation) => state,
            () = self.leftovers.ended(process) => HaltState::Unconfirmed,
        };
        if !state.may_go_on() || !self.leftovers.is_over(process) {
            return state;
        }
        self.has_ended.cancel();
        HaltState::AtRest
    }

    async fn end_earlier(&self, invocation: &Invocation) -> HaltState {
        self.provider.end_earlier(invocation).await
    }

    fn watching(&self) -> Watching {
        self.provider.watching()
    }
}

#[cfg(test)]
mod tests {
    use cortex_core::Unobserved;
    use cortex_protocol::{CallId, Effect, ToolCall, ToolFingerprint, ToolPhase};
    use cortex_testkit::{Behaviour, FakeTools, tool};
    use serde_json::{Map, Value};

    use super::*;

    #[tokio::test]
    async fn the_last_look_is_in_the_moment_of_the_call_whatever_was_decided_before() {
        let spec = ToolSpec { component: Some("arm".into()), ..tool("arm.wave", ToolPhase::Execution, Effect::Move) };
        let (containment, contained) = watch::channel(Containment::default());
        let tools = Arc::new(FakeTools::new([("arm.wave", Behaviour::Returns(Value::Null))]));
        let leftovers = Arc::default();
        let (process, has_ended) = (None, CancellationToken::new());
        let guarded =
            Contained { provider: tools.clone(), containment: contained, spec, leftovers, process, has_ended };
        let call = || Invocation {
            mission: "mission".into(),
            id: CallId(1),
            call: ToolCall { tool: "arm.wave".into(), arguments: Map::new() },
            fingerprint: ToolFingerprint(0),
            timeout: std::time::Duration::from_secs(1),
        };
        assert!(guarded.invoke(call(), Arc::new(Unobserved)).await.is_success());
        containment.send_modify(|now| _ = now.quarantine("arm".into(), "it crashed"));
        let refused = guarded.invoke(call(), Arc::new(Unobserved)).await;
        assert_eq!(refused.message, "it was not called: arm is in quarantine: it crashed");
        containment.send_modify(|now| _ = now.release(&"arm".into()));
        assert!(guarded.invoke(call(), Arc::new(Unobserved)).await.is_success());
        assert_eq!(tools.calls().len(), 2);
    }
}
