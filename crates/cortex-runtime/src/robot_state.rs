//! What the rules of policy ask of the robot and of the time: watched all the while, so that it is known when a mission
//! begins, and handed to the missions when it changes. What was not told yet is unknown.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use chrono::Timelike;
use cortex_core::condition::{self, BoundCondition, Observations, Verdict};
use cortex_core::policy::{Policy, RobotState};
use cortex_core::{ConditionSource, ObservationStream, Watching};
use cortex_protocol::condition::Source;
use futures::FutureExt;
use serde_json::Map;
use tokio::sync::watch;
use tokio::time::Instant;
use tokio_util::sync::{CancellationToken, DropGuard};
use tokio_util::task::TaskTracker;

use crate::providers::{ProviderId, Providers, Registered};

/// A value is too old from this long after its time on: times are compared exactly.
const MOMENT: Duration = Duration::from_millis(1);
/// Sightings that are taken at once; a flood of them must not keep a verdict from being told.
const TAKEN_AT_ONCE: usize = 1_024;

/// The watch under way. Dropping it ends it.
pub(crate) struct StateWatch {
    state: watch::Receiver<RobotState>,
    token: CancellationToken,
    _end: DropGuard,
}

impl StateWatch {
    /// Begins to watch what the rules name, if they name anything.
    pub(crate) fn begin(policy: &Policy, providers: &Providers, tracker: &TaskTracker) -> Arc<Self> {
        let token = CancellationToken::new();
        let conditions = conditions(policy);
        let names_hours = policy.rules().any(|rule| rule.hours.is_some());
        let first = RobotState { conditions: Vec::new(), minute: names_hours.then(minute) };
        let (sender, state) = watch::channel(first);
        if names_hours || conditions.iter().any(Option::is_some) {
            let watching = WatchOfState { conditions, names_hours, sender };
            let (ended, providers) = (token.clone(), providers.watch());
            tracker.spawn(async move { ended.run_until_cancelled(watching.run(providers)).await });
        }
        Arc::new(Self { state, _end: token.clone().drop_guard(), token })
    }

    pub(crate) fn state(&self) -> watch::Receiver<RobotState> {
        self.state.clone()
    }

    pub(crate) fn end(&self) {
        self.token.cancel();
    }
}

/// The condition of each rule. None where a rule has none, or where it can't be evaluated without a call.
fn conditions(policy: &Policy) -> Vec<Option<BoundCondition>> {
    let rules = policy.rules();
    rules.map(|rule| rule.when.as_ref().and_then(|when| condition::bind(when, &Map::new()).ok())).collect()
}

fn earliest_watcher(providers: &Registered) -> Option<(ProviderId, Arc<dyn ConditionSource>)> {
    providers.iter().find_map(|(id, provider)| match provider.watching() {
        Watching::By(condition_source) => Some((*id, condition_source)),
        Watching::Nobody | Watching::Rehearsal => None,
    })
}

fn minute() -> u16 {
    let now = chrono::Local::now();
    u16::try_from(now.hour() * 60 + now.minute()).unwrap_or_default()
}

struct WatchOfState {
    conditions: Vec<Option<BoundCondition>>,
    names_hours: bool,
    sender: watch::Sender<RobotState>,
}

impl WatchOfState {
    /// Watches by the earliest provider that can, and begins anew whenever that is another one.
    async fn run(self, mut providers: watch::Receiver<Registered>) {
        loop {
            let condition_source = earliest_watcher(&providers.borrow_and_update());
            let watched = condition_source.as_ref().map(|(provider, _)| *provider);
            let is_other = |now: &Registered| earliest_watcher(now).map(|(provider, _)| provider) != watched;
            tokio::select! {
                biased;
                other = providers.wait_for(is_other) => if other.is_err() {
                    // The runtime has ended.
                    return;
                },
                () = self.watch(condition_source.map(|(_, condition_source)| condition_source)) => {}
            }
        }
    }

