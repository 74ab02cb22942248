//! What the monitor wants done, over ROS.
//!
//! Runs on the monitor's thread, which must not wait: what takes time is given to a task, and when that takes no more, the
//! monitor is told that it failed.

use std::sync::Arc;
use std::time::Duration;

use cortex_monitor::{ActionResult, AttemptId, Effect, Input, Transition};
use cortex_process::Refusal;
use cortex_protocol::ComponentName;
use cortex_recipe::ActionName;
use cortex_ros::monitoring::Monitoring;
use cortex_ros::monitoring::actions::ActionError;
use cortex_ros::{Discovery, RosTools, StopState};
use cortex_runtime::Runtime;
use cortex_supervisor::{ActionExecutor, Handle, StopPermit, Stops};
use tokio::sync::{Semaphore, mpsc};
use tokio::task::JoinSet;

use super::actions::Actions;
use super::{Watch, missions};

/// Actions that wait to be begun, and those that go on at a time. Each has an end; the monitor lets no more than a few begin
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
pub(super) struct RosActionExecutor {
    handle: Handle,
    watch: Watch,
    missions: Runtime,
    discovery: Discovery,
    tools: RosTools,
    monitoring: Monitoring,
    actions: Actions,
    jobs: mpsc::Sender<Job>,
    operator: mpsc::Sender<String>,
}

impl RosActionExecutor {
    /// Begins to take jobs, on a task of `tasks`.
    pub(super) fn start(
        handle: Handle,
        watch: Watch,
        (missions, discovery, tools): (Runtime, Discovery, RosTools),
        monitoring: Monitoring,
        actions: Actions,
        operator: mpsc::Sender<String>,
        tasks: &mut JoinSet<()>,
    ) -> Self {
        let (jobs, waiting) = mpsc::channel(WAITING);
        tasks.spawn(work(waiting, actions.clone(), handle.clone()));
        let monitor = handle.clone();
        actions.latch().on_change(move || monitor.wake());
        Self { handle, watch, missions, discovery, tools, monitoring, actions, jobs, operator }
    }

    fn begin(&self, job: Job) {
        if let Err(refused) = self.jobs.try_send(job) {
            let (reason, job) = match refused {
                mpsc::error::TrySendError::Full(job) => ("too much is being done already", job),
                mpsc::error::TrySendError::Closed(job) => ("nobody is there to do it: Cortex hangs or ends", job),
            };
            tracing::error!("something could not be begun: {reason}");
            let outcome = ActionResult::Failed { reason: reason.to_owned() };
            self.handle.send(Input::ActionEnded { attempt: job.attempt, outcome });
        }
    }
}

impl ActionExecutor for RosActionExecutor {
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
            Effect::Act { attempt, action, limit, .. } if !self.actions.is_command(action) => {
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
            | Effect::FailOver { .. }
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
        let StopState { stops, is_stopped } = self.actions.latch().now();
        Stops { count: stops, is_stopped }
    }

    fn stop_permit(&self, action: &ActionName) -> Option<StopPermit> {
        self.actions.begin_command(action).map(|command| Box::new(command) as StopPermit)
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
async fn work(mut waiting: mpsc::Receiver<Job>, actions: Actions, handle: Handle) {
    let places = Arc::new(Semaphore::new(AT_ONCE));
    let mut under_way = JoinSet::new();
    while let Some(job) = waiting.recv().await {
        while under_way.try_join_next().is_some() {}
        let Ok(place) = Arc::clone(&places).acquire_owned().await else { return };
        let (actions, handle) = (actions.clone(), handle.clone());
        under_way.spawn(async move {
            let done = match &job.what {
                What::Change(component, transition) => {
                    actions.change(component, *transition, job.limit).await.map_err(ActionError::from)
                }
                What::Act(action) => actions.act(action, job.limit).await.map(|_| ()),
            };
            let outcome = match done {
                Ok(()) => ActionResult::Done,
                Err(ActionError::Stopped) => ActionResult::Stopped,
                Err(ActionError::Failed(reason)) => ActionResult::Failed { reason },
            };
            handle.send(Input::ActionEnded { attempt: job.attempt, outcome });
            drop(place);
        });
    }
}
