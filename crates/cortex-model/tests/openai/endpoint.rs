//! The OpenAI-compatible adapter against a real server that answers well, badly, late or not at all.

use std::time::{Duration, Instant};

use crate::http_server::{Answer, Server, says};
use cortex_core::{
    CallArguments, ChatModel, ChatReply, ChatRequest, Fragment, Message, ModelCall, ModelError, ModelErrorKind,
    Purpose, ToolDefinition,
};
use cortex_model::{ApiKey, ModelSettings, OpenAiModel, Structured};
use serde_json::{Value, json};

/// Against hangs only.
const AT_MOST: Duration = Duration::from_secs(30);

fn settings() -> ModelSettings {
    ModelSettings {
        connect_timeout: Duration::from_secs(2),
        attempt_timeout: Duration::from_secs(10),
        request_timeout: Duration::from_secs(20),
        retries: 2,
        first_backoff: Duration::from_millis(5),
        ..ModelSettings::default()
    }
}

fn request() -> ChatRequest {
    ChatRequest {
        purpose: Purpose::Plan,
        messages: vec![Message::User { fragments: vec![Fragment::Task { text: "go to the kitchen".to_owned() }] }],
        tools: vec![ToolDefinition {
            name: "base-go_to".to_owned(),
            description: "Drives to a room.".to_owned(),
            parameters: json!({"type": "object", "properties": {"place": {"type": "string"}}}),
            phase: cortex_protocol::ToolPhase::Execution,
            phrases: vec!["go to {place}".to_owned()],
            kind: cortex_core::ToolKind::Act,
        }],
        temperature: 0.2,
        max_tokens: 500,
    }
}

async fn ask(base_url: &str, settings: ModelSettings) -> Result<ChatReply, ModelError> {
    let model = OpenAiModel::new("m", base_url, settings).unwrap();
    tokio::time::timeout(AT_MOST, model.chat(&request())).await.expect("the model bounds its own time")
}

/// Asks a server that answers in this way; also returns how many requests it got.
async fn ask_answered(answers: Vec<Answer>) -> (Result<ChatReply, ModelError>, usize) {
    let server = Server::start(answers).await;
    let reply = ask(&server.base_url, settings()).await;
    (reply, server.arrived().len())
}

fn text(text: &str) -> ChatReply {
    ChatReply { text: text.to_owned(), prompt_tokens: 10, completion_tokens: 2, ..ChatReply::default() }
}

#[tokio::test]
async fn a_request_goes_out_after_the_book_and_its_reply_comes_back() {
    let server = Server::start(vec![says("Hello.")]).await;
    let with_key = ModelSettings { api_key: Some(ApiKey::new("sk-test").unwrap()), ..settings() };
    assert_eq!(ask(&server.base_url, with_key).await, Ok(text("Hello.")));
    let arrived = server.arrived();
    assert_eq!(arrived.len(), 1);
    assert_eq!(arrived[0].line, "POST /v1/chat/completions");
    assert_eq!(arrived[0].header("authorization"), Some("Bearer sk-test"));
    assert_eq!(
        arrived[0].body,
        json!({
            "model": "m",
            "messages": [{"role": "user", "content": "The task, in the person's words: \"go to the kitchen\""}],
            "tools": [{"type": "function", "function": {
                "name": "base-go_to",
                "description": "[act] Drives to a room.",
                "parameters": {"type": "object", "properties": {"place": {"type": "string"}}},
            }}],
            "temperature": 0.2,
            "max_tokens": 500,
            "stream": true,
            "stream_options": {"include_usage": true},
        })
    );
}

#[tokio::test]
async fn without_a_key_none_is_sent() {
    let server = Server::start(vec![says("Hello.")]).await;
    assert_eq!(ask(&server.base_url, settings()).await, Ok(text("Hello.")));
    assert_eq!(server.arrived()[0].header("authorization"), None);
}

