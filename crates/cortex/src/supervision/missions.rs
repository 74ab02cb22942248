//! What missions are told of the components.

use cortex_monitor::Effect;
use cortex_ros::Discovery;
use cortex_runtime::Runtime;
use cortex_supervisor::RobotView;

/// Tells the missions of an effect that is about them. `robot` has taken note of it already. Never waits. What they are told
/// goes to models and on the tape, so components that the configuration denies are not named: missions have no tool of them.
pub(super) fn tell(missions: &Runtime, robot: &RobotView, discovery: &Discovery, effect: &Effect) {
    match effect {
        Effect::Quarantine { component, .. } | Effect::Release { component } if discovery.denies(component) => {}
        Effect::Quarantine { component, because_of } if discovery.denies(because_of) => {
            let because = format!("'{component}' can't be used while something that it needs does not work");
            missions.quarantine(component.clone(), because);
        }
        Effect::Quarantine { component, because_of } => {
            let because = robot.refusal(component).unwrap_or_else(|| format!("'{because_of}' does not work"));
            missions.quarantine(component.clone(), because);
        }
        Effect::Release { component } => missions.release(component),
        Effect::PauseMissions { because_of } if discovery.denies(because_of) => {
            missions.pause("a part of the robot does not work, and nothing is to be done meanwhile".to_owned());
        }
        Effect::Substitute { component, by } => missions.substitute(component, by.clone()),
        Effect::PauseMissions { because_of } => {
            let why = robot.why(because_of);
            missions.pause(format!("'{because_of}' does not work, and nothing is to be done meanwhile: {why}"));
        }
        Effect::ResumeMissions => missions.unpause(),
        Effect::StartProcess { .. }
        | Effect::StopProcess { .. }
        | Effect::Change { .. }
        | Effect::Act { .. }
        | Effect::TellOperator { .. }
        | Effect::Report { .. }
        | Effect::Finished { .. } => {}
    }
}
