//! The log of the robot's nodes: in the live stream and for programs.

use cortex_protocol::LogLevel;
use serde_json::{Value, json};
use tokio::time::timeout;

use crate::support::{HANGS, Live, TestServer, ids};

fn texts(frame: &Value) -> Vec<String> {
    let lines = frame["logs"].as_array().map(Vec::as_slice).unwrap_or_default();
    lines.iter().map(|line| line["text"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_page_that_opens_has_the_latest_lines_and_then_each_new_one_once() {
    let server = TestServer::start();
    let mut early = Live::connect(&server, None).await;
    early.next().await.unwrap();
    server.port.log(LogLevel::Error, "hot");
    server.port.log(LogLevel::Info, "rolls");
    let frame = early.next_with(|frame| frame.get("logs").is_some()).await;
    let line = json!({"at_ms": 0, "level": "error", "node": "base", "text": "hot", "count": 1});
    assert_eq!(frame["logs"][0], line);
    let mut had = texts(&frame);
    while had.len() < 2 {
        had.extend(texts(&early.next().await.unwrap()));
    }
    assert_eq!(had, ["hot", "rolls"]);
    let mut late = Live::connect(&server, None).await;
    assert_eq!(texts(&late.next().await.unwrap()), ["hot", "rolls"]);
    server.port.log(LogLevel::Info, "stops");
    for page in [&mut early, &mut late] {
        let frame = page.next_with(|frame| frame.get("logs").is_some()).await;
        assert_eq!(texts(&frame), ["stops"]);
    }
}

/// 10,000 lines at once: a frame stays small, what is left out is counted, and events come as ever.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_flood_of_lines_makes_no_frame_large_and_holds_no_event_up() {
    let server = TestServer::start();
    let mut page = Live::connect(&server, None).await;
    page.next().await.unwrap();
    for number in 0..10_000 {
        server.port.log(LogLevel::Info, &format!("line {number}"));
    }
    server.port.tell(1, "an event");
    let (mut shown, mut missed, mut events) = (Vec::new(), 0, Vec::new());
    while shown.last().is_none_or(|line| line != "line 9999") || events.is_empty() {
        let frame = page.next().await.unwrap();
        assert!(texts(&frame).len() <= 500, "{} lines in a frame", texts(&frame).len());
        shown.extend(texts(&frame));
        missed += frame["logs_missed"].as_u64().unwrap_or_default();
        events.extend(ids(&frame));
    }
    assert_eq!(shown.len() as u64 + missed, 10_000, "each line is shown or counted");
    assert_eq!(events, ["00000000"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn programs_read_the_latest_lines_or_follow() {
    let server = TestServer::start();
    for number in 0..5 {
        server.port.log(LogLevel::Warn, &format!("line\n{number}"));
    }
    let latest = server.get_json("/api/v1/logs?most=2").await;
    let found: Vec<&str> = latest.as_array().unwrap().iter().map(|line| line["text"].as_str().unwrap()).collect();
    assert_eq!(found, ["line\n3", "line\n4"]);
    for most in ["0", "2001", "x", "-1"] {
        let refused = server.get(&format!("/api/v1/logs?most={most}")).send().await.unwrap();
        assert_eq!(refused.status(), 400, "{most}");
    }
    let mut stream = server.get("/api/v1/logs").send().await.unwrap();
    assert_eq!(stream.headers()["content-type"], "text/event-stream");
    server.port.log(LogLevel::Fatal, "gone\n\ndata: forged");
    let chunk = timeout(HANGS, stream.chunk()).await.expect("a line").unwrap().expect("more");
    let text = String::from_utf8(chunk.to_vec()).unwrap();
    let line: Value = serde_json::from_str(text.strip_prefix("data: ").unwrap()).unwrap();
    assert_eq!((&line["level"], &line["text"]), (&json!("fatal"), &json!("gone\n\ndata: forged")));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_revoked_session_reads_no_further_line() {
    let server = TestServer::start();
    let token = server.log_in("tablet", cortex_protocol::Role::Watch).await;
    let request = server.get("/api/v1/logs").header("Authorization", format!("Bearer {token}"));
    let mut stream = request.send().await.unwrap();
    server.port.log(LogLevel::Info, "seen");
    assert!(timeout(HANGS, stream.chunk()).await.expect("a line").unwrap().is_some());
    server.revoke("tablet").await;
    assert_eq!(timeout(HANGS, stream.chunk()).await.expect("the end").unwrap(), None);
}
