//! What is answered to a stop and to a resume, for people. Programs read whether it was a success, and the names after
//! "at rest:".

use std::sync::mpsc::TrySendError;
use std::time::Duration;

use cortex_protocol::{CommandError, CommandErrorKind, CommandOutcome, StopOutcome, ToolName};

use super::record::StopRecordError;
use crate::task::ServiceReply;

/// What is not known to be at rest.
#[derive(Debug, Clone, Default)]
pub(super) struct Moving {
    /// What did not confirm that it is.
    pub(super) not_stopped: Vec<ToolName>,
    /// What can't be halted, each with how often it was begun, and how long ago. None: that can't be told.
    pub(super) unhaltable: Option<Vec<(ToolName, u64, Duration)>>,
}

impl Moving {
    /// All names, in a stable order.
    pub(super) fn names(self) -> Vec<ToolName> {
        let unhaltable = self.unhaltable.into_iter().flatten().map(|(tool, _, _)| tool);
        let mut names: Vec<ToolName> = self.not_stopped.into_iter().chain(unhaltable).collect();
        names.sort();
        names.dedup();
        names
    }

    fn is_none(&self) -> bool {
        self.not_stopped.is_empty() && self.unhaltable.as_ref().is_some_and(Vec::is_empty)
    }
}

/// What a stop or a resume came to: in words, and for programs.
#[derive(Clone)]
pub(super) struct Report {
    pub(super) reply: ServiceReply,
    pub(super) outcome: Result<CommandOutcome, CommandError>,
}

impl Report {
    pub(super) fn of(outcome: Result<CommandOutcome, CommandError>) -> Self {
        Self { reply: ServiceReply::of(outcome.clone()), outcome }
    }

    /// Of a stop of which not all is known.
    pub(super) fn unknown(reply: ServiceReply) -> Self {
        let problem = CommandError::new(CommandErrorKind::Unavailable, reply.message.clone());
        Self { reply, outcome: Err(problem) }
    }
}

/// The agent has ended its tasks.
pub(super) fn stopped(by_agent: &StopOutcome, moving: &Moving) -> ServiceReply {
    ServiceReply {
        success: moving.is_none(),
        message: format!("Stopped. {by_agent} {} Tasks are refused until ~/resume.", rest(moving)),
    }
}

/// The agent could not do it.
pub(super) fn failed(problem: &str, moving: &Moving) -> ServiceReply {
    in_vain(format!("{problem} {} Nothing is sent until ~/resume.", rest(moving)))
}

/// The agent has not even begun.
pub(super) fn hangs(moving: &Moving) -> ServiceReply {
    in_vain(format!(
        "Stopped, but Cortex itself hangs: what was in flight was cancelled, and nothing more is sent until ~/resume, but \
         its tasks could not be ended. {}",
        known(moving)
    ))
}

/// The agent has begun, and is not done.
pub(super) fn late(moving: &Moving) -> ServiceReply {
    in_vain(format!("it goes on, but is not done yet. {}", known(moving)))
}

/// Cortex ends before it is known what came of it.
pub(super) fn ending(moving: &Moving) -> ServiceReply {
    in_vain(format!("Cortex is shutting down; what was in flight was cancelled. {}", known(moving)))
}

/// So many ask at a time that they can't all be kept.
pub(super) fn too_many() -> CommandError {
    CommandError::new(CommandErrorKind::Busy, "many such requests are under way; wait for their answers")
}

/// The thread did not take a command from inside.
pub(super) fn not_taken<T>(problem: &TrySendError<T>) -> CommandError {
    match problem {
        TrySendError::Full(_) => too_many(),
        TrySendError::Disconnected(_) => nobody_answers(),
    }
}

/// The thread has ended.
pub(super) fn nobody_answers() -> CommandError {
    let reason = "Cortex is shutting down, and can't say what came of it. Look at the robot.";
    CommandError::new(CommandErrorKind::Unavailable, reason)
}

pub(super) fn not_resumed() -> CommandError {
    let reason = "NOT RESUMED: Cortex itself hangs. The robot stays stopped.";
    CommandError::new(CommandErrorKind::Unavailable, reason)
}

/// The record of the stop could not be removed.
pub(super) fn record_stays(problem: &StopRecordError) -> CommandError {
    let reason = format!(
        "NOT RESUMED: what says on the disk that the robot is stopped could not be removed: {problem}. The robot stays \
         stopped; fix that, and call ~/resume again."
    );
    CommandError::new(CommandErrorKind::Unavailable, reason)
}

/// The report, with what has become of the record of the stop. One that is not on the disk is undone by a restart, so it is
/// no success.
pub(super) fn with_record(report: ServiceReply, recorded: Result<(), StopRecordError>) -> ServiceReply {
    let Err(problem) = recorded else { return report };
    in_vain(format!(
        "{} WARNING: the stop could not be written down ({problem}), so a restart of Cortex would undo it.",
        report.message
    ))
}

