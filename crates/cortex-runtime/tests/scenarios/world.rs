//! The robot and the model of a scenario, made of what its file says.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use cortex_core::meter::Reading;
use cortex_core::mission::MissionLimits;
use cortex_core::policy::{Policy, PolicySettings};
use cortex_core::{CallArguments, ChatModel, ChatReply, ModelCall, ModelError};
use cortex_model::Reflex;
use cortex_protocol::mission::Expense;
use cortex_protocol::{Effect, EffectSource, FailureKind, HaltState, PolicyRule, ToolOutcome, ToolPhase, ToolSpec};
use cortex_runtime::{Meter, RuntimeConfig, TapeSettings};
use cortex_testkit::{Behaviour, FakeObservations, FakeTools, Line, ScriptedModel, tool};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use tokio::sync::watch;

use crate::file::{Happening, LimitsTable, ReplyTable, Scenario, ToolTable};

/// Everything that one run needs.
pub(crate) struct World {
    pub(crate) config: RuntimeConfig,
    /// All tools, also those that come later.
    pub(crate) specs: Vec<ToolSpec>,
    /// Those that are not there from the beginning.
    pub(crate) absent: Vec<String>,
    pub(crate) tools: Arc<FakeTools>,
    /// What the robot shows.
    pub(crate) observations: Arc<FakeObservations>,
    pub(crate) model: Arc<dyn ChatModel>,
    /// The same model, where it is a scripted one.
    pub(crate) script: Option<Arc<ScriptedModel>>,
    pub(crate) happenings: Vec<(Moment, Happening)>,
    pub(crate) meters: ScriptedMeters,
}

/// Meters that count what the scenario says.
pub(crate) type ScriptedMeters = BTreeMap<Expense, watch::Sender<Reading>>;

/// When something happens.
#[derive(Debug, Clone)]
pub(crate) enum Moment {
    /// So long after the task was sent.
    At(Duration),
    /// After the first line of feedback that holds this.
    AfterLine(String),
}

/// Names a folder in which the missions of all scenarios are recorded, for `cortex eval`. Without it none is.
const TAPES: &str = "CORTEX_SCENARIO_TAPES";

fn tapes() -> Option<std::ffi::OsString> {
    std::env::var_os(TAPES).filter(|folder| !folder.is_empty())
}

/// Whether the missions are recorded.
pub(crate) fn records() -> bool {
    tapes().is_some()
}

type Result<T> = std::result::Result<T, String>;

pub(crate) fn make(
    shared: &BTreeMap<String, ToolTable>,
    shows: &BTreeMap<String, Value>,
    rules: &[PolicyRule],
    scenario: &Scenario,
) -> Result<World> {
    let mut tables = shared.clone();
    for (name, own) in &scenario.tools {
        let table = tables.remove(name).unwrap_or_default();
        tables.insert(name.clone(), overridden(table, own.clone()));
    }
    let mut specs = Vec::new();
    let mut absent = Vec::new();
    let mut behaviours = Vec::new();
    for (name, table) in &tables {
        let names = match table.copies {
            None => vec![name.clone()],
            Some(copies) => (1..=copies).map(|copy| format!("{name}_{copy}")).collect(),
        };
        let does = table.does.clone().unwrap_or_else(|| json!({"returns": "done"}));
        let does = behaviour(does).map_err(|problem| format!("{name} does: {problem}"))?;
        for name in names {
            specs.push(spec(&name, table));
            behaviours.push((name.clone(), does.clone()));
            if table.comes_later == Some(true) {
                absent.push(name);
            }
        }
    }
    let (model, script) = model(scenario)?;
    let observations = Arc::new(FakeObservations::with_echoes(scenario.echoes.iter().cloned()));
    for (name, value) in shows.iter().chain(&scenario.shows) {
        observations.repeat(name, value.clone());
    }
    for (name, value) in &scenario.keeps {
        observations.keep(name, value.clone());
    }
    let tools = FakeTools::new(behaviours.iter().map(|(name, does)| (name.as_str(), does.clone())));
    let tools = tools.watched(Arc::clone(&observations));
    let happenings = scenario.happens.iter().cloned().map(happening).collect::<Result<_>>()?;
    let mut config = config(&scenario.limits);
    let rules = rules.iter().chain(&scenario.rules).cloned().collect();
    let settings = PolicySettings { rules, ..PolicySettings::default() };
    config.policy = Policy::new(settings).map_err(|problem| problem.to_string())?;
    let meters = meters(&mut config);
    Ok(World { config, specs, absent, tools: Arc::new(tools), observations, model, script, happenings, meters })
}

