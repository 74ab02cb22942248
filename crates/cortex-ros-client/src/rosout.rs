//! Reading the log of all nodes.
//!
//! A node may log ten thousand lines a second. So this has a thread of its own, on which nothing else waits, and which rests
//! between looks: what piles up meanwhile is read in one go, at a known cost.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use cortex_interfaces::{Interfaces, Message, MessageView};

use crate::node::join_in_time;
use crate::rcl::context::{GuardCondition, Node};
use crate::rcl::observer::Waker;
use crate::rcl::subscription::Subscription;
use crate::rcl::wait_set::WaitSet;
use crate::{GraphWatch, Names, QosProfile, RosError};

const TOPIC: &str = "/rosout";
const TYPE: &str = "rcl_interfaces/msg/Log";
/// Lines that the middleware keeps between two looks: twice what a flood of 100,000 a second brings.
const KEPT: usize = 4096;
/// How long it rests after a look that found something.
const REST: Duration = Duration::from_millis(20);
/// How often the listener gets a turn where nothing is logged.
const IDLE: Duration = Duration::from_millis(250);
/// Before another try, where the client library failed.
const AFTER_FAILURE: Duration = Duration::from_secs(1);

/// A line of a node's log, as it was sent: nothing in it was checked.
#[derive(Debug)]
pub struct RosoutLine<'a> {
    /// Nanoseconds since 1970.
    pub stamp_ns: i128,
    /// 10 to 50, as `rcl_interfaces/msg/Log` has it.
    pub level: u8,
    /// The name of the logger.
    pub logger: &'a str,
    /// What is logged.
    pub text: &'a str,
    /// Which function says to have logged it.
    pub function: &'a str,
}

/// Gets what is logged. Must not wait for anything.
pub trait RosoutListener: Send + 'static {
    /// A node has logged a line.
    fn line(&mut self, line: &RosoutLine<'_>);

    /// What has come for now was given. Comes four times a second at least.
    fn pause(&mut self);
}

/// Reads the log of all nodes, until it is shut down or dropped.
pub struct Rosout {
    stopping: Arc<AtomicBool>,
    wake: Arc<GuardCondition>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

impl Rosout {
    /// Begins to read; what was logged in the last seconds comes first. `names` are those of this process's node. Blocks for some milliseconds.
    ///
    /// # Errors
    /// When ROS refuses, or no thread can be had.
    pub fn start(
        graph: &GraphWatch,
        names: &Names,
        interfaces: &Interfaces,
        listener: impl RosoutListener,
    ) -> Result<Self, RosError> {
        let context = graph.context()?;
        let interface = interfaces.message(TYPE)?;
        let node = Node::create(&context, &format!("_cortex_log_{}", std::process::id()))?;
        let quality = QosProfile::TRANSIENT_LOCAL.keep_last(KEPT);
        let subscription = Arc::new(Subscription::create(&node, &names.topic(TOPIC)?, &interface, quality)?);
        let wake = GuardCondition::create(&context)?;
        let stopping = Arc::new(AtomicBool::new(false));
        let set = WaitSet::create(&node, &wake, Vec::new(), vec![Arc::clone(&subscription)])?;
        let mut reading =
            Reading { set, message: Message::new(&interface), subscription, watch: graph.waker(), listener };
        let is_over = Arc::clone(&stopping);
        let thread = std::thread::Builder::new().name("ros-log".to_owned()).spawn(move || reading.run(&is_over));
        Ok(Self { stopping, wake, thread: Mutex::new(Some(thread.map_err(RosError::Thread)?)) })
    }

    /// Ends the thread and its node. Blocks until that is done, for some milliseconds. Later calls do nothing.
    pub fn shut_down(&self) {
        self.stopping.store(true, Ordering::Release);
        self.wake.trigger();
        let thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(thread) = thread {
            join_in_time(thread);
        }
    }
}

impl Drop for Rosout {
    fn drop(&mut self) {
        self.shut_down();
    }
}

struct Reading<L> {
    set: WaitSet,
    /// Each line is read into it.
    message: Message,
    subscription: Arc<Subscription>,
    watch: Waker,
    listener: L,
}

impl<L: RosoutListener> Reading<L> {
    /// It logs nothing about lines: that would be another line.
    fn run(&mut self, is_over: &AtomicBool) {
        let mut has_failed = false;
        while !is_over.load(Ordering::Acquire) {
            match self.turn() {
                Ok(()) => {}
                Err(problem) => {
                    if !has_failed {
                        tracing::warn!("the log of the robot's nodes can't be read: {problem}; it is tried again");
                    }
                    has_failed = true;
                    std::thread::sleep(AFTER_FAILURE);
                }
            }
        }
    }

    fn turn(&mut self) -> Result<(), RosError> {
        let ready = self.set.wait(IDLE)?;
        let mut has_lines = false;
        if let Some(ready) = ready {
            if ready.graph {
                // Each event of the graph is told to one thread only, and this one has no use for it.
                self.watch.wake();
            }
            if !ready.subscriptions.is_empty() {
                has_lines = true;
                self.read()?;
            }
        }
        self.listener.pause();
        if has_lines {
            std::thread::sleep(REST);
        }
        Ok(())
    }

    /// Reads what is there, and not more: a flood would keep it for ever.
    fn read(&mut self) -> Result<(), RosError> {
        let begun = Instant::now();
        for _ in 0..KEPT {
            if self.subscription.take_into(&mut self.message)?.is_none() || begun.elapsed() > IDLE {
                return Ok(());
            }
            give(self.message.view(), &mut self.listener);
        }
        Ok(())
    }
}

fn give(view: MessageView<'_>, listener: &mut impl RosoutListener) {
    let text = |field: &str| view.text(field).unwrap_or_default();
    let (logger, said, function) = (text("name"), text("msg"), text("function"));
    let stamp = view.nested("stamp");
    let of_stamp = |field: &str| stamp.and_then(|stamp| stamp.integer(field)).unwrap_or_default();
    let level = view.integer("level").and_then(|level| u8::try_from(level).ok()).unwrap_or_default();
    listener.line(&RosoutLine {
        stamp_ns: of_stamp("sec") * 1_000_000_000 + of_stamp("nanosec"),
        level,
        logger: &logger,
        text: &said,
        function: &function,
    });
}
