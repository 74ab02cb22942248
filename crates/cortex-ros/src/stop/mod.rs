//! The stop: `~/stop` and `~/resume`, served by a thread of their own that works when everything else hangs.
//!
//! What happens when a stop is asked for, in this order:
//!
//! 1. the [`StopLatch`] is closed: from here on no call, goal or message of Cortex is sent;
//! 2. every goal in flight is cancelled and every method halted, all at once, from the thread `stop`; it waits for no
//!    other thread and needs no runtime (`tools/stopping.rs`);
//! 3. the agent is told, on its runtime: it ends its tasks and confirms that what they began is at rest;
//! 4. whoever asked is answered: with what did not confirm, or, where the agent does not even begin within
//!    [`AGENT_LIMIT`], with the word that Cortex itself hangs.
//!
//! The latch stays closed until `~/resume`, which the agent has to hear, also where this process ends and is started again:
//! the stop is written down beside all that, and the record is removed before a resume opens the latch. Several stops at once are one, and all who asked
//! are answered.
//!
//! - `begun`: what nobody can halt; `latch`: whether the robot is stopped; `record`: has that outlive the process;
//! - `thread`: the thread; `services`: what it serves; `messages`: what is answered.
//!
//! What `r2r` has on the node of Cortex, only its thread can serve. So the services are made beside it, on the same node:
//! who looks at the node finds them, and the thread `stop` waits for their requests by itself. Where the client library does
//! not tell of the node they belong to a hidden one (`_cortex_stop_PID`).

mod begun;
mod latch;
mod messages;
#[cfg(test)]
mod race;
mod record;
mod services;
mod thread;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use cortex_core::ClientPort;
use cortex_protocol::{CommandError, CommandOutcome, Principal, ToolName};
use cortex_ros_client::node::join_in_time;
use cortex_ros_client::rcl::context::{GuardCondition, Node};
use cortex_ros_client::{GraphWatch, LivenessCounter, RosError, RosNode};
use tokio::sync::{oneshot, watch};

pub use begun::Unhaltable;
pub(crate) use latch::StopNumber;
pub use latch::{StopLatch, StopState};
pub use record::{StopMemory, StopRecordError, StopStore};

use crate::RosTools;
use crate::task::ServiceReply;
use record::{Recorder, Wish};
use services::Services;

/// How long the agent may take to begin with what it is told, before it counts as hanging.
pub const AGENT_LIMIT: Duration = Duration::from_secs(1);
/// How long what is in flight may take to confirm that it is at rest, where the agent does not wait for it.
pub const HALT_LIMIT: Duration = Duration::from_secs(5);
/// How long a stop may take until it is answered. It goes on after that.
pub const ANSWER_LIMIT: Duration = Duration::from_secs(30);
/// How long the disk may take to have the record of a stop removed; else the robot stays stopped.
const REMOVE_LIMIT: Duration = Duration::from_secs(5);
/// How long the end of the process waits for the record of a stop to be written.
const WRITE_LIMIT: Duration = Duration::from_secs(2);
/// Stops and resumes from inside that may wait for the thread.
const COMMANDS: usize = 64;

/// The thread that serves `~/stop` and `~/resume`. Ends when this is dropped.
pub struct StopServer {
    handle: StopHandle,
    thread: Option<JoinHandle<()>>,
}

/// Stops and resumes the robot from inside, and tells whether it is stopped. Clones share it.
#[derive(Clone)]
pub struct StopHandle {
    commands: SyncSender<InsideCommand>,
    wake: Arc<GuardCondition>,
    latch: StopLatch,
    latest: watch::Sender<Option<LatestStop>>,
    liveness: LivenessCounter,
    ending: Arc<AtomicBool>,
    recorder: Recorder,
}

/// A command from inside.
enum InsideCommand {
    Stop { why: String, asked_at: Instant, asker: InsideAsker },
    Resume { of: ResumedStop, principal: Principal, asker: InsideAsker },
}

/// Who waits inside for what comes of it.
enum InsideAsker {
    /// A thread without a runtime.
    Thread(SyncSender<ServiceReply>),
    /// A task on whichever runtime.
    Task(oneshot::Sender<Result<CommandOutcome, CommandError>>),
}

/// Which stop a resume is about: the latest one at the moment at which it was asked for. A resume undoes no later one.
struct ResumedStop {
    stop: Option<StopNumber>,
    recorded: Wish,
    asked_at: Instant,
}

