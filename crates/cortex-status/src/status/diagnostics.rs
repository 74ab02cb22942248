//! The overview as a `diagnostic_msgs/msg/DiagnosticArray`, by the conventions of REP 107: each entry is named
//! `node: what`, says its level and a short message, and gives the rest as keys and values. No IO.

use cortex_protocol::overview::{ComponentHealth, ComponentOverview, MissionPhase, Overview, ReadinessState};
use serde_json::{Value, json};

/// The levels of `diagnostic_msgs/msg/DiagnosticStatus`.
const OK: u8 = 0;
const WARN: u8 = 1;
const ERROR: u8 = 2;
const STALE: u8 = 3;

/// How often it is published when nothing has changed: REP 107 wants one a second.
const PERIOD_MS: u64 = 1_000;

/// Publishes at the right times.
#[derive(Default)]
pub(super) struct Reporter {
    last: Option<(Vec<Value>, u64)>,
}

impl Reporter {
    /// The message to be published now, if one is: on a change, and once a second. `stamp_ns` is the time of ROS, which may
    /// be simulated, in nanoseconds.
    pub(super) fn report(&mut self, overview: &Overview, stamp_ns: u64) -> Option<Value> {
        let entries = entries(overview);
        let is_due = self.last.as_ref().is_none_or(|(before, at_ms)| {
            levels(before) != levels(&entries) || overview.at_ms.saturating_sub(*at_ms) >= PERIOD_MS
        });
        if !is_due {
            return None;
        }
        let stamp = json!({
            "sec": i32::try_from(stamp_ns / 1_000_000_000).unwrap_or(i32::MAX),
            "nanosec": stamp_ns % 1_000_000_000,
        });
        let message = json!({"header": {"stamp": stamp, "frame_id": ""}, "status": entries});
        self.last = Some((entries, overview.at_ms));
        Some(message)
    }
}

/// What counts as a change: names, levels and messages, not the figures.
fn levels(entries: &[Value]) -> Vec<(&Value, &Value, &Value)> {
    entries.iter().map(|entry| (&entry["name"], &entry["level"], &entry["message"])).collect()
}

/// All entries, in a stable order.
fn entries(overview: &Overview) -> Vec<Value> {
    let node = overview.node.trim_start_matches('/');
    let entry = |what: &str, level: u8, message: String, values: Vec<(&str, String)>| {
        let values: Vec<Value> = values.into_iter().map(|(key, value)| json!({"key": key, "value": value})).collect();
        let (name, hardware) = (format!("{node}: {what}"), &overview.robot);
        json!({"level": level, "name": name, "message": message, "hardware_id": hardware, "values": values})
    };
    let own =
        [tasks(overview), lifecycle(overview), missions(overview), model(overview), stop(overview), watchdog(overview)];
    let own = own.into_iter().map(|(what, level, message, values)| entry(what, level, message, values));
    let components = overview.components.iter().map(|component| {
        let (level, message, values) = of_component(component);
        entry(&format!("component {}", component.name), level, message, values)
    });
    own.chain(components).collect()
}

type Entry = (&'static str, u8, String, Vec<(&'static str, String)>);

/// Whether the robot takes tasks. First, since it is what a person looks for.
fn tasks(overview: &Overview) -> Entry {
    let level = match overview.readiness.state {
        ReadinessState::Ready => OK,
        ReadinessState::Limited | ReadinessState::Waiting | ReadinessState::Unknown => WARN,
        // Somebody has stopped or deactivated it; that is no fault, unless something may still move.
        ReadinessState::Refusing if overview.unsettled.is_empty() => WARN,
        ReadinessState::Refusing => ERROR,
    };
    let values = overview.unsettled.iter().map(|call| ("not at rest", format!("{}: {}", call.tool, call.why)));
    ("tasks", level, overview.readiness.to_string(), values.collect())
}

/// The state of Cortex' lifecycle. The entry of the tasks says what to do about it.
fn lifecycle(overview: &Overview) -> Entry {
    let state = if overview.lifecycle.is_empty() { "unknown" } else { &overview.lifecycle };
    let level = if overview.inactive().is_some() { WARN } else { OK };
    ("lifecycle", level, state.to_owned(), vec![("state", state.to_owned())])
}

fn missions(overview: &Overview) -> Entry {
    let open: Vec<_> =
        overview.missions.iter().filter(|mission| !matches!(mission.phase, MissionPhase::Ended(_))).collect();
    let waiting = open.iter().filter(|mission| mission.phase == MissionPhase::Queued).count();
    let running = open.len() - waiting;
    let (level, message) = match overview.paused.as_deref().or(overview.control.reason()) {
        Some(why) => (WARN, format!("paused: {why}")),
        None if running > 0 => (OK, "a mission runs".to_owned()),
        None => (OK, "idle".to_owned()),
    };
    let values = vec![
        ("running", running.to_string()),
        ("waiting", waiting.to_string()),
        ("calls in flight", overview.calls.len().to_string()),
        ("tools", overview.tools.to_string()),
    ];
    ("missions", level, message, values)
}

