//! Whether the node of a component's present run is on the graph.
//!
//! A node whose process was killed stays on the graph until its lease ends, some 20 s with Fast DDS; its next run comes
//! while the last is still listed. The identities of the runs tell them apart.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use cortex_protocol::ComponentName;
use cortex_ros_client::GraphWatch;
use cortex_ros_client::graph::{GraphNode, InstanceId};
use tokio::sync::Notify;

use super::{Senses, Sign};

/// How often what is known is told again: what is told may be lost.
const TELL_AGAIN: Duration = Duration::from_secs(2);

/// Runs of one component that are remembered as dead. One that restarts for ever has no more on the graph at a time.
const MOST_DEAD: usize = 64;

/// Publishers of one run of a component that are remembered, so that their last words are known when it is over. It has two.
const MOST_SPEAKERS: usize = 8;

/// Of all components.
pub(super) struct Presence {
    graph: GraphWatch,
    runs: Mutex<BTreeMap<ComponentName, Runs>>,
}

/// The runs of one component.
#[derive(Debug, Default)]
struct Runs {
    /// Those that are known to be over.
    dead: VecDeque<InstanceId>,
    /// Those that were seen since.
    live: BTreeSet<InstanceId>,
    /// The last ones that were there: the graph may lose sight of them for a moment.
    last: BTreeSet<InstanceId>,
    /// How many runs have begun since, as far as is known.
    begun: u64,
    /// Whether it was there at the last look.
    is_there: bool,
    /// The publishers that spoke for it since its process was started.
    speakers: VecDeque<InstanceId>,
    /// Those of runs that are over: what still comes from them is about the past.
    silenced: VecDeque<InstanceId>,
    /// Rung when it comes, and when another run of it does.
    came: Arc<Notify>,
}

impl Runs {
    /// The process is started anew: whoever is there now is dead.
    fn expect_anew(&mut self, on_graph: Option<&GraphNode>) {
        let seen = std::mem::take(&mut self.live);
        let listed = on_graph.map(|node| node.instances.clone()).unwrap_or_default();
        for run in seen.into_iter().chain(listed) {
            if !self.dead.contains(&run) {
                self.dead.push_back(run);
            }
        }
        self.silenced.append(&mut self.speakers);
        self.begun += 1;
        keep_last(&mut self.dead, MOST_DEAD);
        keep_last(&mut self.silenced, MOST_DEAD);
        self.is_there = false;
    }

    /// Whether what this publisher says now is said by the present run. Last words may arrive after the next process was
    /// started, and its first ones soon after that.
    fn may_speak(&mut self, publisher: &InstanceId) -> bool {
        if self.silenced.contains(publisher) {
            return false;
        }
        if publisher.is_told() && !self.speakers.contains(publisher) {
            self.speakers.push_back(publisher.clone());
            keep_last(&mut self.speakers, MOST_SPEAKERS);
        }
        true
    }

    /// Takes over what the graph shows. Gives what is to be told: its coming, and its going once it was there; and whether
    /// another run than the last one has come.
    fn look(&mut self, on_graph: Option<&GraphNode>) -> (Option<bool>, bool) {
        let before = self.is_there;
        let (mut is_another_run, mut is_anew) = (false, false);
        match on_graph {
            // It tells no identity, so it is taken by its name.
            Some(node) if node.instances.is_empty() => self.is_there = true,
            Some(node) => {
                let live: BTreeSet<InstanceId> =
                    node.instances.iter().filter(|run| !self.dead.contains(run)).cloned().collect();
                is_another_run = !live.is_subset(&self.live);
                self.is_there = !live.is_empty();
                if self.is_there {
                    is_anew = cortex_ros_client::graph::is_another_run(&self.last, &live);
                    self.begun += u64::from(is_anew);
                    self.last.clone_from(&live);
                }
                self.live = live;
            }
            None => self.is_there = false,
        }
        if self.is_there && (!before || is_another_run) {
            self.came.notify_one();
        }
        ((before != self.is_there).then_some(self.is_there), is_anew)
    }
}

fn keep_last(runs: &mut VecDeque<InstanceId>, most: usize) {
    let surplus = runs.len().saturating_sub(most);
    runs.drain(..surplus);
}

impl Presence {
    pub(super) fn new(components: impl Iterator<Item = ComponentName>, graph: &GraphWatch) -> Self {
        let runs = components.map(|component| (component, Runs::default())).collect();
        Self { graph: graph.clone(), runs: Mutex::new(runs) }
    }

    pub(super) fn expect_anew(&self, component: &ComponentName) {
        let graph = self.graph.current();
        if let Some(runs) = self.lock().get_mut(component) {
            runs.expect_anew(graph.node(component.as_str()));
        }
    }

    /// Whether its node is there.
    pub(super) fn is_there(&self, component: &ComponentName) -> bool {
        self.lock().get(component).is_some_and(|runs| runs.is_there)
    }

    /// Whether what this publisher says of it now is said by its present run.
    pub(super) fn may_speak(&self, component: &ComponentName, publisher: &InstanceId) -> bool {
        self.lock().get_mut(component).is_none_or(|runs| runs.may_speak(publisher))
    }

    /// How many of its runs have begun: another number, another run.
    pub(super) fn begun(&self, component: &ComponentName) -> u64 {
        self.lock().get(component).map_or(0, |runs| runs.begun)
    }

