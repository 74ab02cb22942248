//! Who may do what, and which requests a browser was tricked into.

use cortex_protocol::Role;
use cortex_web::{Login, WebSettings};
use serde_json::{Value, json};
use tokio::time::timeout;

use crate::support::{HANGS, Live, TestServer, command, raw, read_all, refusal, settings};

const CROSS_ORIGIN: (u16, &str) = (403, "cross_origin");
const NOBODY: (u16, &str) = (401, "unauthenticated");

async fn refused(request: reqwest::RequestBuilder) -> (u16, &'static str) {
    let (status, kind) = refusal(request).await;
    (status, Box::leak(kind.into_boxed_str()))
}

#[tokio::test]
async fn another_sites_page_does_nothing() {
    let server = TestServer::start();
    let resume = command(1, &server.seen().await, json!({"command": "resume"}));
    for (name, value) in [
        ("Origin", "http://evil.example"),
        ("Origin", "http://127.0.0.1:1"),
        ("Origin", "null"),
        ("Sec-Fetch-Site", "cross-site"),
        ("Sec-Fetch-Site", "same-site"),
    ] {
        for path in ["/api/v1/commands", "/stop", "/login", "/logout", "/api/v1/pairings", "/api/v1/skills/decide"] {
            let request = server.http.post(server.url(path)).header(name, value).json(&resume);
            assert_eq!(refused(request).await, CROSS_ORIGIN, "{name}: {value} {path}");
        }
    }
    // An old browser's form says nothing about where it comes from.
    let form = server.http.post(server.url("/stop")).form(&[("a", "b")]);
    assert_eq!(refused(form).await, CROSS_ORIGIN);
    let read =
        server.get("/api/v1/overview").header("Sec-Fetch-Site", "cross-site").header("Sec-Fetch-Mode", "no-cors");
    assert_eq!(refused(read).await, CROSS_ORIGIN);
    let socket = Live::connect_as(server.address(), None, &[("origin", "http://evil.example".to_owned())]).await;
    assert_eq!(socket.err(), Some(403));
    assert!(server.port.executed().is_empty());
    let program = server.http.post(server.url("/api/v1/commands")).json(&resume).send().await.unwrap();
    assert_eq!(program.status(), 200, "a program on this machine");
}

#[tokio::test]
async fn a_foreign_name_or_a_proxy_makes_a_stranger_of_this_machine() {
    let server = TestServer::start();
    for (name, value) in [
        ("Host", "evil.example"),
        ("X-Forwarded-For", "10.0.0.1"),
        ("Forwarded", "for=10.0.0.1"),
        ("X-Real-IP", "10.0.0.1"),
        ("Via", "1.1 proxy"),
    ] {
        for path in ["/api/v1/overview", "/api/v1/events", "/api/v1/missions", "/api/v1/sessions", "/api/v1/seen"] {
            assert_eq!(refused(server.get(path).header(name, value)).await, NOBODY, "{name} {path}");
        }
        let origin = if name == "Host" { "http://evil.example".to_owned() } else { server.url("") };
        let post = |path: &str| server.http.post(server.url(path)).header("Origin", origin.clone()).header(name, value);
        assert_eq!(refused(post("/stop")).await, NOBODY);
        assert_eq!(refused(post("/api/v1/commands").json(&json!({}))).await, NOBODY);
        let page = server.get("/").header(name, value).send().await.unwrap();
        assert_eq!((page.status().as_u16(), page.headers()["location"].to_str().unwrap()), (303, "/login"));
    }
    let socket = Live::connect_as(server.address(), None, &[("x-forwarded-for", "10.0.0.1".to_owned())]).await;
    assert_eq!(socket.err(), Some(401));
    assert_eq!(refused(server.get("/api/v1/overview").bearer_auth("wrong")).await, NOBODY);
    assert!(server.port.executed().is_empty());
}