fn model(overview: &Overview) -> Entry {
    let model = &overview.model;
    let (level, message) = match &model.last_error {
        Some(error) if !error.is_over => (ERROR, error.message.clone()),
        _ => match model.standbys.first() {
            Some(other) => (WARN, format!("{} answers instead of {}: {}", other.model, other.wanted, other.because)),
            None => (OK, "answers".to_owned()),
        },
    };
    let message = if model.requests == 0 { "was not asked yet".to_owned() } else { message };
    let values = vec![
        ("model", model.name.clone()),
        ("requests", model.requests.to_string()),
        ("errors", model.errors.to_string()),
        ("prompt tokens", model.prompt_tokens.to_string()),
        ("completion tokens", model.completion_tokens.to_string()),
    ];
    ("model", level, message, values)
}

fn stop(overview: &Overview) -> Entry {
    let stop = &overview.stop;
    let names = stop.not_stopped.iter().map(|tool| tool.as_str()).collect::<Vec<_>>().join(", ");
    let (level, message) = match (stop.stopped, names.is_empty()) {
        (false, _) => (OK, "not stopped".to_owned()),
        (true, true) => (WARN, format!("stopped: {}", stop.why)),
        (true, false) => (ERROR, format!("stopped, but not known to be at rest: {names}")),
    };
    ("stop", level, message, vec![("stops", stop.stops.to_string())])
}

fn watchdog(overview: &Overview) -> Entry {
    let Some(watchdog) = &overview.watchdog else {
        return ("watchdog", WARN, "off".to_owned(), Vec::new());
    };
    let values = vec![("limit [s]", watchdog.limit_s.to_string()), ("loops", watchdog.loops.join(", "))];
    ("watchdog", OK, "all loops go on".to_owned(), values)
}

fn of_component(component: &ComponentOverview) -> (u8, String, Vec<(&'static str, String)>) {
    let level = match component.health {
        ComponentHealth::Healthy => OK,
        // One that is on its way is no failure, nor is one that is not wanted.
        ComponentHealth::Unknown => {
            if component.standing == "down" {
                STALE
            } else {
                OK
            }
        }
        ComponentHealth::Suspect => WARN,
        ComponentHealth::Failed => ERROR,
        ComponentHealth::Silent => STALE,
    };
    let message = component.symptoms.first().cloned().unwrap_or_else(|| component.standing.clone());
    let mut values = vec![("health", component.health.to_string()), ("standing", component.standing.clone())];
    if !component.lifecycle.is_empty() {
        values.push(("lifecycle", component.lifecycle.clone()));
    }
    values.push(("attempts", component.attempts.to_string()));
    values.push(("restarts", component.restarts.to_string()));
    values.extend(component.symptoms.iter().map(|symptom| ("symptom", symptom.clone())));
    (level, message, values)
}

#[cfg(test)]
mod tests {
    use super::super::screen::tests::overview;
    use super::*;

    fn find<'a>(entries: &'a [Value], name: &str) -> &'a Value {
        entries.iter().find(|entry| entry["name"] == name).unwrap()
    }

    #[test]
    fn entries_are_named_after_the_node_and_say_how_bad_it_is() {
        let mut overview = overview();
        overview.model.last_error = None;
        let entries = entries(&overview);
        assert_eq!(entries[0]["name"], "cortex: tasks");
        assert_eq!(entries[0]["level"], ERROR);
        assert_eq!((&entries[1]["name"], &entries[1]["level"]), (&json!("cortex: lifecycle"), &json!(OK)));
        let message = entries[0]["message"].as_str().unwrap();
        assert!(message.starts_with("takes no tasks: the robot is stopped"), "{message}");
        assert_eq!(find(&entries, "cortex: component base")["level"], ERROR);
        assert_eq!(find(&entries, "cortex: component base")["message"], "its process was killed (signal 9)");
        assert_eq!(find(&entries, "cortex: component camera")["level"], OK);
        assert_eq!(find(&entries, "cortex: stop")["level"], ERROR, "something may still move");
        assert_eq!(find(&entries, "cortex: model")["message"], "answers");
        assert!(entries.iter().all(|entry| entry["hardware_id"] == "robot"));
    }

    #[test]
    fn a_cortex_that_is_not_active_is_a_warning_that_names_the_state() {
        for state in ["unconfigured", "inactive", "deactivating", "finalized"] {
            let entries = entries(&Overview { lifecycle: state.to_owned(), ..overview() });
            let entry = find(&entries, "cortex: lifecycle");
            assert_eq!((&entry["level"], &entry["message"]), (&json!(WARN), &json!(state)));
        }
    }

    #[test]
    fn it_is_published_once_a_second_and_on_a_change() {
        let mut reporter = Reporter::default();
        let mut overview = overview();
        assert!(reporter.report(&overview, 1).is_some());
        overview.at_ms += 300;
        overview.model.requests += 1;
        assert!(reporter.report(&overview, 1).is_none(), "figures alone are no change");
        overview.stop.stopped = false;
        assert!(reporter.report(&overview, 1).is_some());
        overview.at_ms += 1_000;
        assert!(reporter.report(&overview, 1).is_some());
    }
}
