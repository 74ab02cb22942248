//! Everything that the robot can do, as tools: methods of components, services, actions, topics, parameters.
//!
//! What a tool's name stands for is looked up when it is called, in what discovery knows then. Each kind of tool has a
//! module of its own, which also remembers its open calls, so that they can be halted.

mod component;
mod late;

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use cortex_core::{CallObserver, Invocation, ToolProvider};
use cortex_protocol::{FailureKind, HaltState, ToolOutcome, ToolSpec};
use serde_json::Value;
use tokio_util::task::TaskTracker;

use crate::inspection::{self, Inspector};
use crate::{Discovery, GraphWatch, RosError, RosNode};
use component::Components;

/// How long the tasks that wait for late answers may take to end.
const END_LIMIT: Duration = Duration::from_secs(1);

/// Offers what the robot can do. Clones share everything.
#[derive(Clone)]
pub struct RosTools {
    inspector: Arc<Inspector>,
    components: Arc<Components>,
    waiting: TaskTracker,
}

impl RosTools {
    /// The tools of what `discovery` finds.
    #[must_use]
    pub fn new(node: &RosNode, graph: &GraphWatch, discovery: &Discovery) -> Self {
        let waiting = TaskTracker::new();
        Self {
            inspector: Arc::new(Inspector::new(node, graph, discovery)),
            components: Arc::new(Components::new(discovery, &waiting)),
            waiting,
        }
    }

    /// What is known of a node of the robot, a Cortex component or not, as JSON in a stable order.
    ///
    /// # Errors
    /// [`RosError::UnknownNode`], with the names that there are.
    pub async fn inspect(&self, name: &str) -> Result<Value, RosError> {
        self.inspector.inspect(name).await
    }

    /// Ends what waits for late answers, within a bounded time. To be called after the node was shut down.
    pub async fn shut_down(&self) {
        self.waiting.close();
        if tokio::time::timeout(END_LIMIT, self.waiting.wait()).await.is_err() {
            tracing::debug!("some calls were never answered");
        }
    }

    async fn inspect_component(&self, invocation: &Invocation) -> ToolOutcome {
        let Some(name) = invocation.call.arguments.get("component").and_then(Value::as_str) else {
            return ToolOutcome::failure(FailureKind::InvalidArguments, "'component' must be the name of a component");
        };
        match self.inspect(name).await {
            Ok(report) => ToolOutcome::success(report),
            Err(problem @ RosError::UnknownNode { .. }) => {
                ToolOutcome::failure(FailureKind::NotFound, problem.to_string())
            }
            Err(problem) => ToolOutcome::failure(FailureKind::Unavailable, problem.to_string()),
        }
    }
}

#[async_trait]
impl ToolProvider for RosTools {
    fn label(&self) -> String {
        "ros".to_owned()
    }

    async fn invoke(&self, invocation: Invocation, _observer: Arc<dyn CallObserver>) -> ToolOutcome {
        if invocation.call.tool.as_str() == inspection::TOOL {
            return self.inspect_component(&invocation).await;
        }
        match self.components.route(&invocation) {
            Ok(route) => self.components.invoke(&invocation, route).await,
            Err(outcome) => outcome,
        }
    }

    async fn halt(&self, invocation: &Invocation) -> HaltState {
        self.components.halt(invocation).await.unwrap_or(HaltState::AtRest)
    }
}

/// The outcome of a call that was made for another version of the tool. None if it was made for this one.
fn changed(spec: &ToolSpec, invocation: &Invocation) -> Option<ToolOutcome> {
    (spec.fingerprint() != invocation.fingerprint).then(|| {
        let problem = format!("'{}' is no longer what it was when the call was planned; plan it anew", spec.name);
        ToolOutcome::failure(FailureKind::Changed, problem)
    })
}
