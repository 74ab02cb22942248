//! What `/diagnostics` says about components, also about those that know nothing of Cortex.
//!
//! An entry is about a component when its name begins with the component's (`base: motor`, `/base/motor`, `base`), or when
//! its hardware is called so. Each is told with its name; how long it counts is the monitor's to say.

use cortex_interfaces::{Message, WriteLimits, WriteOptions};
use cortex_protocol::ComponentName;
use cortex_ros_client::dynamic::Listening;
use cortex_ros_client::{Names, QosProfile, RosError};
use serde_json::Value;

use super::{AGAIN, Level, Senses, Sign};

const TYPE: &str = "diagnostic_msgs/msg/DiagnosticArray";
const TOPIC: &str = "/diagnostics";
/// How much of one message is read.
const LIMITS: WriteLimits = WriteLimits { elements: 500, string_bytes: 300, binary_bytes: 0, total_bytes: 256 * 1_024 };
/// Tells of each entry.
pub(super) async fn follow(senses: Senses, own_node: String, components: Vec<ComponentName>) {
    loop {
        match listen(&senses, own_node.clone(), components.clone()).await {
            Ok(_heard) => return std::future::pending().await,
            Err(RosError::ShutDown) => return,
            Err(problem) => tracing::warn!("{TOPIC} can't be heard: {problem}"),
        }
        tokio::time::sleep(AGAIN).await;
    }
}

async fn listen(senses: &Senses, own_node: String, components: Vec<ComponentName>) -> Result<Listening, RosError> {
    let interface = senses.interface(|interfaces| interfaces.message(TYPE)).await?;
    let tell = senses.tell.clone();
    let topic = Names::of_process(&format!("/{own_node}")).topic(TOPIC)?;
    let hear = move |message: &Message| {
        let options = WriteOptions { limits: LIMITS, base64_over: usize::MAX, ..WriteOptions::exact() };
        let written = message.view().to_json(&options).value;
        for entry in written.get("status").and_then(Value::as_array).into_iter().flatten() {
            let text = |key: &str| entry.get(key).and_then(Value::as_str).unwrap_or_default();
            let (name, hardware) = (text("name"), text("hardware_id"));
            // What this process says about others is no evidence about them.
            if is_about(name, &own_node) {
                continue;
            }
            for component in &components {
                if is_about(name, component.as_str()) || hardware.trim_start_matches('/') == component.as_str() {
                    let (level, message) = (level(entry.get("level")), text("message").to_owned());
                    tell(component, Sign::Diagnostic { name: name.to_owned(), level, message });
                }
            }
        }
    };
    senses.endpoints.listen(&topic, &interface, QosProfile::BEST_EFFORT, hear).await
}

/// Whether the entry of this name is about the node of that name.
fn is_about(entry: &str, node: &str) -> bool {
    let rest = entry.trim_start_matches('/').strip_prefix(node);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with([':', '/', ' ']))
}

/// What is no level is an error. Bytes are written as numbers.
fn level(value: Option<&Value>) -> Level {
    match value.and_then(Value::as_u64) {
        Some(0) => Level::Ok,
        Some(1) => Level::Warning,
        Some(3) => Level::Stale,
        _ => Level::Error,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_is_about_the_node_that_its_name_begins_with() {
        for name in ["base", "/base", "base: motor", "/base/motor", "base motor"] {
            assert!(is_about(name, "base"), "{name}");
        }
        for name in ["", "bas", "baseline", "other: base", "/robot/base"] {
            assert!(!is_about(name, "base"), "{name}");
        }
    }

    #[test]
    fn a_level_that_there_is_not_is_an_error() {
        for (number, expected) in
            [(0, Level::Ok), (1, Level::Warning), (2, Level::Error), (3, Level::Stale), (9, Level::Error)]
        {
            assert_eq!(level(Some(&Value::from(number))), expected);
        }
        assert_eq!(level(None), Level::Error);
    }
}
