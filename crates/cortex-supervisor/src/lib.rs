//! The monitor's own thread: what `cortex-monitor` decides is done here, and it goes on when everything else hangs.
//!
//! The thread needs no runtime and waits for nobody: it sleeps until a process ends, an input comes or time is up. It
//! starts and ends processes itself, and has commands run; what needs ROS or the missions it gives to [`ActionExecutor`], which must
//! not block and answer through `Handle::tell`.

mod program;
mod thread;
pub mod view;

use std::any::Any;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread::JoinHandle;
use std::time::Duration;

use cortex_monitor::{Effect, Input};
use cortex_process::{CommandRunner, Processes, Refusal, Waker};
use cortex_protocol::ComponentName;
use cortex_recipe::{ActionName, Recipe};

pub use program::{limits, program};
pub use view::{ComponentView, RobotView, Standing};

/// How many inputs may wait. What comes when that many wait is lost, as if it had not been heard; the monitor does not
/// rely on any of them to come.
const INPUT_CAPACITY: usize = 4096;

/// How much longer than the time-outs of the recipe the end of the robot is waited for: what is still there then gets a
/// few seconds to end.
const END_MARGIN: Duration = Duration::from_secs(6);

/// Whether the robot is stopped.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Stops {
    /// How often it was stopped so far.
    pub count: u64,
    /// Whether it is now.
    pub is_stopped: bool,
}

/// The permit to run a command. Until it is dropped, the command is known to run.
pub type StopPermit = Box<dyn Any + Send>;

/// What is done outside the monitor's thread.
///
/// Implemented in `cortex-robot`, over ROS and the missions.
pub trait ActionExecutor: Send {
    /// Takes note of an effect, in order. Transitions and the actions that need ROS are begun here, and answered with
    /// `ActionEnded` when they have ended; processes and commands are seen to already. It must not block.
    fn carry_out(&mut self, effect: &Effect);

    /// Whether the robot is stopped. When that changes, [`Handle::wake`] is to be called. It must not block.
    fn stops(&self) -> Stops;

    /// The permit to run the command of an action; None while the robot is stopped. At a stop, commands that run are ended. It
    /// must not block.
    fn stop_permit(&self, action: &ActionName) -> Option<StopPermit>;

    /// How many calls go on in each component now. Asked when the monitor wants to know of all: what it was told may have
    /// been lost. It must not block.
    fn calls(&self) -> Vec<(ComponentName, u32)> {
        Vec::new()
    }

    /// Takes note of whether the limits of a component's new process are kept, and why not. It must not block.
    fn limits(&mut self, _component: &ComponentName, _refusal: Option<&Refusal>) {}
}

/// Tells the monitor things, from any thread. Clones tell the same one.
#[derive(Debug, Clone)]
pub struct Handle {
    inputs: SyncSender<Input>,
    waker: Waker,
    lost: Arc<AtomicU64>,
    liveness: Arc<AtomicU64>,
}

impl Handle {
    /// Tells it something. Never blocks.
    pub fn send(&self, input: Input) {
        if self.inputs.try_send(input).is_err() {
            self.lost.fetch_add(1, Ordering::Relaxed);
        }
        self.waker.wake();
    }

    /// Has it look at whether the robot is stopped, and at whether it is to end. Neither can be lost.
    pub fn wake(&self) {
        self.waker.wake();
    }

    /// How many inputs were lost because too many were waiting, or because the monitor has ended.
    #[must_use]
    pub fn lost(&self) -> u64 {
        self.lost.load(Ordering::Relaxed)
    }

    /// Counts the turns of the monitor's thread, at least one a second, for who watches that it goes on; `u64::MAX` once it
    /// has ended.
    #[must_use]
    pub fn liveness(&self) -> Arc<AtomicU64> {
        Arc::clone(&self.liveness)
    }
}

/// The monitor at work.
#[derive(Debug)]
pub struct Supervisor {
    handle: Handle,
    /// Set when the robot is to be brought down: beside the inputs, which may be lost.
    ending: Arc<AtomicBool>,
    /// What did not come down, when it is over.
    ended: Receiver<Vec<ComponentName>>,
    limit: Duration,
    components: Vec<ComponentName>,
    thread: JoinHandle<()>,
}

impl Supervisor {
    /// Brings the robot of a checked recipe up. Relative paths in it begin at `folder`. `commands` runs the commands of its
    /// fallbacks, if it has any.
    ///
    /// # Errors
    /// When the thread can't be started.
    pub fn start<H: ActionExecutor + 'static>(
        recipe: &Recipe,
        folder: &Path,
        processes: Processes,
        commands: Option<CommandRunner>,
        executor: impl FnOnce(Handle) -> H,
    ) -> std::io::Result<Self> {
        let (inputs, waiting): (SyncSender<Input>, Receiver<Input>) = sync_channel(INPUT_CAPACITY);
        let handle = Handle { inputs, waker: processes.waker(), lost: Arc::default(), liveness: Arc::default() };
        let ending = Arc::new(AtomicBool::new(false));
        let inbox = thread::Inbox { waiting, ending: Arc::clone(&ending) };
        let executor = executor(handle.clone());
        let folder = folder.to_owned();
        let event_loop =
            thread::EventLoop::new(recipe.clone(), folder, processes, commands, inbox, executor, handle.clone());
        let limit = event_loop.down_within().saturating_add(END_MARGIN);
        tracing::info!("the components come down within {} s when they are told to", limit.as_secs());
        let liveness = handle.liveness();
        let (end, ended) = sync_channel(1);
        let thread = std::thread::Builder::new().name("monitor".to_owned()).spawn(move || {
            let not_stopped = event_loop.run(&liveness);
            liveness.store(u64::MAX, Ordering::Relaxed);
            // Nobody waits any more when it took too long.
            let _ = end.send(not_stopped);
        })?;
        handle.send(Input::Start);
        Ok(Self { handle, ending, ended, limit, components: recipe.components.keys().cloned().collect(), thread })
    }

    /// Tells it things from elsewhere.
    #[must_use]
    pub fn handle(&self) -> Handle {
        self.handle.clone()
    }

    /// Brings the robot down, in reverse order, and waits for that; the time-outs of the recipe bound it. Gives what did
    /// not come down: everything, where the thread does not come to its end. Then the guard ends what is left, when this
    /// process goes.
    #[must_use]
    pub fn stop(self) -> Vec<ComponentName> {
        self.ending.store(true, Ordering::SeqCst);
        self.handle.wake();
        match self.ended.recv_timeout(self.limit) {
            Ok(not_stopped) => {
                // It has nothing left to do.
                let _ = self.thread.join();
                not_stopped
            }
            // A panic of the thread is a mistake of ours; all processes have ended with it.
            Err(RecvTimeoutError::Disconnected) => Vec::new(),
            Err(RecvTimeoutError::Timeout) => {
                tracing::error!("the monitor hangs: it has not brought the robot down within {:?}", self.limit);
                self.components
            }
        }
    }
}
