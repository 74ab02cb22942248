//! Cortex as a managed node: its lifecycle, and the parameters that may change while it runs.
//!
//! Whatever its state, Cortex looks at the robot, and `~/stop` works. Only when it is *active* are tasks taken, models
//! asked and tools called; to deactivate it halts everything, as a stop does, but holds nothing: active again, it takes
//! tasks.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::Context as _;
use async_trait::async_trait;
use cortex_config::{Layers, Resolved, Sources};
use cortex_core::{ChatModel, PictureShelf};
use cortex_model::ModelSet;
use cortex_parameters::AUTOSTART;
use cortex_protocol::ComponentName;
use cortex_robot::supervision;
use cortex_ros_client::lifecycle::{self, Lifecycle, Managed, Outcome, State, Transition};
use cortex_ros_client::node::USE_SIM_TIME;
use cortex_ros_client::parameters::ParameterValue;
use cortex_ros_client::parameters::{self, ChangeRefused, Parameter, Parameters, value_as_json};
use cortex_ros_client::serving::Serving;
use cortex_ros_client::{Instance, Instances, RosNode};
use cortex_runtime::{Runtime, Settings};
use cortex_status::ModelWatch;
use figment::value::Value;
use tokio::runtime::Handle;
use tokio::sync::watch;

use crate::logging;

/// How long the services may take to end.
const SERVING_END: Duration = Duration::from_millis(200);

/// How long a robot may take to come up until Cortex says that it is ready all the same.
const BRING_UP_LIMIT: Duration = Duration::from_secs(45);

const UNCONFIGURED: &str = "its lifecycle is unconfigured; configure and activate it, for example with \
                            `ros2 lifecycle set NODE configure` and `ros2 lifecycle set NODE activate`";
const INACTIVE: &str = "its lifecycle is inactive; activate it, for example with `ros2 lifecycle set NODE activate`";

/// What stays when the configuration names other models.
#[derive(Clone)]
pub struct AllModels {
    /// What counts their requests.
    pub watch: ModelWatch,
    /// Where the pictures lie that they see.
    pub pictures: PictureShelf,
}

impl AllModels {
    /// The model of a configuration, whose requests are counted.
    ///
    /// # Errors
    /// When it can't be used.
    pub fn of(&self, resolved: &Resolved) -> anyhow::Result<Arc<dyn ChatModel>> {
        let set = ModelSet { pictures: self.pictures.clone(), ..resolved.models.clone() };
        Ok(self.watch.watched(cortex_model::build_set(&set).context("the model can't be used")?))
    }
}

/// Whether Cortex is to become active by itself.
pub fn starts_itself(node: &RosNode) -> bool {
    node.parameters().get(AUTOSTART) != Some(&ParameterValue::Bool(false))
}

/// Among whom Cortex runs.
pub struct Among {
    /// The others of its name.
    pub instances: Instances,
    /// What Cortex brings up, if it does.
    pub robot: Option<supervision::Watch>,
}

/// What is told when another Cortex has the name.
pub fn name_is_taken(name: &str, other: &Instance) -> String {
    format!(
        "another Cortex is {name} already: {other}. Two of one name would both take each task, so this one does not. End the \
         other one, or give this one a name of its own, for example with `--ros-args -r __node:=NAME`, or a ROS_DOMAIN_ID"
    )
}

/// The agent as its lifecycle drives it.
struct Cortex {
    runtime: Runtime,
    sources: Mutex<Sources>,
    models: AllModels,
    /// What is told when it is active: the model and the name, for whoever started it.
    name: String,
    /// Where tasks are taken.
    action: String,
    label: Mutex<String>,
    among: Among,
    /// What the missions get to end when it is shut down.
    patience: Duration,
    /// Where models are loaded meanwhile: parameters are judged on a thread of the node.
    background: Handle,
}

/// The management of a running Cortex.
pub struct Management {
    lifecycle: Lifecycle,
    serving: Serving,
}

