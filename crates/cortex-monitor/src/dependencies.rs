//! Who depends on whom.

use std::collections::{BTreeMap, BTreeSet};

use cortex_protocol::ComponentName;
use cortex_recipe::Recipe;
use petgraph::algo::toposort;
use petgraph::graph::DiGraph;
use serde::{Deserialize, Serialize};

/// The dependencies of a robot, without circles.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Dependencies {
    /// Each after what it depends on.
    order: Vec<ComponentName>,
    needs: BTreeMap<ComponentName, Vec<ComponentName>>,
    needed_by: BTreeMap<ComponentName, BTreeSet<ComponentName>>,
}

impl Dependencies {
    /// Those of a recipe. What is not in the recipe is left out; in a circle, which a checked recipe has not, the order
    /// is that of the names.
    #[must_use]
    pub fn of(recipe: &Recipe) -> Self {
        let mut graph = DiGraph::<&ComponentName, ()>::new();
        // toposort walks back from the end, so the last name comes first here.
        let nodes: BTreeMap<_, _> = recipe.components.keys().rev().map(|name| (name, graph.add_node(name))).collect();
        let mut needs: BTreeMap<ComponentName, Vec<ComponentName>> = BTreeMap::new();
        let mut needed_by: BTreeMap<ComponentName, BTreeSet<ComponentName>> = BTreeMap::new();
        for (name, component) in &recipe.components {
            let own = needs.entry(name.clone()).or_default();
            for other in &component.depends_on {
                if let (Some(from), Some(to)) = (nodes.get(other), nodes.get(name)) {
                    graph.update_edge(*from, *to, ());
                    own.push(other.clone());
                    needed_by.entry(other.clone()).or_default().insert(name.clone());
                }
            }
        }
        let order = match toposort(&graph, None) {
            Ok(order) => order.into_iter().filter_map(|node| graph.node_weight(node).copied().cloned()).collect(),
            Err(_) => recipe.components.keys().cloned().collect(),
        };
        Self { order, needs, needed_by }
    }

    /// Every component, each after what it depends on.
    #[must_use]
    pub fn order(&self) -> &[ComponentName] {
        &self.order
    }

    /// What it depends on, itself not included.
    #[must_use]
    pub fn needs(&self, name: &ComponentName) -> &[ComponentName] {
        self.needs.get(name).map(Vec::as_slice).unwrap_or_default()
    }

    /// What depends on it directly.
    pub fn needed_by(&self, name: &ComponentName) -> impl Iterator<Item = &ComponentName> {
        self.needed_by.get(name).into_iter().flatten()
    }

    /// For each component that does not work, the one that is to blame: itself, or one that it depends on, however
    /// indirectly. `is_lost` says which ones fail themselves.
    #[must_use]
    pub fn blame(&self, is_lost: impl Fn(&ComponentName) -> bool) -> BTreeMap<ComponentName, ComponentName> {
        let mut blame: BTreeMap<ComponentName, ComponentName> = BTreeMap::new();
        for name in &self.order {
            let culprit = if is_lost(name) {
                Some(name.clone())
            } else {
                self.needs(name).iter().find_map(|other| blame.get(other)).cloned()
            };
            if let Some(culprit) = culprit {
                blame.insert(name.clone(), culprit);
            }
        }
        blame
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn robot() -> Dependencies {
        let text = "recipe = 1\n\
            [components.arm]\nstart = \"external\"\ndepends_on = [\"driver\"]\n\
            [components.camera]\nstart = \"external\"\n\
            [components.driver]\nstart = \"external\"\n\
            [components.grasp]\nstart = \"external\"\ndepends_on = [\"camera\", \"arm\"]\n";
        Dependencies::of(&Recipe::read(text).unwrap())
    }

    #[test]
    fn each_comes_after_what_it_depends_on() {
        let order: Vec<&str> =
            robot().order.iter().map(ComponentName::as_str).map(str::to_owned).map(|name| &*name.leak()).collect();
        let place = |name: &str| order.iter().position(|other| *other == name).unwrap();
        assert!(place("driver") < place("arm") && place("arm") < place("grasp") && place("camera") < place("grasp"));
    }

    #[test]
    fn only_what_depends_on_the_lost_one_is_to_pause() {
        let blame = robot().blame(|name| name.as_str() == "driver");
        let pairs: Vec<(&str, &str)> = blame.iter().map(|(name, culprit)| (name.as_str(), culprit.as_str())).collect();
        assert_eq!(pairs, [("arm", "driver"), ("driver", "driver"), ("grasp", "driver")]);
        assert!(robot().blame(|_| false).is_empty());
    }
}
