//! What a model can do of what Cortex needs, found by asking it: whether it answers, calls a tool, decides on a step in a
//! form that can be read, and sees a picture.
//!
//! A server that does not show the tools to its model says so nowhere; it reads as many tokens with them as without.

use std::time::Duration;

use cortex_core::{
    CallArguments, ChatModel, ChatReply, ChatRequest, Fragment, Message, ModelCall, ModelError, ModelErrorKind,
    Picture, PictureShelf, Purpose, ToolDefinition, ToolKind, confirmation,
};
use cortex_protocol::{StepAddress, StepNumber, ToolCall, ToolOutcome, ToolPhase};
use serde_json::{Map, Value, json};
use tokio::time::{Instant, timeout};

/// The tool that the model is to call, and the number that it is to give.
const TOOL: &str = "report_number";
const NUMBER: i64 = 7;
/// Pictures of one colour each, 32 x 32 pixels.
const COLOURS: [(&str, &[u8]); 3] = [
    ("red", include_bytes!("trial_pictures/red.png")),
    ("green", include_bytes!("trial_pictures/green.png")),
    ("blue", include_bytes!("trial_pictures/blue.png")),
];
/// Most tokens of an answer. Some models think first.
const MAX_TOKENS: u32 = 1_000;

/// What came of asking.
#[derive(Debug, Clone, PartialEq)]
pub struct Trial {
    /// How long the first answer took.
    pub answered_after: Duration,
    /// Whether the endpoint tells how many tokens were read and written.
    pub reports_tokens: bool,
    /// Whether it calls tools.
    pub calls: CallsTools,
    /// Why its decision on a step can't be read; None if it can be.
    pub undecided: Option<String>,
    /// Whether it sees pictures. None: it was not asked.
    pub sees: Option<SeesPictures>,
}

/// Whether a model sees the pictures that it is shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SeesPictures {
    /// It says which colour each has.
    Rightly,
    /// It does not.
    Not {
        /// What it said of those that it did not tell rightly, each after its colour.
        said: Vec<String>,
    },
}

/// Whether a model calls the tool that it is asked to call.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum CallsTools {
    /// It does, with the arguments that were wanted.
    Rightly,
    /// It does, with others.
    WithOtherArguments {
        /// Those that it gave.
        given: String,
    },
    /// It does not.
    Not {
        /// What it said instead.
        said: String,
    },
    /// It was not shown the tool.
    NotShown {
        /// The tokens that it reads with and without.
        tokens: u64,
    },
}

/// Asks the model. Each answer may take so long. Whether it sees is asked where there is a shelf for its pictures.
///
/// # Errors
/// When it gives no answer at all to one of the questions.
pub async fn trial(
    model: &dyn ChatModel,
    pictures: Option<&PictureShelf>,
    patience: Duration,
) -> Result<Trial, ModelError> {
    let began = Instant::now();
    let words = ask(model, request(Purpose::Plan, "Say OK.", Vec::new()), patience).await?;
    let answered_after = began.elapsed();
    Ok(Trial {
        answered_after,
        // Of an answer that was cut while it came, nobody could report them.
        reports_tokens: !words.tokens_estimated || words.cut.is_some(),
        calls: calls_tools(model, patience).await?,
        undecided: undecided(model, patience).await?,
        sees: match pictures {
            Some(pictures) => Some(sees(model, pictures, patience).await?),
            None => None,
        },
    })
}

/// Shows it a picture of one colour, which it can't guess: it is asked for another one each time.
async fn sees(model: &dyn ChatModel, pictures: &PictureShelf, patience: Duration) -> Result<SeesPictures, ModelError> {
    let mut said = Vec::new();
    for (colour, file) in COLOURS {
        let source = "/test/image".to_owned();
        let picture = pictures.keep(Picture { source, media_type: "image/png", size: (32, 32), file: file.to_vec() });
        let outcome = ToolOutcome { pictures: vec![picture], ..ToolOutcome::success(Value::Null) };
        let call = ModelCall {
            id: "call_1".to_owned(),
            name: TOOL.to_owned(),
            arguments: CallArguments::Object(Map::from_iter([("number".to_owned(), json!(NUMBER))])),
        };
        let question = "Which colour fills the picture: red, green or blue? Reply with that one word.";
        let asked = request(Purpose::Plan, question, vec![tool()]);
        let messages = vec![
            Message::User { fragments: vec![Fragment::Notice { text: "Take a picture.".to_owned() }] },
            Message::Assistant { text: String::new(), calls: vec![call.clone()] },
            Message::Tool { id: call.id, name: call.name, content: Fragment::ToolResult { outcome } },
        ];
        let messages = messages.into_iter().chain(asked.messages).collect();
        let reply = ask(model, ChatRequest { messages, ..asked }, patience).await?;
        let words = reply.text.to_lowercase();
        let named: Vec<&str> =
            COLOURS.iter().map(|(colour, _)| *colour).filter(|colour| words.contains(colour)).collect();
        if named != [colour] {
            said.push(format!("{colour}: {}", reply.refusal.unwrap_or(reply.text)));
        }
    }
    Ok(if said.is_empty() { SeesPictures::Rightly } else { SeesPictures::Not { said } })
}

