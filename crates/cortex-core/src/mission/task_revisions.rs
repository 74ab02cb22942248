//! The revisions of the task by people. `task_revision` decides what follows one.

use serde::{Deserialize, Serialize};

/// The revisions of the task, in order.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct TaskRevisions {
    texts: Vec<String>,
    /// How many of them stand in the conversation.
    in_conversation: usize,
    /// The plan that was the last one when the task was last corrected; 0: there was none.
    last_plan_before: u32,
}

impl TaskRevisions {
    /// Takes one more correction, after the plan with this number.
    pub(super) fn add(&mut self, text: String, plan: u32) {
        self.texts.push(text);
        self.last_plan_before = plan;
    }

    /// The corrections that do not stand in the conversation yet. They do, from now on.
    pub(super) fn take_new(&mut self) -> Vec<String> {
        let new = self.texts.get(self.in_conversation..).unwrap_or_default().to_vec();
        self.in_conversation = self.texts.len();
        new
    }

    pub(super) fn texts(&self) -> &[String] {
        &self.texts
    }

    pub(super) fn is_empty(&self) -> bool {
        self.texts.is_empty()
    }

    /// The plan that was the last one when the task was last corrected; 0: there was none.
    pub(super) fn last_plan_before(&self) -> u32 {
        self.last_plan_before
    }
}
