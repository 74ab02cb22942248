//! A model that answers from a recording: what was replied to the same request then. It asks nobody.
//!
//! [`comparison`] says what of a request counts. A request that was recorded several times is answered in the recorded order,
//! and with the last reply from then on. A request does not tell its mission: where several missions have asked the same, their
//! questions must come in the recorded order, and so one after the other.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use cortex_core::fragment::one_line;
use cortex_core::{ChatModel, ChatReply, ChatRequest, ModelError, ModelErrorKind, ReplyListener};
use serde_json::Value;

mod comparison;

use comparison::{compared, first_difference, task};

/// Recorded requests that are looked at for the nearest one to a request that was not recorded.
const MOST_LOOKED_AT: usize = 200;
/// Most characters of a value where two requests differ.
const VALUE_CHARACTERS: usize = 200;

/// One request of a recording, and what was replied.
#[derive(Debug, Clone, PartialEq)]
pub struct RecordedReply {
    /// Where it stands, for people: the mission, and the line of its tape.
    pub place: String,
    /// What was asked.
    pub request: ChatRequest,
    /// What the model replied, or why it did not.
    pub reply: Result<ChatReply, ModelError>,
}

/// See the module.
pub struct ReplayModel {
    label: String,
    recorded: Vec<RecordedReply>,
    /// By what counts of the request: where its replies are, in their order, and how many of them were given.
    index: Mutex<HashMap<String, (Vec<usize>, usize)>>,
}

impl ReplayModel {
    /// A model that gives these replies. `label` is what people call it.
    #[must_use]
    pub fn new(label: String, recorded: Vec<RecordedReply>) -> Self {
        let mut index: HashMap<String, (Vec<usize>, usize)> = HashMap::new();
        for (at, recorded) in recorded.iter().enumerate() {
            index.entry(compared(&recorded.request).to_string()).or_default().0.push(at);
        }
        Self { label, recorded, index: Mutex::new(index) }
    }

    fn reply(&self, request: &ChatRequest) -> Result<ChatReply, ModelError> {
        let wanted = compared(request);
        let mut index = self.index.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((places, given)) = index.get_mut(&wanted.to_string()) {
            let at = places.get(*given).or(places.last()).copied().unwrap_or_default();
            *given += 1;
            if let Some(recorded) = self.recorded.get(at) {
                return recorded.reply.clone();
            }
        }
        Err(ModelError {
            kind: ModelErrorKind::Refused,
            message: format!("the recording holds no reply to this request; {}", self.nearest(request, &wanted)),
            hint: "record the mission again, or ask a model".to_owned(),
            retry_after: None,
        })
    }

    /// The recorded request that differs least, and where it differs first.
    fn nearest(&self, request: &ChatRequest, wanted: &Value) -> String {
        let is_alike = |recorded: &&RecordedReply| {
            recorded.request.purpose == request.purpose && task(&recorded.request) == task(request)
        };
        let mut near: Vec<&RecordedReply> = self.recorded.iter().filter(is_alike).take(MOST_LOOKED_AT).collect();
        if near.is_empty() {
            near = self.recorded.iter().take(MOST_LOOKED_AT).collect();
        }
        let differing = near.into_iter().filter_map(|recorded| {
            first_difference(&compared(&recorded.request), wanted).map(|difference| (recorded, difference))
        });
        let Some((recorded, difference)) = differing.min_by_key(|(_, difference)| difference.count) else {
            return "it holds no request at all".to_owned();
        };
        format!(
            "the nearest one is that of {}, which differs at {}: recorded {}, asked now {}",
            one_line(&recorded.place, VALUE_CHARACTERS),
            one_line(&difference.path, VALUE_CHARACTERS),
            one_line(&difference.recorded, VALUE_CHARACTERS),
            one_line(&difference.now, VALUE_CHARACTERS),
        )
    }
}

#[async_trait]
impl ChatModel for ReplayModel {
    fn label(&self) -> String {
        self.label.clone()
    }

    async fn chat_streaming(&self, request: &ChatRequest, _: Arc<dyn ReplyListener>) -> Result<ChatReply, ModelError> {
        self.reply(request)
    }
}

#[cfg(test)]
mod tests {
    use cortex_core::{Fragment, Message, Purpose};

    use super::*;

    fn request(task: &str, line: &str) -> ChatRequest {
        let fragments =
            vec![Fragment::Task { text: task.to_owned() }, Fragment::Brief { lines: vec![line.to_owned()] }];
        ChatRequest {
            purpose: Purpose::Plan,
            messages: vec![Message::User { fragments }],
            tools: Vec::new(),
            temperature: 0.2,
            max_tokens: 100,
        }
    }

    fn says(text: &str) -> Result<ChatReply, ModelError> {
        Ok(ChatReply { text: text.to_owned(), ..ChatReply::default() })
    }

    fn model(recorded: &[(ChatRequest, &str)]) -> ReplayModel {
        let recorded = recorded.iter().enumerate().map(|(at, (request, text))| RecordedReply {
            place: format!("mission m, line {}", at + 1),
            request: request.clone(),
            reply: says(text),
        });
        ReplayModel::new("replay".to_owned(), recorded.collect())
    }

    #[tokio::test]
    async fn the_same_request_gets_its_recorded_reply_whatever_time_it_is() {
        let replay = model(&[(request("go", "1.1 base-go_to: SUCCESS 12 s ago"), "I went.")]);
        let mut now = request("go", "1.1 base-go_to: SUCCESS 3 s ago");
        (now.temperature, now.max_tokens) = (0.0, 7);
        assert_eq!(replay.chat(&now).await, says("I went."));
    }

    #[tokio::test]
    async fn a_request_that_comes_again_gets_the_replies_in_their_order() {
        let replay = model(&[(request("go", ""), "one"), (request("go", ""), "two")]);
        for text in ["one", "two", "two"] {
            assert_eq!(replay.chat(&request("go", "")).await, says(text));
        }
    }

    #[tokio::test]
    async fn what_was_not_recorded_is_refused_with_the_nearest_request_and_the_difference() {
        let other = request("sing", "a");
        let near = request("go", "1.1 base-go_to: SUCCESS 12 s ago");
        let replay = model(&[(other, "la"), (near, "I went.")]);
        let error = replay.chat(&request("go", "1.1 base-go_to: FAILED 12 s ago")).await.unwrap_err();
        for part in ["mission m, line 2", "messages[0].fragments[1].lines[0]", "SUCCESS", "FAILED"] {
            assert!(error.message.contains(part), "{part}: {}", error.message);
        }
        let nothing = model(&[]).chat(&request("go", "")).await.unwrap_err();
        assert!(nothing.message.contains("no request at all"), "{nothing}");
    }

    /// A task of 5 s is another one than a task of 10 s.
    #[tokio::test]
    async fn a_time_that_a_person_names_counts() {
        let replay = model(&[(request("wait 5 s", ""), "waited")]);
        assert!(replay.chat(&request("wait 10 s", "")).await.is_err());
    }
}