pub(super) fn stopped_again() -> CommandError {
    CommandError::new(CommandErrorKind::Refused, "NOT RESUMED: the robot was stopped again meanwhile.")
}

fn rest(moving: &Moving) -> String {
    if moving.is_none() {
        return "Everything that Cortex began is at rest.".to_owned();
    }
    [unconfirmed(&moving.not_stopped), begun(moving.unhaltable.as_deref())]
        .into_iter()
        .flatten()
        .collect::<Vec<_>>()
        .join(" ")
}

fn unconfirmed(tools: &[ToolName]) -> Option<String> {
    let names: Vec<&str> = tools.iter().map(ToolName::as_str).collect();
    (!names.is_empty()).then(|| format!("WARNING: these did not confirm that they are at rest: {}.", names.join(", ")))
}

/// Something that starts a machine answers at once, and so does something that is done then: only a person can tell.
fn begun(tools: Option<&[(ToolName, u64, Duration)]>) -> Option<String> {
    let Some(tools) = tools else {
        return Some("It can't be told what else was begun. Look at the robot.".to_owned());
    };
    let named = tools.iter().map(|(tool, times, ago)| {
        let seconds = ago.as_secs();
        if *times > 1 {
            format!("{tool} ({times} times, last {seconds} s ago)")
        } else {
            format!("{tool} ({seconds} s ago)")
        }
    });
    let named: Vec<String> = named.collect();
    (!named.is_empty()).then(|| {
        format!("WARNING: these were begun and can't be halted by Cortex: {}. Look at the robot.", named.join(", "))
    })
}

/// Without the agent, only what the robot's own tools have in flight is known.
fn known(moving: &Moving) -> String {
    if moving.is_none() { "No call is known to go on.".to_owned() } else { rest(moving) }
}

fn in_vain(message: String) -> ServiceReply {
    ServiceReply { success: false, message }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moving(not_stopped: &[&str]) -> Moving {
        Moving {
            not_stopped: not_stopped.iter().map(|name| ToolName::from(*name)).collect(),
            unhaltable: Some(Vec::new()),
        }
    }

    #[test]
    fn what_can_not_be_halted_is_named_with_its_age_and_then_it_is_no_success() {
        let ago = Duration::from_secs;
        let begun =
            vec![("send_request_to_start_cleaning".into(), 1, ago(12)), ("publish_to_cmd_vel".into(), 3, ago(2))];
        let moving = Moving { unhaltable: Some(begun), ..Moving::default() };
        let one = StopOutcome { missions_ended: 1, not_stopped: Vec::new() };
        let report = stopped(&one, &moving);
        assert!(!report.success);
        let says = "WARNING: these were begun and can't be halted by Cortex: send_request_to_start_cleaning (12 s ago), \
                    publish_to_cmd_vel (3 times, last 2 s ago). Look at the robot.";
        assert!(report.message.contains(says) && !report.message.contains("Everything"), "{}", report.message);
        assert!(hangs(&moving).message.contains(says));
        let unknown = stopped(&one, &Moving { unhaltable: None, ..Moving::default() });
        assert!(!unknown.success && unknown.message.contains("It can't be told"), "{}", unknown.message);
    }

    #[test]
    fn what_did_not_stop_is_named_and_then_it_is_no_success() {
        let one = StopOutcome { missions_ended: 1, not_stopped: Vec::new() };
        assert_eq!(
            stopped(&one, &moving(&[])),
            ServiceReply {
                success: true,
                message:
                    "Stopped. One task was ended. Everything that Cortex began is at rest. Tasks are refused until \
                      ~/resume."
                        .to_owned(),
            }
        );
        let report = stopped(&one, &moving(&["base.go_to", "arm.wave"]));
        assert!(!report.success);
        assert!(report.message.contains("are at rest: base.go_to, arm.wave."), "{}", report.message);
    }

    #[test]
    fn a_stop_that_a_restart_would_undo_is_no_success() {
        let report = stopped(&StopOutcome { missions_ended: 0, not_stopped: Vec::new() }, &moving(&[]));
        assert_eq!(with_record(report.clone(), Ok(())), report);
        let report = with_record(report, Err(StopRecordError::Failed { problem: "no space left".to_owned() }));
        assert!(!report.success && report.message.contains("(no space left), so a restart"), "{}", report.message);
    }

    #[test]
    fn an_agent_that_hangs_is_said_to_even_when_all_is_at_rest() {
        let report = hangs(&moving(&[]));
        assert!(!report.success && report.message.contains("Cortex itself hangs"), "{}", report.message);
        assert!(!report.message.contains("Everything"), "what it can't know is not said: {}", report.message);
        assert!(hangs(&moving(&["base.go_to"])).message.contains("at rest: base.go_to."));
    }
}
