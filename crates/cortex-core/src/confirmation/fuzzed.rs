//! Answers to "shall this step run?" that nobody has thought of: none but a clear yes is read as EXECUTE.
//!
//! Each text is tried as all that a model can write: as words, as words beside a call, as the arguments of a call, as the
//! name of a call, and as a refusal.

use super::*;
use crate::chat::ModelCall;

const WIRE_NAME: &str = "base-go_to";
const CANONICAL_NAME: &str = "base.go_to";
const ARGUMENTS: &str = "{\"place\": \"kitchen\"}";
/// Most characters of what the model is told: words are cut, and around them stand ours.
const MOST_TOLD: usize = WORDS_QUOTED + 300;

fn read_reply(reply: &ChatReply) -> Result<Reading, Unusable> {
    let read = read(reply, WIRE_NAME, CANONICAL_NAME);
    match &read {
        Ok(reading) if reading.decision == Decision::Execute => assert_eq!(reading.reason, "", "{reply:?}"),
        Ok(reading) => assert_eq!(reading.arguments, None, "{reply:?}"),
        Err(Unusable { problem, .. }) => {
            let length = problem.chars().count();
            assert!(length <= MOST_TOLD, "{length} characters are told: {problem:.200}");
            assert!(!problem.chars().any(char::is_control), "{problem:?}");
        }
    }
    read
}

fn executes(read: &Result<Reading, Unusable>) -> bool {
    read.as_ref().is_ok_and(|reading| reading.decision == Decision::Execute)
}

fn call(name: &str, arguments: &str) -> ModelCall {
    ModelCall { id: "1".to_owned(), name: name.to_owned(), arguments: CallArguments::read(arguments) }
}

fn said(text: &str) -> ChatReply {
    ChatReply { text: text.to_owned(), ..ChatReply::default() }
}

/// Whether a text may be a clear yes, found out in another way than the reader does: without its marks it is the word
/// alone, or JSON that says nothing else.
fn may_be_a_yes(text: &str) -> bool {
    let is_a_mark = |letter: char| letter.is_whitespace() || MARKUP.contains(&letter) || letter == '.';
    let word: String = text.chars().filter(|letter| !is_a_mark(*letter)).collect();
    word == "EXECUTE" || is_a_yes_in_json(text)
}

fn is_a_yes_in_json(text: &str) -> bool {
    let inner = text.trim().trim_matches('`').trim_start_matches("json").trim();
    let Ok(Value::Object(outer)) = serde_json::from_str::<Value>(inner) else { return false };
    let answer = match outer.get("answer") {
        Some(Value::Object(answer)) if outer.len() == 1 => answer,
        _ => &outer,
    };
    let says_it = answer.get("decision") == Some(&json!("EXECUTE"));
    let gives_no_reason = match answer.get("reason") {
        None => answer.len() == 1,
        Some(Value::Null) => answer.len() == 2,
        Some(reason) => answer.len() == 2 && reason.as_str().is_some_and(|reason| reason.trim().is_empty()),
    };
    // A name that is given twice is lost in a map, but not its colon; none of these texts holds one.
    let pairs = answer.len() + usize::from(outer.contains_key("answer"));
    says_it && gives_no_reason && inner.matches(':').count() == pairs
}

/// The names of what a text was read as, one for each way in which it was tried.
fn told(readings: &[Result<Reading, Unusable>]) -> String {
    let one = |reading: &Result<Reading, Unusable>| match reading {
        Ok(reading) => format!("{:?}", reading.decision),
        // What follows is the model's.
        Err(Unusable { problem, .. }) => problem.split([':', '\'']).next().unwrap_or_default().to_owned(),
    };
    readings.iter().map(one).collect::<Vec<_>>().join("; ")
}

#[test]
fn no_mutant_of_an_answer_lets_a_step_run_unless_it_is_a_clear_yes() {
    cortex_fuzz::fuzz(&["fuzz"], |input| {
        let text = String::from_utf8_lossy(input);
        let words = read_reply(&said(&text));
        assert!(!executes(&words) || may_be_a_yes(&text), "{text:?} was taken for EXECUTE");

        let mut reply = said(&text);
        reply.calls.push(call(WIRE_NAME, ARGUMENTS));
        let beside = read_reply(&reply);
        assert_eq!(executes(&beside), text.trim().is_empty(), "words beside a call: {text:?}");

        let of_call = ChatReply { calls: vec![call(WIRE_NAME, &text)], ..ChatReply::default() };
        let arguments = read_reply(&of_call);
        if let Ok(Reading { arguments: Some(given), .. }) = &arguments {
            let written = serde_json::from_str::<Value>(text.trim()).unwrap_or_else(|_| json!({}));
            assert_eq!(Value::Object(given.clone()), written, "other arguments than were written: {text:?}");
        }

        let named = read_reply(&ChatReply { calls: vec![call(&text, ARGUMENTS)], ..ChatReply::default() });
        assert_eq!(executes(&named), [WIRE_NAME, CANONICAL_NAME].contains(&&*text), "a call of {text:?}");

        let twice = ChatReply { calls: vec![call(WIRE_NAME, &text), call(WIRE_NAME, &text)], ..ChatReply::default() };
        assert!(read_reply(&twice).is_err(), "two calls");
        let refused = ChatReply { refusal: Some(text.clone().into_owned()), ..reply };
        assert_eq!(read_reply(&refused).map(|reading| reading.decision), Ok(Decision::Abort), "a refusal: {text:?}");
        told(&[words, beside, arguments, named])
    });
}
