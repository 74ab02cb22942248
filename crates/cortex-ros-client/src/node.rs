//! The one ROS node of a process, on a thread of its own.
//!
//! `r2r` wants `&mut Node` both to spin and to create things, so the node lives on one named thread and everybody else
//! sends it work. Nothing here blocks an async caller. Shutdown is explicit: a process that returns from `main` while
//! this thread still spins crashes in the exit handlers of the middleware.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use futures::{FutureExt as _, StreamExt as _};
use r2r::rosgraph_msgs::msg::Clock;
use tokio_util::sync::CancellationToken;

use crate::clock::RosClock;
use crate::hung_threads;
use crate::liveness_counter::LivenessCounter;
use crate::logging::NodeLog;
use crate::parameters::{ParameterValue, given_to};
use crate::rcl::arguments::Arguments;
use crate::rcl::context::Node;
use crate::rcl::main_node;
use crate::rcl::overrides::sections;
use crate::{Names, QosProfile, RosError, TypedMessage};

/// How long one wait for ROS events may last while there is work; also the longest time that further work waits to be begun.
const SPIN_TIMEOUT: Duration = Duration::from_millis(10);
/// The same once no work has come for [`BUSY`]. Events end a wait at once, work does not; but `r2r` makes the set that it
/// waits for anew each time, which at every 10 ms cost a node of twenty services four times as much.
const IDLE_SPIN_TIMEOUT: Duration = Duration::from_millis(50);
const BUSY: Duration = Duration::from_secs(2);
/// Work that may be queued for the thread. Creating endpoints is rare; a burst of a few hundred components fits.
const WORK_CAPACITY: usize = 4096;
/// The period of a timer that does nothing: without anything to wait for, a wait would end at once, over and over.
const IDLE_TIMER: Duration = Duration::from_secs(3600);
/// How long a thread of ROS may take to end. Destroying a few hundred endpoints takes some tenths of a second.
const JOIN_TIMEOUT: Duration = Duration::from_secs(10);

/// How long the node's thread may take to make or to drop an endpoint that another thread serves.
pub const SHARED_LIMIT: Duration = Duration::from_secs(5);

/// The parameter that says whose time counts.
pub const USE_SIM_TIME: &str = "use_sim_time";

type Work = Box<dyn FnOnce(&mut r2r::Node) + Send>;
/// Takes what a wait for ROS events has brought. False when it will take no more.
type Taker = Box<dyn FnMut() -> bool + Send>;

type Stream<T> = std::pin::Pin<Box<dyn futures::Stream<Item = T> + Send>>;

/// A handle to the process's ROS node. Clones share the node.
#[derive(Clone)]
pub struct RosNode {
    work: SyncSender<Message>,
    thread: Arc<Mutex<Option<JoinHandle<()>>>>,
    name: Arc<str>,
    parameters: Arc<BTreeMap<String, ParameterValue>>,
    clock: RosClock,
    ended: CancellationToken,
    liveness: LivenessCounter,
    /// The node for endpoints that are served by other threads, as long as it is there.
    shared: Weak<Node>,
}

enum Message {
    Do(Work),
    Take(Taker),
    ShutDown,
}

impl RosNode {
    /// Creates the node and starts its thread. ROS arguments of the process (`--ros-args ...`) apply: remaps,
    /// namespace, parameters.
    ///
    /// # Errors
    /// When the ROS arguments are not valid, ROS can't be initialised, the name is not valid, or no thread can be had.
    pub fn start(name: &str, namespace: &str) -> Result<Self, RosError> {
        // `r2r` panics on what is refused here.
        let arguments = Arguments::of_process()?;
        arguments.check()?;
        let invalid = |text: &str| RosError::Initialisation { problem: format!("'{text}' is not the name of a node") };
        if let Some(bad) = [name, namespace].into_iter().find(|text| text.contains('\0')) {
            return Err(invalid(bad));
        }
        let context = catch_unwind(r2r::Context::create).map_err(|panic| RosError::Initialisation {
            problem: panic.downcast_ref::<String>().cloned().unwrap_or_else(|| "no context can be had".to_owned()),
        })??;
        let (node, handle) = main_node::created(|| r2r::Node::create(context, name, namespace));
        let mut node = node?;
        let shared = handle.as_ref().map(Arc::downgrade).unwrap_or_default();
        let log = NodeLog::join(&mut node)?;
        let idle_timer = node.create_wall_timer(IDLE_TIMER)?;
        let full_name = node.fully_qualified_name()?;
        let parameters = given_to(&full_name, sections(&arguments)?);
        let (clock, follow) = clock_of(&mut node, &parameters)?;
        let (work, queue) = sync_channel(WORK_CAPACITY);
        let ended = CancellationToken::new();
        let guard = ended.clone().drop_guard();
        let liveness = LivenessCounter::default();
        let thread = std::thread::Builder::new()
            .name("ros".to_owned())
            .spawn({
                let liveness = liveness.clone();
                move || {
                    // Tells everybody that the node is gone, as the last thing.
                    let _guard = guard;
                    let mut node = node;
                    spin(&mut node, idle_timer, &queue, follow, &liveness);
                    drop(log);
                    if !is_given_back(handle) {
                        // What is made on it by a thread that hangs would be used after its end.
                        std::mem::forget(node);
                        hung_threads::note();
                    }
                }
            })
            .map_err(RosError::Thread)?;
        Ok(Self {
            work,
            thread: Arc::new(Mutex::new(Some(thread))),
            name: full_name.into(),
            parameters: Arc::new(parameters),
            clock,
            ended,
            liveness,
            shared,
        })
    }

