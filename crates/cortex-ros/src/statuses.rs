//! What components say of their health on `~/status`: one reader for each component, for all who want to hear it.
//!
//! What is said is heard on the thread of the endpoints, so also when no task runs any more. A task sees to the readers:
//! each asks for as much as the publishers of its component offer. Most say it reliably and keep the last word for who
//! comes late, as the component contract has it; a component that has just come then is heard at once, and not only with
//! its next heartbeat. One that offers less would not be heard at all by a reader that asks for that.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use cortex_interfaces::{Interfaces, Message, WriteLimits, WriteOptions};
use cortex_protocol::ComponentName;
use cortex_ros_client::RosError;
use cortex_ros_client::dynamic::{Endpoints, Listening};
use cortex_ros_client::graph::{Graph, InstanceId};
use cortex_ros_client::load_interface::load_interface;
use cortex_ros_client::qos::{Durability, QosProfile, Reliability};
use serde_json::Value;
use tokio::sync::{Notify, watch};

use crate::directory::below;

const TYPE: &str = "cortex_msgs/msg/ComponentStatus";
/// Topic of a component's health, below its node.
const STATUS: &str = "status";
/// How much of it is read.
const LIMITS: WriteLimits = WriteLimits { elements: 20, string_bytes: 500, binary_bytes: 0, total_bytes: 16 * 1_024 };
/// What is asked for before it is known what is offered. Deep enough for all that is said between two looks.
const CONTRACT: QosProfile =
    QosProfile { reliability: Reliability::Reliable, durability: Durability::TransientLocal, depth: 10 };
/// The pause before something that can't be heard is tried again.
const AGAIN: Duration = Duration::from_secs(5);

/// What a component says of its health.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Health {
    /// The number in `cortex_msgs/msg/ComponentStatus`: 0 is healthy. Not every number means something.
    pub status: u8,
    /// What is wrong, in its words.
    pub message: String,
    /// What it is about: algorithms, components, topics.
    pub sources: Vec<String>,
}

impl Health {
    /// What can't be read is not healthy.
    fn read(message: &Message) -> Self {
        let written = message.view().to_json(&WriteOptions { limits: LIMITS, ..WriteOptions::exact() }).value;
        let text = |value: &Value| value.as_str().map(str::to_owned);
        let status = written.get("status").and_then(Value::as_u64).and_then(|status| u8::try_from(status).ok());
        let sources = written.get("sources").and_then(Value::as_array).into_iter().flatten();
        Self {
            status: status.unwrap_or(u8::MAX),
            message: written.get("message").and_then(text).unwrap_or_default(),
            sources: sources.filter_map(text).collect(),
        }
    }
}

/// Gets what a component says, and which publisher said it, on the thread of the endpoints: it must not wait for anything.
type Hear = Arc<dyn Fn(&Health, &InstanceId) + Send + Sync>;

/// Who wants to hear whom.
#[derive(Default)]
pub(crate) struct Statuses {
    hearers: Mutex<Hearers>,
    /// Rung when somebody wants to hear a component, or does not any more.
    changed: Notify,
}

#[derive(Default)]
struct Hearers {
    next: u64,
    of: BTreeMap<ComponentName, BTreeMap<u64, Hear>>,
}

/// A component is heard, until this is dropped.
pub(crate) struct Hearing {
    statuses: Arc<Statuses>,
    component: ComponentName,
    number: u64,
}

impl Drop for Hearing {
    fn drop(&mut self) {
        let mut hearers = self.statuses.lock();
        if let Some(of) = hearers.of.get_mut(&self.component) {
            of.remove(&self.number);
            if of.is_empty() {
                hearers.of.remove(&self.component);
            }
        }
        drop(hearers);
        self.statuses.changed.notify_one();
    }
}

impl Statuses {
    /// Gives `hear` all that the component says from now on, whether it is there yet or not.
    pub(crate) fn hear(
        self: &Arc<Self>,
        component: &ComponentName,
        hear: impl Fn(&Health, &InstanceId) + Send + Sync + 'static,
    ) -> Hearing {
        let mut hearers = self.lock();
        let number = hearers.next;
        hearers.next += 1;
        hearers.of.entry(component.clone()).or_default().insert(number, Arc::new(hear));
        drop(hearers);
        self.changed.notify_one();
        Hearing { statuses: Arc::clone(self), component: component.clone(), number }
    }

    fn tell(&self, component: &ComponentName, health: &Health, publisher: &InstanceId) {
        let hearers: Vec<Hear> =
            self.lock().of.get(component).into_iter().flat_map(BTreeMap::values).cloned().collect();
        // Without the lock: who hears may want to hear others.
        for hear in hearers {
            hear(health, publisher);
        }
    }

    fn wanted(&self) -> BTreeSet<ComponentName> {
        self.lock().of.keys().cloned().collect()
    }

    fn lock(&self) -> MutexGuard<'_, Hearers> {
        self.hearers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sees to the readers, for ever.
    pub(crate) async fn follow(
        self: Arc<Self>,
        endpoints: Endpoints,
        interfaces: Arc<Interfaces>,
        mut graph: watch::Receiver<Arc<Graph>>,
    ) {
        let mut readers = Readers { statuses: Arc::clone(&self), endpoints, interfaces, of: BTreeMap::new() };
        loop {
            let seen = Arc::clone(&graph.borrow_and_update());
            let again = match readers.renew(&self.wanted(), &seen).await {
                Ok(()) => None,
                Err(RosError::ShutDown) => return,
                Err(problem) => {
                    tracing::warn!("the health of components can't be heard: {problem}");
                    Some(AGAIN)
                }
            };
            tokio::select! {
                changed = graph.changed() => if changed.is_err() { return },
                () = self.changed.notified() => {}
                () = tokio::time::sleep(again.unwrap_or(AGAIN)), if again.is_some() => {}
            }
        }
    }
}

