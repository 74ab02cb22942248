//! The recipes that can be demonstrated.

use std::path::{Path, PathBuf};

use anyhow::{Result, bail};

/// What a robot of each recipe is asked to do, one after the other, when the person says nothing else.
const TASKS: [(&str, &[&str]); 5] = [
    ("agent", &["go to the bedroom and look around. Is there a cat? Say the answer, then greet everyone"]),
    ("hotel", &["go to the kitchen and look around, then welcome Ada"]),
    ("memory", &["go to the kitchen", "go to the office", "where did you last see the red cup?"]),
    ("navigation", &["go to the kitchen, look around, then say \"here is the kitchen\", and go to the living room"]),
    // On its round the battery gets low, which is an event: the robot goes to its dock before it takes the next task.
    (
        "patrol",
        &[
            "go to the hallway, look around, go to the kitchen and look around",
            "where are you?",
            "how full is the battery?",
        ],
    ),
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

/// The tasks that show what the robot of a recipe can do.
pub(super) fn sample_tasks(recipe: &Path) -> &'static [&'static str] {
    let name = recipe.file_stem().unwrap_or_default();
    TASKS.iter().find(|(known, _)| name == *known).map_or(super::DEFAULT_TASKS, |(_, tasks)| tasks)
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
            assert_ne!(sample_tasks(&file), super::super::DEFAULT_TASKS, "{name}");
            assert!(!sample_tasks(&file).is_empty(), "{name}");
            assert_eq!(find(&repository, file.to_str().unwrap()).unwrap().file_name(), file.file_name());
            count += 1;
        }
        assert_eq!(count, TASKS.len());
        assert!(
            find(&repository, "no-such-recipe")
                .unwrap_err()
                .to_string()
                .contains("one of agent, hotel, memory, navigation")
        );
    }
}
