//! A recipe as a file: read and checked, with what it says to Cortex.

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use cortex_recipe::{Mistake, Problems, Recipe};

use crate::config;

/// A recipe that is right, and where it is.
#[derive(Debug, Clone)]
pub(crate) struct RobotRecipe {
    pub(crate) recipe: Recipe,
    /// Where its relative paths begin.
    pub(crate) folder: PathBuf,
}

/// Reads a recipe. None: it is wrong, and what is wrong was printed.
pub(crate) fn read(file: &Path) -> anyhow::Result<Option<RobotRecipe>> {
    let text = std::fs::read_to_string(file).with_context(|| format!("{} can't be read", file.display()))?;
    match check(&text, file) {
        Ok(recipe) => {
            let folder = file.parent().unwrap_or(Path::new("")).to_owned();
            Ok(Some(RobotRecipe { recipe, folder }))
        }
        Err(problems) => {
            eprint!("{}", problems.show(&file.display().to_string()));
            Ok(None)
        }
    }
}

/// Reads a text as a recipe and checks what it says to Cortex, too.
pub(crate) fn check(text: &str, file: &Path) -> Result<Recipe, Problems> {
    let recipe = Recipe::read(text)?;
    let mut mistakes: Vec<Mistake> = config::mistakes(&recipe.cortex)
        .into_iter()
        .map(|(key, message)| Mistake {
            path: std::iter::once("cortex".to_owned()).chain(key).collect(),
            message,
            mend: "config/cortex.toml explains every key".to_owned(),
        })
        .collect();
    if let Some(world) = &recipe.world {
        let place = file.parent().unwrap_or(Path::new("")).join(world);
        if !place.is_file() {
            mistakes.push(Mistake {
                path: vec!["world".to_owned()],
                message: format!("there is no file {}", place.display()),
                mend: "a relative path begins at the folder of the recipe".to_owned(),
            });
        }
    }
    if mistakes.is_empty() { Ok(recipe) } else { Err(Problems::locate(text, mistakes)) }
}