fn overridden(table: ToolTable, own: ToolTable) -> ToolTable {
    ToolTable {
        description: own.description.or(table.description),
        phase: own.phase.or(table.phase),
        effect: own.effect.or(table.effect),
        dispatch: own.dispatch.or(table.dispatch),
        resources: own.resources.or(table.resources),
        timeout: own.timeout.or(table.timeout),
        takes: own.takes.or(table.takes),
        phrases: own.phrases.or(table.phrases),
        conditions: own.conditions.or(table.conditions),
        does: own.does.or(table.does),
        copies: own.copies.or(table.copies),
        undeclared: own.undeclared.or(table.undeclared),
        comes_later: own.comes_later.or(table.comes_later),
    }
}

/// The schema of an argument: its JSON type, or the texts that it may be.
fn argument(kind: &str) -> Value {
    if kind.contains('|') { json!({"enum": kind.split('|').collect::<Vec<_>>()}) } else { json!({"type": kind}) }
}

fn spec(name: &str, table: &ToolTable) -> ToolSpec {
    let effect = table.effect.unwrap_or(Effect::Move);
    let mut spec = tool(name, table.phase.unwrap_or(ToolPhase::Execution), effect);
    if let Some(description) = &table.description {
        spec.description.clone_from(description);
    }
    if let Some(takes) = &table.takes {
        let properties: Map<String, Value> = takes.iter().map(|(name, kind)| (name.clone(), argument(kind))).collect();
        let required: Vec<&String> = takes.keys().collect();
        spec.parameters = json!({
            "type": "object", "properties": properties, "required": required, "additionalProperties": false
        });
    }
    if table.undeclared == Some(true) {
        spec.effect_source = EffectSource::Assumed;
    }
    spec.component = name.split_once('.').map(|(component, _)| component.into());
    spec.dispatch = table.dispatch.unwrap_or_default();
    spec.resources = table.resources.iter().flatten().map(|name| name.as_str().into()).collect();
    spec.timeout = table.timeout.map_or(spec.timeout, Duration::from_secs_f64);
    spec.phrases = table.phrases.clone().unwrap_or_default();
    spec.conditions = table.conditions.clone().unwrap_or_default();
    spec
}

/// How a behaviour ends, as a file says it.
#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum Ending {
    Returns(Value),
    /// A text of so many bytes.
    ReturnsBytes(usize),
    Fails(String),
    Rejects(String),
    /// It could not be reached; nothing was done.
    Unavailable(String),
    /// Its answer could not be read.
    BadResponse(String),
    /// It says that it failed and that it goes on.
    FailsAndGoesOn(String),
    /// It says that it succeeded and that it goes on.
    ReturnsAndGoesOn(Value),
    SucceedsWhenHalted(Value),
    /// Seconds.
    HaltsAfter(f64),
    /// These are all `true`; `"lost"` is short for `{ lost = true }`.
    Lost(bool),
    RunsUntilHalted(bool),
    IgnoresHalt(bool),
    RefusesHalt(bool),
    Panics(bool),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Reports {
    /// Seconds.
    every: f64,
    times: u32,
    says: Option<String>,
}

