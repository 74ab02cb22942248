//! The port through which people look at the skills of the robot, and decide upon those that it has learned.

use async_trait::async_trait;
use cortex_protocol::CommandError;
use cortex_protocol::skill_view::{SkillDecision, SkillDigest, SkillsView};

/// The skills of the robot, for people.
#[async_trait]
pub trait SkillPort: Send + Sync + 'static {
    /// All of them: those that are on, those that are proposed, and those that are off.
    ///
    /// # Errors
    /// When they can't be read.
    async fn skills(&self) -> Result<SkillsView, CommandError>;

    /// The whole file of the skill of this name that has this digest: what a person reads before a decision.
    ///
    /// # Errors
    /// When there is no skill of that name, or it was changed since.
    async fn text(&self, name: &str, digest: SkillDigest) -> Result<String, CommandError>;

    /// Carries out what a person says of a skill that the robot has learned, as the person saw it.
    ///
    /// # Errors
    /// When there is no learned skill of that name, it was changed since it was seen, or it can't be switched. Nothing has changed
    /// then.
    async fn decide(&self, name: &str, seen: SkillDigest, decision: SkillDecision) -> Result<(), CommandError>;

    /// Forgets what is counted of the tasks that a skill was told to; without a name, of those of all skills. The skills stay.
    ///
    /// # Errors
    /// When nothing is counted, or the counts can't be changed.
    async fn forget_counts(&self, name: Option<&str>) -> Result<(), CommandError>;
}
