//! The planning conversation with the model, and the numbers that its requests and calls get.

use serde::{Deserialize, Serialize};

use super::RequestId;
use crate::chat::Message;

/// The conversation after its fixed beginning.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Conversation {
    /// Only ever grows, so that providers can cache it, until it is compacted.
    messages: Vec<Message>,
    /// Whether something of it was left out.
    #[serde(default)]
    is_compacted: bool,
    /// Whether the model may ask for what was left out: once it may, it may.
    #[serde(default)]
    may_recall: bool,
    /// Turns of the current planning phase.
    turn: u32,
    /// Whether the last reply to a request for a plan was cut.
    #[serde(default)]
    was_cut: bool,
    /// Whether everything planned was done, and the model was asked for nothing but words since.
    #[serde(default)]
    awaits_closing_words: bool,
    /// The least number that the ids of the next reply's calls may have.
    next_message: usize,
    next_request: u32,
}

impl Conversation {
    pub(super) fn new() -> Self {
        Self {
            messages: Vec::new(),
            is_compacted: false,
            may_recall: false,
            turn: 0,
            was_cut: false,
            awaits_closing_words: false,
            next_message: 0,
            next_request: 1,
        }
    }

    pub(super) fn messages(&self) -> &[Message] {
        &self.messages
    }

    pub(super) fn push(&mut self, message: Message) {
        self.messages.push(message);
    }

    /// Puts a summary in the place of every message before this index.
    pub(super) fn compact(&mut self, begins: usize, summary: Message) {
        self.messages.splice(..begins, [summary]);
        self.is_compacted = true;
        self.may_recall = true;
    }

    /// Messages at the beginning that a compaction has put there.
    pub(super) fn summaries(&self) -> usize {
        usize::from(self.is_compacted)
    }

    /// Lets the model ask for the rest of steps from now on, if something of them is left out.
    pub(super) fn note_left_out(&mut self, leaves_out: bool) {
        self.may_recall |= leaves_out;
    }

    pub(super) fn may_recall(&self) -> bool {
        self.may_recall
    }

    /// A new planning phase begins: its turns are counted anew.
    pub(super) fn begin_phase(&mut self) {
        self.turn = 0;
    }

    /// Whether nothing was asked yet in this planning phase.
    pub(super) fn is_phase_new(&self) -> bool {
        self.turn == 0
    }

    /// Counts one more turn of the planning phase and returns its number, from 1.
    pub(super) fn next_turn(&mut self) -> u32 {
        self.turn += 1;
        self.turn
    }

    /// Notes whether a reply was cut, and returns whether the one before it was.
    pub(super) fn note_cut(&mut self, is_cut: bool) -> bool {
        std::mem::replace(&mut self.was_cut, is_cut)
    }

    /// Everything planned was done: nothing but words is asked for.
    pub(super) fn await_closing_words(&mut self) {
        self.awaits_closing_words = true;
    }

    /// More than words is wanted, after all.
    pub(super) fn await_more_than_words(&mut self) {
        self.awaits_closing_words = false;
    }

    pub(super) fn awaits_closing_words(&self) -> bool {
        self.awaits_closing_words
    }

    /// The number in the ids of the next reply's calls. No two replies get the same, although a conversation that is
    /// compacted becomes shorter.
    pub(super) fn next_message(&mut self) -> usize {
        let message = self.messages.len().max(self.next_message);
        self.next_message = message + 1;
        message
    }

    pub(super) fn next_request(&mut self) -> RequestId {
        let request = RequestId(self.next_request);
        self.next_request += 1;
        request
    }
}
