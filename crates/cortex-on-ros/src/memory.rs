//! What the robot remembers and knows, joined to its runtime: offered as tools; the memory is fed, too, and shown to people.

use std::sync::Arc;

use cortex_core::{MemoryPort, ToolProvider};
use cortex_node::{OpenMemory, Remembering};
use cortex_protocol::ToolSpec;
use cortex_robot::Robot;
use cortex_runtime::{DryRun, ProviderHandle, Runtime};
use tokio::sync::watch;

use crate::context::Lookups;

/// The memory at work, if there is one, and the tools that look up what else is on record.
pub(crate) struct RobotMemory {
    memory: Option<Parts>,
    /// Offered for as long as they live.
    _lookups: Vec<ProviderHandle>,
}

struct Parts {
    tools: ProviderHandle,
    remembering: Remembering,
    for_people: Arc<dyn MemoryPort>,
}

impl RobotMemory {
    /// Begins to remember, and offers the memory and what looks things up as tools. A rehearsal is no episode: nothing has
    /// happened.
    pub(crate) async fn begin(
        memory: Option<OpenMemory>,
        lookups: Lookups,
        robot: &Robot,
        runtime: &Runtime,
        dry_run: bool,
    ) -> Self {
        let mut handles = Vec::new();
        for (tools, specs) in lookups {
            handles.push(offered(runtime, tools, specs, dry_run).await);
        }
        let Some(memory) = memory else { return Self { memory: None, _lookups: handles } };
        let (tools, for_people) = (memory.tools(), memory.for_people());
        let specs = tools.specs();
        let tools = offered(runtime, Arc::new(tools), specs, dry_run).await;
        let remembering = memory.remember(robot, (!dry_run).then_some(runtime));
        Self { memory: Some(Parts { tools, remembering, for_people }), _lookups: handles }
    }

    /// The memory for people.
    pub(crate) fn for_people(&self) -> Option<Arc<dyn MemoryPort>> {
        self.memory.as_ref().map(|parts| Arc::clone(&parts.for_people))
    }

    /// Ends it, after the missions: their episodes end first.
    pub(crate) async fn end(self) {
        if let Some(Parts { tools, remembering, .. }) = self.memory {
            tools.leave();
            remembering.end().await;
        }
    }
}

/// Offers tools of Cortex' own. In a rehearsal only what looks is called.
async fn offered(
    runtime: &Runtime,
    tools: Arc<dyn ToolProvider>,
    specs: Vec<ToolSpec>,
    dry_run: bool,
) -> ProviderHandle {
    let tools: Arc<dyn ToolProvider> = if dry_run {
        let (_, known) = watch::channel(Arc::new(specs.clone()));
        Arc::new(DryRun::new(tools, known))
    } else {
        tools
    };
    let provider = runtime.register(tools);
    provider.offer_tools(specs).await;
    provider
}
