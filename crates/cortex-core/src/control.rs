//! Who has the controls: what each command makes of that, and what others may do meanwhile. Pure; whoever keeps the
//! [`Control`] decides under a lock, so that of two people who act at once the second is told who was first.

use std::time::Duration;

use cortex_protocol::{
    Command, CommandError, CommandErrorKind, ConnectionId, Control, ControlState, Origin, Principal, Role,
};
use thiserror::Error;

/// How long a connection that holds the controls may be silent. After that its holder counts as vanished.
pub const CONTROL_LEASE: Duration = Duration::from_secs(1);

/// Why a command about the controls, or one that needs them, is not carried out. In words for people.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ControlRefusal {
    /// Somebody else has the controls.
    #[error("{holder} has the controls of the robot. Ask them to hand back. STOP works for everybody")]
    HeldByAnother {
        /// The name of who holds them.
        holder: String,
    },
    /// Somebody else has the controls, and an administrator may take them.
    #[error(
        "{holder} has the controls of the robot. Ask them to hand back, or take the controls over. STOP works for \
         everybody"
    )]
    HeldButYours {
        /// The name of who holds them.
        holder: String,
    },
    /// Nobody holds the controls.
    #[error("nobody has the controls of the robot, so there is nothing to hand back")]
    NotHeld,
    /// The robot is paused and nobody holds the controls.
    #[error("the robot is paused and nobody has the controls; let it go on, or take over")]
    Paused,
    /// The command did not come over a connection that lasts.
    #[error(
        "the controls are held over a live connection, so that the robot halts when it breaks; take over from the page"
    )]
    NoConnection,
}

impl From<ControlRefusal> for CommandError {
    fn from(refusal: ControlRefusal) -> Self {
        Self::new(CommandErrorKind::Refused, format!("{refusal}."))
    }
}

/// How a holder was lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ControlLoss {
    /// The connection was closed, or broke.
    Closed,
    /// The holder's session was ended.
    SessionEnded,
    /// Nothing was heard over the connection for [`CONTROL_LEASE`].
    Silent,
}

impl ControlLoss {
    fn words(self) -> &'static str {
        match self {
            Self::Closed => "the connection was closed",
            Self::SessionEnded => "the session was ended",
            Self::Silent => "nothing was heard any more",
        }
    }
}

/// Missions and events begin nothing any more, and nobody holds the controls. A holder lets go of them so.
///
/// # Errors
/// When somebody else holds the controls.
pub fn pause(now: &Control, by: &Principal, at_ms: u64) -> Result<Control, ControlRefusal> {
    check_holder(now, by)?;
    if now.state == ControlState::Paused {
        return Ok(now.clone());
    }
    let because = format!("{} paused the robot", by.origin.name());
    Ok(after(now, ControlState::Paused, Some(by.origin.clone()), because, at_ms))
}

/// Missions and events act again.
///
/// # Errors
/// When somebody else holds the controls.
pub fn unpause(now: &Control, by: &Principal, at_ms: u64) -> Result<Control, ControlRefusal> {
    check_holder(now, by)?;
    let verb = match now.state {
        ControlState::Autonomous => return Ok(now.clone()),
        ControlState::Paused => "let the robot go on",
        ControlState::Held => "handed the controls back",
    };
    let because = format!("{} {verb}", by.origin.name());
    Ok(after(now, ControlState::Autonomous, Some(by.origin.clone()), because, at_ms))
}

/// The controls belong to the connection of this principal.
///
/// # Errors
/// When there is no connection, or somebody else holds the controls, from whom only an administrator takes them.
pub fn take_over(now: &Control, by: &Principal, at_ms: u64) -> Result<Control, ControlRefusal> {
    let connection = by.connection.clone().ok_or(ControlRefusal::NoConnection)?;
    if now.is_held_over(&connection) {
        return Ok(now.clone());
    }
    let name = by.origin.name();
    let because = match holder(now) {
        None => format!("{name} has the controls"),
        Some(before) if by.role >= Role::Administer => format!("{name} has the controls, taken from {before}"),
        Some(holder) => return Err(ControlRefusal::HeldByAnother { holder }),
    };
    let taken = after(now, ControlState::Held, Some(by.origin.clone()), because, at_ms);
    Ok(Control { holder: Some(connection), ..taken })
}

