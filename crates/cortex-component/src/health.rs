//! What the component reports on `~/status`.

use std::collections::BTreeMap;
use std::sync::Arc;

use cortex_ros_client::messages::cortex_msgs::msg::ComponentStatus;
use cortex_ros_client::text::carried;
use tokio::sync::watch;

use crate::lifecycle::State;

/// How bad it is; the worst of several problems is reported. In the order of severity.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Health {
    /// An algorithm inside the component fails; the component itself works.
    Algorithm,
    /// Something outside fails that the component depends on: another component, a topic, a device.
    System,
    /// Fails for a reason that is not known.
    General,
    /// The component itself fails.
    Component,
}

impl Health {
    fn status(self) -> u8 {
        match self {
            Self::Algorithm => ComponentStatus::ALGORITHM as u8,
            Self::System => ComponentStatus::SYSTEM as u8,
            Self::General => ComponentStatus::GENERAL as u8,
            Self::Component => ComponentStatus::COMPONENT as u8,
        }
    }
}

type Problems = BTreeMap<String, (Health, String)>;

/// Takes the problems of a component, each under the name of its source, until they are cleared. Clones share it.
#[derive(Debug, Clone)]
pub struct HealthReporter {
    problems: Arc<watch::Sender<Problems>>,
}

impl HealthReporter {
    pub(crate) fn new() -> Self {
        Self { problems: Arc::new(watch::Sender::new(Problems::new())) }
    }

    /// Reports a problem. `source` names the algorithm, component or topic that it is about; a later report of the same
    /// source replaces it.
    pub fn report(&self, source: &str, health: Health, message: impl Into<String>) {
        let message = message.into();
        self.problems.send_if_modified(|problems| {
            let problem = (health, message);
            let changed = problems.get(source) != Some(&problem);
            problems.insert(source.to_owned(), problem);
            changed
        });
    }

    /// Takes the problem of that source back.
    pub fn clear(&self, source: &str) {
        self.problems.send_if_modified(|problems| problems.remove(source).is_some());
    }

    pub(crate) fn watch(&self) -> watch::Receiver<Problems> {
        self.problems.subscribe()
    }

    /// The message for `~/status`, without its stamp.
    pub(crate) fn status(&self, state: State) -> ComponentStatus {
        let problems = self.problems.borrow();
        let worst = problems.values().map(|(health, _)| *health).max();
        let mut words: Vec<&str> = problems.values().map(|(_, message)| message.as_str()).collect();
        let at_work = format!("the component is {state}");
        if state != State::Active {
            words.push(&at_work);
        }
        ComponentStatus {
            status: worst.map_or(ComponentStatus::HEALTHY as u8, Health::status),
            message: carried(words.join("; ")),
            sources: problems.keys().map(carried).collect(),
            ..ComponentStatus::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worst_problem_counts_and_all_are_told() {
        let health = HealthReporter::new();
        assert_eq!(health.status(State::Active), ComponentStatus::default(), "healthy, nothing to say");
        health.report("/odom", Health::System, "no odometry for 3 s");
        health.report("go_to", Health::Component, "go_to panicked");
        assert_eq!(
            health.status(State::Inactive),
            ComponentStatus {
                status: 2,
                message: "no odometry for 3 s; go_to panicked; the component is inactive".to_owned(),
                sources: vec!["/odom".to_owned(), "go_to".to_owned()],
                ..ComponentStatus::default()
            }
        );
        health.clear("go_to");
        assert_eq!(health.status(State::Active).status, 3);
    }

    #[test]
    fn a_repeated_report_is_no_change() {
        let health = HealthReporter::new();
        let mut changes = health.watch();
        health.report("a", Health::Algorithm, "slow");
        assert!(changes.has_changed().unwrap());
        changes.mark_unchanged();
        health.report("a", Health::Algorithm, "slow");
        health.clear("b");
        assert!(!changes.has_changed().unwrap());
    }
}
