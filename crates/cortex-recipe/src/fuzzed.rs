//! Recipes that nobody has thought of: each is read, or every problem is told with a place in it.

use crate::binding::bind;
use crate::{Problems, Recipe, schema};

/// Reads a recipe as `cortex recipe check` and `cortex run` do.
fn read(text: &str) -> Result<String, Problems> {
    let mut recipe = Recipe::read(text)?;
    let warnings = recipe.warnings();
    let shown =
        if warnings.is_empty() { String::new() } else { Problems::locate(text, warnings).show("a.toml").to_string() };
    recipe.follow_simulated_time();
    let owners: Vec<_> = recipe.actions.values().map(|action| recipe.component_of(action)).collect();
    let bound: Vec<_> = recipe.actions.values().map(|action| bind(action, &serde_json::Map::new())).collect();
    let topics = recipe.topic_uses().len() + recipe.regular().count() + recipe.outside("/robot1").count();
    Ok(format!("{shown} {:?} {owners:?} {bound:?} {topics}", recipe.remarks()))
}

#[test]
fn every_mutant_of_a_recipe_is_read_or_told_what_is_wrong_with_it() {
    assert!(schema().is_object());
    cortex_fuzz::fuzz(&["../../recipes", "fuzz"], |input| {
        let text = String::from_utf8_lossy(input);
        match read(&text) {
            Ok(read) => read,
            Err(problems) => {
                for place in problems.iter().filter_map(|problem| problem.place.as_ref()) {
                    let line = text.lines().nth(place.line - 1);
                    assert!(line.is_some() || place.text.is_empty(), "{place:?} is not in the text");
                    assert!(place.column >= 1 && place.width >= 1, "{place:?}");
                }
                problems.show("a.toml").to_string().lines().next().unwrap_or_default().to_owned()
            }
        }
    });
}
