//! Bad input, and bad luck.

use std::time::Duration;

use cortex_web::{WebLimits, WebServer, WebSettings};

use crate::support::{Live, TestServer, ids, raw, read_all, settings};

#[tokio::test]
async fn a_port_that_is_taken_is_no_reason_to_have_no_page() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let listen = taken.local_addr().unwrap();
    let server = TestServer::with(WebSettings { listen, ..settings() });
    assert_eq!(server.address().ip(), listen.ip());
    assert_ne!(server.address().port(), listen.port());
    assert_eq!(server.get("/api/v1/overview").send().await.unwrap().status(), 200);
    let log = crate::support::log();
    assert!(log.contains(&format!("configured={listen} listens_on={}", server.address())), "both are named");
    let port = std::sync::Arc::clone(&server.port);
    let elsewhere = WebSettings { listen: "192.0.2.1:0".parse().unwrap(), ..settings() };
    let error = WebServer::start(elsewhere, port).unwrap_err().to_string();
    assert!(error.contains("192.0.2.1:0") && error.contains("address of this machine"), "{error}");
}

#[tokio::test]
async fn long_headers_are_read_and_endless_ones_refused() {
    let server = TestServer::start();
    let request = server.get("/api/v1/overview").header("X-Long", "x".repeat(8_000));
    assert_eq!(request.send().await.unwrap().status(), 200);
    let host = server.address();
    let many = "X: y\r\n".repeat(8_000);
    for fields in [format!("X-Long: {}\r\n", "x".repeat(100_000)), many] {
        let answer = read_all(raw(host, &format!("GET / HTTP/1.1\r\nHost: {host}\r\n{fields}\r\n")).await).await;
        assert!(answer.is_empty() || answer.starts_with("HTTP/1.1 431"), "{answer}");
    }
    assert_eq!(server.get("/api/v1/overview").send().await.unwrap().status(), 200);
}

#[tokio::test]
async fn whoever_sends_slowly_or_nothing_is_not_waited_for() {
    let limits = WebLimits { read_timeout: Duration::from_millis(300), ..WebLimits::default() };
    let server = TestServer::with_limits(limits);
    let host = server.address();
    for begun in [
        String::new(),
        "GET / HTT".to_owned(),
        format!("GET / HTTP/1.1\r\nHost: {host}\r\nX-Slow: "),
        format!("GET /api/v1/overview HTTP/1.1\r\nHost: {host}\r\n\r\n"),
        format!(
            "POST /api/v1/commands HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{{"
        ),
    ] {
        read_all(raw(host, &begun).await).await;
    }
}

#[tokio::test]
async fn whoever_takes_nothing_is_let_go() {
    let limits = WebLimits { connections: 1, write_timeout: Duration::from_millis(300), ..WebLimits::default() };
    let server = TestServer::with_limits(limits);
    let stuck = Live::connect(&server, None).await;
    server.port.tell(4_000, &"x".repeat(4_000));
    // Its place is free again.
    loop {
        let status = reqwest::get(server.url("/api/v1/overview")).await.unwrap().status();
        if status == 200 {
            break;
        }
        assert_eq!(status, 503);
    }
    drop(stuck);
}

#[tokio::test]
async fn hostile_texts_arrive_as_they_are_and_are_never_markup() {
    for name in ["<script>alert(1)</script>", "\u{202e}evil\u{202c}", "🤖\"'&", &"n".repeat(10_240), "a\u{0}b"] {
        let server = TestServer::with(WebSettings { robot: name.to_owned(), ..settings() });
        server.port.change(|overview| {
            overview.robot = name.to_owned();
            overview.readiness.because = name.to_owned();
        });
        server.port.tell(1, name);
        let overview = server.get_json("/api/v1/overview").await;
        assert_eq!(overview["robot"], name);
        let mut page = Live::connect(&server, Some("none")).await;
        let frame = page.next_with(|frame| !ids(frame).is_empty()).await;
        assert_eq!(frame["events"][0]["data"]["text"], name);
        let answer = server.get("/").send().await.unwrap();
        let policy = answer.headers()["content-security-policy"].to_str().unwrap().to_owned();
        assert!(policy.starts_with("default-src 'none'; script-src 'self'"), "{policy}");
        let html = answer.text().await.unwrap();
        assert!(!html.contains("<script>alert") && !html.contains("\"'&<"), "{name}");
    }
}
