//! What the robot remembers and knows, joined to its runtime: offered as tools; the memory is fed, too, the skills are counted, and
//! both are shown to people.

use std::sync::Arc;

use cortex_core::{MemoryPort, ToolProvider};
use cortex_node::{IdentitySource, Operators, Remembering, SkillKeeper};
use cortex_protocol::ToolSpec;
use cortex_robot::Robot;
use cortex_runtime::{DryRun, ProviderHandle, Runtime};
use tokio::sync::watch;

use crate::context::{Kept, RobotSkills};

/// The memory at work, if there is one, and the tools that look up what else is on record.
pub(crate) struct RobotMemory {
    memory: Option<Parts>,
    skills: Option<RobotSkills>,
    /// Counts how well the skills work, and learns new ones.
    skill_keeper: Option<SkillKeeper>,
    identity: IdentitySource,
    /// Offered for as long as they live.
    _lookups: Vec<ProviderHandle>,
}

struct Parts {
    tools: ProviderHandle,
    remembering: Remembering,
    for_people: Arc<dyn MemoryPort>,
}

impl RobotMemory {
    /// Begins to remember and to count how well skills work, and offers the memory and what looks things up as tools. A rehearsal
    /// is no episode and tells nothing of a skill: nothing has happened.
    pub(crate) async fn begin(kept: Kept, robot: &Robot, runtime: &Runtime, dry_run: bool) -> Self {
        let Kept { lookups, memory, skills, identity } = kept;
        let mut handles = Vec::new();
        for (tools, specs) in lookups {
            handles.push(offered(runtime, tools, specs, dry_run).await);
        }
        let skill_keeper = skills.as_ref().filter(|_| !dry_run).and_then(|skills| skills.keep(runtime));
        let Some(memory) = memory else {
            return Self { memory: None, skills, skill_keeper, identity, _lookups: handles };
        };
        let (tools, for_people) = (memory.tools(), memory.for_people());
        let specs = tools.specs();
        let tools = offered(runtime, Arc::new(tools), specs, dry_run).await;
        let remembering = memory.remember(robot, (!dry_run).then_some(runtime));
        Self {
            memory: Some(Parts { tools, remembering, for_people }),
            skills,
            skill_keeper,
            identity,
            _lookups: handles,
        }
    }

    /// The same operators, shown what the robot remembers, its skills and who it is.
    pub(crate) fn shown_by(&self, operators: Operators) -> Operators {
        let identity = self.identity.clone();
        operators
            .with_memory(self.memory.as_ref().map(|parts| Arc::clone(&parts.for_people)))
            .with_skills(self.skills.clone().map(RobotSkills::for_people))
            .with_identity(move || identity.about())
    }

    /// Ends it, after the missions: their episodes end first, and what came of their skills is counted.
    pub(crate) async fn end(self) {
        if let Some(Parts { tools, remembering, .. }) = self.memory {
            tools.leave();
            remembering.end().await;
        }
        if let Some(keeper) = self.skill_keeper {
            keeper.end().await;
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
