use std::cell::{Cell, RefCell};

use super::*;

/// A middleware that counts the questions about nodes.
#[derive(Default)]
struct Fake {
    nodes: RefCell<BTreeMap<String, Vec<&'static str>>>,
    /// Nodes that are there a second time, with what only the second one offers.
    duplicates: RefCell<BTreeMap<String, &'static str>>,
    asked: Cell<usize>,
    /// Further runs of every node beside the first.
    runs: Cell<u8>,
    /// A second node has come that the list of nodes does not show yet: it answers for the first one.
    is_answered_by_duplicate: Cell<bool>,
    /// The topics of nodes, and whether the second one of the name publishes them.
    published: RefCell<Vec<(&'static str, &'static str, bool)>>,
    asked_by_topic: Cell<usize>,
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

fn message(topic: &str) -> Interface {
    Interface { name: topic.to_owned(), types: vec!["x/msg/Z".to_owned()] }
}

fn topics(graph: &Graph, node: &str) -> Vec<Interface> {
    graph.node(node).unwrap().publishers.clone()
}

impl GraphSource for Fake {
    fn nodes(&self) -> Result<Vec<(String, String)>, RosError> {
        let (nodes, duplicates) = (self.nodes.borrow(), self.duplicates.borrow());
        let duplicates = duplicates.keys().filter(|_| !self.is_answered_by_duplicate.get());
        Ok(nodes.keys().chain(duplicates).map(|name| (name.clone(), "/".to_owned())).collect())
    }

    fn services(&self) -> Result<Vec<Interface>, RosError> {
        let (nodes, duplicates) = (self.nodes.borrow(), self.duplicates.borrow());
        let all = nodes.values().flatten().chain(duplicates.values()).chain(["/called/by/somebody"].iter());
        Ok(all.map(service).collect())
    }

    fn servers_of(&self, service: &str) -> Result<Vec<(String, String, InstanceId)>, RosError> {
        let (nodes, duplicates) = (self.nodes.borrow(), self.duplicates.borrow());
        let of_duplicates =
            duplicates.iter().filter(|(_, offered)| **offered == service).map(|(name, _)| (name, u8::MAX));
        let of_nodes = nodes.iter().filter(|(_, offered)| offered.contains(&service));
        let of_nodes = of_nodes.flat_map(|(name, _)| (0..=self.runs.get()).map(move |run| (name, run)));
        let servers = of_nodes.chain(of_duplicates);
        // Each end of each service has an identity of its own.
        let identity = |run| InstanceId::new(&[service.as_bytes(), &[run]].concat());
        Ok(servers.map(|(name, run)| (name.clone(), "/".to_owned(), identity(run))).collect())
    }

    fn instances(&self) -> Result<Vec<(String, String, InstanceId)>, RosError> {
        Ok(Vec::new())
    }

    fn services_of(&self, name: &str, _: &str) -> Result<Option<Vec<Interface>>, RosError> {
        self.asked.set(self.asked.get() + 1);
        let (nodes, duplicates) = (self.nodes.borrow(), self.duplicates.borrow());
        if let Some(offered) = duplicates.get(name).filter(|_| self.is_answered_by_duplicate.get()) {
            return Ok(Some(vec![service(offered)]));
        }
        Ok(nodes.get(name).map(|services| services.iter().map(service).collect()))
    }

    fn topics(&self) -> Result<Vec<Interface>, RosError> {
        let published = self.published.borrow();
        let names = published.iter().map(|(_, topic, _)| topic).chain(["/read/by/somebody"].iter());
        // With the type that a reader asks for, too.
        Ok(names.map(|name| Interface { name: (*name).to_owned(), types: vec!["x/msg/Other".to_owned()] }).collect())
    }

    fn who_publishes(&self, topic: &str) -> Result<Vec<(String, String, String)>, RosError> {
        self.asked_by_topic.set(self.asked_by_topic.get() + 1);
        let published = self.published.borrow();
        let nodes = published.iter().filter(|(_, published, _)| *published == topic).map(|(node, _, _)| *node);
        Ok(nodes.map(|node| (node.to_owned(), "/".to_owned(), "x/msg/Z".to_owned())).collect())
    }

