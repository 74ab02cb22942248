//! The recipes in the tree are right.

use cortex_recipe::Recipe;

#[test]
fn the_recipes_in_the_tree_are_right() {
    for (name, text) in [
        ("agent.toml", include_str!("../../../recipes/agent.toml")),
        ("hotel.toml", include_str!("../../../recipes/hotel.toml")),
        ("memory.toml", include_str!("../../../recipes/memory.toml")),
        ("navigation.toml", include_str!("../../../recipes/navigation.toml")),
        ("patrol.toml", include_str!("../../../recipes/patrol.toml")),
    ] {
        if let Err(problems) = Recipe::read(text) {
            panic!("{}", problems.show(name));
        }
        assert_eq!(Recipe::read(text).map(|recipe| recipe.warnings()), Ok(vec![]), "{name}");
    }
}

#[test]
fn the_page_that_explains_a_recipe_shows_each_line_of_it() {
    let page = include_str!("../../../docs/example-recipe.md");
    let shown: Vec<&str> = page.split("```toml\n").skip(1).flat_map(|block| block.split("```").next()).collect();
    let lines = |text: &str| -> Vec<String> {
        let told = |line: &&str| !line.is_empty() && !line.starts_with('#');
        text.lines().filter(told).map(str::to_owned).collect()
    };
    assert_eq!(lines(&shown.concat()), lines(include_str!("../../../recipes/hotel.toml")));
}
