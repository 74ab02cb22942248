//! Figures for operators, in the format of Prometheus. They are always counted, and served where the configuration says
//! so.
//!
//! What is in a label is bounded: endings, outcomes and kinds are few, and names of tools and components are counted
//! under `other` once there are [`MOST_NAMES`] of them.

mod endpoint;
mod labels;

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use cortex_core::{ChatReply, ModelError};
use cortex_monitor::{Health, MonitorEvent};
use cortex_protocol::mission::Expense;
use cortex_protocol::overview::{ComponentHealth, MissionPhase, Overview};
use cortex_protocol::{MissionEvent, MissionStatus, OutcomeStatus, StepStatus, ToolName, ToolOutcome};
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::registry::{Registry, Unit};

pub use endpoint::Endpoint;
use labels::{Names, Of, OfTool, of, of_tool};

/// Different names of tools, and of components, that are told apart.
const MOST_NAMES: usize = 200;

/// All figures. Clones share them.
#[derive(Clone)]
pub struct Metrics(Arc<Figures>);

type Seconds = Family<Of, Histogram, fn() -> Histogram>;

struct Figures {
    registry: Registry,
    missions: Family<Of, Counter>,
    steps: Family<Of, Counter>,
    model_requests: Family<Of, Counter>,
    model_tokens: Family<Of, Counter>,
    model_seconds: Histogram,
    plan_opinions: Family<Of, Counter>,
    tool_calls: Family<OfTool, Counter>,
    tool_seconds: Seconds,
    components: Family<Of, Gauge>,
    restarts: Family<Of, Gauge>,
    recovery_seconds: Seconds,
    attempts: Family<Of, Counter>,
    stops: Gauge,
    stopped: Gauge,
    queue: Gauge,
    calls_in_flight: Gauge,
    spent: Family<Of, Counter<f64, std::sync::atomic::AtomicU64>>,
    names: Mutex<Names>,
}

/// Milliseconds to minutes.
fn seconds_of_calls() -> Histogram {
    Histogram::new(exponential_buckets(0.005, 2.5, 14))
}

impl Default for Metrics {
    fn default() -> Self {
        Self::new()
    }
}

impl Metrics {
    /// Counts from zero.
    pub fn new() -> Self {
        let mut registry = Registry::with_prefix("cortex");
        let figures = Figures {
            missions: Family::default(),
            steps: Family::default(),
            model_requests: Family::default(),
            model_tokens: Family::default(),
            model_seconds: seconds_of_calls(),
            plan_opinions: Family::default(),
            tool_calls: Family::default(),
            tool_seconds: Family::new_with_constructor(seconds_of_calls),
            components: Family::default(),
            restarts: Family::default(),
            recovery_seconds: Family::new_with_constructor(seconds_of_calls),
            attempts: Family::default(),
            stops: Gauge::default(),
            stopped: Gauge::default(),
            queue: Gauge::default(),
            calls_in_flight: Gauge::default(),
            spent: Family::default(),
            names: Mutex::default(),
            registry: Registry::default(),
        };
        let f = &figures;
        registry.register("missions", "Missions that have ended, by ending", f.missions.clone());
        registry.register("steps", "Steps that have ended, by what became of them", f.steps.clone());
        registry.register("model_requests", "Requests to the model, by what came of them", f.model_requests.clone());
        registry.register("model_tokens", "Tokens that the model read and wrote", f.model_tokens.clone());
        let help = "Time from a request to the model's answer";
        registry.register_with_unit("model_latency", help, Unit::Seconds, f.model_seconds.clone());
        let help = "Plans with which a second model was compared, by what it says";
        registry.register("plan_opinions", help, f.plan_opinions.clone());
        registry.register("tool_calls", "Calls of tools that have ended, by what came of them", f.tool_calls.clone());
        registry.register_with_unit(
            "tool_latency",
            "Time that calls of tools took",
            Unit::Seconds,
            f.tool_seconds.clone(),
        );
        registry.register("components", "Components, by health", f.components.clone());
        registry.register("component_restarts", "How often a process was started again", f.restarts.clone());
        registry.register("component_attempts", "Attempts to fix a component", f.attempts.clone());
        let help = "Time from a component's failure until it worked again";
        registry.register_with_unit("component_recovery", help, Unit::Seconds, f.recovery_seconds.clone());
        registry.register("stops", "How often the robot was stopped since Cortex runs", f.stops.clone());
        registry.register("stopped", "1 while the robot is stopped", f.stopped.clone());
        registry.register("queue_length", "Missions that wait", f.queue.clone());
        registry.register("calls_in_flight", "Calls that were sent and are not answered", f.calls_in_flight.clone());
        registry.register("spent", "What missions that have ended have spent, by kind", f.spent.clone());
        Self(Arc::new(Figures { registry, ..figures }))
    }

