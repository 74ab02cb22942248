//! The mission that the holder of the controls runs by hand, beside those that wait: only its calls get through, and only as long
//! as the controls are as they were. Nobody else begins anything before it is at rest.

use cortex_protocol::{Control, ControlState, MissionId};

use super::{Gate, Inner};
use crate::control::now_ms;

/// The mission that runs by hand under take-over. Others begin nothing while it is not at rest.
#[derive(Debug)]
pub(super) struct ByHand {
    mission: MissionId,
    /// The controls that it was begun under. With any other it calls nothing any more.
    held: Control,
    /// Who lets the robot act by itself once this is at rest, if somebody does.
    pub(super) then: Option<Control>,
}

impl Gate {
    /// This mission runs by hand, on behalf of whoever holds these controls. Returns whether they still do, and nothing else
    /// runs so.
    #[must_use]
    pub(crate) fn begin_by_hand(&self, mission: &MissionId, held: &Control) -> bool {
        let mut inner = self.lock();
        let is_held = held.state == ControlState::Held && self.0.availability.borrow().control() == held;
        if !is_held || inner.by_hand.is_some() {
            return false;
        }
        inner.by_hand = Some(ByHand { mission: mission.clone(), held: held.clone(), then: None });
        true
    }

    /// That mission has ended. Whoever waits for it goes on, unless something of it may still move.
    pub(crate) fn end_by_hand(&self, mission: &MissionId, is_at_rest: bool) {
        let mut inner = self.lock();
        let Some(by_hand) = inner.by_hand.take_if(|by_hand| by_hand.mission == *mission) else { return };
        let Some(then) = by_hand.then else { return };
        let control = if is_at_rest { then } else { still_moving(then) };
        tracing::info!("controls: {control}");
        self.0.availability.send_if_modified(|now| {
            let changes = now.control().changes.saturating_add(1);
            now.set_control(Control { changes, since_ms: now_ms(), ..control })
        });
    }
}

impl Inner {
    /// Why the calls of this mission may not be made now, as far as the controls are concerned; for people and models. A
    /// client's call has an id as that of a mission. None: they may.
    pub(super) fn control_refusal(&self, mission: &MissionId, control: &Control) -> Option<String> {
        match self.by_hand.as_ref().filter(|by_hand| by_hand.mission == *mission) {
            Some(by_hand) if by_hand.held == *control => None,
            Some(_) => Some("whoever wanted it does not have the controls of the robot any more".to_owned()),
            None => control.reason().map(ToOwned::to_owned),
        }
    }

    /// Keeps what is wanted for when the mission by hand is at rest. Returns whether it has to wait for that.
    pub(super) fn go_on_later(&mut self, wanted: &Control) -> bool {
        let Some(by_hand) = self.by_hand.as_mut().filter(|_| wanted.is_autonomous()) else { return false };
        by_hand.then = Some(wanted.clone());
        true
    }
}

/// What is so until what was run by hand is at rest, where the robot is to act by itself then.
pub(super) fn until_at_rest(then: Control) -> Control {
    let because = format!("{}; what was run by hand is being halted first", then.because);
    Control { state: ControlState::Paused, because, ..then }
}

/// What is so where it can't be known that what was run by hand is at rest.
fn still_moving(then: Control) -> Control {
    let because = "what was run by hand did not confirm that it is at rest; look at the robot, then let it go on";
    Control { state: ControlState::Paused, because: because.to_owned(), ..then }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use cortex_core::{ControlRefusal, Invocation, Unobserved, control};
    use cortex_protocol::{
        CallId, Command, Effect, Origin, Principal, ToolCall, ToolFingerprint, ToolOutcome, ToolPhase,
    };
    use cortex_testkit::{Behaviour, FakeTools, tool};
    use serde_json::{Map, Value};

    use super::*;

    fn tablet() -> Principal {
        Principal::operator(Origin::new("web", "the tablet")).over("a".into())
    }

    fn after(gate: &Gate, command: &Command) -> Control {
        let decide = |now: &Control| -> Result<Control, ControlRefusal> {
            match command {
                Command::TakeOver => control::take_over(now, &tablet(), 1),
                Command::Pause => control::pause(now, &tablet(), 1),
                _ => control::hand_back(now, &tablet(), 1),
            }
        };
        gate.decide_control(decide).unwrap()
    }

    /// A call of that mission, which an action of a recipe makes for it: it passes the gate twice.
    async fn waves(gate: &Gate, mission: &str) -> ToolOutcome {
        let spec = tool("arm.wave", ToolPhase::Execution, Effect::Move).with_component(Some("arm".into()));
        let tools = Arc::new(FakeTools::new([("arm.wave", Behaviour::Returns(Value::Null))]));
        let of_action = gate.guard(spec.clone(), tools);
        let invocation = Invocation {
            mission: mission.into(),
            id: CallId(1),
            call: ToolCall { tool: "arm.wave".into(), arguments: Map::new() },
            fingerprint: ToolFingerprint(0),
            timeout: std::time::Duration::from_secs(1),
        };
        gate.guard(spec, of_action).invoke(invocation, Arc::new(Unobserved)).await
    }

    #[tokio::test]
    async fn under_take_over_only_what_its_holder_runs_gets_through_and_what_that_calls_in_turn() {
        let gate = Gate::default();
        let held = after(&gate, &Command::TakeOver);
        assert!(!waves(&gate, "by-hand").await.is_success(), "it has not begun");
        assert!(!gate.begin_by_hand(&"by-hand".into(), &Control::default()), "of controls of another time");
        assert!(gate.begin_by_hand(&"by-hand".into(), &held));
        assert!(!gate.begin_by_hand(&"another".into(), &held), "one at a time");
        assert!(waves(&gate, "by-hand").await.is_success());
        assert!(!waves(&gate, "interrupted").await.is_success());
        let back = after(&gate, &Command::HandBack);
        assert!(!back.is_autonomous());
        for mission in ["by-hand", "interrupted"] {
            assert!(!waves(&gate, mission).await.is_success(), "{mission}: nothing begins until it is at rest");
        }
        gate.end_by_hand(&"another".into(), true);
        assert!(!waves(&gate, "interrupted").await.is_success(), "that was not it");
        gate.end_by_hand(&"by-hand".into(), true);
        assert!(waves(&gate, "interrupted").await.is_success());
        assert!(gate.availability().borrow().control().changes > back.changes, "everybody hears of it");
    }

    #[tokio::test]
    async fn controls_that_are_taken_again_by_the_same_person_are_others() {
        let gate = Gate::default();
        let held = after(&gate, &Command::TakeOver);
        assert!(gate.begin_by_hand(&"by-hand".into(), &held));
        after(&gate, &Command::Pause);
        let again = after(&gate, &Command::TakeOver);
        assert_ne!(again, held);
        assert!(!waves(&gate, "by-hand").await.is_success());
        gate.end_by_hand(&"by-hand".into(), true);
        assert_eq!(*gate.availability().borrow().control(), again);
        assert!(gate.begin_by_hand(&"another".into(), &again));
        assert!(waves(&gate, "another").await.is_success());
    }
}