    /// Makes something on this node that is served by another thread, such as a
    /// [`Service`](crate::rcl::service::Service). Blocks until that is done. What is made is to be dropped by
    /// [`drop_shared`](Self::drop_shared), before the shutdown. None where the client library does not tell of the node.
    ///
    /// # Errors
    /// When the node was shut down, or its thread does nothing for [`SHARED_LIMIT`].
    pub fn make_shared<T: Send + 'static>(
        &self,
        make: impl FnOnce(&Arc<Node>) -> T + Send + 'static,
    ) -> Result<Option<T>, RosError> {
        let Some(node) = self.shared.upgrade() else { return Ok(None) };
        self.on_thread(move |_| make(&node)).map(Some)
    }

    /// Drops what was made by [`make_shared`](Self::make_shared), on the thread of the node. Blocks until that is done. Where
    /// that thread does nothing any more it is left as it is.
    pub fn drop_shared<T: Send + 'static>(&self, shared: T) {
        if let Err(problem) = self.on_thread(move |_| drop(shared)) {
            tracing::debug!("an endpoint is left behind: {problem}");
        }
    }

    fn on_thread<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut r2r::Node) -> T + Send + 'static,
    ) -> Result<T, RosError> {
        let (reply, answer) = sync_channel(1);
        let work: Work = Box::new(move |node| drop(reply.try_send(work(node))));
        // A queue that is full or closed is one of a thread that does nothing any more.
        self.work.try_send(Message::Do(work)).map_err(|_| RosError::ShutDown)?;
        answer.recv_timeout(SHARED_LIMIT).map_err(|_| RosError::ShutDown)
    }

    /// The fully qualified name after remapping, for example `/cortex`.
    #[must_use]
    pub fn fully_qualified_name(&self) -> &str {
        &self.name
    }

    /// How the names of this node are resolved, for what is made on other nodes of the process.
    #[must_use]
    pub fn names(&self) -> Names {
        Names::of_process(&self.name)
    }

    /// The parameters that `--ros-args` gave this node, by name: `-p name:=value` and parameter files.
    #[must_use]
    pub fn parameters(&self) -> &BTreeMap<String, ParameterValue> {
        &self.parameters
    }

    /// The node's clock: the simulation's where the parameter `use_sim_time` was given as true.
    #[must_use]
    pub fn clock(&self) -> &RosClock {
        &self.clock
    }

    /// Runs `work` on the ROS thread and returns what it returned. For creating and destroying endpoints; it must not
    /// block.
    ///
    /// # Errors
    /// When the node was shut down.
    pub async fn with_node<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut r2r::Node) -> T + Send + 'static,
    ) -> Result<T, RosError> {
        let (reply, answer) = tokio::sync::oneshot::channel();
        self.tell(Message::Do(Box::new(move |node| {
            // The caller may have lost interest; then nobody needs the value.
            let _ = reply.send(work(node));
        })))
        .await?;
        answer.await.map_err(|_| RosError::ShutDown)
    }

    /// Subscribes to a topic and hands every message to `take`, on the ROS thread; it must not block. Ends when it
    /// returns false.
    ///
    /// `r2r` hands messages on by a queue of ten and drops what does not fit, which is soon the case where a burst meets
    /// a busy machine. Here the queue is emptied after each wait, and a wait brings one message at most.
    ///
    /// # Errors
    /// When the name is not valid, or the node was shut down.
    pub async fn subscribe_to_all<T: TypedMessage>(
        &self,
        topic: &str,
        quality: QosProfile,
        mut take: impl FnMut(T) -> bool + Send + 'static,
    ) -> Result<(), RosError> {
        let topic = topic.to_owned();
        let mut messages = self
            .with_node(move |node| {
                node.subscribe::<T>(&topic, quality.into()).map(|messages| Box::pin(messages) as Stream<T>)
            })
            .await??;
        self.tell(Message::Take(Box::new(move || take_all(&mut messages, &mut take)))).await
    }

    /// Queues a message for the ROS thread.
    async fn tell(&self, mut message: Message) -> Result<(), RosError> {
        loop {
            match self.work.try_send(message) {
                Ok(()) => return Ok(()),
                Err(TrySendError::Disconnected(_)) => return Err(RosError::ShutDown),
                Err(TrySendError::Full(unsent)) => {
                    message = unsent;
                    tokio::time::sleep(SPIN_TIMEOUT).await;
                }
            }
        }
    }

    /// Resolves when the node is gone: after [`shut_down`](Self::shut_down), or because the client library panicked.
    pub async fn ended(&self) {
        self.ended.cancelled().await;
    }

    /// Whether the node is gone.
    #[must_use]
    pub fn has_ended(&self) -> bool {
        self.ended.is_cancelled()
    }

    /// The beats of its thread.
    #[must_use]
    pub fn liveness(&self) -> LivenessCounter {
        self.liveness.clone()
    }

    /// Ends the thread and destroys the node. Blocks until that is done. Later calls do nothing.
    pub fn shut_down(&self) {
        let mut message = Message::ShutDown;
        // A closed queue means that the thread has already ended.
        while let Err(TrySendError::Full(unsent)) = self.work.try_send(message) {
            message = unsent;
            std::thread::sleep(SPIN_TIMEOUT);
        }
        let thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(thread) = thread {
            join_in_time(thread);
        }
    }
}

