//! The recipe of the robot that is brought up here.

use std::path::{Path, PathBuf};

use cortex_recipe::{Problems, Recipe};
use cortex_recipe_file::{MissingPrograms, folder_of, print_problems, text_of, warn};

use super::recipe_types;

/// A recipe that is right, and where it is.
#[derive(Debug, Clone)]
pub struct RobotRecipe {
    /// What it says.
    pub recipe: Recipe,
    /// Where its relative paths begin.
    pub folder: PathBuf,
    /// As it was written.
    pub text: String,
}

/// Reads the recipe of a robot that is brought up here. None: it is wrong, or this machine has not the programs of its
/// components; what is wrong was printed.
pub fn read(file: &Path) -> anyhow::Result<Option<RobotRecipe>> {
    let text = text_of(file)?;
    match check(&text, file) {
        Ok(recipe) => {
            let folder = folder_of(file);
            let missing = MissingPrograms::of(&recipe, &folder);
            // Without what an action runs, the robot is whole.
            warn(&text, file, missing.of_actions);
            if missing.of_components.is_empty() {
                return Ok(Some(RobotRecipe { recipe, folder, text }));
            }
            print_problems(&Problems::locate(&text, missing.of_components), file);
            Ok(None)
        }
        Err(problems) => {
            print_problems(&problems, file);
            Ok(None)
        }
    }
}

/// Reads a text as a recipe and checks all of it: what it says to Cortex, too, and of messages whose types are installed here.
///
/// # Errors
/// What is wrong, with the lines.
pub fn check(text: &str, file: &Path) -> Result<Recipe, Problems> {
    cortex_recipe_file::check(text, file, recipe_types::mistakes)
}