#[tokio::test]
async fn arguments_as_an_object_and_finish_reasons_of_other_servers_do_not_spoil_a_reply() {
    let body = json!({"choices": [{"finish_reason": "eos", "message": {"tool_calls": [
        {"function": {"name": "base-go_to", "arguments": {"place": "kitchen"}}}
    ]}}]});
    let (reply, _) = ask_answered(vec![Answer::json(&body)]).await;
    let Value::Object(arguments) = json!({"place": "kitchen"}) else { unreachable!() };
    assert_eq!(
        reply,
        Ok(ChatReply {
            calls: vec![ModelCall {
                id: "call-1".to_owned(),
                name: "base-go_to".to_owned(),
                arguments: CallArguments::Object(arguments),
            }],
            prompt_tokens: 94,
            completion_tokens: 21,
            tokens_estimated: true,
            ..ChatReply::default()
        })
    );
}

/// A budget of tokens bound nothing where the endpoint told no tokens.
#[tokio::test]
async fn regression_an_endpoint_that_tells_no_usage_cost_nothing() {
    let message = json!({"role": "assistant", "content": "x".repeat(400)});
    for usage in [
        json!(null),
        json!({}),
        json!({"prompt_tokens": 0, "completion_tokens": 0}),
        json!({"prompt_tokens": -1}),
        json!(7),
    ] {
        let body = json!({"choices": [{"finish_reason": "stop", "message": message}], "usage": usage});
        let server = Server::start(vec![Answer::json(&body)]).await;
        let reply = ask(&server.base_url, settings()).await.unwrap();
        let sent = server.arrived()[0].body.to_string().len() as u64;
        assert!(reply.tokens_estimated, "{usage}");
        assert_eq!(reply.prompt_tokens, sent.div_ceil(4), "{usage}: a quarter of the bytes, rounded up");
        assert_eq!(reply.completion_tokens, (message.to_string().len() as u64).div_ceil(4), "{usage}");
    }
    let half = json!({"choices": [{"message": message}], "usage": {"prompt_tokens": 9}});
    let reply = ask_answered(vec![Answer::json(&half)]).await.0.unwrap();
    assert_eq!((reply.prompt_tokens, reply.tokens_estimated), (9, true), "what is told counts");
    assert!(reply.completion_tokens > 100);
    assert!(!ask_answered(vec![says("Hello.")]).await.0.unwrap().tokens_estimated);
}

#[tokio::test]
async fn a_reply_with_neither_words_nor_calls_is_handed_on_as_it_is() {
    let body = json!({"choices": [{"finish_reason": "stop", "message": {"role": "assistant"}}]});
    let (reply, _) = ask_answered(vec![Answer::json(&body)]).await;
    assert_eq!(reply.map(|reply| (reply.text, reply.calls)), Ok((String::new(), Vec::new())));
}

/// Whatever is in the reply: an endpoint that withholds a part of it may have withheld what takes the calls back.
#[tokio::test]
async fn the_calls_of_a_reply_that_was_cut_or_filtered_are_marked_as_cut() {
    for finish in
        [json!("length"), json!("content_filter"), json!("Content_Filter "), json!({"type": "filter"}), json!(3)]
    {
        let call = json!({"function": {"name": "go", "arguments": "{\"to\": \"kitchen\"}"}});
        let body = json!({"choices": [{"finish_reason": finish, "message": {"tool_calls": [call]}}]});
        let (reply, _) = ask_answered(vec![Answer::json(&body)]).await;
        let reply = reply.unwrap();
        assert!(reply.cut.is_some() && reply.calls.len() == 1, "{finish}: {reply:?}");
    }
}

#[tokio::test]
async fn what_is_no_readable_answer_is_not_asked_for_again() {
    let twice = |fields: &str| format!("{{\"choices\": [{{\"message\": {{{fields}}}}}]}}");
    let called_twice =
        r#""tool_calls": [{"function": {"name": "go", "arguments": {"to": "kitchen", "to": "office"}}}]"#;
    for (answer, says) in [
        (Answer::status(200, "{\"choices\": [{\"mess"), "not JSON"),
        (Answer::status(200, "<html>welcome</html>"), "<html>welcome</html>"),
        (Answer::status(200, "["), "not JSON"),
        (Answer::status(200, "[".repeat(1 << 20)), "not JSON"),
        (Answer::status(200, ""), "not JSON"),
        (Answer::status(200, twice("\"content\": \"ABORT\", \"content\": \"EXECUTE\"")), "'content' is given twice"),
        (Answer::status(200, twice(called_twice)), "'to' is given twice"),
        (Answer::json(&json!({"choices": []})), "no choice"),
        (Answer::status(200, format!("{{\"pad\": \"{}\"}}", "x".repeat(9 << 20))), "larger than"),
        (Answer::Endless, "larger than"),
    ] {
        let (reply, requests) = ask_answered(vec![answer]).await;
        let error = reply.unwrap_err();
        assert_eq!((error.kind, requests), (ModelErrorKind::BadReply, 1), "{error:?}");
        assert!(error.message.contains(says), "{error:?}");
        assert!(error.message.len() < 1_000, "{error:?}");
    }
}