async fn calls_tools(model: &dyn ChatModel, patience: Duration) -> Result<CallsTools, ModelError> {
    let task = format!("Call the tool {TOOL} with the number {NUMBER}. Say nothing.");
    let shown = ask(model, request(Purpose::Plan, &task, vec![tool()]), patience).await?;
    if let Some(call) = shown.calls.first() {
        let given = match &call.arguments {
            CallArguments::Object(arguments) => Value::Object(arguments.clone()).to_string(),
            CallArguments::Malformed { text, .. } => text.clone(),
        };
        let is_right = call.name == TOOL
            && matches!(&call.arguments, CallArguments::Object(arguments)
                if arguments.get("number").and_then(Value::as_f64) == Some(NUMBER as f64));
        return Ok(if is_right { CallsTools::Rightly } else { CallsTools::WithOtherArguments { given } });
    }
    if !shown.tokens_estimated {
        let without = ask(model, request(Purpose::Plan, &task, Vec::new()), patience).await?;
        if without.prompt_tokens == shown.prompt_tokens {
            return Ok(CallsTools::NotShown { tokens: shown.prompt_tokens });
        }
    }
    Ok(CallsTools::Not { said: shown.refusal.unwrap_or(shown.text) })
}

async fn undecided(model: &dyn ChatModel, patience: Duration) -> Result<Option<String>, ModelError> {
    let call = ToolCall { tool: TOOL.into(), arguments: Map::from_iter([("number".to_owned(), json!(NUMBER))]) };
    let rules = "Decide on one step of your plan before it begins. Reply with the bare word EXECUTE if it shall run; \
                 otherwise ABORT with the reason. In JSON: {\"decision\":\"EXECUTE\"}.";
    let fragments = vec![
        Fragment::Task { text: format!("Report the number {NUMBER}.") },
        Fragment::InFlight { goals: Vec::new(), plan: 1 },
        Fragment::Step { address: StepAddress { plan: 1, step: StepNumber(1) }, steps: 1, call },
    ];
    let messages = vec![
        Message::System { fragments: vec![Fragment::Rules { text: rules.to_owned() }] },
        Message::User { fragments },
    ];
    let asked = ChatRequest { messages, ..request(Purpose::Confirm, "", vec![tool()]) };
    let reply = ask(model, asked, patience).await?;
    Ok(confirmation::read(&reply, TOOL, TOOL).err().map(|unusable| unusable.problem))
}

fn tool() -> ToolDefinition {
    ToolDefinition {
        name: TOOL.to_owned(),
        description: "[act] Reports a number.".to_owned(),
        parameters: json!({
            "type": "object", "properties": {"number": {"type": "integer"}}, "required": ["number"],
            "additionalProperties": false,
        }),
        phase: ToolPhase::Execution,
        phrases: Vec::new(),
        kind: ToolKind::Act,
    }
}

fn request(purpose: Purpose, text: &str, tools: Vec<ToolDefinition>) -> ChatRequest {
    let fragments = vec![Fragment::Notice { text: text.to_owned() }];
    ChatRequest {
        purpose,
        messages: vec![Message::User { fragments }],
        tools,
        temperature: 0.0,
        max_tokens: MAX_TOKENS,
    }
}

