//! What is kept from the missions. By the monitor, while a part of the robot has failed: components in quarantine, standbys
//! that have taken a component's place, and a pause of everything. By people: a pause, and the controls.
//!
//! A tool in quarantine is not dropped silently: it is kept back with the reason, so that whoever asks for it is told.

use std::collections::BTreeMap;

use cortex_protocol::{ComponentName, Control, Effect, ToolCall, ToolName, ToolSpec};
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::fragment::capped;
use crate::toolset::ToolSet;

/// Most characters of a reason. It is in the record, in feedback and in prompts.
const REASON_CHARACTERS: usize = 200;
/// The argument by which tools that belong to no component name the one that they act on.
const COMPONENT_ARGUMENT: &str = "component";
/// Most tools of components that have left that are remembered.
const REMOVED_TOOLS: usize = 512;

/// What is kept from the missions now.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Availability {
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    quarantined: BTreeMap<ComponentName, String>,
    /// Who stands in for whom.
    #[serde(default, rename = "stand_ins", skip_serializing_if = "BTreeMap::is_empty")]
    standbys: BTreeMap<ComponentName, ComponentName>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    paused: Option<String>,
    /// Who has the controls.
    #[serde(default, skip_serializing_if = "Control::is_untouched")]
    control: Control,
}

/// Tools of components that have left the robot: a standby may still serve them.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RemovedTools(BTreeMap<ToolName, ToolSpec>);

impl RemovedTools {
    /// Takes note of what has left, and of what has come back.
    pub fn note(&mut self, before: &ToolSet, now: &ToolSet) {
        for spec in before.iter().filter(|spec| spec.component.is_some() && now.get(&spec.name).is_none()) {
            if self.0.len() < REMOVED_TOOLS {
                self.0.insert(spec.name.clone(), spec.clone());
            }
        }
        self.0.retain(|name, _| now.get(name).is_none());
    }

    /// Whether none has left.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// All of them, in the order of their names.
    pub fn iter(&self) -> impl Iterator<Item = &ToolSpec> {
        self.0.values()
    }

    /// One of them.
    #[must_use]
    pub fn get(&self, tool: &ToolName) -> Option<&ToolSpec> {
        self.0.get(tool)
    }
}

/// The tools of the robot as far as they may be called.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct AvailableTools {
    /// Those that may be called. One that a standby serves has its own name and description, and holds what the standby
    /// holds.
    pub tools: ToolSet,
    /// Who is really called in place of a tool.
    pub served_by: BTreeMap<ToolName, ToolName>,
    /// Those that are there, or were, and may not be called, with the reason.
    pub kept_back: BTreeMap<ToolName, String>,
}

impl Availability {
    /// Nothing of this component may be called any more. Returns whether that is news.
    pub fn quarantine(&mut self, component: ComponentName, because: &str) -> bool {
        let because = reason(because, "it has failed");
        let before = self.quarantined.insert(plain(&component), because.clone());
        before.as_ref() != Some(&because)
    }

    /// The component may be called again. Returns whether that is news.
    pub fn release(&mut self, component: &ComponentName) -> bool {
        self.quarantined.remove(&plain(component)).is_some()
    }

    /// `by` has the component's place; `None`: it has it back itself. Returns whether that is news.
    pub fn fail_over(&mut self, component: &ComponentName, by: Option<&ComponentName>) -> bool {
        let component = plain(component);
        // What stands in for itself stands in for nobody.
        match by.map(plain).filter(|by| *by != component) {
            Some(by) => self.standbys.insert(component, by.clone()).as_ref() != Some(&by),
            None => self.standbys.remove(&component).is_some(),
        }
    }

    /// No step begins in any mission. Returns whether that is news.
    pub fn pause(&mut self, because: &str) -> bool {
        let because = Some(reason(because, "the missions are paused"));
        let is_news = self.paused != because;
        self.paused = because;
        is_news
    }

    /// Steps begin again. Returns whether that is news.
    pub fn unpause(&mut self) -> bool {
        self.paused.take().is_some()
    }

    /// Why no step begins, as far as the monitor says so. What runs goes on.
    #[must_use]
    pub fn paused(&self) -> Option<&str> {
        self.paused.as_deref()
    }

