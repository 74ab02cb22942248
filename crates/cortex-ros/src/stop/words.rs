//! What is answered to a stop and to a resume, for people. Programs read whether it was a success, and the names after
//! "at rest:".

use cortex_protocol::ToolName;

use crate::task::{StopReport, Stopped};

/// The agent has ended its tasks. `not_stopped` is all that did not confirm that it is at rest.
pub(super) fn stopped(by_agent: &Stopped, not_stopped: &[ToolName]) -> StopReport {
    let tasks = match by_agent.tasks_ended {
        0 => "No task was running.".to_owned(),
        1 => "One task was ended.".to_owned(),
        count => format!("{count} tasks were ended."),
    };
    StopReport {
        success: not_stopped.is_empty(),
        message: format!("Stopped. {tasks} {} Tasks are refused until ~/resume.", rest(not_stopped)),
    }
}

/// The agent could not do it.
pub(super) fn failed(problem: &str, not_stopped: &[ToolName]) -> StopReport {
    in_vain(format!("{problem} {} Nothing is sent until ~/resume.", rest(not_stopped)))
}

/// The agent has not even begun.
pub(super) fn hangs(not_stopped: &[ToolName]) -> StopReport {
    in_vain(format!(
        "Stopped, but Cortex itself hangs: what was in flight was cancelled, and nothing more is sent until ~/resume, but \
         its tasks could not be ended. {}",
        known(not_stopped)
    ))
}

/// The agent has begun, and is not done.
pub(super) fn late(not_stopped: &[ToolName]) -> StopReport {
    in_vain(format!("it goes on, but is not done yet. {}", known(not_stopped)))
}

/// Cortex ends before it is known what came of it.
pub(super) fn ending(not_stopped: &[ToolName]) -> StopReport {
    in_vain(format!("Cortex is shutting down; what was in flight was cancelled. {}", known(not_stopped)))
}

/// So many ask at a time that they can't all be kept.
pub(super) fn too_many() -> StopReport {
    in_vain("many such requests are under way; wait for their answers".to_owned())
}

pub(super) fn not_resumed() -> StopReport {
    in_vain("NOT RESUMED: Cortex itself hangs. The robot stays stopped.".to_owned())
}

pub(super) fn stopped_again() -> StopReport {
    in_vain("NOT RESUMED: the robot was stopped again meanwhile.".to_owned())
}

fn rest(not_stopped: &[ToolName]) -> String {
    if not_stopped.is_empty() {
        return "Everything that Cortex began is at rest.".to_owned();
    }
    let names: Vec<&str> = not_stopped.iter().map(ToolName::as_str).collect();
    format!("WARNING: these did not confirm that they are at rest: {}.", names.join(", "))
}

/// Without the agent, only what the robot's own tools have in flight is known.
fn known(not_stopped: &[ToolName]) -> String {
    if not_stopped.is_empty() { "No call is known to go on.".to_owned() } else { rest(not_stopped) }
}

fn in_vain(message: String) -> StopReport {
    StopReport { success: false, message }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_did_not_stop_is_named_and_then_it_is_no_success() {
        let one = Stopped { tasks_ended: 1, not_stopped: Vec::new() };
        assert_eq!(
            stopped(&one, &[]),
            StopReport {
                success: true,
                message:
                    "Stopped. One task was ended. Everything that Cortex began is at rest. Tasks are refused until \
                      ~/resume."
                        .to_owned(),
            }
        );
        let report = stopped(&one, &["base.go_to".into(), "arm.wave".into()]);
        assert!(!report.success);
        assert!(report.message.contains("are at rest: base.go_to, arm.wave."), "{}", report.message);
    }

    #[test]
    fn an_agent_that_hangs_is_said_to_even_when_all_is_at_rest() {
        let report = hangs(&[]);
        assert!(!report.success && report.message.contains("Cortex itself hangs"), "{}", report.message);
        assert!(!report.message.contains("Everything"), "what it can't know is not said: {}", report.message);
        assert!(hangs(&["base.go_to".into()]).message.contains("at rest: base.go_to."));
    }
}
