//! The tools on offer: those of the registered providers, merged anew with every change.

use std::sync::Arc;

use cortex_protocol::ToolSpec;

use super::MissionQueue;
use crate::providers::ProviderId;
use crate::tool_registry::Audience;

impl MissionQueue {
    /// Replaces the tools that a provider offers. A provider may have left since it sent them.
    pub(super) fn on_offer(&mut self, provider: ProviderId, audience: Audience, tools: Vec<ToolSpec>) {
        let is_known = self.offered.get(&(audience, provider)) == Some(&tools);
        if is_known || self.shared.providers.get(provider).is_none() {
            return;
        }
        self.offered.insert((audience, provider), tools);
        self.rebuild_offer();
    }

    /// Withdraws the tools of the providers that have left.
    pub(super) fn on_providers_changed(&mut self) {
        let before = self.offered.len();
        self.offered.retain(|(_, provider), _| self.shared.providers.get(*provider).is_some());
        if self.offered.len() < before {
            self.rebuild_offer();
        }
    }

    fn rebuild_offer(&self) {
        let registry = self.registry.borrow().rebuilt(&self.offered);
        for problem in &registry.problems {
            tracing::warn!("{problem}");
        }
        let before = self.registry.send_replace(Arc::new(registry));
        self.settle_what_came_back(&before);
    }
}
