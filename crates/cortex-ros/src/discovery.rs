//! Finds what the robot can do, its Cortex components and all other services and actions, and keeps the tools current
//! while nodes come, go and change.
//!
//! One task owns the [`Directory`] and the [`Catalog`]; for each component it starts one that asks for the description.
//! Nothing here calls anything: see [`RosTools`](crate::RosTools).

mod confirmation;
mod questions;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use cortex_discovery_policy::Policy;
use cortex_interfaces::{Conventions, InterfaceError, Interfaces};
use cortex_protocol::{ComponentName, ToolSpec};
use cortex_ros_client::dynamic::Endpoints;
use cortex_ros_client::graph::Graph;
use cortex_ros_client::load_interface::load_interface;
use cortex_ros_client::{GraphWatch, RosError, RosNode};
use tokio::sync::{Semaphore, mpsc, watch};
use tokio::time::{Instant, MissedTickBehavior};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::built_in;
use crate::catalog::{Catalog, Offers, TypeKey, TypeState};
use crate::definitions::{self, Definitions};
use crate::directory::{Answer, Directory, MOST_COMPONENTS, Run, Task};
use crate::heartbeat::{Heartbeats, LOOK};
use crate::robot_body::sensors_on;
use crate::shown_nodes::GraphPolicy as _;
use crate::statuses::{Hearing, Statuses};
use crate::type_loader::{self, TypeLoader};
use confirmation::SeenBy;

/// A graph without changes for this long is taken to be complete, but not before the node has been on it for a while:
/// Fast DDS finds most nodes within 0.3 s, but in a fifth of the starts some only by its next announcement, 3 s later.
const QUIET: Duration = Duration::from_secs(1);
const FIRST_LOOK: Duration = Duration::from_millis(3_300);
/// Answers on their way to the task that owns the directory; a sender waits when it is full.
const ANSWER_CAPACITY: usize = 64;
/// Components on their way to be asked anew; one that finds it full asks with its next call.
const CONFIRM_CAPACITY: usize = 64;
/// How often packages are looked at that could not be used or may have been replaced.
const LOOK_AGAIN: Duration = Duration::from_secs(30);
/// Findings on their way to the task that owns the catalog. One batch of each kind is under way at a time.
const FINDING_CAPACITY: usize = 2;
/// How long the tasks may take to end.
const END_LIMIT: Duration = Duration::from_secs(2);

/// The tools that are on offer, in a stable order.
pub type DiscoveredTools = Arc<Vec<ToolSpec>>;

/// Discovery under way. Clones share it.
#[derive(Clone)]
pub struct Discovery {
    directory: watch::Receiver<Arc<Directory>>,
    catalog: watch::Receiver<Arc<Catalog>>,
    tools: watch::Receiver<DiscoveredTools>,
    settled: watch::Receiver<bool>,
    seen: watch::Receiver<String>,
    certain: watch::Receiver<bool>,
    confirmed: Arc<watch::Sender<Option<SeenBy>>>,
    shared: Arc<Shared>,
}

/// What the tasks of discovery and the tools share.
pub(crate) struct Shared {
    pub(crate) node: RosNode,
    pub(crate) statuses: Arc<Statuses>,
    pub(crate) heartbeats: Arc<Heartbeats>,
    pub(crate) endpoints: Endpoints,
    pub(crate) interfaces: Arc<Interfaces>,
    pub(crate) policy: Policy,
    /// How messages are written.
    pub(crate) conventions: Conventions,
    /// Components that are to be asked anew what they can do.
    confirm: mpsc::Sender<ComponentName>,
    /// Taken by each question to a component.
    questions: Semaphore,
    tasks: TaskTracker,
    stopping: CancellationToken,
}

