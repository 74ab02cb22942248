//! Publishes the overview as JSON on `~/overview`, latched, and on `/diagnostics`.

use std::sync::Arc;
use std::time::Duration;

use cortex_protocol::overview::Overview;
use cortex_ros_client::clock::RosClock;
use cortex_ros_client::dynamic::Endpoints;
use cortex_ros_client::{JsonTopic, QosProfile, RosError};
use serde_json::json;
use tokio::time::{Instant, MissedTickBehavior};

use super::diagnostics::Reporter;
use super::{StatusCollector, TOPIC};

/// How often is looked whether something has changed; so often is it published at most.
const LOOK: Duration = Duration::from_millis(300);
/// How often it is published when nothing has changed, so that who reads it sees that Cortex goes on.
const RENEW: Duration = Duration::from_secs(2);

/// Publishes until the endpoints are shut down.
pub(super) async fn publish(collector: Arc<StatusCollector>, endpoints: Endpoints, clock: RosClock) {
    let topic = format!("{}/{TOPIC}", collector.node);
    let overviews =
        known(&topic, JsonTopic::create(&endpoints, &topic, "std_msgs/msg/String", QosProfile::TRANSIENT_LOCAL).await);
    let diagnostics =
        JsonTopic::create(&endpoints, "/diagnostics", "diagnostic_msgs/msg/DiagnosticArray", QosProfile::RELIABLE);
    let diagnostics = known("/diagnostics", diagnostics.await);
    let mut looks = tokio::time::interval(LOOK);
    looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut published: Option<(Overview, Instant)> = None;
    let mut reporter = Reporter::default();
    loop {
        looks.tick().await;
        let now = collector.overview();
        collector.sources.model.metrics().overview(&now);
        if let Some(diagnostics) = &diagnostics
            && let Some(message) = reporter.report(&now, clock.now_ns())
            && let Err(problem) = diagnostics.publish(&message)
        {
            tracing::debug!("{problem}");
        }
        let is_new = published
            .as_ref()
            .is_none_or(|(before, at)| at.elapsed() >= RENEW || Overview { at_ms: now.at_ms, ..before.clone() } != now);
        if let Some(overviews) = &overviews
            && is_new
        {
            let text = serde_json::to_string(&now).unwrap_or_default();
            if let Err(problem) = overviews.publish(&json!({"data": text})) {
                tracing::debug!("{problem}");
            }
            published = Some((now, Instant::now()));
        }
    }
}

/// What can't be published is told once, and Cortex goes on without it.
fn known(topic: &str, made: Result<JsonTopic, RosError>) -> Option<JsonTopic> {
    made.inspect_err(|problem| tracing::warn!("{topic} is not published: {problem}")).ok()
}