#[tokio::test]
async fn a_passing_failure_is_asked_again_and_forgotten() {
    for failure in [
        Answer::status(500, "{\"error\": {\"message\": \"oops\"}}"),
        Answer::status(502, "<html>Bad Gateway</html>"),
        Answer::status(429, "slow down"),
        Answer::Cut,
    ] {
        let (reply, requests) = ask_answered(vec![failure.clone(), says("Hello.")]).await;
        assert_eq!((reply, requests), (Ok(text("Hello.")), 2), "{failure:?}");
    }
}

#[tokio::test]
async fn failures_that_do_not_pass_are_told_with_their_status_after_the_last_attempt() {
    for (answer, kind, says) in [
        (
            Answer::status(500, "{\"error\": {\"message\": \"oops\"}}"),
            ModelErrorKind::ServerFailed,
            "500 Internal Server Error: oops",
        ),
        (
            Answer::status(502, "<html>no upstream</html>"),
            ModelErrorKind::ServerFailed,
            "502 Bad Gateway: <html>no upstream</html>",
        ),
        (Answer::status(429, ""), ModelErrorKind::RateLimited, "429 Too Many Requests"),
        (Answer::Cut, ModelErrorKind::ServerFailed, "the connection broke"),
    ] {
        let (reply, requests) = ask_answered(vec![answer]).await;
        let error = reply.unwrap_err();
        assert_eq!((error.kind, requests), (kind, 3), "{error:?}");
        assert!(error.message.contains(says) && error.message.ends_with("(3 attempts)"), "{error:?}");
    }
}

#[tokio::test]
async fn a_refusal_is_told_at_once_with_its_status_and_what_to_do() {
    for (answer, kind, says, hint) in [
        (
            Answer::status(401, "{\"error\": {\"message\": \"bad key\"}}"),
            ModelErrorKind::Unauthorized,
            "401 Unauthorized: bad key",
            "OPENAI_API_KEY",
        ),
        (Answer::status(403, "go away"), ModelErrorKind::Unauthorized, "403 Forbidden: go away", "OPENAI_API_KEY"),
        (Answer::status(404, "404 page not found"), ModelErrorKind::Refused, "404 Not Found: 404 page", "model's name"),
        (
            Answer::status(400, "{\"error\": \"context too long\"}"),
            ModelErrorKind::Refused,
            "400 Bad Request: context too long",
            "",
        ),
        (
            Answer::status(301, "").with_header("location", "https://elsewhere.example/"),
            ModelErrorKind::Refused,
            "301",
            "final URL",
        ),
        (Answer::status(418, "{not json"), ModelErrorKind::Refused, "418", ""),
    ] {
        let (reply, requests) = ask_answered(vec![answer]).await;
        let error = reply.unwrap_err();
        assert_eq!((error.kind, requests), (kind, 1), "{error:?}");
        assert!(error.message.contains(says) && error.hint.contains(hint), "{error:?}");
    }
}

#[tokio::test]
async fn the_wait_that_the_endpoint_asks_for_is_kept() {
    let limited = Answer::status(429, "").with_header("retry-after", "1");
    let before = Instant::now();
    let (reply, requests) = ask_answered(vec![limited, says("Hello.")]).await;
    assert_eq!((reply, requests), (Ok(text("Hello.")), 2));
    assert!(before.elapsed() >= Duration::from_secs(1), "{:?}", before.elapsed());

    let limited = Answer::status(503, "")
        .with_header("date", "Fri, 01 Jan 2027 00:00:00 GMT")
        .with_header("retry-after", "Fri, 01 Jan 2027 00:00:01 GMT");
    let before = Instant::now();
    let (reply, requests) = ask_answered(vec![limited, says("Hello.")]).await;
    assert_eq!((reply, requests), (Ok(text("Hello.")), 2));
    assert!(before.elapsed() >= Duration::from_secs(1), "{:?}", before.elapsed());
}

