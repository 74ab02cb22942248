//! The health of components, and the presence of any node.

use std::sync::Arc;
use std::time::Duration;

use cortex_core::condition::{Age, Observation};
use cortex_protocol::ComponentName;
use cortex_protocol::condition::Source;
use serde_json::Value;
use tokio::time::MissedTickBehavior;

use super::RobotConditionSource;
use super::latest::Latest;
use crate::directory::ComponentState;

/// How often it is looked: as often as heartbeats are.
const LOOK: Duration = crate::heartbeat::LOOK;
/// What a node is that says nothing of its health.
const PRESENT: &str = "present";

/// Tells of each component at every look.
pub(super) async fn follow(
    condition_source: RobotConditionSource,
    components: Vec<ComponentName>,
    latest: Arc<Latest>,
) {
    let mut looks = tokio::time::interval(LOOK);
    looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        looks.tick().await;
        for component in &components {
            let observation = look(&condition_source, component);
            latest.tell(Source::Component { component: component.clone() }, observation);
        }
    }
}

fn look(condition_source: &RobotConditionSource, name: &ComponentName) -> Observation {
    let seen = |health: &str| Observation::Value { value: Value::from(health), kept: false, age: Age::Arrival };
    let absent = |reason: String| Observation::Absent { reason };
    let directory = condition_source.topics.discovery.directory().borrow().clone();
    if let Some(component) = directory.component(name) {
        if component.state == ComponentState::Silent {
            return absent(format!("{name} {}", component.state));
        }
        let health = condition_source.topics.discovery.shared().heartbeats.health(name);
        return seen(&health.map_or_else(|| PRESENT.to_owned(), |health| health.status.to_string().to_lowercase()));
    }
    if super::is_there(&condition_source.topics.graph.current(), name.as_str()) {
        return seen(PRESENT);
    }
    absent(format!("{name} is not on the graph"))
}
