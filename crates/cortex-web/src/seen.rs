//! What a person was looking at when they gave a command, and whether it still holds.

use std::time::Duration;

use cortex_protocol::overview::{MissionPhase, Overview};
use cortex_protocol::{Command, MissionId, OpenQuestion};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::error::{ApiError, ErrorKind};

/// A frame that is older is no picture of the robot any more.
pub(crate) const FRESH: Duration = Duration::from_secs(1);

/// What a person was looking at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Seen {
    /// The number of the frame of the live stream.
    pub(crate) frame: u64,
    /// The basis that the frame had.
    pub(crate) basis: Basis,
}

/// What of the robot's state commands depend on.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Basis {
    /// How often the robot was stopped since Cortex runs.
    pub(crate) stops: u64,
    /// Whether it is stopped.
    pub(crate) stopped: bool,
    /// The mission that runs.
    pub(crate) mission: Option<MissionId>,
    /// The plan that it carries out, from 1. 0: none.
    pub(crate) plan: u32,
    /// How often the controls have changed hands since Cortex runs.
    #[serde(default)]
    pub(crate) control: u64,
}

impl Basis {
    pub(crate) fn of(overview: &Overview) -> Self {
        let runs = |phase: MissionPhase| match phase {
            MissionPhase::Queued | MissionPhase::Ended(_) => false,
            MissionPhase::Planning | MissionPhase::Acting | MissionPhase::Waiting | MissionPhase::Stopping => true,
        };
        let running = overview.missions.iter().find(|mission| runs(mission.phase));
        Self {
            stops: overview.stop.stops,
            stopped: overview.stop.stopped,
            mission: running.map(|mission| mission.id.clone()),
            plan: running.map_or(0, |mission| mission.plan),
            control: overview.control.changes,
        }
    }
}

/// Checks a command against what the person saw. `age` is that of the frame by the server's clock; none where the server has
/// not sent such a frame, or has forgotten it.
///
/// # Errors
/// When the picture is missing or old, or what the command depends on has changed since.
pub(crate) fn check(
    command: &Command,
    seen: Option<&Seen>,
    age: impl FnOnce(u64) -> Option<Duration>,
    now: &Basis,
    questions: &[OpenQuestion],
) -> Result<(), ApiError> {
    let Some(seen) = seen else {
        return match command {
            Command::Stop | Command::Pause | Command::Submit { .. } => Ok(()),
            _ => Err(stale("The command does not say what its sender was looking at. Send 'seen' with it.")),
        };
    };
    // STOP and a pause are right whatever was seen.
    if matches!(command, Command::Stop | Command::Pause) {
        return Ok(());
    }
    check_fresh(seen, age)?;
    let then = &seen.basis;
    let mission_is_the_same = then.mission == now.mission && then.plan == now.plan;
    let holds = match command {
        Command::Submit { .. } | Command::Resume => then.stops == now.stops && then.stopped == now.stopped,
        // One that waits depends on nothing that the mission before it does.
        Command::Cancel { mission } | Command::Revise { mission: Some(mission), .. } => {
            let ran = [&then.mission, &now.mission].into_iter().flatten().any(|running| running == mission);
            !ran || mission_is_the_same
        }
        Command::Revise { mission: None, .. } => mission_is_the_same,
        Command::CallTool { .. } => then.stops == now.stops && then.stopped == now.stopped && mission_is_the_same,
        Command::TakeOver => then.control == now.control,
        // The mission that runs moves again.
        Command::Unpause | Command::HandBack => {
            then.control == now.control && then.stops == now.stops && then.mission == now.mission
        }
        Command::Answer { question, .. } => questions.iter().any(|open| open.id == *question),
        _ => true,
    };
    if holds {
        return Ok(());
    }
    let what = match command {
        Command::Submit { .. } | Command::Resume => "The robot was stopped or resumed since you looked.",
        Command::TakeOver | Command::Unpause | Command::HandBack if then.control != now.control => {
            "Somebody else has paused the robot, let it go on, taken the controls or lost them since you looked."
        }
        Command::Answer { .. } => "The question is not open any more.",
        Command::CallTool { .. } => "The robot was stopped or resumed, or a mission began or ended, since you looked.",
        _ => "Another mission or another plan runs since you looked.",
    };
    Err(ApiError::new(ErrorKind::Changed, format!("{what} Nothing was done. Look again, then decide.")))
}

