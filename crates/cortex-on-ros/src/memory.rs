//! What the robot remembers, joined to its runtime: offered as tools, fed, and shown to people.

use std::sync::Arc;

use cortex_core::{MemoryPort, ToolProvider};
use cortex_node::{OpenMemory, Remembering};
use cortex_robot::Robot;
use cortex_runtime::{DryRun, ProviderHandle, Runtime};
use tokio::sync::watch;

/// The memory at work. Empty where there is none.
pub(crate) struct RobotMemory(Option<Parts>);

struct Parts {
    tools: ProviderHandle,
    remembering: Remembering,
    for_people: Arc<dyn MemoryPort>,
}

impl RobotMemory {
    /// Begins to remember, and offers the memory as tools. A rehearsal is no episode: nothing has happened.
    pub(crate) async fn begin(memory: Option<OpenMemory>, robot: &Robot, runtime: &Runtime, dry_run: bool) -> Self {
        let Some(memory) = memory else { return Self(None) };
        let (tools, for_people) = (memory.tools(), memory.for_people());
        let specs = tools.specs();
        let tools: Arc<dyn ToolProvider> = if dry_run {
            let (_, known) = watch::channel(Arc::new(specs.clone()));
            Arc::new(DryRun::new(Arc::new(tools), known))
        } else {
            Arc::new(tools)
        };
        let tools = runtime.register(tools);
        tools.offer_tools(specs).await;
        let remembering = memory.remember(robot, (!dry_run).then_some(runtime));
        Self(Some(Parts { tools, remembering, for_people }))
    }

    /// The memory for people.
    pub(crate) fn for_people(&self) -> Option<Arc<dyn MemoryPort>> {
        self.0.as_ref().map(|parts| Arc::clone(&parts.for_people))
    }

    /// Ends it, after the missions: their episodes end first.
    pub(crate) async fn end(self) {
        if let Some(Parts { tools, remembering, .. }) = self.0 {
            tools.leave();
            remembering.end().await;
        }
    }
}
