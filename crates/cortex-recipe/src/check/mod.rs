//! What a recipe means: whether its parts fit together.

use std::collections::BTreeSet;

use cortex_protocol::ComponentName;
use cortex_protocol::condition::Source;

use crate::recipe::RECIPE_VERSION;
use crate::{ActionName, BUILT_IN_ACTIONS, Mistake, Recipe};

mod actions;
mod components;
mod dependencies;
mod events;
mod ladders;
mod offers;
mod scripts;
mod tools;
pub(crate) mod values;

/// Something that does not fit.
#[derive(Debug)]
pub(crate) struct Finding {
    /// Where it stands.
    pub(crate) path: Vec<Key>,
    pub(crate) message: String,
    pub(crate) fix: String,
}

/// One part of a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Key {
    Name(String),
    Index(usize),
}

impl From<&str> for Key {
    fn from(name: &str) -> Self {
        Self::Name(name.to_owned())
    }
}

impl From<usize> for Key {
    fn from(index: usize) -> Self {
        Self::Index(index)
    }
}

impl Finding {
    fn new<const N: usize>(path: [Key; N], message: impl Into<String>, fix: impl Into<String>) -> Self {
        Self { path: path.into(), message: message.into(), fix: fix.into() }
    }
}

/// Everything that does not fit.
pub(crate) fn check(recipe: &Recipe) -> Vec<Finding> {
    let mut findings = Vec::new();
    if recipe.recipe != RECIPE_VERSION {
        findings.push(Finding::new(
            ["recipe".into()],
            format!("this is format {}; this Cortex reads format {RECIPE_VERSION}", recipe.recipe),
            format!("write recipe = {RECIPE_VERSION}"),
        ));
    }
    components::check(recipe, &mut findings);
    dependencies::check(recipe, &mut findings);
    ladders::check(recipe, &mut findings);
    actions::check(recipe, &mut findings);
    offers::check(recipe, &mut findings);
    events::check(recipe, &mut findings);
    values::check(recipe, &mut findings);
    findings
}

/// How to fix the name of a component that there is not.
fn meant_component(recipe: &Recipe, wrong: &ComponentName) -> String {
    match nearest(wrong.as_str(), recipe.components.keys().map(ComponentName::as_str)) {
        Some(name) => format!("did you mean \"{name}\"?"),
        None => format!("add [components.\"{wrong}\"], with start = \"external\" if something else starts it"),
    }
}

/// How to fix the name of an action that there is not.
fn meant_action(recipe: &Recipe, wrong: &ActionName) -> String {
    let built_in = BUILT_IN_ACTIONS.map(|action| action.name());
    let names = recipe.actions.keys().map(ActionName::as_str).chain(built_in);
    match nearest(wrong.as_str(), names) {
        Some(name) => format!("did you mean \"{name}\"?"),
        None => format!("add [actions.{wrong}], or use one of {}", built_in.join(", ")),
    }
}

/// The name that a slip of the hand would have turned into the wrong one.
pub(crate) fn nearest<'a>(wrong: &str, names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    /// Below, two names have little to do with each other.
    const ALIKE: f64 = 0.6;
    let mut best: Option<(f64, &str)> = None;
    for name in names {
        let alike = strsim::normalized_damerau_levenshtein(wrong, name);
        if alike >= ALIKE && best.is_none_or(|(before, _)| alike > before) {
            best = Some((alike, name));
        }
    }
    best.map(|(_, name)| name)
}

/// Whether this can be the full name of a node, without the leading slash.
fn is_node_name(name: &str) -> bool {
    name.split('/').all(|part| {
        part.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
            && part.chars().all(|next| next.is_ascii_alphanumeric() || next == '_')
    })
}

/// What may be right, and is more probably a slip: only the robot can tell.
pub(crate) fn warnings(recipe: &Recipe) -> Vec<Mistake> {
    let mut found: Vec<Mistake> = Vec::new();
    for used in recipe.topic_uses() {
        if used.check.is_none() || recipe.says_who_publishes(used.topic) {
            continue;
        }
        let topic = used.topic;
        let said = recipe.components.values().flat_map(|component| component.publishes.keys().map(String::as_str));
        let watched = recipe.topic_uses().into_iter().filter(|used| used.check.is_none()).map(|used| used.topic);
        let fix = match nearest(topic, said.chain(watched)) {
            Some(meant) => format!("did you mean \"{meant}\"?"),
            None => format!(
                "add publishes = {{ \"{topic}\" = \"PACKAGE/msg/TYPE\" }} to the component that does, or check with \
                 --live against the robot"
            ),
        };
        found.push(Mistake {
            path: used.path,
            message: format!("nothing in the recipe says who publishes '{topic}'"),
            fix,
        });
    }
    for (path, check) in recipe.event_checks() {
        let node = match &check.source {
            Source::Component { component } => component.as_str(),
            Source::Parameter { parameter } => {
                parameter.rsplit_once('/').map_or("", |(node, _)| node.trim_start_matches('/'))
            }
            Source::Topic { .. } => continue,
        };
        let node = ComponentName::new(node);
        if node.as_str() != "cortex" && !recipe.components.contains_key(&node) {
            found.push(Mistake {
                path,
                message: format!("'{node}' is no component of the recipe"),
                fix: meant_component(recipe, &node),
            });
        }
    }
    // What `when` and `until` both look at is one slip.
    let mut told = BTreeSet::new();
    found.retain(|mistake| told.insert((mistake.path.get(..2).map(<[String]>::to_vec), mistake.message.clone())));
    found
}

/// Whether this can be the full name of a topic or service.
fn is_full_name(name: &str) -> bool {
    name.strip_prefix('/').is_some_and(is_node_name)
}
