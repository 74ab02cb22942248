//! What stands in for the figures where Cortex is built without the feature `metrics`: nothing is counted, and nothing listens.

use std::net::SocketAddr;
use std::time::Duration;

use cortex_core::{ChatReply, ModelError};
use cortex_monitor::MonitorEvent;
use cortex_protocol::MissionEvent;
use cortex_protocol::overview::Overview;

/// Figures that nobody keeps.
#[derive(Clone, Default)]
pub struct Metrics;

impl Metrics {
    /// Counts nothing.
    pub fn new() -> Self {
        Self
    }

    /// Counts nothing.
    pub fn model_answered(&self, _took: Duration, _reply: &Result<ChatReply, ModelError>) {}

    /// Counts nothing.
    pub fn mission_event(&self, _event: &MissionEvent) {}

    /// Counts nothing.
    pub fn monitor_event(&self, _event: &MonitorEvent) {}

    /// Counts nothing.
    pub fn overview(&self, _overview: &Overview) {}
}

/// The endpoint that is not there.
pub struct Endpoint {
    /// Where it would listen.
    pub address: SocketAddr,
}

impl Endpoint {
    /// Refuses.
    ///
    /// # Errors
    /// Always: whoever names an address expects figures there.
    pub async fn start(address: SocketAddr, _metrics: Metrics) -> anyhow::Result<Self> {
        anyhow::bail!(
            "metrics.listen: nothing can be served on {address}, since this Cortex was built without metrics; take the key \
             out, or build it with the feature `metrics`"
        )
    }
}
