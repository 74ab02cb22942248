//! `cortex run`: the node.

use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use cortex_core::ToolProvider;
use cortex_model::{Reflex, api_key_from_environment};
use cortex_protocol::{
    CloudEvent, ComponentName, MissionEvent, MissionId, MissionResult, MissionStatus, Origin, Submission,
};
use cortex_ros::serving::Serving;
use cortex_ros::task::{Refusal, RunningTask, StopReport, Stopped, TaskEnding, TaskResult, TaskUpdate};
use cortex_ros::{ComponentState, Discovery, Policy, RosNode, StopServer, TaskHandler, TaskServer};
use cortex_runtime::{CallBounds, DryRun, JournalSettings, MissionTicket, ProviderId, Runtime, RuntimeConfig};
use tokio::sync::{broadcast, mpsc, oneshot, watch};

use crate::arguments::StartArguments;
use crate::config::{self, Layers, Resolved};
use crate::custom_actions::{CustomActions, Offered};
use crate::events;
use crate::logging;
use crate::management::{self, Management, Sources, tell};
use crate::metrics::{Endpoint, Metrics};
use crate::robot::{self, Robot};
use crate::self_watch::{SelfWatch, Watched};
use crate::supervision::{self, RobotRecipe, Supervision};
use crate::watched_model::ModelWatch;

/// The robot's graph is the first provider of tools.
const ROS: ProviderId = ProviderId(0);
/// The actions of the recipe are the second. Of two tools with one name, the robot's is used.
const RECIPE: ProviderId = ProviderId(1);
/// Feedback on its way to the task server; the mission's own queue holds the rest.
const UPDATES: usize = 64;
/// What the missions get to end when Cortex is told to, beyond the time that their tools may take to halt.
const END_MARGIN: Duration = Duration::from_secs(5);
/// How long a task waits for what came back to say what it can do.
const DESCRIBED_WITHIN: Duration = Duration::from_secs(3);

pub(crate) async fn run(arguments: StartArguments) -> anyhow::Result<ExitCode> {
    let StartArguments { recipe, run, dry_run } = arguments;
    let recipe = match recipe.as_deref().map(supervision::read).transpose()? {
        None => None,
        // What is wrong was told; nothing is started.
        Some(None) => return Ok(ExitCode::FAILURE),
        Some(recipe) => recipe,
    };
    let node = robot::join("cortex")?;
    let layer = recipe.as_ref().map(|recipe| recipe.recipe.cortex.clone()).unwrap_or_default();
    let read = sources(&node, run.config.as_deref(), layer, run.model);
    let (mut sources, resolved) = match read.and_then(|sources| sources.resolve().map(|resolved| (sources, resolved))) {
        Ok(read) => read,
        Err(problem) => {
            node.shut_down();
            return Err(problem);
        }
    };
    sources.bind_key(&resolved);
    let robot = Robot::discover(node, resolved.policy.clone())?;
    let served = serve(&robot, sources, resolved, dry_run, recipe).await;
    robot.leave().await;
    served
}

/// Where the configuration comes from: the node's own parameters are one layer.
fn sources(
    node: &RosNode,
    file: Option<&Path>,
    recipe: serde_json::Map<String, serde_json::Value>,
    model: Option<String>,
) -> anyhow::Result<Sources> {
    let ros = robot::parameters(node);
    let layers = Layers { file: config::file(file), recipe, ros, model, ..Layers::default() };
    let models = ModelWatch::new(&Metrics::new());
    Ok(Sources { layers, api_key: api_key_from_environment()?, key_is_for: None, models })
}

/// Reads the configuration.
pub(crate) fn resolve(
    node: &RosNode,
    file: Option<&Path>,
    recipe: serde_json::Map<String, serde_json::Value>,
    model: Option<String>,
) -> anyhow::Result<Resolved> {
    sources(node, file, recipe, model)?.resolve()
}

/// What the configuration says of the robot, for commands that look at it.
pub(crate) fn policy(node: &RosNode, file: Option<&Path>) -> anyhow::Result<Policy> {
    let ros = robot::parameters(node);
    Ok(config::load(&Layers { file: config::file(file), ros, ..Layers::default() })?.policy)
}

