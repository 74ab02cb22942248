//! What `/diagnostics` says about components, also about those that know nothing of Cortex.
//!
//! An entry is about a component when its name begins with the component's (`base: motor`, `/base/motor`, `base`), or when
//! its hardware is called so. Of all that is said about one, the worst that is fresh counts.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use cortex_interfaces::{Message, WriteLimits, WriteOptions};
use cortex_protocol::ComponentName;
use serde_json::Value;

use super::{AGAIN, Level, Senses, Sign};
use crate::RosError;
use crate::dynamic::{Listening, Quality};

const TYPE: &str = "diagnostic_msgs/msg/DiagnosticArray";
const TOPIC: &str = "/diagnostics";
/// How much of one message is read.
const LIMITS: WriteLimits = WriteLimits { elements: 500, string_bytes: 300, binary_bytes: 0, total_bytes: 256 * 1_024 };
/// How long an entry counts: its publisher repeats it once a second.
const FRESH: Duration = Duration::from_secs(5);
/// Entries about one component that are kept.
const MOST_ENTRIES: usize = 64;

/// What is said about one component, by the names of the entries.
#[derive(Debug, Default)]
struct Said(BTreeMap<String, (Level, String, Instant)>);

impl Said {
    /// Takes an entry; gives the worst that is fresh now.
    fn note(&mut self, name: String, level: Level, message: String, now: Instant) -> (Level, String) {
        self.0.retain(|_, (_, _, at)| now.saturating_duration_since(*at) < FRESH);
        if self.0.len() < MOST_ENTRIES || self.0.contains_key(&name) {
            self.0.insert(name, (level, message.clone(), now));
        }
        let worst = self.0.iter().max_by_key(|(_, (level, _, _))| *level);
        let Some((name, (level, message, _))) = worst else { return (level, message) };
        (*level, format!("{name}: {message}"))
    }
}

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
    let said: Mutex<BTreeMap<ComponentName, Said>> = Mutex::default();
    let hear = move |message: &Message| {
        let options = WriteOptions { limits: LIMITS, base64_over: usize::MAX, ..WriteOptions::exact() };
        let written = message.view().to_json(&options).value;
        let mut said = said.lock().unwrap_or_else(PoisonError::into_inner);
        for entry in written.get("status").and_then(Value::as_array).into_iter().flatten() {
            let text = |key: &str| entry.get(key).and_then(Value::as_str).unwrap_or_default();
            let (name, hardware) = (text("name"), text("hardware_id"));
            // What this process says about others is no evidence about them.
            if is_about(name, &own_node) {
                continue;
            }
            for component in &components {
                if is_about(name, component.as_str()) || hardware.trim_start_matches('/') == component.as_str() {
                    let of = said.entry(component.clone()).or_default();
                    let (level, message) =
                        of.note(name.to_owned(), level(entry.get("level")), text("message").to_owned(), Instant::now());
                    tell(component, Sign::Diagnostic { level, message });
                }
            }
        }
    };
    senses.endpoints.listen(TOPIC, &interface, Quality::HEARS_ALL, hear).await
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
    fn the_worst_that_is_fresh_counts() {
        let mut said = Said::default();
        let now = Instant::now();
        let mut note = |name: &str, level, message: &str, after| {
            said.note(name.to_owned(), level, message.to_owned(), now + Duration::from_secs(after))
        };
        assert_eq!(note("base: motor", Level::Error, "hot", 0), (Level::Error, "base: motor: hot".to_owned()));
        assert_eq!(note("base: wheel", Level::Ok, "turns", 1).0, Level::Error, "a good entry does not hide a bad one");
        assert_eq!(note("base: motor", Level::Warning, "warm", 2), (Level::Warning, "base: motor: warm".to_owned()));
        assert_eq!(note("base: wheel", Level::Ok, "turns", 9).0, Level::Ok, "nobody says any more that it is warm");
        for number in 0..1_000 {
            note(&number.to_string(), Level::Ok, "", 9);
        }
        assert_eq!(said.0.len(), MOST_ENTRIES);
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