impl Discovery {
    /// Starts discovery. `interfaces` are the types that are installed here; `policy` says what may be offered. To be
    /// called within a tokio runtime.
    #[must_use]
    pub fn start(
        node: &RosNode,
        graph: &GraphWatch,
        endpoints: &Endpoints,
        interfaces: &Arc<Interfaces>,
        policy: Policy,
    ) -> Self {
        let (confirm, to_confirm) = mpsc::channel(CONFIRM_CAPACITY);
        let shared = Arc::new(Shared {
            node: node.clone(),
            statuses: Arc::default(),
            heartbeats: Arc::default(),
            endpoints: endpoints.clone(),
            interfaces: Arc::clone(interfaces),
            conventions: policy.message_conventions(),
            policy,
            confirm,
            questions: Semaphore::new(questions::AT_ONCE),
            tasks: TaskTracker::new(),
            stopping: CancellationToken::new(),
        });
        let (publish_directory, directory) = watch::channel(Arc::default());
        let (publish_catalog, catalog) = watch::channel(Arc::default());
        let (publish_tools, tools) = watch::channel(Arc::default());
        let (publish_settled, settled) = watch::channel(false);
        let (publish_seen, seen) = watch::channel(String::new());
        let (publish_certain, certain) = watch::channel(false);
        let confirmed = Arc::new(watch::Sender::new(None));
        let (answers, answered) = mpsc::channel(ANSWER_CAPACITY);
        let (findings, found) = mpsc::channel(FINDING_CAPACITY);
        let owner = Owner {
            shared: Arc::clone(&shared),
            directory: Directory::default(),
            catalog: Arc::default(),
            offers: Offers::new(),
            loader: TypeLoader::default(),
            definitions: Definitions::default(),
            graph: Arc::default(),
            started: Instant::now(),
            last_change: Instant::now(),
            asking: BTreeMap::new(),
            hearings: BTreeMap::new(),
            answers,
            findings,
            publish_directory,
            publish_catalog,
            publish_tools,
            settled: publish_settled,
            publish_seen,
            publish_certain,
            is_confirmed: false,
            confirmed: confirmed.subscribe(),
        };
        let stopping = shared.stopping.clone();
        let readers = Arc::clone(&shared.statuses).follow(endpoints.clone(), Arc::clone(interfaces), graph.subscribe());
        shared.tasks.spawn({
            let stopping = stopping.clone();
            async move { stopping.run_until_cancelled(readers).await }
        });
        let graph = graph.subscribe();
        shared
            .tasks
            .spawn(async move { stopping.run_until_cancelled(owner.run(graph, answered, found, to_confirm)).await });
        Self { directory, catalog, tools, settled, seen, certain, confirmed, shared }
    }

    /// The tools on offer now, and every later set. A slow reader sees the latest only.
    #[must_use]
    pub fn tools(&self) -> watch::Receiver<DiscoveredTools> {
        self.tools.clone()
    }

    /// The components, with what is wrong with them; now and later.
    #[must_use]
    pub fn directory(&self) -> watch::Receiver<Arc<Directory>> {
        self.directory.clone()
    }

    /// What a component last said of its health. None: nothing.
    #[must_use]
    pub fn heard_health(&self, component: &ComponentName) -> Option<crate::HeardHealth> {
        self.shared().heartbeats.health(component).map(Into::into)
    }

    /// The services, actions and topics that became tools, and those that can't be called; now and later.
    #[must_use]
    pub fn catalog(&self) -> watch::Receiver<Arc<Catalog>> {
        self.catalog.clone()
    }

    /// Whether the configuration denies the component as a whole, so that nobody may be told of it.
    #[must_use]
    pub fn denies(&self, component: &ComponentName) -> bool {
        self.shared.policy.denial_of_node(&format!("/{component}")).is_some()
    }

    /// Whether models may be told of the topic of this full name.
    #[must_use]
    pub fn tells_of(&self, topic: &str) -> bool {
        self.shared.policy.refusal(topic).is_none()
    }

    /// What the robot of this graph senses with, each with its topic, as far as models may be told of it.
    #[must_use]
    pub fn sensors(&self, graph: &Graph) -> Vec<String> {
        sensors_on(graph, &self.shared.policy)
    }

    /// Waits until the graph has been quiet for a moment and every component has said what it can do, or was given
    /// up; at most for `limit`. Returns whether it came to that.
    pub async fn settled(&self, limit: Duration) -> bool {
        let mut settled = self.settled.clone();
        tokio::time::timeout(limit, settled.wait_for(|settled| *settled)).await.is_ok_and(|seen| seen.is_ok())
    }

    /// Whether everything is known, as far as can be told.
    #[must_use]
    pub fn is_settled(&self) -> bool {
        *self.settled.borrow()
    }

