//! The health that components report on `~/status`, which doubles as their heartbeat.
//!
//! A component that was killed stays on the graph until its lease ends, which takes the middleware some 20 s. Its
//! heartbeat tells sooner. Only a component that has sent one is held to it: who never does is judged by the graph
//! alone.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use cortex_core::fragment::capped;
use cortex_protocol::ComponentName;

use crate::statuses;

/// How often silence is looked for.
pub(crate) const LOOK: Duration = Duration::from_millis(100);
/// Looks without a heartbeat after which a component counts as lost: 3.5 s, three missed beats and a little.
///
/// Looks are counted rather than seconds, so that a pause of this process (a busy machine, a suspended laptop) is not
/// taken for the silence of all others.
const SILENT_LOOKS: u32 = 35;
/// Characters of a message and entries of a list that are kept.
const MESSAGE_CHARACTERS: usize = 500;
const SOURCES: usize = 20;

/// What a component says of its health.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Health {
    /// Which kind.
    pub(crate) status: HealthStatus,
    /// What is wrong, in words for a person.
    pub(crate) message: String,
    /// The algorithms, components or topics that it is about.
    pub(crate) sources: Vec<String>,
}

/// What a component last said of its health, for people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeardHealth {
    /// Whether it works as it should.
    pub is_healthy: bool,
    /// The kind of health and what is wrong, such as `ALGORITHM: no plan found`.
    pub message: String,
}

impl From<Health> for HeardHealth {
    fn from(health: Health) -> Self {
        let Health { status, message, sources } = health;
        let of = if sources.is_empty() { String::new() } else { format!(" ({})", sources.join(", ")) };
        Self { is_healthy: status == HealthStatus::Healthy, message: format!("{status}: {message}{of}") }
    }
}

/// Kinds of health.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum HealthStatus {
    /// Works as it should.
    Healthy,
    /// An algorithm inside fails.
    Algorithm,
    /// The component itself fails.
    Component,
    /// Something outside fails that it depends on.
    System,
    /// Fails for an unknown reason; also what is not in the contract.
    General,
}

impl fmt::Display for HealthStatus {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Healthy => "HEALTHY",
            Self::Algorithm => "ALGORITHM",
            Self::Component => "COMPONENT",
            Self::System => "SYSTEM",
            Self::General => "GENERAL",
        })
    }
}

impl From<&statuses::Health> for Health {
    fn from(said: &statuses::Health) -> Self {
        let status = match said.status {
            0 => HealthStatus::Healthy,
            1 => HealthStatus::Algorithm,
            2 => HealthStatus::Component,
            3 => HealthStatus::System,
            _ => HealthStatus::General,
        };
        let cut = |text: &String| capped(text, MESSAGE_CHARACTERS);
        let sources = said.sources.iter().take(SOURCES).map(cut).collect();
        Self { status, message: cut(&said.message), sources }
    }
}

/// The latest health of each component that is listened to.
#[derive(Debug, Default)]
pub(crate) struct Heartbeats {
    heard: Mutex<BTreeMap<ComponentName, Option<Beat>>>,
}

#[derive(Debug)]
struct Beat {
    health: Health,
    looks_since: u32,
}

impl Heartbeats {
    /// Listens to a component, from nothing.
    pub(crate) fn expect(&self, component: &ComponentName) {
        self.lock().insert(component.clone(), None);
    }

    /// Listens no longer.
    pub(crate) fn forget(&self, component: &ComponentName) {
        self.lock().remove(component);
    }

    /// A component was heard. Nobody's that is not listened to.
    pub(crate) fn beat(&self, component: &ComponentName, health: Health) {
        if let Some(latest) = self.lock().get_mut(component) {
            *latest = Some(Beat { health, looks_since: 0 });
        }
    }

    /// One look, [`LOOK`] after the last: whose heartbeat has stopped.
    pub(crate) fn look(&self) -> BTreeSet<ComponentName> {
        let mut heard = self.lock();
        let mut silent = BTreeSet::new();
        for (component, beat) in heard.iter_mut().filter_map(|(name, beat)| Some((name, beat.as_mut()?))) {
            beat.looks_since = beat.looks_since.saturating_add(1);
            if beat.looks_since > SILENT_LOOKS {
                silent.insert(component.clone());
            }
        }
        silent
    }

    /// What the component last said.
    pub(crate) fn health(&self, component: &ComponentName) -> Option<Health> {
        self.lock().get(component)?.as_ref().map(|beat| beat.health.clone())
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<ComponentName, Option<Beat>>> {
        self.heard.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn health(status: u8) -> Health {
        Health::from(&statuses::Health { status, message: "m".into(), sources: vec!["s".into()] })
    }

    #[test]
    fn silence_counts_only_after_a_first_heartbeat_and_ends_with_the_next() {
        let heartbeats = Heartbeats::default();
        let (base, light) = (ComponentName::from("base"), ComponentName::from("light"));
        heartbeats.expect(&base);
        heartbeats.expect(&light);
        heartbeats.beat(&base, health(0));
        for _ in 0..SILENT_LOOKS {
            assert_eq!(heartbeats.look(), BTreeSet::new());
        }
        assert_eq!(heartbeats.look(), BTreeSet::from([base.clone()]));
        heartbeats.beat(&base, health(0));
        assert_eq!(heartbeats.look(), BTreeSet::new());
    }

    #[test]
    fn a_component_that_came_back_starts_from_nothing_and_strangers_are_not_heard() {
        let heartbeats = Heartbeats::default();
        let base = ComponentName::from("base");
        heartbeats.beat(&base, health(0));
        assert_eq!(heartbeats.health(&base), None);
        heartbeats.expect(&base);
        heartbeats.beat(&base, health(0));
        heartbeats.forget(&base);
        heartbeats.expect(&base);
        assert_eq!(heartbeats.health(&base), None);
    }

    #[test]
    fn what_a_component_says_is_cut_and_unknown_kinds_are_not_healthy() {
        assert_eq!(
            health(0),
            Health { status: HealthStatus::Healthy, message: "m".to_owned(), sources: vec!["s".to_owned()] }
        );
        assert_eq!(health(200).status, HealthStatus::General);
        let loud = statuses::Health { status: 1, message: "m".repeat(10_000), sources: vec!["s".repeat(10_000); 1000] };
        let kept = Health::from(&loud);
        assert!(kept.message.chars().count() < 2 * MESSAGE_CHARACTERS);
        assert_eq!(kept.sources.len(), SOURCES);
    }
}
