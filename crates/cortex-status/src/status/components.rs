//! The components: as the monitor sees those of a recipe, or else as they were found. No IO.

use cortex_core::fragment::capped;
use cortex_monitor::Health;
use cortex_protocol::ComponentName;
use cortex_protocol::overview::{ComponentHealth, ComponentOverview};
use cortex_ros::{ComponentState, Directory, HeardHealth};
use cortex_supervisor::{ComponentView, RobotView, Standing};

/// Symptoms of a component that are told, and characters of each.
const MOST_SYMPTOMS: usize = 5;
const SYMPTOM_CHARACTERS: usize = 200;

/// Those of a recipe.
pub(super) fn supervised(view: &RobotView) -> Vec<ComponentOverview> {
    view.components.iter().map(|(name, view)| member(name, view)).collect()
}

/// Those that come up with the robot, have no standby, and of which nothing may be called.
pub(super) fn unavailable(view: &RobotView) -> Vec<&ComponentName> {
    let needed = view.components.iter().filter(|(_, view)| view.is_regular && view.replaced_by.is_none());
    needed.map(|(name, _)| name).filter(|name| view.refusal(name).is_some()).collect()
}

fn member(name: &ComponentName, view: &ComponentView) -> ComponentOverview {
    let health = match (view.standing, view.health) {
        (Standing::Idle | Standing::Waiting | Standing::Down, _) => ComponentHealth::Unknown,
        (Standing::GivenUp | Standing::Recovering, _) | (_, Some(Health::Failed { .. })) => ComponentHealth::Failed,
        (_, Some(Health::Suspect)) => ComponentHealth::Suspect,
        (Standing::Up, _) => ComponentHealth::Healthy,
        (Standing::Starting, _) => ComponentHealth::Unknown,
    };
    let mut standing = match view.standing {
        Standing::Idle => "idle",
        Standing::Waiting => "waiting",
        Standing::Starting => "starting",
        Standing::Up => "up",
        Standing::Recovering => "recovering",
        Standing::GivenUp => "given up",
        Standing::Down => "down",
    }
    .to_owned();
    let mut symptoms: Vec<String> = view.symptoms.iter().map(|symptom| symptom.message.clone()).collect();
    if symptoms.is_empty() && !view.reason.is_empty() {
        symptoms.push(view.reason.clone());
    } else if symptoms.is_empty() && health == ComponentHealth::Failed {
        symptoms.push("it has yet to show that it works".to_owned());
    }
    if view.standing == Standing::GivenUp {
        symptoms
            .push(format!("given up for now: its ladder begins anew {} s after that (cooldown_s)", view.cooldown_s));
    }
    if !view.unlimited.is_empty() {
        symptoms.push(format!("its limits are not kept: {}", view.unlimited));
    }
    if let Some(by) = &view.replaced_by {
        standing = "replaced".to_owned();
        symptoms.push(format!("{by} has its place"));
    }
    if let Some(cause) = view.quarantine_cause.as_ref().filter(|cause| *cause != name) {
        // It may be well itself, and still nothing is called of it.
        if view.standing == Standing::Up && view.replaced_by.is_none() {
            standing = "quarantined".to_owned();
        }
        symptoms.push(format!("can't be used while {cause} does not work"));
    }
    ComponentOverview {
        name: name.clone(),
        health,
        standing,
        lifecycle: view.transition.map(|transition| transition.target().to_string()).unwrap_or_default(),
        symptoms: cut(symptoms),
        attempts: view.attempts,
        restarts: view.starts.saturating_sub(1),
        depends_on: view.depends_on.clone(),
        standby: view.standby.clone(),
        quarantine_cause: view.quarantine_cause.clone().filter(|cause| cause != name),
    }
}

/// Those that were found.
pub(super) fn found(
    directory: &Directory,
    heard: impl Fn(&ComponentName) -> Option<HeardHealth>,
) -> Vec<ComponentOverview> {
    let component = |(name, component): (&ComponentName, &cortex_ros::Component)| {
        let heard = heard(name);
        let health = match (component.state, &heard) {
            (ComponentState::Silent, _) => ComponentHealth::Silent,
            (_, Some(heard)) if !heard.is_healthy => ComponentHealth::Failed,
            (ComponentState::Undescribed, _) => ComponentHealth::Suspect,
            (ComponentState::Describing, _) => ComponentHealth::Unknown,
            (ComponentState::Ready, _) => ComponentHealth::Healthy,
        };
        let standing = match component.state {
            ComponentState::Describing => "describing",
            ComponentState::Ready => "ready",
            ComponentState::Undescribed => "undescribed",
            ComponentState::Silent => "silent",
        };
        let said = heard.filter(|heard| !heard.is_healthy).map(|heard| heard.message);
        let symptoms = said.into_iter().chain(component.problems.iter().cloned()).collect();
        ComponentOverview {
            name: name.clone(),
            health,
            standing: standing.to_owned(),
            lifecycle: String::new(),
            symptoms: cut(symptoms),
            attempts: 0,
            restarts: 0,
            depends_on: Vec::new(),
            standby: None,
            quarantine_cause: None,
        }
    };
    directory.components().map(component).collect()
}

fn cut(symptoms: Vec<String>) -> Vec<String> {
    symptoms.into_iter().take(MOST_SYMPTOMS).map(|symptom| capped(&symptom, SYMPTOM_CHARACTERS)).collect()
}
