//! The topic `~/output`: the pieces of one text follow each other there, whatever else is said meanwhile.

use std::collections::BTreeMap;

use cortex_core::mission::SpokenPiece;
use cortex_ros_client::text::carried;
use r2r::Publisher;
use r2r::cortex_msgs::msg::StreamingString;

/// The publisher, with the order of its texts.
pub(super) struct Output {
    publisher: Publisher<StreamingString>,
    voice: Voice,
}

impl Output {
    pub(super) fn new(publisher: Publisher<StreamingString>) -> Self {
        Self { publisher, voice: Voice::default() }
    }

    /// Publishes a whole text.
    pub(super) fn say(&mut self, text: String) {
        let messages = self.voice.say(text);
        self.publish(messages);
    }

    /// Publishes a piece of a speaker's text.
    pub(super) fn say_piece(&mut self, speaker: &str, text: String, piece: SpokenPiece) {
        let messages = self.voice.say_piece(speaker, text, piece);
        self.publish(messages);
    }

    fn publish(&self, messages: Vec<Utterance>) {
        for Utterance { text, done } in messages {
            if let Err(problem) = self.publisher.publish(&StreamingString { stream: carried(text), done }) {
                tracing::warn!("an answer could not be published: {problem}");
            }
        }
    }
}

/// Texts that are published in pieces, and those that wait for their end.
#[derive(Debug, Default)]
struct Voice {
    /// The speaker whose text is open: its next piece may be published.
    open: Option<String>,
    /// Texts that something else has interrupted, or that began while another was open, by their speakers. They are
    /// published as a whole.
    held: BTreeMap<String, String>,
    /// The published part of the open text.
    published: String,
}

/// A message on `~/output`.
#[derive(Debug, PartialEq, Eq)]
struct Utterance {
    text: String,
    /// Whether the text ends with it.
    done: bool,
}

impl Voice {
    /// The messages for a whole text.
    fn say(&mut self, text: String) -> Vec<Utterance> {
        let mut messages = self.interrupt();
        messages.push(Utterance { text, done: true });
        messages
    }

    /// The messages for a piece of a speaker's text.
    fn say_piece(&mut self, speaker: &str, text: String, piece: SpokenPiece) -> Vec<Utterance> {
        let is_open = self.open.as_deref() == Some(speaker);
        match piece {
            SpokenPiece::More if is_open => {
                self.published.push_str(&text);
                vec![Utterance { text, done: false }]
            }
            SpokenPiece::Last if is_open => {
                (self.open, self.published) = (None, String::new());
                vec![Utterance { text, done: true }]
            }
            SpokenPiece::More if self.open.is_none() && !self.held.contains_key(speaker) => {
                self.open = Some(speaker.to_owned());
                self.published.clone_from(&text);
                vec![Utterance { text, done: false }]
            }
            SpokenPiece::More => {
                self.held.entry(speaker.to_owned()).or_default().push_str(&text);
                Vec::new()
            }
            SpokenPiece::Last => {
                let held = self.held.remove(speaker).unwrap_or_default();
                self.say(held + &text)
            }
        }
    }

    /// Ends the open text. Its speaker says it again as a whole.
    fn interrupt(&mut self) -> Vec<Utterance> {
        let Some(speaker) = self.open.take() else { return Vec::new() };
        self.held.insert(speaker, std::mem::take(&mut self.published));
        vec![Utterance { text: String::new(), done: true }]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The texts that a listener puts together.
    fn texts(messages: Vec<Utterance>) -> Vec<String> {
        let (mut texts, mut open) = (Vec::new(), String::new());
        for message in messages {
            open.push_str(&message.text);
            if message.done {
                texts.push(std::mem::take(&mut open));
            }
        }
        assert_eq!(open, "", "a text without an end");
        texts
    }

    #[test]
    fn pieces_of_one_text_go_out_at_once() {
        let mut voice = Voice::default();
        let mut messages = voice.say_piece("one", "Good ".to_owned(), SpokenPiece::More);
        assert_eq!(messages, [Utterance { text: "Good ".to_owned(), done: false }]);
        messages.extend(voice.say_piece("one", "morning".to_owned(), SpokenPiece::More));
        messages.extend(voice.say_piece("one", ".".to_owned(), SpokenPiece::Last));
        messages.extend(voice.say_piece("one", "Whole.".to_owned(), SpokenPiece::Last));
        assert_eq!(texts(messages), ["Good morning.", "Whole."]);
    }

    /// A warning in the middle of an answer was appended to it, and ended it.
    #[test]
    fn regression_a_warning_became_a_part_of_the_answer_that_it_interrupted() {
        let mut voice = Voice::default();
        let mut messages = voice.say_piece("one", "Good mor".to_owned(), SpokenPiece::More);
        messages.extend(voice.say("WARNING: the battery is low.".to_owned()));
        messages.extend(voice.say_piece("one", "ning".to_owned(), SpokenPiece::More));
        messages.extend(voice.say_piece("one", ".".to_owned(), SpokenPiece::Last));
        assert_eq!(texts(messages), ["Good mor", "WARNING: the battery is low.", "Good morning."]);
    }

    #[test]
    fn two_speakers_do_not_mix() {
        let mut voice = Voice::default();
        let mut messages = voice.say_piece("one", "Good ".to_owned(), SpokenPiece::More);
        messages.extend(voice.say_piece("two", "Hel".to_owned(), SpokenPiece::More));
        messages.extend(voice.say_piece("one", "morning.".to_owned(), SpokenPiece::Last));
        messages.extend(voice.say_piece("two", "lo.".to_owned(), SpokenPiece::Last));
        assert_eq!(texts(messages), ["Good morning.", "Hello."]);
    }

    /// An answer that breaks off ends with an empty piece, also where it was interrupted.
    #[test]
    fn an_interrupted_answer_that_breaks_off_is_said_as_far_as_it_came() {
        let mut voice = Voice::default();
        let mut messages = voice.say_piece("one", "Good".to_owned(), SpokenPiece::More);
        messages.extend(voice.say("Stop.".to_owned()));
        messages.extend(voice.say_piece("one", String::new(), SpokenPiece::Last));
        assert_eq!(texts(messages), ["Good", "Stop.", "Good"]);
        assert!(voice.held.is_empty() && voice.open.is_none());
    }
}
