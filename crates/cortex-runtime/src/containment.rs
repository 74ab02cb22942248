//! What is kept from the missions, as the monitor says; and the last look at it before a call is begun.
//!
//! A mission learns of a quarantine by an input, which may wait behind others. Nothing waits here: a call is begun only if
//! nothing speaks against it at that very moment.

use std::sync::Arc;

use async_trait::async_trait;
use cortex_core::{CallObserver, Containment, Invocation, ToolProvider, Watching};
use cortex_protocol::{FailureKind, HaltState, ToolOutcome};
use tokio::sync::watch;

use crate::offer::Offer;

/// A provider that begins no call which must not be begun.
pub(crate) struct Contained {
    pub(crate) provider: Arc<dyn ToolProvider>,
    pub(crate) containment: watch::Receiver<Containment>,
    pub(crate) offer: watch::Receiver<Arc<Offer>>,
}

impl Contained {
    /// Why the call must not be begun, if it must not. What can't be looked up is not begun either.
    fn refusal(&self, invocation: &Invocation) -> Option<String> {
        let containment = self.containment.borrow();
        if containment.is_empty() {
            return None;
        }
        let offer = self.offer.borrow();
        match offer.tools.get(&invocation.call.tool) {
            Some(spec) => containment.refusal(spec, &invocation.call),
            None => Some(format!("the tool '{}' is no longer there", invocation.call.tool)),
        }
    }
}

#[async_trait]
impl ToolProvider for Contained {
    fn label(&self) -> String {
        self.provider.label()
    }

    async fn invoke(&self, invocation: Invocation, observer: Arc<dyn CallObserver>) -> ToolOutcome {
        if let Some(because) = self.refusal(&invocation) {
            return ToolOutcome::failure(FailureKind::Unavailable, format!("it was not called: {because}"));
        }
        self.provider.invoke(invocation, observer).await
    }

    async fn halt(&self, invocation: &Invocation) -> HaltState {
        self.provider.halt(invocation).await
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
    use cortex_protocol::{CallId, Effect, ToolCall, ToolFingerprint, ToolPhase, ToolSpec};
    use cortex_testkit::{Behaviour, FakeTools, tool};
    use serde_json::{Map, Value};

    use super::*;
    use crate::ProviderId;

    #[tokio::test]
    async fn the_last_look_is_in_the_moment_of_the_call_whatever_was_decided_before() {
        let spec = ToolSpec { component: Some("arm".into()), ..tool("arm.wave", ToolPhase::Execution, Effect::Move) };
        let offer = Offer::default().rebuilt(&[(ProviderId(0), vec![spec])].into());
        let (containment, contained) = watch::channel(Containment::default());
        let (_offer, offer) = watch::channel(Arc::new(offer));
        let tools = Arc::new(FakeTools::new([("arm.wave", Behaviour::Returns(Value::Null))]));
        let guarded = Contained { provider: tools.clone(), containment: contained, offer };
        let call = |tool: &str| Invocation {
            mission: "mission".into(),
            id: CallId(1),
            call: ToolCall { tool: tool.into(), arguments: Map::new() },
            fingerprint: ToolFingerprint(0),
            timeout: std::time::Duration::from_secs(1),
        };
        assert!(guarded.invoke(call("arm.wave"), Arc::new(Unobserved)).await.is_success());
        containment.send_modify(|now| _ = now.quarantine("arm".into(), "it crashed"));
        let refused = guarded.invoke(call("arm.wave"), Arc::new(Unobserved)).await;
        assert_eq!(refused.message, "it was not called: arm is in quarantine: it crashed");
        let unknown = guarded.invoke(call("leg.kick"), Arc::new(Unobserved)).await;
        assert_eq!(unknown.message, "it was not called: the tool 'leg.kick' is no longer there");
        containment.send_modify(|now| _ = now.release(&"arm".into()));
        assert!(guarded.invoke(call("arm.wave"), Arc::new(Unobserved)).await.is_success());
        assert_eq!(tools.calls().len(), 2);
    }
}
