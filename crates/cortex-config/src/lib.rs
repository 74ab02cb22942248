//! The configuration of Cortex: defaults < file < recipe < environment < ROS parameters < command line. Unknown keys are
//! refused; each error names the key and where it was set. Parsed without side effects, resolved once, passed down by value.
//!
//! This crate owns the keys with their defaults and bounds, and the layers and their order. It links no ROS, so that what
//! reads the configuration alone needs none. It does not own the keys as ROS parameters (`cortex-parameters`), nor the command
//! line, only the values set there, nor the meaning of a value in the crate that it is resolved for.
//!
//! Begin with `Config`, which has every key, and with [`load`], which makes a [`Resolved`] of all [`Layers`]. [`Sources`] are
//! the layers of one running Cortex, with the key of its model.

use std::collections::BTreeMap;
use std::time::Duration;

use cortex_core::MissionLimits;
pub use cortex_discovery_policy::TopicHistorySettings;
use cortex_discovery_policy::{Policy, PolicySettings};
use cortex_model::{ModelChoice, ModelSet, ModelSettings, Streaming, Structured};
use cortex_protocol::words::did_you_mean;
use cortex_protocol::{Conditions, Effect, PolicyRule, ResourceName};
use cortex_recipe::Recipe;
use cortex_ros_syntax::Convention;
use cortex_runtime::{CallBounds, QueuePolicy, RuntimeConfig};
use figment::providers::Serialized;
use figment::{Figment, Metadata};
use serde::{Deserialize, Serialize};

mod chain;
mod embedding;
mod incident;
mod knowledge;
mod layers;
mod local_model;
mod log_level;
mod memory;
mod mission;
mod policy;
mod redacted;
mod secret_place;
mod shadow;
mod skills;
mod sources;
mod tables;
mod tape;
mod watch;
mod web;
mod wordings;

use chain::{ChainConfig, KeyConfig};
use embedding::EmbeddingConfig;
pub use embedding::EmbeddingSettings;
use incident::IncidentConfig;
use knowledge::KnowledgeConfig;
pub use knowledge::{KnowledgeSettings, KnowledgeStore};
pub use layers::{Layers, Value, file};
use local_model::LocalModelConfig;
pub use log_level::LogLevel;
use memory::MemoryConfig;
pub use memory::{MapChoice, MemorySettings};
pub use mission::MeterSettings;
use mission::{BudgetConfig, MissionConfig};
pub use policy::wrong_rule;
use policy::{ApprovalConfig, PolicyConfig};
pub use redacted::without_secrets;
pub use secret_place::SecretPlace;
use shadow::ShadowConfig;
pub use skills::SkillSettings;
use skills::SkillsConfig;
pub use sources::Sources;
pub use tables::{embedding, knowledge, memory, prices, skills, tape_folder, wording_file};
use tape::TapeConfig;
pub use watch::WatchSettings;
use watch::{MetricsConfig, WatchdogConfig};
use web::WebConfig;
pub use web::{IncomingChoice, LoginChoice, PageSettings, TlsChoice, WebhookChoice};
use wordings::WordingsConfig;

/// Everything that can be set. `config/cortex.toml` explains each key.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Config {
    /// The robot's name, in the source of its events.
    pub(crate) robot: String,
    /// What the robot is, in words for the model.
    pub(crate) identity: String,
    /// Which model plans.
    pub(crate) model: String,
    /// How much is logged.
    pub(crate) log_level: LogLevel,
    pub(crate) chain: ChainConfig,
    pub(crate) shadow: ShadowConfig,
    /// By the base of the endpoint.
    pub(crate) keys: BTreeMap<String, KeyConfig>,
    pub(crate) endpoint: EndpointConfig,
    pub(crate) local_model: LocalModelConfig,
    pub(crate) mission: MissionConfig,
    pub(crate) budget: BudgetConfig,
    pub(crate) queue: QueueConfig,
    pub(crate) calls: CallConfig,
    pub(crate) discovery: DiscoveryConfig,
    /// What must hold before, while and after tools are called, by patterns as those of discovery.
    pub(crate) conditions: BTreeMap<String, Conditions>,
    pub(crate) policy: PolicyConfig,
    pub(crate) approval: ApprovalConfig,
    pub(crate) tape: TapeConfig,
    pub(crate) embedding: EmbeddingConfig,
    pub(crate) knowledge: KnowledgeConfig,
    pub(crate) memory: MemoryConfig,
    pub(crate) skills: SkillsConfig,
    pub(crate) watchdog: WatchdogConfig,
    pub(crate) metrics: MetricsConfig,
    pub(crate) web: WebConfig,
    pub(crate) wordings: WordingsConfig,
    pub(crate) incident: IncidentConfig,
}

