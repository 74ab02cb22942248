//! STOP works, whatever else goes on.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use cortex_protocol::Command;
use cortex_web::WebLimits;
use serde_json::{Value, json};
use tokio::time::timeout;

use crate::support::{HANGS, Live, TestServer, command, raw, read_all, refusal};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn stop_is_answered_while_fifty_pages_are_flooded_and_one_takes_nothing() {
    let server = TestServer::start();
    let (goes_on, seen) = (Arc::new(AtomicBool::new(true)), Arc::new(AtomicUsize::new(0)));
    let mut stuck = Live::connect(&server, None).await;
    let mut pages = Vec::new();
    for _ in 0..49 {
        let (mut page, seen) = (Live::connect(&server, None).await, Arc::clone(&seen));
        pages.push(tokio::spawn(async move {
            loop {
                let frame = page.next_text().await.unwrap();
                seen.fetch_add(frame.len(), Ordering::SeqCst);
            }
        }));
    }
    let flood = {
        let (port, goes_on) = (Arc::clone(&server.port), Arc::clone(&goes_on));
        std::thread::spawn(move || {
            let mut told = 0;
            while goes_on.load(Ordering::SeqCst) && told < 400_000 {
                port.tell(100, &"x".repeat(200));
                told += 100;
                std::thread::sleep(Duration::from_millis(10));
            }
            told
        })
    };
    timeout(HANGS, async {
        while seen.load(Ordering::SeqCst) < 100_000_000 {
            tokio::task::yield_now().await;
        }
    })
    .await
    .expect("the flood has reached the pages");

    let answer: Value = server.post("/stop").send().await.unwrap().json().await.unwrap();
    assert_eq!(answer, json!({"outcome": "stopped", "missions_ended": 1, "not_stopped": ["base.go_to"]}));
    assert_eq!(server.port.count(&Command::Stop), 1);
    stuck.stop().await;
    server.port.executed_are(2).await;
    let mut page = Live::connect(&server, None).await;
    page.stop().await;
    let frame = page.next_with(|frame| frame.get("stop").is_some()).await;
    assert_eq!(frame["stop"]["outcome"]["not_stopped"], json!(["base.go_to"]));
    assert!(goes_on.load(Ordering::SeqCst) && !flood.is_finished(), "the flood went on all the time");
    goes_on.store(false, Ordering::SeqCst);
    assert!(flood.join().unwrap() >= 2_000);
    pages.iter().for_each(tokio::task::JoinHandle::abort);
}

#[tokio::test]
async fn a_stop_does_not_wait_for_another_one() {
    let server = TestServer::start();
    server.port.stops_end.send_replace(false);
    let mut first = Live::connect(&server, None).await;
    first.stop().await;
    first.stop().await;
    server.port.executed_are(2).await;
    let request = server.post("/stop").send();
    let second = tokio::spawn(request);
    server.port.executed_are(3).await;
    server.port.stops_end.send_replace(true);
    assert_eq!(second.await.unwrap().unwrap().status(), 200);
    first.next_with(|frame| frame.get("stop").is_some()).await;
    first.next_with(|frame| frame.get("stop").is_some()).await;
}

#[tokio::test]
async fn a_stop_goes_on_when_its_client_is_gone() {
    let server = TestServer::start();
    server.port.stops_end.send_replace(false);
    let host = server.address();
    let gone = raw(host, &format!("POST /stop HTTP/1.1\r\nHost: {host}\r\n\r\n")).await;
    server.port.executed_are(1).await;
    drop(gone);
    let mut page = Live::connect(&server, None).await;
    page.stop().await;
    server.port.executed_are(2).await;
    server.port.stops_end.send_replace(true);
    page.next_with(|frame| frame.get("stop").is_some()).await;
    let mut ended = server.port.stops_ended.subscribe();
    timeout(HANGS, ended.wait_for(|ended| *ended == 2)).await.expect("both come to their end").unwrap();
}

#[tokio::test]
async fn a_stop_does_not_wait_for_its_body() {
    let server = TestServer::start();
    let host = server.address();
    let head =
        format!("POST /stop HTTP/1.1\r\nHost: {host}\r\nOrigin: http://{host}\r\nContent-Length: 1000000\r\n\r\n");
    let connection = raw(host, &head).await;
    let answer = read_all(connection).await;
    assert!(answer.starts_with("HTTP/1.1 200") && answer.contains("base.go_to"), "{answer}");
}

#[tokio::test]
async fn a_form_without_a_script_is_answered_with_a_page() {
    let server = TestServer::start();
    let form = server.post("/stop").header("Accept", "text/html").form(&[("a", "b")]).send().await.unwrap();
    assert_eq!(form.status(), 200);
    let page = form.text().await.unwrap();
    assert!(page.starts_with("<!doctype html>") && page.contains("base.go_to"), "{page}");
}

#[tokio::test]
async fn a_stop_gets_through_where_all_places_are_taken_and_all_commands_were_given() {
    let limits = WebLimits { connections: 3, ..WebLimits::default() };
    let server = TestServer::with_limits(limits);
    // A task needs no view, which would be too old on a busy machine before all were given.
    let unseen = Value::Null;
    let mut last = (0, String::new());
    for number in 0..200 {
        let answer = server.post("/api/v1/commands").json(&command(
            number,
            &unseen,
            json!({"command": "submit", "task": "a", "session": null}),
        ));
        let answer = answer.send().await.unwrap();
        if answer.status() != 200 {
            let body: Value = answer.json::<Value>().await.unwrap();
            last = (number, body["kind"].as_str().unwrap().to_owned());
            break;
        }
    }
    assert_eq!(last.1, "too_many", "{last:?}");
    let mut idle = Vec::new();
    for _ in 0..2 {
        idle.push(Live::connect(&server, None).await);
    }
    // The client above holds the third.
    let other = reqwest::Client::new();
    assert_eq!(refusal(other.get(server.url("/api/v1/overview"))).await, (503, "busy".to_owned()));
    let stop = other.post(server.url("/stop")).header("Origin", server.url("")).send().await.unwrap();
    assert_eq!(stop.status(), 200);
    assert_eq!(server.port.count(&Command::Stop), 1);
}

#[tokio::test]
async fn whoever_holds_all_connections_and_says_nothing_keeps_nobody_from_stopping_the_robot() {
    let server = TestServer::with_limits(WebLimits { connections: 2, ..WebLimits::default() });
    let (host, mut held) = (server.address(), Vec::new());
    for _ in 0..2 + 2 * WebLimits::CONNECTIONS_FOR_STOP {
        held.push(raw(host, &format!("GET / HTTP/1.1\r\nHost: {host}\r\nX-Slow: ")).await);
    }
    let other = reqwest::Client::new();
    for stops in 1..=3 {
        let stop = other.post(server.url("/stop")).header("Origin", server.url("")).send().await.unwrap();
        assert_eq!(stop.status(), 200);
        assert_eq!(server.port.count(&Command::Stop), stops);
    }
}
