//! Watches that the loops of this process go on. When one hangs, the robot is stopped and the process ends, so that who
//! started it can start it anew; the guard ends the processes of its recipe.
//!
//! Looks are counted rather than seconds: while the whole process pauses (a closed laptop, SIGSTOP, a debugger) there are
//! none, so a pause is not taken for a hang.

use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread::JoinHandle;
use std::time::Duration;

use cortex_protocol::overview::WatchdogOverview;
use cortex_robot::Robot;
use cortex_ros::stop::{AGENT_LIMIT, HALT_LIMIT};
use cortex_ros::{RosTools, StopHandle};
use cortex_ros_client::{LivenessCounter, exit_at_once};
use tokio::task::AbortHandle;

use crate::logging;

/// How often is looked.
const LOOK: Duration = Duration::from_millis(250);
/// How often the runtime beats.
const BEAT: Duration = Duration::from_millis(100);
/// The exit status of a process in which something hung: an internal error (`EX_SOFTWARE` of sysexits.h).
pub(crate) const EXIT_STATUS: u8 = 70;
/// What the thread of the stop gets beyond its own bounds to answer those who wait.
const MARGIN: Duration = Duration::from_secs(3);
/// How long it may take to cancel everything without that thread.
const LAST_ATTEMPT: Duration = Duration::from_secs(1);
/// How long the disk gets to take the record of the stop, by which the next life of Cortex begins stopped.
const RECORD_LIMIT: Duration = Duration::from_secs(2);

/// A loop that must go on.
pub(crate) struct Loop {
    name: &'static str,
    liveness: LivenessCounter,
    /// At the last look.
    seen: Option<u64>,
    /// Looks since it went on.
    looks: u32,
}

impl Loop {
    pub(crate) fn new(name: &'static str, liveness: LivenessCounter) -> Self {
        Self { name, liveness, seen: None, looks: 0 }
    }

    /// One look; how many have been in vain.
    fn look(&mut self) -> u32 {
        let now = self.liveness.count();
        // One that has ended as it should is not missed.
        let goes_on = now.is_none() || now != self.seen;
        self.seen = now;
        self.looks = if goes_on { 0 } else { self.looks.saturating_add(1) };
        self.looks
    }
}

/// One look at all; the loops that hang, if any do.
fn look(loops: &mut [Loop], most: u32) -> Vec<&'static str> {
    loops.iter_mut().filter_map(|one| (one.look() >= most).then_some(one.name)).collect()
}

/// How many looks in vain make a hang of that length.
fn looks(limit: Duration) -> u32 {
    u32::try_from(limit.as_millis().div_ceil(LOOK.as_millis())).unwrap_or(u32::MAX).max(1)
}

/// The beats of the runtime that this is called in, until the handle is aborted.
fn beats_of_runtime() -> (LivenessCounter, AbortHandle) {
    let liveness = LivenessCounter::default();
    let beating = liveness.clone();
    let task = tokio::spawn(async move {
        loop {
            beating.beat();
            tokio::time::sleep(BEAT).await;
        }
    });
    (liveness, task.abort_handle())
}

/// The watchdog at work.
pub(crate) struct Watchdog {
    end: SyncSender<()>,
    thread: JoinHandle<()>,
    beating: AbortHandle,
    limit: Duration,
    watched: Vec<&'static str>,
}

impl Watchdog {
    /// Watches the runtime that it is called in, the loops of the robot's connection, and `others`.
    ///
    /// # Errors
    /// When no thread can be had.
    pub(crate) fn of(robot: &Robot, stop: &StopHandle, others: Vec<Loop>, limit: Duration) -> std::io::Result<Self> {
        let (runtime, beating) = beats_of_runtime();
        let mut loops = vec![
            Loop::new("runtime", runtime),
            Loop::new("ros", robot.node.liveness()),
            Loop::new("ros-graph", robot.graph.liveness()),
            Loop::new("ros-endpoints", robot.endpoints.liveness()),
            Loop::new("stop", stop.liveness()),
        ];
        loops.extend(others);
        Self::start(limit, loops, beating, stop.clone(), robot.tools.clone())
    }

