//! The recipes that can be demonstrated.

use std::path::{Path, PathBuf};

use anyhow::{Result, bail};

/// What a robot of each recipe is asked to do when the person says nothing else.
const TASKS: [(&str, &str); 3] = [
    ("agent", "go to the kitchen, look around and say \"good day\""),
    ("navigation", "go to the kitchen, then go to the bedroom, then look around"),
    ("patrol", "go to the hallway, look around, go to the kitchen, look around, and go to the living room"),
];

/// The file of a recipe: its name in `recipes/`, or a path.
pub(super) fn find(repository: &Path, name: &str) -> Result<PathBuf> {
    let shipped = repository.join("recipes").join(format!("{name}.toml"));
    for file in [shipped, PathBuf::from(name)] {
        if file.is_file() {
            return Ok(std::path::absolute(file)?);
        }
    }
    let names: Vec<&str> = TASKS.iter().map(|(name, _)| *name).collect();
    bail!("there is no recipe '{name}'; name a file, or one of {}", names.join(", "))
}

/// The task that shows what the robot of a recipe can do.
pub(super) fn sample_task(recipe: &Path) -> &'static str {
    let name = recipe.file_stem().unwrap_or_default();
    TASKS.iter().find(|(known, _)| name == *known).map_or(super::DEFAULT_TASK, |(_, task)| task)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_recipe_of_the_tree_has_a_task_and_others_are_files() {
        let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let mut count = 0;
        for file in std::fs::read_dir(repository.join("recipes")).unwrap() {
            let file = file.unwrap().path();
            let name = file.file_stem().unwrap().to_str().unwrap();
            assert_eq!(find(&repository, name).unwrap().canonicalize().unwrap(), file.canonicalize().unwrap());
            assert_ne!(sample_task(&file), super::super::DEFAULT_TASK, "{name}");
            assert_eq!(find(&repository, file.to_str().unwrap()).unwrap().file_name(), file.file_name());
            count += 1;
        }
        assert_eq!(count, TASKS.len());
        assert!(find(&repository, "no-such-recipe").unwrap_err().to_string().contains("one of agent, navigation"));
    }
}
