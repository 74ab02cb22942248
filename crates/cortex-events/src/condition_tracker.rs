//! What is known of the conditions of all events, at the rate of the topics.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use cortex_core::condition::{self, Age, BoundCondition, Observation, Observations, UnknownArgument, Verdict};
use cortex_core::{ConditionSource, ObservationStream};
use cortex_monitor::events::EventInput;
use cortex_protocol::condition::{Condition, Source};
use cortex_recipe::{Event, EventName};
use serde_json::Map;

/// All conditions, and one watch for what they are about.
pub(super) struct ConditionTracker {
    watch: Box<dyn ObservationStream>,
    looks: BTreeMap<EventName, Look>,
    /// Who looks at what.
    lookers: BTreeMap<Source, Vec<EventName>>,
}

/// What one event looks at.
struct Look {
    when: BoundCondition,
    until: Option<BoundCondition>,
    /// Whether only what is heard counts, and not that nobody is there to be heard.
    is_silence: bool,
    observations: Observations,
    /// What was told last.
    told: (Verdict, Verdict),
    /// When something of it is too old, if nothing new is seen.
    stale_at: Option<Duration>,
}

impl ConditionTracker {
    /// Begins to watch.
    pub(super) async fn begin(recipe: &BTreeMap<EventName, Event>, condition_source: &dyn ConditionSource) -> Self {
        let mut looks = BTreeMap::new();
        let mut lookers: BTreeMap<Source, Vec<EventName>> = BTreeMap::new();
        for (name, event) in recipe {
            let (when, until) = (event.condition(), event.until());
            // The check of recipes refuses conditions that name arguments.
            let Ok(bound) = bound(&when) else { continue };
            let until = until.and_then(|until| bound_some(&until));
            let mut observations = Observations::default();
            observations.begin();
            let checks = bound.condition().checks();
            let more = until.iter().flat_map(|until| until.condition().checks());
            let sources: BTreeSet<Source> = checks.into_iter().chain(more).map(|check| check.source.clone()).collect();
            for source in sources {
                lookers.entry(source).or_default().push(name.clone());
            }
            let look = Look {
                when: bound,
                until,
                is_silence: event.silent_s.is_some(),
                observations,
                told: (Verdict::Unknown, Verdict::Unknown),
                stale_at: None,
            };
            looks.insert(name.clone(), look);
        }
        let watch = condition_source.watch(lookers.keys().cloned().collect()).await;
        Self { watch, looks, lookers }
    }

    /// What is known at the beginning: nothing.
    pub(super) fn first(&self) -> Vec<EventInput> {
        self.looks.iter().map(|(name, look)| input(name, look.told)).collect()
    }

    /// What is seen next. Dropping the future loses nothing.
    pub(super) async fn next(&mut self) -> (Source, Observation) {
        self.watch.next().await
    }

    /// Takes what was seen; tells what it changes.
    pub(super) fn see(&mut self, (source, observation): (Source, Observation), now: Duration) -> Vec<EventInput> {
        let mut inputs = Vec::new();
        for name in self.lookers.get(&source).into_iter().flatten() {
            let Some(look) = self.looks.get_mut(name) else { continue };
            let observation = match (&observation, look.is_silence) {
                (_, false) => observation.clone(),
                // Whoever says something is not silent, whatever the stamp says.
                (Observation::Value { value, kept, .. }, true) => {
                    Observation::Value { value: value.clone(), kept: *kept, age: Age::Arrival }
                }
                // Who leaves and comes back was not silent for longer than it was away.
                (Observation::Silent | Observation::Unusable { .. } | Observation::Absent { .. }, true) => continue,
            };
            look.observations.see(source.clone(), observation, now);
            inputs.extend(look.news(name, now));
        }
        inputs
    }

    /// When something is too old, if nothing new is seen until then.
    pub(super) fn stale_at(&self) -> Option<Duration> {
        self.looks.values().filter_map(|look| look.stale_at).min()
    }

    /// Looks at what has become too old.
    pub(super) fn look_again(&mut self, now: Duration) -> Vec<EventInput> {
        let stale = self.looks.iter_mut().filter(|(_, look)| look.stale_at.is_some_and(|at| at < now));
        stale.filter_map(|(name, look)| look.news(name, now)).collect()
    }

    /// From here on a change is one from what is seen now.
    pub(super) fn begin_anew(&mut self, name: &EventName, now: Duration) -> Option<EventInput> {
        let look = self.looks.get_mut(name)?;
        look.observations.begin();
        look.news(name, now)
    }

    /// What an event rests on, in words.
    pub(super) fn told(&self, name: &EventName, now: Duration) -> String {
        let look = self.looks.get(name);
        look.map(|look| look.when.evaluate(&look.observations, None, now).explanation).unwrap_or_default()
    }
}

impl Look {
    /// What is known now, if that is something else than was told.
    fn news(&mut self, name: &EventName, now: Duration) -> Option<EventInput> {
        let verdict = |condition: &BoundCondition| condition.evaluate(&self.observations, None, now).verdict;
        let known = (verdict(&self.when), self.until.as_ref().map_or(Verdict::Unknown, verdict));
        let stale = |condition: &BoundCondition| condition.stale_after(&self.observations, now);
        self.stale_at = stale(&self.when).into_iter().chain(self.until.as_ref().and_then(stale)).min();
        let is_new = known != std::mem::replace(&mut self.told, known);
        is_new.then(|| input(name, known))
    }
}

fn input(name: &EventName, (when, until): (Verdict, Verdict)) -> EventInput {
    EventInput::Seen { event: name.clone(), when, until }
}

fn bound(condition: &Condition) -> Result<BoundCondition, UnknownArgument> {
    condition::bind(condition, &Map::new())
}

fn bound_some(condition: &Condition) -> Option<BoundCondition> {
    bound(condition).ok()
}
