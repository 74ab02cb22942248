//! Webhooks, out to a real receiver and in from a real sender.

use std::collections::VecDeque;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse as _, Response};
use axum::routing::post;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use cortex_protocol::{Command, Control, ControlState, Role};
use cortex_web::{IncomingWebhook, WebLimits, WebSettings, WebhookSecret, WebhookTarget};
use hmac::{Hmac, Mac as _};
use serde_json::{Value, json};
use sha2::Sha256;
use tokio::sync::watch;
use tokio::time::timeout;

use crate::support::{HANGS, TestServer, log, refusal, settings};

const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

fn now_s() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs()
}

/// The signature, made by another hand than the server's.
fn signature(id: &str, timestamp: &str, body: &str) -> String {
    let key = STANDARD.decode(SECRET.strip_prefix("whsec_").unwrap()).unwrap();
    let mut mac = Hmac::<Sha256>::new_from_slice(&key).unwrap();
    mac.update(format!("{id}.{timestamp}.{body}").as_bytes());
    format!("v1,{}", STANDARD.encode(mac.finalize().into_bytes()))
}

/// Another system.
#[derive(Clone)]
struct Receiver {
    /// What it answers next; then 204.
    answers: Arc<Mutex<VecDeque<StatusCode>>>,
    /// The ids and events that it was sent, in order.
    had: watch::Sender<Vec<(String, Value)>>,
    url: String,
}

impl Receiver {
    async fn start(answers: impl IntoIterator<Item = StatusCode>) -> Self {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/hook?token=very-secret", listener.local_addr().unwrap());
        let answers = Arc::new(Mutex::new(answers.into_iter().collect()));
        let receiver = Self { answers, had: watch::Sender::default(), url };
        let app = axum::Router::new().route("/hook", post(Self::take)).with_state(receiver.clone());
        tokio::spawn(async move { axum::serve(listener, app).await });
        receiver
    }

    async fn take(State(receiver): State<Self>, headers: HeaderMap, body: Bytes) -> Response {
        let header = |name: &str| headers[name].to_str().unwrap();
        let (id, timestamp) = (header("webhook-id"), header("webhook-timestamp"));
        let body = std::str::from_utf8(&body).unwrap();
        assert_eq!(header("webhook-signature"), signature(id, timestamp, body));
        assert_eq!(header("content-type"), "application/cloudevents+json");
        assert!(now_s().abs_diff(timestamp.parse().unwrap()) < 60);
        let event: Value = serde_json::from_str(body).unwrap();
        assert_eq!(event["id"], id);
        receiver.had.send_modify(|had| had.push((id.to_owned(), event)));
        let status = receiver.answers.lock().unwrap().pop_front().unwrap_or(StatusCode::NO_CONTENT);
        (status, [("location", "http://127.0.0.1:1/elsewhere")]).into_response()
    }

    fn ids(&self) -> Vec<String> {
        self.had.borrow().iter().map(|(id, _)| id.clone()).collect()
    }

    async fn has_had(&self, count: usize) -> Vec<String> {
        let mut had = self.had.subscribe();
        drop(timeout(HANGS, had.wait_for(|had| had.len() >= count)).await.expect("the events come").unwrap());
        self.ids()
    }

    /// What it has had by the time at which it has had this event.
    async fn has_had_event(&self, id: &str) -> Vec<String> {
        let mut had = self.had.subscribe();
        let is_there = |had: &Vec<(String, Value)>| had.iter().any(|(known, _)| known == id);
        drop(timeout(HANGS, had.wait_for(is_there)).await.expect("the event comes").unwrap());
        self.ids()
    }
}

fn target(url: &str, kind: &str) -> WebhookTarget {
    WebhookTarget::new(url, WebhookSecret::parse(SECRET).unwrap(), vec![kind.to_owned()], false).unwrap()
}

