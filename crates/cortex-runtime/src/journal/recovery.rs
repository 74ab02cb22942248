//! Ends what an earlier life of Cortex left when it was killed. Its tasks are lost, and told so; its goals that still run
//! are cancelled, its methods that were open are halted. Ending is the safe choice: nobody plans with them any more.
//!
//! Tasks wait until this is over, which is bounded. What refuses to halt, or can't say, is named, and no task begins on top
//! of it until a person has looked (`~/resume`).

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use cortex_core::{CallObserver, Invocation, ToolProvider};
use cortex_protocol::{FailureKind, HaltState, ToolCall, ToolFingerprint, ToolOutcome};
use futures::FutureExt;
use futures::future::join_all;

use super::file::{JournalFile, Open};
use super::{Journal, OpenCall};
use crate::drive::Shared;

/// How long a tool of an earlier life may take to be found on the robot. A server that is not there by then carries nothing
/// out.
const FIND_PATIENCE: Duration = Duration::from_secs(15);
/// How long an earlier life may take to let go of the journal: it is being killed, maybe.
const LOCK_PATIENCE: Duration = Duration::from_secs(2);
const LOCK_PAUSE: Duration = Duration::from_millis(100);

/// What became of a call of an earlier life.
enum End {
    /// Its server is not there.
    Absent,
    Ended(HaltState),
}

/// Opens the journal, ends what is in it, and comes back when that is done. What may still go on is among the leftovers.
pub(crate) async fn recover(shared: Arc<Shared>) {
    let earlier = match shared.journal.open().await {
        Ok(earlier) => earlier,
        Err(problem) => {
            tracing::warn!("what an earlier life of Cortex left can't be known: {problem}");
            return;
        }
    };
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
    let (provider, end) = match found(shared, &invocation).await {
        None => (None, End::Absent),
        Some(provider) => {
            let state = ended(provider.as_ref(), &invocation, shared.config.calls.halt_timeout).await;
            (Some(provider), End::Ended(state))
        }
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
        End::Absent => tracing::warn!(
            %mission,
            "{tool}, left by an earlier life, is not on the robot: whether it is at rest is not known"
        ),
    }
    match (provider, end) {
        (Some(provider), End::Ended(state)) if state.may_go_on() => {
            shared.leftovers.remember(Arc::new(OfEarlierLife { provider }), invocation);
        }
        _ => shared.journal.end_call(&invocation),
    }
}

/// Who carries the call out, once it is on offer.
async fn found(shared: &Shared, invocation: &Invocation) -> Option<Arc<dyn ToolProvider>> {
    let mut offer = shared.offer.clone();
    let tool = &invocation.call.tool;
    let there = offer.wait_for(|offer| offer.routes.contains_key(tool));
    let offer = tokio::time::timeout(FIND_PATIENCE, there).await.ok()?.ok()?.clone();
    let provider = shared.providers.get(offer.routes.get(tool)?.0)?;
    Some(Arc::clone(provider))
}

async fn ended(provider: &dyn ToolProvider, invocation: &Invocation, limit: Duration) -> HaltState {
    let ending = AssertUnwindSafe(provider.end_earlier(invocation)).catch_unwind();
    match tokio::time::timeout(limit, ending).await {
        Ok(Ok(state)) => state,
        Ok(Err(_)) | Err(_) => HaltState::Unconfirmed,
    }
}

/// A provider of a call that it does not remember, because an earlier life made it.
struct OfEarlierLife {
    provider: Arc<dyn ToolProvider>,
}

#[async_trait]
impl ToolProvider for OfEarlierLife {
    fn label(&self) -> String {
        self.provider.label()
    }

    async fn invoke(&self, _invocation: Invocation, _observer: Arc<dyn CallObserver>) -> ToolOutcome {
        ToolOutcome::failure(FailureKind::Denied, "what an earlier life called is not called again")
    }

    async fn halt(&self, invocation: &Invocation) -> HaltState {
        self.provider.end_earlier(invocation).await
    }
}

impl Journal {
    /// Opens the file. Everything that is told before is not in it.
    pub(super) async fn open(&self) -> Result<Open, String> {
        let Some(settings) = self.kept.as_ref().map(|kept| Arc::clone(&kept.settings)) else {
            return Ok(Open::default());
        };
        self.job(move |place| {
            let began = std::time::Instant::now();
            let (file, earlier) = loop {
                match JournalFile::open(&settings) {
                    Err(problem)
                        if problem.kind() == std::io::ErrorKind::WouldBlock && began.elapsed() < LOCK_PATIENCE =>
                    {
                        std::thread::sleep(LOCK_PAUSE);
                    }
                    opened => break opened.map_err(|problem| format!("{}: {problem}", settings.file.display()))?,
                }
            };
            *place = Some(file);
            Ok(earlier)
        })
        .await
    }
}
