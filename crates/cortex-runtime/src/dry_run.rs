//! A rehearsal: what only looks is looked at, everything else is echoed. Nothing moves.

use std::sync::Arc;

use async_trait::async_trait;
use cortex_core::{CallObserver, Invocation, ToolProvider, Watching};
use cortex_protocol::{Effect, FailureKind, HaltState, ToolOutcome, ToolSpec};
use serde_json::json;
use tokio::sync::watch;

/// A provider whose acting tools do nothing and say so.
pub struct DryRun {
    provider: Arc<dyn ToolProvider>,
    tools: watch::Receiver<Arc<Vec<ToolSpec>>>,
}

impl DryRun {
    /// Rehearses with what `provider` offers; `tools` says which of its tools only look.
    #[must_use]
    pub fn new(provider: Arc<dyn ToolProvider>, tools: watch::Receiver<Arc<Vec<ToolSpec>>>) -> Self {
        Self { provider, tools }
    }

    fn only_looks(&self, invocation: &Invocation) -> Option<bool> {
        let tools = self.tools.borrow();
        let spec = tools.iter().find(|spec| spec.name == invocation.call.tool)?;
        // One that has changed since the call was made for it may act now.
        (spec.fingerprint() == invocation.fingerprint).then_some(spec.effect == Effect::Observe)
    }
}

#[async_trait]
impl ToolProvider for DryRun {
    fn label(&self) -> String {
        format!("{}, dry run", self.provider.label())
    }

    async fn invoke(&self, invocation: Invocation, observer: Arc<dyn CallObserver>) -> ToolOutcome {
        match self.only_looks(&invocation) {
            Some(true) => self.provider.invoke(invocation, observer).await,
            Some(false) => {
                observer.accepted();
                ToolOutcome::success(json!({"dry_run": true, "arguments": invocation.call.arguments}))
            }
            None => ToolOutcome::failure(
                FailureKind::Changed,
                format!("the tool '{}' has changed or is no longer there", invocation.call.tool),
            ),
        }
    }

    async fn halt(&self, invocation: &Invocation) -> HaltState {
        match self.only_looks(invocation) {
            Some(true) => self.provider.halt(invocation).await,
            Some(false) | None => HaltState::AtRest,
        }
    }

    fn has_others_call(&self) -> bool {
        self.provider.has_others_call()
    }

    fn watching(&self) -> Watching {
        // What is only said to be done leaves nothing to be seen.
        Watching::Rehearsal
    }
}
