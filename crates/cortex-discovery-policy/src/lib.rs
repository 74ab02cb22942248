//! What of the robot may become a tool, under which name, and what it is taken to do. From the configuration.
//!
//! [`PolicySettings`] are the choices of whoever runs the robot, [`Policy`] the same, checked: it answers by full ROS names.
//! It knows no graph: which of a robot's nodes are shown follows in `cortex-ros`.

mod topic_choice;

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use cortex_protocol::condition::Conditions as ToolConditions;
use cortex_protocol::{Effect, EffectSource, ResourceName, ToolSpec};
use cortex_ros_syntax::{Convention, InterfaceName, InvalidName};
use globset::{Glob, GlobBuilder, GlobSet, GlobSetBuilder};
use thiserror::Error;

pub use topic_choice::{TopicChoice, TopicHistorySettings};

/// The choices of whoever runs the robot.
///
/// A pattern is a glob on full ROS names, which begin with a slash: `*` is anything within a part of the name, `**` any
/// parts. The methods of a component have names, too, `/base/go_to`, and so have parameters, `/base/max_speed`.
#[derive(Debug, Clone, PartialEq)]
pub struct PolicySettings {
    /// Only what matches one of these is offered.
    pub allow: Vec<String>,
    /// Names that match one of these patterns are never offered and never called, even if `allow` matches them.
    pub deny: Vec<String>,
    /// Topics that may be published.
    pub publish: Vec<String>,
    /// Services and topics of which nothing goes on once a request is answered or a message is published.
    pub ends_with_answer: Vec<String>,
    /// Other names: from the full ROS name of a service, an action or a topic to what stands in its place in the tool's name.
    pub rename: BTreeMap<String, String>,
    /// What matching services, actions and topics do to the world. Where several match, the strictest counts.
    pub effects: BTreeMap<String, Effect>,
    /// What matching services, actions and topics hold while they are called: of two calls that hold the same, the second
    /// waits. Where several match, all of it.
    pub resources: BTreeMap<String, Vec<ResourceName>>,
    /// What must hold before, while and after matching tools are called, besides what their components ask for. Where
    /// several match, all of it.
    pub conditions: BTreeMap<String, ToolConditions>,
    /// How messages of these types are written, `package/msg/Name`.
    pub conventions: BTreeMap<String, Convention>,
    /// How long a service may take to answer.
    pub service_timeout: Duration,
    /// How long a goal may take to its result.
    pub goal_timeout: Duration,
}

impl Default for PolicySettings {
    fn default() -> Self {
        Self {
            allow: vec!["**".to_owned()],
            deny: Vec::new(),
            publish: Vec::new(),
            ends_with_answer: Vec::new(),
            rename: BTreeMap::new(),
            effects: BTreeMap::new(),
            resources: BTreeMap::new(),
            conditions: BTreeMap::new(),
            conventions: BTreeMap::new(),
            service_timeout: Duration::from_secs(10),
            goal_timeout: Duration::from_secs(3_600),
        }
    }
}

/// A setting that can't be used.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{key}: {problem}")]
pub struct PolicyError {
    /// Which setting.
    pub key: &'static str,
    /// What is wrong, and how to fix it.
    pub problem: String,
}

/// The settings, checked.
#[derive(Debug, Clone)]
pub struct Policy {
    allow: Patterns,
    deny: Patterns,
    /// Nodes of which something by its own name may be allowed, such as a method or a parameter.
    allowed_nodes: Patterns,
    /// Nodes that are denied as a whole.
    denied_nodes: Patterns,
    publish: Patterns,
    ends_with_answer: Patterns,
    effects: Patterns,
    effect_of: Vec<Effect>,
    resources: Patterns,
    resources_of: Vec<Vec<ResourceName>>,
    conditions: Patterns,
    conditions_of: Vec<ToolConditions>,
    rename: BTreeMap<String, String>,
    /// The names that renames gave away.
    taken: BTreeSet<String>,
    /// How messages of these types are written, beside what is usual.
    pub conventions: BTreeMap<InterfaceName, Convention>,
    /// How long a service may take to answer.
    pub service_timeout: Duration,
    /// How long a goal may take to its result.
    pub goal_timeout: Duration,
}