    /// Ends every task of discovery, within a bounded time. The tools stay as they were last.
    pub async fn shut_down(&self) {
        self.shared.stopping.cancel();
        self.shared.tasks.close();
        if tokio::time::timeout(END_LIMIT, self.shared.tasks.wait()).await.is_err() {
            tracing::error!("discovery did not end within {} s", END_LIMIT.as_secs());
        }
    }

    pub(crate) fn shared(&self) -> &Arc<Shared> {
        &self.shared
    }
}

impl Shared {
    /// Has a component asked anew what it can do, since others answer to its name than those who have described it.
    pub(crate) fn confirm(&self, component: &ComponentName) {
        // Who waits for the answer waits a bounded time.
        let _ = self.confirm.try_send(component.clone());
    }

    /// Looks up an interface.
    pub(crate) async fn interface<T: Send + 'static>(
        &self,
        find: impl FnOnce(&Interfaces) -> Result<T, InterfaceError> + Send + 'static,
    ) -> Result<T, RosError> {
        load_interface(&self.interfaces, find).await
    }
}

/// An answer with the component and the run that it is about.
type Answered = (ComponentName, Run, Answer);

/// What was found out on other threads.
enum Finding {
    /// What loading types came to.
    Loaded(Vec<(TypeKey, TypeState)>),
    /// Whether what is offered is defined as the types are.
    Checked(Vec<definitions::Verdict>),
}

/// Owns the directory and the catalog.
struct Owner {
    shared: Arc<Shared>,
    directory: Directory,
    catalog: Arc<Catalog>,
    offers: Offers,
    loader: TypeLoader,
    definitions: Definitions,
    graph: Arc<Graph>,
    started: Instant,
    last_change: Instant,
    /// Ends the questions to a component.
    asking: BTreeMap<ComponentName, CancellationToken>,
    /// Components whose heartbeat is heard.
    hearings: BTreeMap<ComponentName, Hearing>,
    answers: mpsc::Sender<Answered>,
    findings: mpsc::Sender<Finding>,
    publish_directory: watch::Sender<Arc<Directory>>,
    publish_catalog: watch::Sender<Arc<Catalog>>,
    publish_tools: watch::Sender<DiscoveredTools>,
    settled: watch::Sender<bool>,
    publish_seen: watch::Sender<String>,
    publish_certain: watch::Sender<bool>,
    /// What a Cortex sees that has looked for long.
    confirmed: watch::Receiver<Option<SeenBy>>,
    /// Whether the same is seen here.
    is_confirmed: bool,
}

