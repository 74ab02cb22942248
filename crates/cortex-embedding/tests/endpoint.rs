//! A model behind an endpoint, in whose place a server of tests answers over TCP: well, badly, slowly, and not at all.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use std::time::Duration;

use cortex_core::Embedder as _;
use cortex_embedding::{EndpointEmbedder, EndpointError, EndpointSettings};
use cortex_testkit::{OpenAiServer, Served};
use secrecy::SecretString;
use serde_json::{Value, json};

/// Ends a test that hangs.
const LONG: Duration = Duration::from_secs(60);

fn settings(base_url: &str) -> EndpointSettings {
    let base_url = base_url.to_owned();
    EndpointSettings { base_url, model: "small".to_owned(), dimension: 2, key: None, timeout: LONG }
}

fn embedder(base_url: &str) -> EndpointEmbedder {
    EndpointEmbedder::new(settings(base_url)).unwrap()
}

fn texts(count: usize) -> Vec<String> {
    (0..count).map(|number| number.to_string()).collect()
}

fn reply(data: &Value) -> Served {
    Served::Raw(200, json!({"object": "list", "data": data, "model": "small"}).to_string())
}

/// What is said of one text for which this was served.
async fn problem(served: Served) -> String {
    let server = OpenAiServer::start([served]).await.unwrap();
    embedder(&server.url()).embed(texts(1)).await.unwrap_err().to_string()
}

#[tokio::test]
async fn many_texts_are_sent_in_several_requests_and_their_vectors_come_in_order() {
    // Each text is a number, which its vector points to; the entries come in reverse.
    let server = OpenAiServer::answering(|request| {
        let inputs = request.get("input").and_then(Value::as_array).cloned().unwrap_or_default();
        let entry = |(index, text): (usize, &Value)| {
            let number: f64 = text.as_str().unwrap().parse().unwrap();
            json!({"object": "embedding", "index": index, "embedding": [number, 1.0]})
        };
        reply(&inputs.iter().enumerate().map(entry).rev().collect())
    })
    .await
    .unwrap();
    let key = Some(SecretString::from("hunter2"));
    let embedder = EndpointEmbedder::new(EndpointSettings { key, ..settings(&server.url()) }).unwrap();
    assert_eq!(embedder.model(), "endpoint:small/2");
    let vectors = embedder.embed(texts(70)).await.unwrap();
    assert_eq!(vectors.len(), 70);
    for (number, vector) in vectors.iter().enumerate() {
        let [x, y] = vector[..] else { panic!("{vector:?}") };
        assert!(
            (f64::from(x / y) - number as f64).abs() < 1e-3 && (x.hypot(y) - 1.0).abs() < 1e-5,
            "{number}: {vector:?}"
        );
    }
    let sent = server.requests();
    let sizes: Vec<usize> = sent.iter().map(|request| request["input"].as_array().unwrap().len()).collect();
    assert_eq!(sizes, [32, 32, 6]);
    assert!(sent.iter().all(|request| request["model"] == "small"), "{sent:?}");
    assert_eq!(server.authorizations(), vec![Some("Bearer hunter2".to_owned()); 3]);
    assert!(embedder.embed(Vec::new()).await.unwrap().is_empty());
    assert_eq!(server.requests().len(), 3, "nothing is asked for nothing");
}

#[tokio::test]
async fn a_hostile_reply_gives_no_vectors_but_a_reason() {
    for (served, says) in [
        (reply(&json!([{"index": 0, "embedding": [1, 0, 0]}])), "embedding.dimension is 2; write 3 there"),
        (reply(&json!([])), "0 vectors for 1 texts"),
        (reply(&json!([{"index": 1, "embedding": [1, 0]}])), "the index 1"),
        (reply(&json!([{"index": 0, "embedding": [0, 0]}])), "without a direction"),
        (reply(&json!([{"index": 0, "embedding": [null, 0]}])), "no list of vectors"),
        (Served::Raw(200, "<!doctype html><title>Router</title>".to_owned()), "no list of vectors"),
        (Served::Raw(200, "x".repeat(1 << 20)), "longer than the"),
        (Served::Raw(401, "who are you?".to_owned()), "check the key that [keys] names for it: who are you?"),
        (
            Served::Raw(404, json!({"error": "no model 'small'"}).to_string()),
            "check embedding.endpoint and embedding.model",
        ),
        (Served::Raw(302, String::new()), "write the address that it leads to"),
        (Served::Raw(503, "\u{1b}[2Jbusy\n\n".repeat(10_000)), "status 503 Service Unavailable: [2Jbusy [2Jbusy"),
    ] {
        let problem = problem(served).await;
        assert!(problem.contains(says), "{says}: {problem}");
        assert!(problem.starts_with("http://127.0.0.1:") && problem.len() < 400, "{problem}");
        assert!(!problem.contains(char::is_control), "{problem}");
    }
}