    /// All of them, as text.
    fn text(&self) -> Result<String, std::fmt::Error> {
        let mut text = String::new();
        encode(&mut text, &self.0.registry)?;
        Ok(text)
    }

    /// The model has answered, or not.
    pub fn model_answered(&self, took: Duration, reply: &Result<ChatReply, ModelError>) {
        let figures = &self.0;
        figures.model_seconds.observe(took.as_secs_f64());
        let outcome = match reply {
            Ok(reply) => {
                let second = reply.second.as_deref().map(|second| (second.prompt_tokens, second.completion_tokens));
                for (prompt, completion) in [(reply.prompt_tokens, reply.completion_tokens)].into_iter().chain(second) {
                    figures.model_tokens.get_or_create(&of("kind", "prompt")).inc_by(prompt);
                    figures.model_tokens.get_or_create(&of("kind", "completion")).inc_by(completion);
                }
                "answered".to_owned()
            }
            Err(error) => labels::word(&error.kind),
        };
        figures.model_requests.get_or_create(&of("outcome", outcome)).inc();
    }

    /// Something happened in a mission.
    pub fn mission_event(&self, event: &MissionEvent) {
        match event {
            MissionEvent::StepFinished { report, .. } => {
                let status = match report.status {
                    StepStatus::Pending => "pending",
                    StepStatus::Running => "running",
                    StepStatus::Success => "success",
                    StepStatus::Failed => "failed",
                    StepStatus::Blocked => "blocked",
                    StepStatus::Skipped => "skipped",
                };
                self.0.steps.get_or_create(&of("outcome", status)).inc();
                if let Some(outcome) = &report.outcome {
                    self.tool_called(&report.tool, outcome, report.duration);
                }
            }
            MissionEvent::PlanCompared { opinion, .. } => {
                self.0.plan_opinions.get_or_create(&of("opinion", labels::word(opinion))).inc();
            }
            MissionEvent::Researched { tool, outcome, .. } => self.tool_called(tool, outcome, None),
            MissionEvent::Finished { result } => {
                let ending = match result.status {
                    MissionStatus::Answered if result.words_alone => "words_alone",
                    MissionStatus::Answered => "answered",
                    MissionStatus::Succeeded => "succeeded",
                    MissionStatus::Failed => "failed",
                    MissionStatus::Cancelled => "cancelled",
                };
                self.0.missions.get_or_create(&of("ending", ending)).inc();
                let usage = &result.usage;
                for (expense, amount) in [
                    (Expense::Money, usage.cost),
                    (Expense::Metres, usage.metres),
                    (Expense::WattHours, usage.watt_hours),
                    (Expense::Seconds, result.duration.as_secs_f64()),
                ] {
                    // A counter never goes back, whatever a meter says.
                    if amount.is_finite() && amount > 0.0 {
                        self.0.spent.get_or_create(&of("expense", labels::word(&expense))).inc_by(amount);
                    }
                }
            }
            _ => {}
        }
    }

    fn tool_called(&self, tool: &ToolName, outcome: &ToolOutcome, took: Option<Duration>) {
        let tool = self.names().tool(tool.as_str());
        let word = match &outcome.status {
            OutcomeStatus::Failed(kind) => labels::word(kind),
            status => labels::word(status),
        };
        self.0.tool_calls.get_or_create(&of_tool(&tool, &word)).inc();
        if let Some(took) = took {
            self.0.tool_seconds.get_or_create(&of("tool", tool)).observe(took.as_secs_f64());
        }
    }

    /// The monitor has told something.
    pub fn monitor_event(&self, event: &MonitorEvent) {
        match event {
            MonitorEvent::HealthChanged { component, health: Health::Failed { .. }, .. } => {
                self.names().failed(component.as_str(), Instant::now());
            }
            MonitorEvent::HealthChanged { component, health: Health::Healthy, .. } => {
                self.names().healthy(component.as_str());
            }
            MonitorEvent::RestartBegan { component, .. } => self.names().restarted(component.as_str()),
            MonitorEvent::CameUp { component } => {
                let mut names = self.names();
                let since = names.came_up(component.as_str());
                let name = names.component(component.as_str());
                if let Some(since) = since {
                    let took = since.elapsed().as_secs_f64();
                    self.0.recovery_seconds.get_or_create(&of("component", name)).observe(took);
                }
            }
            MonitorEvent::AttemptBegan { component, .. } => {
                let name = self.names().component(component.as_str());
                self.0.attempts.get_or_create(&of("component", name)).inc();
            }
            _ => {}
        }
    }

