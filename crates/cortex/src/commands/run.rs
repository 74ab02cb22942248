//! `cortex run`: the node.

use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use cortex_core::ToolProvider;
use cortex_model::{Reflex, api_key_from_environment};
use cortex_protocol::{CloudEvent, MissionEvent, MissionId, MissionResult, MissionStatus, Origin, Submission};
use cortex_ros::serving::Serving;
use cortex_ros::task::{Refusal, RunningTask, StopReport, TaskEnding, TaskResult, TaskUpdate};
use cortex_ros::{Discovery, Policy, RosNode, TaskHandler, TaskServer};
use cortex_runtime::{DryRun, MissionTicket, ProviderId, Runtime, RuntimeConfig};
use tokio::sync::{broadcast, mpsc, oneshot, watch};

use crate::arguments::StartArguments;
use crate::config::{self, Layers, Resolved};
use crate::logging;
use crate::management::{self, Management, Sources, tell};
use crate::robot::{self, Robot};

/// The robot's graph is the first provider of tools.
const ROS: ProviderId = ProviderId(0);
/// Feedback on its way to the task server; the mission's own queue holds the rest.
const UPDATES: usize = 64;
/// What the missions get to end when Cortex is told to, beyond the time that their tools may take to halt.
const END_MARGIN: Duration = Duration::from_secs(5);

pub(crate) async fn run(arguments: StartArguments) -> anyhow::Result<ExitCode> {
    let StartArguments { run, dry_run } = arguments;
    let node = robot::join("cortex")?;
    let read = sources(&node, run.config.as_deref(), run.model);
    let (sources, resolved) = match read.and_then(|sources| sources.resolve().map(|resolved| (sources, resolved))) {
        Ok(read) => read,
        Err(problem) => {
            node.shut_down();
            return Err(problem);
        }
    };
    let robot = Robot::discover(node, resolved.policy.clone())?;
    let served = serve(&robot, sources, resolved, dry_run).await;
    robot.leave().await;
    served
}

/// Where the configuration comes from: the node's own parameters are one layer.
fn sources(node: &RosNode, file: Option<&Path>, model: Option<String>) -> anyhow::Result<Sources> {
    let layers = Layers { file: config::file(file), ros: robot::parameters(node), model, ..Layers::default() };
    Ok(Sources { layers, api_key: api_key_from_environment()? })
}

/// Reads the configuration.
pub(crate) fn resolve(node: &RosNode, file: Option<&Path>, model: Option<String>) -> anyhow::Result<Resolved> {
    sources(node, file, model)?.resolve()
}

/// What the configuration says of the robot, for commands that look at it.
pub(crate) fn policy(node: &RosNode, file: Option<&Path>) -> anyhow::Result<Policy> {
    let layers = Layers { file: config::file(file), ros: robot::parameters(node), ..Layers::default() };
    Ok(config::load(&layers)?.policy)
}

