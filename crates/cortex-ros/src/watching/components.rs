//! The health of components, and the presence of any node.

use std::sync::Arc;
use std::time::Duration;

use cortex_core::condition::{Age, Sighting};
use cortex_protocol::ComponentName;
use cortex_protocol::condition::Source;
use serde_json::Value;
use tokio::time::MissedTickBehavior;

use super::RobotWatcher;
use super::latest::Latest;
use crate::directory::ComponentState;

/// How often it is looked: as often as heartbeats are.
const LOOK: Duration = crate::heartbeat::LOOK;
/// What a node is that says nothing of its health.
const PRESENT: &str = "present";

/// Tells of each component at every look.
pub(super) async fn follow(watcher: RobotWatcher, components: Vec<ComponentName>, latest: Arc<Latest>) {
    let mut looks = tokio::time::interval(LOOK);
    looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        looks.tick().await;
        for component in &components {
            let sighting = look(&watcher, component);
            latest.tell(Source::Component { component: component.clone() }, sighting);
        }
    }
}

fn look(watcher: &RobotWatcher, name: &ComponentName) -> Sighting {
    let seen = |health: &str| Sighting::Value { value: Value::from(health), kept: false, age: Age::Arrival };
    let absent = |reason: String| Sighting::Absent { reason };
    let directory = watcher.discovery.directory().borrow().clone();
    if let Some(component) = directory.component(name) {
        if component.state == ComponentState::Silent {
            return absent(format!("{name} {}", component.state));
        }
        let health = watcher.discovery.shared().heartbeats.health(name);
        return seen(&health.map_or_else(|| PRESENT.to_owned(), |health| health.status.to_string().to_lowercase()));
    }
    if super::is_there(&watcher.graph.current(), name.as_str()) {
        return seen(PRESENT);
    }
    absent(format!("{name} is not on the graph"))
}