impl Management {
    /// Serves lifecycle and parameters. Nothing is active before [`begin`](Self::begin).
    pub async fn serve(
        node: &RosNode,
        serving: Serving,
        runtime: &Runtime,
        (sources, models): (Sources, AllModels),
        among: Among,
        patience: Duration,
    ) -> anyhow::Result<Self> {
        let declared = declared(node, &sources.layers)?;
        let cortex = Arc::new(Cortex {
            runtime: runtime.clone(),
            sources: Mutex::new(sources),
            models,
            name: node.fully_qualified_name().to_owned(),
            action: node.names().action("~/task")?,
            label: Mutex::default(),
            among,
            patience,
            background: Handle::current(),
        });
        // Whoever comes early hears why.
        cortex.rest(UNCONFIGURED).await;
        let judge = Arc::clone(&cortex);
        let parameters = declared.judged_by(Box::new(move |changed| {
            judge.change(changed).map_err(|problem| ChangeRefused(format!("{problem:#}")))
        }));
        let (tasks, clock) = (serving.clone(), node.clock().clone());
        let created = node.with_node(move |node| {
            let stamps = clock.clone();
            parameters::serve(node, &tasks, &parameters, move || stamps.now())?;
            let announce = lifecycle::announcer(node, move || clock.now_ns())?;
            let lifecycle = Lifecycle::new(watch::Sender::new(State::Unconfigured), cortex, announce);
            lifecycle::serve(node, &tasks, &lifecycle)?;
            Ok::<_, cortex_ros_client::RosError>(lifecycle)
        });
        let lifecycle = created.await??;
        Ok(Self { lifecycle, serving })
    }

    /// Makes Cortex active where it starts itself; otherwise somebody else does.
    pub async fn begin(&self, node: &RosNode) {
        if starts_itself(node) {
            self.lifecycle.change(Transition::Configure).await;
            self.lifecycle.change(Transition::Activate).await;
        } else {
            tell(&format!("waiting: {} is unconfigured, and a manager makes it active", node.fully_qualified_name()));
        }
    }

    /// The state of the lifecycle, now and later.
    #[must_use]
    pub fn states(&self) -> watch::Receiver<State> {
        self.lifecycle.watch()
    }

    /// Resolves when somebody has brought the lifecycle to its end.
    pub async fn finalized(&self) {
        let mut states = self.lifecycle.watch();
        // The sender lives in the lifecycle.
        let _ = states.wait_for(|state| *state == State::Finalized).await;
    }

    /// Brings the lifecycle to its end, which ends all missions, and takes no more requests.
    pub async fn end(&self) {
        self.lifecycle.finalize().await;
        self.serving.stop(SERVING_END).await;
    }
}

/// All parameters: those about the node, and the configuration.
fn declared(node: &RosNode, layers: &Layers) -> anyhow::Result<Parameters> {
    let mut declared = cortex_parameters::declared(layers)?;
    declared.push(
        Parameter::boolean(AUTOSTART, true)
            .describe("Whether Cortex configures and activates itself when it starts; if not, a manager does.")
            .read_only(),
    );
    declared.push(
        Parameter::boolean(USE_SIM_TIME, false)
            .describe("Whether the time of messages is taken from /clock. Time-outs always follow the machine's clock.")
            .read_only(),
    );
    // The configuration holds what was given already.
    let given = |name: &str| matches!(name, AUTOSTART | USE_SIM_TIME).then(|| node.parameters().get(name).cloned())?;
    Parameters::declare(declared, given).map_err(|(name, problem)| anyhow::anyhow!("parameter {name}: {problem}"))
}

impl Cortex {
    /// Takes new values, all or none. They count from the next mission on.
    fn change(&self, changed: &BTreeMap<String, ParameterValue>) -> anyhow::Result<()> {
        let mut sources = self.sources.lock().unwrap_or_else(PoisonError::into_inner);
        let mut wanted = sources.clone();
        for (name, value) in changed {
            let value = Value::serialize(value_as_json(value))?;
            wanted.layers.set.retain(|(earlier, _)| earlier != name);
            wanted.layers.set.push((name.clone(), value));
        }
        let (resolved, model) = self.apply(&wanted)?;
        self.background.spawn(prepare(model));
        if changed.contains_key("log_level") {
            logging::set(resolved.log_level);
        }
        *sources = wanted;
        Ok(())
    }