/// How a model's endpoint is reached.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct EndpointConfig {
    pub(crate) connect_timeout_s: f64,
    pub(crate) attempt_timeout_s: f64,
    pub(crate) request_timeout_s: f64,
    pub(crate) retries: u32,
    pub(crate) structured_output: Structured,
    pub(crate) streaming: Streaming,
    /// Names of models.
    pub(crate) sees_pictures: Vec<String>,
}

/// What happens to a task that comes while another runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct QueueConfig {
    pub(crate) policy: QueueChoice,
    pub(crate) length: usize,
}

/// See [`QueueConfig`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum QueueChoice {
    Queue,
    Reject,
}

/// The bounds of a call's end.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct CallConfig {
    pub(crate) halt_timeout_s: f64,
}

/// How the robot is discovered, and what of it is offered. Patterns are globs on full ROS names.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct DiscoveryConfig {
    pub(crate) startup_timeout_s: f64,
    pub(crate) allow: Vec<String>,
    pub(crate) deny: Vec<String>,
    pub(crate) publish: Vec<String>,
    pub(crate) ends_with_answer: Vec<String>,
    pub(crate) service_timeout_s: f64,
    pub(crate) goal_timeout_s: f64,
    pub(crate) rename: BTreeMap<String, String>,
    pub(crate) effects: BTreeMap<String, Effect>,
    pub(crate) resources: BTreeMap<String, Vec<ResourceName>>,
    pub(crate) conventions: BTreeMap<String, Convention>,
}

impl Default for Config {
    fn default() -> Self {
        let endpoint = ModelSettings::default();
        let policy = PolicySettings::default();
        Self {
            robot: "robot".to_owned(),
            identity: String::new(),
            model: ModelChoice::Reflex.to_string(),
            log_level: LogLevel::AsStarted,
            chain: ChainConfig::default(),
            shadow: ShadowConfig::default(),
            keys: BTreeMap::new(),
            endpoint: EndpointConfig {
                connect_timeout_s: endpoint.connect_timeout.as_secs_f64(),
                attempt_timeout_s: endpoint.attempt_timeout.as_secs_f64(),
                request_timeout_s: endpoint.request_timeout.as_secs_f64(),
                retries: endpoint.retries,
                structured_output: endpoint.structured_output,
                streaming: endpoint.streaming,
                sees_pictures: Vec::new(),
            },
            local_model: LocalModelConfig::default(),
            mission: MissionConfig::default(),
            budget: BudgetConfig::default(),
            queue: QueueConfig { policy: QueueChoice::Queue, length: 4 },
            calls: CallConfig { halt_timeout_s: CallBounds::default().halt_timeout.as_secs_f64() },
            discovery: DiscoveryConfig {
                startup_timeout_s: 8.0,
                allow: policy.allow,
                deny: policy.deny,
                publish: policy.publish,
                ends_with_answer: policy.ends_with_answer,
                service_timeout_s: policy.service_timeout.as_secs_f64(),
                goal_timeout_s: policy.goal_timeout.as_secs_f64(),
                rename: policy.rename,
                effects: policy.effects,
                resources: policy.resources,
                conventions: policy.conventions,
            },
            conditions: policy.conditions,
            policy: PolicyConfig::default(),
            approval: ApprovalConfig::default(),
            tape: TapeConfig::default(),
            embedding: EmbeddingConfig::default(),
            knowledge: KnowledgeConfig::default(),
            memory: MemoryConfig::default(),
            skills: SkillsConfig::default(),
            watchdog: WatchdogConfig::default(),
            metrics: MetricsConfig::default(),
            web: WebConfig::default(),
            wordings: WordingsConfig::default(),
            incident: IncidentConfig::default(),
        }
    }
}