async fn serve(robot: &Robot, sources: Sources, resolved: Resolved, dry_run: bool) -> anyhow::Result<ExitCode> {
    logging::configure(resolved.log_level);
    // A manager may mend what is wrong with the model, and configure again; nobody else would.
    let model = match management::starts_itself(&robot.node) {
        true => management::model(&resolved)?,
        false => Arc::new(Reflex::default()),
    };
    let patience = resolved.runtime.calls.halt_timeout + resolved.runtime.calls.return_grace + END_MARGIN;
    let mut tools: Arc<dyn ToolProvider> = Arc::new(robot.tools.clone());
    if dry_run {
        tools = Arc::new(DryRun::new(tools, robot.discovery.tools()));
    }
    let mut config = RuntimeConfig { meters: robot.meters(&resolved.meters), ..resolved.runtime };
    if let Some(tape) = &mut config.tape {
        tape.dry_run = dry_run;
    }
    let runtime = Runtime::start(config, model, vec![tools]);
    let agent = Arc::new(Agent {
        runtime: runtime.clone(),
        discovery: robot.discovery.clone(),
        settle_timeout: resolved.settle_timeout,
        has_settled: AtomicBool::new(false),
        stops: watch::Sender::new(0),
        offering: tokio::sync::Mutex::new(()),
    });
    let serving = Serving::on(tokio::runtime::Handle::current());
    let management = Management::serve(&robot.node, serving, &runtime, sources, patience).await?;
    let server = TaskServer::start(&robot.node, agent.clone()).await?;
    let offering = tokio::spawn(keep_offering(agent));
    let speaking = tokio::spawn(keep_speaking(runtime.outputs(), server.clone()));
    if dry_run {
        tell("dry run: what only looks is called, nothing else is, and nothing moves");
    }
    management.begin(&robot.node).await;

    let code = tokio::select! {
        signal = end_signal() => {
            tracing::info!("{} received; shutting down", signal?);
            ExitCode::SUCCESS
        }
        () = management.finalized() => {
            tracing::info!("the lifecycle has come to its end; shutting down");
            ExitCode::SUCCESS
        }
        () = robot.node.ended() => {
            tracing::error!("the ROS node has ended; shutting down");
            ExitCode::FAILURE
        }
    };
    if !runtime.shut_down(patience).await {
        tracing::error!("some calls did not end within {} s; they are given up", patience.as_secs());
    }
    management.end().await;
    server.shut_down().await;
    offering.abort();
    speaking.abort();
    Ok(code)
}

/// Waits for SIGINT or SIGTERM and names it.
async fn end_signal() -> std::io::Result<&'static str> {
    use tokio::signal::unix::{SignalKind, signal};
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    Ok(tokio::select! {
        _ = interrupt.recv() => "SIGINT",
        _ = terminate.recv() => "SIGTERM",
    })
}

/// Hands every change of what the robot can do to the runtime.
async fn keep_offering(agent: Arc<Agent>) {
    let mut tools = agent.discovery.tools();
    loop {
        let now = tools.borrow_and_update().len();
        let components = agent.discovery.directory().borrow().components().count();
        tell(&format!("tools: {now} ({components} components)"));
        agent.offer().await;
        if tools.changed().await.is_err() {
            return;
        }
    }
}

/// Publishes the answers.
async fn keep_speaking(mut outputs: broadcast::Receiver<String>, server: TaskServer) {
    loop {
        match outputs.recv().await {
            Ok(text) => server.say(text),
            Err(broadcast::error::RecvError::Lagged(missed)) => tracing::warn!("{missed} answers were not published"),
            Err(broadcast::error::RecvError::Closed) => return,
        }
    }
}

/// The runtime as the task server sees it.
struct Agent {
    runtime: Runtime,
    discovery: Discovery,
    settle_timeout: Duration,
    /// Whether the picture of the robot was complete once. From then on no task waits for it: a component that comes
    /// and goes must not hold up the others.
    has_settled: AtomicBool,
    /// Counts the stops, so that a task that waited through one is not begun.
    stops: watch::Sender<u64>,
    /// Held while tools are handed over, so that an older set never follows a newer one.
    offering: tokio::sync::Mutex<()>,
}

#[async_trait]
impl TaskHandler for Agent {
    async fn ready(&self) -> Result<(), Refusal> {
        if self.has_settled.load(Ordering::Acquire) {
            return Ok(());
        }
        let mut stops = self.stops.subscribe();
        tokio::select! {
            settled = self.discovery.settled(self.settle_timeout) => {
                if !settled {
                    tracing::warn!("some components have not described themselves yet; the task begins without them");
                }
                self.has_settled.store(true, Ordering::Release);
                Ok(())
            }
            _ = stops.changed() => Err(Refusal { reason: "The robot was stopped before the task began.".to_owned() }),
        }
    }

