//! The port through which people look at the skills of the robot, and decide upon those that it has learned.

use async_trait::async_trait;
use cortex_protocol::CommandError;
use cortex_protocol::skill_view::{SkillDecision, SkillsView};

/// The skills of the robot, for people.
#[async_trait]
pub trait SkillPort: Send + Sync + 'static {
    /// All of them: those that are on, those that are proposed, and those that are off.
    ///
    /// # Errors
    /// When they can't be read.
    async fn skills(&self) -> Result<SkillsView, CommandError>;

    /// Carries out what a person says of a skill that the robot has learned.
    ///
    /// # Errors
    /// When there is no learned skill of that name, or it can't be switched.
    async fn decide(&self, name: &str, decision: SkillDecision) -> Result<(), CommandError>;
}
