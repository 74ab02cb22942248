//! A whole robot, brought up from a recipe and kept alive: where the monitor meets ROS and the missions.
//!
//! - `robot_recipe`: reads the recipe; `evidence`: what ROS shows, as inputs of the monitor;
//! - `action_executor`: what the monitor wants done, over ROS; `actions`: the actions of the recipe;
//! - `own_node`: what components have of the node of Cortex;
//! - `missions`: what missions are told; `calls`: what is under way, as evidence.
//!
//! The monitor itself runs on a thread of its own (`cortex-supervisor`). [`Watch`] is there before it and holds what others
//! look at; [`Supervised`] is the robot that is up.

mod action_executor;
pub mod actions;
mod calls;
mod evidence;
mod missions;
mod own_node;
mod recipe_types;
mod robot_recipe;

use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;

use cortex_interfaces::Interfaces;
use cortex_monitor::MonitorEvent;
use cortex_process::{CommandRunner, Processes, reaper};
use cortex_protocol::ComponentName;
use cortex_recipe::ComponentRecipe;
use cortex_ros::monitoring::Monitoring;
use cortex_runtime::{Gate, Runtime};
use cortex_supervisor::{Handle, RobotView, Supervisor};
use tokio::sync::{broadcast, mpsc, watch};
use tokio::task::JoinSet;

use crate::Robot;
use action_executor::RosActionExecutor;
use actions::Actions;
use calls::CallReports;
pub use recipe_types::field_mistake;
pub use robot_recipe::{RobotRecipe, check, read};

/// Events of the monitor that wait for a slow reader; the oldest go first.
const EVENTS: usize = 1_024;
/// Commands of fallbacks that run at a time, at most: more than any robot needs, since none of them may be refused.
const COMMANDS: usize = 1_024;
/// Messages for the operator that wait to be said.
const MESSAGES: usize = 64;

/// What can be looked at of a robot that is supervised: made before it is brought up. Clones share it.
#[derive(Clone)]
pub struct Watch {
    view: watch::Sender<RobotView>,
    events: broadcast::Sender<MonitorEvent>,
    gate: Gate,
}

impl Watch {
    /// Of a robot that is not brought up yet.
    pub fn new(recipe: &RobotRecipe) -> Self {
        let (view, gate) = (RobotView::new(&recipe.recipe), Gate::default());
        gate.withhold(view.refusals());
        Self { view: watch::Sender::new(view), events: broadcast::Sender::new(EVENTS), gate }
    }

    /// The robot as the monitor sees it; now and later.
    pub fn view(&self) -> watch::Receiver<RobotView> {
        self.view.subscribe()
    }

    /// What happens, in order.
    pub fn events(&self) -> broadcast::Receiver<MonitorEvent> {
        self.events.subscribe()
    }

    /// The gate in front of the calls: what does not work is not called.
    pub fn gate(&self) -> Gate {
        self.gate.clone()
    }

    /// Waits until everything that comes up with the robot has worked, at most for `limit`. Gives what does not work.
    pub async fn come_up(&self, limit: Duration) -> Vec<ComponentName> {
        let mut view = self.view();
        // Both ends of it are fine; what is missing is told.
        let _ = tokio::time::timeout(limit, view.wait_for(RobotView::has_come_up)).await;
        self.view.borrow().missing()
    }
}

/// A robot that is about to be brought up.
pub struct Supervision {
    recipe: RobotRecipe,
    processes: Processes,
    /// For those who look.
    pub watch: Watch,
}

impl Supervision {
    /// Prepares everything that can fail. Nothing is started yet.
    pub async fn prepare(recipe: RobotRecipe) -> anyhow::Result<Self> {
        let (watch, processes) = (Watch::new(&recipe), processes().await?);
        Ok(Self { recipe, processes, watch })
    }

    /// Brings the robot up. What the operator is told goes to `operator`.
    pub fn start(
        self,
        robot: &Robot,
        missions: &Runtime,
        operator: impl Fn(String) + Send + Sync + 'static,
    ) -> anyhow::Result<Supervised> {
        Supervised::start(robot, self, missions, operator)
    }
}

