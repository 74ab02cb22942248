//! The recipes in the tree are right.

use cortex_recipe::Recipe;

#[test]
fn the_recipes_in_the_tree_are_right() {
    for (name, text) in [
        ("agent.toml", include_str!("../../../recipes/agent.toml")),
        ("navigation.toml", include_str!("../../../recipes/navigation.toml")),
        ("patrol.toml", include_str!("../../../recipes/patrol.toml")),
    ] {
        if let Err(problems) = Recipe::read(text) {
            panic!("{}", problems.show(name));
        }
    }
}
