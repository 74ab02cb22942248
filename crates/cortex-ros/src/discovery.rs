//! Finds the Cortex components on the graph and keeps their tools current while they come, go and change.
//!
//! One task owns the [`Directory`]; for each component it starts one that asks for the description and one that
//! listens to the heartbeat. Nothing here calls a method: see [`RosTools`](crate::RosTools).

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use cortex_protocol::{ComponentDescription, ComponentName, ToolSpec};
use futures::StreamExt;
use r2r::QosProfile;
use r2r::cortex_msgs::msg::ComponentStatus;
use r2r::cortex_msgs::srv::{DescribeComponent, ExecuteMethod};
use tokio::sync::{mpsc, watch};
use tokio::time::{Instant, MissedTickBehavior};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::directory::{Answer, DESCRIBE, Directory, EXECUTE_METHOD, MOST_COMPONENTS, Run, Task, below};
use crate::graph::{Graph, GraphNode};
use crate::heartbeat::{Health, Heartbeats, LOOK};
use crate::service::ClientPool;
use crate::{GraphWatch, RosError, RosNode, inspection};

/// How long a service of a component that was just found may take to appear here, and to answer.
const SERVER_LIMIT: Duration = Duration::from_secs(2);
const ANSWER_LIMIT: Duration = Duration::from_secs(2);
/// Attempts after which nobody waits for a component any more. It is asked on, at a growing distance, since one that
/// loads a large model answers late.
const PATIENT_ATTEMPTS: u32 = 3;
/// The pause after a first failed attempt, doubled after each further one, up to the longest.
const FIRST_PAUSE: Duration = Duration::from_millis(250);
const LONGEST_PAUSE: Duration = Duration::from_secs(30);
/// A graph without changes for this long is taken to be complete, but not before the node has been on it for a while:
/// Fast DDS finds most nodes within 0.3 s, but in a fifth of the starts some only by its next announcement, 3 s later.
const QUIET: Duration = Duration::from_secs(1);
const FIRST_LOOK: Duration = Duration::from_millis(3_300);
/// Answers on their way to the task that owns the directory; a sender waits when it is full.
const ANSWER_CAPACITY: usize = 64;
/// Topic of a component's health, below its node.
const STATUS: &str = "status";
/// How long the tasks may take to end.
const END_LIMIT: Duration = Duration::from_secs(2);

/// The tools that are on offer, in a stable order.
pub type DiscoveredTools = Arc<Vec<ToolSpec>>;

/// Clients of the one service that runs methods.
pub(crate) type MethodClients = ClientPool<ExecuteMethod::Service>;

/// Discovery under way. Clones share it.
#[derive(Clone)]
pub struct Discovery {
    directory: watch::Receiver<Arc<Directory>>,
    tools: watch::Receiver<DiscoveredTools>,
    settled: watch::Receiver<bool>,
    shared: Arc<Shared>,
}

/// What the tasks of discovery and the tools share.
pub(crate) struct Shared {
    node: RosNode,
    describe_clients: ClientPool<DescribeComponent::Service>,
    pub(crate) method_clients: MethodClients,
    pub(crate) heartbeats: Heartbeats,
    tasks: TaskTracker,
    stopping: CancellationToken,
}