#[tokio::test]
async fn a_browser_logs_in_with_a_code_once() {
    let server = TestServer::start();
    let code = server.server.pairing_code(Role::Operate).unwrap();
    let form = [("code", code.as_str()), ("name", "the hall's <b>phone</b>")];
    let far = |request: reqwest::RequestBuilder| request.header("X-Forwarded-For", "10.0.0.1");
    let answer = far(server.post("/login")).form(&form).send().await.unwrap();
    assert_eq!(answer.status(), 303);
    let cookie = answer.headers()["set-cookie"].to_str().unwrap().to_owned();
    for part in ["cortex_session=", "; HttpOnly", "; SameSite=Strict", "; Path=/"] {
        assert!(cookie.contains(part), "{cookie}");
    }
    let cookie = cookie.split(';').next().unwrap().to_owned();
    let with_cookie = |request| far(request).header("Cookie", cookie.clone());
    assert_eq!(with_cookie(server.get("/api/v1/overview")).send().await.unwrap().status(), 200);
    assert_eq!(with_cookie(server.get("/")).send().await.unwrap().status(), 200);
    // Another program on this host may have set one of the same name, and browsers send that one first.
    let beside = format!("cortex_session=another; {cookie}");
    let beside = far(server.get("/api/v1/overview")).header("Cookie", beside);
    assert_eq!(beside.send().await.unwrap().status(), 200);
    // A cookie is sent by any page: it needs the page's own origin.
    let resume = command(1, &server.seen().await, json!({"command": "resume"}));
    let without = with_cookie(server.http.post(server.url("/api/v1/commands"))).json(&resume);
    assert_eq!(refused(without).await, CROSS_ORIGIN);
    assert_eq!(with_cookie(server.post("/api/v1/commands")).json(&resume).send().await.unwrap().status(), 200);
    let again = far(server.post("/login")).form(&form).send().await.unwrap();
    assert_eq!(again.status(), 403);
    assert!(again.text().await.unwrap().contains("was used"));
    assert_eq!(with_cookie(server.post("/logout")).send().await.unwrap().status(), 303);
    assert_eq!(refused(with_cookie(server.get("/api/v1/overview"))).await, NOBODY);
}

#[tokio::test]
async fn codes_are_tried_a_few_times_only_and_can_be_taken_back() {
    let server = TestServer::start();
    let made: Value =
        server.post("/api/v1/pairings").json(&json!({"role": "watch"})).send().await.unwrap().json().await.unwrap();
    assert_eq!((made["role"].as_str(), made["left_s"].as_u64()), (Some("watch"), Some(600)));
    let listed = server.get_json("/api/v1/pairings").await;
    assert_eq!((listed[0]["id"].clone(), listed[0].get("code")), (made["id"].clone(), None));
    let path = format!("/api/v1/pairings/{}", made["id"].as_str().unwrap());
    let end = || server.http.delete(server.url(&path)).header("Origin", server.url(""));
    assert_eq!(end().send().await.unwrap().status(), 204);
    assert_eq!(refused(end()).await, (404, "not_found"));
    let log_in = |code: &str| server.post("/login").json(&json!({"code": code, "name": "a"}));
    assert_eq!(refused(log_in(made["code"].as_str().unwrap())).await, (403, "forbidden"));
    for _ in 0..4 {
        assert_eq!(refused(log_in("AAAA-AAAA")).await, (403, "forbidden"));
    }
    let good = server.server.pairing_code(Role::Watch).unwrap();
    assert_eq!(refused(log_in(&good)).await, (429, "too_many"));
}

#[tokio::test]
async fn the_end_of_a_session_closes_what_is_open() {
    let server = TestServer::start();
    let token = server.log_in("Old phone", Role::Operate).await;
    let bearer = [("authorization", format!("Bearer {token}"))];
    let mut page = Live::connect_as(server.address(), None, &bearer).await.unwrap();
    page.next().await.unwrap();
    let mut events = server.get("/api/v1/events").bearer_auth(&token).send().await.unwrap();
    server.revoke("Old phone").await;
    assert!(page.end().await.contains("session was ended"));
    let rest = timeout(HANGS, events.chunk()).await.expect("the stream ends");
    assert_eq!(rest.ok().flatten(), None);
    assert_eq!(refused(server.get("/api/v1/overview").bearer_auth(&token)).await, NOBODY);
    // Nothing that it had begun to say is heard.
    assert!(server.port.executed().is_empty());
}