    async fn watch(&self, condition_source: Option<Arc<dyn ConditionSource>>) {
        let condition_source = condition_source.filter(|_| self.conditions.iter().any(Option::is_some));
        let started = Instant::now();
        let mut watch = match condition_source {
            Some(condition_source) => Some(condition_source.watch(self.sources()).await),
            None => None,
        };
        let mut observations = Observations::default();
        loop {
            let now = started.elapsed();
            self.tell(&observations, now);
            let bound = self.conditions.iter().flatten();
            let stale = bound.filter_map(|one| one.stale_after(&observations, now)).min();
            let stale = stale.and_then(|stale| started.checked_add(stale + MOMENT));
            tokio::select! {
                biased;
                () = until(stale) => {}
                () = next_minute(), if self.names_hours => {}
                (source, observation) = seen(&mut watch) => {
                    observations.see(source, observation, started.elapsed());
                    for _ in 0..TAKEN_AT_ONCE {
                        let Some((source, observation)) = seen(&mut watch).now_or_never() else { break };
                        observations.see(source, observation, started.elapsed());
                    }
                }
            }
        }
    }

    fn sources(&self) -> BTreeSet<Source> {
        let checks = self.conditions.iter().flatten().flat_map(|one| one.condition().checks());
        checks.map(|check| check.source.clone()).collect()
    }

    fn tell(&self, observations: &Observations, now: Duration) {
        let verdict = |one: &Option<BoundCondition>| match one {
            Some(condition) => condition.evaluate(observations, None, now).verdict,
            None => Verdict::Unknown,
        };
        let state = RobotState {
            conditions: self.conditions.iter().map(verdict).collect(),
            minute: self.names_hours.then(minute),
        };
        self.sender.send_if_modified(|known| {
            let is_new = *known != state;
            if is_new {
                *known = state;
            }
            is_new
        });
    }
}

async fn until(time: Option<Instant>) {
    match time {
        Some(time) => tokio::time::sleep_until(time).await,
        None => std::future::pending().await,
    }
}

async fn next_minute() {
    let left = 60 - u64::from(chrono::Local::now().second().min(59));
    tokio::time::sleep(Duration::from_secs(left)).await;
}

async fn seen(watch: &mut Option<Box<dyn ObservationStream>>) -> (Source, cortex_core::condition::Observation) {
    match watch {
        Some(watch) => watch.next().await,
        None => std::future::pending().await,
    }
}

#[cfg(test)]
mod tests {
    use cortex_core::policy::PolicySettings;
    use cortex_testkit::{FakeObservations, FakeTools};
    use serde_json::json;
    use tokio::sync::mpsc;

    use super::*;
    use crate::provider_handle::ProviderHandle;

    /// A provider that shows so much of the battery.
    fn shows(percentage: f64, providers: &Arc<Providers>) -> ProviderHandle {
        let shown = Arc::new(FakeObservations::default());
        shown.repeat("/battery", json!({"percentage": percentage}));
        let provider = Arc::new(FakeTools::new([]).watched(shown));
        ProviderHandle::register(provider, Arc::clone(providers), mpsc::channel(1).0)
    }

    #[tokio::test(start_paused = true)]
    async fn the_robot_is_watched_by_the_earliest_provider_that_is_registered() {
        let when = json!({"topic": "/battery", "field": "percentage", "less": 0.2});
        let rules = json!([{"then": "deny", "tools": ["base.go"], "when": when}]);
        let rules = serde_json::from_value(rules).unwrap();
        let policy = Policy::new(PolicySettings { rules, ..PolicySettings::default() }).unwrap();
        let providers = Arc::new(Providers::default());
        let watch = StateWatch::begin(&policy, &providers, &TaskTracker::new());
        let mut state = watch.state();
        let mut becomes = async |verdict: Verdict| {
            let is_so = state.wait_for(|state| state.conditions == [verdict]);
            let in_time = tokio::time::timeout(Duration::from_secs(60), is_so).await;
            assert!(in_time.is_ok_and(|told| told.is_ok()), "it does not become {verdict:?}");
        };
        becomes(Verdict::Unknown).await;
        let full = shows(0.9, &providers);
        becomes(Verdict::Broken).await;
        let low = shows(0.1, &providers);
        tokio::time::sleep(Duration::from_secs(5)).await;
        becomes(Verdict::Broken).await;
        drop(full);
        becomes(Verdict::Holds).await;
        drop(low);
        becomes(Verdict::Unknown).await;
    }
}