/// What is known of the latest stop.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LatestStop {
    /// Why: who asked, in words for people.
    pub why: String,
    /// When it was asked for.
    pub asked_at: Instant,
    /// When the last request to cancel or to halt was sent.
    pub sent_at: Instant,
    /// How many calls were in flight.
    pub in_flight: usize,
    /// What is not known to be at rest: what did not confirm it, and what can't be halted. None: the stop is under way.
    pub not_stopped: Option<Vec<ToolName>>,
}

impl StopServer {
    /// Starts the thread `stop`, which serves `node`'s `~/stop` and `~/resume`: as services of that node, where the client
    /// library lets them be, so that who looks at it finds them. Blocks for some milliseconds. To be called within a tokio
    /// runtime, which is where the agent is told. To be shut down before the node and the graph watch. `memory` is what has a
    /// stop outlive this process; without, none does.
    ///
    /// # Errors
    /// When watch or node were shut down, `std_srvs` is not installed, the client library refuses, or no thread can be had.
    pub fn start_on(
        node: &RosNode,
        graph: &GraphWatch,
        tools: &RosTools,
        port: Arc<dyn ClientPort>,
        memory: Option<StopMemory>,
    ) -> Result<Self, RosError> {
        let name = node.fully_qualified_name().to_owned();
        let wanted = name.clone();
        match node.make_shared(move |own| Services::create(own, &wanted))? {
            Some(services) => Self::begin(graph, services?, Some(node.clone()), tools, port, memory),
            None => Self::start(graph, &name, tools, port, memory),
        }
    }

    /// The same with a hidden node of its own for the services of the node of that name.
    ///
    /// # Errors
    /// As for [`start_on`](Self::start_on).
    pub fn start(
        graph: &GraphWatch,
        node: &str,
        tools: &RosTools,
        port: Arc<dyn ClientPort>,
        memory: Option<StopMemory>,
    ) -> Result<Self, RosError> {
        let own_node = Node::create(&graph.context()?, &format!("_cortex_stop_{}", std::process::id()))?;
        Self::begin(graph, Services::create(&own_node, node)?, None, tools, port, memory)
    }

    fn begin(
        graph: &GraphWatch,
        services: Services,
        owner: Option<RosNode>,
        tools: &RosTools,
        port: Arc<dyn ClientPort>,
        memory: Option<StopMemory>,
    ) -> Result<Self, RosError> {
        let earlier = memory.as_ref().and_then(|memory| memory.stopped.as_deref()).map(|why| {
            tools.latch().hold();
            LatestStop::before_restart(why)
        });
        let recorder = Recorder::start(memory)?;
        let context = graph.context()?;
        let wake = GuardCondition::create(&context)?;
        let (commands, waiting): (SyncSender<InsideCommand>, Receiver<InsideCommand>) = sync_channel(COMMANDS);
        let handle = StopHandle {
            commands,
            wake: Arc::clone(&wake),
            latch: tools.latch().clone(),
            latest: watch::Sender::new(earlier),
            liveness: LivenessCounter::default(),
            ending: Arc::default(),
            recorder,
        };
        let agent = thread::Agent::new(port, tokio::runtime::Handle::current(), wake);
        let work = thread::EventLoop::new(services, tools.clone(), agent, handle.clone(), waiting)?;
        let serve = move || {
            let services = work.run();
            match owner {
                // They are made and destroyed on the thread of their node only.
                Some(owner) => owner.drop_shared(services),
                None => drop(services),
            }
        };
        let thread = std::thread::Builder::new().name("stop".to_owned()).spawn(serve).map_err(RosError::Thread)?;
        Ok(Self { handle, thread: Some(thread) })
    }

    /// To stop and to resume the robot from inside.
    #[must_use]
    pub fn handle(&self) -> StopHandle {
        self.handle.clone()
    }

    /// Ends the thread; who still waits for an answer gets one. Blocks until that is done.
    pub fn shut_down(self) {
        drop(self);
    }
}

impl Drop for StopServer {
    fn drop(&mut self) {
        self.handle.ending.store(true, Ordering::SeqCst);
        self.handle.wake.trigger();
        if let Some(thread) = self.thread.take() {
            join_in_time(thread);
        }
        if let Err(problem) = self.handle.recorded(WRITE_LIMIT) {
            tracing::error!("the stop may be undone by a restart: {problem}");
        }
        self.handle.recorder.end();
    }
}