impl Discovery {
    /// Starts discovery. To be called within a tokio runtime.
    #[must_use]
    pub fn start(node: &RosNode, graph: &GraphWatch) -> Self {
        let shared = Arc::new(Shared {
            node: node.clone(),
            describe_clients: ClientPool::new(node),
            method_clients: ClientPool::new(node),
            heartbeats: Heartbeats::default(),
            tasks: TaskTracker::new(),
            stopping: CancellationToken::new(),
        });
        let (publish_directory, directory) = watch::channel(Arc::default());
        let (publish_tools, tools) = watch::channel(Arc::default());
        let (publish_settled, settled) = watch::channel(false);
        let (answers, answered) = mpsc::channel(ANSWER_CAPACITY);
        let owner = Owner {
            shared: Arc::clone(&shared),
            directory: Directory::default(),
            graph: Arc::default(),
            started: Instant::now(),
            last_change: Instant::now(),
            asking: BTreeMap::new(),
            listening: BTreeSet::new(),
            answers,
            publish_directory,
            publish_tools,
            settled: publish_settled,
        };
        let stopping = shared.stopping.clone();
        let graph = graph.subscribe();
        shared.tasks.spawn(async move { stopping.run_until_cancelled(owner.run(graph, answered)).await });
        Self { directory, tools, settled, shared }
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

    /// Waits until the graph has been quiet for a moment and every component has said what it can do, or was given
    /// up; at most for `limit`. Returns whether it came to that.
    pub async fn settled(&self, limit: Duration) -> bool {
        let mut settled = self.settled.clone();
        tokio::time::timeout(limit, settled.wait_for(|settled| *settled)).await.is_ok_and(|seen| seen.is_ok())
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

/// An answer with the component and the run that it is about.
type Answered = (ComponentName, Run, Answer);

/// Owns the directory.
struct Owner {
    shared: Arc<Shared>,
    directory: Directory,
    graph: Arc<Graph>,
    started: Instant,
    last_change: Instant,
    /// Ends the questions to a component.
    asking: BTreeMap<ComponentName, CancellationToken>,
    /// Components whose heartbeat was subscribed to. `r2r` can't drop a subscription at will, so it stays.
    listening: BTreeSet<ComponentName>,
    answers: mpsc::Sender<Answered>,
    publish_directory: watch::Sender<Arc<Directory>>,
    publish_tools: watch::Sender<DiscoveredTools>,
    settled: watch::Sender<bool>,
}

impl Owner {
    async fn run(mut self, mut graph: watch::Receiver<Arc<Graph>>, mut answered: mpsc::Receiver<Answered>) {
        let mut looks = tokio::time::interval(LOOK);
        looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
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
                _ = looks.tick() => self.look(),
            }
        }
    }

    fn follow(&mut self, graph: Arc<Graph>) {
        if !self.graph.robot_nodes().eq(graph.robot_nodes()) {
            self.last_change = Instant::now();
        }
        for task in self.directory.follow(&graph) {
            match task {
                Task::Describe(component, run) => self.describe(component, run),
                Task::Forget(component) => {
                    tracing::info!("the component '{component}' has left");
                    self.shared.heartbeats.forget(&component);
                    self.stop_asking(&component);
                }
            }
        }
        if self.directory.components().count() >= MOST_COMPONENTS {
            tracing::warn!("there are {MOST_COMPONENTS} components or more; no more than that are used");
        }
        self.graph = graph;
        self.publish();
    }

    fn describe(&mut self, component: ComponentName, run: Run) {
        tracing::info!("the component '{component}' was found");
        self.stop_asking(&component);
        self.shared.heartbeats.expect(&component);
        if self.listening.insert(component.clone()) {
            self.spawn(listen(Arc::clone(&self.shared), component.clone()));
        }
        let asking = self.shared.stopping.child_token();
        let question = ask(Arc::clone(&self.shared), component.clone(), run, self.answers.clone());
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

    fn is_settled(&self) -> bool {
        let looked = self.started.elapsed() >= FIRST_LOOK && self.last_change.elapsed() >= QUIET;
        looked && !self.directory.is_describing()
    }

    /// Whoever sees it settled sees what it has settled to, and whoever sees something new does not see it settled.
    fn publish(&self) {
        let settled = self.is_settled();
        self.settled.send_if_modified(|before| std::mem::replace(before, *before && settled) && !settled);
        publish_changed(&self.publish_directory, &self.directory);
        let names = self.graph.robot_nodes().map(GraphNode::short_name);
        let tools: Vec<ToolSpec> = inspection::tool(names).into_iter().chain(self.directory.tools()).collect();
        publish_changed(&self.publish_tools, &tools);
        self.settled.send_if_modified(|before| std::mem::replace(before, settled) != settled);
    }

    fn warn_about(&self, component: &ComponentName, answer: &Answer) {
        let problems = match answer {
            Answer::Described(_, problems) => problems.as_slice(),
            Answer::Unusable(problem) => std::slice::from_ref(problem),
        };
        let known = self.directory.component(component).map(|component| component.problems.as_slice());
        for problem in problems.iter().filter(|problem| !known.unwrap_or_default().contains(problem)) {
            tracing::warn!("the component '{component}': {problem}");
        }
    }

    fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        let stopping = self.shared.stopping.clone();
        self.shared.tasks.spawn(async move { stopping.run_until_cancelled(task).await });
    }
}

fn publish_changed<T: Clone + PartialEq>(publish: &watch::Sender<Arc<T>>, value: &T) {
    publish.send_if_modified(|before| {
        let changed = **before != *value;
        if changed {
            *before = Arc::new(value.clone());
        }
        changed
    });
}

/// Asks a component what it can do until it has said so.
async fn ask(shared: Arc<Shared>, component: ComponentName, run: Run, answers: mpsc::Sender<Answered>) {
    let mut pause = FIRST_PAUSE;
    for attempt in 1_u32.. {
        let problem = match ask_once(&shared, &component).await {
            Ok(text) => {
                // Nobody receives when discovery ends. What it says does not change by asking again.
                let _ = answers.send((component, run, read(&text))).await;
                return;
            }
            Err(problem) => problem.to_string(),
        };
        tracing::debug!("the component '{component}': {problem}");
        if attempt >= PATIENT_ATTEMPTS {
            let _ = answers.send((component.clone(), run, Answer::Unusable(problem))).await;
        }
        tokio::time::sleep(pause).await;
        pause = (pause * 2).min(LONGEST_PAUSE);
    }
}

/// The description as the component gives it. Its methods can be called at once when this returns.
async fn ask_once(shared: &Shared, component: &ComponentName) -> Result<String, RosError> {
    let (describe, execute) = (below(component, DESCRIBE.0), below(component, EXECUTE_METHOD.0));
    let (describe, execute) =
        tokio::try_join!(shared.describe_clients.get(&describe), shared.method_clients.get(&execute))?;
    tokio::try_join!(describe.wait_for_server(SERVER_LIMIT), execute.wait_for_server(SERVER_LIMIT))?;
    Ok(describe.call(&DescribeComponent::Request {}, ANSWER_LIMIT).await?.description_json)
}

fn read(text: &str) -> Answer {
    match ComponentDescription::parse(text) {
        Ok((description, problems)) => {
            Answer::Described(description, problems.iter().map(ToString::to_string).collect())
        }
        Err(problem) => Answer::Unusable(problem.to_string()),
    }
}

/// Takes down every heartbeat of the component.
async fn listen(shared: Arc<Shared>, component: ComponentName) {
    let topic = below(&component, STATUS);
    // Best effort matches publishers of either kind.
    let quality = QosProfile::default().keep_last(5).best_effort().volatile();
    let subscribed = shared.node.with_node(move |node| node.subscribe::<ComponentStatus>(&topic, quality)).await;
    let mut messages = match subscribed {
        Ok(Ok(messages)) => messages,
        Ok(Err(problem)) => return tracing::warn!("the heartbeat of '{component}' can't be heard: {problem}"),
        Err(_) => return,
    };
    while let Some(message) = messages.next().await {
        shared.heartbeats.beat(&component, Health::from(&message));
    }
}