#[tokio::test]
async fn a_wait_beyond_the_deadline_is_told_instead_of_kept() {
    let limited = Answer::status(429, "come back tomorrow").with_header("retry-after", "86400");
    let before = Instant::now();
    let (reply, requests) = ask_answered(vec![limited]).await;
    let error = reply.unwrap_err();
    assert_eq!((error.kind, requests), (ModelErrorKind::RateLimited, 1), "{error:?}");
    assert_eq!(error.retry_after, Some(Duration::from_secs(86_400)));
    assert!(before.elapsed() < Duration::from_secs(10));
}

#[tokio::test]
async fn a_server_that_hangs_costs_no_more_than_the_whole_time_allowed() {
    let server = Server::start(vec![Answer::Hang]).await;
    let short = ModelSettings {
        attempt_timeout: Duration::from_millis(150),
        request_timeout: Duration::from_millis(400),
        retries: 1_000,
        ..settings()
    };
    let before = Instant::now();
    let error = ask(&server.base_url, short).await.unwrap_err();
    assert_eq!(error.kind, ModelErrorKind::Timeout, "{error:?}");
    assert!(before.elapsed() < Duration::from_secs(10), "{:?}", before.elapsed());
    let attempts = server.arrived().len();
    assert!((2..=4).contains(&attempts), "{attempts} attempts");
}

#[tokio::test]
async fn a_hanging_attempt_is_given_up_and_the_next_one_answers() {
    let server = Server::start(vec![Answer::Hang, says("Hello.")]).await;
    let short = ModelSettings { attempt_timeout: Duration::from_millis(500), ..settings() };
    assert_eq!(ask(&server.base_url, short).await, Ok(text("Hello.")));
}

#[tokio::test]
async fn an_endpoint_that_is_not_there_is_unreachable() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let error = ask(&format!("http://{address}/v1"), settings()).await.unwrap_err();
    assert_eq!(error.kind, ModelErrorKind::Unreachable, "{error:?}");
    assert!(error.hint.contains("running") && error.message.ends_with("(3 attempts)"), "{error:?}");
}

#[tokio::test]
async fn a_key_that_the_endpoint_repeats_is_not_told() {
    let server = Server::start(vec![Answer::status(401, "{\"error\": \"wrong key sk-very-secret\"}")]).await;
    let with_key = ModelSettings { api_key: Some(ApiKey::new("sk-very-secret").unwrap()), ..settings() };
    let error = ask(&server.base_url, with_key).await.unwrap_err();
    assert_eq!(error.message, "the endpoint answered 401 Unauthorized: wrong key [key]");
}

#[tokio::test]
async fn a_parameter_that_the_endpoint_refuses_is_left_out_from_then_on() {
    let refused = json!({"error": {"message": "Unsupported value", "param": "temperature"}}).to_string();
    let server = Server::start(vec![Answer::status(400, refused), says("Hello.")]).await;
    let model = OpenAiModel::new("m", &server.base_url, ModelSettings { retries: 0, ..settings() }).unwrap();
    for _ in 0..2 {
        assert_eq!(model.chat(&request()).await, Ok(text("Hello.")));
    }
    let sent: Vec<bool> = server.arrived().iter().map(|arrived| arrived.body.get("temperature").is_some()).collect();
    assert_eq!(sent, [true, false, false]);
}

#[tokio::test]
async fn a_parameter_that_is_refused_again_ends_the_asking() {
    let refused = json!({"error": {"message": "Unsupported value", "param": "temperature"}}).to_string();
    let (reply, requests) = ask_answered(vec![Answer::status(400, refused)]).await;
    assert_eq!((reply.unwrap_err().kind, requests), (ModelErrorKind::Refused, 2));
}

