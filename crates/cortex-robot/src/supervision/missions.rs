//! What missions are told of the components.

use cortex_monitor::Effect;
use cortex_protocol::ComponentName;
use cortex_ros::Discovery;
use cortex_runtime::Runtime;
use cortex_supervisor::RobotView;

/// Tells the missions of an effect that is about them. `robot` has taken note of it already. Never waits. What they are told
/// goes to models and on the tape, so components that the configuration denies are not named: missions have no tool of them.
pub(super) fn tell(missions: &Runtime, robot: &RobotView, discovery: &Discovery, effect: &Effect) {
    let denies = |component: &ComponentName| discovery.denies(component);
    match effect {
        Effect::Quarantine { component, cause } => {
            if let Some(because) = cause_of_quarantine(robot, &denies, component, cause) {
                missions.quarantine(component.clone(), because);
            }
        }
        Effect::EndCalls { component } => missions.end_calls(component),
        Effect::Release { component } if denies(component) => {}
        Effect::Release { component } => missions.release(component),
        Effect::FailOver { component, by } => missions.fail_over(component, by.clone()),
        Effect::PauseMissions { cause } => missions.pause(cause_of_pause(robot, &denies, cause)),
        Effect::ResumeMissions => missions.unpause(),
        Effect::StartProcess { .. }
        | Effect::StopProcess { .. }
        | Effect::FlushCalls
        | Effect::Change { .. }
        | Effect::Act { .. }
        | Effect::NotifyOperator { .. }
        | Effect::Report { .. }
        | Effect::Finished { .. } => {}
    }
}

/// Why missions can't use a component. None where they have no tool of it.
fn cause_of_quarantine(
    robot: &RobotView,
    denies: &impl Fn(&ComponentName) -> bool,
    component: &ComponentName,
    cause: &ComponentName,
) -> Option<String> {
    if denies(component) {
        None
    } else if denies(cause) {
        Some(format!("'{component}' can't be used while something that it needs does not work"))
    } else {
        Some(robot.refusal(component).unwrap_or_else(|| format!("'{cause}' does not work")))
    }
}

/// Why missions are to wait.
fn cause_of_pause(robot: &RobotView, denies: &impl Fn(&ComponentName) -> bool, cause: &ComponentName) -> String {
    if denies(cause) {
        return "a part of the robot does not work, and nothing is to be done meanwhile".to_owned();
    }
    let why = robot.why(cause);
    format!("'{cause}' does not work, and nothing is to be done meanwhile: {why}")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Models and the tape were told of what the configuration denies as soon as it failed.
    #[test]
    fn regression_what_is_denied_was_named_to_missions_when_it_failed() {
        let robot = RobotView::default();
        let denies = |component: &ComponentName| component.as_str() == "wifi";
        let quarantine =
            |component: &str, of: &str| cause_of_quarantine(&robot, &denies, &component.into(), &of.into());
        assert_eq!(quarantine("wifi", "wifi"), None);
        assert_eq!(quarantine("wifi", "base"), None);
        let told = quarantine("base", "wifi").unwrap();
        assert!(told.contains("'base'") && !told.contains("wifi"), "{told}");
        assert_eq!(quarantine("arm", "base").as_deref(), Some("'base' does not work"));
        let told = cause_of_pause(&robot, &denies, &"wifi".into());
        assert!(!told.contains("wifi"), "{told}");
        assert!(cause_of_pause(&robot, &denies, &"base".into()).starts_with("'base' does not work"));
    }
}
