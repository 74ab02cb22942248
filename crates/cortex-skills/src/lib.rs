//! Skills: folders with a `SKILL.md`, as the open Agent Skills specification has them (agentskills.io), unchanged.
//!
//! A skill says how people want such tasks to be done on this robot. It fires by rules, never because a model remembers it:
//! by a sentence of its own (`cortex-phrases` in its metadata), said word for word; by its other [`Triggers`]: events, words,
//! tools, a kind of task; because the task is like its [`Examples`]; or, where it has none, because it shares enough of its
//! telling words with the task or, with an [`Embedder`](cortex_core::Embedder), means what the task asks for. A section
//! *Procedure* with one sentence for each step lets a robot without a model do it, too.
//!
//! - [`Skill`]: one, read and checked; [`SkillFolders`]: all of them, read anew where a file has changed;
//! - [`SkillSource`]: those that fit a task, for its plan, with the names of the others; `classifier`: which tasks are like
//!   which examples; `ranking`: which skills, and in which order; [`SkillTools`]: the tool that reads one;
//! - [`FollowedMission`]: what skills have to do with a mission; [`OutcomeFile`]: what came of the tasks that each was told to;
//! - [`propose`]: a skill that is learned from what was done; [`LearnedSkills`]: such skills, and whether they are used;
//! - [`SkillsForPeople`]: all of them, for people.

mod classifier;
mod examples;
mod file;
mod fits;
mod folders;
#[cfg(test)]
mod fuzzed;
mod learned;
mod learning;
mod least_squares;
mod meaning;
mod missions;
mod outcomes;
mod people;
mod ranking;
mod skill;
mod source;
mod stamp;
mod tools;
mod triggers;
mod words;

pub use examples::Examples;
pub use folders::{FoundSkill, SkillFolders, SkillTrouble, Skills};
pub use learned::{LearnedError, LearnedSkills};
pub use learning::{CallSentences, Proposal, propose};
pub use missions::{DoneTask, EndedMission, FollowedMission};
pub use outcomes::{CountedAs, OutcomeFile, Outcomes, OutcomesError, SkillOutcome};
pub use people::{SkillState, SkillsForPeople};
pub use skill::{Skill, SkillProblem};
pub use source::SkillSource;
pub use tools::SkillTools;
pub use triggers::{SkillClass, Triggers};

/// The file of a skill in its folder.
pub const FILE: &str = "SKILL.md";
