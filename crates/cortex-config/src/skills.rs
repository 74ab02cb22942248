//! `[skills]`: where the robot finds how people want tasks to be done.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// The skills of whoever runs Cortex, in the folder of their configuration (XDG Base Directory Specification).
const USERS: &str = "cortex/skills";

/// Where skills are.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SkillsConfig {
    pub(crate) enable_skills: bool,
    pub(crate) folders: Vec<String>,
}

impl Default for SkillsConfig {
    fn default() -> Self {
        Self { enable_skills: true, folders: Vec::new() }
    }
}

/// Where skills are, the folder that counts most first. None: none are used.
pub(super) fn folders(skills: &SkillsConfig) -> anyhow::Result<Option<Vec<PathBuf>>> {
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
    Ok(skills.enable_skills.then_some(folders))
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
        };
        let found = folders(&config(&["/opt/skills"], true)).unwrap().unwrap();
        assert_eq!(found[0], PathBuf::from("/opt/skills"));
        assert!(found.iter().skip(1).all(|folder| folder.ends_with(USERS)));
        assert_eq!(folders(&config(&[], false)).unwrap(), None);
        assert!(folders(&config(&["skills"], true)).unwrap_err().to_string().contains("give full paths"));
    }
}
