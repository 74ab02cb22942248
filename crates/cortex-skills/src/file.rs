//! The file of a skill, read as a whole and with its digest: of what is read, and of nothing that comes after.

use std::fs::OpenOptions;
use std::io::{self, Read as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use cortex_protocol::skill_view::SkillDigest;
use rustix::fs::OFlags;
use sha2::{Digest as _, Sha256};

use crate::skill::{MOST_BYTES, SkillProblem};

/// Bytes of a digest.
const DIGEST_BYTES: usize = 16;

/// Whether the file may be a link to another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Links {
    /// People keep their skills where they like.
    Follow,
    /// A text that people decide upon lies where nobody else changes it.
    Refuse,
}

/// The text of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SkillText {
    pub(crate) text: String,
    pub(crate) digest: SkillDigest,
}

impl SkillText {
    /// Reads at most as many bytes as a skill may have, and never waits for whoever writes into it. Blocks.
    pub(crate) fn read(file: &Path, links: Links) -> Result<Self, SkillProblem> {
        let unreadable = |problem: io::Error| SkillProblem::Unreadable(problem.to_string());
        // To open a pipe would wait otherwise.
        let flags = match links {
            Links::Follow => OFlags::NONBLOCK,
            Links::Refuse => OFlags::NONBLOCK | OFlags::NOFOLLOW,
        };
        let flags = i32::try_from(flags.bits()).map_err(|_| unreadable(io::ErrorKind::Unsupported.into()))?;
        let opened = OpenOptions::new().read(true).custom_flags(flags).open(file).map_err(unreadable)?;
        let about = opened.metadata().map_err(unreadable)?;
        if !about.is_file() {
            return Err(SkillProblem::Unreadable("it is no file".to_owned()));
        }
        let mut text = String::new();
        let most = u64::try_from(MOST_BYTES).unwrap_or(u64::MAX);
        opened.take(most + 1).read_to_string(&mut text).map_err(unreadable)?;
        if text.len() > MOST_BYTES {
            return Err(SkillProblem::TooLong(about.len()));
        }
        Ok(Self { digest: digest(text.as_bytes()), text })
    }
}

/// The beginning of the SHA-256.
pub(crate) fn digest(bytes: &[u8]) -> SkillDigest {
    let whole = Sha256::digest(bytes);
    SkillDigest(whole.iter().take(DIGEST_BYTES).fold(0, |digest, byte| digest << 8 | u128::from(*byte)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_digest_is_the_beginning_of_the_sha_256() {
        // The example of FIPS 180-4.
        assert_eq!(digest(b"abc").to_string(), "ba7816bf8f01cfea414140de5dae2223");
    }
}
