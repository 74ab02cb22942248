//! `cortex run`: the node.

use std::net::SocketAddr;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use cortex_command_line::StartArguments;
use cortex_config::{Resolved, Sources};
use cortex_core::{IncidentPort, LogPort, ToolProvider};
use cortex_custom_actions::CustomActions;
use cortex_events as events;
use cortex_model::Reflex;
use cortex_node::management::{self, AllModels, Among, Management, tell};
use cortex_node::{Agent, IncidentKeeper, OpenMemory, Operators, SelfWatch, Watched, logging};
use cortex_parameters::node_parameters;
use cortex_protocol::ComponentName;
use cortex_robot::supervision::actions::Actions;
use cortex_robot::supervision::{self, RobotRecipe, Supervision};
use cortex_robot::{self as robot, Robot};
use cortex_ros::{OWN_NAMES, RobotViews, StopMemory, StopServer, StopStore, TaskServer};
use cortex_ros_client::serving::Serving;
use cortex_ros_client::{Instances, RosNode};
use cortex_runtime::{CallBounds, DryRun, Gate, JournalSettings, Runtime, RuntimeConfig, SpokenText, StopRecord};
use cortex_status::{Endpoint, Metrics, ModelWatch};
use tokio::sync::broadcast;

use crate::context::{self, OnRecord};
use crate::end_signal;
use crate::launcher::Launcher;
use crate::memory::RobotMemory;
use crate::page;

/// What the missions get to end when Cortex is told to, beyond the time that their tools may take to halt.
const END_MARGIN: Duration = Duration::from_secs(5);

pub(crate) async fn run(arguments: StartArguments) -> anyhow::Result<ExitCode> {
    let StartArguments { recipe, run, web, dry_run, exit_with_pid } = arguments;
    // First of all: it may be killed at any time.
    let launcher = Launcher::find(exit_with_pid)?;
    let recipe = match recipe.as_deref().map(supervision::read).transpose()? {
        None => None,
        // What is wrong was told; nothing is started.
        Some(None) => return Ok(ExitCode::FAILURE),
        Some(recipe) => recipe,
    };
    let node = robot::join("cortex")?;
    if let Err(problem) = check_names(&node) {
        node.shut_down();
        return Err(problem);
    }
    let recipe = recipe.map(|recipe| recipe.brought_up_by(&node));
    let (layer, rules) =
        recipe.as_ref().map(|recipe| (recipe.recipe.cortex.clone(), recipe.recipe.policy.clone())).unwrap_or_default();
    // The parameters of the node are one layer.
    let read = Sources::new(node_parameters(&node), run.config.as_deref(), layer, rules, run.model, dry_run);
    let read = read.and_then(|mut sources| {
        sources.layers.web = web;
        let resolved = sources.resolve()?;
        Ok((sources, resolved))
    });
    let (mut sources, resolved) = match read {
        Ok(read) => read,
        Err(problem) => {
            node.shut_down();
            return Err(problem);
        }
    };
    sources.bind_key(&resolved);
    let robot = Robot::discover(node, resolved.policy.clone())?;
    let served = match claim_name(&robot, &launcher).await {
        Ok(Some(instances)) => serve(&robot, sources, resolved, dry_run, recipe, &launcher, instances).await,
        // It was told to end before it began.
        Ok(None) => Ok(ExitCode::SUCCESS),
        Err(problem) => Err(problem),
    };
    robot.leave().await;
    served
}

/// Makes sure that what the remap rules are meant for is renamed: a stop that is not where it is looked for is none.
fn check_names(node: &RosNode) -> anyhow::Result<()> {
    for rule in node.names().check(&OWN_NAMES)? {
        tracing::warn!(
            "the remap rule '{rule}' renames nothing: what is found on the graph, or named by a recipe, is used under the \
             name that it has there"
        );
    }
    Ok(())
}

/// Makes sure that no other Cortex of this name is on the graph, before anything is served, brought up or begun: two would
/// both take each task. None where Cortex was told to end meanwhile.
async fn claim_name(robot: &Robot, launcher: &Launcher) -> anyhow::Result<Option<Instances>> {
    let instances = Instances::join(&robot.node, robot.node.names().renamed(&OWN_NAMES)?).await?;
    tokio::select! {
        claimed = instances.claim() => match claimed {
            Ok(()) => Ok(Some(instances)),
            Err(other) => Err(anyhow::anyhow!(management::name_is_taken(robot.node.fully_qualified_name(), &other))),
        },
        signal = end_signal::end_signal() => {
            tracing::info!("{} received; shutting down", signal?);
            Ok(None)
        }
        gone = launcher.gone() => {
            tracing::warn!("process {}, which has started Cortex, is gone; shutting down", gone?);
            Ok(None)
        }
    }
}