async fn ask(model: &dyn ChatModel, request: ChatRequest, patience: Duration) -> Result<ChatReply, ModelError> {
    timeout(patience, model.chat(&request)).await.unwrap_or_else(|_| {
        Err(ModelError {
            kind: ModelErrorKind::Timeout,
            message: format!("{} did not answer within {} s", model.label(), patience.as_secs()),
            hint: "check that it runs, and that it is fast enough".to_owned(),
            retry_after: None,
        })
    })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use async_trait::async_trait;
    use cortex_core::{ModelCall, ReplyListener};

    use super::*;

    /// A model of which some things are wrong.
    #[derive(Default)]
    struct Model {
        is_not_shown_tools: bool,
        only_talks: bool,
        gives: Option<Value>,
        mumbles: bool,
        hides_tokens: bool,
        guesses_colours: bool,
        pictures: PictureShelf,
    }

    impl Model {
        /// The colour of the picture that it is shown, or the one that it guesses.
        fn colour(&self, request: &ChatRequest) -> Option<&'static str> {
            let outcome = request.messages.iter().find_map(|message| match message {
                Message::Tool { content: Fragment::ToolResult { outcome }, .. } => Some(outcome),
                _ => None,
            })?;
            let picture = self.pictures.find(&outcome.pictures.first()?.id)?;
            let shown = COLOURS.iter().find(|(_, file)| *file == picture.file);
            if self.guesses_colours { Some("Red.") } else { shown.map(|(colour, _)| *colour) }
        }
    }

    #[async_trait]
    impl ChatModel for Model {
        fn label(&self) -> String {
            "trained".to_owned()
        }

        async fn chat_streaming(
            &self,
            request: &ChatRequest,
            _: Arc<dyn ReplyListener>,
        ) -> Result<ChatReply, ModelError> {
            let tools = if self.is_not_shown_tools { 0 } else { request.tools.len() };
            let words = |text: &str| ChatReply {
                text: text.to_owned(),
                prompt_tokens: 20 + 100 * tools as u64,
                tokens_estimated: self.hides_tokens,
                ..ChatReply::default()
            };
            if let Some(colour) = self.colour(request) {
                return Ok(words(colour));
            }
            Ok(match (request.purpose, tools) {
                (Purpose::Confirm, _) if self.mumbles => words("I would say that we could execute it."),
                (Purpose::Confirm, _) => words("EXECUTE"),
                (_, 1) if !self.only_talks => {
                    let given = self.gives.clone().unwrap_or(json!({"number": 7}));
                    let arguments = CallArguments::read(&given.to_string());
                    let call = ModelCall { id: String::new(), name: TOOL.to_owned(), arguments };
                    ChatReply { calls: vec![call], ..words("") }
                }
                _ => words("OK."),
            })
        }
    }

    async fn tried(model: Model) -> Trial {
        trial(&model, Some(&model.pictures), Duration::from_secs(1)).await.expect("it answers")
    }

    #[tokio::test(start_paused = true)]
    async fn what_a_model_can_do_is_found_by_asking_it() {
        let good = tried(Model::default()).await;
        assert_eq!((good.reports_tokens, &good.calls, &good.undecided), (true, &CallsTools::Rightly, &None));
        let other = tried(Model { gives: Some(json!({"number": "seven"})), ..Model::default() }).await;
        assert_eq!(other.calls, CallsTools::WithOtherArguments { given: r#"{"number":"seven"}"#.to_owned() });
        let talks = tried(Model { only_talks: true, ..Model::default() }).await;
        assert_eq!(talks.calls, CallsTools::Not { said: "OK.".to_owned() });
        let mumbles = tried(Model { mumbles: true, ..Model::default() }).await;
        assert!(mumbles.undecided.is_some());
    }

    #[tokio::test(start_paused = true)]
    async fn a_model_that_guesses_what_a_picture_shows_is_found_by_three_colours() {
        let seeing = tried(Model::default()).await;
        assert_eq!(seeing.sees, Some(SeesPictures::Rightly));
        let guesses = tried(Model { guesses_colours: true, ..Model::default() }).await;
        let said = vec!["green: Red.".to_owned(), "blue: Red.".to_owned()];
        assert_eq!(guesses.sees, Some(SeesPictures::Not { said }));
        let blind = Model::default();
        let not_asked = trial(&blind, None, Duration::from_secs(1)).await.expect("it answers");
        assert_eq!(not_asked.sees, None);
    }

    /// A real `llama-server` dropped the tools in silence, because the model's chat template knows none.
    #[tokio::test(start_paused = true)]
    async fn a_server_that_leaves_the_tools_out_is_found_by_the_tokens() {
        let dropped = tried(Model { is_not_shown_tools: true, ..Model::default() }).await;
        assert_eq!(dropped.calls, CallsTools::NotShown { tokens: 20 });
        let untold = tried(Model { is_not_shown_tools: true, hides_tokens: true, ..Model::default() }).await;
        assert_eq!(untold.calls, CallsTools::Not { said: "OK.".to_owned() }, "an estimate shows nothing");
    }
}