impl LatestStop {
    fn before_restart(why: &str) -> Self {
        let now = Instant::now();
        let why = format!("stopped before the restart: {why}");
        Self { why, asked_at: now, sent_at: now, in_flight: 0, not_stopped: Some(Vec::new()) }
    }
}

impl StopHandle {
    /// Stops the robot, for a thread. Blocks for nothing; the answer comes by the channel, which is closed where nobody is
    /// there to answer. `why` is for people.
    pub fn stop(&self, why: impl Into<String>) -> Receiver<ServiceReply> {
        let (answer, answered) = sync_channel(1);
        // Where so many wait, the robot is being stopped.
        let _ = self.begin_stop(why.into(), InsideAsker::Thread(answer));
        answered
    }

    /// Stops the robot, for a task on whichever runtime. The latch is closed when this returns, before anything is awaited.
    /// The stop goes on when the future is dropped. `why` is for people.
    ///
    /// # Errors
    /// When it is not known what still moves, or a restart would undo the stop. Nothing is sent until a resume all the same.
    pub fn stop_for_task(
        &self,
        why: String,
    ) -> impl Future<Output = Result<CommandOutcome, CommandError>> + Send + use<> {
        let (answer, answered) = oneshot::channel();
        let sent = self.begin_stop(why, InsideAsker::Task(answer));
        async move {
            sent?;
            answered.await.unwrap_or_else(|_| Err(messages::nobody_answers()))
        }
    }

    fn begin_stop(&self, why: String, asker: InsideAsker) -> Result<(), CommandError> {
        // At once, whatever the thread does: from here on nothing is sent.
        self.latch.hold();
        let stop = InsideCommand::Stop { why: why.clone(), asked_at: Instant::now(), asker };
        let sent = self.send(stop);
        self.recorder.stopped(&why);
        sent
    }

    /// Hands a command to the thread, without waiting for it.
    fn send(&self, command: InsideCommand) -> Result<(), CommandError> {
        let sent = self.commands.try_send(command).map_err(|problem| messages::not_taken(&problem));
        self.wake.trigger();
        sent
    }

    /// Resumes after the stop that is the latest now, as `~/resume` does, for a task on whichever runtime. Asked for when
    /// this returns; goes on when the future is dropped.
    ///
    /// # Errors
    /// Why the robot stays stopped, and what to do.
    pub fn resume_for_task(
        &self,
        principal: Principal,
    ) -> impl Future<Output = Result<CommandOutcome, CommandError>> + Send + use<> {
        let (answer, answered) = oneshot::channel();
        let resume = InsideCommand::Resume { of: self.latest_to_resume(), principal, asker: InsideAsker::Task(answer) };
        let sent = self.send(resume);
        async move {
            sent?;
            answered.await.unwrap_or_else(|_| Err(messages::nobody_answers()))
        }
    }

    /// The stop that a resume of this moment is about.
    fn latest_to_resume(&self) -> ResumedStop {
        ResumedStop { stop: self.latch.latest(), recorded: self.recorder.latest(), asked_at: Instant::now() }
    }

    /// Waits until the latest stop is written down, at most for `limit`, so that it outlives this process.
    ///
    /// # Errors
    /// Why it is not.
    pub fn recorded(&self, limit: Duration) -> Result<(), StopRecordError> {
        self.recorder.wait(limit)
    }

    /// Whether the robot is stopped.
    #[must_use]
    pub fn latch(&self) -> &StopLatch {
        &self.latch
    }

    /// What is known of the latest stop.
    #[must_use]
    pub fn latest(&self) -> Option<LatestStop> {
        self.latest.borrow().clone()
    }

    /// The same, now and later: a stop is known when it begins, and once more when it is known what it came to.
    #[must_use]
    pub fn watch_latest(&self) -> watch::Receiver<Option<LatestStop>> {
        self.latest.subscribe()
    }

    /// The beats of the thread.
    #[must_use]
    pub fn liveness(&self) -> LivenessCounter {
        self.liveness.clone()
    }

    fn note(&self, change: impl FnOnce(&mut Option<LatestStop>)) {
        self.latest.send_modify(change);
    }
}