/// A configuration that can be used as it is.
#[derive(Debug, Clone)]
pub struct Resolved {
    /// The robot's name.
    pub robot: String,
    /// The models that plan and confirm, and how they are reached.
    pub models: ModelSet,
    /// Where the keys of their endpoints are, by the base.
    pub keys: BTreeMap<String, SecretPlace>,
    /// Still without what measures: that is heard on the robot's graph.
    pub runtime: RuntimeConfig,
    /// What measures the way and the energy.
    pub meters: MeterSettings,
    /// From which level on it logs.
    pub log_level: LogLevel,
    /// How long components may take to describe themselves before tasks are taken.
    pub settle_timeout: Duration,
    /// What of the robot is offered.
    pub policy: Policy,
    /// Who may look, and where: the watchdog, the metrics and the page.
    pub watch: WatchSettings,
    /// The documents that the robot knows.
    pub knowledge: KnowledgeSettings,
    /// The model that turns texts into vectors. None: they are found by their words alone.
    pub embedding: Option<EmbeddingSettings>,
    /// What the robot remembers. None: nothing.
    pub memory: Option<MemorySettings>,
    /// The skills, and what is kept of them. None: none are used.
    pub skills: Option<SkillSettings>,
    /// The page for people. None: there is none.
    pub web: Option<PageSettings>,
    /// Which messages are kept for incidents. None: none are.
    pub incident: Option<TopicHistorySettings>,
    /// Where the model was set, for people.
    pub model_origin: String,
}

/// Every key with its value, table by table, as the layers have them.
///
/// # Errors
/// When a value can't be one of its key.
pub fn tree(layers: &Layers) -> anyhow::Result<serde_json::Map<String, serde_json::Value>> {
    let config: Config = layers.over_defaults()?.extract()?;
    match serde_json::to_value(config)? {
        serde_json::Value::Object(tree) => Ok(tree),
        _ => Ok(serde_json::Map::new()),
    }
}

/// Every key with its default, table by table.
pub fn defaults() -> serde_json::Map<String, serde_json::Value> {
    match serde_json::to_value(Config::default()) {
        Ok(serde_json::Value::Object(tree)) => tree,
        _ => serde_json::Map::new(),
    }
}

/// Where a key comes from that nobody has set.
const DEFAULT: &str = "the default";

/// Where a key was set, for people. The defaults are a type of Rust to who reads them.
fn origin(from: &Metadata) -> String {
    if from.name.contains("::") { DEFAULT.to_owned() } else { from.name.to_string() }
}

/// What is wrong with a key, where it was set, and which key was probably meant.
fn told(error: &figment::Error) -> String {
    let path = error.path.join(".");
    let mut text = match &error.kind {
        // Its own words put backticks around backticks.
        figment::error::Kind::UnknownField(wrong, known) => {
            let meant = did_you_mean(wrong, known.iter().copied());
            format!("configuration: unknown field: found `{wrong}`{meant}, expected one of {}", known.join(", "))
        }
        kind => format!("configuration: {kind}"),
    };
    if !path.is_empty() {
        text.push_str(&format!(" for key \"{path}\""));
    }
    if let Some(from) = &error.metadata {
        text.push_str(&format!(" in {}", origin(from)));
        if let Some(source) = &from.source {
            text.push_str(&format!(" ({source})"));
        }
    }
    text
}