impl Policy {
    /// Checks the settings.
    ///
    /// # Errors
    /// At the first that can't be used.
    pub fn new(settings: &PolicySettings) -> Result<Self, PolicyError> {
        let (effects, effect_of): (Vec<&String>, Vec<Effect>) =
            settings.effects.iter().map(|(pattern, effect)| (pattern, *effect)).unzip();
        let mut taken = BTreeSet::new();
        for (from, to) in &settings.rename {
            check_rename(from, to)?;
            if !taken.insert(to.clone()) {
                let problem = format!("'{to}' is the new name of two things; give each a name of its own");
                return Err(PolicyError { key: "rename", problem });
            }
        }
        if settings.resources.values().flatten().any(|resource| resource.as_str().trim().is_empty()) {
            let problem = "a resource has no name; write [] for nothing".to_owned();
            return Err(PolicyError { key: "resources", problem });
        }
        check_conditions(&settings.conditions)?;
        let mut conventions = BTreeMap::new();
        for (name, convention) in &settings.conventions {
            let name: InterfaceName = name
                .parse()
                .map_err(|problem: InvalidName| PolicyError { key: "conventions", problem: problem.to_string() })?;
            conventions.insert(name, *convention);
        }
        Ok(Self {
            allow: Patterns::new("allow", &settings.allow)?,
            deny: Patterns::new("deny", &settings.deny)?,
            allowed_nodes: Patterns::of("allow", settings.allow.iter().flat_map(|text| with(text, parents(text))))?,
            denied_nodes: Patterns::of("deny", settings.deny.iter().flat_map(|text| with(text, whole_nodes(text))))?,
            publish: Patterns::new("publish", &settings.publish)?,
            ends_with_answer: Patterns::new("ends_with_answer", &settings.ends_with_answer)?,
            effects: Patterns::new("effects", effects)?,
            effect_of,
            resources: Patterns::new("resources", settings.resources.keys())?,
            resources_of: settings.resources.values().cloned().collect(),
            conditions: Patterns::new("conditions", settings.conditions.keys())?,
            conditions_of: settings.conditions.values().cloned().collect(),
            rename: settings.rename.clone(),
            taken,
            conventions,
            service_timeout: settings.service_timeout,
            goal_timeout: settings.goal_timeout,
        })
    }

    /// Why what has this full ROS name is not offered. None if it may be.
    pub fn refusal(&self, name: &str) -> Option<String> {
        self.denial(name).or_else(|| self.allow.first(name).is_none().then(|| NOT_ALLOWED.to_owned()))
    }

    /// Why what has this full ROS name is not even looked at. None where no pattern denies it.
    pub fn denial(&self, name: &str) -> Option<String> {
        self.deny.first(name).map(|pattern| format!("discovery.deny has '{pattern}'"))
    }

    /// Why the node of this full name is denied as a whole: nothing of it is offered, described or named. A pattern does so
    /// that matches its name, `/wifi`, or everything below it, `/wifi/**`.
    pub fn denial_of_node(&self, name: &str) -> Option<String> {
        self.denied_nodes.first(name).map(|pattern| format!("discovery.deny has '{pattern}'"))
    }

    /// Whether something below this node, or the node itself, is named by what is allowed.
    #[must_use]
    pub fn allows_of_node(&self, name: &str) -> bool {
        self.allow.first(name).or_else(|| self.allowed_nodes.first(name)).is_some()
    }

    /// Whether the topic of this name may be published.
    pub fn may_publish(&self, topic: &str) -> bool {
        self.publish.first(topic).is_some()
    }

    /// Whether nothing goes on of what has this name once it is answered or published, as the configuration has it.
    pub fn ends_with_answer(&self, name: &str) -> bool {
        self.ends_with_answer.first(name).is_some()
    }