fn behaviour(does: Value) -> Result<Behaviour> {
    if let Value::Array(turns) = does {
        return Ok(Behaviour::InTurn(turns.into_iter().map(behaviour).collect::<Result<_>>()?));
    }
    let (after, does) = without::<f64>(spelled_out(does), "after")?;
    let (reports, does) = without::<Reports>(does, "reports")?;
    let failure = |kind, message: String| Behaviour::Ends(ToolOutcome::failure(kind, message));
    let mut behaviour = match read::<Ending>(does)? {
        Ending::Returns(value) => Behaviour::Returns(value),
        Ending::ReturnsBytes(bytes) => Behaviour::Returns(json!("x".repeat(bytes))),
        Ending::Fails(message) => Behaviour::Fails(message),
        Ending::Rejects(message) => Behaviour::Rejects(message),
        Ending::Unavailable(message) => failure(FailureKind::Unavailable, message),
        Ending::BadResponse(message) => failure(FailureKind::BadResponse, message),
        Ending::FailsAndGoesOn(message) => {
            let outcome = ToolOutcome::failure(FailureKind::Reported, message);
            Behaviour::Ends(outcome.with_halt(HaltState::Unconfirmed))
        }
        Ending::ReturnsAndGoesOn(value) => {
            Behaviour::Ends(ToolOutcome::success(value).with_halt(HaltState::Unconfirmed))
        }
        Ending::SucceedsWhenHalted(value) => Behaviour::SucceedsWhenHalted(value),
        Ending::HaltsAfter(seconds) => Behaviour::HaltsAfter(Duration::from_secs_f64(seconds)),
        Ending::Lost(true) => Behaviour::Lost,
        Ending::RunsUntilHalted(true) => Behaviour::RunsUntilHalted,
        Ending::IgnoresHalt(true) => Behaviour::IgnoresHalt,
        Ending::RefusesHalt(true) => Behaviour::RefusesHalt,
        Ending::Panics(true) => Behaviour::Panics,
        Ending::Lost(false)
        | Ending::RunsUntilHalted(false)
        | Ending::IgnoresHalt(false)
        | Ending::RefusesHalt(false)
        | Ending::Panics(false) => return Err("say what it does, not what it does not".to_owned()),
    };
    if let Some(seconds) = after {
        behaviour = Behaviour::After(Duration::from_secs_f64(seconds), Box::new(behaviour));
    }
    if let Some(Reports { every, times, says }) = reports {
        let every = Duration::from_secs_f64(every);
        behaviour = Behaviour::Reports { every, times, says, then: Box::new(behaviour) };
    }
    Ok(behaviour)
}

/// `"lost"` is short for `{ lost = true }`.
pub(crate) fn spelled_out(does: Value) -> Value {
    match does {
        Value::String(word) => json!({word: true}),
        does => does,
    }
}

fn happening(value: Value) -> Result<(Moment, Happening)> {
    let (at, value) = without::<f64>(value, "at")?;
    let (line, value) = without::<String>(value, "after")?;
    let moment = match (at, line) {
        (Some(seconds), None) => Moment::At(Duration::from_secs_f64(seconds)),
        (None, Some(line)) => Moment::AfterLine(line),
        _ => return Err(format!("{value} happens 'at' a time or 'after' a line")),
    };
    Ok((moment, read(value)?))
}

/// The member of that name, and what is left without it.
fn without<T: serde::de::DeserializeOwned>(value: Value, name: &str) -> Result<(Option<T>, Value)> {
    let Value::Object(mut fields) = value else { return Ok((None, value)) };
    let member = fields.remove(name).map(read).transpose()?;
    Ok((member, Value::Object(fields)))
}

fn read<T: serde::de::DeserializeOwned>(value: Value) -> Result<T> {
    let shown = value.to_string();
    serde_json::from_value(value).map_err(|problem| format!("{shown}: {problem}"))
}

type Model = (Arc<dyn ChatModel>, Option<Arc<ScriptedModel>>);

fn model(scenario: &Scenario) -> Result<Model> {
    let Value::Array(lines) = &scenario.model else {
        return match scenario.model.as_str() {
            Some("reflex") => Ok((Arc::new(Reflex::default()), None)),
            _ => Err("the model is \"reflex\", or a list of replies".to_owned()),
        };
    };
    let mut model = ScriptedModel::new(lines.iter().cloned().map(reply).collect::<Result<Vec<_>>>()?);
    if let Some(always) = &scenario.and_then_always {
        model = model.and_then_always(reply(always.clone())?);
    }
    let model = Arc::new(model);
    Ok((model.clone(), Some(model)))
}