/// Reads and checks all layers.
pub fn load(layers: &Layers) -> anyhow::Result<Resolved> {
    let figment = layers.over_defaults()?;
    let config: Config = figment.extract().map_err(|errors| {
        let lines: Vec<String> = errors.into_iter().map(|error| told(&error)).collect();
        anyhow::anyhow!("{}\nconfig/cortex.toml explains every key.", lines.join("\n"))
    })?;
    let model_origin = figment.find_metadata("model").map_or_else(|| DEFAULT.to_owned(), origin);
    let config = with_local_model(config, &model_origin);
    resolve(&config, &layers.rules, model_origin)
}

/// A local model that is enabled plans where nobody has chosen another.
fn with_local_model(config: Config, model_origin: &str) -> Config {
    let plans = config.local_model.enable_local_model && model_origin == DEFAULT;
    let model = if plans { ModelChoice::Local { file: None }.to_string() } else { config.model };
    Config { model, ..config }
}

/// All layers together as TOML, without what looks like a secret. Empty where they can't be read.
#[must_use]
pub fn shown(layers: &Layers) -> String {
    let config = layers.over_defaults().and_then(|figment| Ok(figment.extract::<Config>()?));
    let value = config.ok().and_then(|config| serde_json::to_value(config).ok());
    value.and_then(redacted::written).unwrap_or_default()
}

/// `rules` are those of the recipe.
fn resolve(config: &Config, rules: &[PolicyRule], model_origin: String) -> anyhow::Result<Resolved> {
    let model: ModelChoice =
        config.model.parse().map_err(|error| anyhow::anyhow!("configuration: model (from {model_origin}): {error}"))?;
    let tape = tape::settings(&config.tape)?;
    let skills = skills::settings(&config.skills, &config.robot, &tape.directory)?;
    let knowledge = knowledge::settings(&config.knowledge, &config.keys, &config.robot, &tape.directory)?;
    let memory = memory::settings(&config.memory, &config.robot, &tape.directory)?;
    let endpoint = ModelSettings {
        connect_timeout: seconds("endpoint.connect_timeout_s", config.endpoint.connect_timeout_s)?,
        attempt_timeout: seconds("endpoint.attempt_timeout_s", config.endpoint.attempt_timeout_s)?,
        request_timeout: seconds("endpoint.request_timeout_s", config.endpoint.request_timeout_s)?,
        retries: config.endpoint.retries,
        structured_output: config.endpoint.structured_output,
        streaming: config.endpoint.streaming,
        local: local_model::settings(&config.local_model)?,
        wordings: wordings::file(&config.wordings, &config.robot, &tape.directory)?,
        ..ModelSettings::default()
    };
    let models = chain::models(model, endpoint, &config.chain, config.local_model.enable_local_model)?;
    let seeing = chain::seeing(&config.endpoint.sees_pictures)?;
    let models = ModelSet { seeing, shadow: shadow::choice(&config.shadow)?, ..models };
    let limits = mission::limits(&config.mission, &config.budget, &models)?;
    let calls = CallBounds {
        halt_timeout: seconds("calls.halt_timeout_s", config.calls.halt_timeout_s)?,
        ..CallBounds::default()
    };
    let limits = MissionLimits {
        // The mission's own bound only guards against the dispatcher's, so it must come later.
        halt_timeout: limits.halt_timeout.max(calls.halt_timeout + calls.return_grace + Duration::from_secs(1)),
        ..limits
    };
    let queue = match config.queue.policy {
        QueueChoice::Queue => QueuePolicy::Queue { length: config.queue.length },
        QueueChoice::Reject => QueuePolicy::Reject,
    };
    anyhow::ensure!(!config.robot.trim().is_empty(), "configuration: robot must not be empty; give the robot a name");
    let runtime = RuntimeConfig {
        source: format!("/{}/cortex", config.robot.trim()),
        identity: config.identity.clone(),
        limits,
        queue,
        calls,
        // The model's own bound and the wait for a second model come first; this one guards against a flaw of an adapter.
        model_timeout: models.settings.request_timeout
            + models.shadow.as_ref().map_or(Duration::ZERO, |shadow| shadow.bounds.wait)
            + Duration::from_secs(5),
        tape: Some(tape),
        session_timeout: seconds("mission.session_timeout_s", config.mission.session_timeout_s)?,
        policy: policy::policy(&config.policy, &[rules, memory::rule(memory.is_some()).as_slice()].concat())?,
        approval: policy::approval(&config.approval)?,
        // The journal and the rest are known when the node has its name.
        ..RuntimeConfig::default()
    };
    let meters = mission::meters(&config.budget)?;
    let settle_timeout = seconds("discovery.startup_timeout_s", config.discovery.startup_timeout_s)?;
    anyhow::ensure!(
        settle_timeout < Duration::from_secs(10),
        "configuration: discovery.startup_timeout_s is {}; it must be below 10, the time in which a task is taken or \
         refused",
        config.discovery.startup_timeout_s
    );
    let policy = discovery_policy(&config.discovery, &config.conditions)?;
    let log_level = config.log_level;
    let watch = watch::settings(&config.watchdog, &config.metrics)?;
    let web = web::page(&config.web)?;
    let incident = incident::settings(&config.incident)?;
    let robot = config.robot.trim().to_owned();
    Ok(Resolved {
        robot,
        models,
        keys: chain::keys(&config.keys)?,
        runtime,
        meters,
        log_level,
        settle_timeout,
        policy,
        watch,
        knowledge,
        embedding: embedding::settings(&config.embedding, &config.keys)?,
        memory,
        skills,
        web,
        incident,
        model_origin,
    })
}