    /// What the configuration says that it does, and whether it does so by the full name. None where it says nothing.
    pub fn effect(&self, name: &str) -> Option<(Effect, EffectSource)> {
        let matching = self.effects.all(name);
        let strictest = matching.iter().filter_map(|index| self.effect_of.get(*index).copied()).max()?;
        let by_name = matching.iter().any(|index| self.effects.texts.get(*index).is_some_and(|text| text == name));
        Some((strictest, if by_name { EffectSource::Declared } else { EffectSource::Pattern }))
    }

    /// What the configuration says that it holds, in order. None where it says nothing.
    pub fn resources(&self, name: &str) -> Option<Vec<ResourceName>> {
        let matching = self.resources.all(name);
        let all: BTreeSet<&ResourceName> =
            matching.iter().filter_map(|index| self.resources_of.get(*index)).flatten().collect();
        (!matching.is_empty()).then(|| all.into_iter().cloned().collect())
    }

    /// The tool that has this full ROS name, with the conditions that the configuration adds to its own.
    pub fn conditioned(&self, mut spec: ToolSpec, name: &str) -> ToolSpec {
        for more in self.conditions.all(name).into_iter().filter_map(|index| self.conditions_of.get(index)) {
            spec.conditions = spec.conditions.and(more.clone());
        }
        spec
    }

    /// What stands for it in the name of a tool. None when the configuration has given that name to something else: it
    /// must not depend on who is there which of the two a tool means.
    pub fn name_of(&self, name: &str) -> Option<String> {
        if let Some(renamed) = self.rename.get(name) {
            return Some(renamed.clone());
        }
        let short = name.trim_start_matches('/');
        (!self.taken.contains(short)).then(|| short.to_owned())
    }
}

impl Default for Policy {
    /// Everything is offered under its own name; nothing may be published.
    fn default() -> Self {
        let everything = PolicySettings { allow: Vec::new(), ..PolicySettings::default() };
        Self {
            allow: Patterns::everything(),
            deny: Patterns::default(),
            allowed_nodes: Patterns::everything(),
            denied_nodes: Patterns::default(),
            publish: Patterns::default(),
            ends_with_answer: Patterns::default(),
            effects: Patterns::default(),
            effect_of: Vec::new(),
            resources: Patterns::default(),
            resources_of: Vec::new(),
            conditions: Patterns::default(),
            conditions_of: Vec::new(),
            rename: BTreeMap::new(),
            taken: BTreeSet::new(),
            conventions: BTreeMap::new(),
            service_timeout: everything.service_timeout,
            goal_timeout: everything.goal_timeout,
        }
    }
}

/// Patterns, with their texts.
#[derive(Debug, Clone, Default)]
pub(crate) struct Patterns {
    texts: Vec<String>,
    set: GlobSet,
    matches_all: bool,
}

/// The pattern that every name matches.
const EVERYTHING: &str = "**";
/// Why something is left out that no pattern names.
pub const NOT_ALLOWED: &str = "nothing in discovery.allow matches it";

/// Each of these globs, with the pattern that the person wrote.
fn with(text: &str, globs: Vec<String>) -> impl Iterator<Item = (&str, String)> {
    globs.into_iter().map(move |glob| (text, glob))
}

/// The globs for the nodes that a pattern denies as a whole: `/wifi/**` is everything below `/wifi`, so it is the node, too.
fn whole_nodes(text: &str) -> Vec<String> {
    let node = text.strip_suffix("/**").filter(|node| !node.is_empty());
    std::iter::once(text).chain(node).map(str::to_owned).collect()
}

/// The globs for the nodes under whose name a pattern may name something: `/arm/left/*` does so of `/arm` and `/arm/left`.
fn parents(text: &str) -> Vec<String> {
    let ends = text.match_indices('/').map(|(end, _)| end).filter(|end| *end > 0);
    let parents = ends.filter_map(|end| text.get(..end));
    // One that ends in `**` would be any node. A part in braces that a slash cuts is no glob; such a pattern names no node.
    parents.filter(|parent| !parent.ends_with(EVERYTHING) && glob(parent).is_ok()).map(str::to_owned).collect()
}

