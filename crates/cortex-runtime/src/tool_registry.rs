//! The tools of all providers, merged into one set.

use std::collections::BTreeMap;

use cortex_core::{RemovedTools, ToolSet, ToolSetError};
use cortex_protocol::{ToolName, ToolSpec};

use crate::providers::ProviderId;

/// Who may call a tool. Of two tools with one name, the one for everyone is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Audience {
    /// Missions, and clients without one.
    Everyone,
    /// Only [`Runtime::call`](crate::Runtime::call): models are not told of it.
    Clients,
}

/// What the providers offer, each to whom. Of two tools with one name, the one of the earlier provider is used.
pub(crate) type Offered = BTreeMap<(Audience, ProviderId), Vec<ToolSpec>>;

/// The tools on offer at one moment.
#[derive(Debug, Clone, Default)]
pub struct ToolRegistry {
    /// The tools of missions.
    pub tools: ToolSet,
    /// Those that only clients may call.
    pub for_clients: ToolSet,
    /// Who carries out which.
    pub routes: BTreeMap<ToolName, ProviderId>,
    /// What had to be left out.
    pub problems: Vec<ToolSetError>,
    /// Tools of components that have left.
    pub(crate) removed: RemovedTools,
}

impl ToolRegistry {
    /// The offer of all providers. Checks of unchanged tools are taken over from `self`.
    #[must_use]
    pub(crate) fn rebuilt(&self, offered: &Offered) -> Self {
        let to = |wanted: Audience| {
            offered.iter().filter(move |((audience, _), _)| *audience == wanted).flat_map(|(_, specs)| specs)
        };
        let (tools, mut problems) = self.tools.rebuilt(to(Audience::Everyone).cloned());
        let is_free = |spec: &&ToolSpec| tools.get(&spec.name).is_none();
        let (for_clients, more) = self.for_clients.rebuilt(to(Audience::Clients).filter(is_free).cloned());
        problems.extend(more);
        let mut routes = BTreeMap::new();
        for ((_, provider), specs) in offered {
            for spec in specs {
                routes.entry(spec.name.clone()).or_insert(*provider);
            }
        }
        routes.retain(|name, _| tools.get(name).or_else(|| for_clients.get(name)).is_some());
        let mut removed = self.removed.clone();
        removed.note(&self.tools, &tools);
        Self { tools, for_clients, routes, problems, removed }
    }

    /// Tools of components that have left, for missions.
    #[must_use]
    pub fn removed(&self) -> &RemovedTools {
        &self.removed
    }

    /// A tool, whoever may call it.
    #[must_use]
    pub fn get(&self, tool: &ToolName) -> Option<&ToolSpec> {
        self.tools.get(tool).or_else(|| self.for_clients.get(tool))
    }
}
