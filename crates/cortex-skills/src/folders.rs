//! The folders that skills lie in, read anew where a file has changed.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cortex_protocol::skill_view::SkillDigest;

use crate::FILE;
use crate::file::{Links, SkillText};
use crate::skill::{Skill, SkillProblem};
use crate::stamp::Stamp;

/// Most skills of one folder.
const MOST_SKILLS: usize = 500;

/// The folders, the first of which counts most: of two skills of one name, its own is used.
#[derive(Debug)]
pub struct SkillFolders {
    folders: Vec<PathBuf>,
    /// What was read, by file.
    read: Mutex<BTreeMap<PathBuf, Reading>>,
    /// Whether the log says what was read: not of skills that are not used.
    is_logged: bool,
}

/// A file as it was read.
#[derive(Debug, Clone)]
struct Reading {
    stamp: Stamp,
    skill: Result<ReadSkill, SkillProblem>,
    /// Whether it was a skill before, and is none any more: somebody is writing it, perhaps.
    was_skill: bool,
}

/// A skill, and the digest of the very text that it was read from.
type ReadSkill = (Arc<Skill>, SkillDigest);

/// What the folders hold.
#[derive(Debug, Clone, Default)]
pub struct Skills {
    /// The skills, by name.
    pub skills: Vec<FoundSkill>,
    /// What is no skill although it should be, by file.
    pub troubles: Vec<SkillTrouble>,
}

/// A skill, and where it is.
#[derive(Debug, Clone)]
pub struct FoundSkill {
    /// The skill. Who holds it keeps the version that was read.
    pub skill: Arc<Skill>,
    /// Its file.
    pub file: PathBuf,
    /// The digest of the file that it was read from.
    pub digest: SkillDigest,
}

/// A file that is not used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SkillTrouble {
    /// Which.
    pub file: PathBuf,
    /// Why, as a sentence without a subject.
    pub problem: String,
    /// Whether it was a skill before, in this life of the process.
    pub was_skill: bool,
}

impl SkillTrouble {
    fn new(file: &Path, problem: impl Into<String>) -> Self {
        Self { file: file.to_owned(), problem: problem.into(), was_skill: false }
    }
}

impl SkillFolders {
    /// These folders. One that does not exist holds nothing.
    #[must_use]
    pub fn new(folders: Vec<PathBuf>) -> Self {
        Self { folders, read: Mutex::default(), is_logged: true }
    }

    /// The same, for skills that are only looked at.
    pub(crate) fn without_log(self) -> Self {
        Self { is_logged: false, ..self }
    }

    /// Whether there is none of the folders.
    #[must_use]
    pub fn are_missing(&self) -> bool {
        !self.folders.iter().any(|folder| folder.is_dir())
    }