/// The readers there are.
struct Readers {
    statuses: Arc<Statuses>,
    endpoints: Endpoints,
    interfaces: Arc<Interfaces>,
    of: BTreeMap<ComponentName, Reader>,
}

struct Reader {
    quality: QosProfile,
    /// Who published it when it was last looked what is offered.
    publishers: Publishers,
    _listening: Listening,
}

/// The nodes that publish a topic, with their runs.
type Publishers = BTreeMap<String, BTreeSet<InstanceId>>;

impl Readers {
    /// Makes the readers that are missing, and those anew whose publishers now offer less or more.
    ///
    /// # Errors
    /// The first one; the others are made all the same, but after the shutdown.
    async fn renew(&mut self, wanted: &BTreeSet<ComponentName>, graph: &Graph) -> Result<(), RosError> {
        self.of.retain(|component, _| wanted.contains(component));
        let mut publishers = publishers(wanted, graph);
        let mut result = Ok(());
        for component in wanted {
            let there = publishers.remove(component).unwrap_or_default();
            if self.of.get(component).is_some_and(|reader| reader.publishers == there) {
                continue;
            }
            match self.renew_one(component, there).await {
                Err(RosError::ShutDown) => return Err(RosError::ShutDown),
                renewed => result = result.and(renewed),
            }
        }
        result
    }

    async fn renew_one(&mut self, component: &ComponentName, publishers: Publishers) -> Result<(), RosError> {
        let topic = below(component, STATUS);
        let offered = self.endpoints.offered(&topic)?;
        let quality = offered.into_iter().fold(CONTRACT, |quality, (reliability, durability)| QosProfile {
            reliability: if reliability == Reliability::BestEffort { reliability } else { quality.reliability },
            durability: if durability == Durability::Volatile { durability } else { quality.durability },
            ..quality
        });
        if let Some(reader) = self.of.get_mut(component).filter(|reader| reader.quality == quality) {
            reader.publishers = publishers;
            return Ok(());
        }
        let interface = load_interface(&self.interfaces, |interfaces| interfaces.message(TYPE)).await?;
        let (statuses, name) = (Arc::clone(&self.statuses), component.clone());
        let hear = move |message: &Message, publisher: &InstanceId| {
            statuses.tell(&name, &Health::read(message), publisher);
        };
        let listening = self.endpoints.listen_at_times(&topic, &interface, quality, hear).await?;
        self.of.insert(component.clone(), Reader { quality, publishers, _listening: listening });
        Ok(())
    }
}

/// Who publishes the health of these components.
fn publishers(wanted: &BTreeSet<ComponentName>, graph: &Graph) -> BTreeMap<ComponentName, Publishers> {
    let topics: BTreeMap<String, &ComponentName> =
        wanted.iter().map(|component| (below(component, STATUS), component)).collect();
    let mut found: BTreeMap<ComponentName, Publishers> = BTreeMap::new();
    for node in graph.nodes() {
        for component in node.publishers.iter().filter_map(|topic| topics.get(&topic.name)) {
            found.entry((*component).clone()).or_default().insert(node.name.clone(), node.instances.clone());
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use cortex_ros_client::graph::{GraphNode, Interface, NodeRole};

    fn health(message: &str) -> Health {
        Health { status: 0, message: message.to_owned(), sources: Vec::new() }
    }

    #[test]
    fn all_who_want_to_hear_a_component_are_told_until_they_do_not_any_more() {
        let statuses = Arc::new(Statuses::default());
        let told: Arc<Mutex<Vec<String>>> = Arc::default();
        let hear = |who: &'static str, component: &str| {
            let told = Arc::clone(&told);
            let tell =
                move |health: &Health, _: &InstanceId| told.lock().unwrap().push(format!("{who} {}", health.message));
            statuses.hear(&component.into(), tell)
        };
        let (one, other, _third) = (hear("one", "base"), hear("other", "base"), hear("third", "arm"));
        let publisher = InstanceId::new(&[1]);
        statuses.tell(&"base".into(), &health("fine"), &publisher);
        drop(one);
        statuses.tell(&"base".into(), &health("tired"), &publisher);
        drop(other);
        statuses.tell(&"base".into(), &health("asleep"), &publisher);
        assert_eq!(*told.lock().unwrap(), ["one fine", "other fine", "other tired"]);
        assert_eq!(statuses.wanted(), BTreeSet::from(["arm".into()]), "what nobody wants to hear is not read");
    }

    #[test]
    fn a_new_run_of_a_publisher_is_seen_and_who_publishes_something_else_does_not_count() {
        let node = |name: &str, topic: &str, run: u8| {
            let topic = Interface { name: topic.to_owned(), types: vec![TYPE.to_owned()] };
            let mut node =
                GraphNode::new(name.to_owned(), NodeRole::Robot).with_interfaces(Vec::new(), vec![topic], Vec::new());
            node.instances = BTreeSet::from([InstanceId::new(&[run])]);
            node
        };
        let wanted = BTreeSet::from(["base".into(), "arm".into()]);
        let of = |run| publishers(&wanted, &Graph::new([node("/base", "/base/status", run), node("/arm", "/odom", 1)]));
        assert_eq!(of(1).keys().collect::<Vec<_>>(), [&ComponentName::from("base")]);
        assert_eq!(of(1), of(1));
        assert_ne!(of(1), of(2));
    }
}