/// The holder gives the controls back to the missions.
///
/// # Errors
/// When somebody else holds the controls, or nobody does.
pub fn hand_back(now: &Control, by: &Principal, at_ms: u64) -> Result<Control, ControlRefusal> {
    match now.state {
        ControlState::Held => unpause(now, by, at_ms),
        ControlState::Paused => Err(ControlRefusal::Paused),
        ControlState::Autonomous => Err(ControlRefusal::NotHeld),
    }
}

/// What follows when this connection is lost; nothing where it does not hold the controls.
#[must_use]
pub fn lose(now: &Control, connection: &ConnectionId, loss: ControlLoss, at_ms: u64) -> Option<Control> {
    if !now.is_held_over(connection) {
        return None;
    }
    let name = holder(now).unwrap_or_default();
    let because = format!("{name} held the controls and vanished: {}", loss.words());
    Some(after(now, ControlState::Paused, now.by.clone(), because, at_ms))
}

/// Whether a command may be given while the controls are as they are. While a person holds them, only that person has the
/// robot do something; others stop it, end a mission, or look on.
///
/// # Errors
/// With who holds the controls.
pub fn check(now: &Control, command: &Command, by: &Principal) -> Result<(), ControlRefusal> {
    match command {
        Command::Submit { .. }
        | Command::Revise { .. }
        | Command::Answer { .. }
        | Command::Dispute { .. }
        | Command::CallTool { .. }
        | Command::Resume => check_holder(now, by),
        // Those about the controls have rules of their own.
        Command::Cancel { .. }
        | Command::Stop
        | Command::Pause
        | Command::Unpause
        | Command::TakeOver
        | Command::HandBack => Ok(()),
        // A command that a later version adds.
        _ => check_holder(now, by),
    }
}

fn check_holder(now: &Control, by: &Principal) -> Result<(), ControlRefusal> {
    match holder(now) {
        Some(_) if now.is_held_by(by) => Ok(()),
        Some(holder) if by.role >= Role::Administer => Err(ControlRefusal::HeldButYours { holder }),
        Some(holder) => Err(ControlRefusal::HeldByAnother { holder }),
        None => Ok(()),
    }
}

/// The name of who holds the controls, if somebody does.
fn holder(now: &Control) -> Option<String> {
    let name = || now.by.as_ref().map_or_else(|| "somebody".to_owned(), Origin::name);
    (now.state == ControlState::Held).then(name)
}

