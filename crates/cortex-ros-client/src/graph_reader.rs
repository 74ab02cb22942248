//! Reads the ROS graph piece by piece, what matters most first: a look at who is there costs little, however large the
//! robot is, while asking every node what it offers takes tens of milliseconds for a few hundred nodes.

mod duplicate_nodes;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::{Duration, Instant};

use crate::RosError;
use crate::graph::{Graph, GraphNode, InstanceId, Interface, NodeRole, fully_qualified, is_hidden};
use crate::graph_source::GraphSource;
use duplicate_nodes::{Listed, OfDuplicate};

/// How long a node that has just come is asked again at every look: its endpoints become known one by one.
const YOUNG: Duration = Duration::from_secs(1);

/// What has been read so far.
pub(crate) struct GraphReader {
    own_node: String,
    nodes: BTreeMap<Key, Known>,
    /// What only the second of two nodes of one name has.
    of_duplicates: BTreeMap<Key, OfDuplicate>,
    /// Those that are to be asked again, one after the other.
    due: VecDeque<Key>,
    is_stale: bool,
    is_changed: bool,
}

/// The name and the namespace of a node.
type Key = (String, String);

struct Known {
    node: GraphNode,
    /// What the middleware lists for the node's name.
    listed: Listed,
    since: Instant,
    /// Whether its log tells its instances apart. If not, one of its services has to, which is one more question.
    logs: bool,
    /// That service: always the same one, as each service has an identity of its own and they become known one by one.
    told_by: Option<String>,
}

impl GraphReader {
    /// Nothing has been read. `own_node` is the fully qualified name of the node of this process.
    pub(crate) fn new(own_node: &str) -> Self {
        Self {
            own_node: own_node.to_owned(),
            nodes: BTreeMap::new(),
            of_duplicates: BTreeMap::new(),
            due: VecDeque::new(),
            is_stale: false,
            is_changed: true,
        }
    }

    /// Something on the graph may be other than what was read.
    pub(crate) fn stale(&mut self) {
        self.is_stale = true;
    }

    /// Whether there is more to be read.
    pub(crate) fn is_reading(&self) -> bool {
        self.is_stale || !self.due.is_empty()
    }

    /// Sees who is there, and asks those that have come what they offer.
    pub(crate) fn look(&mut self, source: &impl GraphSource) -> Result<(), RosError> {
        let now = Instant::now();
        let (there, duplicates) = and_duplicates(source.nodes()?);
        let before = self.nodes.len();
        self.nodes.retain(|key, _| there.contains(key));
        self.is_changed |= self.nodes.len() != before;
        for key in there {
            let is_young = self.nodes.get(&key).is_none_or(|known| now.duration_since(known.since) < YOUNG);
            if is_young {
                self.ask(source, key)?;
            }
        }
        self.look_for_duplicates(source, &duplicates)?;
        let mut instances: BTreeMap<Key, BTreeSet<InstanceId>> = BTreeMap::new();
        for (name, namespace, instance) in source.instances()? {
            instances.entry((name, namespace)).or_default().insert(instance);
        }
        for (key, known) in self.nodes.iter_mut().filter(|(_, known)| known.node.role == NodeRole::Robot) {
            let now = instances.remove(key);
            if now.is_none() && !known.logs {
                continue;
            }
            known.logs = now.is_some();
            let now = now.unwrap_or_default();
            if known.node.instances != now {
                known.node.instances = now;
                self.is_changed = true;
            }
        }
        Ok(())
    }

    /// What the middleware does not tell when it is asked about the names that two nodes have.
    fn look_for_duplicates(&mut self, source: &impl GraphSource, duplicates: &BTreeSet<Key>) -> Result<(), RosError> {
        let of_duplicates = if duplicates.is_empty() {
            BTreeMap::new()
        } else {
            duplicate_nodes::look(source, duplicates, self.nodes.values().map(|known| &known.listed))?
        };
        let before = std::mem::replace(&mut self.of_duplicates, of_duplicates);
        let concerned: BTreeSet<Key> = before.keys().chain(self.of_duplicates.keys()).cloned().collect();
        for key in concerned {
            if before.get(&key) != self.of_duplicates.get(&key) && self.nodes.contains_key(&key) {
                self.ask(source, key)?;
            }
        }
        Ok(())
    }

    /// Asks the nodes that may have changed what they offer, for about as long as `limit`.
    pub(crate) fn read(&mut self, source: &impl GraphSource, limit: Duration) -> Result<(), RosError> {
        if self.due.is_empty() && std::mem::take(&mut self.is_stale) {
            self.due.extend(self.nodes.keys().cloned());
        }
        let begun = Instant::now();
        while let Some(key) = self.due.pop_front() {
            if self.nodes.contains_key(&key) {
                self.ask(source, key)?;
            }
            if begun.elapsed() >= limit {
                break;
            }
        }
        Ok(())
    }