fn discovery_policy(discovery: &DiscoveryConfig, conditions: &BTreeMap<String, Conditions>) -> anyhow::Result<Policy> {
    let settings = PolicySettings {
        allow: discovery.allow.clone(),
        deny: discovery.deny.clone(),
        publish: discovery.publish.clone(),
        ends_with_answer: discovery.ends_with_answer.clone(),
        rename: discovery.rename.clone(),
        effects: discovery.effects.clone(),
        resources: discovery.resources.clone(),
        conditions: conditions.clone(),
        conventions: discovery.conventions.clone(),
        service_timeout: seconds("discovery.service_timeout_s", discovery.service_timeout_s)?,
        goal_timeout: seconds("discovery.goal_timeout_s", discovery.goal_timeout_s)?,
    };
    Policy::new(&settings).map_err(|problem| match problem.key {
        // A table of its own.
        "conditions" => anyhow::anyhow!("configuration: {problem}"),
        _ => anyhow::anyhow!("configuration: discovery.{problem}"),
    })
}

/// A robot's name, or another that people gave, as the name of a file.
fn file_name(name: &str) -> String {
    const CHARACTERS: usize = 100;
    let plain = |letter: char| if letter.is_alphanumeric() || letter == '-' { letter } else { '_' };
    name.trim().chars().map(plain).take(CHARACTERS).collect()
}

/// A number of seconds as a time: above 0, at most a day.
fn seconds(key: &str, value: f64) -> anyhow::Result<Duration> {
    const DAY: f64 = 86_400.0;
    anyhow::ensure!(
        value.is_finite() && value > 0.0 && value <= DAY,
        "configuration: {key} is {value}; it must be a number of seconds above 0 and at most {DAY}"
    );
    Ok(Duration::from_secs_f64(value))
}

fn at_least_one(key: &str, value: u32) -> anyhow::Result<()> {
    anyhow::ensure!(value > 0, "configuration: {key} is 0; it must be at least 1");
    Ok(())
}

