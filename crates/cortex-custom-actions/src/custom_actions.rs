//! The actions of a recipe as tools: those that the recipe offers are given to models, and events may do all of them.
//!
//! A method of a component is called as the tool that the component offers, with all that guards it; a service, a topic and
//! parameters are used directly, since the recipe names them; a command runs as a process.
//!
//! Where a component can be replaced by a standby, each action that is a method of it has a second tool, which is the same
//! method of the standby. Only who keeps calls from what has failed calls that one, in place of the first: so all that
//! guards a call, and all that is noted of it, is about the component that really does it.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use cortex_core::{CallObserver, Invocation, ToolProvider, Watching};
use cortex_process::{CommandFailure, CommandNumber, CommandResult, CommandRunner, Program};
use cortex_protocol::{
    CallId, CancelMode, ComponentName, Dispatch, Effect, FailureKind, HaltState, MissionId, ResourceName, ToolCall,
    ToolName, ToolOutcome, ToolPhase, ToolSpec,
};
use cortex_recipe::action::{CommandLine, MethodCall};
use cortex_recipe::binding::bind;
use cortex_recipe::parameter::arguments_schema;
use cortex_recipe::{Action, ActionKind, ActionName, Recipe};
use cortex_robot::Robot;
use cortex_robot::supervision::actions::Actions;
use cortex_robot::supervision::{RobotRecipe, guarded};
use cortex_ros::monitoring::actions::{ActionError, SendDecision};
use cortex_ros::{DiscoveredTools, StopLatch};
use cortex_runtime::{CallBounds, Gate, run_call};
use serde_json::{Map, Value, json};
use thiserror::Error;
use tokio::sync::{oneshot, watch};
use tokio_util::sync::CancellationToken;

/// Most commands at a time; what comes then is refused.
const AT_ONCE: usize = 16;
/// How much longer an action is given than its call, so that the call's own time-out is what ends it.
const MARGIN: Duration = Duration::from_secs(1);
/// How long a reader of a topic is waited for, at most, and at most as a part of the call's own time: so the call says
/// by itself that nobody reads the topic.
const READER_LIMIT: Duration = Duration::from_secs(2);
const READER_SHARE: f64 = 0.8;

/// What needs ROS.
#[async_trait]
pub(crate) trait RobotActions: Send + Sync {
    /// Does what is no command and no method, and has this effect; gives what came of it. Or why it was not done, in words
    /// for people. `decision` says whether anything was sent.
    async fn carry_out(
        &self,
        kind: &ActionKind,
        effect: Effect,
        limit: Duration,
        decision: &SendDecision,
    ) -> Result<Value, ActionError>;
}

#[async_trait]
impl RobotActions for Actions {
    async fn carry_out(
        &self,
        kind: &ActionKind,
        effect: Effect,
        limit: Duration,
        decision: &SendDecision,
    ) -> Result<Value, ActionError> {
        Self::carry_out(self, kind, effect, limit, decision).await
    }
}

/// The actions of a recipe as tools.
pub struct Offered {
    /// Those that the recipe offers to models. Events may call them, too.
    pub to_models: Vec<ToolSpec>,
    /// The others.
    pub to_events: Vec<ToolSpec>,
}

/// The actions of one recipe.
pub struct CustomActions {
    actions: BTreeMap<ToolName, ResolvedAction>,
    /// Where relative paths begin.
    folder: PathBuf,
    parts: Parts,
    bounds: CallBounds,
    /// While it is closed, nothing is sent.
    latch: StopLatch,
    known: watch::Sender<DiscoveredTools>,
    open: Mutex<BTreeMap<(MissionId, CallId), Open>>,
}

/// An action, as one component does it.
struct ResolvedAction {
    /// With the component that it belongs to, if it does to one.
    action: Action,
    /// Who can have the place of that component.
    standby: Option<ComponentName>,
    /// The action that this is, done by the standby.
    serves: Option<ToolName>,
}

impl ResolvedAction {
    /// The same, done by the standby. None where nobody else can do it.
    fn by_standby(&self, name: &ToolName) -> Option<(ToolName, Self)> {
        let by = self.standby.clone()?;
        let ActionKind::Method(method) = &self.action.kind else { return None };
        // No method of the standby has such a name.
        let tool = ToolName::new(format!("{by}:{name}"));
        let kind = ActionKind::Method(MethodCall { component: by.clone(), ..method.clone() });
        let action = Action { kind, component: Some(by), ..self.action.clone() };
        Some((tool, Self { action, standby: None, serves: Some(name.clone()) }))
    }
}

