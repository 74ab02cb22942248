//! Tools that people run by hand: where nothing else runs, or, for the holder of the controls, beside the missions.

use cortex_protocol::{Control, MissionId};

use super::{MissionQueue, RECOVERING, Running};
use crate::readiness::Rejection;

/// Why what a person wanted who has just lost the controls is not begun.
pub(super) const LOST: &str = "whoever wanted it does not have the controls of the robot any more";

impl MissionQueue {
    /// Whether a tool may be run by hand now. `held`: the controls of whoever wants it, who holds them; `paused`: why no task
    /// begins. What a person has just looked at holds now, so it waits for nothing.
    ///
    /// # Errors
    /// Why not.
    pub(super) fn check_by_hand(&self, held: Option<&Control>, paused: Option<&String>) -> Result<(), Rejection> {
        let because = if held.is_some() {
            if self.by_hand.is_some() {
                return Err(Rejection::ByHandRuns);
            }
            // The missions wait for this person; only what keeps everybody from beginning counts.
            let recovering = self.is_recovering.then(|| RECOVERING.to_owned());
            recovering.or_else(|| self.shared.availability.borrow().paused().map(str::to_owned))
        } else {
            if self.is_running() || !self.waiting.is_empty() {
                return Err(Rejection::MissionRuns);
            }
            paused.cloned()
        };
        because.map_or(Ok(()), |because| Err(Rejection::Paused { because }))
    }

    /// Whether a mission runs, or one by hand.
    pub(super) fn is_running(&self) -> bool {
        self.running.is_some() || self.by_hand.is_some()
    }

    /// This mission, if it runs.
    pub(super) fn runs(&self, mission: &MissionId) -> Option<&Running> {
        self.running.iter().chain(&self.by_hand).find(|running| running.id == *mission)
    }
}
