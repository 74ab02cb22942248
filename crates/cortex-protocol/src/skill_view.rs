//! The skills of a robot, for people who look at them.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thiserror::Error;

/// The skills of a robot.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SkillsView {
    /// The skills: those that are on, then those that are proposed, then those that are off; each by name.
    pub skills: Vec<SkillView>,
    /// Files that should be skills and are none, each with the reason.
    pub troubles: Vec<String>,
}

/// A skill.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SkillView {
    /// Its name.
    pub name: String,
    /// By what its file is known, as it was when this was read.
    pub digest: SkillDigest,
    /// What it is for.
    pub description: String,
    /// Whether it is used.
    pub standing: SkillStanding,
    /// Whether the robot learned it from what it has done.
    pub is_learned: bool,
    /// The sentences that it is asked for by.
    pub phrases: Vec<String>,
    /// What else has it fire, in sentences.
    pub triggers: Vec<String>,
    /// What is done, a sentence for each step. Empty: a model has to read it.
    pub steps: Vec<String>,
    /// What came of the tasks that it was told to.
    pub counts: SkillCounts,
}

/// The first 128 bits of the SHA-256 of a skill's file, written as 32 hexadecimal digits. A person's decision carries it, so that
/// it counts for the text that was seen and for no other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
#[schemars(with = "String")]
pub struct SkillDigest(pub u128);

/// Text that is no [`SkillDigest`].
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("a digest of a skill has {DIGEST_DIGITS} hexadecimal digits, as `cortex skill show` and the page tell it")]
pub struct InvalidSkillDigest;

const DIGEST_DIGITS: usize = 32;

impl fmt::Display for SkillDigest {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{:0DIGEST_DIGITS$x}", self.0)
    }
}

impl FromStr for SkillDigest {
    type Err = InvalidSkillDigest;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        // A sign is a number to the standard library, and no digit.
        let is_one = text.len() == DIGEST_DIGITS && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        let digest = is_one.then(|| u128::from_str_radix(text, 16).ok()).flatten();
        digest.map(Self).ok_or(InvalidSkillDigest)
    }
}

impl TryFrom<String> for SkillDigest {
    type Error = InvalidSkillDigest;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

impl From<SkillDigest> for String {
    fn from(digest: SkillDigest) -> Self {
        digest.to_string()
    }
}

/// Whether a skill is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SkillStanding {
    /// It is.
    On,
    /// The robot has learned it, and asks a person whether it may be used.
    Proposed,
    /// A person said no.
    Off,
}

/// What came of the tasks that a skill was told to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SkillCounts {
    /// Carried out, and at least a part of each was verified.
    pub succeeded: u32,
    /// Carried out, by the word of the tools alone: the robot has nothing to verify them by.
    pub unverified: u32,
    /// Not carried out, or nothing shows that they were.
    pub failed: u32,
    /// Ended by somebody.
    pub cancelled: u32,
    /// A person said that they were not done as they should be.
    pub disputed: u32,
}

impl SkillCounts {
    /// How many tasks tell how well it works.
    #[must_use]
    pub fn tried(self) -> u32 {
        self.succeeded.saturating_add(self.unverified).saturating_add(self.failed).saturating_add(self.disputed)
    }
}

impl fmt::Display for SkillCounts {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { succeeded, unverified, failed, cancelled, disputed } = self;
        if self.tried() == 0 && *cancelled == 0 {
            return formatter.write_str("not tried yet");
        }
        write!(formatter, "{succeeded} succeeded, {failed} failed")?;
        for (count, word) in [(unverified, "not verified"), (disputed, "disputed"), (cancelled, "cancelled")] {
            if *count > 0 {
                write!(formatter, ", {count} {word}")?;
            }
        }
        Ok(())
    }
}

/// What a person says of a skill that the robot has learned.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SkillDecision {
    /// It is to be used.
    Accept,
    /// It is not.
    Reject,
}

impl SkillDecision {
    /// What comes of it.
    #[must_use]
    pub fn standing(self) -> SkillStanding {
        match self {
            Self::Accept => SkillStanding::On,
            Self::Reject => SkillStanding::Off,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_digest_is_read_as_it_is_written_and_nothing_else_is_one() {
        let digest = SkillDigest(0xab);
        assert_eq!(digest.to_string(), "000000000000000000000000000000ab");
        assert_eq!(digest.to_string().parse(), Ok(digest));
        assert_eq!("000000000000000000000000000000AB".parse(), Ok(digest), "people may shout");
        let signed = format!("+{:031x}", 1);
        for hostile in ["", "ab", "0x0000000000000000000000000000ab", signed.as_str(), &"0".repeat(33), &"é".repeat(16)]
        {
            assert_eq!(hostile.parse::<SkillDigest>(), Err(InvalidSkillDigest), "{hostile}");
            assert!(serde_json::from_value::<SkillDigest>(serde_json::json!(hostile)).is_err());
        }
    }
}
