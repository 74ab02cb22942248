//! Commands: once each, and only while the robot is as its sender saw it.

use std::time::Duration;

use cortex_protocol::{Command, OpenQuestion, Role};
use cortex_web::WebLimits;
use serde_json::{Value, json};

use crate::support::{HANGS, Live, TestServer, command, log, raw, read_all, refusal};

const RESUME: &str = "resume";

#[tokio::test]
async fn a_command_that_is_sent_again_is_carried_out_once() {
    let server = TestServer::start();
    let resume = command(1, &server.seen().await, json!({"command": RESUME}));
    let mut answers = Vec::new();
    for _ in 0..3 {
        let answer = server.post("/api/v1/commands").json(&resume).send().await.unwrap();
        assert_eq!(answer.status(), 200);
        answers.push(answer.json::<Value>().await.unwrap());
    }
    assert_eq!(answers, vec![json!({"outcome": "resumed", "was_stopped": true}); 3]);
    assert_eq!(server.port.executed().len(), 1);
    let other = command(1, &server.seen().await, json!({"command": "cancel", "mission": "m"}));
    assert_eq!(refusal(server.post("/api/v1/commands").json(&other)).await, (409, "refused".to_owned()));
    assert_eq!(server.port.executed().len(), 1);
    // STOP is never taken for one that was given before.
    for _ in 0..2 {
        let stop = json!({"id": format!("{:032x}", 7), "command": {"command": "stop"}});
        assert_eq!(server.post("/api/v1/commands").json(&stop).send().await.unwrap().status(), 200);
    }
    assert_eq!(server.port.count(&Command::Stop), 2);
}

#[tokio::test]
async fn a_command_is_refused_where_its_sender_has_not_seen_the_robot_as_it_is() {
    let server = TestServer::start();
    let resume = json!({"command": RESUME});
    let without = json!({"id": format!("{:032x}", 1), "command": resume});
    assert_eq!(refusal(server.post("/api/v1/commands").json(&without)).await, (412, "stale".to_owned()));
    let mut seen = server.seen().await;
    seen["frame"] = json!(seen["frame"].as_u64().unwrap() - 1_000_000);
    let old = command(2, &seen, resume.clone());
    assert_eq!(refusal(server.post("/api/v1/commands").json(&old)).await, (412, "stale".to_owned()));
    // A frame that was fresh becomes old while others come.
    let seen = server.seen().await;
    let mut page = Live::connect(&server, None).await;
    for _ in 0..6 {
        page.next().await.unwrap();
    }
    let late = command(3, &seen, resume.clone());
    assert_eq!(refusal(server.post("/api/v1/commands").json(&late)).await, (412, "stale".to_owned()));
    let seen = server.seen().await;
    server.port.change(|overview| overview.stop.stops += 1);
    let changed = command(4, &seen, resume);
    assert_eq!(refusal(server.post("/api/v1/commands").json(&changed)).await, (412, "changed".to_owned()));
    assert!(server.port.executed().is_empty());
    let task = json!({"id": format!("{:032x}", 5), "command": {"command": "submit", "task": "go", "session": null}});
    let answer: Value = server.post("/api/v1/commands").json(&task).send().await.unwrap().json().await.unwrap();
    assert_eq!(answer, json!({"outcome": "submitted", "mission": "m"}));
}

