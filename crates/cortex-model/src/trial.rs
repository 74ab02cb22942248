//! What a model can do of what Cortex needs, found by asking it: whether it answers, calls a tool, and decides on a step in a
//! form that can be read.
//!
//! A server that does not show the tools to its model says so nowhere; it reads as many tokens with them as without.

use std::time::Duration;

use cortex_core::{
    CallArguments, ChatModel, ChatReply, ChatRequest, Fragment, Message, ModelError, ModelErrorKind, Purpose,
    ToolDefinition, ToolKind, confirmation,
};
use cortex_protocol::{StepAddress, StepNumber, ToolCall, ToolPhase};
use serde_json::{Map, Value, json};
use tokio::time::{Instant, timeout};

/// The tool that the model is to call, and the number that it is to give.
const TOOL: &str = "report_number";
const NUMBER: i64 = 7;
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

/// Asks the model. Each answer may take so long.
///
/// # Errors
/// When it gives no answer at all to one of the questions.
pub async fn trial(model: &dyn ChatModel, patience: Duration) -> Result<Trial, ModelError> {
    let began = Instant::now();
    let words = ask(model, request(Purpose::Plan, "Say OK.", Vec::new()), patience).await?;
    let answered_after = began.elapsed();
    Ok(Trial {
        answered_after,
        // Of an answer that was cut while it came, nobody could report them.
        reports_tokens: !words.tokens_estimated || words.cut.is_some(),
        calls: calls_tools(model, patience).await?,
        undecided: undecided(model, patience).await?,
    })
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
        trial(&model, Duration::from_secs(1)).await.expect("it answers")
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

    /// A real `llama-server` dropped the tools in silence, because the model's chat template knows none.
    #[tokio::test(start_paused = true)]
    async fn a_server_that_leaves_the_tools_out_is_found_by_the_tokens() {
        let dropped = tried(Model { is_not_shown_tools: true, ..Model::default() }).await;
        assert_eq!(dropped.calls, CallsTools::NotShown { tokens: 20 });
        let untold = tried(Model { is_not_shown_tools: true, hides_tokens: true, ..Model::default() }).await;
        assert_eq!(untold.calls, CallsTools::Not { said: "OK.".to_owned() }, "an estimate shows nothing");
    }
}