/// Confirms twice at a server that answers so. What came of it, and which requests asked for a schema.
async fn confirm_twice(
    answers: Vec<Answer>,
    structured: Structured,
) -> (Vec<Result<ChatReply, ModelError>>, Vec<bool>) {
    let server = Server::start(answers).await;
    let settings = ModelSettings { structured_output: structured, retries: 0, ..settings() };
    let model = OpenAiModel::new("m", &server.base_url, settings).unwrap();
    let confirm = ChatRequest { purpose: Purpose::Confirm, ..request() };
    let replies = vec![model.chat(&confirm).await, model.chat(&confirm).await];
    let asked = server.arrived().iter().map(|arrived| arrived.body.get("response_format").is_some()).collect();
    (replies, asked)
}

#[tokio::test]
async fn a_decision_is_asked_for_in_a_schema_unless_it_is_switched_off() {
    let decision = "{\"decision\": \"EXECUTE\", \"reason\": \"\"}";
    for (structured, asked) in [(Structured::Auto, true), (Structured::On, true), (Structured::Off, false)] {
        let (replies, sent) = confirm_twice(vec![says(decision)], structured).await;
        assert_eq!((replies, sent), (vec![Ok(text(decision)); 2], vec![asked; 2]), "{structured:?}");
    }
}

#[tokio::test]
async fn an_endpoint_that_refuses_a_schema_is_asked_without_it_from_then_on() {
    for refusal in [
        Answer::status(400, json!({"error": {"message": "no", "param": "response_format"}}).to_string()),
        Answer::status(400, "{\"error\": \"can't do that with tools\"}"),
        Answer::status(422, "{\"detail\": \"extra fields\"}"),
        Answer::status(500, "Cannot use custom grammar constraints with tools."),
    ] {
        let (replies, asked) = confirm_twice(vec![refusal.clone(), says("EXECUTE")], Structured::Auto).await;
        assert_eq!((replies, asked), (vec![Ok(text("EXECUTE")); 2], vec![true, false, false]), "{refusal:?}");
    }
}

#[tokio::test]
async fn a_failure_of_another_kind_does_not_give_up_the_schema() {
    let too_long = Answer::status(400, "{\"error\": \"context too long\"}");
    let answers = vec![too_long.clone(), too_long, says("EXECUTE")];
    let (replies, asked) = confirm_twice(answers, Structured::Auto).await;
    assert_eq!(replies[0].as_ref().unwrap_err().kind, ModelErrorKind::Refused);
    assert_eq!((replies[1].clone(), asked), (Ok(text("EXECUTE")), vec![true, false, true]));
    let named = json!({"error": {"message": "no", "param": "messages"}}).to_string();
    let (_, asked) = confirm_twice(vec![Answer::status(400, named)], Structured::Auto).await;
    assert_eq!(asked, [true, true], "another parameter is named");
    let (replies, asked) = confirm_twice(vec![Answer::status(500, "oops")], Structured::Auto).await;
    assert_eq!((replies[0].as_ref().unwrap_err().kind, asked), (ModelErrorKind::ServerFailed, vec![true, true]));
}

#[tokio::test]
async fn a_schema_that_is_switched_on_is_never_given_up() {
    let (replies, asked) = confirm_twice(vec![Answer::status(400, "no response_format")], Structured::On).await;
    assert_eq!(asked, [true, true]);
    assert!(replies[0].as_ref().unwrap_err().hint.contains("endpoint.structured_output"), "{replies:?}");
}

#[tokio::test]
async fn an_abandoned_request_closes_its_connection() {
    let mut server = Server::start(vec![Answer::Hang]).await;
    let model = OpenAiModel::new("m", &server.base_url, settings()).unwrap();
    let asked = request();
    tokio::select! {
        reply = model.chat(&asked) => panic!("nobody answered: {reply:?}"),
        hangs = server.hanging.wait_for(|(taken, _)| *taken == 1) => drop(hangs.unwrap()),
    }
    let given_up = tokio::time::timeout(AT_MOST, server.hanging.wait_for(|(_, given_up)| *given_up == 1)).await;
    assert!(given_up.is_ok(), "the server still waits for a request that nobody wants");
}