/// The processes of a recipe before they are started: with the guard that ends them when this process dies.
async fn processes() -> anyhow::Result<Processes> {
    let prepared = tokio::task::spawn_blocking(|| {
        for command in cortex_process::end_orphans() {
            tracing::warn!("an earlier life had left this running, and it was ended: {command}");
        }
        guarded(Processes::new().context("processes can't be watched")?)
    });
    prepared.await.context("the processes could not be prepared")?
}

/// The same with the guard that ends them when this process dies.
pub fn guarded(processes: Processes) -> anyhow::Result<Processes> {
    let mut guard = Command::new(std::env::current_exe().context("the program of Cortex is not known")?);
    guard.args([reaper::COMMAND, &processes.run().to_string()]);
    processes.withholding(is_own).reaped_by(guard).context("the guard of the processes")
}

/// Whether a variable is for Cortex alone: the key of the model, which would let everybody who can start a program of the
/// recipe speak in its name, and what configures Cortex.
fn is_own(variable: &str) -> bool {
    variable == cortex_model::API_KEY_VARIABLE || variable.starts_with("CORTEX_")
}

/// A robot that is up, or on its way.
pub struct Supervised {
    supervisor: Supervisor,
    /// What keeps missions, operators and evidence up to date; ends with the robot.
    tasks: JoinSet<()>,
}

impl Supervised {
    fn start(
        robot: &Robot,
        supervision: Supervision,
        missions: &Runtime,
        operator: impl Fn(String) + Send + Sync + 'static,
    ) -> anyhow::Result<Self> {
        let Supervision { recipe, processes, watch } = supervision;
        let interfaces = Arc::new(Interfaces::from_environment());
        let actions = Actions::on(robot, &recipe.recipe);
        let mut tasks = JoinSet::new();
        let (message, mut messages) = mpsc::channel::<String>(MESSAGES);
        tasks.spawn(async move {
            while let Some(text) = messages.recv().await {
                operator(text);
            }
        });
        let gate = watch.gate();
        let has_process = |(_, component): &(&ComponentName, &ComponentRecipe)| component.start.process().is_some();
        let own = recipe.recipe.components.iter().filter(has_process).map(|(name, _)| name.clone());
        missions.supervise(own.collect());
        let own_node = robot.node.fully_qualified_name();
        let watched = evidence::watched(&recipe.recipe);
        let commands = recipe.recipe.has_commands().then(|| CommandRunner::start(COMMANDS, guarded)).transpose()?;
        let supervisor = Supervisor::start(&recipe.recipe, &recipe.folder, processes, commands, |handle| {
            gate.report_to(Arc::new(CallReports::new(handle.clone(), &recipe.recipe)));
            let tell = evidence::teller(handle.clone(), gate);
            let (graph, endpoints, discovery) = (&robot.graph, &robot.endpoints, &robot.discovery);
            let monitoring = Monitoring::start(graph, endpoints, discovery, &interfaces, own_node, watched, tell);
            tasks.spawn(calls::report_hung(
                missions.unconfirmed_halts(),
                recipe.recipe.components.keys().cloned().collect(),
                handle.clone(),
            ));
            let missions = (missions.clone(), discovery.clone(), robot.tools.clone());
            RosActionExecutor::start(handle, watch.clone(), missions, monitoring, actions, message, &mut tasks)
        })
        .context("the monitor can't be started")?;
        Ok(Self { supervisor, tasks })
    }

    /// Tells the monitor things.
    pub fn handle(&self) -> Handle {
        self.supervisor.handle()
    }

    /// Brings it down, in reverse order. Gives what did not come down.
    pub async fn stop(self) -> Vec<ComponentName> {
        let Self { supervisor, tasks } = self;
        // It waits for processes to end.
        let not_stopped = tokio::task::spawn_blocking(move || supervisor.stop()).await.unwrap_or_default();
        drop(tasks);
        not_stopped
    }
}

#[cfg(test)]
mod tests {
    use super::is_own;

    #[test]
    fn the_key_of_the_model_and_the_configuration_are_for_cortex_alone() {
        assert!(is_own("OPENAI_API_KEY") && is_own("CORTEX_CONFIG"));
        assert!(!is_own("PATH") && !is_own("ROS_DOMAIN_ID") && !is_own("HOME"));
    }
}