impl Owner {
    async fn run(
        mut self,
        mut graph: watch::Receiver<Arc<Graph>>,
        mut answered: mpsc::Receiver<Answered>,
        mut found: mpsc::Receiver<Finding>,
        mut to_confirm: mpsc::Receiver<ComponentName>,
    ) {
        let mut looks = tokio::time::interval(LOOK);
        looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut looks_at_packages = tokio::time::interval(LOOK_AGAIN);
        looks_at_packages.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                changed = graph.changed() => {
                    if changed.is_err() {
                        return;
                    }
                    let seen = Arc::clone(&graph.borrow_and_update());
                    self.follow(seen);
                }
                Some((component, run, answer)) = answered.recv() => {
                    self.warn_about(&component, &answer);
                    self.directory.answered(&component, run, answer);
                    self.publish();
                }
                Some(component) = to_confirm.recv() => {
                    if let Some(run) = self.directory.confirm(&component) {
                        tracing::info!("the component '{component}' is asked anew what it can do");
                        self.ask(component, run);
                    }
                }
                Some(finding) = found.recv() => {
                    let is_new = match finding {
                        Finding::Loaded(loaded) => self.loader.take(loaded),
                        Finding::Checked(verdicts) => self.definitions.take(verdicts),
                    };
                    if is_new {
                        self.rebuild();
                    }
                    self.find_out();
                    self.publish();
                }
                Ok(()) = self.confirmed.changed() => {
                    self.compare();
                    self.publish();
                }
                _ = looks.tick() => self.look(),
                _ = looks_at_packages.tick() => {
                    self.loader.look_again();
                    self.definitions.look_again();
                    self.find_out();
                }
            }
        }
    }

    fn follow(&mut self, graph: Arc<Graph>) {
        let is_changed = !self.graph.robot_nodes().eq(graph.robot_nodes());
        for task in self.directory.follow(&graph) {
            match task {
                Task::Describe(component, run) => self.describe(component, run),
                Task::Forget(component) => {
                    tracing::info!("the component '{component}' has left");
                    self.hearings.remove(&component);
                    self.shared.heartbeats.forget(&component);
                    self.stop_asking(&component);
                }
            }
        }
        if self.directory.components().count() >= MOST_COMPONENTS {
            tracing::warn!("there are {MOST_COMPONENTS} components or more; no more than that are used");
        }
        self.graph = graph;
        self.compare();
        if is_changed {
            self.last_change = Instant::now();
            self.offers = Catalog::offers(&self.graph, &self.shared.policy);
            self.loader.want(Catalog::types_of(&self.offers, &self.shared.policy));
            self.definitions.want(&self.offers);
            self.rebuild();
            self.find_out();
        }
        self.publish();
    }

    fn rebuild(&mut self) {
        let (policy, types) = (&self.shared.policy, self.loader.types());
        let topics = Catalog::published(&self.graph, policy);
        self.catalog = Arc::new(Catalog::new(&self.offers, topics, policy, types, &self.definitions));
    }

    /// Has the next types loaded, and the next offers compared with them, if any are to be.
    fn find_out(&mut self) {
        if let Some(batch) = self.loader.next_batch() {
            self.find(|shared| Finding::Loaded(type_loader::load(&shared.interfaces, &shared.conventions, batch)));
        }
        // Types come first: without them there is nothing to compare with.
        if !self.loader.is_loading()
            && let Some(batch) = self.definitions.next_batch()
        {
            self.find(|shared| Finding::Checked(definitions::check(&shared.endpoints, &shared.interfaces, batch)));
        }
    }

    /// Finds something out on a thread that may block.
    fn find(&self, find: impl FnOnce(&Shared) -> Finding + Send + 'static) {
        let (shared, findings) = (Arc::clone(&self.shared), self.findings.clone());
        self.shared.tasks.spawn_blocking(move || {
            // Nobody receives when discovery ends.
            let _ = findings.blocking_send(find(&shared));
        });
    }

    fn describe(&mut self, component: ComponentName, run: Run) {
        tracing::info!("the component '{component}' was found");
        self.shared.heartbeats.expect(&component);
        let (heartbeats, name) = (Arc::clone(&self.shared.heartbeats), component.clone());
        let hear = move |health: &crate::statuses::Health, _: &cortex_ros_client::graph::InstanceId| {
            heartbeats.beat(&name, health.into());
        };
        // A new run is heard by the same reader.
        self.hearings.entry(component.clone()).or_insert_with(|| self.shared.statuses.hear(&component, hear));
        self.ask(component, run);
    }

    /// Asks it what it can do, until it has said so.
    fn ask(&mut self, component: ComponentName, run: Run) {
        self.stop_asking(&component);
        let asking = self.shared.stopping.child_token();
        let question = questions::ask(Arc::clone(&self.shared), component.clone(), run, self.answers.clone());
        self.asking.insert(component, asking.clone());
        self.shared.tasks.spawn(async move { asking.run_until_cancelled(question).await });
    }

    fn stop_asking(&mut self, component: &ComponentName) {
        if let Some(asking) = self.asking.remove(component) {
            asking.cancel();
        }
    }

    fn look(&mut self) {
        let changed = self.directory.heard(&self.shared.heartbeats.look());
        for (component, state) in &changed {
            tracing::warn!("the component '{component}' {state}");
        }
        if !changed.is_empty() || *self.settled.borrow() != self.is_settled() {
            self.publish();
        }
    }

    /// Compares the graph with what a Cortex sees.
    fn compare(&mut self) {
        let confirmed = self.confirmed.borrow_and_update();
        self.is_confirmed = confirmed.as_ref().is_some_and(|seen| self.graph.digest_but(&seen.cortex) == seen.digest);
    }

    fn is_settled(&self) -> bool {
        // A robot without a single node is one that was not seen yet: on a machine that is busy, the first look is too short.
        let seen = self.graph.robot_nodes().next().is_some();
        let looked = self.started.elapsed() >= FIRST_LOOK && self.last_change.elapsed() >= QUIET;
        seen && (looked || self.is_confirmed) && !self.directory.is_describing() && !self.loader.is_loading()
    }

    /// Whoever sees it settled sees what it has settled to, and whoever sees something new does not see it settled.
    fn publish(&self) {
        let settled = self.is_settled();
        self.settled.send_if_modified(|before| std::mem::replace(before, *before && settled) && !settled);
        let certain = settled && self.is_confirmed;
        self.publish_certain.send_if_modified(|before| std::mem::replace(before, *before && certain) && !certain);
        publish_changed(&self.publish_directory, Arc::new(self.directory.clone()));
        publish_changed(&self.publish_catalog, Arc::clone(&self.catalog));
        publish_changed(&self.publish_tools, Arc::new(self.tools()));
        let seen = self.graph.digest_but(self.shared.node.fully_qualified_name());
        self.publish_seen.send_if_modified(|before| std::mem::replace(before, seen.clone()) != seen);
        self.settled.send_if_modified(|before| std::mem::replace(before, settled) != settled);
        self.publish_certain.send_if_modified(|before| std::mem::replace(before, certain) != certain);
    }

    /// Everything on offer: what Cortex itself can do, the methods of components, and the rest of the robot.
    fn tools(&self) -> Vec<ToolSpec> {
        let is_allowed = |method: &ToolSpec| refusal_of_method(&self.shared.policy, method.name.as_str()).is_none();
        let mut tools = built_in::tools(&self.graph, &self.catalog, &self.shared.policy);
        let conditioned = |method: ToolSpec| {
            let name = method_name(&method);
            self.shared.policy.conditioned(method, &name)
        };
        tools.extend(self.directory.tools().into_iter().filter(is_allowed).map(conditioned));
        tools.extend(self.catalog.tools().cloned());
        tools
    }

    fn warn_about(&self, component: &ComponentName, answer: &Answer) {
        let problems = match answer {
            Answer::Described(_, problems, _) => problems.as_slice(),
            Answer::Unusable(problem) => std::slice::from_ref(problem),
        };
        let known = self.directory.component(component).map(|component| component.problems.as_slice());
        for problem in problems.iter().filter(|problem| !known.unwrap_or_default().contains(problem)) {
            tracing::warn!("the component '{component}': {problem}");
        }
    }
}