/// Who does what.
struct Parts {
    actions: Arc<dyn RobotActions>,
    /// None where no action needs it.
    commands: Option<CommandRunner>,
    /// The robot's own tools, and what they are now.
    robot: Arc<dyn ToolProvider>,
    tools: watch::Receiver<DiscoveredTools>,
    /// Decides which components may be called.
    gate: Gate,
}

/// A call under way.
#[derive(Clone, Default)]
struct Open {
    /// Whether a request, a message or a parameter was sent.
    decision: SendDecision,
    unwanted: CancellationToken,
    ended: CancellationToken,
}

impl CustomActions {
    /// `robot` carries out the tools that `around` knows of, where `gate` lets them through.
    ///
    /// # Errors
    /// When commands are needed and can't be run.
    pub fn new(
        recipe: &RobotRecipe,
        around: &Robot,
        robot: Arc<dyn ToolProvider>,
        gate: &Gate,
        bounds: CallBounds,
    ) -> anyhow::Result<Self> {
        let RobotRecipe { recipe, folder, .. } = recipe;
        let commands = recipe.has_commands().then(|| CommandRunner::start(AT_ONCE, guarded)).transpose()?;
        let actions = Actions::on(around, recipe);
        let parts =
            Parts { actions: Arc::new(actions), commands, robot, tools: around.discovery.tools(), gate: gate.clone() };
        Ok(Self::of(recipe, folder.clone(), parts, bounds, around.tools.latch().clone()))
    }

    fn of(recipe: &Recipe, folder: PathBuf, parts: Parts, bounds: CallBounds, latch: StopLatch) -> Self {
        let resolved = |(name, action): (&ActionName, &Action)| {
            let component = recipe.component_of(action);
            let replaced = component.as_ref().and_then(|component| recipe.components.get(component));
            let standby = replaced.and_then(|component| component.standby.clone());
            let action = Action { component, ..action.clone() };
            (ToolName::new(name.as_str()), ResolvedAction { action, standby, serves: None })
        };
        let mut actions: BTreeMap<ToolName, ResolvedAction> = recipe.actions.iter().map(resolved).collect();
        let by_standbys: Vec<_> = actions.iter().filter_map(|(name, resolved)| resolved.by_standby(name)).collect();
        actions.extend(by_standbys);
        Self {
            actions,
            folder: std::path::absolute(&folder).unwrap_or(folder),
            parts,
            bounds,
            latch,
            known: watch::Sender::default(),
            open: Mutex::default(),
        }
    }

    /// All actions as tools, as far as the robot has what is behind them.
    pub fn offered(&self) -> Offered {
        let spec = |(name, resolved): (&ToolName, &ResolvedAction)| {
            Some((self.spec_of(name, resolved)?, resolved.action.tool.is_some()))
        };
        let all: Vec<(ToolSpec, bool)> = self.actions.iter().filter_map(spec).collect();
        self.known.send_replace(Arc::new(all.iter().map(|(spec, _)| spec.clone()).collect()));
        let (to_models, to_events): (Vec<_>, Vec<_>) = all.into_iter().partition(|(_, to_models)| *to_models);
        let specs = |all: Vec<(ToolSpec, bool)>| all.into_iter().map(|(spec, _)| spec).collect();
        Offered { to_models: specs(to_models), to_events: specs(to_events) }
    }

    /// Those tools as they are now, for who has to know what each does.
    pub fn known(&self) -> watch::Receiver<DiscoveredTools> {
        self.known.subscribe()
    }

