//! Keeping a long mission's conversation within bounds. What stays, word for word: the rules, the task, how people revised
//! it, what is in flight, and the latest exchanges with the model, the newest one always. Every step stays in the record,
//! with as much of its output as there is room for; [`RECALL_STEP`](super::RECALL_STEP) shows the rest. What goes: older
//! exchanges.

use cortex_protocol::{MissionEvent, StepReport};

use super::Mission;
use crate::chat::{CallArguments, Message};
use crate::fragment::{Fragment, LEDGER_OUTPUTS};

const NOTICE: &str = "The conversation had become too long: what was said and found out before what follows was left out. \
                      The record above has every step; recall_step shows one with its whole output. Look again for \
                      what else you still need to know.";

impl Mission {
    /// Shortens the planning conversation where it is longer than allowed: to a half, so that its beginning stays the same
    /// for a while.
    pub(super) fn compact(&mut self) {
        let (before, limit) = (size(self.conversation.messages()), self.setup.limits.max_conversation_bytes);
        if before <= limit {
            return;
        }
        let begins = self.kept_from(limit / 2);
        if begins <= self.conversation.summaries() {
            // There is nothing older than what must stay.
            return;
        }
        let kept = self.conversation.messages().get(begins..).unwrap_or_default();
        let reports = |fragment: &Fragment, plan: u32| match fragment {
            Fragment::Ledger { steps, .. } => steps.iter().any(|step| step.plan == plan),
            _ => false,
        };
        let shown = |message: &Message, report: &StepReport| match message {
            Message::User { fragments } => fragments.iter().any(|fragment| reports(fragment, report.plan)),
            _ => false,
        };
        // What a message that stays reports is not reported twice.
        let is_older = |report: &&StepReport| !kept.iter().any(|message| shown(message, report));
        let steps: Vec<StepReport> = self.record.steps().iter().filter(is_older).cloned().collect();
        let mut fragments = self.revision_fragments();
        if !steps.is_empty() {
            fragments.push(Fragment::Ledger { steps, outputs: (limit / 8).min(LEDGER_OUTPUTS) });
        }
        if !self.record.steps().is_empty() {
            fragments.push(Fragment::Owed {
                steps: self.owed(),
                shown: 0,
                looks_suffice: self.task_state.looks_suffice,
            });
        }
        fragments.push(Fragment::InFlight { goals: self.in_flight(), plan: self.run.number() });
        fragments.push(Fragment::Notice { text: NOTICE.to_owned() });
        self.conversation.compact(begins, Message::User { fragments });
        let after = size(self.conversation.messages());
        self.report(MissionEvent::Compacted { before: count(before), after: count(after) });
    }

    /// Where the latest exchanges begin that have no more bytes than this; the newest one has as many as it has. A call and
    /// its answers stay together, or providers refuse the conversation.
    fn kept_from(&self, bytes: usize) -> usize {
        let mut room = bytes;
        let mut begins = None;
        for (index, message) in self.conversation.messages().iter().enumerate().rev() {
            let length = size_of_message(message);
            if begins.is_some() && length > room {
                break;
            }
            room = room.saturating_sub(length);
            if matches!(message, Message::Assistant { .. }) {
                begins = Some(index);
            }
        }
        // Before the first exchange there is nothing that may go: what was disputed, what people revised.
        begins.unwrap_or(0)
    }
}

/// Bytes of text, about as a provider counts them.
fn size(conversation: &[Message]) -> usize {
    conversation.iter().map(size_of_message).sum()
}

fn size_of_message(message: &Message) -> usize {
    match message {
        Message::System { fragments } | Message::User { fragments } => {
            fragments.iter().map(|fragment| fragment.render().len()).sum()
        }
        Message::Assistant { text, calls } => {
            let arguments = |arguments: &CallArguments| match arguments {
                CallArguments::Object(fields) => serde_json::to_string(fields).map_or(0, |text| text.len()),
                CallArguments::Malformed { text, .. } => text.len(),
            };
            text.len() + calls.iter().map(|call| call.name.len() + arguments(&call.arguments)).sum::<usize>()
        }
        Message::Tool { content, .. } => content.render().len(),
    }
}

fn count(bytes: usize) -> u64 {
    u64::try_from(bytes).unwrap_or(u64::MAX)
}