fn told(url: &str, kind: &str, folder: Option<&std::path::Path>) -> WebSettings {
    let limits = WebLimits { webhook_pause: Duration::from_millis(10), ..WebLimits::default() };
    let webhooks = vec![target(url, kind)];
    WebSettings { webhooks, limits, state_directory: folder.map(|folder| folder.join("web")), ..settings() }
}

fn id(number: usize) -> String {
    format!("{number:08}")
}

#[tokio::test]
async fn each_event_is_told_signed_in_order_and_again_until_it_is_taken() {
    let busy = [StatusCode::SERVICE_UNAVAILABLE, StatusCode::FOUND, StatusCode::TOO_MANY_REQUESTS];
    let receiver = Receiver::start(busy).await;
    let server = TestServer::with(told(&receiver.url, "cortex.model.*", None));
    server.port.tell(3, "hello");
    let had = receiver.has_had(6).await;
    assert_eq!(had, [id(0), id(0), id(0), id(0), id(1), id(2)]);
    assert_eq!(receiver.had.borrow()[5].1["data"]["text"], "hello");
    let log = log();
    let lines: Vec<&str> =
        log.lines().filter(|line| line.contains(&receiver.url[..receiver.url.find("/hook").unwrap()])).collect();
    assert_eq!(lines.len(), 2, "it fails once and works again once: {lines:#?}");
    assert!(lines[0].contains("503") && lines[1].contains("takes events again"), "{lines:#?}");
    assert!(!log.contains("very-secret") && !log.contains("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"));
}

#[tokio::test]
async fn what_happened_while_cortex_was_away_is_told_after_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let receiver = Receiver::start([]).await;
    let server = TestServer::with(told(&receiver.url, "cortex.*", Some(folder.path())));
    server.port.tell(2, "first life");
    receiver.has_had(2).await;
    server.server.shut_down().await;
    let port = Arc::new(crate::support::ScriptedPort::new());
    // The events of before are still to be had, and there are more.
    port.tell(4, "second life");
    let settings = told(&receiver.url, "cortex.*", Some(folder.path()));
    let server = cortex_web::WebServer::start(settings, port).unwrap();
    let had = receiver.has_had_event(&id(3)).await;
    // The last one of the first life comes twice where its answer was still under way: so it is not how many come that is
    // waited for. It is known by its id.
    let mut once = had.clone();
    once.dedup();
    assert_eq!(once, [id(0), id(1), id(2), id(3)], "{had:?}");
    server.shut_down().await;
}

#[tokio::test]
async fn regression_what_a_receiver_missed_that_was_down_from_the_first_start_on_was_never_told() {
    let folder = tempfile::tempdir().unwrap();
    let receiver = Receiver::start([StatusCode::SERVICE_UNAVAILABLE; 64]).await;
    let server = TestServer::with(told(&receiver.url, "cortex.*", Some(folder.path())));
    server.port.tell(2, "first life");
    receiver.has_had(1).await;
    server.server.shut_down().await;
    receiver.answers.lock().unwrap().clear();
    let port = Arc::new(crate::support::ScriptedPort::new());
    port.tell(3, "second life");
    let settings = told(&receiver.url, "cortex.*", Some(folder.path()));
    let server = cortex_web::WebServer::start(settings, port).unwrap();
    let mut had = receiver.has_had_event(&id(2)).await;
    had.dedup();
    assert_eq!(had, [id(0), id(1), id(2)]);
    server.shut_down().await;
}

#[tokio::test]
async fn only_the_kinds_that_are_asked_for_are_told() {
    let receiver = Receiver::start([]).await;
    let mut settings = told(&receiver.url, "cortex.mission.*", None);
    settings.webhooks.push(target(&receiver.url, "cortex.model.refused"));
    let server = TestServer::with(settings);
    server.port.tell(2, "x");
    receiver.has_had(2).await;
    server.server.shut_down().await;
    assert_eq!(receiver.ids(), [id(0), id(1)]);
}

