//! What ROS shows of the components, as inputs of the monitor.

use std::sync::Arc;

use cortex_monitor::health::DiagnosticLevel;
use cortex_monitor::{FailureKind, Input, LifecycleState};
use cortex_protocol::ComponentName;
use cortex_recipe::{Lifecycle, Recipe};
use cortex_ros::monitoring::{Health, Level, ProgressTopic, Sign, Tell, Watched};
use cortex_runtime::Gate;
use cortex_supervisor::Handle;

/// What is to be watched for the components of a recipe.
pub(super) fn watched(recipe: &Recipe) -> Vec<Watched> {
    let of_component = |(name, component): (&ComponentName, &cortex_recipe::ComponentRecipe)| Watched {
        component: name.clone(),
        is_managed: component.lifecycle == Lifecycle::Managed,
        progress: component
            .progress
            .iter()
            .enumerate()
            .filter_map(|(watch, progress)| {
                let topic = progress.topic.clone()?;
                Some((watch, ProgressTopic { topic, field: progress.field.clone(), changes_by: progress.changes_by }))
            })
            .collect(),
    };
    recipe.components.iter().map(of_component).collect()
}

/// Tells the monitor what is seen and heard.
pub(super) fn teller(monitor: Handle, gate: Gate) -> Tell {
    Arc::new(move |component, sign| match input(component.clone(), sign) {
        Some(input) => monitor.send(input),
        None => gate.begin_run(component),
    })
}

/// None: the component has begun a new life.
fn input(component: ComponentName, sign: Sign) -> Option<Input> {
    Some(match sign {
        Sign::Anew => return None,
        Sign::Node { present } => Input::NodeSeen { component, present },
        Sign::Lifecycle { label } => Input::LifecycleSeen { component, state: state(&label) },
        Sign::Unanswered => Input::StateUnanswered { component },
        Sign::Status { health } => {
            let (failure, message) = failure(health);
            Input::StatusHeard { component, failure, message }
        }
        Sign::Diagnostic { name, level, message } => {
            let level = match level {
                Level::Ok => DiagnosticLevel::Ok,
                Level::Stale => DiagnosticLevel::Stale,
                Level::Warning => DiagnosticLevel::Warning,
                Level::Error => DiagnosticLevel::Error,
            };
            Input::DiagnosticHeard { component, name, level, message }
        }
        Sign::Progress { watch, count } => Input::Progressed { component, watch, count },
    })
}

/// What is none of the states that last is on the way from one to another.
fn state(label: &str) -> LifecycleState {
    match label {
        "unconfigured" => LifecycleState::Unconfigured,
        "inactive" => LifecycleState::Inactive,
        "active" => LifecycleState::Active,
        "finalized" => LifecycleState::Finalized,
        _ => LifecycleState::Changing,
    }
}

/// What a component says fails. A number that means nothing is a failure that nobody can read.
fn failure(health: Health) -> (Option<FailureKind>, String) {
    let Health { status, message, sources } = health;
    let kind = match status {
        0 => return (None, message),
        1 => FailureKind::Algorithm,
        2 => FailureKind::Component,
        3 => FailureKind::System,
        _ => FailureKind::General,
    };
    let mut words = match (status, message.trim()) {
        (0..=4, "") => "it does not say why".to_owned(),
        (0..=4, message) => message.to_owned(),
        (_, message) => format!("it publishes a status that means nothing ({status}) {message}").trim_end().to_owned(),
    };
    if !sources.is_empty() {
        words.push_str(&format!(" ({})", sources.join(", ")));
    }
    (Some(kind), words)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(status: u8, message: &str, sources: &[&str]) -> (Option<FailureKind>, String) {
        let sources = sources.iter().map(|source| (*source).to_owned()).collect();
        failure(Health { status, message: message.to_owned(), sources })
    }

    #[test]
    fn what_a_component_says_is_told_in_its_words_and_garbage_is_a_failure() {
        assert_eq!(said(0, "fine", &[]), (None, "fine".to_owned()));
        assert_eq!(said(1, "no path", &["planner"]), (Some(FailureKind::Algorithm), "no path (planner)".to_owned()));
        assert_eq!(said(2, " ", &[]), (Some(FailureKind::Component), "it does not say why".to_owned()));
        let garbage = (Some(FailureKind::General), "it publishes a status that means nothing (77)".to_owned());
        assert_eq!(said(77, "", &[]), garbage);
    }

    #[test]
    fn a_state_that_does_not_last_is_a_change() {
        assert_eq!(state("active"), LifecycleState::Active);
        for label in ["activating", "errorprocessing", "", "\u{0}"] {
            assert_eq!(state(label), LifecycleState::Changing);
        }
    }

    #[test]
    fn each_topic_of_progress_keeps_the_number_that_it_has_in_the_recipe() {
        let recipe = Recipe::read(
            "recipe = 1\n[components.base]\nstart = \"external\"\nlifecycle = \"managed\"\n\
             progress = [{ within_s = 1.0, during = \"goal\" }, { topic = \"/odom\", within_s = 2.0 }]\n",
        )
        .unwrap_or_else(|problems| panic!("{}", problems.show("recipe")));
        let [base] = &watched(&recipe)[..] else { panic!("one component") };
        assert!(base.is_managed);
        let numbers: Vec<(usize, &str)> =
            base.progress.iter().map(|(watch, progress)| (*watch, progress.topic.as_str())).collect();
        assert_eq!(numbers, [(1, "/odom")], "the feedback of goals comes from elsewhere");
    }
}
