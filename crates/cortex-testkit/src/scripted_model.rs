//! A model that says what the story wrote for it.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use cortex_core::{
    CallArguments, ChatModel, ChatReply, ChatRequest, ModelCall, ModelError, ModelErrorKind, ReplyListener,
};
use serde_json::Value;

/// What the model does next.
#[derive(Debug, Clone)]
pub enum Line {
    /// It replies.
    Reply(ChatReply),
    /// It fails.
    Fail(ModelError),
    /// It thinks for a while, and then does this.
    After(Duration, Box<Line>),
    /// It never answers.
    Hang,
    /// Its adapter panics.
    Panic,
}

/// A model that says what the story wrote for it, line by line. When the script is over it fails, and says so.
#[derive(Debug, Default)]
pub struct ScriptedModel {
    script: Mutex<VecDeque<Line>>,
    always: Option<Line>,
    requests: Mutex<Vec<ChatRequest>>,
}

/// A reply of words.
#[must_use]
pub fn says(text: &str) -> Line {
    Line::Reply(ChatReply { text: text.to_owned(), ..ChatReply::default() })
}

/// A reply of calls: wire names and arguments.
#[must_use]
pub fn calls(made: &[(&str, Value)]) -> Line {
    let calls = made
        .iter()
        .enumerate()
        .map(|(index, (name, arguments))| ModelCall {
            id: format!("call-{index}"),
            name: (*name).to_owned(),
            arguments: CallArguments::read(&arguments.to_string()),
        })
        .collect();
    Line::Reply(ChatReply { calls, ..ChatReply::default() })
}

impl ScriptedModel {
    /// A model with this script.
    #[must_use]
    pub fn new(script: impl IntoIterator<Item = Line>) -> Self {
        Self { script: Mutex::new(script.into_iter().collect()), ..Self::default() }
    }

    /// A model that does the same whenever the script is over.
    #[must_use]
    pub fn and_then_always(mut self, line: Line) -> Self {
        self.always = Some(line);
        self
    }

    /// What it was asked so far.
    #[must_use]
    pub fn requests(&self) -> Vec<ChatRequest> {
        self.requests.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

#[async_trait]
impl ChatModel for ScriptedModel {
    fn label(&self) -> String {
        "scripted".to_owned()
    }

    async fn chat_streaming(&self, request: &ChatRequest, _: Arc<dyn ReplyListener>) -> Result<ChatReply, ModelError> {
        self.requests.lock().unwrap_or_else(PoisonError::into_inner).push(request.clone());
        let next = self.script.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
        let mut line = next.or_else(|| self.always.clone());
        while let Some(Line::After(time, then)) = line {
            tokio::time::sleep(time).await;
            line = Some(*then);
        }
        match line {
            Some(Line::Reply(reply)) => Ok(reply),
            Some(Line::Fail(error)) => Err(error),
            Some(Line::Hang | Line::After(..)) => std::future::pending().await,
            #[expect(clippy::panic, reason = "the story asks for it")]
            Some(Line::Panic) => panic!("the story's model panics"),
            None => Err(ModelError {
                kind: ModelErrorKind::BadReply,
                message: "the story's script is over".to_owned(),
                hint: String::new(),
                retry_after: None,
            }),
        }
    }
}
