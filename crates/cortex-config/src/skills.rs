//! `[skills]`: where the robot finds how people want tasks to be done.

use std::path::{Path, PathBuf};

use cortex_runtime::tape::SKILLS_FOLDER;
use serde::{Deserialize, Serialize};

use super::file_name;

/// The skills of whoever runs Cortex, in the folder of their configuration (XDG Base Directory Specification).
const USERS: &str = "cortex/skills";
/// Turns counting and learning off.
const OFF: &str = "off";

/// The skills of a robot, and what is kept of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SkillSettings {
    /// Where skills are, the folder that counts most first.
    pub folders: Vec<PathBuf>,
    /// Where it is kept how well they work, and what was learned. None: neither is.
    pub state: Option<PathBuf>,
}

/// Where skills are.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SkillsConfig {
    pub(crate) enable_skills: bool,
    pub(crate) folders: Vec<String>,
    /// Empty: a folder for each robot, beside the tapes.
    pub(crate) learned: String,
}

impl Default for SkillsConfig {
    fn default() -> Self {
        Self { enable_skills: true, folders: Vec::new(), learned: String::new() }
    }
}

/// The skills of a robot. None: none are used.
pub(super) fn settings(skills: &SkillsConfig, robot: &str, tapes: &Path) -> anyhow::Result<Option<SkillSettings>> {
    let mut folders = Vec::new();
    for folder in &skills.folders {
        let path = PathBuf::from(folder);
        anyhow::ensure!(
            path.is_absolute(),
            "configuration: skills.folders holds '{folder}'; give full paths. The folder 'skills' beside a recipe is always \
             looked into"
        );
        folders.push(path);
    }
    folders.extend(of_user());
    let state = match skills.learned.trim() {
        OFF => None,
        "" => Some(tapes.join(SKILLS_FOLDER).join(file_name(robot))),
        configured => Some(PathBuf::from(configured)),
    };
    if let Some(state) = state.as_ref().filter(|state| !state.is_absolute()) {
        anyhow::bail!(
            "configuration: skills.learned is '{}'; it must be a full path, beginning with /, or \"{OFF}\"",
            state.display()
        );
    }
    Ok(skills.enable_skills.then_some(SkillSettings { folders, state }))
}

fn of_user() -> Option<PathBuf> {
    let set = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let configuration = set("XDG_CONFIG_HOME").or_else(|| Some(set("HOME")?.join(".config")))?;
    Some(configuration.join(USERS))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_are_full_paths_before_that_of_the_user() {
        let config = |folders: &[&str], enable_skills| SkillsConfig {
            enable_skills,
            folders: folders.iter().map(|folder| (*folder).to_owned()).collect(),
            learned: String::new(),
        };
        let settings = |config: &SkillsConfig| settings(config, "hall", Path::new("/tapes"));
        let found = settings(&config(&["/opt/skills"], true)).unwrap().unwrap();
        assert_eq!(found.folders[0], PathBuf::from("/opt/skills"));
        assert!(found.folders.iter().skip(1).all(|folder| folder.ends_with(USERS)));
        assert_eq!(found.state, Some(PathBuf::from("/tapes/skills/hall")));
        assert_eq!(settings(&config(&[], false)).unwrap(), None);
        assert!(settings(&config(&["skills"], true)).unwrap_err().to_string().contains("give full paths"));
        let learned = |learned: &str| SkillsConfig { learned: learned.to_owned(), ..config(&[], true) };
        assert_eq!(settings(&learned("off")).unwrap().unwrap().state, None);
        assert!(settings(&learned("here")).unwrap_err().to_string().contains("must be a full path"));
    }
}
