//! `cortex tape exchanges`: what models were asked in a mission, and what they replied.

use cortex_core::fragment::one_line;
use cortex_core::{CallArguments, ChatReply, ModelCall, Purpose};
use cortex_runtime::tape::{Reader, RecordedExchange, TapeError, exchanges};
use serde_json::{Value, json};

/// Most characters of what a model said.
const SAID_CHARACTERS: usize = 200;

/// One line for each exchange.
pub(crate) fn lines(reader: &mut Reader, is_json: bool) -> Result<Vec<String>, TapeError> {
    let all = exchanges(reader)?;
    if all.is_empty() && !is_json {
        return Ok(vec!["No model was asked.".to_owned()]);
    }
    Ok(all.iter().map(|exchange| if is_json { in_full(exchange).to_string() } else { line(exchange) }).collect())
}

fn in_full(exchange: &RecordedExchange) -> Value {
    let (reply, error) = match &exchange.reply {
        Some(Ok(reply)) => (Some(reply), None),
        Some(Err(error)) => (None, Some(error)),
        None => (None, None),
    };
    json!({
        "mission": exchange.mission,
        "line": exchange.line,
        "request_id": exchange.id,
        "model": exchange.model,
        "request": exchange.request,
        "reply": reply,
        "error": error,
        "seconds": exchange.took.map(|took| took.as_secs_f64()),
    })
}

fn line(exchange: &RecordedExchange) -> String {
    let purpose = match exchange.request.purpose {
        Purpose::Plan => "plan",
        Purpose::Confirm => "confirm",
        Purpose::Correct => "correct",
    };
    let took = exchange.took.map_or_else(|| "-".to_owned(), |took| format!("{:.2} s", took.as_secs_f64()));
    let (tokens, said) = match &exchange.reply {
        Some(Ok(reply)) => (format!("{}+{}", reply.prompt_tokens, reply.completion_tokens), said(reply)),
        Some(Err(error)) => ("-".to_owned(), format!("failed: {}", error.message)),
        None => ("-".to_owned(), "(given up)".to_owned()),
    };
    let said = one_line(&said, SAID_CHARACTERS);
    let model = one_line(&exchange.model, SAID_CHARACTERS);
    format!("{:3}  {purpose:7}  {took:>9}  {tokens:>12}  {model}  {said}", exchange.id.0)
}

fn said(reply: &ChatReply) -> String {
    let call = |call: &ModelCall| match &call.arguments {
        CallArguments::Object(arguments) => format!("{} {}", call.name, Value::Object(arguments.clone())),
        CallArguments::Malformed { text, .. } => format!("{} {text}", call.name),
    };
    let words = reply.refusal.as_ref().unwrap_or(&reply.text);
    let parts = std::iter::once(words.trim().to_owned()).chain(reply.calls.iter().map(call));
    parts.filter(|part| !part.is_empty()).collect::<Vec<_>>().join("; ")
}
