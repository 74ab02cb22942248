//! Who calls: twenty at a time, each one goal after the other.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};
use cortex_core::{CallObserver, Invocation};
use cortex_protocol::{CallId, MissionId, ToolCall, ToolName, ToolSpec};
use cortex_ros::{DiscoveredTools, RosTools};
use cortex_runtime::{CallBounds, run_call};
use cortex_stories::{Dice, PATIENCE, Robot};
use serde_json::json;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::record::Record;
use crate::servers::{KINDS, NAMESPACES};

/// How long a goal may take. Shorter than some servers need.
const GOAL_LIMIT: Duration = Duration::from_secs(6);
/// How long it may take to halt.
const HALT_LIMIT: Duration = Duration::from_secs(2);
/// By then a call has ended, whatever its server does; far beyond what is promised, on a machine that is busy.
const CALL_LIMIT: Duration = Duration::from_secs(30);
/// One in so many goals is cancelled.
const CANCELLED: u64 = 3;

/// Nobody listens to a soak's goals.
struct Silent;

impl CallObserver for Silent {
    fn accepted(&self) {}
    fn progressed(&self, _feedback: String) {}
}

/// The whole soak.
pub(crate) struct Soak {
    provider: Arc<RosTools>,
    tools: watch::Receiver<DiscoveredTools>,
    end: Instant,
    next: AtomicU32,
    record: Record,
}

impl Soak {
    pub(crate) fn new(robot: &Robot, end: Instant) -> Self {
        let (provider, tools) = (Arc::new(robot.tools.clone()), robot.discovery.tools());
        Self { provider, tools, end, next: AtomicU32::new(1), record: Record::default() }
    }

    pub(crate) fn record(&self) -> &Record {
        &self.record
    }

    /// Waits until every server was found.
    pub(crate) async fn wait_for_tools(&self) -> anyhow::Result<()> {
        let mut tools = self.tools.clone();
        let all = tools.wait_for(|tools| {
            NAMESPACES.iter().all(|namespace| KINDS.iter().all(|kind| find(tools, namespace, kind).is_some()))
        });
        tokio::time::timeout(PATIENCE, all).await.context("the servers never became tools")??;
        Ok(())
    }

    /// Sends one goal after the other until the time is over.
    pub(crate) async fn keep_calling(self: Arc<Self>, mut dice: Dice) -> anyhow::Result<()> {
        let mut tools = self.tools.clone();
        while Instant::now() < self.end {
            let namespace = dice.of(&NAMESPACES);
            // A death takes all of a process's goals with it: seldom enough that the others get somewhere.
            let kind = match dice.of(&KINDS) {
                "dies" if !dice.one_in(8) => "works",
                kind => kind,
            };
            let cancel_after = dice.one_in(CANCELLED).then(|| Duration::from_millis(dice.between(0, 1_500)));
            let spec = find(&tools.borrow_and_update(), namespace, kind);
            match spec {
                Some(spec) => self.call(spec, cancel_after).await?,
                // Its process was killed; when it is back, this changes.
                None => drop(tokio::time::timeout(Duration::from_secs(1), tools.changed()).await),
            }
        }
        Ok(())
    }

    async fn call(&self, spec: ToolSpec, cancel_after: Option<Duration>) -> anyhow::Result<()> {
        let order = self.next.fetch_add(1, Ordering::Relaxed);
        let Some(arguments) = json!({"order": order}).as_object().cloned() else { bail!("no object") };
        let invocation = Invocation {
            mission: MissionId::new("soak"),
            id: CallId(order),
            call: ToolCall { tool: spec.name.clone(), arguments },
            fingerprint: spec.fingerprint(),
            timeout: GOAL_LIMIT,
        };
        let cancelled = CancellationToken::new();
        let bounds = CallBounds { halt_timeout: HALT_LIMIT, ..CallBounds::default() };
        let tool = spec.name.clone();
        let call = run_call(self.provider.clone(), spec, invocation, Arc::new(Silent), cancelled.clone(), bounds);
        let cancelling = async {
            if let Some(after) = cancel_after {
                tokio::time::sleep(after).await;
                cancelled.cancel();
            }
            std::future::pending::<()>().await;
        };
        let ended = async {
            tokio::select! {
                outcome = call => outcome,
                () = cancelling => unreachable!("it waits for ever"),
            }
        };
        let outcome = tokio::time::timeout(CALL_LIMIT, ended)
            .await
            .with_context(|| format!("goal {order} of {tool} never ended"))?;
        self.record.add(u64::from(order), tool, cancel_after.is_some(), outcome)
    }
}

fn find(tools: &[ToolSpec], namespace: &str, kind: &str) -> Option<ToolSpec> {
    let name = ToolName::new(format!("send_goal_to_{namespace}/{kind}"));
    tools.iter().find(|tool| tool.name == name).cloned()
}