/// The name by which the configuration knows a component's method: `/base/go_to`.
pub(crate) fn method_name(method: &ToolSpec) -> String {
    format!("/{}", method.name.as_str().replace('.', "/"))
}

/// Why the method that is this tool is not offered: for its own name, or because its component is denied as a whole.
pub(crate) fn refusal_of_method(policy: &Policy, tool: &str) -> Option<String> {
    let component = tool.rsplit_once('.').map_or(tool, |(component, _)| component);
    let refusal = policy.refusal(&format!("/{}", tool.replace('.', "/")));
    refusal.or_else(|| policy.denial_of_node(&format!("/{component}")))
}

fn publish_changed<T: PartialEq>(publish: &watch::Sender<Arc<T>>, value: Arc<T>) {
    publish.send_if_modified(|before| {
        let changed = !Arc::ptr_eq(before, &value) && *before != value;
        if changed {
            *before = value;
        }
        changed
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use cortex_discovery_policy::PolicySettings;

    #[test]
    fn regression_the_methods_of_a_component_that_is_denied_by_its_name_were_offered() {
        let denying = |pattern: &str| {
            Policy::new(&PolicySettings { deny: vec![pattern.to_owned()], ..PolicySettings::default() }).unwrap()
        };
        for (pattern, tool, is_refused) in [
            ("/arm", "arm.wave", true),
            ("/arm/**", "arm.wave", true),
            ("/left/arm", "left/arm.wave", true),
            ("/arm/wave", "arm.wave", true),
            ("/arm/wave", "arm.rest", false),
            ("/arm", "army.march", false),
        ] {
            assert_eq!(refusal_of_method(&denying(pattern), tool).is_some(), is_refused, "{pattern} and {tool}");
        }
    }
}
