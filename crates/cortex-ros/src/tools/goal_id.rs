//! The ids of goals that missions have sent.

use cortex_protocol::{CallId, MissionId};
use cortex_ros_client::dynamic::GoalId;
use uuid::Uuid;

/// The id of the goal of a mission's call, so that whoever knows the call knows the goal: the mission's id, with the
/// number of the call in its last four bytes. None where the mission has no id that is unique without coordination.
pub(super) fn of_call(mission: &MissionId, call: CallId) -> Option<GoalId> {
    let mut bytes = Uuid::try_parse(mission.as_str()).ok()?.into_bytes();
    for (byte, number) in bytes.iter_mut().skip(12).zip(call.0.to_be_bytes()) {
        *byte ^= number;
    }
    Some(GoalId::new(Uuid::from_bytes(bytes)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_knows_the_call_knows_the_goal_and_no_two_calls_have_one() {
        let mission = MissionId::from("01a201dc-49fd-70ba-b2a9-0b0416e65832");
        let ids: std::collections::BTreeSet<GoalId> =
            (0..100).filter_map(|call| of_call(&mission, CallId(call))).collect();
        assert_eq!(ids.len(), 100);
        let id = of_call(&mission, CallId(3)).map(|id| id.to_string());
        assert_eq!(id.as_deref(), Some("01a201dc-49fd-70ba-b2a9-0b0416e65831"));
        assert_eq!(of_call(&"cortex call".into(), CallId(1)), None);
    }
}
