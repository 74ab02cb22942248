//! The skills that a robot has learned, as folders: those that are proposed, those that a person said yes to, and those that a
//! person said no to. Only the second are used. People may read, edit and move them.

use std::collections::BTreeSet;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use cortex_protocol::skill_view::{SkillDecision, SkillStanding};
use thiserror::Error;

use crate::FILE;
use crate::folders::{SkillFolders, Skills};
use crate::learning::Proposal;

/// The folders.
const PROPOSED: &str = "proposed";
const ACCEPTED: &str = "accepted";
const REJECTED: &str = "rejected";
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
        // It is there as a whole or not at all.
        let (new, file) = (folder.join("SKILL.new"), folder.join(FILE));
        if is_there(&file) {
            return Err(LearnedError::Taken { path: folder });
        }
        let mut written =
            OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&new).map_err(failed)?;
        written.write_all(proposal.text.as_bytes()).and_then(|()| written.sync_all()).map_err(failed)?;
        fs::rename(&new, &file).map_err(failed)?;
        Ok(Some(file))
    }

    /// Carries out what a person says of a learned skill. Blocks.
    ///
    /// # Errors
    /// When there is none of that name, it is none any more, another one of that name is used, or its folder can't be moved.
    pub fn decide(&self, name: &str, decision: SkillDecision) -> Result<(), LearnedError> {
        let (from, to) = match decision {
            SkillDecision::Accept => ([SkillStanding::Proposed, SkillStanding::Off], SkillStanding::On),
            SkillDecision::Reject => ([SkillStanding::Proposed, SkillStanding::On], SkillStanding::Off),
        };
        for standing in from {
            let skills = self.read(standing);
            // Only what stands in a list of ours is ever made a path of.
            if let Some(found) = skills.skills.iter().find(|found| found.skill.name == name) {
                let Some(folder) = found.file.parent() else { continue };
                return self.move_to(folder, to, name);
            }
            let of_name = |file: &Path| file.parent().and_then(Path::file_name).is_some_and(|folder| folder == name);
            if let Some(broken) = skills.troubles.iter().find(|trouble| of_name(&trouble.file)) {
                return Err(LearnedError::Broken { name: name.to_owned(), problem: broken.problem.clone() });
            }
        }
        let is_so = self.read(to).skills.iter().any(|found| found.skill.name == name);
        if is_so { Ok(()) } else { Err(LearnedError::Unknown(name.to_owned())) }
    }

    fn move_to(&self, folder: &Path, standing: SkillStanding, name: &str) -> Result<(), LearnedError> {
        let above = self.of(standing);
        let to = above.join(name);
        let failed = |problem| LearnedError::Io { path: to.clone(), problem };
        DirBuilder::new().recursive(true).mode(0o700).create(&above).map_err(failed)?;
        if is_there(&to) {
            if standing == SkillStanding::On {
                // What is used is never replaced by a namesake.
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

/// Whether there is anything, also a link that leads nowhere.
fn is_there(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn proposal(name: &str) -> Proposal {
        Proposal { name: name.to_owned(), text: format!("---\nname: {name}\ndescription: Learned.\n---\nSo.\n") }
    }

    fn names(learned: &LearnedSkills, standing: SkillStanding) -> Vec<String> {
        learned.read(standing).skills.iter().map(|found| found.skill.name.clone()).collect()
    }

    #[test]
    fn a_proposal_is_used_after_a_yes_and_not_after_a_no() {
        let root = tempfile::tempdir().unwrap();
        let learned = LearnedSkills::new(root.path().join("skills"));
        let used = SkillFolders::new(vec![learned.accepted()]);
        learned.propose(&proposal("round")).unwrap().expect("a file");
        assert!(used.read().skills.is_empty(), "a proposal is not used");
        learned.decide("round", SkillDecision::Accept).unwrap();
        assert_eq!(used.read().skills.len(), 1);
        learned.decide("round", SkillDecision::Accept).unwrap();
        learned.decide("round", SkillDecision::Reject).unwrap();
        assert!(used.read().skills.is_empty());
        assert_eq!(names(&learned, SkillStanding::Off), ["round"]);
        learned.decide("round", SkillDecision::Accept).unwrap();
        assert!(
            used.read().skills.len() == 1 && names(&learned, SkillStanding::Off).is_empty(),
            "people change their minds"
        );
        assert!(learned.forget(Some("round")).unwrap() && used.read().skills.is_empty());
        assert!(!learned.forget(None).unwrap());
    }

    #[test]
    fn what_is_no_learned_skill_is_neither_moved_nor_used() {
        let root = tempfile::tempdir().unwrap();
        let learned = LearnedSkills::new(root.path().join("skills"));
        learned.propose(&proposal("round")).unwrap().expect("a file");
        fs::create_dir_all(root.path().join("elsewhere")).unwrap();
        for name in ["tour", "", "..", "../elsewhere", "round/../round", "/etc"] {
            let refused = learned.decide(name, SkillDecision::Accept).expect_err(name);
            assert!(matches!(refused, LearnedError::Unknown(_)), "{refused}");
            assert!(!learned.forget(Some(name)).unwrap());
        }
        assert!(root.path().join("elsewhere").is_dir());
        fs::write(root.path().join("skills/proposed/round").join(FILE), "broken").unwrap();
        let refused = learned.decide("round", SkillDecision::Accept).expect_err("broken").to_string();
        assert!(refused.contains("it does not begin with a line '---'"), "{refused}");
        assert!(names(&learned, SkillStanding::On).is_empty());
    }

    /// The file that a person was editing was overwritten, and the one that was used was removed.
    #[test]
    fn regression_what_a_person_wrote_is_neither_overwritten_nor_replaced_by_a_namesake() {
        let root = tempfile::tempdir().unwrap();
        let learned = LearnedSkills::new(root.path().to_owned());
        let file = learned.propose(&proposal("round")).unwrap().expect("a file");
        fs::write(&file, "half a sentence").unwrap();
        assert!(learned.used_names().contains("round"));
        let refused = learned.propose(&proposal("round")).expect_err("it is being edited");
        assert!(matches!(refused, LearnedError::Taken { .. }), "{refused}");
        assert_eq!(fs::read_to_string(&file).unwrap(), "half a sentence");

        let mine = learned.accepted().join("tour");
        fs::create_dir_all(&mine).unwrap();
        fs::write(mine.join(FILE), "mine").unwrap();
        learned.propose(&proposal("tour")).unwrap().expect("a file");
        let refused = learned.decide("tour", SkillDecision::Accept).expect_err("a namesake is used");
        assert!(matches!(refused, LearnedError::Taken { .. }), "{refused}");
        assert!(learned.withdraw("tour").unwrap() && names(&learned, SkillStanding::Proposed).is_empty());
        assert_eq!(fs::read_to_string(mine.join(FILE)).unwrap(), "mine", "also not by what is withdrawn");
    }

    #[test]
    fn a_no_holds_also_where_there_was_one_before() {
        let root = tempfile::tempdir().unwrap();
        let learned = LearnedSkills::new(root.path().to_owned());
        for _ in 0..2 {
            learned.propose(&proposal("round")).unwrap().expect("a file");
            learned.decide("round", SkillDecision::Reject).unwrap();
        }
        assert_eq!(names(&learned, SkillStanding::Off), ["round"]);
        assert!(root.path().join("rejected/round.1").join(FILE).is_file());
    }

    /// Nothing at all was forgotten.
    #[test]
    fn regression_a_plain_file_among_the_proposals_does_not_stop_that_they_are_forgotten() {
        let root = tempfile::tempdir().unwrap();
        let learned = LearnedSkills::new(root.path().to_owned());
        learned.propose(&proposal("round")).unwrap().expect("a file");
        let note = root.path().join("proposed/a-note");
        fs::write(&note, "a note").unwrap();
        assert!(learned.forget(None).unwrap() && note.is_file());
        assert!(names(&learned, SkillStanding::Proposed).is_empty());
    }

    #[test]
    fn proposals_wait_in_a_bounded_number() {
        let root = tempfile::tempdir().unwrap();
        let learned = LearnedSkills::new(root.path().to_owned());
        let written =
            (0..30).filter(|number| learned.propose(&proposal(&format!("r{number}"))).unwrap().is_some()).count();
        assert_eq!(written, MOST_PROPOSED);
    }
}