/// What is wrong with the configuration in a recipe: the key, as far as it is known, and what is wrong with it.
pub fn mistakes(table: &serde_json::Map<String, serde_json::Value>) -> Vec<(Vec<String>, String)> {
    let policy = table.get("policy").and_then(serde_json::Value::as_object);
    if policy.is_some_and(|policy| policy.contains_key("rules")) {
        let fix = "the rules of a recipe stand in [[policy]], where they count beside those of the configuration; here \
                   they would replace them";
        return vec![(vec!["policy".to_owned(), "rules".to_owned()], fix.to_owned())];
    }
    let figment = Figment::from(Serialized::defaults(Config::default())).merge(Serialized::defaults(table));
    match figment.extract::<Config>() {
        Err(errors) => errors.into_iter().map(mistake).collect(),
        Ok(config) => resolve(&config, &[], "recipe".to_owned()).err().into_iter().map(meaning).collect(),
    }
}

/// A key that has another form, or is none.
fn mistake(mut error: figment::Error) -> (Vec<String>, String) {
    let mut key = std::mem::take(&mut error.path);
    if let figment::error::Kind::UnknownField(name, known) = &error.kind {
        key.push(name.clone());
        return (key, format!("there is no key '{name}' here; the keys are {}", known.join(", ")));
    }
    (key, error.kind.to_string())
}

/// A value that can't be used: the message begins with its key.
fn meaning(problem: anyhow::Error) -> (Vec<String>, String) {
    let text = format!("{problem:#}");
    let text = text.strip_prefix("configuration: ").unwrap_or(&text);
    let key = text.split([' ', ':']).next().unwrap_or_default();
    (key.split('.').map(str::to_owned).collect(), text.to_owned())
}

/// The policy that a recipe alone makes. None: something in it can't be used.
pub fn policy_of(recipe: &Recipe) -> Option<cortex_core::Policy> {
    let figment = Figment::from(Serialized::defaults(Config::default())).merge(Serialized::defaults(&recipe.cortex));
    policy::policy(&figment.extract::<Config>().ok()?.policy, &recipe.policy).ok()
}

#[cfg(test)]
mod tests {
    use figment::providers::{Format, Toml};
    use figment::value::Value;

    use super::*;