/// Joins a thread that was told to end. One that does not is named and left behind.
pub fn join_in_time(thread: JoinHandle<()>) {
    let name = thread.thread().name().unwrap_or_default().to_owned();
    let begun = Instant::now();
    while !thread.is_finished() {
        if begun.elapsed() > JOIN_TIMEOUT {
            tracing::error!("the thread '{name}' did not end within {} s", JOIN_TIMEOUT.as_secs());
            hung_threads::note();
            return;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    if thread.join().is_err() {
        tracing::error!("the thread '{name}' panicked");
    }
}

/// Hands on what has come. False when no more will, or no more is wanted.
fn take_all<T>(messages: &mut Stream<T>, take: &mut impl FnMut(T) -> bool) -> bool {
    loop {
        match messages.next().now_or_never() {
            None => return true,
            Some(Some(message)) => {
                if !take(message) {
                    return false;
                }
            }
            Some(None) => return false,
        }
    }
}

/// The clock that `use_sim_time` asks for, and what keeps it going.
fn clock_of(
    node: &mut r2r::Node,
    parameters: &BTreeMap<String, ParameterValue>,
) -> Result<(RosClock, Vec<Taker>), RosError> {
    if parameters.get(USE_SIM_TIME) != Some(&ParameterValue::Bool(true)) {
        return Ok((RosClock::System, Vec::new()));
    }
    let clock = RosClock::simulated();
    let quality = QosProfile::BEST_EFFORT.keep_last(1);
    let mut times: Stream<Clock> = Box::pin(node.subscribe::<Clock>("/clock", quality.into())?);
    let told = clock.clone();
    let mut take = move |time: Clock| {
        told.set(time.clock);
        true
    };
    Ok((clock, vec![Box::new(move || take_all(&mut times, &mut take))]))
}

/// Whether nothing is left on the node that others have made. Waits for them, but not for ever.
fn is_given_back(handle: Option<Arc<Node>>) -> bool {
    let Some(mut handle) = handle else { return true };
    let begun = Instant::now();
    loop {
        handle = match Arc::try_unwrap(handle) {
            Ok(_) => return true,
            Err(_) if begun.elapsed() > JOIN_TIMEOUT / 2 => return false,
            Err(still) => still,
        };
        std::thread::sleep(Duration::from_millis(1));
    }
}

fn spin(
    node: &mut r2r::Node,
    _idle_timer: r2r::Timer,
    queue: &Receiver<Message>,
    mut takers: Vec<Taker>,
    liveness: &LivenessCounter,
) {
    let mut worked = Instant::now();
    loop {
        liveness.beat();
        while let Ok(message) = queue.try_recv() {
            liveness.beat();
            worked = Instant::now();
            match message {
                // A panic here is a flaw of the work, not of the node.
                Message::Do(work) => {
                    if catch_unwind(AssertUnwindSafe(|| work(node))).is_err() {
                        tracing::error!("work on the ROS thread panicked");
                    }
                }
                Message::Take(taker) => takers.push(taker),
                Message::ShutDown => return,
            }
        }
        node.spin_once(if worked.elapsed() < BUSY { SPIN_TIMEOUT } else { IDLE_SPIN_TIMEOUT });
        // One that panics takes no more; that is a flaw of it, not of the node.
        takers.retain_mut(|taker| catch_unwind(AssertUnwindSafe(taker)).unwrap_or(false));
    }
}