async fn serve(
    robot: &Robot,
    sources: Sources,
    resolved: Resolved,
    dry_run: bool,
    recipe: Option<RobotRecipe>,
) -> anyhow::Result<ExitCode> {
    logging::configure(resolved.log_level);
    // Before anything is started: what can't be had now must not be missed when the robot is up.
    let figures = match resolved.watch.metrics {
        Some(address) => Some(Endpoint::start(address, sources.models.metrics().clone()).await?),
        None => None,
    };
    let supervision = match &recipe {
        Some(recipe) => Some(Supervision::prepare(recipe.clone()).await?),
        None => None,
    };
    // A manager may mend what is wrong with the model, and configure again; nobody else would.
    let model = match management::starts_itself(&robot.node) {
        true => sources.model(&resolved)?,
        false => Arc::new(Reflex),
    };
    let patience = resolved.runtime.calls.halt_timeout + resolved.runtime.calls.return_grace + END_MARGIN;
    let bounds = resolved.runtime.calls;
    let watch = supervision.as_ref().map(|supervision| supervision.watch.clone());
    let provided = Provided::by(robot, recipe.as_ref(), watch.as_ref(), bounds, dry_run)?;
    let mut config = RuntimeConfig { meters: robot.meters(&resolved.meters), ..resolved.runtime };
    keep_records(&mut config, robot, dry_run);
    let name = resolved.robot;
    let runtime = Runtime::start(config, model, provided.providers);
    let models = sources.models.clone();
    let agent = Arc::new(Agent {
        runtime: runtime.clone(),
        discovery: robot.discovery.clone(),
        supervised: watch.clone(),
        actions: provided.actions,
        settle_timeout: resolved.settle_timeout,
        has_settled: AtomicBool::new(false),
        stops: watch::Sender::new(0),
        offering: tokio::sync::Mutex::new(()),
    });
    let serving = Serving::on(tokio::runtime::Handle::current());
    let brought_up = agent.supervised.clone();
    let management = Management::serve(&robot.node, serving, &runtime, sources, brought_up, patience).await?;
    // First: nothing may begin that could not be stopped.
    let stop = StopServer::start(&robot.graph, robot.node.fully_qualified_name(), &robot.tools, agent.clone())?;
    let server = TaskServer::start(&robot.node, agent.clone()).await?;
    let supervised = supervision.map(|supervision| bring_up(supervision, robot, &runtime, &server)).transpose()?;
    let watched = Watched {
        name,
        robot,
        runtime: &runtime,
        stop: &stop,
        model: models,
        supervised: supervised.as_ref().zip(agent.supervised.clone()),
    };
    let self_watch = SelfWatch::start(watched, figures, resolved.watch.hang)?;
    #[cfg(debug_assertions)]
    crate::faults::arm(&robot.node);
    let happening = recipe.zip(supervised.as_ref()).map(|(recipe, supervised)| {
        let voice = server.clone();
        let around =
            events::Around { runtime: runtime.clone(), acting: RECIPE, voice: Box::new(move |text| voice.say(text)) };
        let monitor = (!dry_run).then(|| supervised.handle()).zip(agent.supervised.clone());
        let waiting = agent.clone();
        let is_up = async move {
            waiting.settle().await;
        };
        tokio::spawn(events::keep(recipe.recipe, robot.tools.clone(), around, monitor, is_up))
    });
    let offering = tokio::spawn(keep_offering(agent.clone()));
    let speaking = tokio::spawn(keep_speaking(runtime.outputs(), server.clone()));
    if dry_run {
        tell("dry run: what only looks is called, nothing else is, and nothing moves");
    }
    management.begin(&robot.node).await;

    let code = end(robot, &management).await?;
    // Nothing begins any more, by itself or otherwise.
    if !runtime.shut_down(patience).await {
        tracing::error!("some calls did not end within {} s; they are given up", patience.as_secs());
    }
    management.end().await;
    if let Some(happening) = happening {
        happening.abort();
    }
    // Missions first, while the robot still answers; then the robot.
    let not_down = match supervised {
        Some(supervised) => supervised.stop().await,
        None => Vec::new(),
    };
    server.shut_down().await;
    end_threads(self_watch, stop).await;
    offering.abort();
    speaking.abort();
    Ok(if told_down(&not_down) { code } else { ExitCode::FAILURE })
}

/// Brings the robot of a recipe up. What the operator is told goes out as an answer does.
fn bring_up(
    supervision: Supervision,
    robot: &Robot,
    runtime: &Runtime,
    server: &TaskServer,
) -> anyhow::Result<supervision::Supervised> {
    let voice = server.clone();
    supervision.start(robot, runtime, move |text| voice.say(text))
}

/// Ends the threads that the node has for itself.
async fn end_threads(self_watch: SelfWatch, stop: StopServer) {
    // Joining threads blocks.
    let ending = move || {
        self_watch.shut_down();
        stop.shut_down();
    };
    let _ = tokio::task::spawn_blocking(ending).await;
}

