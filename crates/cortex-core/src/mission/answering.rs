//! Answers that are published while they arrive, so that listeners need not wait for the last word before the first.
//!
//! The mission publishes early only where nothing acts: in a conversation, for general knowledge, and for a question about
//! the robot itself for which nothing is left to be looked at. Everything else that a model says is compared with the record
//! first, and published as a whole.

use std::time::Duration;

use cortex_protocol::MissionEvent;
use serde::{Deserialize, Serialize};

use super::{Effect, Mission, Phase, RequestId, SpokenPiece};

/// Most bytes of an answer that are published before it is whole.
const MOST_PUBLISHED: usize = 16 << 10;

/// The published part of an answer.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Answering {
    published: String,
    /// The number of its bytes that the feedback has, and since when.
    reported: usize,
    reported_at: Option<Duration>,
}

impl Mission {
    /// Publishes further text of an answer, which begins after `offset` bytes of it. Text that does not continue the
    /// published part is left out: the whole reply brings it.
    pub(super) fn on_answer_streamed(&mut self, request: RequestId, offset: usize, text: &str) {
        let is_awaited = matches!(self.phase, Phase::Planning { request: current } if current == request);
        let continues = offset == self.answering.published.len() && offset.saturating_add(text.len()) <= MOST_PUBLISHED;
        if !is_awaited || !continues || text.is_empty() || !self.may_publish_early() {
            return;
        }
        self.clock.note_progress();
        self.answering.published.push_str(text);
        self.effects.push(Effect::Say { text: text.to_owned(), piece: SpokenPiece::More });
        let now = self.clock.now();
        let interval = self.setup.limits.progress_interval;
        if self.answering.reported_at.is_none_or(|last| now >= last.saturating_add(interval)) {
            let words = self.answering.published.get(self.answering.reported..).unwrap_or_default().to_owned();
            self.answering.reported = self.answering.published.len();
            self.answering.reported_at = Some(now);
            self.report(MissionEvent::Answering { words });
        }
    }

    fn may_publish_early(&self) -> bool {
        let class = self.task_state.class;
        class.is_answered_by_words() && !class.may_act() && self.run.number() == 0 && !self.owes_more_than_words()
    }

    /// Publishes a text: the rest of it, if it continues the published part.
    pub(super) fn publish(&mut self, text: String) {
        if !self.continues_published(&text) {
            self.close_published();
        }
        let published = std::mem::take(&mut self.answering).published;
        let text = text.strip_prefix(published.as_str()).map(str::to_owned).unwrap_or(text);
        self.effects.push(Effect::Say { text, piece: SpokenPiece::Last });
    }

    /// Ends the published part of an answer that will not be completed.
    pub(super) fn close_published(&mut self) {
        if !std::mem::take(&mut self.answering).published.is_empty() {
            self.effects.push(Effect::Say { text: String::new(), piece: SpokenPiece::Last });
        }
    }

    pub(super) fn continues_published(&self, text: &str) -> bool {
        text.starts_with(&self.answering.published)
    }
}
