//! `[incident]`: which messages are kept in memory for an incident.

use std::time::Duration;

use cortex_discovery_policy::{TopicChoice, TopicHistorySettings};
use serde::{Deserialize, Serialize};

/// Bytes of a megabyte.
const MEGABYTE: usize = 1_000_000;
/// Longest time, and most megabytes.
const MOST_SECONDS: f64 = 3_600.0;
const MOST_MEGABYTES: u32 = 4_096;

/// Which messages are kept.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct IncidentConfig {
    /// Globs on topics. None: nothing is kept.
    pub(crate) topics: Vec<String>,
    pub(crate) seconds: f64,
    pub(crate) max_mb: u32,
}

impl Default for IncidentConfig {
    fn default() -> Self {
        // Where the robot was, what it was sent, and what its nodes said: small messages that most robots have.
        let topics = ["/**/tf", "/**/tf_static", "/**/odom", "/**/cmd_vel", "/diagnostics", "/rosout"];
        Self { topics: topics.map(str::to_owned).into(), seconds: 60.0, max_mb: 16 }
    }
}

/// None: nothing is kept.
pub(super) fn settings(incident: &IncidentConfig) -> anyhow::Result<Option<TopicHistorySettings>> {
    let IncidentConfig { topics, seconds, max_mb } = incident;
    anyhow::ensure!(
        seconds.is_finite() && *seconds > 0.0 && *seconds <= MOST_SECONDS,
        "configuration: incident.seconds is {seconds}; it must be a number above 0 and at most {MOST_SECONDS}"
    );
    anyhow::ensure!(
        (1..=MOST_MEGABYTES).contains(max_mb),
        "configuration: incident.max_mb is {max_mb}; it must be at least 1 and at most {MOST_MEGABYTES}. To keep nothing, \
         set incident.topics = []"
    );
    let most_bytes = usize::try_from(*max_mb).unwrap_or(usize::MAX).saturating_mul(MEGABYTE);
    let choice = TopicChoice::new(topics).map_err(|problem| anyhow::anyhow!("configuration: incident.{problem}"))?;
    let reach = Duration::from_secs_f64(*seconds);
    Ok((!topics.is_empty()).then_some(TopicHistorySettings { topics: choice, reach, most_bytes }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(topics: &[&str], seconds: f64, max_mb: u32) -> anyhow::Result<bool> {
        let topics = topics.iter().map(|topic| (*topic).to_owned()).collect();
        settings(&IncidentConfig { topics, seconds, max_mb }).map(|settings| settings.is_some())
    }

    #[test]
    fn messages_are_kept_unless_no_topic_is_chosen() {
        assert!(settings(&IncidentConfig::default()).unwrap().is_some());
        assert!(!kept(&[], 60.0, 1).unwrap());
    }

    #[test]
    fn bounds_say_which_key_and_what_it_must_be() {
        for (topics, seconds, max_mb, said) in [
            (&["/odom"][..], 0.0, 1, "incident.seconds is 0; it must be"),
            (&["/odom"], f64::NAN, 1, "incident.seconds is NaN"),
            (&["/odom"], 3_601.0, 1, "at most 3600"),
            (&["/odom"], 1.0, 0, "incident.max_mb is 0; it must be"),
            (&["/odom"], 1.0, 5_000, "at most 4096"),
            (&["odom"], 1.0, 1, "incident.topics: 'odom' matches nothing"),
        ] {
            let problem = kept(topics, seconds, max_mb).unwrap_err().to_string();
            assert!(problem.contains(said), "{problem}");
        }
    }
}
