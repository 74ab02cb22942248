//! The file as a whole.

use std::collections::BTreeMap;
use std::path::PathBuf;

use cortex_protocol::{ComponentName, PolicyRule};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::location::Text;
use crate::problem::{Mistake, Problems};
use crate::{Action, ActionKind, ActionName, ComponentRecipe, Event, EventName, Start, check};

/// The version of the format that this crate reads.
pub const RECIPE_VERSION: u32 = 1;

/// Longest text that is read, in bytes.
pub const MAX_RECIPE_BYTES: usize = 1 << 20;

/// The parameter of every node that says whose time counts.
const USE_SIM_TIME: &str = "use_sim_time";

/// What a whole robot consists of.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Recipe {
    /// The version of the format: 1.
    pub recipe: u32,
    /// What the recipe is for, in a sentence for people.
    #[serde(default)]
    pub summary: String,
    /// The file that describes the surroundings, for the components that want it: `{world}` in their arguments. A
    /// relative path begins at the folder of the recipe.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub world: Option<PathBuf>,
    /// The configuration of Cortex: the robot's name and identity, the model, the tool policy. The keys are those of
    /// `config/cortex.toml`.
    #[serde(default)]
    pub cortex: Map<String, Value>,
    /// Which calls ask a person first, and which are never made. They count beside the rules of the configuration: of all
    /// that match a call, the strictest counts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub policy: Vec<PolicyRule>,
    /// The components by their names: the full name of the node without the leading slash.
    #[serde(default)]
    pub components: BTreeMap<ComponentName, ComponentRecipe>,
    /// What can be done beyond what is built in, for fallbacks and as tools.
    #[serde(default)]
    pub actions: BTreeMap<ActionName, Action>,
    /// What the robot does by itself when something happens.
    #[serde(default)]
    pub events: BTreeMap<EventName, Event>,
}

impl Recipe {
    /// Reads and checks a recipe.
    ///
    /// # Errors
    /// Every problem that was found, in the order of the lines. A text that is no TOML, or has another form, is not
    /// looked at further, so fixing it may bring up others.
    pub fn read(text: &str) -> Result<Self, Problems> {
        let text = Text::new(text);
        if text.bytes() > MAX_RECIPE_BYTES {
            return Err(Problems::whole(format!(
                "the file has {} bytes; at most {MAX_RECIPE_BYTES} are read",
                text.bytes()
            )));
        }
        let tree = text.tree()?;
        let recipe: Self = text.form()?;
        let findings = check::check(&recipe);
        if findings.is_empty() { Ok(recipe) } else { Err(text.locate(&tree, findings)) }
    }

    /// What is probably a slip, and only the robot can tell: a condition on a topic of which nothing says who publishes
    /// it, for example.
    #[must_use]
    pub fn warnings(&self) -> Vec<Mistake> {
        check::warnings(self)
    }

    /// The components that are brought up with the robot: all but those that only stand in for others.
    pub fn regular(&self) -> impl Iterator<Item = (&ComponentName, &ComponentRecipe)> {
        self.components.iter().filter(|(name, _)| !self.stands_in(name))
    }

    /// Whether one of its actions is a command.
    #[must_use]
    pub fn has_commands(&self) -> bool {
        self.actions.values().any(|action| matches!(action.kind, ActionKind::Command(_)))
    }

    /// Whether a component only stands in for others.
    #[must_use]
    pub fn stands_in(&self, name: &ComponentName) -> bool {
        self.components.values().any(|component| component.standby.as_ref() == Some(name))
    }

