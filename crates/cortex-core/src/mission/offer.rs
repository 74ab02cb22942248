//! The tools that the model is offered. A call is for the versions that the model was shown, and for no others.

use std::collections::{BTreeMap, BTreeSet};

use cortex_protocol::{ToolFingerprint, ToolName};
use serde::{Deserialize, Serialize};

use crate::toolset::ToolSet;

/// The tools that the model may choose from.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Offer {
    /// By name. Only ever grows.
    offered: BTreeSet<ToolName>,
    /// The versions of the tools that the model was shown last.
    shown: BTreeMap<ToolName, ToolFingerprint>,
}

impl Offer {
    pub(super) fn names(&self) -> &BTreeSet<ToolName> {
        &self.offered
    }

    /// Offers more tools. Returns whether there was a new one among them.
    pub(super) fn extend(&mut self, more: impl IntoIterator<Item = ToolName>) -> bool {
        let before = self.offered.len();
        self.offered.extend(more);
        self.offered.len() > before
    }

    /// Notes that the model is shown every offered tool that is there, as it is now.
    pub(super) fn note_shown(&mut self, tools: &ToolSet) {
        let shown = self.offered.iter().filter_map(|name| Some((name.clone(), tools.fingerprint(name)?)));
        self.shown = shown.collect();
    }

    /// The version of a tool that the model was shown last.
    pub(super) fn shown(&self, tool: &ToolName) -> Option<ToolFingerprint> {
        self.shown.get(tool).copied()
    }
}