    /// Others have the controls, or the same ones for another reason. Returns whether that is news.
    pub fn set_control(&mut self, control: Control) -> bool {
        let is_news = self.control != control;
        self.control = control;
        is_news
    }

    /// Who has the controls. Unless it is the missions, none of them begins anything, and what they had in motion is halted.
    #[must_use]
    pub fn control(&self) -> &Control {
        &self.control
    }

    /// What is in quarantine, in order, with the reasons.
    #[must_use]
    pub fn quarantined(&self) -> &BTreeMap<ComponentName, String> {
        &self.quarantined
    }

    /// Which components have a standby, in order.
    #[must_use]
    pub fn standbys(&self) -> &BTreeMap<ComponentName, ComponentName> {
        &self.standbys
    }

    /// Whether nothing is kept from the missions.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Why this component is in quarantine, if it is.
    #[must_use]
    pub fn reason_against(&self, component: &ComponentName) -> Option<&str> {
        self.quarantined.get(&plain(component)).map(String::as_str)
    }

    /// The component that a call reaches: the tool's own, or the one that a tool of no component is told to act on.
    #[must_use]
    pub fn component_of(spec: &ToolSpec, call: &ToolCall) -> Option<ComponentName> {
        let named = || {
            let name = call.arguments.get(COMPONENT_ARGUMENT)?.as_str()?;
            // Looking at what has failed is how one finds out why.
            (spec.effect != Effect::Observe).then(|| ComponentName::from(name))
        };
        spec.component.clone().or_else(named).map(|component| plain(&component))
    }

    /// Why this call must not be begun, if it must not: it would reach what is in quarantine, or what a standby has the
    /// place of.
    #[must_use]
    pub fn refusal(&self, spec: &ToolSpec, call: &ToolCall) -> Option<String> {
        let component = Self::component_of(spec, call)?;
        if let Some(because) = self.quarantined.get(&component) {
            return Some(in_quarantine(&component, because));
        }
        let by = self.standbys.get(&component).filter(|_| spec.component.is_some())?;
        Some(format!("{by} has the place of {component}"))
    }

    /// The tools that may be called, of those that are there (`present`) and those that have left (`removed`), which a
    /// standby may still serve. Those that only serve others are among `present`, and not among what may be called.
    #[must_use]
    pub fn available(&self, present: &ToolSet, removed: &RemovedTools) -> AvailableTools {
        let is_for_callers = |spec: &&ToolSpec| spec.serves.is_none();
        if self.quarantined.is_empty() && self.standbys.is_empty() && present.iter().all(|spec| is_for_callers(&spec)) {
            return AvailableTools { tools: present.clone(), ..AvailableTools::default() };
        }
        let gone = removed.0.values().filter(|spec| present.get(&spec.name).is_none()).filter(is_for_callers);
        let there = present.iter().filter(is_for_callers);
        let (mut specs, mut available) = (Vec::new(), AvailableTools::default());
        for (spec, is_there) in there.map(|spec| (spec, true)).chain(gone.map(|spec| (spec, false))) {
            let component = spec.component.as_ref().map(plain);
            let place = component.as_ref().and_then(|component| Some((component, self.standbys.get(component)?)));
            let reason = component.as_ref().and_then(|component| self.quarantined.get_key_value(component));
            match (place, reason) {
                (Some((component, by)), _) => match self.serving(spec, component, by, present) {
                    Ok(server) => {
                        available.served_by.insert(spec.name.clone(), server.name.clone());
                        specs.push(served(spec, server));
                    }
                    Err(problem) => {
                        available.kept_back.insert(spec.name.clone(), problem.to_string());
                    }
                },
                (None, Some((component, because))) => {
                    available.kept_back.insert(spec.name.clone(), in_quarantine(component, because));
                }
                (None, None) if is_there => specs.push(spec.clone()),
                (None, None) => {}
            }
        }
        // Two tools for one thing leave everyone to guess which is meant.
        for (name, server) in &available.served_by {
            if let Some(place) = specs.iter().position(|spec| spec.name == *server) {
                specs.remove(place);
                available.kept_back.insert(server.clone(), format!("it serves {name}; call that"));
            }
        }
        available.tools = present.rebuilt(specs).0;
        available
    }

