//! `[mission]` and `[budget]`: the bounds of a mission.

use std::collections::BTreeMap;
use std::time::Duration;

use cortex_core::MissionLimits;
use cortex_core::mission::{ConfirmationArguments, ConfirmationMode, OnFailure, Prices};
use cortex_model::{ModelChoice, ModelSet};
use serde::{Deserialize, Serialize};

use super::{at_least_one, seconds};

/// The bounds of a mission.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct MissionConfig {
    pub(crate) max_task_bytes: usize,
    pub(crate) max_planning_steps: u32,
    pub(crate) max_execution_steps: u32,
    pub(crate) max_parallel_steps: usize,
    pub(crate) max_replans: u32,
    pub(crate) max_rounds: u32,
    pub(crate) max_model_calls: u32,
    pub(crate) max_offered_tools: usize,
    pub(crate) max_conversation_bytes: usize,
    pub(crate) planning_temperature: f64,
    pub(crate) planning_tokens: u32,
    pub(crate) confirmation_temperature: f64,
    pub(crate) confirmation_tokens: u32,
    pub(crate) confirmation: ConfirmationMode,
    pub(crate) confirmation_arguments: ConfirmationArguments,
    pub(crate) on_failure: OnFailure,
    pub(crate) max_corrections: u32,
    pub(crate) max_retries: u32,
    pub(crate) component_grace_s: f64,
    pub(crate) pause_timeout_s: f64,
    /// 0: never.
    pub(crate) stall_timeout_s: f64,
    /// 0: no bound.
    pub(crate) idle_timeout_s: f64,
    pub(crate) max_duration_s: f64,
    pub(crate) session_timeout_s: f64,
}

/// What a mission may spend.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct BudgetConfig {
    /// 0: no bound.
    pub(crate) max_tokens: u64,
    /// 0: no bound.
    pub(crate) max_cost: f64,
    /// By the model's name.
    pub(crate) prices: BTreeMap<String, Prices>,
    /// 0: no bound.
    pub(crate) max_metres: f64,
    /// Empty: the way is not measured.
    pub(crate) odometry: String,
    /// 0: no bound.
    pub(crate) max_watt_hours: f64,
    /// Empty: the energy is not measured.
    pub(crate) battery: String,
    pub(crate) meter_timeout_s: f64,
}

/// What measures the way and the energy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MeterSettings {
    /// The full name of a topic of `nav_msgs/msg/Odometry`.
    pub odometry: Option<String>,
    /// The full name of a topic of `sensor_msgs/msg/BatteryState`.
    pub battery: Option<String>,
    /// Without a message for so long a meter is silent.
    pub patience: Duration,
}

impl Default for BudgetConfig {
    fn default() -> Self {
        Self {
            max_tokens: 0,
            max_cost: 0.0,
            prices: BTreeMap::new(),
            max_metres: 0.0,
            odometry: String::new(),
            max_watt_hours: 0.0,
            battery: String::new(),
            meter_timeout_s: 10.0,
        }
    }
}

impl Default for MissionConfig {
    fn default() -> Self {
        let limits = MissionLimits::default();
        Self {
            max_task_bytes: limits.max_task_bytes,
            max_planning_steps: limits.max_planning_steps,
            max_execution_steps: limits.max_execution_steps,
            max_parallel_steps: limits.max_parallel_steps,
            max_replans: limits.max_replans,
            max_rounds: limits.max_rounds,
            max_model_calls: limits.max_model_calls,
            max_offered_tools: limits.max_offered_tools,
            max_conversation_bytes: limits.max_conversation_bytes,
            planning_temperature: as_written(limits.planning_temperature),
            planning_tokens: limits.planning_tokens,
            confirmation_temperature: as_written(limits.confirmation_temperature),
            confirmation_tokens: limits.confirmation_tokens,
            confirmation: limits.confirmation,
            confirmation_arguments: limits.confirmation_arguments,
            on_failure: limits.on_failure,
            max_corrections: limits.max_corrections,
            max_retries: limits.max_retries,
            component_grace_s: limits.component_grace.as_secs_f64(),
            pause_timeout_s: limits.pause_patience.as_secs_f64(),
            stall_timeout_s: limits.hung_after.unwrap_or_default().as_secs_f64(),
            idle_timeout_s: limits.max_idle.unwrap_or_default().as_secs_f64(),
            max_duration_s: limits.max_duration.as_secs_f64(),
            session_timeout_s: 3_600.0,
        }
    }
}