#[tokio::test]
async fn what_can_not_be_read_is_refused_with_a_reason() {
    let server = TestServer::start();
    let post = || server.post("/api/v1/commands");
    let json_type = "application/json";
    for (body, kind) in [
        ("", json_type),
        ("{", json_type),
        ("[]", json_type),
        ("{\"id\":\"1\",\"command\":{\"command\":\"stop\"}}", json_type),
        ("{\"id\":\"00000000000000000000000000000001\",\"command\":{\"command\":\"dance\"}}", json_type),
        (
            "{\"id\":\"00000000000000000000000000000001\",\"command\":{\"command\":\"stop\"},\"command\":{\"command\":\"resume\"}}",
            json_type,
        ),
        (
            "{\"id\":\"00000000000000000000000000000001\",\"command\":{\"command\":\"resume\"},\"role\":\"administer\"}",
            json_type,
        ),
    ] {
        let request = post().header("Content-Type", kind).body(body);
        assert_eq!(refusal(request).await, (400, "invalid".to_owned()), "{body}");
    }
    let deep = format!("{}{}", "[".repeat(10_000), "]".repeat(10_000));
    assert_eq!(refusal(post().header("Content-Type", json_type).body(deep)).await.0, 400);
    for kind in ["text/plain", "application/x-www-form-urlencoded", ""] {
        let request = post().header("Content-Type", kind).body("{}");
        assert_eq!(refusal(request).await, (415, "unsupported_type".to_owned()), "{kind}");
    }
    let large = "x".repeat((64 << 10) + 1);
    assert_eq!(
        refusal(post().header("Content-Type", json_type).body(large.clone())).await,
        (413, "too_large".to_owned())
    );
    // Also where its length is not announced.
    let host = server.address();
    let chunked = format!(
        "POST /api/v1/commands HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\nConnection: close\r\n\
         Transfer-Encoding: chunked\r\n\r\n{:x}\r\n{large}\r\n0\r\n\r\n",
        large.len()
    );
    let answer = read_all(raw(host, &chunked).await).await;
    assert!(answer.starts_with("HTTP/1.1 413"), "{answer}");
    assert!(server.port.executed().is_empty());
}

#[tokio::test]
async fn whoever_watches_may_stop_the_robot_and_not_resume_it() {
    let server = TestServer::start();
    let token = server.log_in("Wall display", Role::Watch).await;
    let (seen, bearer) = (server.seen().await, |request: reqwest::RequestBuilder| request.bearer_auth(&token));
    let resume = command(1, &seen, json!({"command": RESUME}));
    let refused = refusal(bearer(server.post("/api/v1/commands")).json(&resume)).await;
    assert_eq!(refused, (403, "forbidden".to_owned()));
    let pairing = refusal(bearer(server.post("/api/v1/pairings")).json(&json!({"role": "administer"}))).await;
    assert_eq!(pairing, (403, "forbidden".to_owned()));
    assert_eq!(refusal(bearer(server.get("/api/v1/sessions"))).await, (403, "forbidden".to_owned()));
    assert_eq!(bearer(server.post("/stop")).send().await.unwrap().status(), 200);
    let executed = server.port.executed();
    let [(Command::Stop, principal)] = executed.as_slice() else { panic!("{executed:?}") };
    let origin = &principal.origin;
    assert_eq!((origin.channel.as_str(), origin.client.as_str(), principal.role), ("web", "Wall display", Role::Watch));
    assert_eq!(origin.user_id_hash.len(), 64);
    let log = log();
    for line in ["who=\"Wall display\"", "what=\"stop\"", "what=\"resume\" outcome=\"refused\"", "cortex::audit"] {
        assert!(log.contains(line), "{line}");
    }
    // Whoever watches sees `/rosout` on the page, and not who does what from where.
    let audited = log.lines().filter(|line| line.contains("cortex::audit") && line.contains("Wall display"));
    assert!(audited.clone().count() > 0 && audited.clone().all(|line| line.contains("rosout=false")), "{log}");
}

#[tokio::test]
async fn a_command_that_has_not_begun_is_refused_when_its_session_ends() {
    let server = TestServer::start();
    server.port.ready.send_replace(false);
    let token = server.log_in("Tablet", Role::Operate).await;
    let task = json!({"id": format!("{:032x}", 1), "command": {"command": "submit", "task": "go", "session": null}});
    // It waits until the robot has been looked at.
    let mut ready = server.port.ready.subscribe();
    ready.mark_unchanged();
    let waiting = tokio::spawn(server.post("/api/v1/commands").bearer_auth(&token).json(&task).send());
    tokio::time::timeout(HANGS, async {
        while server.port.ready.receiver_count() < 2 {
            tokio::task::yield_now().await;
        }
    })
    .await
    .expect("it waits");
    server.revoke("Tablet").await;
    let answer = waiting.await.unwrap().unwrap();
    assert_eq!(answer.status(), 401);
    server.port.ready.send_replace(true);
    assert!(server.port.executed().is_empty());
}