/// Says in the records whether it is a rehearsal, and which robot it is about.
fn keep_records(config: &mut RuntimeConfig, robot: &Robot, dry_run: bool) {
    if let Some(tape) = &mut config.tape {
        tape.dry_run = dry_run;
        // A rehearsal begins nothing. Nodes of one name may live in several domains.
        let domain = std::env::var("ROS_DOMAIN_ID").unwrap_or_default();
        let name = format!("{}-{domain}", robot.node.fully_qualified_name());
        config.journal = (!dry_run).then(|| JournalSettings::beside(tape, &name));
    }
}

/// Names what did not come down; says whether there was nothing to name.
fn told_down(not_down: &[ComponentName]) -> bool {
    if !not_down.is_empty() {
        let names: Vec<&str> = not_down.iter().map(ComponentName::as_str).collect();
        tell(&format!("NOT DOWN: {}", names.join(", ")));
    }
    not_down.is_empty()
}

/// Waits until it is time to end, and says why.
async fn end(robot: &Robot, management: &Management) -> std::io::Result<ExitCode> {
    Ok(tokio::select! {
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
    })
}

/// Who carries out tools.
struct Provided {
    /// The robot first, then the actions of its recipe.
    providers: Vec<Arc<dyn ToolProvider>>,
    actions: Option<Arc<CustomActions>>,
}

impl Provided {
    fn by(
        robot: &Robot,
        recipe: Option<&RobotRecipe>,
        watch: Option<&supervision::Watch>,
        bounds: CallBounds,
        dry_run: bool,
    ) -> anyhow::Result<Self> {
        let mut tools: Arc<dyn ToolProvider> = Arc::new(robot.tools.clone());
        if let Some(watch) = watch {
            tools = watch.guard(robot, tools);
        }
        let actions = recipe.map(|recipe| CustomActions::new(recipe, robot, Arc::clone(&tools), bounds)).transpose()?;
        let actions = actions.map(Arc::new);
        let mut all = vec![(tools, robot.discovery.tools())];
        if let Some(actions) = &actions {
            all.push((actions.clone(), actions.known()));
        }
        let rehearsed = |(tools, known)| -> Arc<dyn ToolProvider> {
            if dry_run { Arc::new(DryRun::new(tools, known)) } else { tools }
        };
        Ok(Self { providers: all.into_iter().map(rehearsed).collect(), actions })
    }
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
    /// The robot that Cortex itself brings up.
    supervised: Option<supervision::Watch>,
    /// The actions of its recipe.
    actions: Option<Arc<CustomActions>>,
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
            self.described().await;
            return Ok(());
        }
        let mut stops = self.stops.subscribe();
        tokio::select! {
            (settled, missing) = self.settle() => {
                if !missing.is_empty() {
                    let names: Vec<&str> = missing.iter().map(ComponentName::as_str).collect();
                    tracing::warn!("not up yet: {}; the task begins without them", names.join(", "));
                }
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

    async fn stop(&self) -> Result<Stopped, String> {
        self.stops.send_modify(|count| *count += 1);
        match self.runtime.stop().await {
            Ok(report) => Ok(Stopped { tasks_ended: report.missions_ended, not_stopped: report.not_stopped }),
            Err(_) => {
                Err("NOT STOPPED: Cortex is shutting down or has failed, and can't say what still moves.".to_owned())
            }
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
    /// Waits until the picture of the robot is complete, and the robot is up if Cortex brings it up. Gives whether it came
    /// to that, and what is not up.
    async fn settle(&self) -> (bool, Vec<ComponentName>) {
        let up = async {
            match &self.supervised {
                Some(watch) => watch.come_up(self.settle_timeout).await,
                None => Vec::new(),
            }
        };
        tokio::join!(self.discovery.settled(self.settle_timeout), up)
    }

    /// Waits, for a moment, until what came back and works has said what it can do, where Cortex brings the robot up.
    async fn described(&self) {
        let Some(robot) = &self.supervised else { return };
        let view = robot.view();
        let mut directory = self.discovery.directory();
        let known = directory.wait_for(|directory| {
            let mut asked =
                directory.components().filter(|(_, component)| component.state == ComponentState::Describing);
            !asked.any(|(name, _)| view.borrow().works(name))
        });
        // Both ends of it are fine: the task begins with what is known.
        let _ = tokio::time::timeout(DESCRIBED_WITHIN, known).await;
    }

    /// Hands what the robot can do now to the runtime.
    async fn offer(&self) {
        let _turn = self.offering.lock().await;
        let tools = self.discovery.tools().borrow().as_ref().clone();
        self.runtime.offer_tools(ROS, tools).await;
        if let Some(actions) = &self.actions {
            let Offered { to_models, to_events } = actions.offered();
            self.runtime.offer_tools(RECIPE, to_models).await;
            self.runtime.offer_to_clients(RECIPE, to_events).await;
        }
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
