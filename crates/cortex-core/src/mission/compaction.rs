//! Keeping a long mission's conversation within bounds. What stays, word for word: the rules, the task, the record of
//! every step, how people corrected the task, what is in flight, and the last exchange with the model. What goes: older research and older turns.

use cortex_protocol::MissionEvent;

use super::Mission;
use crate::chat::{CallArguments, Message};
use crate::fragment::Fragment;

const NOTICE: &str = "The conversation had become too long: what was said and found out before the last exchange was left \
                      out. The record above is complete. Ask again for what you still need to know.";

impl Mission {
    /// Shortens the planning conversation where it is longer than allowed.
    pub(super) fn compact(&mut self) {
        let before = size(&self.conversation);
        if before <= self.setup.limits.max_conversation_bytes {
            return;
        }
        // A call and its answers stay together, or providers refuse the conversation.
        let last = self.conversation.iter().rposition(|message| matches!(message, Message::Assistant { .. }));
        let kept = self.conversation.split_off(last.unwrap_or(self.conversation.len()));
        let mut fragments = self.correction_fragments();
        if !self.reports.is_empty() {
            fragments.push(Fragment::Ledger { steps: self.reports.clone() });
        }
        fragments.push(Fragment::InFlight { goals: self.in_flight() });
        fragments.push(Fragment::Notice { text: NOTICE.to_owned() });
        let mut conversation = vec![Message::User { fragments }];
        conversation.extend(kept);
        let after = size(&conversation);
        // The last exchange alone may be what is long.
        if after < before {
            self.conversation = conversation;
            self.report(MissionEvent::Compacted { before: count(before), after: count(after) });
        }
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
