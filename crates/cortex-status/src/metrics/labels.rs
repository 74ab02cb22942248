//! What is in the labels of figures, and the bound of how many there are.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Instant;

use serde::Serialize;

use super::MOST_NAMES;

/// What names are counted under once there are too many.
const OTHER: &str = "other";

/// One label.
pub(super) type Of = Vec<(String, String)>;
/// The labels of a call of a tool.
pub(super) type OfTool = Vec<(String, String)>;

pub(super) fn of(label: &str, value: impl Into<String>) -> Of {
    vec![(label.to_owned(), value.into())]
}

pub(super) fn of_tool(tool: &str, outcome: &str) -> OfTool {
    vec![("tool".to_owned(), tool.to_owned()), ("outcome".to_owned(), outcome.to_owned())]
}

/// The word of a kind, as it stands in JSON.
pub(super) fn word(kind: &impl Serialize) -> String {
    let written = serde_json::to_value(kind).unwrap_or_default();
    written.as_str().map_or_else(|| OTHER.to_owned(), str::to_owned)
}

/// The names that are told apart, and since when components fail.
#[derive(Default)]
pub(super) struct Names {
    tools: BTreeSet<String>,
    components: BTreeSet<String>,
    failing: BTreeMap<String, Failing>,
}

/// A component that does not work, or did not at least.
struct Failing {
    since: Instant,
    /// Whether it is healthy again. Where something was done about it, that it came up follows at once.
    is_over: bool,
}

impl Names {
    pub(super) fn tool(&mut self, name: &str) -> String {
        known(&mut self.tools, name)
    }

    pub(super) fn component(&mut self, name: &str) -> String {
        known(&mut self.components, name)
    }

    pub(super) fn failed(&mut self, component: &str, now: Instant) {
        // What nothing was done about, and went away by itself, is no recovery.
        let is_new = self.failing.get(component).is_none_or(|before| before.is_over);
        if is_new && (self.failing.len() < MOST_NAMES || self.failing.contains_key(component)) {
            self.failing.insert(component.to_owned(), Failing { since: now, is_over: false });
        }
    }

    pub(super) fn healthy(&mut self, component: &str) {
        if let Some(failing) = self.failing.get_mut(component) {
            failing.is_over = true;
        }
    }

    /// It is restarted although it works: that is no recovery from what is over.
    pub(super) fn restarted(&mut self, component: &str) {
        if self.failing.get(component).is_some_and(|failing| failing.is_over) {
            self.failing.remove(component);
        }
    }

    /// Since when it failed, if it did.
    pub(super) fn came_up(&mut self, component: &str) -> Option<Instant> {
        self.failing.remove(component).map(|failing| failing.since)
    }
}

fn known(names: &mut BTreeSet<String>, name: &str) -> String {
    if names.contains(name) {
        return name.to_owned();
    }
    if names.len() >= MOST_NAMES {
        return OTHER.to_owned();
    }
    names.insert(name.to_owned());
    name.to_owned()
}
