//! Replies that come in pieces, from a real server that streams well, badly, without end or not at all.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::http_server::{Answer, Server, StreamEnd, says};
use cortex_core::{
    CallArguments, ChatModel, ChatReply, ChatRequest, Fragment, Message, ModelError, ModelErrorKind, Purpose,
    ReplyListener,
};
use cortex_model::{ModelSettings, OpenAiModel, Streaming};
use serde_json::{Value, json};
use tokio::sync::Notify;

/// Against hangs only.
const AT_MOST: Duration = Duration::from_secs(30);

fn settings() -> ModelSettings {
    ModelSettings {
        attempt_timeout: Duration::from_secs(10),
        request_timeout: Duration::from_secs(20),
        retries: 1,
        first_backoff: Duration::from_millis(5),
        ..ModelSettings::default()
    }
}

fn request(purpose: Purpose) -> ChatRequest {
    ChatRequest {
        purpose,
        messages: vec![Message::User { fragments: vec![Fragment::Task { text: "hello".to_owned() }] }],
        tools: Vec::new(),
        temperature: 0.2,
        max_tokens: 4_096,
    }
}

/// Keeps every text that it gets.
#[derive(Default)]
struct Texts {
    words: Mutex<Vec<String>>,
    comes: Notify,
}

impl ReplyListener for Texts {
    fn on_text(&self, so_far: &str) {
        self.words.lock().unwrap().push(so_far.to_owned());
        self.comes.notify_one();
    }
}

async fn ask(model: &OpenAiModel, texts: &Arc<Texts>) -> Result<ChatReply, ModelError> {
    let request = request(Purpose::Plan);
    let asked = model.chat_streaming(&request, Arc::clone(texts) as Arc<dyn ReplyListener>);
    tokio::time::timeout(AT_MOST, asked).await.expect("the model bounds its own time")
}

fn model_at(server: &Server) -> OpenAiModel {
    OpenAiModel::new("m", &server.base_url, settings()).unwrap()
}

async fn reply_to(answers: Vec<Answer>) -> (Result<ChatReply, ModelError>, usize) {
    let server = Server::start(answers).await;
    let reply = ask(&model_at(&server), &Arc::default()).await;
    (reply, server.arrived().len())
}

fn says_so_far(text: &str) -> Value {
    json!({"choices": [{"index": 0, "delta": {"content": text}, "finish_reason": null}]})
}

