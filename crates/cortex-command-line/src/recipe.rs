//! `cortex recipe`: checks recipes, and prints what they may say. Needs neither ROS nor a running Cortex.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use cortex_config as config;
use cortex_protocol::{CancelMode, Dispatch, EffectSource, ToolPhase, ToolSpec};
use cortex_recipe::{Action, ActionName, Mistake, Problems, Recipe};
use cortex_recipe_file::{MissingPrograms, check, folder_of, text_of, warn};

use crate::policy_report;

/// Prints the JSON Schema of recipes.
pub fn schema() -> anyhow::Result<ExitCode> {
    println!("{}", serde_json::to_string_pretty(&cortex_recipe::schema())?);
    Ok(ExitCode::SUCCESS)
}

/// Checks recipes as far as that needs no ROS: not against the types of messages.
pub fn check_all(files: &[PathBuf]) -> anyhow::Result<ExitCode> {
    let mut all_right = true;
    for file in files {
        let text = text_of(file)?;
        all_right &= tell(&text, file, Extent::All, check(&text, file, |_| Vec::new()));
    }
    Ok(if all_right { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// What of a recipe is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extent {
    /// Also warnings of what only the robot can tell.
    All,
    /// Not these: the robot was asked.
    WithoutWarnings,
}

/// Prints what was found in a recipe, right or wrong. True if it is right.
pub fn tell(text: &str, file: &Path, extent: Extent, checked: Result<Recipe, Problems>) -> bool {
    match checked {
        Ok(recipe) => {
            // The robot may be another machine.
            let missing = MissingPrograms::of(&recipe, &folder_of(file));
            warn(text, file, [missing.of_components, missing.of_actions].concat());
            if extent == Extent::All {
                warn(text, file, recipe.warnings());
            }
            let number = |count: usize, word: &str| format!("{count} {word}{}", if count == 1 { "" } else { "s" });
            let components = number(recipe.components.len(), "component");
            let actions = number(recipe.actions.len(), "action");
            let events = number(recipe.events.len(), "event");
            println!("{}: right; {components}, {actions}, {events}", file.display());
            for line in policy(&recipe, text) {
                println!("  policy: {line}");
            }
            for remark in recipe.remarks() {
                println!("  note: {remark}");
            }
            true
        }
        Err(problems) => {
            eprint!("{}", problems.show(&file.display().to_string()));
            false
        }
    }
}

/// What the recipe alone tells of what would ask a person and what would be denied: what happens to what nobody has declared,
/// each rule, and each action that models are offered and that is not simply allowed.
fn policy(recipe: &Recipe, text: &str) -> Vec<String> {
    // It was checked.
    let Some(policy) = config::policy_of(recipe) else { return Vec::new() };
    let rules = policy_report::rules(&recipe.policy).into_iter().enumerate().map(|(index, rule)| {
        let mistake =
            Mistake { path: vec!["policy".to_owned(), index.to_string()], message: String::new(), fix: String::new() };
        let place = Problems::locate(text, vec![mistake]).iter().find_map(|problem| problem.place.clone());
        let line = place.map(|place| format!(" (line {})", place.line)).unwrap_or_default();
        format!("rule {}{line} {rule}", index + 1)
    });
    let offered: Vec<ToolSpec> = recipe.actions.iter().filter_map(|(name, action)| offered(name, action)).collect();
    let remarks = policy_report::remarks(&policy, &offered, &BTreeMap::new());
    let remarks = remarks.into_iter().map(|remark| format!("the action {} -> {}", remark.text, remark.change));
    std::iter::once(policy_report::undeclared(&policy).to_owned()).chain(rules).chain(remarks).collect()
}

/// An action as far as policy looks at it before there is a robot, if models are offered it.
fn offered(name: &ActionName, action: &Action) -> Option<ToolSpec> {
    let offer = action.tool.as_ref()?;
    Some(
        ToolSpec::new(name.as_str().into(), offer.description.clone())
            .with_parameters(serde_json::Value::Null)
            .with_phase(ToolPhase::Execution)
            .with_effect(offer.effect)
            .with_effect_source(EffectSource::Declared)
            .with_resources(offer.resources.clone())
            .with_timeout(action.timeout_s.duration())
            .with_dispatch(Dispatch::Wait)
            .with_cancel(CancelMode::Halt)
            .with_component(action.component.clone()),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> String {
        match check(text, Path::new("folder/robot.toml"), |_| Vec::new()) {
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
    fn a_wrong_rule_is_told_where_it_stands() {
        let rule = "[[policy]]\nthen = \"deny\"\ntools = [\"base.*\"]\n";
        let shown = shown(&format!("recipe = 1\n{rule}[[policy]]\nthen = \"ask\"\nhours = \"night\"\n"));
        assert!(shown.starts_with("robot.toml:5:"), "{shown}");
        assert!(shown.contains("hours = \"night\" is no span of the day. Fix: write it as"), "{shown}");
        let shown = super::tests::shown("recipe = 1\n[[policy]]\nthen = \"deny\"\ntool = [\"base.*\"]\n");
        assert!(shown.starts_with("robot.toml:4:1: unknown field `tool`"), "{shown}");
        let shown = super::tests::shown(&format!(
            "recipe = 1\n[cortex]\n{}",
            rule.replace("[[policy]]", "[[cortex.policy.rules]]")
        ));
        assert!(shown.contains("the rules of a recipe stand in [[policy]]"), "{shown}");
    }

    #[test]
    fn what_asks_and_what_is_denied_is_told_as_far_as_the_recipe_tells_it() {
        let text = "recipe = 1\n[cortex.policy]\nundeclared = \"deny\"\n\n[[policy]]\nthen = \"ask\"\ntools = [\"vent\", \"base.*\"]\n\
                    hours = \"22:00-06:00\"\nbecause = \"It is loud.\"\n\
                    [actions.vent]\nservice = { name = \"/tank/vent\", type = \"std_srvs/srv/Trigger\" }\n\
                    tool = { description = \"Vents the tank.\" }\n";
        let recipe = check(text, Path::new("robot.toml"), |_| Vec::new())
            .unwrap_or_else(|problems| panic!("{}", problems.show("robot.toml")));
        assert_eq!(
            policy(&recipe, text),
            [
                "what nobody has declared is denied, and so are parameters (policy.undeclared = \"deny\")",
                "rule 1 (line 5) asks about vent, base.* at 22:00-06:00: It is loud.",
                "the action vent allowed; asks when the time is 22:00-06:00: It is loud. -> the rules that name it: \
             [[policy.rules]], or [[policy]] in the recipe",
            ]
        );
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
            assert!(check_all(std::slice::from_ref(&file)).unwrap() == ExitCode::SUCCESS, "{}", file.display());
            count += 1;
        }
        assert_eq!(count, 5);
    }
}