/// The glob of a text: `*` stays within a part of a name.
fn glob(text: &str) -> Result<Glob, globset::Error> {
    GlobBuilder::new(text).literal_separator(true).build()
}

impl Patterns {
    fn everything() -> Self {
        Self { texts: vec![EVERYTHING.to_owned()], set: GlobSet::empty(), matches_all: true }
    }

    /// Globs on full ROS names, which stand under this key.
    pub(crate) fn new<'a>(key: &'static str, texts: impl IntoIterator<Item = &'a String>) -> Result<Self, PolicyError> {
        Self::of(key, texts.into_iter().map(|text| (text.as_str(), text.clone())))
    }

    /// Globs, each with the text that stands for it.
    fn of<'a>(key: &'static str, all: impl IntoIterator<Item = (&'a str, String)>) -> Result<Self, PolicyError> {
        let mut texts = Vec::new();
        let mut builder = GlobSetBuilder::new();
        let mut matches_all = false;
        for (text, pattern) in all {
            matches_all |= pattern == EVERYTHING;
            if !text.starts_with('/') && !text.starts_with(EVERYTHING) {
                let problem = format!(
                    "'{text}' matches nothing, since ROS names begin with a slash; write '/{text}', or '**/{text}' for \
                     every namespace"
                );
                return Err(PolicyError { key, problem });
            }
            let glob = glob(&pattern).map_err(|problem| PolicyError {
                key,
                problem: format!(
                    "'{text}' is not a pattern ({}); '*' is anything within a part of a name, '**' any parts",
                    problem.kind()
                ),
            })?;
            builder.add(glob);
            texts.push(text.to_owned());
        }
        let set = builder.build().map_err(|problem| PolicyError { key, problem: problem.to_string() })?;
        Ok(Self { texts, set, matches_all })
    }

    /// The patterns that match none of these names.
    pub(crate) fn unmatched<'a>(&self, names: impl Iterator<Item = &'a String>) -> Vec<&str> {
        let matching: BTreeSet<usize> = names.flat_map(|name| self.set.matches(name)).collect();
        let texts = self.texts.iter().enumerate().filter(|(place, _)| !matching.contains(place));
        texts.map(|(_, text)| text.as_str()).collect()
    }

    /// The first pattern that matches.
    pub(crate) fn first(&self, name: &str) -> Option<&str> {
        if self.matches_all {
            return Some(EVERYTHING);
        }
        let first = self.set.matches(name).into_iter().next()?;
        self.texts.get(first).map(String::as_str)
    }

    fn all(&self, name: &str) -> Vec<usize> {
        self.set.matches(name)
    }
}

/// Names of the configuration belong to no component.
fn check_conditions(conditions: &BTreeMap<String, ToolConditions>) -> Result<(), PolicyError> {
    for (pattern, conditions) in conditions {
        let checks = conditions.all().flat_map(|condition| condition.checks());
        if let Some(check) = checks.into_iter().find(|check| !check.source.is_absolute()) {
            let problem = format!(
                "'{pattern}' has a condition on {}; write its full name, which begins with a slash",
                check.source
            );
            return Err(PolicyError { key: "conditions", problem });
        }
    }
    Ok(())
}

fn check_rename(from: &str, to: &str) -> Result<(), PolicyError> {
    let refused = |problem| Err(PolicyError { key: "rename", problem });
    if !from.starts_with('/') {
        return refused(format!(
            "'{from}' is not the full name of a service, an action or a topic; it begins with a slash"
        ));
    }
    let is_part = |part: &str| {
        part.bytes().next().is_some_and(|first| first.is_ascii_alphabetic() || first == b'_')
            && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    };
    if to.split('/').all(is_part) {
        return Ok(());
    }
    refused(format!(
        "'{to}' can't stand in a tool's name; use letters, digits and underscores, with slashes between parts"
    ))
}

#[cfg(test)]
mod tests;