/// The bounds of a mission that these models plan.
pub(super) fn limits(
    mission: &MissionConfig,
    budget: &BudgetConfig,
    models: &ModelSet,
) -> anyhow::Result<MissionLimits> {
    let bounded = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
    for (key, number) in [
        ("mission.max_planning_steps", mission.max_planning_steps),
        ("mission.max_execution_steps", mission.max_execution_steps),
        ("mission.max_rounds", mission.max_rounds),
        ("mission.max_model_calls", mission.max_model_calls),
        ("mission.max_offered_tools", bounded(mission.max_offered_tools)),
        ("mission.max_parallel_steps", bounded(mission.max_parallel_steps)),
        ("mission.max_conversation_bytes", bounded(mission.max_conversation_bytes)),
        ("mission.planning_tokens", mission.planning_tokens),
        ("mission.confirmation_tokens", mission.confirmation_tokens),
    ] {
        at_least_one(key, number)?;
    }
    let prices = prices(budget, &models.first)?;
    let shadow = models.shadow.as_ref().map(|shadow| &shadow.model);
    let others = models.fallbacks.iter().chain(&models.confirmation).chain(shadow);
    let priced = |model: &ModelChoice| Ok((model.to_string(), self::prices(budget, model)?));
    let other_prices = others.map(priced).collect::<anyhow::Result<_>>()?;
    Ok(MissionLimits {
        max_task_bytes: mission.max_task_bytes,
        max_planning_steps: mission.max_planning_steps,
        max_execution_steps: mission.max_execution_steps,
        max_parallel_steps: mission.max_parallel_steps,
        max_replans: mission.max_replans,
        max_rounds: mission.max_rounds,
        max_model_calls: mission.max_model_calls,
        max_offered_tools: mission.max_offered_tools,
        max_conversation_bytes: mission.max_conversation_bytes,
        planning_temperature: temperature("mission.planning_temperature", mission.planning_temperature)?,
        planning_tokens: mission.planning_tokens,
        confirmation_temperature: temperature("mission.confirmation_temperature", mission.confirmation_temperature)?,
        confirmation_tokens: mission.confirmation_tokens,
        confirmation: mission.confirmation,
        confirmation_arguments: mission.confirmation_arguments,
        on_failure: mission.on_failure,
        max_corrections: mission.max_corrections,
        max_retries: mission.max_retries,
        component_grace: match mission.component_grace_s {
            0.0 => Duration::ZERO,
            grace => seconds("mission.component_grace_s", grace)?,
        },
        pause_patience: seconds("mission.pause_timeout_s", mission.pause_timeout_s)?,
        hung_after: unless_zero("mission.stall_timeout_s", mission.stall_timeout_s)?,
        max_idle: unless_zero("mission.idle_timeout_s", mission.idle_timeout_s)?,
        max_tokens: (budget.max_tokens > 0).then_some(budget.max_tokens),
        max_cost: (budget.max_cost > 0.0).then_some(budget.max_cost),
        prices,
        other_prices,
        max_metres: (budget.max_metres > 0.0).then_some(budget.max_metres),
        max_watt_hours: (budget.max_watt_hours > 0.0).then_some(budget.max_watt_hours),
        max_duration: seconds("mission.max_duration_s", mission.max_duration_s)?,
        ..MissionLimits::default()
    })
}

/// The number as people wrote it: 0.2, not 0.20000000298023224.
fn as_written(value: f32) -> f64 {
    value.to_string().parse().unwrap_or_default()
}

/// How random a model's replies are.
fn temperature(key: &str, value: f64) -> anyhow::Result<f32> {
    anyhow::ensure!((0.0..=2.0).contains(&value), "configuration: {key} is {value}; it must be from 0 to 2");
    #[expect(clippy::cast_possible_truncation, reason = "between 0 and 2, and no more precise than people write it")]
    Ok(value as f32)
}

/// A time, or none for 0.
fn unless_zero(key: &str, value: f64) -> anyhow::Result<Option<Duration>> {
    if value == 0.0 { Ok(None) } else { seconds(key, value).map(Some) }
}

/// What measures the way and the energy. A budget of what nothing measures would never end anything.
pub(super) fn meters(budget: &BudgetConfig) -> anyhow::Result<MeterSettings> {
    let topic = |limit_key: &str, limit: f64, topic_key: &str, topic: &str| {
        anyhow::ensure!(
            limit.is_finite() && limit >= 0.0,
            "configuration: budget.{limit_key} is {limit}; it must be a number above 0, or 0 for no bound"
        );
        anyhow::ensure!(
            limit <= 0.0 || !topic.is_empty(),
            "configuration: budget.{limit_key} is set, but budget.{topic_key} names no topic by which it is measured"
        );
        anyhow::ensure!(
            topic.is_empty() || topic.starts_with('/'),
            "configuration: budget.{topic_key} is '{topic}'; it must be the full name of a topic, such as /{topic}"
        );
        Ok((!topic.is_empty()).then(|| topic.to_owned()))
    };
    Ok(MeterSettings {
        odometry: topic("max_metres", budget.max_metres, "odometry", &budget.odometry)?,
        battery: topic("max_watt_hours", budget.max_watt_hours, "battery", &budget.battery)?,
        patience: seconds("budget.meter_timeout_s", budget.meter_timeout_s)?,
    })
}

/// What the model's tokens cost. A budget of money without a price would never end anything.
pub(super) fn prices(budget: &BudgetConfig, model: &ModelChoice) -> anyhow::Result<Prices> {
    let is_amount = |amount: f64| amount.is_finite() && amount >= 0.0;
    anyhow::ensure!(
        is_amount(budget.max_cost),
        "configuration: budget.max_cost is {}; it must be an amount of money, or 0 for no bound",
        budget.max_cost
    );
    for (name, price) in &budget.prices {
        anyhow::ensure!(
            is_amount(price.prompt) && is_amount(price.completion),
            "configuration: budget.prices.{name} must be two amounts of money for a million tokens"
        );
    }
    let ModelChoice::OpenAi { name, .. } = model else { return Ok(Prices::default()) };
    match budget.prices.get(name) {
        Some(prices) => Ok(*prices),
        None if budget.max_cost > 0.0 => anyhow::bail!(
            "configuration: budget.max_cost is set, but budget.prices has no price for '{name}'; add \
             [budget.prices.\"{name}\"] with prompt and completion, for a million tokens"
        ),
        None => Ok(Prices::default()),
    }
}