#[tokio::test]
async fn a_session_outlives_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let server = TestServer::with_state(folder.path().join("web"));
    let token = server.log_in("Phone", Role::Watch).await;
    server.server.shut_down().await;
    let server = TestServer::with_state(folder.path().join("web"));
    assert_eq!(server.get("/api/v1/overview").bearer_auth(&token).send().await.unwrap().status(), 200);
    server.revoke("Phone").await;
    server.server.shut_down().await;
    let server = TestServer::with_state(folder.path().join("web"));
    assert_eq!(refused(server.get("/api/v1/overview").bearer_auth(&token)).await, NOBODY);
}

#[tokio::test]
async fn a_proxy_that_says_nothing_of_itself_and_speaks_as_proxies_did_makes_nobody_an_administrator() {
    let server = TestServer::start();
    let host = server.address();
    for request in ["GET /api/v1/sessions", "GET /", "POST /stop"] {
        let answer = read_all(raw(host, &format!("{request} HTTP/1.0\r\nHost: {host}\r\n\r\n")).await).await;
        assert!(answer.starts_with("HTTP/1.0 505") && answer.contains("speaks HTTP/1.1"), "{answer}");
        assert!(answer.to_lowercase().contains("content-security-policy"), "{answer}");
    }
    assert!(server.port.executed().is_empty());
}

#[tokio::test]
async fn where_everyone_has_to_log_in_so_does_the_robots_own_computer() {
    let server = TestServer::with(WebSettings { login: Login::Everyone, ..settings() });
    for path in ["/api/v1/overview", "/api/v1/sessions", "/api/v1/tools"] {
        assert_eq!(refused(server.get(path)).await, NOBODY, "{path}");
    }
    let token = server.log_in("desk", Role::Administer).await;
    let read = server.get("/api/v1/sessions").bearer_auth(token).send().await.unwrap();
    assert_eq!(read.status(), 200);
}

#[tokio::test]
async fn a_browser_that_keeps_no_cookies_is_told_so_and_not_asked_again_and_again() {
    let server = TestServer::start();
    let far = |request: reqwest::RequestBuilder| request.header("X-Forwarded-For", "10.0.0.1");
    let code = server.server.pairing_code(Role::Watch).unwrap();
    let begun = far(server.post("/login")).form(&[("code", code)]).send().await.unwrap();
    let place = begun.headers()["location"].to_str().unwrap().to_owned();
    let cookie = begun.headers()["set-cookie"].to_str().unwrap().split(';').next().unwrap().to_owned();
    let kept_none = far(server.get(&place)).send().await.unwrap();
    assert_eq!(kept_none.status(), 403);
    assert!(kept_none.text().await.unwrap().contains("did not keep the cookie"));
    let kept = far(server.get(&place)).header("Cookie", cookie).send().await.unwrap();
    assert_eq!((kept.status().as_u16(), kept.headers()["location"].to_str().unwrap()), (303, "/"));
}

#[tokio::test]
async fn refused_logins_are_logged_with_a_limit() {
    let server = TestServer::start();
    let lines = || crate::support::log().matches("what=\"login\" outcome=\"refused\"").count();
    let before = lines();
    for _ in 0..40 {
        let (status, _) = refused(server.post("/login").json(&json!({"code": "AAAA-AAAA"}))).await;
        assert!([403, 429].contains(&status), "{status}");
    }
    let logged = lines() - before;
    assert!((1..=30).contains(&logged), "{logged} lines; other tests are refused, too");
}