async fn serve(
    robot: &Robot,
    sources: Sources,
    resolved: Resolved,
    dry_run: bool,
    recipe: Option<RobotRecipe>,
    launcher: &Launcher,
    instances: Instances,
) -> anyhow::Result<ExitCode> {
    logging::configure(resolved.log_level);
    let models = AllModels { watch: ModelWatch::new(&Metrics::new()), pictures: resolved.models.pictures.clone() };
    // Before anything is started: what can't be had now must not be missed when the robot is up.
    let figures = figures_at(resolved.watch.metrics, &models.watch).await?;
    let supervision = match &recipe {
        Some(recipe) => Some(Supervision::prepare(recipe.clone()).await?),
        None => None,
    };
    // A manager may fix what is wrong with the model, and configure again; nobody else would.
    let model = match management::starts_itself(&robot.node) {
        true => models.of(&resolved)?,
        false => Arc::new(Reflex::default()),
    };
    let patience = resolved.runtime.calls.halt_timeout + resolved.runtime.calls.return_grace + END_MARGIN;
    let watch = supervision.as_ref().map(|supervision| supervision.watch.clone());
    let gate = watch.as_ref().map(supervision::Watch::gate).unwrap_or_default();
    let provided = Provided::by(robot, recipe.as_ref(), &gate, resolved.runtime.calls, dry_run)?;
    let OnRecord { context, kept: on_record } = context::on_record(&resolved, robot, recipe.as_ref()).await?;
    let mut config = RuntimeConfig { meters: robot.meters(&resolved.meters), gate, context, ..resolved.runtime };
    keep_records(&mut config, robot, on_record.memory.as_ref(), dry_run);
    // Before anything begins, whoever wants it.
    let stop_memory = stop_memory(&mut config);
    let (page, sessions, name) = (resolved.web, page::sessions(&config), resolved.robot);
    let (kept, configuration) = (resolved.incident, cortex_config::shown(&sources.layers));
    let recipe_text = recipe.as_ref().and_then(|recipe| cortex_config::without_secrets(&recipe.text));
    let runtime = Runtime::start(config, model);
    // The robot first: of two tools with one name, its own is used.
    let tools = runtime.register(provided.robot);
    let actions = provided.actions.map(|(actions, provider)| (actions, runtime.register(provider)));
    let acting = actions.as_ref().map(|(_, provider)| provider.id());
    let memory = RobotMemory::begin(on_record, robot, &runtime, dry_run).await;
    let (discovery, settle_timeout) = (robot.discovery.clone(), resolved.settle_timeout);
    let agent = Arc::new(Agent::new(runtime.clone(), discovery, watch.clone(), tools, actions, settle_timeout));
    let serving = Serving::on(tokio::runtime::Handle::current());
    let about = Among { instances: instances.clone(), robot: watch.clone() };
    let management =
        Management::serve(&robot.node, serving, &runtime, (sources, models.clone()), about, patience).await?;
    // First: nothing may begin that could not be stopped.
    let stop = StopServer::start_on(&robot.node, &robot.graph, &robot.tools, agent.clone(), stop_memory)?;
    let server = TaskServer::start(&robot.node, agent.clone()).await?;
    let supervised = supervision.map(|supervision| bring_up(supervision, robot, &runtime, &server)).transpose()?;
    let watched = Watched {
        name: name.clone(),
        robot,
        runtime: &runtime,
        stop: &stop,
        model: models.watch,
        supervised: supervised.as_ref().zip(watch.clone()),
        lifecycle: management.states(),
    };
    let self_watch = SelfWatch::start(watched, figures, resolved.watch.hang)?;
    let node_log = page::node_log(page.is_some(), robot);
    let incident = page.is_some().then(|| Arc::new(IncidentKeeper::start(robot, kept, configuration, recipe_text)));
    let operators = Operators::new(agent.clone(), &runtime, stop.handle(), &self_watch)
        .with_robot(Arc::new(RobotViews::new(&robot.graph, &robot.endpoints, &robot.discovery)))
        .with_log(node_log.clone().map(|log| -> Arc<dyn LogPort> { log }))
        .with_incident(incident.clone().map(|incident| -> Arc<dyn IncidentPort> { incident }));
    let operators = memory.shown_by(operators);
    let page = page
        .and_then(|page| page::serve(page, name, sessions, Arc::new(operators), |place| self_watch.tell_page(place)));
    #[cfg(debug_assertions)]
    crate::faults::arm(&robot.node);
    let happening = recipe.zip(acting).zip(supervised.as_ref()).map(|((recipe, acting), supervised)| {
        let voice = server.clone();
        let around =
            events::EventContext { runtime: runtime.clone(), acting, notify: Box::new(move |text| voice.say(text)) };
        let control = (!dry_run).then(|| watch.clone()).flatten().map(|watch| events::ComponentControl {
            monitor: supervised.handle(),
            watch,
            actions: Actions::on(robot, &recipe.recipe),
        });
        let waiting = agent.clone();
        let is_up = async move {
            waiting.settle().await;
        };
        tokio::spawn(events::run(recipe.recipe, robot.tools.clone(), around, control, is_up))
    });
    let offering = tokio::spawn(agent.clone().keep_offering());
    let speaking = tokio::spawn(keep_speaking(runtime.outputs(), server.clone()));
    if dry_run {
        tell("dry run: what only looks is called, nothing else is, and nothing moves");
    }
    management.begin(&robot.node).await;

    let code = end(robot, &management, launcher, &instances).await?;
    // Nothing begins any more, by itself or otherwise.
    if !runtime.shut_down(patience).await {
        tracing::error!("some calls did not end within {} s; they are given up", patience.as_secs());
    }
    memory.end().await;
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
    page::end(page, node_log, incident).await;
    end_threads(self_watch, stop).await;
    offering.abort();
    speaking.abort();
    Ok(if told_down(&not_down) { code } else { ExitCode::FAILURE })
}

