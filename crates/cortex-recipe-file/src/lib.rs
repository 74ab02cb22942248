//! A recipe as a file: read and checked, with what it says to Cortex and what this machine has of its programs.
//!
//! It links no ROS. Whoever has one checks more: what the recipe says of messages, against the types that are installed
//! ([`check`] takes that as a function).

mod missing_programs;

use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use cortex_config as config;
use cortex_recipe::{MAX_RECIPE_BYTES, Mistake, Problems, Recipe};

pub use missing_programs::MissingPrograms;

/// The text of a file that may be a recipe: of no other thing that can be opened, and not much more than is read of it.
pub fn text_of(file: &Path) -> anyhow::Result<String> {
    let unreadable = || format!("{} can't be read", file.display());
    // A pipe would be waited for, and a device may have no end.
    anyhow::ensure!(std::fs::metadata(file).with_context(unreadable)?.is_file(), "{} is no file", file.display());
    let bound = u64::try_from(MAX_RECIPE_BYTES).unwrap_or(u64::MAX).saturating_add(1);
    let mut text = Vec::new();
    std::fs::File::open(file).and_then(|opened| opened.take(bound).read_to_end(&mut text)).with_context(unreadable)?;
    anyhow::ensure!(
        text.len() <= MAX_RECIPE_BYTES,
        "{} is too long for a recipe, of which at most {MAX_RECIPE_BYTES} bytes are read",
        file.display()
    );
    String::from_utf8(text).with_context(unreadable)
}

/// Prints what is no mistake on the machine that the recipe is for, perhaps.
pub fn warn(text: &str, file: &Path, mut mistakes: Vec<Mistake>) {
    if mistakes.is_empty() {
        return;
    }
    for mistake in &mut mistakes {
        mistake.message.insert_str(0, "warning: ");
    }
    print_problems(&Problems::locate(text, mistakes), file);
}

/// Prints problems to standard error. A closed standard error is no reason to stop.
pub fn print_problems(problems: &Problems, file: &Path) {
    let _ = write!(std::io::stderr(), "{}", problems.show(&file.display().to_string()));
}

/// Where the relative paths of a recipe begin.
pub fn folder_of(file: &Path) -> PathBuf {
    file.parent().unwrap_or(Path::new("")).to_owned()
}

/// Reads a text as a recipe and checks what it says to Cortex, too. `further` are more mistakes of a recipe that can be read.
///
/// # Errors
/// What is wrong, with the lines.
pub fn check(text: &str, file: &Path, further: impl FnOnce(&Recipe) -> Vec<Mistake>) -> Result<Recipe, Problems> {
    let recipe = Recipe::read(text)?;
    let mut mistakes: Vec<Mistake> = config::mistakes(&recipe.cortex)
        .into_iter()
        .map(|(key, message)| Mistake {
            path: std::iter::once("cortex".to_owned()).chain(key).collect(),
            message,
            fix: "config/cortex.toml explains every key".to_owned(),
        })
        .collect();
    if let Some((rule, message)) = config::wrong_rule(&recipe.policy) {
        let rule = rule.map(|rule| rule.to_string());
        mistakes.push(Mistake {
            path: std::iter::once("policy".to_owned()).chain(rule).collect(),
            message,
            fix: "docs/approval.md explains rules".to_owned(),
        });
    }
    mistakes.extend(further(&recipe));
    if let Some(world) = &recipe.world {
        let place = folder_of(file).join(world);
        if !place.is_file() {
            mistakes.push(Mistake {
                path: vec!["world".to_owned()],
                message: format!("there is no file {}", place.display()),
                fix: "a relative path begins at the folder of the recipe".to_owned(),
            });
        }
    }
    if mistakes.is_empty() { Ok(recipe) } else { Err(Problems::locate(text, mistakes)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problem(file: &Path) -> String {
        format!("{:#}", text_of(file).unwrap_err())
    }

    #[test]
    fn what_has_no_end_is_not_read_and_what_never_begins_is_not_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str| folder.path().join(name);
        std::os::unix::fs::symlink("/dev/zero", file("zero.toml")).unwrap();
        assert!(problem(&file("zero.toml")).ends_with("zero.toml is no file"));
        rustix::fs::mkfifoat(rustix::fs::CWD, file("pipe.toml"), rustix::fs::Mode::RUSR).unwrap();
        assert!(problem(&file("pipe.toml")).ends_with("pipe.toml is no file"));
        assert!(problem(folder.path()).ends_with("is no file"));
        assert!(problem(&file("none.toml")).contains("none.toml can't be read: No such file"));
    }

    #[test]
    fn a_file_is_read_as_far_as_a_recipe_may_go() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("robot.toml");
        std::fs::write(&file, "#".repeat(MAX_RECIPE_BYTES)).unwrap();
        assert_eq!(text_of(&file).unwrap().len(), MAX_RECIPE_BYTES);
        // Sparse: all of it would not fit into the memory.
        std::fs::File::options().write(true).open(&file).unwrap().set_len(1 << 40).unwrap();
        assert!(problem(&file).contains("is too long for a recipe"));
        std::fs::write(&file, [0xff, 0xfe]).unwrap();
        assert!(problem(&file).contains("can't be read: invalid utf-8"));
    }
}