/// A text that an endpoint refuses kept all behind it from their vectors, for good.
#[tokio::test]
async fn regression_a_text_that_is_refused_keeps_no_other_from_its_vector() {
    let server = OpenAiServer::answering(|request| {
        let texts: Vec<&str> = request["input"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
        if texts.iter().any(|text| text.chars().count() > 200) {
            return Served::Raw(400, json!({"error": "input is too large"}).to_string());
        }
        let entry = |(index, text): (usize, &&str)| json!({"index": index, "embedding": [text.chars().count(), 0]});
        reply(&texts.iter().enumerate().map(entry).collect())
    });
    let server = server.await.unwrap();
    let texts = vec!["short".to_owned(), "\u{1f916}".repeat(1_000), "short, too".to_owned()];
    assert_eq!(embedder(&server.url()).embed(texts).await.unwrap(), [[1.0, 0.0]; 3]);
    let asked: Vec<usize> =
        server.requests().iter().map(|request| request["input"].as_array().unwrap().len()).collect();
    assert_eq!(asked, [3, 1, 1, 1, 1, 1, 1], "together, then each by itself, the long one shortened three times");
}

#[tokio::test]
async fn a_key_that_an_endpoint_repeats_and_a_page_that_it_sends_are_not_shown() {
    let (key, said) = ("sk-very-secret", "Incorrect API key provided: sk-very-secret.");
    let long = json!({"data": "x".repeat(5_000)}).to_string();
    for served in [Served::Raw(401, said.to_owned()), Served::Raw(200, long)] {
        let server = OpenAiServer::start([served]).await.unwrap();
        let settings = EndpointSettings { key: Some(SecretString::from(key)), ..settings(&server.url()) };
        let problem = EndpointEmbedder::new(settings).unwrap().embed(texts(1)).await.unwrap_err().to_string();
        assert!(!problem.contains(key) && problem.len() < 400, "{problem}");
    }
}

#[tokio::test]
async fn an_endpoint_that_never_answers_or_is_away_is_given_up_and_asked_again() {
    let server = OpenAiServer::answering(|request| match request["model"].as_str() {
        Some("slow") => Served::Hang,
        _ => reply(&json!([{"index": 0, "embedding": [3, 0]}])),
    });
    let server = server.await.unwrap();
    let (model, timeout) = ("slow".to_owned(), Duration::from_millis(50));
    let slow = EndpointEmbedder::new(EndpointSettings { model, timeout, ..settings(&server.url()) }).unwrap();
    let problem = slow.embed(texts(1)).await.unwrap_err().to_string();
    assert!(problem.ends_with("no reply within 0.05 s"), "{problem}");
    let patient = embedder(&server.url());
    assert_eq!(patient.embed(texts(1)).await.unwrap(), [[1.0, 0.0]]);
    drop(server);
    let problem = patient.embed(texts(1)).await.unwrap_err().to_string();
    assert!(problem.contains("no reply: "), "{problem}");
}

#[test]
fn a_key_that_no_header_can_carry_is_refused_without_being_shown() {
    let key = Some(SecretString::from("hunter2\n"));
    let refused = EndpointEmbedder::new(EndpointSettings { key, ..settings("http://box/v1") }).err().unwrap();
    assert!(matches!(refused, EndpointError::UnusableKey { .. }));
    assert!(!refused.to_string().contains("hunter2"), "{refused}");
}