    /// The components whose nodes Cortex starts and that are not below this namespace (`/robot1`), in order: a namespace that
    /// Cortex was given does not reach them.
    pub fn outside<'recipe>(&'recipe self, namespace: &str) -> impl Iterator<Item = &'recipe ComponentName> {
        let below = format!("{}/", namespace.trim_matches('/'));
        let started = self.components.iter().filter(|(_, component)| component.start.process().is_some());
        let names = started.map(|(name, _)| name);
        names.filter(move |name| below != "/" && !name.as_str().starts_with(&below))
    }

    /// Has the nodes that Cortex starts take their time from `/clock`, unless the recipe itself says whether one does.
    pub fn follow_simulated_time(&mut self) {
        for component in self.components.values_mut() {
            let Start::Process(process) = &component.start else { continue };
            let is_said =
                process.ros_arguments.iter().any(|argument| argument.starts_with(&format!("{USE_SIM_TIME}:=")));
            if !is_said {
                component.parameters.entry(USE_SIM_TIME.to_owned()).or_insert(Value::Bool(true));
            }
        }
    }

    /// Whose an action is: the component that it names, or the one below whose node its service or topic is.
    #[must_use]
    pub fn component_of(&self, action: &Action) -> Option<ComponentName> {
        let named = match &action.kind {
            ActionKind::Method(method) => Some(&method.component),
            ActionKind::Parameters(parameters) => Some(&parameters.component),
            ActionKind::Service(service) => action.component.as_ref().or_else(|| self.above(&service.name)),
            ActionKind::Topic(topic) => action.component.as_ref().or_else(|| self.above(&topic.name)),
            ActionKind::Command(_) => action.component.as_ref(),
        };
        named.filter(|component| !component.as_str().is_empty()).cloned()
    }

    /// The component whose node this name is below; of several, the one of the longest name.
    fn above(&self, name: &str) -> Option<&ComponentName> {
        let name = name.trim_start_matches('/');
        let is_below = |component: &&ComponentName| {
            name.strip_prefix(component.as_str()).is_some_and(|rest| rest.starts_with('/'))
        };
        self.components.keys().filter(is_below).max_by_key(|component| component.as_str().len())
    }
}

/// The JSON Schema of a recipe, for editors.
#[must_use]
pub fn schema() -> Value {
    schemars::schema_for!(Recipe).to_value()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn recipe(components: &str) -> Recipe {
        Recipe::read(&format!("recipe = 1\n{components}"))
            .unwrap_or_else(|problems| panic!("{}", problems.show("recipe")))
    }

    #[test]
    fn what_is_started_in_simulated_time_follows_it_unless_the_recipe_says_otherwise() {
        let mut recipe = recipe(
            "[components.base]\nstart = { program = \"drive\" }\n\
             [components.camera]\nstart = { program = \"see\" }\nparameters = { use_sim_time = false, width = 640 }\n\
             [components.arm]\nstart = { program = \"arm\", ros_arguments = [\"-p\", \"use_sim_time:=false\"] }\n\
             [components.lidar]\nstart = \"external\"\n",
        );
        recipe.follow_simulated_time();
        let of = |name: &str| {
            recipe.components.get(&name.into()).and_then(|component| component.parameters.get("use_sim_time"))
        };
        assert_eq!(of("base"), Some(&Value::Bool(true)));
        assert_eq!(of("camera"), Some(&Value::Bool(false)));
        assert_eq!((of("arm"), of("lidar")), (None, None), "it says so itself; something else starts it");
    }

    #[test]
    fn a_namespace_holds_only_what_is_named_below_it() {
        let recipe = recipe(
            "[components.base]\nstart = { program = \"drive\" }\n\
             [components.\"robot1/camera\"]\nstart = { program = \"see\" }\n\
             [components.\"robot10/lamp\"]\nstart = { program = \"lamp\" }\n\
             [components.lidar]\nstart = \"external\"\n",
        );
        let outside =
            |namespace: &str| recipe.outside(namespace).map(ComponentName::as_str).collect::<Vec<_>>().join(" ");
        assert_eq!(outside("/robot1"), "base robot10/lamp");
        assert_eq!((outside("/"), outside("")), (String::new(), String::new()), "there is no namespace");
    }
}