    fn file_with(text: &str) -> (tempfile::TempDir, Layers) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("cortex.toml");
        std::fs::write(&path, text).unwrap();
        (folder, Layers { file: Some(path), ..Layers::default() })
    }

    fn problem(text: &str) -> String {
        let (_folder, layers) = file_with(text);
        load(&layers).unwrap_err().to_string()
    }

    #[test]
    fn the_shipped_file_says_what_the_defaults_are() {
        let shipped: Config =
            Figment::from(Toml::string(include_str!("../../../config/cortex.toml"))).extract().unwrap();
        assert_eq!(shipped, Config::default());
    }

    #[test]
    fn later_layers_win() {
        let (_folder, mut layers) = file_with("model = \"openai:a@http://localhost:1/v1\"\nrobot = \"file\"");
        assert_eq!(load(&layers).unwrap().runtime.source, "/file/cortex");
        layers.recipe = serde_json::from_value(serde_json::json!({"robot": "recipe", "model": "reflex"})).unwrap();
        let resolved = load(&layers).unwrap();
        assert_eq!(
            (resolved.runtime.source.as_str(), resolved.model_origin.as_str()),
            ("/recipe/cortex", "the recipe")
        );
        layers.ros = vec![
            ("robot".into(), Value::from("ros")),
            ("mission.max_replans".into(), Value::from(1)),
            ("model".into(), Value::from("reflex")),
        ];
        let resolved = load(&layers).unwrap();
        assert_eq!(load(&Layers::default()).unwrap().model_origin, "the default");
        assert_eq!((resolved.runtime.source.as_str(), resolved.runtime.limits.max_replans), ("/ros/cortex", 1));
        assert_eq!((resolved.models.first, resolved.model_origin.as_str()), (ModelChoice::Reflex, "ROS parameters"));
        layers.model = Some("openai:b@http://localhost:2/v1".into());
        let resolved = load(&layers).unwrap();
        assert_eq!(resolved.models.first.to_string(), "openai:b@http://localhost:2/v1");
        assert_eq!(resolved.model_origin, "--model");
        layers.set = vec![("model".into(), Value::from("reflex"))];
        assert_eq!(load(&layers).unwrap().models.first, ModelChoice::Reflex, "what is set later wins");
    }

    #[test]
    fn each_robot_has_its_learnt_wordings_beside_the_tapes() {
        for (text, path) in [
            ("robot = \"Tea/7\"\n[tape]\ndirectory = \"/tapes\"", Some("/tapes/wordings/Tea_7.jsonl")),
            ("[wordings]\nfile = \"/etc/words.jsonl\"", Some("/etc/words.jsonl")),
            ("[wordings]\nfile = \"off\"", None),
        ] {
            let (_folder, layers) = file_with(text);
            let files = [load(&layers).unwrap().models.settings.wordings, wording_file(&layers).unwrap()];
            for file in files {
                assert_eq!(file.map(|file| file.path().to_owned()), path.map(std::path::PathBuf::from), "{text}");
            }
        }
    }

    fn rule(then: &str, key: &str, value: &str) -> PolicyRule {
        serde_json::from_value(serde_json::json!({"then": then, "tools": ["base.*"], key: value})).unwrap()
    }

    #[test]
    fn rules_of_a_recipe_count_beside_those_of_the_configuration() {
        let text = "[policy]\nundeclared = \"deny\"\n[[policy.rules]]\nthen = \"deny\"\ntools = [\"base.*\"]\n\
                    arguments = { place = { one_of = [\"street\"] }, \"pose.position.x\" = { above = 2 } }\n\
                    [approval]\ndeadline_s = 7";
        let (_folder, mut layers) = file_with(text);
        layers.rules = vec![rule("allow", "because", "It is at home there.")];
        let resolved = load(&layers).unwrap();
        let thens: Vec<_> = resolved.runtime.policy.rules().map(|rule| rule.then).collect();
        assert_eq!(thens, [cortex_protocol::PolicyVerdict::Deny, cortex_protocol::PolicyVerdict::Allow]);
        assert_eq!(resolved.runtime.policy.undeclared(), cortex_protocol::PolicyVerdict::Deny);
        assert_eq!(resolved.runtime.approval.deadline, Duration::from_secs(7));
    }

    #[test]
    fn mistakes_are_named_with_their_key() {
        for (text, expected) in [
            ("modle = \"reflex\"", "modle"),
            ("[mission]\nmax_replans = \"many\"", "max_replans"),
            ("[mission]\nmax_planning_steps = 0", "mission.max_planning_steps is 0; it must be at least 1"),
            ("[mission]\nmax_duration_s = -1.0", "mission.max_duration_s is -1"),
            ("[calls]\nhalt_timeout_s = nan", "calls.halt_timeout_s is NaN"),
            ("[endpoint]\nstructured_output = \"maybe\"", "structured_output"),
            ("model = \"gpt\"", "'gpt' names no model"),
            ("[mission]\nconfirmation = \"never\"", "confirmation"),
            ("[budget]\nmax_cost = -1.0", "budget.max_cost is -1"),
            (
                "model = \"openai:m@http://localhost:1/v1\"\n[budget]\nmax_cost = 2.0",
                "budget.prices has no price for 'm'",
            ),
            ("[budget]\nmax_metres = 2", "budget.max_metres is set, but budget.odometry names no topic"),
            ("[budget]\nmax_watt_hours = nan", "budget.max_watt_hours is NaN"),
            ("[budget]\nbattery = \"battery\"", "such as /battery"),
            ("[budget]\nmeter_timeout_s = 0", "budget.meter_timeout_s is 0"),
            ("[mission]\nconfirmation_arguments = \"all\"", "confirmation_arguments"),
            ("[budget.prices.m]\nprompt = -1\ncompletion = 1", "budget.prices.m must be two amounts"),
            ("robot = \" \"", "give the robot a name"),
            ("[queue]\npolicy = \"maybe\"", "for key \"queue.policy\" in TOML file ("),
            ("[queue]\nplicy = \"reject\"", " (did you mean 'policy'?)"),
            ("robot = ", "TOML"),
            ("[discovery]\ndeny = [\"base/*\"]", "configuration: discovery.deny: 'base/*' matches nothing"),
            ("[discovery]\nservice_timeout_s = 0", "discovery.service_timeout_s is 0"),
            ("[tape]\nmax_mission_mb = 0", "tape.max_mission_mb is 0"),
            ("[tape]\nmax_folder_mb = 1", "tape.max_folder_mb is 1; it must be at least tape.max_mission_mb"),
            ("[tape]\ndirectory = \"here\"", "tape.directory is 'here'; it must be a full path"),
            ("[wordings]\nfile = \"here\"", "wordings.file is 'here'; it must be a full path"),
            ("[watchdog]\ntimeout_s = 1", "watchdog.timeout_s is 1; it must be at least 3"),
            ("[metrics]\nlisten = \"9464\"", "metrics.listen is '9464'; it must be an address and a port"),
            ("[web]\nlisten = \"8642\"", "web.listen is '8642'; it must be an address and a port"),
            ("[web]\nlisten = \"localhost:8642\"", "such as 127.0.0.1:8642, or \"off\""),
            ("[web]\nlisten = \"127.0.0.1:65536\"", "web.listen is '127.0.0.1:65536'"),
            ("[web]\nlisten = 8642", "listen"),
            ("[web]\nport = 8642", "port"),
            ("[discovery.rename]\n\"/a\" = \"b c\"", "configuration: discovery.rename: 'b c'"),
            ("[discovery.effects]\n\"/a\" = \"fly\"", "fly"),
            ("[discovery.resources]\n\"/a\" = [\"\"]", "configuration: discovery.resources: a resource has no name"),
            ("[conditions.\"base.go_to\"]\nbefore = []", "configuration: conditions: 'base.go_to' matches nothing"),
            ("[conditions.\"/a\"]\nbefor = []", "unknown field"),
            ("[[conditions.\"/a\".during]]\ntopic = '/b'\ngreater = 'x'", "'greater' takes a number"),
            ("[[conditions.\"/a\".after]]\ntopic = '/b'\nwithin_s = 0", "'within_s' is 0"),
            ("[[conditions.\"/a\".during]]\ntopic = '~/b'", "write its full name, which begins with a slash"),
            ("[discovery.conventions]\n\"Pose\" = \"hidden\"", "configuration: discovery.conventions"),
            ("[policy]\nundeclared = \"maybe\"", "unknown variant: found `maybe`"),
            ("[policy]\nrule = []", "rule"),
            ("[[policy.rules]]\nthen = \"deny\"", "configuration: policy.rules, rule 1: it names nothing"),
            (
                "[[policy.rules]]\nthen = \"deny\"\ntools = [\"a\"]\n[[policy.rules]]\nthen = \"ask\"\nhours = \"night\"",
                "configuration: policy.rules, rule 2: hours = \"night\" is no span of the day. Fix: write it as",
            ),
            ("[[policy.rules]]\nthen = \"deny\"\ntool = [\"a\"]", "tool"),
            ("[[policy.rules]]\ntools = [\"a\"]", "then"),
            ("[approval]\ndeadline_s = 0", "approval.deadline_s is 0"),
        ] {
            let problem = problem(text);
            assert!(problem.contains(expected), "{text}: {problem}");
            // What a profile is called, and which type has the defaults, is nobody's business.
            assert!(!problem.contains("\"default.") && !problem.contains("::Config"), "{text}: {problem}");
        }
        let of_recipe = Layers { rules: vec![rule("ask", "hours", "night")], ..Layers::default() };
        let problem = load(&of_recipe).unwrap_err().to_string();
        assert!(problem.contains("policy of the recipe, rule 1: hours"), "{problem}");
        let missing = Layers { file: Some("/nowhere/cortex.toml".into()), ..Layers::default() };
        assert!(load(&missing).unwrap_err().to_string().contains("there is no file /nowhere/cortex.toml"));
    }
}