    fn publishers_of(&self, name: &str, _: &str) -> Result<Option<Vec<Interface>>, RosError> {
        let published = self.published.borrow();
        let is_answered = |second: bool| second == self.is_answered_by_duplicate.get();
        let topics = published.iter().filter(|(node, _, second)| *node == name && is_answered(*second));
        Ok(Some(topics.map(|(_, topic, _)| message(topic)).collect()))
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
    fake.duplicates.borrow_mut().insert("lamp".to_owned(), "/lamp/dim");
    reader.look(&fake).unwrap();
    assert_eq!(offered(&reader.take_changed().unwrap()), ["/lamp/dim", "/lamp/switch"]);
    // It stays so when the node is asked again, and ends with the second one.
    reader.stale();
    reader.read(&fake, Duration::from_secs(1)).unwrap();
    reader.look(&fake).unwrap();
    assert_eq!(reader.take_changed(), None);
    fake.duplicates.borrow_mut().clear();
    reader.look(&fake).unwrap();
    assert_eq!(offered(&reader.take_changed().unwrap()), ["/lamp/switch"]);
}

/// Seen as a base that was restored and published its odometry, and was told to publish nothing for as long as the run that
/// was killed stayed on the graph.
#[test]
fn what_a_new_run_publishes_was_not_known_while_a_dead_one_of_its_name_was_still_listed() {
    let fake = Fake::with(["base".to_owned(), "lamp".to_owned()]);
    fake.published.borrow_mut().extend([("base", "/base/status", false), ("lamp", "/light", false)]);
    let mut reader = grown_up(&fake);
    // The dead one answers for the name. It had not come as far as this.
    fake.duplicates.borrow_mut().insert("base".to_owned(), "/base/describe");
    fake.published.borrow_mut().push(("base", "/odom", true));
    reader.look(&fake).unwrap();
    let graph = reader.take_changed().unwrap();
    assert_eq!(topics(&graph, "base"), [message("/base/status"), message("/odom")]);
    assert_eq!(topics(&graph, "lamp"), [message("/light")]);
    // It stays so when the node is asked again, and when the dead one is gone.
    reader.stale();
    reader.read(&fake, Duration::from_secs(1)).unwrap();
    reader.look(&fake).unwrap();
    assert_eq!(reader.take_changed(), None);
    fake.duplicates.borrow_mut().clear();
    *fake.published.borrow_mut() = vec![("base", "/odom", false), ("lamp", "/light", false)];
    reader.stale();
    reader.look(&fake).unwrap();
    reader.read(&fake, Duration::from_secs(1)).unwrap();
    assert_eq!(topics(&reader.take_changed().unwrap(), "base"), [message("/odom")]);
}

#[test]
fn what_a_node_publishes_is_not_lost_when_a_second_one_of_its_name_comes_between_two_questions() {
    let fake = Fake::with(["base".to_owned()]);
    fake.published.borrow_mut().push(("base", "/odom", false));
    let mut reader = grown_up(&fake);
    fake.duplicates.borrow_mut().insert("base".to_owned(), "/base/describe");
    fake.published.borrow_mut().push(("base", "/base/status", true));
    fake.is_answered_by_duplicate.set(true);
    reader.stale();
    reader.read(&fake, Duration::from_secs(1)).unwrap();
    assert_eq!(topics(&reader.take_changed().unwrap(), "base"), [message("/base/status"), message("/odom")]);
    // What is really gone, is.
    fake.published.borrow_mut().retain(|(_, topic, _)| *topic != "/odom");
    reader.stale();
    reader.read(&fake, Duration::from_secs(1)).unwrap();
    assert_eq!(topics(&reader.take_changed().unwrap(), "base"), [message("/base/status")]);
}

#[test]
fn nobody_is_asked_by_topic_while_no_name_is_there_twice() {
    let fake = Fake::with((0..100).map(|number| format!("node_{number}")));
    fake.published.borrow_mut().push(("node_7", "/odom", false));
    let mut reader = grown_up(&fake);
    reader.stale();
    reader.look(&fake).unwrap();
    reader.read(&fake, Duration::from_secs(1)).unwrap();
    assert_eq!(fake.asked_by_topic.get(), 0);
}

/// Seen as a tool that was gone for the moment between two looks.
#[test]
fn what_a_node_offers_is_not_lost_when_a_second_one_of_its_name_comes_between_two_questions() {
    let fake = Fake::default();
    fake.nodes.borrow_mut().insert("lamp".to_owned(), vec!["/lamp/switch"]);
    let mut reader = grown_up(&fake);
    fake.duplicates.borrow_mut().insert("lamp".to_owned(), "/lamp/dim");
    fake.is_answered_by_duplicate.set(true);
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
