//! Ends what an earlier life of Cortex left when it was killed. Its tasks are lost, and told so; its goals that still run
//! are cancelled, its methods that were open are halted. Ending is the safe choice: nobody plans with them any more.
//!
//! Tasks wait until this is over, which is bounded. What refuses to halt, can't say, or is not found is named, and no task
//! begins on top of it until it has confirmed, or a person has looked (`~/resume`).

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use cortex_core::{CallObserver, Invocation, ToolProvider};
use cortex_protocol::overview::LostTask;
use cortex_protocol::{FailureKind, HaltState, ToolCall, ToolFingerprint, ToolName, ToolOutcome};
use futures::FutureExt;
use futures::future::join_all;
use tokio::sync::watch;

use crate::journal::OpenCall;
use crate::providers::Providers;
use crate::shared::Shared;
use crate::tool_registry::ToolRegistry;
use crate::unconfirmed_halts::GivenUp;

/// How long a tool of an earlier life may take to be found on the robot until tasks are refused because of it. That it is not
/// on offer does not say that it is at rest: its component may be slow to describe itself, may have another name now, or may be
/// kept from Cortex by the configuration.
const FIND_PATIENCE: Duration = Duration::from_secs(15);

/// Lost tasks that are shown, and characters of each.
const MOST_LOST: usize = 10;
const TASK_CHARACTERS: usize = 200;

/// What became of a call of an earlier life.
enum End {
    /// Nobody offers it.
    Absent,
    Ended(HaltState),
}

/// Opens the journal, ends what is in it, and comes back when that is done. What may still go on is among the unconfirmed halts.
pub(crate) async fn recover(shared: Arc<Shared>) {
    let earlier = match shared.journal.open().await {
        Ok(earlier) => earlier,
        Err(problem) => {
            tracing::warn!("what an earlier life of Cortex left can't be known: {problem}");
            return;
        }
    };
    let lost = earlier.missions.iter().take(MOST_LOST).map(|(mission, task)| LostTask {
        mission: mission.clone(),
        task: task.chars().take(TASK_CHARACTERS).collect(),
    });
    shared.lost_tasks.send_replace(Arc::new(lost.collect()));
    for (mission, task) in &earlier.missions {
        tracing::warn!(%mission, "a task was lost, because Cortex ended before it did: {task}");
        shared.journal.end_mission(mission).await;
    }
    join_all(earlier.calls.into_iter().map(|call| end(&shared, call))).await;
    shared.journal.written().await;
}

async fn end(shared: &Shared, call: OpenCall) {
    let OpenCall { mission, call: id, tool } = call;
    let invocation = Invocation {
        mission: mission.clone(),
        id,
        call: ToolCall { tool: tool.clone(), arguments: serde_json::Map::new() },
        fingerprint: ToolFingerprint(0),
        timeout: shared.config.calls.halt_timeout,
    };
    let end = match found(shared, &invocation).await {
        None => End::Absent,
        Some(provider) => End::Ended(ended(provider.as_ref(), &invocation, shared.config.calls.halt_timeout).await),
    };
    match end {
        End::Ended(HaltState::Halted) => {
            tracing::warn!(%mission, "{tool}, left running by an earlier life, was stopped");
        }
        End::Ended(HaltState::AtRest) => tracing::info!(%mission, "{tool}, left by an earlier life, had ended"),
        End::Ended(HaltState::Refused) => tracing::error!(%mission, "{tool}, left by an earlier life, refuses to halt"),
        End::Ended(HaltState::Unconfirmed) => {
            tracing::error!(%mission, "{tool}, left by an earlier life, did not confirm that it is at rest");
        }
        End::Absent => tracing::error!(
            %mission,
            "{tool}, left by an earlier life, is not on offer: whether it is at rest is not known"
        ),
    }
    if matches!(end, End::Ended(HaltState::AtRest | HaltState::Halted)) {
        shared.journal.end_call(&invocation);
    } else {
        let provider = OfEarlierLife { registry: shared.registry.clone(), providers: Arc::clone(&shared.providers) };
        // What it does is known as soon as its tool is on offer; what carried it out was a process of that life.
        let spec = shared.registry.borrow().get(&tool).cloned();
        let why = why(&end).to_owned();
        let (provider, process, timed_out) = (Arc::new(provider), None, false);
        shared.unconfirmed_halts.remember(GivenUp { provider, invocation, spec, process, why, timed_out });
    }
}

/// Why such a call is not known to be at rest.
fn why(end: &End) -> &'static str {
    match end {
        End::Absent => "an earlier life of Cortex left it, and nobody offers it now",
        End::Ended(HaltState::Refused) => "an earlier life of Cortex left it, and it refuses to halt",
        End::Ended(_) => "an earlier life of Cortex left it, and it did not confirm that it is at rest",
    }
}

/// Who carries the call out, once it is on offer.
async fn found(shared: &Shared, invocation: &Invocation) -> Option<Arc<dyn ToolProvider>> {
    let mut registry = shared.registry.clone();
    let tool = &invocation.call.tool;
    let there = registry.wait_for(|registry| registry.routes.contains_key(tool));
    let registry = tokio::time::timeout(FIND_PATIENCE, there).await.ok()?.ok()?.clone();
    route(&registry, &shared.providers, tool)
}

fn route(registry: &ToolRegistry, providers: &Providers, tool: &ToolName) -> Option<Arc<dyn ToolProvider>> {
    providers.get(*registry.routes.get(tool)?)
}

async fn ended(provider: &dyn ToolProvider, invocation: &Invocation, limit: Duration) -> HaltState {
    let ending = AssertUnwindSafe(provider.end_earlier(invocation)).catch_unwind();
    match tokio::time::timeout(limit, ending).await {
        Ok(Ok(state)) => state,
        Ok(Err(_)) | Err(_) => HaltState::Unconfirmed,
    }
}

/// Whoever carries out a tool at the time, asked for a call that it does not remember, because an earlier life made it.
struct OfEarlierLife {
    registry: watch::Receiver<Arc<ToolRegistry>>,
    providers: Arc<Providers>,
}

#[async_trait]
impl ToolProvider for OfEarlierLife {
    fn label(&self) -> String {
        "earlier life".to_owned()
    }

    async fn invoke(&self, _invocation: Invocation, _observer: Arc<dyn CallObserver>) -> ToolOutcome {
        ToolOutcome::failure(FailureKind::Denied, "what an earlier life called is not called again")
    }

    async fn halt(&self, invocation: &Invocation) -> HaltState {
        let provider = route(&self.registry.borrow(), &self.providers, &invocation.call.tool);
        match provider {
            Some(provider) => provider.end_earlier(invocation).await,
            None => HaltState::Unconfirmed,
        }
    }
}