    /// The picture, if it is another than when it was last taken.
    pub(crate) fn take_changed(&mut self) -> Option<Graph> {
        std::mem::take(&mut self.is_changed).then(|| Graph::new(self.nodes.values().map(|known| known.node.clone())))
    }

    fn ask(&mut self, source: &impl GraphSource, key: Key) -> Result<(), RosError> {
        let of_twin = self.of_duplicates.get(&key);
        let before = self.nodes.get(&key).map(|known| &known.node);
        let Some((mut node, listed)) = read_node(source, &key, &self.own_node, of_twin, before)? else {
            // A node that left between the questions is gone.
            self.is_changed |= self.nodes.remove(&key).is_some();
            return Ok(());
        };
        match self.nodes.get_mut(&key) {
            Some(known) => {
                known.listed = listed;
                if known.logs {
                    node.instances.clone_from(&known.node.instances);
                } else {
                    known.told_by = telling_service(&node, known.told_by.take());
                    node.instances = instances_by_service(source, &key, known.told_by.as_deref())?;
                }
                if known.node != node {
                    known.node = node;
                    self.is_changed = true;
                }
            }
            None => {
                let told_by = telling_service(&node, None);
                node.instances = instances_by_service(source, &key, told_by.as_deref())?;
                self.nodes.insert(key, Known { node, listed, since: Instant::now(), logs: false, told_by });
                self.is_changed = true;
            }
        }
        Ok(())
    }
}

/// The service that tells the instances of a node apart: the one that did so before, while the node offers it.
fn telling_service(node: &GraphNode, before: Option<String>) -> Option<String> {
    let is_offered = |name: &String| node.services.iter().any(|service| service.name == *name);
    before.filter(is_offered).or_else(|| Some(node.services.first()?.name.clone()))
}

/// The instances of a node that does not log: one that was killed, and its next run, for instance.
fn instances_by_service(
    source: &impl GraphSource,
    (name, namespace): &Key,
    service: Option<&str>,
) -> Result<BTreeSet<InstanceId>, RosError> {
    let Some(service) = service else { return Ok(BTreeSet::new()) };
    let servers = source.servers_of(service)?.into_iter();
    Ok(servers.filter(|(of, within, _)| (of, within) == (name, namespace)).map(|(_, _, instance)| instance).collect())
}

/// The node, and what the middleware lists for its name. None when it is gone. `before` is the node as it was when it was
/// last asked.
fn read_node(
    source: &impl GraphSource,
    key: &Key,
    own_node: &str,
    of_twin: Option<&OfDuplicate>,
    before: Option<&GraphNode>,
) -> Result<Option<(GraphNode, Listed)>, RosError> {
    let (name, namespace) = key;
    let full_name = fully_qualified(name, namespace);
    if is_hidden(&full_name) || full_name == own_node {
        return Ok(Some((GraphNode::new(full_name, NodeRole::Infrastructure), Listed::default())));
    }
    let services = source.services_of(name, namespace)?;
    let publishers = source.publishers_of(name, namespace)?;
    let subscriptions = source.subscriptions_of(name, namespace)?;
    let (Some(mut services), Some(mut publishers), Some(subscriptions)) = (services, publishers, subscriptions) else {
        return Ok(None);
    };
    let listed = Listed::of(&services, &publishers);
    if let Some(of_twin) = of_twin {
        add(&mut services, &of_twin.services, |_| Ok(true))?;
        add(&mut publishers, &of_twin.publishers, |_| Ok(true))?;
    }
    // A second node of the name may have come since the look, and the middleware answered for that one: what the first one
    // has is not gone.
    if let Some(before) = before {
        add(&mut services, &before.services, |service| duplicate_nodes::serves(source, key, service))?;
        add(&mut publishers, &before.publishers, |topic| duplicate_nodes::publishes(source, key, topic))?;
    }
    let node = GraphNode::new(full_name, NodeRole::Robot);
    Ok(Some((node.with_interfaces(services, publishers, subscriptions), listed)))
}

/// Adds what is not among them yet, where it is there.
fn add(
    known: &mut Vec<Interface>,
    others: &[Interface],
    is_there: impl Fn(&str) -> Result<bool, RosError>,
) -> Result<(), RosError> {
    for other in others {
        if !known.iter().any(|interface| interface.name == other.name) && is_there(&other.name)? {
            known.push(other.clone());
        }
    }
    Ok(())
}

/// Each name once, and those that two nodes have.
fn and_duplicates(all: Vec<Key>) -> (BTreeSet<Key>, BTreeSet<Key>) {
    let (mut names, mut duplicates) = (BTreeSet::new(), BTreeSet::new());
    for key in all {
        if names.contains(&key) {
            duplicates.insert(key);
        } else {
            names.insert(key);
        }
    }
    (names, duplicates)
}

#[cfg(test)]
mod tests;
