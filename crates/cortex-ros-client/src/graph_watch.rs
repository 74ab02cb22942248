//! Keeps an up-to-date picture of the ROS graph.
//!
//! One thread, `ros-graph`, waits for graph events, reads what may have changed, and publishes a new [`Graph`] when
//! something did. Shutdown is explicit, as it is for the [`RosNode`](crate::RosNode).

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use tokio::sync::watch;

use crate::RosError;
use crate::graph::Graph;
use crate::graph_reader::GraphReader;
use crate::liveness_counter::LivenessCounter;
use crate::node::join_in_time;
use crate::rcl::context::Context;
use crate::rcl::observer::{Observer, Waker, Wakeup};

/// It is looked who is there at least this often, should the middleware forget to say that the graph changed.
const REFRESH: Duration = Duration::from_secs(2);
/// And all nodes are asked what they offer at least this often, which takes a hundred times as long.
const FULL_REFRESH: Duration = Duration::from_secs(10);
/// Changes come in bursts, one for each endpoint of a node: they are taken together.
const BURST: Duration = Duration::from_millis(5);
/// How long known nodes are asked what they offer before it is looked again who is there.
const SLICE: Duration = Duration::from_millis(4);
/// A pause of this many times the cost of what was read keeps a restless graph from taking a core; it is short enough for
/// a node that comes meanwhile to be seen soon.
const REST_FACTOR: u32 = 3;
const LONGEST_REST: Duration = Duration::from_millis(25);

/// Watches the ROS graph. Clones share the watch.
#[derive(Clone)]
pub struct GraphWatch {
    snapshots: watch::Receiver<Arc<Graph>>,
    stopping: Arc<AtomicBool>,
    waker: Waker,
    /// Counts the events of the graph.
    events: watch::Sender<u64>,
    /// Until the shutdown: whoever still has a clone of the watch then must not keep the middleware alive.
    context: Arc<Mutex<Option<Arc<Context>>>>,
    liveness: LivenessCounter,
    thread: Arc<Mutex<Option<JoinHandle<()>>>>,
}

impl GraphWatch {
    /// Starts to watch. `own_node` is the fully qualified name of the node of this process, which is marked as
    /// infrastructure.
    ///
    /// The first picture is empty or incomplete: other nodes are discovered within a few tenths of a second.
    ///
    /// # Errors
    /// When ROS can't be initialised or no thread can be had.
    pub fn start(own_node: &str) -> Result<Self, RosError> {
        let context = Context::create()?;
        let observer = Observer::create(&context, &format!("_cortex_graph_{}", std::process::id()))?;
        let waker = observer.waker();
        let stopping = Arc::new(AtomicBool::new(false));
        let (publish, snapshots) = watch::channel(Arc::default());
        let events = watch::Sender::new(0);
        let liveness = LivenessCounter::default();
        let thread = std::thread::Builder::new()
            .name("ros-graph".to_owned())
            .spawn({
                let stopping = Arc::clone(&stopping);
                let (own_node, events, liveness) = (own_node.to_owned(), events.clone(), liveness.clone());
                move || watch_graph(&observer, &own_node, &stopping, &publish, &events, &liveness)
            })
            .map_err(RosError::Thread)?;
        let context = Arc::new(Mutex::new(Some(context)));
        Ok(Self { snapshots, stopping, waker, events, context, liveness, thread: Arc::new(Mutex::new(Some(thread))) })
    }

    /// The latest picture, and every later one. A slow reader sees the latest only.
    #[must_use]
    pub fn subscribe(&self) -> watch::Receiver<Arc<Graph>> {
        self.snapshots.clone()
    }

    /// The latest picture.
    #[must_use]
    pub fn current(&self) -> Arc<Graph> {
        Arc::clone(&self.snapshots.borrow())
    }

    /// What nodes of other threads of this process are made in, so that they share one participant of the middleware.
    ///
    /// # Errors
    /// When the watch was shut down.
    pub fn context(&self) -> Result<Arc<Context>, RosError> {
        self.context.lock().unwrap_or_else(PoisonError::into_inner).clone().ok_or(RosError::ShutDown)
    }

    /// Changes with each event of the graph, whichever thread saw it: all nodes of a context have one condition for them,
    /// which tells each event to one waiting thread only.
    pub(crate) fn events(&self) -> watch::Sender<u64> {
        self.events.clone()
    }

    /// For a thread that has seen an event of the graph, which this one then has not.
    pub(crate) fn waker(&self) -> Waker {
        self.waker.clone()
    }

    /// The beats of its thread.
    #[must_use]
    pub fn liveness(&self) -> LivenessCounter {
        self.liveness.clone()
    }

    /// Ends the thread and its node. Blocks until that is done, which takes a few milliseconds. Later calls do
    /// nothing.
    pub fn shut_down(&self) {
        self.stopping.store(true, Ordering::Release);
        self.waker.wake();
        let thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(thread) = thread {
            join_in_time(thread);
        }
        // Taken first, dropped without the lock: this ends the middleware, unless somebody else still uses the context.
        let context = self.context.lock().unwrap_or_else(PoisonError::into_inner).take();
        drop(context);
    }
}

fn watch_graph(
    observer: &Observer,
    own_node: &str,
    stopping: &AtomicBool,
    publish: &watch::Sender<Arc<Graph>>,
    events: &watch::Sender<u64>,
    liveness: &LivenessCounter,
) {
    let mut reader = GraphReader::new(own_node);
    let mut was_stale = Instant::now();
    while !stopping.load(Ordering::Acquire) {
        liveness.beat();
        let begun = Instant::now();
        // What was known stays known when it fails; the next event or the next refresh tries again.
        let has_failed = match reader.look(observer).and_then(|()| reader.read(observer, SLICE)) {
            Ok(()) => false,
            Err(problem) => {
                tracing::warn!("{problem}");
                true
            }
        };
        if let Some(graph) = reader.take_changed() {
            publish.send_replace(Arc::new(graph));
        }
        // What fails may go on failing, which must not fill the log.
        let rest = if has_failed { REFRESH } else { (begun.elapsed() * REST_FACTOR).clamp(BURST, LONGEST_REST) };
        std::thread::sleep(rest);
        if stopping.load(Ordering::Acquire) {
            return;
        }
        liveness.beat();
        let patience = if reader.is_reading() { Duration::ZERO } else { REFRESH };
        match observer.wait(patience) {
            // Woken by somebody who has seen a change, or who wants this to end; the graph may have changed, too.
            Ok(Wakeup::GraphChanged | Wakeup::Woken) => {
                events.send_modify(|count| *count = count.wrapping_add(1));
                was_stale = Instant::now();
                reader.stale();
            }
            Ok(Wakeup::TimedOut) if was_stale.elapsed() >= FULL_REFRESH => {
                was_stale = Instant::now();
                reader.stale();
            }
            Ok(Wakeup::TimedOut) => {}
            Err(problem) => {
                tracing::warn!("{problem}");
                std::thread::sleep(REFRESH);
            }
        }
    }
}
