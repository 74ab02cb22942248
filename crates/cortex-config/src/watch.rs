//! `[watchdog]` and `[metrics]`: how Cortex watches itself, and shows itself to others.

use std::net::SocketAddr;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::seconds;

/// Loops beat at least every two seconds; a shorter limit would take some for hanging that are not.
const SHORTEST_HANG_S: f64 = 3.0;

/// How Cortex watches its own loops.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct WatchdogConfig {
    pub(crate) timeout_s: f64,
}

impl Default for WatchdogConfig {
    fn default() -> Self {
        Self { timeout_s: 5.0 }
    }
}

/// Where figures are served for Prometheus.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct MetricsConfig {
    /// Empty: nowhere.
    pub(crate) listen: String,
}

/// What of both is used.
#[derive(Debug, Clone)]
pub struct WatchSettings {
    /// How long a loop may hang.
    pub hang: Duration,
    /// Where figures are served.
    pub metrics: Option<SocketAddr>,
}

pub(super) fn settings(watchdog: &WatchdogConfig, metrics: &MetricsConfig) -> anyhow::Result<WatchSettings> {
    let hang = seconds("watchdog.timeout_s", watchdog.timeout_s)?;
    anyhow::ensure!(
        watchdog.timeout_s >= SHORTEST_HANG_S,
        "configuration: watchdog.timeout_s is {}; it must be at least {SHORTEST_HANG_S}",
        watchdog.timeout_s
    );
    let listen = metrics.listen.trim();
    let metrics = if listen.is_empty() {
        None
    } else {
        Some(listen.parse().map_err(|_| {
            anyhow::anyhow!(
                "configuration: metrics.listen is '{listen}'; it must be an address and a port, such as 127.0.0.1:9464"
            )
        })?)
    };
    Ok(WatchSettings { hang, metrics })
}