#[tokio::test]
async fn a_system_that_is_dead_holds_nobody_up_and_is_told_of_once() {
    let nobody = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/", nobody.local_addr().unwrap());
    drop(nobody);
    let server = TestServer::with(told(&url, "cortex.*", None));
    server.port.tell(5_000, "x");
    let lines = || log().lines().filter(|line| line.contains(url.trim_end_matches('/'))).count();
    timeout(HANGS, async {
        while lines() == 0 {
            assert_eq!(server.post("/stop").json(&json!({})).send().await.unwrap().status(), 200);
        }
    })
    .await
    .expect("it is told");
    for _ in 0..20 {
        assert_eq!(server.get("/api/v1/overview").send().await.unwrap().status(), 200);
    }
    assert_eq!(lines(), 1);
    timeout(HANGS, server.server.shut_down()).await.expect("it does not wait for that system");
}

#[tokio::test]
async fn an_event_that_is_refused_for_good_is_left_out_and_one_who_is_gone_is_left_alone() {
    let refused = std::iter::repeat_n(StatusCode::BAD_REQUEST, 12);
    let receiver = Receiver::start(refused.chain([StatusCode::OK, StatusCode::GONE])).await;
    let limits = WebLimits { webhook_pause: Duration::from_micros(100), ..WebLimits::default() };
    let server = TestServer::with(WebSettings { limits, ..told(&receiver.url, "cortex.*", None) });
    server.port.tell(4, "x");
    let had = receiver.has_had(14).await;
    assert_eq!(had[11..], [id(0), id(1), id(2)]);
    let gone = || log().contains("wants no more events");
    timeout(HANGS, async {
        while !gone() {
            tokio::task::yield_now().await;
        }
    })
    .await
    .expect("it is told");
    server.server.shut_down().await;
    assert_eq!(receiver.ids().len(), 14);
}

fn hooked() -> TestServer {
    let shop = IncomingWebhook::new("shop", WebhookSecret::parse(SECRET).unwrap()).unwrap();
    TestServer::with(WebSettings { incoming: vec![shop], ..settings() })
}

/// A message as the shop sends it.
fn message(server: &TestServer, id: &str, sent_s: u64, body: &str) -> reqwest::RequestBuilder {
    let sent = sent_s.to_string();
    let request = server.http.post(server.url("/api/v1/webhooks/shop")).header("Content-Type", "application/json");
    let request = request.header("webhook-id", id).header("webhook-signature", signature(id, &sent, body));
    // A proxy, so that nobody counts as the robot's own computer.
    request.header("webhook-timestamp", sent).header("X-Forwarded-For", "10.0.0.1").body(body.to_owned())
}

const TASK: &str = r#"{"task": "water the plants"}"#;

#[tokio::test]
async fn another_system_gives_a_task_once_however_often_it_sends_it() {
    let server = hooked();
    for _ in 0..3 {
        let answer = message(&server, "order-1", now_s(), TASK).send().await.unwrap();
        assert_eq!(answer.status(), 200);
        assert_eq!(answer.json::<Value>().await.unwrap(), json!({"outcome": "submitted", "mission": "m"}));
    }
    let executed = server.port.executed();
    let [(Command::Submit { task, session: None }, principal)] = &executed[..] else { panic!("{executed:?}") };
    assert_eq!((task.as_str(), principal.role), ("water the plants", Role::Operate));
    assert_eq!((principal.origin.channel.as_str(), principal.origin.client.as_str()), ("webhook", "shop"));
    let other = r#"{"task": "burn the plants"}"#;
    assert_eq!(refusal(message(&server, "order-1", now_s(), other)).await, (409, "refused".to_owned()));
    assert_eq!(server.port.executed().len(), 1);
}