    fn spec_of(&self, name: &ToolName, resolved: &ResolvedAction) -> Option<ToolSpec> {
        let ResolvedAction { action, standby, serves } = resolved;
        let offer = action.tool.as_ref();
        let mut effect = offer.map(|offer| offer.effect);
        let mut resources = offer.map(|offer| offer.resources.clone()).unwrap_or_default();
        let component = action.component.clone();
        let mut cancel = None;
        // A command is a process of its own.
        let mut outlives_process = action.outlives_process || matches!(action.kind, ActionKind::Command(_));
        match &action.kind {
            ActionKind::Method(method) => {
                // Whatever the recipe says of it: it is what the component says, too.
                let behind = match self.method(&method.component, &method.name) {
                    // One that the standby can't do is not offered in its place.
                    Some(behind) if serves.is_none() || fits(action, method, &behind) => behind,
                    Some(_) => return None,
                    // Its component has left: what is left of it is what the standby can do.
                    None => self.method(standby.as_ref()?, &method.name)?,
                };
                effect = effect.max(Some(behind.effect));
                resources.extend(
                    behind.resources.iter().filter(|held| !resources.contains(held)).cloned().collect::<Vec<_>>(),
                );
                cancel = Some(behind.cancel);
                outlives_process |= behind.outlives_process;
            }
            ActionKind::Parameters(_) | ActionKind::Service(_) | ActionKind::Topic(_) | ActionKind::Command(_) => {}
        }
        let effect = effect.unwrap_or_default();
        let observes = effect == Effect::Observe;
        // A method that holds nothing says so: a halt, for example.
        if resources.is_empty() && !observes && !matches!(action.kind, ActionKind::Method(_)) {
            resources.push(ResourceName::new(component.as_ref().map_or(name.as_str(), ComponentName::as_str)));
        }
        let is_process = matches!(action.kind, ActionKind::Command(_));
        let dropped = if observes && !is_process { CancelMode::Drop } else { CancelMode::Halt };
        // It has no conditions: those of the method behind it are checked when it is called.
        Some(
            ToolSpec::new(
                name.clone(),
                offer.map_or_else(|| format!("The action {name}."), |offer| offer.description.clone()),
            )
            .with_parameters(arguments_schema(&offer.map(|offer| offer.parameters.clone()).unwrap_or_default()))
            .with_phase(if observes { ToolPhase::Both } else { ToolPhase::Execution })
            .with_effect(effect)
            .with_effect_source(cortex_protocol::EffectSource::Declared)
            .with_resources(resources)
            .with_timeout(action.timeout_s.duration())
            .with_dispatch(Dispatch::Wait)
            .with_cancel(cancel.unwrap_or(dropped))
            .with_component(component)
            .with_phrases(offer.map(|offer| offer.phrases.clone()).unwrap_or_default())
            .with_serves(serves.clone())
            .with_outlives_process(outlives_process),
        )
    }

    /// What a component offers as its method, now.
    fn method(&self, component: &ComponentName, method: &str) -> Option<ToolSpec> {
        let name = ToolName::of_method(component, method);
        self.parts.tools.borrow().iter().find(|spec| spec.name == name).cloned()
    }

    fn kind(&self, invocation: &Invocation) -> Result<ActionKind, ToolOutcome> {
        let name = &invocation.call.tool;
        let resolved = self
            .actions
            .get(name)
            .ok_or_else(|| ToolOutcome::failure(FailureKind::NotFound, format!("the recipe has no action '{name}'")))?;
        let spec = self.spec_of(name, resolved).ok_or_else(|| {
            ToolOutcome::failure(FailureKind::Unavailable, format!("what '{name}' needs is not on the robot now"))
        })?;
        if spec.fingerprint() != invocation.fingerprint {
            let problem = format!("'{name}' is no longer what it was when the call was planned; plan it anew");
            return Err(ToolOutcome::failure(FailureKind::Changed, problem));
        }
        bind(&resolved.action, &invocation.call.arguments)
            .map_err(|problem| ToolOutcome::failure(FailureKind::InvalidArguments, problem.to_string()))
    }

    /// The call of the component's own tool that this call comes down to.
    fn behind(&self, method: MethodCall, invocation: &Invocation) -> Option<(ToolSpec, Invocation)> {
        let spec = self.method(&method.component, &method.name)?;
        let call = ToolCall { tool: spec.name.clone(), arguments: method.arguments };
        let inner = Invocation { call, fingerprint: spec.fingerprint(), ..invocation.clone() };
        Some((spec, inner))
    }

    /// What an action does to the world, as the recipe has it.
    fn effect(&self, tool: &ToolName) -> Effect {
        let offer = self.actions.get(tool).and_then(|resolved| resolved.action.tool.as_ref());
        offer.map(|offer| offer.effect).unwrap_or_default()
    }

