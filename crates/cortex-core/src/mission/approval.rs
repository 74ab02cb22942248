//! Approval by people.

use cortex_protocol::{Answer, Origin, QuestionNumber};

use super::Mission;
use crate::policy::RobotState;

impl Mission {
    /// Whether a question can be answered so, now.
    ///
    /// # Errors
    /// Why not, for the person.
    pub fn check_answer(&self, number: QuestionNumber, _answer: &Answer) -> Result<(), String> {
        Err(format!("the mission has no open question {}", number.0))
    }

    pub(super) fn on_answered(&mut self, number: QuestionNumber, answer: Answer, _origin: Origin) {
        let _ = self.check_answer(number, &answer);
    }

    pub(super) fn on_robot_state(&mut self, state: RobotState) {
        self.setup.policy.state = state;
    }
}
