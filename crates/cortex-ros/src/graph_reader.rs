//! Reads the ROS graph piece by piece, what matters most first: a look at who is there costs little, however large the
//! robot is, while asking every node what it offers takes tens of milliseconds for a few hundred nodes.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::{Duration, Instant};

use crate::RosError;
use crate::graph::{Graph, GraphNode, InstanceId, Interface, NodeRole, fully_qualified, is_hidden};
use crate::graph_source::GraphSource;

/// How long a node that has just come is asked again at every look: its endpoints become known one by one.
const YOUNG: Duration = Duration::from_secs(1);

/// What has been read so far.
pub(crate) struct GraphReader {
    own_node: String,
    nodes: BTreeMap<Key, Known>,
    /// What only the second of two nodes of one name offers.
    of_twins: BTreeMap<Key, Vec<Interface>>,
    /// Those that are to be asked again, one after the other.
    due: VecDeque<Key>,
    is_stale: bool,
    is_changed: bool,
}

/// The name and the namespace of a node.
type Key = (String, String);

struct Known {
    node: GraphNode,
    /// The services that the middleware lists for the node's name.
    listed: BTreeSet<String>,
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
            of_twins: BTreeMap::new(),
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
        let (there, twins) = and_twins(source.nodes()?);
        let before = self.nodes.len();
        self.nodes.retain(|key, _| there.contains(key));
        self.is_changed |= self.nodes.len() != before;
        for key in there {
            let is_young = self.nodes.get(&key).is_none_or(|known| now.duration_since(known.since) < YOUNG);
            if is_young {
                self.ask(source, key)?;
            }
        }
        self.look_for_twins(source, &twins)?;
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