/// Serves the figures, where an address is named.
async fn figures_at(address: Option<SocketAddr>, models: &ModelWatch) -> anyhow::Result<Option<Endpoint>> {
    match address {
        Some(address) => Ok(Some(Endpoint::start(address, models.metrics().clone()).await?)),
        None => Ok(None),
    }
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

/// Says in the records whether it is a rehearsal, and which robot it is about; and where conversations are kept.
fn keep_records(config: &mut RuntimeConfig, robot: &Robot, memory: Option<&OpenMemory>, dry_run: bool) {
    // Nothing that is said in a rehearsal is gone on with.
    if let Some(memory) = memory.filter(|_| !dry_run) {
        config.conversations = memory.conversations();
    }
    if let Some(tape) = &mut config.tape {
        tape.dry_run = dry_run;
        // A rehearsal begins nothing. Nodes of one name may live in several domains.
        let domain = std::env::var("ROS_DOMAIN_ID").unwrap_or_default();
        let name = format!("{}-{domain}", robot.node.fully_qualified_name());
        config.journal = (!dry_run).then(|| JournalSettings::beside(tape, &name));
    }
}

/// What has a stop outlive this process. A robot that was stopped before is stopped from the beginning.
fn stop_memory(config: &mut RuntimeConfig) -> Option<StopMemory> {
    let record = StopRecord::beside(config.journal.as_ref()?);
    config.stopped = record.read();
    if let Some(why) = &config.stopped {
        tracing::warn!("the robot was stopped before it was restarted ({why}); it stays stopped until `cortex resume`");
        tell(&format!("stopped before it was restarted ({why}); when it is safe, run `cortex resume`"));
    }
    Some(StopMemory { store: Box::new(OnDisk(record)), stopped: config.stopped.clone() })
}

/// The record of the stop, as the thread of the stop keeps it.
struct OnDisk(StopRecord);

impl StopStore for OnDisk {
    fn write(&mut self, why: &str) -> std::io::Result<()> {
        self.0.write(why)
    }

    fn remove(&mut self) -> std::io::Result<()> {
        self.0.remove()
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
async fn end(
    robot: &Robot,
    management: &Management,
    launcher: &Launcher,
    instances: &Instances,
) -> std::io::Result<ExitCode> {
    Ok(tokio::select! {
        other = instances.superseded() => {
            let taken = management::name_is_taken(robot.node.fully_qualified_name(), &other);
            tracing::error!("{taken}; shutting down");
            ExitCode::FAILURE
        }
        signal = end_signal::end_signal() => {
            tracing::info!("{} received; shutting down", signal?);
            ExitCode::SUCCESS
        }
        gone = launcher.gone() => {
            tracing::warn!("process {}, which has started Cortex, is gone; shutting down", gone?);
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
    robot: Arc<dyn ToolProvider>,
    /// The actions of its recipe, and who carries them out.
    actions: Option<(Arc<CustomActions>, Arc<dyn ToolProvider>)>,
}

impl Provided {
    fn by(
        robot: &Robot,
        recipe: Option<&RobotRecipe>,
        gate: &Gate,
        bounds: CallBounds,
        dry_run: bool,
    ) -> anyhow::Result<Self> {
        let tools: Arc<dyn ToolProvider> = Arc::new(robot.tools.clone());
        let actions = recipe.map(|recipe| CustomActions::new(recipe, robot, Arc::clone(&tools), gate, bounds));
        let actions = actions.transpose()?.map(Arc::new);
        let rehearsed = |provider: Arc<dyn ToolProvider>, known| -> Arc<dyn ToolProvider> {
            if dry_run { Arc::new(DryRun::new(provider, known)) } else { provider }
        };
        let actions = actions.map(|actions| {
            let provider = rehearsed(actions.clone(), actions.known());
            (actions, provider)
        });
        Ok(Self { robot: rehearsed(tools, robot.discovery.tools()), actions })
    }
}

/// Publishes the answers.
async fn keep_speaking(mut outputs: broadcast::Receiver<SpokenText>, server: TaskServer) {
    loop {
        match outputs.recv().await {
            Ok(SpokenText { mission, text, piece }) => server.say_piece(&mission, text, piece),
            Err(broadcast::error::RecvError::Lagged(missed)) => tracing::warn!("{missed} answers were not published"),
            Err(broadcast::error::RecvError::Closed) => return,
        }
    }
}