    async fn command(&self, name: &ToolName, command: CommandLine, open: &Open, limit: Duration) -> ToolOutcome {
        let Some(commands) = &self.parts.commands else {
            return ToolOutcome::failure(FailureKind::Unavailable, "commands are not run here");
        };
        let program = cortex_supervisor::program(&command.program, &self.folder);
        let CommandLine { arguments, environment, .. } = command;
        let program = Program { name: name.to_string(), program, arguments, environment, ..Program::default() };
        if self.effect(name) != Effect::Observe {
            // What it has had others do goes on when it has ended.
            self.latch.note_unhaltable(name);
        }
        match run(commands, program, limit, &open.unwanted).await {
            Ok(printed) if printed.is_empty() => ToolOutcome::success(Value::Null),
            Ok(printed) => ToolOutcome::success(json!(printed)),
            Err(_) if open.unwanted.is_cancelled() => ToolOutcome::cancelled(HaltState::Halted, "it was cancelled"),
            Err(problem) => ToolOutcome::failure(FailureKind::Reported, problem.to_string()),
        }
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<(MissionId, CallId), Open>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn key(invocation: &Invocation) -> (MissionId, CallId) {
    (invocation.mission.clone(), invocation.id)
}

/// Takes the call off the list, however it ends.
struct Closing<'a> {
    actions: &'a CustomActions,
    key: (MissionId, CallId),
    open: Open,
}

impl Drop for Closing<'_> {
    fn drop(&mut self) {
        self.actions.lock().remove(&self.key);
        self.open.ended.cancel();
    }
}

#[async_trait]
impl ToolProvider for CustomActions {
    fn label(&self) -> String {
        "recipe".to_owned()
    }

    async fn invoke(&self, invocation: Invocation, observer: Arc<dyn CallObserver>) -> ToolOutcome {
        if self.latch.is_closed() {
            return ToolOutcome::failure(FailureKind::Denied, "the robot is stopped");
        }
        let kind = match self.kind(&invocation) {
            Ok(kind) => kind,
            Err(outcome) => return outcome,
        };
        let open = Open::default();
        self.lock().insert(key(&invocation), open.clone());
        let _closing = Closing { actions: self, key: key(&invocation), open: open.clone() };
        let limit = invocation.timeout.saturating_add(MARGIN);
        match kind {
            ActionKind::Method(method) => {
                let Some((spec, inner)) = self.behind(method, &invocation) else {
                    return ToolOutcome::failure(FailureKind::Unavailable, "its component is not on the robot now");
                };
                if let Err(problem) = checked(&spec, &inner.call.arguments) {
                    let problem = format!("{} does not take that: {problem}", spec.name);
                    return ToolOutcome::failure(FailureKind::InvalidArguments, problem);
                }
                let inner = Invocation { timeout: limit, ..inner };
                // The conditions of the method may take a while: it passes the gate of its own.
                let guarded = self.parts.gate.guard(spec.clone(), Arc::clone(&self.parts.robot));
                run_call(guarded, spec, inner, observer, open.unwanted.clone(), self.bounds).await
            }
            ActionKind::Command(command) => self.command(&invocation.call.tool, command, &open, limit).await,
            other => {
                observer.accepted();
                let limit = match &other {
                    ActionKind::Topic(_) => invocation.timeout.mul_f64(READER_SHARE).min(READER_LIMIT),
                    _ => limit,
                };
                let effect = self.effect(&invocation.call.tool);
                tokio::select! {
                    biased;
                    done = self.parts.actions.carry_out(&other, effect, limit, &open.decision) => match done {
                        Ok(value) => ToolOutcome::success(value),
                        Err(error) => ToolOutcome::failure(FailureKind::Reported, error.to_string()),
                    },
                    () = open.unwanted.cancelled() => ToolOutcome::not_begun("it was halted before it was sent"),
                }
            }
        }
    }

