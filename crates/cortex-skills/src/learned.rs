//! The skills that a robot has learned, as folders: those that are proposed, those that a person said yes to, and those that a
//! person said no to. Only the second are used. People may read, edit and move them.

use std::collections::BTreeSet;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use cortex_protocol::skill_view::{SkillDecision, SkillDigest, SkillStanding};
use thiserror::Error;

use crate::FILE;
use crate::file::{Links, SkillText};
use crate::folders::{FoundSkill, SkillFolders, Skills};
use crate::learning::Proposal;

/// The folders.
const PROPOSED: &str = "proposed";
const ACCEPTED: &str = "accepted";
const REJECTED: &str = "rejected";
/// What the folder of a skill is called, behind its name, while it is being accepted.
const BEING_ACCEPTED: &str = "being-accepted";
/// Most proposals that wait for a person. More are not made until some are decided upon.
const MOST_PROPOSED: usize = 20;

/// Where a robot keeps what it has learned of skills.
#[derive(Debug, Clone)]
pub struct LearnedSkills {
    folder: PathBuf,
}

/// Why a decision was not carried out.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum LearnedError {
    /// There is none of that name.
    #[error(
        "there is no learned skill '{0}'; `cortex skill list` names all. A skill that people wrote is on while its file is there"
    )]
    Unknown(String),
    /// Its file is not any more as it was seen.
    #[error(
        "the learned skill '{0}' was changed since you saw it, and is left as it is; fix: look at it again, then decide"
    )]
    Changed(String),
    /// It can't be used as it is.
    #[error("the learned skill '{name}' can't be used: {problem}")]
    Broken {
        /// Which.
        name: String,
        /// Why.
        problem: String,
    },
    /// There is another one of that name, which a person may be editing.
    #[error("there is something in {path} already; fix: move it elsewhere, or give one of the two another name")]
    Taken {
        /// Which folder.
        path: PathBuf,
    },
    /// Its folder can't be moved.
    #[error("{path} can't be changed: {problem}")]
    Io {
        /// Which folder.
        path: PathBuf,
        /// Why.
        problem: io::Error,
    },
}

impl LearnedSkills {
    /// Those in this folder, which need not exist yet.
    #[must_use]
    pub fn new(folder: PathBuf) -> Self {
        Self { folder }
    }

    /// The folder of those that are used: one of the folders of skills.
    #[must_use]
    pub fn accepted(&self) -> PathBuf {
        self.of(SkillStanding::On)
    }

    fn of(&self, standing: SkillStanding) -> PathBuf {
        self.folder.join(match standing {
            SkillStanding::On => ACCEPTED,
            SkillStanding::Proposed => PROPOSED,
            SkillStanding::Off => REJECTED,
        })
    }

    /// Those of this standing. Blocks.
    #[must_use]
    pub fn read(&self, standing: SkillStanding) -> Skills {
        SkillFolders::new(vec![self.of(standing)]).without_log().read()
    }

    /// The names of all folders, also of those that hold no skill just now: somebody may be editing it. Blocks.
    #[must_use]
    pub fn used_names(&self) -> BTreeSet<String> {
        let standings = [SkillStanding::Proposed, SkillStanding::Off, SkillStanding::On];
        let entries = standings.into_iter().flat_map(|standing| fs::read_dir(self.of(standing)).into_iter().flatten());
        entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
    }

    /// Writes a proposal, and says where. None where too many wait already. Blocks.
    ///
    /// # Errors
    /// When it can't be written, or there is another one of its name.
    pub fn propose(&self, proposal: &Proposal) -> Result<Option<PathBuf>, LearnedError> {
        let proposed = self.of(SkillStanding::Proposed);
        if fs::read_dir(&proposed).map_or(0, Iterator::count) >= MOST_PROPOSED {
            return Ok(None);
        }
        let folder = proposed.join(&proposal.name);
        let failed = |problem| LearnedError::Io { path: folder.clone(), problem };
        DirBuilder::new().recursive(true).mode(0o700).create(&folder).map_err(failed)?;
        if is_there(&folder.join(FILE)) {
            return Err(LearnedError::Taken { path: folder });
        }
        write_whole(&folder, &proposal.text).map(Some).map_err(failed)
    }