    /// Starts the thread `watchdog`.
    ///
    /// # Errors
    /// When no thread can be had.
    fn start(
        limit: Duration,
        mut loops: Vec<Loop>,
        beating: AbortHandle,
        stop: StopHandle,
        tools: RosTools,
    ) -> std::io::Result<Self> {
        let watched = loops.iter().map(|one| one.name).collect();
        let (end, ended): (SyncSender<()>, Receiver<()>) = sync_channel(1);
        let most = looks(limit);
        let thread = std::thread::Builder::new().name("watchdog".to_owned()).spawn(move || {
            while ended.recv_timeout(LOOK) == Err(RecvTimeoutError::Timeout) {
                let hanging = look(&mut loops, most);
                if !hanging.is_empty() {
                    give_up(&hanging, limit, &stop, tools.clone());
                }
            }
        })?;
        Ok(Self { end, thread, beating, limit, watched })
    }

    /// For people.
    pub(crate) fn overview(&self) -> WatchdogOverview {
        WatchdogOverview {
            limit_s: self.limit.as_secs_f64(),
            loops: self.watched.iter().map(|&name| name.to_owned()).collect(),
        }
    }

    /// Ends it. To be called before the loops are ended.
    pub(crate) fn shut_down(self) {
        let Self { end, thread, beating, .. } = self;
        drop(end);
        // It never panics, and ends at once.
        let _ = thread.join();
        beating.abort();
    }
}

/// Stops the robot and ends the process.
fn give_up(hanging: &[&str], limit: Duration, stop: &StopHandle, tools: RosTools) -> ! {
    let names = hanging.join(", ");
    let seconds = limit.as_secs_f64();
    // First: nothing that is told may keep the robot from being stopped.
    let answered = stop.stop(format!("Cortex hangs: {names}"));
    tracing::error!("hangs for {seconds} s: {names}. The robot is stopped, and Cortex ends");
    match answered.recv_timeout(AGENT_LIMIT + HALT_LIMIT + MARGIN) {
        Ok(report) => tracing::error!("{}", report.message),
        Err(_) => {
            // Perhaps the thread of the stop hangs, too. Another one tries; it may get stuck at the same place.
            let (tell, told) = sync_channel(1);
            let attempt = std::thread::Builder::new().name("last-stop".to_owned()).spawn(move || {
                let asked = tools.cancel_everything();
                let _ = tell.send(asked);
            });
            match attempt.map(|_| told.recv_timeout(LAST_ATTEMPT)) {
                Ok(Ok(count)) => tracing::error!("{count} calls were asked to end; nobody waited for their answers"),
                _ => tracing::error!("NOT STOPPED: what was in flight could not be cancelled"),
            }
        }
    }
    if let Err(problem) = stop.recorded(RECORD_LIMIT) {
        tracing::error!("the stop could not be written down, so a restart of Cortex undoes it: {problem}");
    }
    logging::flush();
    exit_at_once(EXIT_STATUS)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOST: u32 = 3;

    #[test]
    fn a_loop_that_stands_still_for_so_many_looks_hangs_and_no_other_does() {
        let (one, other) = (LivenessCounter::default(), LivenessCounter::default());
        let mut loops = vec![Loop::new("one", one.clone()), Loop::new("other", other.clone())];
        for _ in 0..MOST {
            other.beat();
            assert_eq!(look(&mut loops, MOST), Vec::<&str>::new());
        }
        other.beat();
        assert_eq!(look(&mut loops, MOST), ["one"]);
        one.beat();
        assert_eq!(look(&mut loops, MOST), Vec::<&str>::new(), "it goes on again");
    }

    #[test]
    fn a_pause_of_the_whole_process_is_one_look_however_long_it_was() {
        let liveness = LivenessCounter::default();
        let mut loops = vec![Loop::new("one", liveness.clone())];
        for _ in 0..10 {
            liveness.beat();
            // Each of these may have been hours apart.
            assert_eq!(look(&mut loops, 2), Vec::<&str>::new());
            assert_eq!(look(&mut loops, 2), Vec::<&str>::new());
        }
    }

    #[test]
    fn a_loop_that_has_ended_is_not_missed() {
        let liveness = LivenessCounter::default();
        let mut loops = vec![Loop::new("one", liveness.clone())];
        liveness.end();
        for _ in 0..10 {
            assert_eq!(look(&mut loops, 1), Vec::<&str>::new());
        }
    }

    #[test]
    fn the_limit_is_rounded_up_to_looks() {
        assert_eq!(
            (looks(Duration::from_secs(5)), looks(Duration::from_millis(251)), looks(Duration::ZERO)),
            (20, 2, 1)
        );
    }
}