pub(crate) fn reply(value: Value) -> Result<Line> {
    if let Value::String(text) = value {
        return Ok(Line::Reply(ChatReply { text, ..ChatReply::default() }));
    }
    let ReplyTable { says, calls, times, refuses, cut, tokens, after, fails, hangs, panics } = read(value)?;
    let line = if let Some(kind) = fails {
        let message = format!("the scenario's model fails ({kind:?})");
        Line::Fail(ModelError { kind, message, hint: String::new(), retry_after: None })
    } else if hangs {
        Line::Hang
    } else if panics {
        Line::Panic
    } else {
        let times = times.unwrap_or(1);
        let written: Vec<&String> = std::iter::repeat_n(&calls, times).flatten().collect();
        let calls = written.iter().enumerate().map(|(index, call)| model_call(index, call)).collect();
        Line::Reply(ChatReply {
            text: says,
            calls,
            refusal: refuses,
            cut,
            completion_tokens: tokens,
            ..ChatReply::default()
        })
    };
    Ok(match after {
        Some(seconds) => Line::After(Duration::from_secs_f64(seconds), Box::new(line)),
        None => line,
    })
}

/// `name {"argument": 1}`. What can't be read reaches the machine as it would from a real model.
fn model_call(index: usize, written: &str) -> ModelCall {
    let (name, arguments) = written.split_once(' ').unwrap_or((written, ""));
    ModelCall { id: format!("call-{index}"), name: name.to_owned(), arguments: CallArguments::read(arguments) }
}

/// A meter for each budget that needs one.
fn meters(config: &mut RuntimeConfig) -> ScriptedMeters {
    let limits = &config.limits;
    let named = [(Expense::Metres, limits.max_metres), (Expense::WattHours, limits.max_watt_hours)];
    let mut senders = BTreeMap::new();
    for (expense, _) in named.into_iter().filter(|(_, limit)| limit.is_some()) {
        let (sender, reading) = watch::channel(Reading { total: 0.0, is_live: true });
        config.meters.push(Meter { expense, reading });
        senders.insert(expense, sender);
    }
    senders
}

fn config(table: &LimitsTable) -> RuntimeConfig {
    let mut config = RuntimeConfig::default();
    let default = MissionLimits::default();
    config.limits = MissionLimits {
        max_planning_steps: table.planning_steps.unwrap_or(default.max_planning_steps),
        max_execution_steps: table.execution_steps.unwrap_or(default.max_execution_steps),
        max_parallel_steps: table.parallel_steps.unwrap_or(default.max_parallel_steps),
        max_replans: table.replans.unwrap_or(default.max_replans),
        max_rounds: table.rounds.unwrap_or(default.max_rounds),
        max_model_calls: table.model_calls.unwrap_or(default.max_model_calls),
        max_tokens: table.tokens.or(default.max_tokens),
        max_metres: table.metres.or(default.max_metres),
        max_watt_hours: table.watt_hours.or(default.max_watt_hours),
        confirmation_arguments: table.confirmation_arguments.unwrap_or(default.confirmation_arguments),
        max_confirmations_per_step: table.confirmations_per_step.unwrap_or(default.max_confirmations_per_step),
        max_corrections: table.corrections.unwrap_or(default.max_corrections),
        max_retries: table.retries.unwrap_or(default.max_retries),
        max_offered_tools: table.offered_tools.unwrap_or(default.max_offered_tools),
        max_conversation_bytes: table.conversation_bytes.unwrap_or(default.max_conversation_bytes),
        confirmation: table.confirmation.unwrap_or(default.confirmation),
        on_failure: table.on_failure.unwrap_or(default.on_failure),
        component_grace: table.component_grace.map_or(default.component_grace, Duration::from_secs_f64),
        pause_patience: table.pause_patience.map_or(default.pause_patience, Duration::from_secs_f64),
        hung_after: table.hung_after.map(Duration::from_secs_f64).or(default.hung_after),
        max_idle: table.max_idle.map(Duration::from_secs_f64).or(default.max_idle),
        max_duration: table.duration.map_or(default.max_duration, Duration::from_secs_f64),
        ..default
    };
    config.model_timeout = table.model_timeout.map_or(config.model_timeout, Duration::from_secs_f64);
    config.tape = tapes().map(TapeSettings::at);
    config
}
