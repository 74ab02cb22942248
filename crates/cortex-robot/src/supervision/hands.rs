//! What the monitor wants done, over ROS.
//!
//! Runs on the monitor's thread, which must not wait: what takes time is given to a task, and when that takes no more, the
//! monitor is told that it failed.

use std::sync::Arc;
use std::time::Duration;

use cortex_monitor::{AttemptId, DeedOutcome, Effect, Input, Transition};
use cortex_process::Refusal;
use cortex_protocol::ComponentName;
use cortex_recipe::ActionName;
use cortex_ros::monitoring::Monitoring;
use cortex_ros::monitoring::deeds::Undone;
use cortex_ros::{Discovery, RosTools, StopState};
use cortex_runtime::Runtime;
use cortex_supervisor::{Handle, Hands, Leave, Stops};
use tokio::sync::{Semaphore, mpsc};
use tokio::task::JoinSet;

use super::deeds::Deeds;
use super::{Watch, missions};

/// Deeds that wait to be begun, and those that go on at a time. Each has an end; the monitor lets no more than a few begin
/// at once, except when a large robot comes up.
const WAITING: usize = 256;
const AT_ONCE: usize = 64;

/// Something that takes time.
struct Job {
    attempt: AttemptId,
    what: What,
    limit: Duration,
}

enum What {
    Change(ComponentName, Transition),
    Act(ActionName),
}

/// The hands.
pub(super) struct RosHands {
    handle: Handle,
    watch: Watch,
    missions: Runtime,
    discovery: Discovery,
    tools: RosTools,
    monitoring: Monitoring,
    deeds: Deeds,
    jobs: mpsc::Sender<Job>,
    operator: mpsc::Sender<String>,
}

impl RosHands {
    /// Begins to take jobs, on a task of `tasks`.
    pub(super) fn start(
        handle: Handle,
        watch: Watch,
        (missions, discovery, tools): (Runtime, Discovery, RosTools),
        monitoring: Monitoring,
        deeds: Deeds,
        operator: mpsc::Sender<String>,
        tasks: &mut JoinSet<()>,
    ) -> Self {
        let (jobs, waiting) = mpsc::channel(WAITING);
        tasks.spawn(work(waiting, deeds.clone(), handle.clone()));
        let monitor = handle.clone();
        deeds.latch().on_change(move || monitor.look_again());
        Self { handle, watch, missions, discovery, tools, monitoring, deeds, jobs, operator }
    }

    fn begin(&self, job: Job) {
        if let Err(refused) = self.jobs.try_send(job) {
            let (reason, job) = match refused {
                mpsc::error::TrySendError::Full(job) => ("too much is being done already", job),
                mpsc::error::TrySendError::Closed(job) => ("nobody is there to do it: Cortex hangs or ends", job),
            };
            tracing::error!("something could not be begun: {reason}");
            let outcome = DeedOutcome::Failed { reason: reason.to_owned() };
            self.handle.tell(Input::DeedEnded { attempt: job.attempt, outcome });
        }
    }
}

impl Hands for RosHands {
    fn carry_out(&mut self, effect: &Effect) {
        // First: the gate in front of the tools is shut before anything else is done.
        self.watch.view.send_modify(|view| view.note(effect));
        self.watch.gate.withhold(self.watch.view.borrow().refusals());
        if let Some(component) = begins_run(effect) {
            self.watch.gate.begin_run(component);
        }
        if let Effect::EndCalls { component } = effect {
            // What the tools have open first: what is halted finds it ended.
            self.tools.end_calls(component);
        }
        missions::tell(&self.missions, &self.watch.view.borrow(), &self.discovery, effect);
        match effect {
            Effect::StartProcess { component, .. } => self.monitoring.expect_anew(component),
            Effect::Change { component, attempt, transition, limit } => {
                let what = What::Change(component.clone(), *transition);
                self.begin(Job { attempt: *attempt, what, limit: *limit });
            }
            Effect::Act { attempt, action, limit, .. } if !self.deeds.is_command(action) => {
                self.begin(Job { attempt: *attempt, what: What::Act(action.clone()), limit: *limit });
            }
            Effect::NotifyOperator { component, message } => {
                let text = format!("{component} needs a person: {message}");
                // It is in the log already; who listens to the output may have it from there.
                let _ = self.operator.try_send(text);
            }
            Effect::Report { event } => {
                // Nobody may be listening.
                let _ = self.watch.events.send(event.clone());
            }
            Effect::Act { .. }
            | Effect::StopProcess { .. }
            | Effect::EndCalls { .. }
            | Effect::FlushCalls
            | Effect::Quarantine { .. }
            | Effect::Release { .. }
            | Effect::Substitute { .. }
            | Effect::PauseMissions { .. }
            | Effect::ResumeMissions
            | Effect::Finished { .. } => {}
        }
    }

    fn calls(&self) -> Vec<(ComponentName, u32)> {
        self.watch.gate.calls().into_iter().collect()
    }

    fn limits(&mut self, component: &ComponentName, refusal: Option<&Refusal>) {
        let reason = refusal.map(Refusal::reason).unwrap_or_default();
        let mut is_new = false;
        self.watch.view.send_modify(|view| is_new = view.note_limits(component, reason));
        if let Some(refusal) = refusal.filter(|_| is_new) {
            tracing::warn!(%component, "its limits (memory_max, cpu_max) are not kept: {refusal}");
            let _ = self.operator.try_send(format!("The limits of {component} are not kept: {refusal}"));
        }
    }

    fn stops(&self) -> Stops {
        let StopState { stops, is_stopped } = self.deeds.latch().now();
        Stops { count: stops, is_stopped }
    }

    fn leave(&self, action: &ActionName) -> Option<Leave> {
        self.deeds.begin_command(action).map(|command| Box::new(command) as Leave)
    }
}

/// The component whose calls belong to an earlier run from this effect on.
fn begins_run(effect: &Effect) -> Option<&ComponentName> {
    match effect {
        Effect::StartProcess { component, .. }
        | Effect::Change { component, transition: Transition::Configure, .. } => Some(component),
        _ => None,
    }
}

/// Does what is wanted, side by side, until the monitor is gone.
async fn work(mut waiting: mpsc::Receiver<Job>, deeds: Deeds, handle: Handle) {
    let places = Arc::new(Semaphore::new(AT_ONCE));
    let mut under_way = JoinSet::new();
    while let Some(job) = waiting.recv().await {
        while under_way.try_join_next().is_some() {}
        let Ok(place) = Arc::clone(&places).acquire_owned().await else { return };
        let (deeds, handle) = (deeds.clone(), handle.clone());
        under_way.spawn(async move {
            let done = match &job.what {
                What::Change(component, transition) => {
                    deeds.change(component, *transition, job.limit).await.map_err(Undone::from)
                }
                What::Act(action) => deeds.act(action, job.limit).await.map(|_| ()),
            };
            let outcome = match done {
                Ok(()) => DeedOutcome::Done,
                Err(Undone::Stopped) => DeedOutcome::Stopped,
                Err(Undone::Failed(reason)) => DeedOutcome::Failed { reason },
            };
            handle.tell(Input::DeedEnded { attempt: job.attempt, outcome });
            drop(place);
        });
    }
}