    /// The middleware is asked about nodes by name, and answers for one of two that share it. What the other one offers is
    /// found among the services that nobody seems to offer.
    fn look_for_twins(&mut self, source: &impl GraphSource, twins: &BTreeSet<Key>) -> Result<(), RosError> {
        let mut of_twins: BTreeMap<Key, Vec<Interface>> = BTreeMap::new();
        if !twins.is_empty() {
            let listed: BTreeSet<&str> =
                self.nodes.values().flat_map(|known| known.listed.iter().map(String::as_str)).collect();
            for service in source.services()? {
                if listed.contains(service.name.as_str()) {
                    continue;
                }
                let servers = source.servers_of(&service.name)?.into_iter();
                let servers: BTreeSet<Key> = servers.map(|(name, namespace, _)| (name, namespace)).collect();
                for twin in servers.intersection(twins) {
                    of_twins.entry(twin.clone()).or_default().push(service.clone());
                }
            }
        }
        let before = std::mem::replace(&mut self.of_twins, of_twins);
        let concerned: BTreeSet<Key> = before.keys().chain(self.of_twins.keys()).cloned().collect();
        for key in concerned {
            if before.get(&key) != self.of_twins.get(&key) && self.nodes.contains_key(&key) {
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
        let of_twin = self.of_twins.get(&key).map(Vec::as_slice).unwrap_or_default();
        let before = self.nodes.get(&key).map(|known| known.node.services.as_slice()).unwrap_or_default();
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

/// The node, and the services that the middleware lists for its name. None when it is gone. `before` is what it offered
/// when it was last asked.
fn read_node(
    source: &impl GraphSource,
    key: &Key,
    own_node: &str,
    of_twin: &[Interface],
    before: &[Interface],
) -> Result<Option<(GraphNode, BTreeSet<String>)>, RosError> {
    let (name, namespace) = key;
    let full_name = fully_qualified(name, namespace);
    if is_hidden(&full_name) || full_name == own_node {
        return Ok(Some((GraphNode::new(full_name, NodeRole::Infrastructure), BTreeSet::new())));
    }
    let services = source.services_of(name, namespace)?;
    let publishers = source.publishers_of(name, namespace)?;
    let subscriptions = source.subscriptions_of(name, namespace)?;
    let (Some(mut services), Some(publishers), Some(subscriptions)) = (services, publishers, subscriptions) else {
        return Ok(None);
    };
    let listed: BTreeSet<String> = services.iter().map(|service| service.name.clone()).collect();
    services.extend(of_twin.iter().filter(|service| !listed.contains(&service.name)).cloned());
    // A second node of the name may have come since the look, and the middleware answered for that one: what the first one
    // offers is not gone.
    for service in before {
        let is_there = services.iter().any(|offered| offered.name == service.name);
        if !is_there && is_served_by(source, key, &service.name)? {
            services.push(service.clone());
        }
    }
    let node = GraphNode::new(full_name, NodeRole::Robot);
    Ok(Some((node.with_interfaces(services, publishers, subscriptions), listed)))
}

/// Whether a node of that name serves it.
fn is_served_by(source: &impl GraphSource, (name, namespace): &Key, service: &str) -> Result<bool, RosError> {
    Ok(source.servers_of(service)?.iter().any(|(of, within, _)| (of, within) == (name, namespace)))
}

/// Each name once, and those that two nodes have.
fn and_twins(all: Vec<Key>) -> (BTreeSet<Key>, BTreeSet<Key>) {
    let (mut names, mut twins) = (BTreeSet::new(), BTreeSet::new());
    for key in all {
        if names.contains(&key) {
            twins.insert(key);
        } else {
            names.insert(key);
        }
    }
    (names, twins)
}

#[cfg(test)]
mod tests {
    use std::cell::{Cell, RefCell};

    use super::*;

    /// A middleware that counts the questions about nodes.
    #[derive(Default)]
    struct Fake {
        nodes: RefCell<BTreeMap<String, Vec<&'static str>>>,
        /// Nodes that are there a second time, with what only the second one offers.
        twins: RefCell<BTreeMap<String, &'static str>>,
        asked: Cell<usize>,
        /// Further runs of every node beside the first.
        runs: Cell<u8>,
        /// A second node has come that the list of nodes does not show yet: it answers for the first one.
        is_answered_by_twin: Cell<bool>,
    }

    impl Fake {
        fn with(nodes: impl IntoIterator<Item = String>) -> Self {
            Self { nodes: RefCell::new(nodes.into_iter().map(|name| (name, vec![])).collect()), ..Self::default() }
        }

        fn asked(&self) -> usize {
            self.asked.take()
        }
    }

    fn service(name: &&str) -> Interface {
        Interface { name: (*name).to_owned(), types: vec!["x/srv/Y".to_owned()] }
    }

    impl GraphSource for Fake {
        fn nodes(&self) -> Result<Vec<(String, String)>, RosError> {
            let (nodes, twins) = (self.nodes.borrow(), self.twins.borrow());
            let twins = twins.keys().filter(|_| !self.is_answered_by_twin.get());
            Ok(nodes.keys().chain(twins).map(|name| (name.clone(), "/".to_owned())).collect())
        }

        fn services(&self) -> Result<Vec<Interface>, RosError> {
            let (nodes, twins) = (self.nodes.borrow(), self.twins.borrow());
            let all = nodes.values().flatten().chain(twins.values()).chain(["/called/by/somebody"].iter());
            Ok(all.map(service).collect())
        }

        fn servers_of(&self, service: &str) -> Result<Vec<(String, String, InstanceId)>, RosError> {
            let (nodes, twins) = (self.nodes.borrow(), self.twins.borrow());
            let of_twins = twins.iter().filter(|(_, offered)| **offered == service).map(|(name, _)| (name, u8::MAX));
            let of_nodes = nodes.iter().filter(|(_, offered)| offered.contains(&service));
            let of_nodes = of_nodes.flat_map(|(name, _)| (0..=self.runs.get()).map(move |run| (name, run)));
            let servers = of_nodes.chain(of_twins);
            // Each end of each service has an identity of its own.
            let identity = |run| InstanceId::new(&[service.as_bytes(), &[run]].concat());
            Ok(servers.map(|(name, run)| (name.clone(), "/".to_owned(), identity(run))).collect())
        }

        fn instances(&self) -> Result<Vec<(String, String, InstanceId)>, RosError> {
            Ok(Vec::new())
        }

        fn services_of(&self, name: &str, _: &str) -> Result<Option<Vec<Interface>>, RosError> {
            self.asked.set(self.asked.get() + 1);
            let (nodes, twins) = (self.nodes.borrow(), self.twins.borrow());
            if let Some(offered) = twins.get(name).filter(|_| self.is_answered_by_twin.get()) {
                return Ok(Some(vec![service(offered)]));
            }
            Ok(nodes.get(name).map(|services| services.iter().map(service).collect()))
        }

        fn publishers_of(&self, _: &str, _: &str) -> Result<Option<Vec<Interface>>, RosError> {
            Ok(Some(Vec::new()))
        }

        fn subscriptions_of(&self, _: &str, _: &str) -> Result<Option<Vec<Interface>>, RosError> {
            Ok(Some(Vec::new()))
        }
    }

    /// A reader that has known the nodes for a while.
    fn grown_up(fake: &Fake) -> GraphReader {
        let mut reader = GraphReader::new("/me");
        reader.look(fake).unwrap();
        for known in reader.nodes.values_mut() {
            known.since = Instant::now().checked_sub(YOUNG).unwrap();
        }
        reader.take_changed().unwrap();
        fake.asked();
        reader
    }

    #[test]
    fn a_node_that_comes_is_seen_at_once_and_nobody_else_is_asked() {
        let fake = Fake::with((0..200).map(|number| format!("node_{number}")));
        let mut reader = grown_up(&fake);
        fake.nodes.borrow_mut().insert("late".to_owned(), vec!["/late/reset"]);
        reader.look(&fake).unwrap();
        assert_eq!(fake.asked(), 1);
        let graph = reader.take_changed().unwrap();
        assert_eq!(graph.node("late").unwrap().services.len(), 1);
        // Young, it is asked at each look, since it may not have been complete.
        fake.nodes.borrow_mut().insert("late".to_owned(), vec!["/late/reset", "/late/stop"]);
        reader.look(&fake).unwrap();
        assert_eq!(fake.asked(), 1);
        assert_eq!(reader.take_changed().unwrap().node("late").unwrap().services.len(), 2);
    }

    #[test]
    fn what_a_known_node_adds_is_found_when_its_turn_comes() {
        let fake = Fake::with((0..50).map(|number| format!("node_{number}")));
        let mut reader = grown_up(&fake);
        fake.nodes.borrow_mut().insert("node_7".to_owned(), vec!["/node_7/new"]);
        reader.look(&fake).unwrap();
        assert_eq!((fake.asked(), reader.take_changed()), (0, None));
        reader.stale();
        let mut turns = 0;
        while reader.is_reading() {
            reader.read(&fake, Duration::ZERO).unwrap();
            turns += 1;
        }
        assert_eq!((turns, fake.asked()), (50, 50));
        assert_eq!(reader.take_changed().unwrap().node("node_7").unwrap().services.len(), 1);
        assert_eq!(reader.take_changed(), None);
    }

    #[test]
    fn a_node_that_leaves_is_gone_with_the_next_look() {
        let fake = Fake::with(["a".to_owned(), "b".to_owned(), "me".to_owned(), "_tool".to_owned()]);
        let mut reader = grown_up(&fake);
        fake.nodes.borrow_mut().remove("a");
        reader.look(&fake).unwrap();
        let graph = reader.take_changed().unwrap();
        assert_eq!(graph.robot_nodes().map(|node| node.name.as_str()).collect::<Vec<_>>(), ["/b"]);
        assert_eq!(graph.nodes().count(), 3);
    }

    #[test]
    fn two_nodes_of_one_name_offer_what_both_offer() {
        let fake = Fake::default();
        fake.nodes.borrow_mut().insert("lamp".to_owned(), vec!["/lamp/switch"]);
        let mut reader = grown_up(&fake);
        let offered = |graph: &Graph| -> Vec<String> {
            graph.node("lamp").unwrap().services.iter().map(|service| service.name.clone()).collect()
        };
        fake.twins.borrow_mut().insert("lamp".to_owned(), "/lamp/dim");
        reader.look(&fake).unwrap();
        assert_eq!(offered(&reader.take_changed().unwrap()), ["/lamp/dim", "/lamp/switch"]);
        // It stays so when the node is asked again, and ends with the second one.
        reader.stale();
        reader.read(&fake, Duration::from_secs(1)).unwrap();
        reader.look(&fake).unwrap();
        assert_eq!(reader.take_changed(), None);
        fake.twins.borrow_mut().clear();
        reader.look(&fake).unwrap();
        assert_eq!(offered(&reader.take_changed().unwrap()), ["/lamp/switch"]);
    }

    /// Seen as a tool that was gone for the moment between two looks.
    #[test]
    fn what_a_node_offers_is_not_lost_when_a_second_one_of_its_name_comes_between_two_questions() {
        let fake = Fake::default();
        fake.nodes.borrow_mut().insert("lamp".to_owned(), vec!["/lamp/switch"]);
        let mut reader = grown_up(&fake);
        fake.twins.borrow_mut().insert("lamp".to_owned(), "/lamp/dim");
        fake.is_answered_by_twin.set(true);
        reader.stale();
        reader.read(&fake, Duration::from_secs(1)).unwrap();
        let graph = reader.take_changed().unwrap();
        let offered = graph.node("lamp").unwrap().services.iter().map(|service| service.name.as_str());
        assert_eq!(offered.collect::<Vec<_>>(), ["/lamp/dim", "/lamp/switch"]);
        // What is really gone, is.
        fake.nodes.borrow_mut().insert("lamp".to_owned(), vec![]);
        reader.stale();
        reader.read(&fake, Duration::from_secs(1)).unwrap();
        let graph = reader.take_changed().unwrap();
        assert_eq!(graph.node("lamp").unwrap().services.len(), 1);
    }

    #[test]
    fn another_run_of_a_node_that_does_not_log_is_told_by_its_service() {
        let fake = Fake::default();
        fake.nodes.borrow_mut().insert("arm".to_owned(), vec!["/arm/describe"]);
        let mut reader = grown_up(&fake);
        let first = reader.nodes.values().next().unwrap().node.instances.clone();
        assert_eq!(first.len(), 1);
        // Killed, and started again: for a while, both are on the graph.
        fake.runs.set(1);
        reader.stale();
        reader.read(&fake, Duration::from_secs(1)).unwrap();
        let graph = reader.take_changed().unwrap();
        assert!(crate::graph::is_another_run(&first, &graph.node("arm").unwrap().instances));
    }
    #[test]
    fn an_agent_whose_services_become_known_one_by_one_was_taken_for_another_run_of_itself() {
        let fake = Fake::default();
        fake.nodes.borrow_mut().insert("cortex".to_owned(), vec!["/cortex/task"]);
        let mut reader = GraphReader::new("/me");
        reader.look(&fake).unwrap();
        let first = reader.take_changed().unwrap().node("cortex").unwrap().instances.clone();
        fake.nodes.borrow_mut().insert("cortex".to_owned(), vec!["/cortex/stop", "/cortex/task"]);
        reader.look(&fake).unwrap();
        let graph = reader.take_changed().unwrap();
        assert_eq!(graph.node("cortex").unwrap().services.len(), 2);
        assert_eq!(graph.node("cortex").unwrap().instances, first);
    }
}