    async fn halt(&self, invocation: &Invocation) -> HaltState {
        let resolved = self.actions.get(&invocation.call.tool);
        let kind = resolved.and_then(|resolved| bind(&resolved.action, &invocation.call.arguments).ok());
        let open = self.lock().get(&key(invocation)).cloned();
        match (kind, open) {
            // Also one that was given up: its component may still be at it.
            (Some(ActionKind::Method(method)), open) => {
                if let Some(open) = open {
                    open.unwanted.cancel();
                }
                // It is known by its number, also where its component has left: what was never sent is at rest.
                let tool = ToolName::of_method(&method.component, &method.name);
                let call = ToolCall { tool, arguments: method.arguments };
                self.parts.robot.halt(&Invocation { call, ..invocation.clone() }).await
            }
            (Some(ActionKind::Command(_)), Some(open)) => {
                open.unwanted.cancel();
                open.ended.cancelled().await;
                HaltState::Halted
            }
            (Some(ActionKind::Command(_)) | None, None) => HaltState::AtRest,
            (Some(ActionKind::Service(_) | ActionKind::Topic(_) | ActionKind::Parameters(_)), Some(open))
                if open.decision.withdraw() =>
            {
                open.unwanted.cancel();
                HaltState::AtRest
            }
            // What was sent can't be taken back, also when nobody waits for its answer any more.
            (_, _) => HaltState::Unconfirmed,
        }
    }

    async fn ended(&self, invocation: &Invocation) {
        match self.actions.get(&invocation.call.tool).map(|resolved| &resolved.action.kind) {
            // The call of the method has the same number.
            Some(ActionKind::Method(_)) => self.parts.robot.ended(invocation).await,
            _ => std::future::pending().await,
        }
    }

    async fn end_earlier(&self, invocation: &Invocation) -> HaltState {
        let name = &invocation.call.tool;
        match self.actions.get(name).map(|resolved| &resolved.action.kind) {
            Some(ActionKind::Method(method)) => {
                let tool = ToolName::of_method(&method.component, &method.name);
                let call = ToolCall { tool, arguments: Map::new() };
                self.parts.robot.end_earlier(&Invocation { call, ..invocation.clone() }).await
            }
            // The guard of an earlier life ends what that has started.
            Some(ActionKind::Command(_)) => HaltState::AtRest,
            // What was sent can't be taken back.
            Some(ActionKind::Service(_) | ActionKind::Topic(_) | ActionKind::Parameters(_)) | None => {
                HaltState::Unconfirmed
            }
        }
    }

    fn has_others_call(&self) -> bool {
        true
    }

    fn watching(&self) -> Watching {
        self.parts.robot.watching()
    }
}

/// Whether a method takes what an action says to it, as far as the action itself knows.
fn fits(action: &Action, method: &MethodCall, spec: &ToolSpec) -> bool {
    let is_told = action.tool.as_ref().is_some_and(|offer| !offer.parameters.is_empty());
    is_told || checked(spec, &method.arguments).is_ok()
}

/// Why a method is not called as an action wants it.
#[derive(Debug, Error)]
enum Misfit {
    /// The component describes it wrongly.
    #[error("{0}")]
    Tool(cortex_core::ToolSetError),
    /// It does not take these arguments.
    #[error("{0}")]
    Arguments(cortex_core::ArgumentsError),
}

/// The recipe is not the component: what it names must fit what the component takes.
fn checked(spec: &ToolSpec, arguments: &Map<String, Value>) -> Result<(), Misfit> {
    let (set, problems) = cortex_core::ToolSet::new([spec.clone()]);
    match problems.into_iter().next() {
        Some(problem) => Err(Misfit::Tool(problem)),
        None => set.check(&spec.name, arguments).map_err(Misfit::Arguments),
    }
}

/// Runs a program to its end; gives what it printed. When it takes longer than `limit`, or is no longer wanted, it is
/// ended; so it is when the future is dropped.
async fn run(
    commands: &CommandRunner,
    program: Program,
    limit: Duration,
    unwanted: &CancellationToken,
) -> CommandResult {
    let (done, mut ended) = oneshot::channel();
    // Whoever asked may have left.
    let command = commands.begin(program, limit, |result| drop(done.send(result)))?;
    let stopping = StopOnDrop { commands, command };
    let gone = |_| Err(CommandFailure::ShuttingDown);
    tokio::select! {
        biased;
        ended = &mut ended => return ended.unwrap_or_else(gone),
        () = unwanted.cancelled() => {}
    }
    drop(stopping);
    ended.await.unwrap_or_else(gone)
}

/// Ends a command that nobody waits for any more.
struct StopOnDrop<'a> {
    commands: &'a CommandRunner,
    command: CommandNumber,
}

impl Drop for StopOnDrop<'_> {
    fn drop(&mut self) {
        self.commands.stop(self.command);
    }
}

#[cfg(test)]
mod tests;
