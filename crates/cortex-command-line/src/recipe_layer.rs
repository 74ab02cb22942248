//! What a recipe says to Cortex, for commands that look at what the robot keeps.

use std::path::Path;

use cortex_config::{self as config, Layers};
use cortex_recipe_file::{check, print_problems, text_of};

/// The layers of a command: the configuration, and what the recipe says over it. None: the recipe has mistakes, which were
/// told.
pub(crate) fn layers(configuration: Option<&Path>, recipe: Option<&Path>) -> anyhow::Result<Option<Layers>> {
    let mut layers = Layers { file: config::file(configuration), ..Layers::default() };
    if let Some(file) = recipe {
        match check(&text_of(file)?, file, |_| Vec::new()) {
            Ok(recipe) => layers.recipe = recipe.cortex,
            Err(problems) => {
                print_problems(&problems, file);
                return Ok(None);
            }
        }
    }
    Ok(Some(layers))
}