#[tokio::test]
async fn a_body_that_is_late_meets_the_end_of_its_session() {
    let server = TestServer::start();
    let token = server.log_in("Phone", Role::Operate).await;
    let (host, seen) = (server.address(), server.seen().await);
    let body = command(1, &seen, json!({"command": RESUME})).to_string();
    let head = format!(
        "POST /api/v1/commands HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {token}\r\nConnection: close\r\n\
         Content-Type: application/json\r\nContent-Length: {}\r\nExpect: 100-continue\r\n\r\n",
        body.len()
    );
    let mut connection = raw(host, &head).await;
    // The server reads the body: whoever sends it is known by now.
    let mut told = [0; 12];
    tokio::io::AsyncReadExt::read_exact(&mut connection, &mut told).await.unwrap();
    assert_eq!(&told, b"HTTP/1.1 100");
    server.revoke("Phone").await;
    tokio::io::AsyncWriteExt::write_all(&mut connection, body.as_bytes()).await.unwrap();
    let answer = read_all(connection).await;
    assert!(answer.contains("HTTP/1.1 401"), "{answer}");
    assert!(server.port.executed().is_empty());
}

#[tokio::test]
async fn only_a_question_that_is_open_is_answered() {
    let server = TestServer::start();
    let mut page = Live::connect(&server, None).await;
    let open: OpenQuestion = serde_json::from_value(json!({
        "id": "m/1", "task": "bring a cup", "left": {"secs": 60, "nanos": 0},
        "question": {
            "number": 1, "text": "Which cup?", "patience": {"secs": 60, "nanos": 0},
            "subject": {"kind": "choice", "choices": ["red", "blue"], "default": null}
        }
    }))
    .unwrap();
    let answer = json!({"command": "answer", "question": "m/1", "answer": {"answer": "choose", "choice": "red"}});
    let early = command(1, &server.seen().await, answer.clone());
    assert_eq!(refusal(server.post("/api/v1/commands").json(&early)).await, (412, "changed".to_owned()));
    server.port.ask(vec![open]);
    let frame = page.next_with(|frame| frame["questions"].as_array().is_some_and(|open| !open.is_empty())).await;
    assert_eq!(frame["questions"][0]["question"]["text"], "Which cup?");
    let seen = json!({"frame": frame["frame"], "basis": server.seen().await["basis"]});
    let taken = server.post("/api/v1/commands").json(&command(2, &seen, answer)).send().await.unwrap();
    assert_eq!(taken.json::<Value>().await.unwrap(), json!({"outcome": "answered", "question": "m/1"}));
}

#[tokio::test]
async fn who_waits_too_long_for_a_command_asks_again_and_does_nothing_twice() {
    let limits = WebLimits { answer_timeout: Duration::from_secs(2), ..WebLimits::default() };
    let server = TestServer::with_limits(limits);
    server.port.ready.send_replace(false);
    let task = command(1, &server.seen().await, json!({"command": "submit", "task": "go"}));
    let (status, kind) = refusal(server.post("/api/v1/commands").json(&task)).await;
    assert_eq!((status, kind.as_str()), (503, "unavailable"));
    assert!(server.port.executed().is_empty(), "it still waits for the robot");
    server.port.ready.send_replace(true);
    server.port.executed_are(1).await;
    let again = server.post("/api/v1/commands").json(&task).send().await.unwrap();
    assert_eq!(again.status(), 200);
    assert_eq!(server.port.executed().len(), 1);
}

#[tokio::test]
async fn words_that_say_nothing_are_no_command() {
    let server = TestServer::start();
    for blank in ["", " \n\t", "\u{2003}"] {
        for given in [
            json!({"command": "submit", "task": blank, "session": null}),
            json!({"command": "revise", "mission": null, "text": blank}),
            json!({"command": "dispute", "mission": "m", "reason": blank}),
        ] {
            let sent = command(1, &server.seen().await, given.clone());
            assert_eq!(
                refusal(server.post("/api/v1/commands").json(&sent)).await,
                (400, "invalid".to_owned()),
                "{given}"
            );
        }
    }
    assert!(server.port.executed().is_empty());
}
