//! What a robot of a story shows of itself: topics, parameters and the health of components.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::Duration;

use async_trait::async_trait;
use cortex_core::condition::{Age, Observation, at_path};
use cortex_core::{ConditionSource, ObservationStream};
use cortex_protocol::ToolCall;
use cortex_protocol::condition::Source;
use serde_json::Value;
use tokio::sync::watch;
use tokio::time::{Instant, interval_at};

/// How often what repeats itself is told.
const PERIOD: Duration = Duration::from_millis(500);

/// How something is told.
#[derive(Debug, Clone, PartialEq)]
enum Told {
    /// Again and again.
    Repeated(Value),
    /// Once, and kept for who comes late. `new`: how often it was told.
    Kept { value: Value, new: u64 },
    /// No more, although somebody is there to tell it.
    Silent,
}

/// What the robot shows, by the name of a topic, a parameter or a component. What has no name here is not there.
#[derive(Debug)]
pub struct FakeObservations {
    shown: watch::Sender<BTreeMap<String, Told>>,
    /// Topics that only repeat what is called.
    echoes: BTreeSet<String>,
}

impl Default for FakeObservations {
    fn default() -> Self {
        Self { shown: watch::Sender::new(BTreeMap::new()), echoes: BTreeSet::new() }
    }
}

impl FakeObservations {
    /// A robot with topics that only repeat what is called.
    #[must_use]
    pub fn with_echoes(echoes: impl IntoIterator<Item = String>) -> Self {
        Self { echoes: echoes.into_iter().collect(), ..Self::default() }
    }

    /// Tells this again and again from now on.
    pub fn repeat(&self, name: &str, value: Value) {
        self.tell(name, Told::Repeated(value));
    }

    /// Tells this once, and keeps it for who comes late.
    pub fn keep(&self, name: &str, value: Value) {
        let before = self.shown.borrow().get(name).cloned();
        let new = if let Some(Told::Kept { new, .. }) = before { new + 1 } else { 1 };
        self.tell(name, Told::Kept { value, new });
    }

    /// Tells nothing any more, but stays.
    pub fn silence(&self, name: &str) {
        self.tell(name, Told::Silent);
    }

    /// Is gone.
    pub fn remove(&self, name: &str) {
        self.shown.send_modify(|shown| {
            shown.remove(name);
        });
    }

    fn tell(&self, name: &str, told: Told) {
        self.shown.send_modify(|shown| {
            shown.insert(name.to_owned(), told);
        });
    }
}

#[async_trait]
impl ConditionSource for FakeObservations {
    async fn watch(&self, sources: BTreeSet<Source>) -> Box<dyn ObservationStream> {
        let mut shown = self.shown.subscribe();
        let now = shown.borrow_and_update().clone();
        let mut watch = FakeWatch {
            sources,
            known: now.clone(),
            shown,
            ticks: interval_at(Instant::now() + PERIOD, PERIOD),
            pending: VecDeque::new(),
        };
        for source in watch.sources.clone() {
            let is_kept = matches!(now.get(name(&source)), Some(Told::Kept { .. }));
            watch.tell(&source, is_kept);
        }
        Box::new(watch)
    }

    fn echo(&self, source: &Source, _call: &ToolCall) -> Option<String> {
        self.echoes.contains(name(source)).then(|| format!("{source} only repeats what is called"))
    }
}

struct FakeWatch {
    sources: BTreeSet<Source>,
    known: BTreeMap<String, Told>,
    shown: watch::Receiver<BTreeMap<String, Told>>,
    ticks: tokio::time::Interval,
    pending: VecDeque<(Source, Observation)>,
}

impl FakeWatch {
    fn tell(&mut self, source: &Source, kept: bool) {
        let observation = match self.known.get(name(source)) {
            None => Observation::Absent { reason: format!("nobody tells {source}") },
            Some(Told::Silent) => Observation::Silent,
            Some(Told::Repeated(value) | Told::Kept { value, .. }) => match field(source, value) {
                Some(value) => Observation::Value { value: value.clone(), kept, age: Age::Arrival },
                None => Observation::Unusable { reason: format!("there is no {source}") },
            },
        };
        self.pending.push_back((source.clone(), observation));
    }

    fn tell_where(&mut self, is_meant: impl Fn(&Self, &str) -> bool) {
        for source in self.sources.clone() {
            if is_meant(self, name(&source)) {
                self.tell(&source, false);
            }
        }
    }
}

#[async_trait]
impl ObservationStream for FakeWatch {
    async fn next(&mut self) -> (Source, Observation) {
        loop {
            if let Some(seen) = self.pending.pop_front() {
                return seen;
            }
            tokio::select! {
                biased;
                Ok(()) = self.shown.changed() => {
                    let before = std::mem::replace(&mut self.known, self.shown.borrow_and_update().clone());
                    self.tell_where(|watch, name| watch.known.get(name) != before.get(name));
                }
                _ = self.ticks.tick() => {
                    self.tell_where(|watch, name| matches!(watch.known.get(name), Some(Told::Repeated(_))));
                }
            }
        }
    }
}

/// What a source is called here.
fn name(source: &Source) -> &str {
    match source {
        Source::Topic { topic, .. } => topic,
        Source::Parameter { parameter } => parameter,
        Source::Component { component } => component.as_str(),
    }
}

fn field<'a>(source: &Source, value: &'a Value) -> Option<&'a Value> {
    match source {
        Source::Topic { field, .. } => at_path(value, field),
        Source::Parameter { .. } | Source::Component { .. } => Some(value),
    }
}