/// Checks that what a person saw is not over. `age` is as for [`check`].
///
/// # Errors
/// When the picture is old.
pub(crate) fn check_fresh(seen: &Seen, age: impl FnOnce(u64) -> Option<Duration>) -> Result<(), ApiError> {
    if age(seen.frame).is_none_or(|age| age > FRESH) {
        return Err(stale("The picture of the robot was older than a second. Wait until it is live, then look again."));
    }
    Ok(())
}

fn stale(reason: &str) -> ApiError {
    ApiError::new(ErrorKind::Stale, reason)
}

#[cfg(test)]
mod tests {
    use cortex_protocol::Answer;

    use super::*;

    fn basis(stops: u64, mission: Option<&str>, plan: u32) -> Basis {
        Basis { stops, mission: mission.map(Into::into), plan, ..Basis::default() }
    }

    fn judged(command: &Command, then: &Basis, now: &Basis) -> Result<(), ErrorKind> {
        let seen = Seen { frame: 7, basis: then.clone() };
        check(command, Some(&seen), |_| Some(Duration::ZERO), now, &[]).map_err(|error| error.kind)
    }

    #[test]
    fn a_command_is_refused_where_what_it_depends_on_has_changed_and_only_there() {
        let (then, replanned) = (basis(1, Some("a"), 1), basis(1, Some("a"), 2));
        let (next, stopped) = (basis(1, Some("b"), 1), basis(2, Some("a"), 1));
        let paused = Basis { control: 1, ..then.clone() };
        let cancel = |mission: &str| Command::Cancel { mission: mission.into() };
        let revise = Command::Revise { mission: None, text: "slower".to_owned() };
        let dispute = Command::Dispute { mission: "z".into(), reason: "no".to_owned() };
        let by_hand = || Command::CallTool { tool: "base.go_to".into(), arguments: serde_json::Map::new() };
        let (ok, changed) = (Ok(()), Err(ErrorKind::Changed));
        for (command, now, expected) in [
            (Command::Resume, &then, ok),
            (Command::Resume, &replanned, ok),
            (Command::Resume, &stopped, changed),
            (cancel("a"), &then, ok),
            (cancel("a"), &replanned, changed),
            (cancel("a"), &next, changed),
            (cancel("a"), &stopped, ok),
            (cancel("b"), &replanned, ok),
            (cancel("b"), &next, changed),
            (revise.clone(), &then, ok),
            (revise, &next, changed),
            (dispute, &next, ok),
            (by_hand(), &then, ok),
            (by_hand(), &next, changed),
            (by_hand(), &stopped, changed),
            (Command::TakeOver, &replanned, ok),
            (Command::TakeOver, &paused, changed),
            (Command::Unpause, &then, ok),
            (Command::Unpause, &paused, changed),
            (Command::HandBack, &next, changed),
            (Command::HandBack, &stopped, changed),
            (Command::Pause, &paused, ok),
        ] {
            assert_eq!(judged(&command, &then, now), expected, "{command:?} {now:?}");
        }
    }

    #[test]
    fn a_picture_of_more_than_a_second_ago_or_of_another_life_is_none() {
        let seen = Seen { frame: 7, basis: Basis::default() };
        for (age, fresh) in [(Some(FRESH), true), (Some(FRESH + Duration::from_millis(1)), false), (None, false)] {
            let judged = check(&Command::Resume, Some(&seen), |_| age, &Basis::default(), &[]);
            assert_eq!(judged.is_ok(), fresh, "{age:?}");
        }
        assert!(check(&Command::Stop, Some(&seen), |_| None, &Basis::default(), &[]).is_ok());
        assert!(check(&Command::Stop, None, |_| None, &Basis::default(), &[]).is_ok());
        assert!(check(&Command::Resume, None, |_| Some(FRESH), &Basis::default(), &[]).is_err());
    }

    #[test]
    fn only_an_open_question_is_answered() {
        let question = "m/1".parse().unwrap();
        let answer = Command::Answer { question, answer: Answer::Deny { reason: String::new() } };
        assert_eq!(judged(&answer, &Basis::default(), &Basis::default()), Err(ErrorKind::Changed));
    }
}
