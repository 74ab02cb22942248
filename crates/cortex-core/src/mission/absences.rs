//! The tools that have left in mid mission, and those that came back. `tool_presence` decides how long they are waited
//! for.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use cortex_protocol::ToolName;
use serde::{Deserialize, Serialize};

use crate::toolset::ToolSet;

/// Tools that left and came back, as far as it still matters.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Absences {
    /// The tools that were there and are not, with the time when they left.
    left_at: BTreeMap<ToolName, Duration>,
    /// Those that came back since the model was asked for a plan.
    came_back: BTreeSet<ToolName>,
    /// Those that were reported as missing.
    reported: BTreeSet<ToolName>,
}

impl Absences {
    pub(super) fn note_left(&mut self, tool: ToolName, now: Duration) {
        self.left_at.insert(tool, now);
    }

    /// Takes the tools that are there now. Returns those that came back and were reported as missing.
    pub(super) fn note_there(&mut self, tools: &ToolSet) -> BTreeSet<ToolName> {
        let back: Vec<ToolName> = self.left_at.keys().filter(|name| tools.get(name).is_some()).cloned().collect();
        for name in &back {
            self.left_at.remove(name);
        }
        self.came_back.extend(back);
        let reported: BTreeSet<ToolName> = self.reported.intersection(&self.came_back).cloned().collect();
        self.reported.retain(|name| !reported.contains(name));
        reported
    }

    /// True while every tool that ever was there is there.
    pub(super) fn is_empty(&self) -> bool {
        self.left_at.is_empty()
    }

    pub(super) fn left_at(&self, tool: &ToolName) -> Option<Duration> {
        self.left_at.get(tool).copied()
    }

    /// Those of these tools that came back since the model was asked for a plan.
    pub(super) fn back_among(&self, wanted: &BTreeSet<ToolName>) -> BTreeSet<ToolName> {
        self.came_back.intersection(wanted).cloned().collect()
    }

    /// The model is asked for a plan with the tools that are there: none of them is news any more.
    pub(super) fn forget_returns(&mut self) {
        self.came_back.clear();
    }

    /// Notes that these are reported as missing. Returns whether one of them was not before.
    pub(super) fn note_reported(&mut self, tools: &BTreeSet<ToolName>) -> bool {
        let is_news = !tools.is_subset(&self.reported);
        self.reported.extend(tools.iter().cloned());
        is_news
    }
}