fn ends(reason: &str) -> Value {
    json!({"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]})
}

fn usage() -> Value {
    json!({"choices": [], "usage": {"prompt_tokens": 10, "completion_tokens": 2}})
}

fn hello() -> ChatReply {
    ChatReply { text: "Hello.".to_owned(), prompt_tokens: 10, completion_tokens: 2, ..ChatReply::default() }
}

#[tokio::test]
async fn the_first_words_arrive_before_the_last_ones_are_written() {
    let whole = Answer::stream(&[says_so_far("Hi."), ends("stop")], StreamEnd::Done);
    let held = Answer::stream(&[says_so_far("Hel"), says_so_far("lo.")], StreamEnd::Waits);
    let mut server = Server::start(vec![whole, held]).await;
    let model = model_at(&server);
    let texts: Arc<Texts> = Arc::default();
    ask(&model, &texts).await.unwrap();
    assert!(texts.words.lock().unwrap().is_empty(), "nobody knows yet whether it thinks without saying so");
    let both = async {
        while texts.words.lock().unwrap().last().is_none_or(|words| words != "Hello.") {
            texts.comes.notified().await;
        }
    };
    tokio::select! {
        reply = ask(&model, &texts) => panic!("it is not whole yet: {reply:?}"),
        () = both => {}
    }
    let given_up = tokio::time::timeout(AT_MOST, server.hanging.wait_for(|(_, given_up)| *given_up == 1)).await;
    assert!(given_up.is_ok(), "the server still writes for nobody");
}

#[tokio::test]
async fn a_reply_in_pieces_is_the_reply_that_comes_whole() {
    let pieces = [says_so_far("Hel"), says_so_far("lo."), ends("stop"), usage()];
    for end in [StreamEnd::Done, StreamEnd::Closes] {
        let (reply, requests) = reply_to(vec![Answer::stream(&pieces, end)]).await;
        assert_eq!((reply, requests), (Ok(hello()), 1), "{end:?}");
    }
    // A server that has been asked for a stream and knows none.
    let (reply, requests) = reply_to(vec![says("Hello.")]).await;
    assert_eq!((reply, requests), (Ok(hello()), 1));
}

#[tokio::test]
async fn calls_that_are_split_over_pieces_are_whole() {
    let piece = |call: Value| json!({"choices": [{"index": 0, "delta": {"tool_calls": [call]}}]});
    let pieces = [
        piece(json!({"index": 0, "id": "a", "function": {"name": "base-go_to", "arguments": ""}})),
        piece(json!({"index": 1, "id": "b", "function": {"name": "light-set", "arguments": "{\"on"}})),
        piece(json!({"index": 0, "function": {"arguments": "{\"place\": \"küche\"}"}})),
        piece(json!({"index": 1, "function": {"arguments": "\": true}"}})),
        ends("tool_calls"),
    ];
    let (reply, _) = reply_to(vec![Answer::stream(&pieces, StreamEnd::Done)]).await;
    let reply = reply.unwrap();
    let calls: Vec<(&str, &CallArguments)> = reply.calls.iter().map(|call| (&*call.name, &call.arguments)).collect();
    let object = |value: Value| CallArguments::Object(value.as_object().cloned().unwrap());
    assert_eq!(
        calls,
        [("base-go_to", &object(json!({"place": "küche"}))), ("light-set", &object(json!({"on": true})))]
    );
    assert!(reply.tokens_estimated, "no usage was told");
}

/// A small model on a real server repeated itself to the time limit, twice in one task: 185 s for "say hello".
#[tokio::test]
async fn regression_a_reply_that_repeats_itself_was_read_to_its_end() {
    for delta in [
        json!({"content": "I will say hello. "}),
        json!({"reasoning_content": "Wait, but the task says hello. "}),
        json!({"tool_calls": [{"index": 0, "id": "a", "function": {"name": "say", "arguments": "hello "}}]}),
    ] {
        let piece = json!({"choices": [{"index": 0, "delta": delta}]});
        let mut server = Server::start(vec![Answer::stream(&[piece], StreamEnd::Repeats)]).await;
        let reply = ask(&model_at(&server), &Arc::default()).await.unwrap();
        assert_eq!(reply.cut.as_deref(), Some("it repeated itself without end"), "{delta}");
        assert!(reply.completion_tokens < 5_000, "{reply:?}");
        let given_up = tokio::time::timeout(AT_MOST, server.hanging.wait_for(|(_, given_up)| *given_up == 1)).await;
        assert!(given_up.is_ok(), "the server still writes for nobody");
        drop(given_up);
        assert_eq!(server.arrived().len(), 1, "asked again at once, it would repeat itself again");
    }
}

#[tokio::test]
async fn a_stream_that_breaks_off_is_no_reply_and_is_asked_for_again() {
    let whole = || Answer::stream(&[says_so_far("Hello."), ends("stop"), usage()], StreamEnd::Done);
    let broken = Answer::stream(&[says_so_far("EXECUTE")], StreamEnd::Closes);
    assert_eq!(reply_to(vec![broken.clone(), whole()]).await, (Ok(hello()), 2));
    let (reply, requests) = reply_to(vec![broken]).await;
    let error = reply.unwrap_err();
    assert_eq!((error.kind, requests), (ModelErrorKind::ServerFailed, 2), "{error:?}");
    // In the middle of an event, and with the word that it was all, but no reason why it ended.
    let halved = Answer::Raw(format!("data: {}\n\ndata: {{\"choices\": [{{\"del", says_so_far("EXECUTE")));
    let unexplained = Answer::stream(&[says_so_far("EXECUTE")], StreamEnd::Done);
    for broken in [halved, unexplained] {
        assert_eq!(reply_to(vec![broken, whole()]).await, (Ok(hello()), 2));
    }
}

#[tokio::test]
async fn a_stream_under_another_name_is_read_all_the_same() {
    let events = [says_so_far("Hel"), says_so_far("lo."), ends("stop"), usage()];
    let body: String = events.iter().map(|event| format!("data: {event}\n\n")).collect();
    let json = Answer::status(200, body).with_header("content-type", "application/json");
    assert_eq!(reply_to(vec![json]).await, (Ok(hello()), 1));
}

#[tokio::test]
async fn an_error_within_a_stream_is_told_in_the_servers_words() {
    let error = json!({"error": {"code": 429, "message": "slow down"}});
    let (reply, requests) = reply_to(vec![Answer::stream(&[says_so_far("Hel"), error], StreamEnd::Done)]).await;
    let error = reply.unwrap_err();
    assert_eq!((error.kind, requests), (ModelErrorKind::RateLimited, 2), "{error:?}");
    assert!(error.message.contains("slow down"), "{error:?}");
}

#[tokio::test]
async fn what_can_not_be_read_in_a_stream_spoils_it() {
    let garbled = |event: &str| Answer::Stream(vec![says_so_far("Hel").to_string(), event.to_owned()], StreamEnd::Done);
    for event in ["{\"choices\": [", "<html>", "{\"choices\": [], \"choices\": []}"] {
        let (reply, requests) = reply_to(vec![garbled(event)]).await;
        let error = reply.unwrap_err();
        assert_eq!((error.kind, requests), (ModelErrorKind::BadReply, 1), "{event}: {error:?}");
    }
    let (reply, _) = reply_to(vec![Answer::stream(&[json!("x".repeat(64 << 10))], StreamEnd::Repeats)]).await;
    assert_eq!(reply.unwrap_err().kind, ModelErrorKind::BadReply, "a stream without end that says nothing");
}

#[tokio::test]
async fn a_server_that_writes_a_byte_now_and_then_costs_no_more_than_the_time_allowed() {
    for end in [StreamEnd::Waits, StreamEnd::Drips] {
        let server = Server::start(vec![Answer::stream(&[says_so_far("Hel")], end)]).await;
        let brief = ModelSettings { attempt_timeout: Duration::from_millis(200), retries: 0, ..settings() };
        let model = OpenAiModel::new("m", &server.base_url, brief).unwrap();
        let reply = ask(&model, &Arc::default()).await;
        assert_eq!(reply.unwrap_err().kind, ModelErrorKind::Timeout, "{end:?}");
    }
}

#[tokio::test]
async fn thoughts_never_arrive_and_after_an_unannounced_one_nothing_does() {
    let stream = |pieces: &[&str]| {
        let mut events: Vec<Value> = pieces.iter().map(|text| says_so_far(text)).collect();
        events.extend([ends("stop"), usage()]);
        Answer::stream(&events, StreamEnd::Done)
    };
    let server = Server::start(vec![
        stream(&["Hello."]),
        stream(&["<think>secret</think>", "Hello."]),
        stream(&["<think>secret</think>secret</think>", "Hello."]),
        stream(&["not announced</think>", "Hello."]),
        stream(&["secret</think>", "Hello."]),
    ])
    .await;
    let model = model_at(&server);
    for turn in 1..=5 {
        let texts: Arc<Texts> = Arc::default();
        assert_eq!(ask(&model, &texts).await, Ok(hello()), "{turn}");
        let words = texts.words.lock().unwrap();
        assert!(turn < 5 || words.is_empty(), "{turn}: {words:?}");
        assert!(!words.concat().contains("secret"), "{turn}: {words:?}");
    }
    // A model that thinks so from its first reply on is never published early.
    let server = Server::start(vec![stream(&["secret</think>", "Hello."])]).await;
    let model = model_at(&server);
    for _ in 0..2 {
        let texts: Arc<Texts> = Arc::default();
        assert_eq!(ask(&model, &texts).await, Ok(hello()));
        assert!(texts.words.lock().unwrap().is_empty());
    }
}

#[tokio::test]
async fn decisions_come_whole_and_so_does_all_where_streaming_is_off() {
    let server = Server::start(vec![says("EXECUTE")]).await;
    let model = OpenAiModel::new("m", &server.base_url, settings()).unwrap();
    model.chat(&request(Purpose::Confirm)).await.unwrap();
    let off = ModelSettings { streaming: Streaming::Off, ..settings() };
    OpenAiModel::new("m", &server.base_url, off).unwrap().chat(&request(Purpose::Plan)).await.unwrap();
    let streams: Vec<Value> = server.arrived().iter().map(|arrived| arrived.body["stream"].clone()).collect();
    assert_eq!(streams, [false, false]);
    assert!(server.arrived().iter().all(|arrived| arrived.body.get("stream_options").is_none()));
}

#[tokio::test]
async fn a_server_that_refuses_the_stream_or_the_usage_is_asked_without() {
    let unnamed = |status, words: &str| Answer::status(status, json!({"detail": words}).to_string());
    let named =
        |parameter: &str| Answer::status(400, json!({"error": {"message": "unknown", "param": parameter}}).to_string());
    for (no_usage, no_stream) in [
        (named("stream_options"), named("stream")),
        (unnamed(422, "body -> stream_options: extra fields"), unnamed(400, "'stream' is not supported")),
    ] {
        is_asked_without(no_usage, no_stream).await;
    }
}

/// A gateway that streams alone refused a decision with the word "stream", and plans came whole from then on.
#[tokio::test]
async fn regression_a_refusal_of_what_is_no_stream_switched_streams_off() {
    let refused =
        Answer::status(400, json!({"error": {"message": "This model only supports stream mode"}}).to_string());
    let whole = Answer::stream(&[says_so_far("Hello."), ends("stop"), usage()], StreamEnd::Done);
    let server = Server::start(vec![refused.clone(), refused, whole]).await;
    let model = OpenAiModel::new("m", &server.base_url, ModelSettings { retries: 0, ..settings() }).unwrap();
    let mut last = model.chat(&request(Purpose::Confirm)).await;
    while server.arrived().len() < 2 {
        last = model.chat(&request(Purpose::Confirm)).await;
    }
    assert!(last.is_err(), "{last:?}");
    assert_eq!(model.chat(&request(Purpose::Plan)).await, Ok(hello()));
    assert_eq!(server.arrived().last().map(|arrived| arrived.body["stream"].clone()), Some(json!(true)));
}

async fn is_asked_without(no_usage: Answer, no_stream: Answer) {
    let server = Server::start(vec![no_usage, no_stream, says("Hello.")]).await;
    let model = OpenAiModel::new("m", &server.base_url, settings()).unwrap();
    for _ in 0..2 {
        assert_eq!(model.chat(&request(Purpose::Plan)).await, Ok(hello()));
    }
    let sent: Vec<(Value, bool)> = server
        .arrived()
        .iter()
        .map(|arrived| (arrived.body["stream"].clone(), arrived.body.get("stream_options").is_some()))
        .collect();
    assert_eq!(sent, [(json!(true), true), (json!(true), false), (json!(false), false), (json!(false), false)]);
}
