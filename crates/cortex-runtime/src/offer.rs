//! The tools of all providers, merged into one set.

use std::collections::BTreeMap;

use cortex_core::{ToolSet, ToolSetError};
use cortex_protocol::{ToolName, ToolSpec};

/// A provider's place in the list that the runtime was started with; of two tools with one name, the earlier provider's
/// is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct ProviderId(pub usize);

/// The tools on offer at one moment.
#[derive(Debug, Clone, Default)]
pub struct Offer {
    /// The tools.
    pub tools: ToolSet,
    /// Who carries out which.
    pub routes: BTreeMap<ToolName, ProviderId>,
    /// What had to be left out.
    pub problems: Vec<ToolSetError>,
}

impl Offer {
    /// The offer of all providers. Checks of unchanged tools are taken over from `self`.
    #[must_use]
    pub(crate) fn rebuilt(&self, offered: &BTreeMap<ProviderId, Vec<ToolSpec>>) -> Self {
        let all = offered.values().flatten().cloned();
        let (tools, problems) = self.tools.rebuilt(all);
        let mut routes = BTreeMap::new();
        for (provider, specs) in offered {
            for spec in specs {
                routes.entry(spec.name.clone()).or_insert(*provider);
            }
        }
        routes.retain(|name, _| tools.get(name).is_some());
        Self { tools, routes, problems }
    }
}