    /// The standby's tool that does what this one does: the one that says so, or else the one that does as far as its name
    /// and the form of its arguments say so.
    fn serving<'a>(
        &self,
        spec: &ToolSpec,
        component: &ComponentName,
        by: &ComponentName,
        present: &'a ToolSet,
    ) -> Result<&'a ToolSpec, NotServed> {
        let owners = || (component.clone(), by.clone());
        if let Some(because) = self.quarantined.get(by) {
            let (component, by) = owners();
            return Err(NotServed::Quarantined { component, by, because: because.clone() });
        }
        let method = spec.name.as_str().strip_prefix(component.as_str()).and_then(|rest| rest.strip_prefix('.'));
        let says_so = |other: &&ToolSpec| {
            other.serves.as_ref() == Some(&spec.name) && other.component.as_ref().map(plain).as_ref() == Some(by)
        };
        let found = present.iter().find(says_so);
        let found = found.or_else(|| present.get(&ToolName::of_method(by, method?)));
        found.filter(|other| does_the_same(spec, other)).ok_or_else(|| {
            let (component, by) = owners();
            NotServed::NoSuchMethod { component, by }
        })
    }
}

/// What the tools of these standbys do in place of, by name: `places` says who has stood in for whom.
pub(crate) fn in_place_of(
    places: &BTreeMap<ComponentName, ComponentName>,
    present: &ToolSet,
    removed: &RemovedTools,
) -> BTreeMap<ToolName, ToolName> {
    let of = |owner: &ComponentName| -> Vec<&ToolSpec> {
        let all = present.iter().chain(removed.iter());
        all.filter(|spec| spec.component.as_ref().map(plain).as_ref() == Some(owner)).collect()
    };
    let mut found = BTreeMap::new();
    for (component, by) in places {
        let others = of(by);
        for spec in of(component) {
            let method = spec.name.as_str().strip_prefix(component.as_str()).and_then(|rest| rest.strip_prefix('.'));
            let alike = method.map(|method| ToolName::of_method(by, method));
            let serves = |other: &&ToolSpec| match &other.serves {
                Some(served) => *served == spec.name,
                None => Some(&other.name) == alike.as_ref(),
            };
            let servers = others.iter().copied().filter(serves);
            found.extend(
                servers.filter(|other| does_the_same(spec, other)).map(|other| (other.name.clone(), spec.name.clone())),
            );
        }
    }
    found
}

/// Whether the one can be called in place of the other.
pub(crate) fn does_the_same(spec: &ToolSpec, other: &ToolSpec) -> bool {
    (&other.parameters, other.effect, other.dispatch, other.phase)
        == (&spec.parameters, spec.effect, spec.dispatch, spec.phase)
}

/// The tool as it stays known, with what the one holds and needs that really serves it.
fn served(spec: &ToolSpec, server: &ToolSpec) -> ToolSpec {
    spec.clone().with_resources(server.resources.clone()).with_timeout(server.timeout).with_cancel(server.cancel)
}

/// Why a standby does not serve a tool of the component whose place it has.
#[derive(Debug, Error)]
enum NotServed {
    #[error("{by} has the place of {component}, and {}", in_quarantine(by, because))]
    Quarantined { component: ComponentName, by: ComponentName, because: String },
    #[error("{by} has the place of {component}, and offers no method like it")]
    NoSuchMethod { component: ComponentName, by: ComponentName },
}

fn in_quarantine(component: &ComponentName, because: &str) -> String {
    format!("{component} is in quarantine: {because}")
}

/// Nodes are written with a leading slash by some.
fn plain(component: &ComponentName) -> ComponentName {
    ComponentName::new(component.as_str().trim_start_matches('/'))
}

/// A reason on one line, of bounded length. It may hold what a component says.
fn reason(because: &str, otherwise: &str) -> String {
    let words: Vec<&str> = because.split(|character: char| character.is_control() || character == ' ').collect();
    let text = words.into_iter().filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ");
    let text = text.trim_end_matches('.');
    if text.is_empty() { otherwise.to_owned() } else { capped(text, REASON_CHARACTERS) }
}

#[cfg(test)]
mod tests;