fn after(now: &Control, state: ControlState, by: Option<Origin>, because: String, at_ms: u64) -> Control {
    Control { state, by, holder: None, since_ms: at_ms, because, changes: now.changes.saturating_add(1) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tablet() -> Principal {
        Principal::operator(Origin::new("web", "the tablet")).over("a".into())
    }

    fn phone() -> Principal {
        Principal::operator(Origin::new("web", "the phone")).over("b".into())
    }

    fn desk() -> Principal {
        Principal { role: Role::Administer, ..Principal::operator(Origin::new("web", "the desk")).over("c".into()) }
    }

    fn held() -> Control {
        take_over(&Control::default(), &tablet(), 1).unwrap()
    }

    #[test]
    fn whoever_has_the_controls_gives_them_back_and_nobody_else_does() {
        let now = held();
        assert_eq!((now.state, now.because.as_str()), (ControlState::Held, "the tablet has the controls"));
        let refused = ControlRefusal::HeldByAnother { holder: "the tablet".to_owned() };
        assert_eq!(hand_back(&now, &phone(), 2), Err(refused.clone()));
        assert_eq!(unpause(&now, &phone(), 2), Err(refused.clone()));
        assert_eq!(pause(&now, &phone(), 2), Err(refused.clone()), "it would take the controls from her");
        assert_eq!(take_over(&now, &phone(), 2), Err(refused));
        // Another window of the same device is another connection.
        assert!(hand_back(&now, &tablet().over("another".into()), 2).is_err());
        let back = hand_back(&now, &tablet(), 2).unwrap();
        assert!(back.is_autonomous());
        assert_eq!((back.because.as_str(), back.changes), ("the tablet handed the controls back", 2));
    }

    #[test]
    fn the_second_of_two_who_pause_or_continue_at_once_changes_nothing() {
        let paused = pause(&Control::default(), &tablet(), 1).unwrap();
        assert_eq!(pause(&paused, &phone(), 2).unwrap(), paused, "and is told who was first");
        let on = unpause(&paused, &phone(), 3).unwrap();
        assert_eq!(unpause(&on, &tablet(), 4).unwrap(), on);
        assert_eq!(hand_back(&on, &tablet(), 4), Err(ControlRefusal::NotHeld));
        assert_eq!(hand_back(&paused, &tablet(), 4), Err(ControlRefusal::Paused));
    }

    #[test]
    fn an_administrator_takes_the_controls_from_another_who_is_told() {
        let taken = take_over(&held(), &desk(), 2).unwrap();
        assert_eq!(taken.because, "the desk has the controls, taken from the tablet");
        assert!(taken.is_held_by(&desk()) && !taken.is_held_by(&tablet()));
        assert!(lose(&taken, &"a".into(), ControlLoss::Closed, 3).is_none(), "she has nothing to lose any more");
        // Taking over twice is taking over once.
        assert_eq!(take_over(&taken, &desk(), 4).unwrap(), taken);
    }

    #[test]
    fn a_holder_who_vanishes_leaves_the_robot_paused() {
        let lost = lose(&held(), &"a".into(), ControlLoss::Silent, 2).unwrap();
        assert_eq!(lost.state, ControlState::Paused);
        assert_eq!(lost.because, "the tablet held the controls and vanished: nothing was heard any more");
        assert_eq!(lost.holder, None);
        assert!(unpause(&lost, &phone(), 3).is_ok(), "anybody with the role lets the robot go on");
        assert_eq!(lose(&held(), &"b".into(), ControlLoss::Silent, 2), None);
    }

    #[test]
    fn while_somebody_has_the_controls_others_only_stop_end_and_look_on() {
        let submit = Command::Submit { task: "go".to_owned(), session: None };
        let revise = Command::Revise { mission: None, text: "no".to_owned() };
        for command in [submit, revise, Command::Resume] {
            assert!(check(&held(), &command, &tablet()).is_ok());
            assert!(check(&held(), &command, &phone()).is_err(), "{command:?}");
            assert!(check(&held(), &command, &desk()).is_err(), "an administrator takes over first: {command:?}");
            assert!(check(&Control::default(), &command, &phone()).is_ok());
        }
        for command in [Command::Stop, Command::Cancel { mission: "m".into() }] {
            assert!(check(&held(), &command, &phone()).is_ok(), "{command:?}");
        }
    }

    #[test]
    fn the_controls_take_a_live_connection_and_a_name_is_data() {
        let nobody = Principal::operator(Origin::new("cli", "cortex"));
        assert_eq!(take_over(&Control::default(), &nobody, 1), Err(ControlRefusal::NoConnection));
        assert!(!Control::default().is_held_by(&nobody));
        let hostile = Principal::operator(Origin::new("web", format!("a\n\u{1b}[31m{}", "b".repeat(10_000))));
        let paused = pause(&Control::default(), &hostile, 1).unwrap();
        assert!(paused.because.len() < 100 && !paused.because.contains(char::is_control), "{}", paused.because);
    }
}
