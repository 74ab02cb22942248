//! `cortex recipe`: checks recipes, and prints what they may say. Needs neither ROS nor a running Cortex.

use std::io::Write as _;
use std::path::Path;
use std::process::ExitCode;

use crate::arguments::RecipeCommand;
use crate::supervision::{self, MissingPrograms};

pub(crate) fn recipe(command: RecipeCommand) -> anyhow::Result<ExitCode> {
    match command {
        RecipeCommand::Check { files } => {
            let mut all_right = true;
            for file in files {
                all_right &= check(&file)?;
            }
            Ok(if all_right { ExitCode::SUCCESS } else { ExitCode::FAILURE })
        }
        RecipeCommand::Schema => {
            print_line(&serde_json::to_string_pretty(&cortex_recipe::schema())?);
            Ok(ExitCode::SUCCESS)
        }
    }
}

fn check(file: &Path) -> anyhow::Result<bool> {
    let text = supervision::text_of(file)?;
    match supervision::check(&text, file) {
        Ok(recipe) => {
            // The robot may be another machine.
            let missing = MissingPrograms::of(&recipe, &supervision::folder_of(file));
            supervision::warn(&text, file, [missing.of_components, missing.of_actions].concat());
            let number = |count: usize, word: &str| format!("{count} {word}{}", if count == 1 { "" } else { "s" });
            let components = number(recipe.components.len(), "component");
            let actions = number(recipe.actions.len(), "action");
            let events = number(recipe.events.len(), "event");
            print_line(&format!("{}: right; {components}, {actions}, {events}", file.display()));
            for remark in recipe.remarks() {
                print_line(&format!("  note: {remark}"));
            }
            Ok(true)
        }
        Err(problems) => {
            eprint!("{}", problems.show(&file.display().to_string()));
            Ok(false)
        }
    }
}

/// A reader that has gone (`cortex recipe schema | head`) is nobody's loss.
fn print_line(text: &str) {
    let _ = writeln!(std::io::stdout(), "{text}");
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> String {
        match supervision::check(text, Path::new("folder/robot.toml")) {
            Ok(_) => panic!("the recipe is right"),
            Err(problems) => problems.show("robot.toml").to_string(),
        }
    }

    #[test]
    fn what_a_recipe_says_to_cortex_is_checked_where_it_stands() {
        for (lines, expected) in [
            ("modle = \"reflex\"", "robot.toml:3:9: there is no key 'modle' here; the keys are robot, identity"),
            ("[cortex.mission]\nmax_replans = \"many\"", "robot.toml:4:15"),
            ("[cortex.mission]\nmax_replan = 1", "robot.toml:4:14"),
            ("[cortex.calls]\nhalt_timeout_s = -1.0", "robot.toml:4:18: calls.halt_timeout_s is -1"),
            ("model = \"gpt\"", "robot.toml:3:9"),
        ] {
            let shown = shown(&format!("recipe = 1\n[cortex]\n{lines}\n"));
            assert!(shown.starts_with(expected), "{lines}: {shown}");
            assert!(shown.contains("config/cortex.toml explains"), "{shown}");
        }
    }

    #[test]
    fn the_world_is_looked_for_beside_the_recipe() {
        let shown = shown("recipe = 1\nworld = \"flat.toml\"\n");
        assert!(shown.starts_with("robot.toml:2:9: there is no file folder/flat.toml"), "{shown}");
    }

    #[test]
    fn the_recipes_in_the_tree_are_right_also_in_what_they_say_to_cortex() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../recipes");
        let mut count = 0;
        for file in std::fs::read_dir(folder).unwrap() {
            let file = file.unwrap().path();
            assert!(check(&file).unwrap(), "{}", file.display());
            count += 1;
        }
        assert_eq!(count, 3);
    }
}