    /// Carries out what a person says of a learned skill, whose file had this digest when the person saw it. Blocks.
    ///
    /// # Errors
    /// When there is none of that name, it is none any more, it was changed since it was seen, another one of that name is used, or
    /// its folder can't be moved. Nothing has changed then.
    pub fn decide(&self, name: &str, seen: SkillDigest, decision: SkillDecision) -> Result<(), LearnedError> {
        let to = decision.standing();
        let named = self.named(name, decision)?;
        let seen_one = named.iter().find(|(_, found)| found.digest == seen);
        let (standing, found) = seen_one.ok_or_else(|| LearnedError::Changed(name.to_owned()))?;
        // Only what stands in a list of ours is ever made a path of.
        match (found.file.parent(), decision) {
            _ if *standing == to => Ok(()),
            (Some(folder), SkillDecision::Accept) => self.accept(folder, name, seen),
            (Some(folder), SkillDecision::Reject) => self.move_to(folder, to, name),
            (None, _) => Err(LearnedError::Unknown(name.to_owned())),
        }
    }

    /// The skills of this name, with whether each is used: the one first that the decision is about where nothing else tells. There
    /// is at least one. Blocks.
    ///
    /// # Errors
    /// When there is none of that name, or none that is a skill.
    pub fn named(&self, name: &str, decision: SkillDecision) -> Result<Vec<(SkillStanding, FoundSkill)>, LearnedError> {
        // Last where it is when the decision was carried out already.
        let standings = match decision {
            SkillDecision::Accept => [SkillStanding::Proposed, SkillStanding::Off, SkillStanding::On],
            // A no is about what is used first.
            SkillDecision::Reject => [SkillStanding::On, SkillStanding::Proposed, SkillStanding::Off],
        };
        let (mut named, mut broken) = (Vec::new(), None);
        for standing in standings {
            let Skills { skills, troubles } = self.read(standing);
            named.extend(skills.into_iter().filter(|found| found.skill.name == name).map(|found| (standing, found)));
            let of_name = |file: &Path| file.parent().and_then(Path::file_name).is_some_and(|folder| folder == name);
            broken = broken.or_else(|| troubles.into_iter().find(|trouble| of_name(&trouble.file)));
        }
        match broken {
            Some(broken) if named.is_empty() => {
                Err(LearnedError::Broken { name: name.to_owned(), problem: broken.problem })
            }
            None if named.is_empty() => Err(LearnedError::Unknown(name.to_owned())),
            _ => Ok(named),
        }
    }

    /// Has a skill used: the bytes that were seen and no others, whatever somebody does to its file meanwhile.
    fn accept(&self, folder: &Path, name: &str, seen: SkillDigest) -> Result<(), LearnedError> {
        let to = self.accepted().join(name);
        // After this move, nobody reaches it by the path that they know. Should the process end before the next one, it is not used,
        // and lists name the folder as one that is not called as its skill.
        let aside = folder.with_file_name(format!("{name}.{BEING_ACCEPTED}"));
        if let Some(path) = [&to, &aside].into_iter().find(|path| is_there(path)) {
            // What is used is never replaced by a namesake.
            return Err(LearnedError::Taken { path: path.clone() });
        }
        let failed = |problem| LearnedError::Io { path: folder.to_owned(), problem };
        fs::rename(folder, &aside).map_err(failed)?;
        let accepted = own_text(&aside, name, seen).and_then(|text| {
            // Whoever has the file open, or has another name of it, keeps the old one.
            write_whole(&aside, &text).map_err(failed)?;
            self.move_to(&aside, SkillStanding::On, name)
        });
        if accepted.is_err() && is_there(&aside) {
            fs::rename(&aside, folder).map_err(|problem| LearnedError::Io { path: aside, problem })?;
        }
        accepted
    }