    /// Has the next mission begin with what the sources say. Returns that, and the model.
    fn apply(&self, sources: &Sources) -> anyhow::Result<(Resolved, Arc<dyn ChatModel>)> {
        let resolved = sources.resolve()?;
        let model = self.models.of(&resolved)?;
        *self.label.lock().unwrap_or_else(PoisonError::into_inner) = model.label();
        let config = resolved.runtime.clone();
        self.runtime.reconfigure(Settings {
            model: Arc::clone(&model),
            model_timeout: config.model_timeout,
            identity: config.identity,
            limits: config.limits,
            queue: config.queue,
            policy: config.policy,
            approval: config.approval,
        });
        Ok((resolved, model))
    }

    fn configure(&self) -> Outcome {
        // Held, so that what is set meanwhile is not undone.
        let sources = self.sources.lock().unwrap_or_else(PoisonError::into_inner);
        match self.apply(&sources) {
            Ok((_, model)) => {
                self.background.spawn(prepare(model));
                Outcome::Success
            }
            Err(problem) => {
                tracing::error!("Cortex can't be configured: {problem:#}");
                Outcome::Failure
            }
        }
    }

    /// Halts everything and says why no task is taken. An error where something did not confirm that it is at rest.
    async fn rest(&self, because: &str) -> Outcome {
        match self.runtime.rest(because.replace("NODE", &self.name)).await {
            Ok(report) if report.not_stopped.is_empty() => Outcome::Success,
            Ok(report) => {
                let names: Vec<&str> = report.not_stopped.iter().map(|tool| tool.as_str()).collect();
                tracing::error!("these did not confirm that they are at rest: {}", names.join(", "));
                Outcome::Error
            }
            // It is shutting down, which ends everything.
            Err(_) => Outcome::Success,
        }
    }
}

#[async_trait]
impl Managed for Cortex {
    async fn perform(&self, transition: Transition, _start: State) -> Outcome {
        match transition {
            Transition::Configure => match self.configure() {
                Outcome::Success => self.rest(INACTIVE).await,
                failed => failed,
            },
            Transition::Activate => {
                // It shuts down, too; whoever activates it learns of it here.
                if let Some(other) = self.among.instances.superseded_by() {
                    tracing::error!("Cortex can't become active: {}", name_is_taken(&self.name, &other));
                    return Outcome::Failure;
                }
                self.runtime.work().await;
                let label = self.label.lock().unwrap_or_else(PoisonError::into_inner).clone();
                let ready = format!("ready: {label} takes tasks at {}", self.action);
                tokio::spawn(announce(ready, self.among.robot.clone()));
                Outcome::Success
            }
            Transition::Deactivate => self.rest(INACTIVE).await,
            Transition::CleanUp => self.rest(UNCONFIGURED).await,
            Transition::ShutDown => {
                if self.runtime.shut_down(self.patience).await {
                    Outcome::Success
                } else {
                    Outcome::Failure
                }
            }
        }
    }

    async fn let_go(&self) {
        self.rest(UNCONFIGURED).await;
    }
}

/// Has a model loaded before the first task asks for it. Tasks are taken meanwhile.
async fn prepare(model: Arc<dyn ChatModel>) {
    if let Err(error) = model.prepare().await {
        tracing::warn!("the model {} is not ready: {error}", model.label());
    }
}

/// Says that it is ready, once the robot is up where Cortex brings it up. Tasks are taken before, and with what is up.
async fn announce(ready: String, robot: Option<supervision::Watch>) {
    let Some(robot) = robot else { return tell(&ready) };
    let missing = robot.come_up(BRING_UP_LIMIT).await;
    if missing.is_empty() {
        return tell(&format!("{ready}; the robot is up"));
    }
    let names: Vec<&str> = missing.iter().map(ComponentName::as_str).collect();
    tell(&format!("{ready}; not up yet: {}", names.join(", ")));
}

/// Prints a line for whoever started the node. Nobody may be reading any more; that is no reason to stop.
pub fn tell(line: &str) {
    let _ = writeln!(std::io::stdout(), "{line}");
}