    async fn submit(&self, submission: Submission) -> Result<RunningTask, Refusal> {
        self.offer().await;
        let ticket =
            self.runtime.submit(submission).await.map_err(|rejection| Refusal { reason: format!("{rejection}.") })?;
        Ok(self.running(ticket))
    }

    async fn stop(&self) -> StopReport {
        self.stops.send_modify(|count| *count += 1);
        let Ok(report) = self.runtime.stop().await else {
            let message = "NOT STOPPED: Cortex is shutting down or has failed, and can't say what still moves.";
            return StopReport { success: false, message: message.to_owned() };
        };
        let tasks = match report.missions_ended {
            0 => "No task was running.".to_owned(),
            1 => "One task was ended.".to_owned(),
            count => format!("{count} tasks were ended."),
        };
        let names: Vec<&str> = report.not_stopped.iter().map(|tool| tool.as_str()).collect();
        let rest = if names.is_empty() {
            "Everything that Cortex began is at rest.".to_owned()
        } else {
            format!("WARNING: these did not confirm that they are at rest: {}.", names.join(", "))
        };
        StopReport {
            success: names.is_empty(),
            message: format!("Stopped. {tasks} {rest} Tasks are refused until ~/resume."),
        }
    }

    async fn correct(&self, mission: Option<MissionId>, text: String, origin: Origin) -> StopReport {
        match self.runtime.correct(mission, text, origin).await {
            Ok(mission) => StopReport { success: true, message: mission.to_string() },
            Err(refusal) => StopReport { success: false, message: format!("{refusal}.") },
        }
    }

    async fn resume(&self) -> StopReport {
        let message = if self.runtime.resume().await { "Tasks are taken again." } else { "Cortex was not stopped." };
        StopReport { success: true, message: message.to_owned() }
    }
}

impl Agent {
    /// Hands what the robot can do now to the runtime.
    async fn offer(&self) {
        let _turn = self.offering.lock().await;
        let tools = self.discovery.tools().borrow().as_ref().clone();
        self.runtime.offer_tools(ROS, tools).await;
    }

    fn running(&self, ticket: MissionTicket) -> RunningTask {
        let MissionTicket { id, events, result } = ticket;
        let (sender, updates) = mpsc::channel(UPDATES);
        let (ended, end) = oneshot::channel();
        let mission = id.clone();
        tokio::spawn(async move {
            // First everything that happened, then the result: nothing may be lost on the way.
            pass_on(events, sender).await;
            if let Ok(result) = result.await {
                // The task server may be gone.
                let _ = ended.send(task_result(mission, result));
            }
        });
        let (runtime, mission) = (self.runtime.clone(), id.clone());
        let cancel = Box::new(move || {
            tokio::spawn(async move { runtime.cancel(mission).await });
        });
        RunningTask { mission: id, updates, result: end, cancel }
    }
}

/// Passes the events on, until the last one, or until nobody reads them.
async fn pass_on(mut events: mpsc::Receiver<Arc<CloudEvent>>, updates: mpsc::Sender<TaskUpdate>) {
    while let Some(event) = events.recv().await {
        if updates.send(update(&event)).await.is_err() {
            return;
        }
    }
}

fn update(event: &CloudEvent) -> TaskUpdate {
    TaskUpdate {
        timestep: i32::try_from(event.sequence).unwrap_or(i32::MAX),
        completed: matches!(event.data.payload, MissionEvent::Finished { .. }),
        feedback: event.data.text.clone(),
        event: serde_json::to_string(event).unwrap_or_default(),
    }
}

fn task_result(mission: MissionId, result: MissionResult) -> TaskResult {
    let ending = match result.status {
        MissionStatus::Answered | MissionStatus::Succeeded => TaskEnding::Succeeded,
        MissionStatus::Failed => TaskEnding::Failed,
        MissionStatus::Cancelled => TaskEnding::Cancelled,
    };
    TaskResult { ending, output: result.output, mission }
}