#[tokio::test]
async fn a_message_that_is_not_signed_or_old_or_no_task_is_refused() {
    let server = hooked();
    let nobody = (401, "unauthenticated".to_owned());
    let good = || message(&server, "a", now_s(), TASK);
    let with = |name: &'static str, value: &str| {
        let mut request = good().build().unwrap();
        request.headers_mut().insert(name, value.parse().unwrap());
        reqwest::RequestBuilder::from_parts(server.http.clone(), request)
    };
    let other = "v1,AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=";
    for (name, value) in
        [("webhook-signature", other), ("webhook-signature", ""), ("webhook-id", "b"), ("webhook-timestamp", "1")]
    {
        assert_eq!(refusal(with(name, value)).await, nobody, "{name}: {value}");
    }
    let mut unsigned = good().build().unwrap();
    unsigned.headers_mut().remove("webhook-signature");
    assert_eq!(refusal(reqwest::RequestBuilder::from_parts(server.http.clone(), unsigned)).await, nobody);
    assert_eq!(refusal(good().body("{\"task\": \"another\"}")).await, nobody);
    for sent_s in [now_s() - 301, now_s() + 310, 0, u64::MAX] {
        assert_eq!(refusal(message(&server, "a", sent_s, TASK)).await, nobody, "{sent_s}");
    }
    let mut elsewhere = good().build().unwrap();
    *elsewhere.url_mut() = reqwest::Url::parse(&server.url("/api/v1/webhooks/shed")).unwrap();
    assert_eq!(refusal(reqwest::RequestBuilder::from_parts(server.http.clone(), elsewhere)).await, nobody);
    let invalid = (400, "invalid".to_owned());
    for body in ["", "{", "{\"task\": \" \"}", "{\"task\": \"a\", \"role\": \"administer\"}", "{\"command\": \"stop\"}"]
    {
        assert_eq!(refusal(message(&server, "a", now_s(), body)).await, invalid, "{body}");
    }
    assert_eq!(refusal(with("content-type", "text/plain")).await, (415, "unsupported_type".to_owned()));
    let large = format!("{{\"task\": \"{}\"}}", "x".repeat(70_000));
    assert_eq!(refusal(message(&server, "a", now_s(), &large)).await, (413, "too_large".to_owned()));
    assert!(server.port.executed().is_empty());
}

#[tokio::test]
async fn what_was_sent_before_cortex_was_started_is_not_taken_again() {
    let server = hooked();
    // Its id may have been taken by an earlier life.
    let before = now_s() - 30;
    assert_eq!(refusal(message(&server, "order-1", before, TASK)).await, (401, "unauthenticated".to_owned()));
    assert!(server.port.executed().is_empty());
}

#[tokio::test]
async fn a_system_that_sends_too_much_is_slowed_down() {
    let server = hooked();
    let mut refused = None;
    for number in 0..200 {
        let answer = message(&server, &format!("order-{number}"), now_s(), TASK).send().await.unwrap();
        if answer.status() != 200 {
            refused = Some(answer.status().as_u16());
            break;
        }
    }
    assert_eq!(refused, Some(429));
    assert!(server.port.executed().len() >= 60);
}

#[tokio::test]
async fn while_somebody_has_the_controls_no_task_is_taken_and_afterwards_it_is() {
    let server = hooked();
    server.port.change(|overview| {
        overview.control.state = ControlState::Held;
        overview.control.holder = Some("Anna's connection".into());
    });
    assert_eq!(refusal(message(&server, "order-1", now_s(), TASK)).await, (409, "refused".to_owned()));
    assert!(server.port.executed().is_empty());
    server.port.change(|overview| overview.control = Control::default());
    // The other system has not given up: it sends the same message again.
    assert_eq!(message(&server, "order-1", now_s(), TASK).send().await.unwrap().status(), 200);
    assert_eq!(server.port.executed().len(), 1);
}

#[tokio::test]
async fn a_message_that_came_at_a_bad_time_is_taken_when_it_is_sent_again() {
    let server = hooked();
    server.port.is_busy.store(true, Ordering::Relaxed);
    assert_eq!(refusal(message(&server, "order-1", now_s(), TASK)).await, (503, "busy".to_owned()));
    assert_eq!(message(&server, "order-1", now_s(), TASK).send().await.unwrap().status(), 200);
}
