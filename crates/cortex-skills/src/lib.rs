//! Skills: folders with a `SKILL.md`, as the open Agent Skills specification has them (agentskills.io), unchanged.
//!
//! A skill says how people want such tasks to be done on this robot. It fires by rules, never because a model remembers it: by a
//! sentence of its own (`cortex-phrases` in its metadata), said word for word, or because it shares enough of its telling words
//! with the task, or, with an [`Embedder`](cortex_core::Embedder), means what the task asks for. A section *Procedure* with one sentence for each step lets a robot without a model do it, too.
//!
//! - [`Skill`]: one, read and checked; [`SkillFolders`]: all of them, read anew where a file has changed;
//! - [`SkillSource`]: those that fit a task, for its plan, with the names of the others; [`SkillTools`]: the tool that reads one.

mod folders;
#[cfg(test)]
mod fuzzed;
mod meaning;
mod skill;
mod source;
mod tools;
mod words;

pub use folders::{FoundSkill, SkillFolders, SkillTrouble, Skills};
pub use skill::{Skill, SkillProblem};
pub use source::SkillSource;
pub use tools::SkillTools;

/// The file of a skill in its folder.
pub const FILE: &str = "SKILL.md";
