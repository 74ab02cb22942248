//! Words for people, and the forwarding of answers that are still arriving.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use cortex_core::ReplyListener;
use cortex_core::mission::{Input, RequestId, SpokenPiece};
use cortex_protocol::MissionId;
use tokio::sync::mpsc;
use tokio::time::Instant;

/// The shortest time between two pieces of an answer: faster than anybody reads or speaks, and few enough for the tape.
const BETWEEN_PIECES: Duration = Duration::from_millis(100);

/// Words for a person, whole or in pieces.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SpokenText {
    /// The mission that says them.
    pub mission: MissionId,
    /// The words. Empty where the text has ended with the piece before.
    pub text: String,
    /// Their place in the text.
    pub piece: SpokenPiece,
}

/// Forwards the text of an answer to its mission while it arrives: the first words at once, further ones in pieces.
pub(crate) struct AnswerForwarder {
    request: RequestId,
    inputs: mpsc::Sender<Input>,
    forwarded: Mutex<Forwarded>,
}

#[derive(Default)]
struct Forwarded {
    text: String,
    at: Option<Instant>,
}

impl AnswerForwarder {
    pub(crate) fn new(request: RequestId, inputs: mpsc::Sender<Input>) -> Self {
        Self { request, inputs, forwarded: Mutex::default() }
    }
}

impl ReplyListener for AnswerForwarder {
    fn on_text(&self, so_far: &str) {
        let mut forwarded = self.forwarded.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        if forwarded.at.is_some_and(|last| now < last + BETWEEN_PIECES) {
            return;
        }
        // A further attempt with other text is published when it is whole.
        let Some(text) = so_far.strip_prefix(forwarded.text.as_str()).filter(|text| !text.is_empty()) else {
            return;
        };
        let input =
            Input::AnswerStreamed { request: self.request, offset: forwarded.text.len(), text: text.to_owned() };
        // If the mission is busy, the next piece has this text, too.
        if self.inputs.try_send(input).is_ok() {
            so_far.clone_into(&mut forwarded.text);
            forwarded.at = Some(now);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn forwarded(inputs: &mut mpsc::Receiver<Input>) -> Vec<(usize, String)> {
        let mut forwarded = Vec::new();
        while let Ok(input) = inputs.try_recv() {
            let Input::AnswerStreamed { offset, text, .. } = input else { panic!("{input:?}") };
            forwarded.push((offset, text));
        }
        forwarded
    }

    #[tokio::test(start_paused = true)]
    async fn the_first_words_go_on_at_once_and_further_ones_in_pieces() {
        let (sender, mut inputs) = mpsc::channel(8);
        let listener = AnswerForwarder::new(RequestId(1), sender);
        listener.on_text("Hello");
        listener.on_text("Hello I");
        assert_eq!(forwarded(&mut inputs), [(0, "Hello".to_owned())]);
        tokio::time::advance(BETWEEN_PIECES).await;
        listener.on_text("Hello I am");
        tokio::time::advance(BETWEEN_PIECES).await;
        listener.on_text("Good day");
        listener.on_text("Hello I am");
        assert_eq!(forwarded(&mut inputs), [(5, " I am".to_owned())]);
    }

    #[tokio::test(start_paused = true)]
    async fn words_that_a_busy_mission_could_not_take_come_with_the_next() {
        let (sender, mut inputs) = mpsc::channel(1);
        let listener = AnswerForwarder::new(RequestId(1), sender);
        listener.on_text("One");
        tokio::time::advance(BETWEEN_PIECES).await;
        listener.on_text("One two");
        assert_eq!(forwarded(&mut inputs), [(0, "One".to_owned())]);
        listener.on_text("One two three");
        assert_eq!(forwarded(&mut inputs), [(3, " two three".to_owned())]);
    }
}