    fn move_to(&self, folder: &Path, standing: SkillStanding, name: &str) -> Result<(), LearnedError> {
        let above = self.of(standing);
        let to = above.join(name);
        let failed = |problem| LearnedError::Io { path: to.clone(), problem };
        DirBuilder::new().recursive(true).mode(0o700).create(&above).map_err(failed)?;
        if is_there(&to) {
            if standing == SkillStanding::On {
                return Err(LearnedError::Taken { path: to });
            }
            // A no must not fail because of an earlier one, which is kept aside.
            let aside = (1_u32..).map(|number| above.join(format!("{name}.{number}"))).find(|path| !is_there(path));
            aside.map_or(Ok(()), |aside| fs::rename(&to, aside)).map_err(failed)?;
        }
        fs::rename(folder, &to).map_err(failed)?;
        File::open(&above).and_then(|above| above.sync_all()).map_err(failed)
    }

    /// Takes a proposal back. What a person decided upon stays. Says whether there was one. Blocks.
    ///
    /// # Errors
    /// When its folder can't be removed.
    pub fn withdraw(&self, name: &str) -> Result<bool, LearnedError> {
        self.remove(&[SkillStanding::Proposed], Some(name))
    }

    /// Forgets the learned skill of this name, whether it is used or not; without a name, those that are proposed and those that
    /// a person said no to. Says whether there was any. A plain file is no skill, and stays. Blocks.
    ///
    /// # Errors
    /// When a folder can't be removed. The others are.
    pub fn forget(&self, name: Option<&str>) -> Result<bool, LearnedError> {
        let standings: &[SkillStanding] = match name {
            Some(_) => &[SkillStanding::Proposed, SkillStanding::Off, SkillStanding::On],
            None => &[SkillStanding::Proposed, SkillStanding::Off],
        };
        self.remove(standings, name)
    }

    fn remove(&self, standings: &[SkillStanding], name: Option<&str>) -> Result<bool, LearnedError> {
        let (mut had_any, mut failed) = (false, None);
        for standing in standings {
            for entry in fs::read_dir(self.of(*standing)).into_iter().flatten().flatten() {
                let is_file = entry.file_type().is_ok_and(|kind| kind.is_file());
                if is_file || name.is_some_and(|name| entry.file_name() != name) {
                    continue;
                }
                let path = entry.path();
                match fs::remove_dir_all(&path) {
                    Ok(()) => had_any = true,
                    Err(problem) => failed = failed.or(Some(LearnedError::Io { path, problem })),
                }
            }
        }
        failed.map_or(Ok(had_any), Err)
    }
}

/// The text of a skill, if it is the one that was seen, and lies in a folder and a file of its own.
fn own_text(folder: &Path, name: &str, seen: SkillDigest) -> Result<String, LearnedError> {
    let broken = |problem: String| LearnedError::Broken { name: name.to_owned(), problem };
    let is_link = |path: &Path| fs::symlink_metadata(path).is_ok_and(|about| about.is_symlink());
    if is_link(folder) || is_link(&folder.join(FILE)) {
        let problem = "its folder or its file is a link, behind which it may change; fix: put a copy in its place";
        return Err(broken(problem.to_owned()));
    }
    let SkillText { text, digest } =
        SkillText::read(&folder.join(FILE), Links::Refuse).map_err(|problem| broken(problem.to_string()))?;
    if digest == seen { Ok(text) } else { Err(LearnedError::Changed(name.to_owned())) }
}

/// Writes the file of a skill, and says where. It is there as a whole or not at all, and is a new one.
fn write_whole(folder: &Path, text: &str) -> io::Result<PathBuf> {
    let (new, file) = (folder.join("SKILL.new"), folder.join(FILE));
    if is_there(&new) {
        fs::remove_file(&new)?;
    }
    let mut written = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&new)?;
    written.write_all(text.as_bytes()).and_then(|()| written.sync_all())?;
    fs::rename(&new, &file)?;
    Ok(file)
}

/// Whether there is anything, also a link that leads nowhere.
fn is_there(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok()
}

#[cfg(test)]
mod tests;