    /// How it is now.
    pub fn overview(&self, overview: &Overview) {
        for health in [
            ComponentHealth::Healthy,
            ComponentHealth::Unknown,
            ComponentHealth::Suspect,
            ComponentHealth::Failed,
            ComponentHealth::Silent,
        ] {
            let count = overview.components.iter().filter(|component| component.health == health).count();
            self.0.components.get_or_create(&of("health", health.to_string())).set(gauge(count));
        }
        for component in overview.components.iter().filter(|component| component.restarts > 0) {
            let name = self.names().component(component.name.as_str());
            self.0.restarts.get_or_create(&of("component", name)).set(component.restarts.into());
        }
        let waiting = overview.missions.iter().filter(|mission| mission.phase == MissionPhase::Queued).count();
        self.0.queue.set(gauge(waiting));
        self.0.calls_in_flight.set(gauge(overview.calls.len()));
        self.0.stopped.set(i64::from(overview.stop.stopped));
        self.0.stops.set(i64::try_from(overview.stop.stops).unwrap_or(i64::MAX));
    }

    fn names(&self) -> std::sync::MutexGuard<'_, Names> {
        self.0.names.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn gauge(count: usize) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use cortex_protocol::PlanOpinion;
    use serde_json::Value;

    use super::*;

    #[test]
    fn what_is_counted_is_served_in_the_format_of_prometheus() {
        let metrics = Metrics::new();
        let reply = ChatReply { prompt_tokens: 30, completion_tokens: 4, ..ChatReply::default() };
        metrics.model_answered(Duration::from_millis(20), &Ok(reply));
        metrics.tool_called(&"base.go_to".into(), &ToolOutcome::success(Value::Null), Some(Duration::from_secs(2)));
        metrics.mission_event(&MissionEvent::PlanCompared {
            model: "second".to_owned(),
            opinion: PlanOpinion::NoAnswer,
            told: "it is late".to_owned(),
        });
        metrics.monitor_event(&MonitorEvent::AttemptBegan {
            component: "base".into(),
            action: cortex_recipe::ActionName::new("restart"),
            attempt: 1,
        });
        let text = metrics.text().unwrap();
        for expected in [
            "cortex_model_requests_total{outcome=\"answered\"} 1",
            "cortex_model_tokens_total{kind=\"prompt\"} 30",
            "cortex_model_latency_seconds_count 1",
            "cortex_tool_calls_total{tool=\"base.go_to\",outcome=\"succeeded\"} 1",
            "cortex_tool_latency_seconds_count{tool=\"base.go_to\"} 1",
            "cortex_component_attempts_total{component=\"base\"} 1",
            "cortex_plan_opinions_total{opinion=\"no_answer\"} 1",
            "cortex_stopped 0",
        ] {
            assert!(text.contains(expected), "'{expected}' is not in\n{text}");
        }
    }

    #[test]
    fn a_failure_that_went_away_by_itself_is_no_part_of_a_later_recovery() {
        let long_ago = Instant::now();
        let later = long_ago + Duration::from_secs(3600);
        let mut names = Names::default();
        names.failed("lamp", long_ago);
        names.healthy("lamp");
        names.failed("lamp", later);
        names.failed("lamp", later + Duration::from_secs(1));
        names.healthy("lamp");
        assert_eq!(names.came_up("lamp"), Some(later), "that it is healthy is told just before it comes up");
        names.failed("lamp", long_ago);
        names.healthy("lamp");
        names.restarted("lamp");
        assert_eq!(names.came_up("lamp"), None, "a restart that was wanted is no recovery");
    }

    #[test]
    fn names_without_end_are_counted_under_other() {
        let metrics = Metrics::new();
        for number in 0..10_000 {
            let outcome = ToolOutcome::success(Value::Null);
            metrics.tool_called(&format!("tool_{number}").as_str().into(), &outcome, None);
        }
        let text = metrics.text().unwrap();
        let lines = text.lines().filter(|line| line.starts_with("cortex_tool_calls_total{")).count();
        assert_eq!(lines, MOST_NAMES + 1);
        assert!(text.contains("cortex_tool_calls_total{tool=\"other\",outcome=\"succeeded\"} 9800"), "{text}");
    }
}