    /// What is rung when it comes.
    pub(super) fn coming(&self, component: &ComponentName) -> Arc<Notify> {
        self.lock().get(component).map(|runs| Arc::clone(&runs.came)).unwrap_or_default()
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<ComponentName, Runs>> {
        self.runs.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Tells of every coming and going.
pub(super) async fn follow(senses: Senses) {
    let mut graphs = senses.graph.subscribe();
    let mut again = tokio::time::interval(TELL_AGAIN);
    again.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        let tells_all = tokio::select! {
            changed = graphs.changed() => {
                if changed.is_err() {
                    return;
                }
                false
            }
            _ = again.tick() => true,
        };
        // The lock is held until it is told: a start that comes meanwhile comes after.
        let mut all = senses.presence.lock();
        let graph = Arc::clone(&graphs.borrow_and_update());
        for (component, runs) in all.iter_mut() {
            let (changed, is_anew) = runs.look(graph.node(component.as_str()));
            if is_anew {
                (senses.tell)(component, Sign::Anew);
            }
            let known = (tells_all && runs.is_there).then_some(true);
            if let Some(present) = changed.or(known) {
                (senses.tell)(component, Sign::Node { present });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cortex_ros_client::graph::NodeRole;

    fn node(runs: &[u8]) -> GraphNode {
        let mut node = GraphNode::new("/base".to_owned(), NodeRole::Robot);
        node.instances = runs.iter().map(|run| InstanceId::new(&[*run])).collect();
        node
    }

    #[test]
    fn a_dead_run_that_is_still_listed_is_not_taken_for_the_next() {
        let mut runs = Runs::default();
        runs.expect_anew(None);
        assert_eq!(runs.look(None).0, None, "that it has not come yet is no going");
        assert_eq!(runs.look(Some(&node(&[1]))).0, Some(true));
        assert_eq!(runs.look(Some(&node(&[1]))).0, None);
        // Killed, and started anew.
        runs.expect_anew(Some(&node(&[1])));
        assert_eq!(runs.look(Some(&node(&[1]))).0, None);
        assert_eq!(runs.look(Some(&node(&[1, 2]))).0, Some(true));
        assert_eq!(runs.look(Some(&node(&[2]))).0, None, "the dead one has left");
        assert_eq!(runs.look(Some(&node(&[1, 2]))).0, None);
        assert_eq!(runs.look(Some(&node(&[1]))).0, Some(false), "what is left is the dead one");
        assert_eq!(runs.look(None).0, None);
    }

    #[test]
    fn a_run_that_left_the_graph_before_the_start_is_dead_all_the_same() {
        let mut runs = Runs::default();
        runs.look(Some(&node(&[1])));
        runs.expect_anew(None);
        assert_eq!(runs.look(Some(&node(&[1]))).0, None);
        assert_eq!(runs.look(Some(&node(&[2]))).0, Some(true));
    }

    #[test]
    fn another_run_is_told_from_one_that_was_out_of_sight_for_a_moment() {
        let mut runs = Runs::default();
        let mut looks = |seen: Option<&[u8]>| runs.look(seen.map(node).as_ref()).1;
        assert!(!looks(Some(&[1])), "the first one follows nobody");
        assert!(!looks(None) && !looks(Some(&[1])));
        assert!(looks(Some(&[1, 2])), "the dead one is still listed");
        assert!(!looks(Some(&[2])) && !looks(Some(&[1, 2][1..])));
        assert!(looks(Some(&[3])));
    }

    #[test]
    fn a_node_without_an_identity_is_known_by_its_name() {
        let mut runs = Runs::default();
        assert_eq!(runs.look(Some(&node(&[]))).0, Some(true));
        assert_eq!(runs.look(None).0, Some(false));
    }

    #[test]
    fn the_first_words_of_a_run_that_starts_fast_were_taken_for_the_last_ones_of_the_run_before() {
        let mut runs = Runs::default();
        let publisher = |run: u8| InstanceId::new(&[run]);
        assert!(runs.may_speak(&publisher(1)));
        runs.expect_anew(None);
        assert!(!runs.may_speak(&publisher(1)), "last words");
        assert!(runs.may_speak(&publisher(2)), "first words, however early");
        runs.expect_anew(None);
        assert!(!runs.may_speak(&publisher(1)) && !runs.may_speak(&publisher(2)));
        for run in 3..=u8::MAX {
            assert!(runs.may_speak(&publisher(run)));
        }
        assert_eq!(runs.speakers.len(), MOST_SPEAKERS);
    }

    #[test]
    fn a_middleware_that_names_no_publisher_silences_nobody() {
        let mut runs = Runs::default();
        let nobody = InstanceId::new(&[0, 0]);
        assert!(runs.may_speak(&nobody));
        runs.expect_anew(None);
        assert!(runs.may_speak(&nobody));
    }

    #[test]
    fn only_so_many_dead_runs_are_remembered() {
        let mut runs = Runs::default();
        for run in 0..=u8::MAX {
            runs.expect_anew(Some(&node(&[run])));
        }
        assert_eq!(runs.dead.len(), MOST_DEAD);
        assert_eq!(runs.look(Some(&node(&[u8::MAX]))).0, None);
    }
}