    /// Reads what has changed since. Blocks.
    #[must_use]
    pub fn read(&self) -> Skills {
        let mut read = self.lock();
        let (mut found, mut seen) = (Skills::default(), BTreeSet::new());
        let mut by_name: BTreeMap<String, FoundSkill> = BTreeMap::new();
        for folder in &self.folders {
            let mut files = match files(folder) {
                Ok(files) => files,
                Err(problem) => {
                    let lost: Vec<PathBuf> = read.keys().filter(|file| file.starts_with(folder)).cloned().collect();
                    let was_skill = lost.iter().any(|file| was_skill(&read, file));
                    seen.extend(lost);
                    let problem = format!("can't be read: {problem}");
                    found.troubles.push(SkillTrouble { was_skill, ..SkillTrouble::new(folder, problem) });
                    continue;
                }
            };
            for surplus in files.split_off(files.len().min(MOST_SKILLS)) {
                let problem =
                    format!("is not used: {MOST_SKILLS} of its folder come before it, the most that are read");
                found.troubles.push(SkillTrouble::new(&surplus, problem));
            }
            for file in files {
                seen.insert(file.clone());
                let skill = renewed(&mut read, &file, self.is_logged);
                match skill {
                    Ok((skill, digest)) => match by_name.get(&skill.name) {
                        None => {
                            by_name.insert(skill.name.clone(), FoundSkill { skill, file, digest });
                        }
                        Some(first) => {
                            let problem =
                                format!("is not used: {} has the same name and comes first", first.file.display());
                            found.troubles.push(SkillTrouble::new(&file, problem));
                        }
                    },
                    Err(problem) => {
                        let was_skill = was_skill(&read, &file);
                        let problem = problem.to_string();
                        found.troubles.push(SkillTrouble { was_skill, ..SkillTrouble::new(&file, problem) });
                    }
                }
            }
        }
        read.retain(|file, _| seen.contains(file));
        found.skills = by_name.into_values().collect();
        found
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<PathBuf, Reading>> {
        self.read.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The files of the skills in a folder, in order.
fn files(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(problem) if problem.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(problem) => return Err(problem),
    };
    let mut files: Vec<PathBuf> = entries.flatten().map(|entry| entry.path().join(FILE)).collect();
    files.retain(|file| fs::symlink_metadata(file).is_ok());
    files.sort();
    Ok(files)
}

/// The skill of a file, read anew if the file has changed.
fn renewed(read: &mut BTreeMap<PathBuf, Reading>, file: &Path, is_logged: bool) -> Result<ReadSkill, SkillProblem> {
    let stamp = match fs::metadata(file) {
        Ok(about) if about.is_file() => Stamp::of(&about),
        Ok(_) => return Err(SkillProblem::Unreadable("it is no file".to_owned())),
        Err(problem) => return Err(SkillProblem::Unreadable(problem.to_string())),
    };
    if let Some(known) = read.get(file).filter(|known| known.stamp == stamp) {
        return known.skill.clone();
    }
    let skill = skill_of(file);
    let was_skill = was_skill(read, file);
    match &skill {
        _ if !is_logged => {}
        Ok((skill, _)) => tracing::info!("skill loaded: {}, from {}", skill.name, file.display()),
        Err(problem) => tracing::warn!("{} is no skill: {problem}", file.display()),
    }
    read.insert(file.to_owned(), Reading { stamp, skill: skill.clone(), was_skill });
    skill
}

/// Whether a file was a skill when it was read last, or before.
fn was_skill(read: &BTreeMap<PathBuf, Reading>, file: &Path) -> bool {
    read.get(file).is_some_and(|reading| reading.was_skill || reading.skill.is_ok())
}

fn skill_of(file: &Path) -> Result<ReadSkill, SkillProblem> {
    let SkillText { text, digest } = SkillText::read(file, Links::Follow)?;
    let folder = file.parent().and_then(Path::file_name).unwrap_or_default().to_string_lossy();
    Ok((Arc::new(Skill::read(&folder, &text)?), digest))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::skill::MOST_BYTES;

    fn write(root: &Path, name: &str, text: &str) -> PathBuf {
        let folder = root.join(name);
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join(FILE), text).unwrap();
        folder.join(FILE)
    }

    fn skill(name: &str, description: &str) -> String {
        format!("---\nname: {name}\ndescription: {description}\n---\nSo it is done.\n")
    }

    #[test]
    fn a_skill_that_is_edited_is_read_anew_and_who_holds_the_old_one_keeps_it() {
        let root = tempfile::tempdir().unwrap();
        let folders = SkillFolders::new(vec![root.path().join("skills")]);
        assert!(folders.are_missing() && folders.read().skills.is_empty());
        write(&root.path().join("skills"), "round", &skill("round", "First."));
        let first = folders.read();
        assert_eq!(first.skills[0].skill.description, "First.");
        write(&root.path().join("skills"), "round", &skill("round", "Second one."));
        assert_eq!(folders.read().skills[0].skill.description, "Second one.");
        assert_eq!(first.skills[0].skill.description, "First.");
        let file = write(&root.path().join("skills"), "round", "broken");
        let broken = folders.read();
        assert!(broken.skills.is_empty());
        assert_eq!(broken.troubles[0].file, file);
        assert!(broken.troubles[0].was_skill, "somebody is writing it, perhaps");
        fs::remove_dir_all(root.path().join("skills")).unwrap();
        assert!(folders.read().troubles.is_empty());
    }

    /// What can't be reached was as good as never written, so that reflex acted without it.
    #[test]
    fn regression_a_skill_that_could_not_be_reached_any_more_was_no_skill_before() {
        let root = tempfile::tempdir().unwrap();
        let skills = root.path().join("skills");
        let file = write(&skills, "round", &skill("round", "First."));
        let folders = SkillFolders::new(vec![skills.clone()]);
        assert_eq!(folders.read().skills.len(), 1);
        fs::remove_file(&file).unwrap();
        std::os::unix::fs::symlink("/no/such/file", &file).unwrap();
        assert!(folders.read().troubles[0].was_skill);
        fs::remove_dir_all(&skills).unwrap();
        fs::write(&skills, "no folder").unwrap();
        for _ in 0..2 {
            let found = folders.read();
            assert!(found.troubles[0].was_skill && found.troubles[0].file == skills, "also the next time");
        }
    }

    /// A change by a tool that keeps the time of the file was never seen.
    #[test]
    fn regression_a_file_that_was_changed_under_its_old_time_and_length_is_read_anew() {
        let root = tempfile::tempdir().unwrap();
        let folders = SkillFolders::new(vec![root.path().to_owned()]);
        let file = write(root.path(), "round", &skill("round", "First."));
        let before = folders.read().skills[0].clone();
        let other = root.path().join("other");
        fs::write(&other, skill("round", "Other.")).unwrap();
        let time = fs::metadata(&file).unwrap().modified().unwrap();
        fs::File::open(&other).unwrap().set_modified(time).unwrap();
        fs::rename(&other, &file).unwrap();
        let after = folders.read().skills[0].clone();
        assert_eq!(after.skill.description, "Other.");
        assert_ne!(before.digest, after.digest);
    }

    #[test]
    fn of_two_skills_of_one_name_the_first_folder_counts_and_the_other_is_named() {
        let root = tempfile::tempdir().unwrap();
        let (first, second) = (root.path().join("a"), root.path().join("b"));
        write(&first, "round", &skill("round", "Of the recipe."));
        let other = write(&second, "round", &skill("round", "Of the user."));
        write(&second, "tour", &skill("tour", "A tour."));
        let found = SkillFolders::new(vec![first, second]).read();
        let names: Vec<&str> = found.skills.iter().map(|found| found.skill.description.as_str()).collect();
        assert_eq!(names, ["Of the recipe.", "A tour."]);
        assert_eq!(found.troubles.len(), 1);
        assert!(found.troubles[0].file == other && found.troubles[0].problem.contains("has the same name"));
    }

    #[test]
    fn what_has_no_end_or_never_comes_is_not_waited_for() {
        let root = tempfile::tempdir().unwrap();
        let folder = |name: &str| {
            fs::create_dir(root.path().join(name)).unwrap();
            root.path().join(name).join(FILE)
        };
        std::os::unix::fs::symlink("/dev/zero", folder("zero")).unwrap();
        std::os::unix::fs::symlink("/no/such/file", folder("nowhere")).unwrap();
        fs::create_dir(folder("folder")).unwrap();
        fs::write(folder("long"), "x".repeat(MOST_BYTES + 1)).unwrap();
        fs::write(folder("bytes"), [0xff, 0xfe]).unwrap();
        fs::write(root.path().join("beside.md"), "no skill").unwrap();
        let found = SkillFolders::new(vec![root.path().to_owned()]).read();
        assert!(found.skills.is_empty());
        assert_eq!(found.troubles.len(), 5, "{:?}", found.troubles);
    }
}
