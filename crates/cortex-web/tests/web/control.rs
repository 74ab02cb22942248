//! Taking the controls over a live connection, and losing them with it.

use std::sync::Arc;
use std::time::{Duration, Instant};

use cortex_protocol::{Control, ControlState, Role};
use serde_json::{Value, json};
use tokio_util::task::AbortOnDropHandle;

use crate::support::{Live, TestServer, command, refusal};

/// How soon a holder who can't be heard any more is lost, with room for a busy machine.
const SOON: Duration = Duration::from_millis(1_500);

struct Person {
    live: Live,
    connection: String,
    token: Option<String>,
}

impl Person {
    async fn at_this_machine(server: &TestServer) -> Self {
        let mut live = Live::connect(server, None).await;
        let connection = live.connection().await;
        Self { live, connection, token: None }
    }

    async fn with(server: &TestServer, name: &str, role: Role) -> Self {
        let token = server.log_in(name, role).await;
        let headers = [("authorization", format!("Bearer {token}"))];
        let mut live = Live::connect_as(server.address(), None, &headers).await.expect("the live stream is open");
        let connection = live.connection().await;
        Self { live, connection, token: Some(token) }
    }

    /// A command over this person's connection, with what is so now.
    async fn request(&self, server: &TestServer, what: &str) -> reqwest::RequestBuilder {
        // The frame that shows what is so now comes within 20 ms.
        let now = server.get_json("/api/v1/overview").await["control"]["changes"].as_u64().unwrap_or_default();
        let mut seen = server.seen().await;
        while seen["basis"]["control"] != now {
            seen = server.seen().await;
        }
        self.request_with(server, what, seen)
    }

    fn request_with(&self, server: &TestServer, what: &str, seen: Value) -> reqwest::RequestBuilder {
        self.request_as(server, uuid::Uuid::new_v4().as_u128(), what, seen)
    }

    fn request_as(&self, server: &TestServer, id: u128, what: &str, seen: Value) -> reqwest::RequestBuilder {
        let mut body = command(id, &seen, json!({"command": what}));
        body["connection"] = json!(self.connection);
        let request = server.post("/api/v1/commands").json(&body);
        match &self.token {
            Some(token) => request.bearer_auth(token),
            None => request,
        }
    }

    async fn give(&self, server: &TestServer, what: &str) -> Control {
        let answer = self.request(server, what).await.send().await.unwrap();
        assert_eq!(answer.status(), 200, "{}", answer.text().await.unwrap());
        let mut outcome: Value = answer.json().await.unwrap();
        assert_eq!(outcome["outcome"], "control");
        outcome.as_object_mut().unwrap().remove("outcome");
        serde_json::from_value(outcome).unwrap()
    }
}

/// The lease is watched, until this is dropped.
fn watched(server: &TestServer) -> AbortOnDropHandle<()> {
    let port = Arc::clone(&server.port);
    AbortOnDropHandle::new(tokio::spawn(async move { port.watch_lease().await }))
}

#[tokio::test]
async fn a_person_takes_the_controls_over_her_connection_keeps_them_and_hands_them_back() {
    let server = TestServer::start();
    let _watched = watched(&server);
    let mut tablet = Person::with(&server, "the tablet", Role::Operate).await;
    let taken = tablet.give(&server, "take_over").await;
    assert_eq!((taken.state, taken.because.as_str()), (ControlState::Held, "the tablet has the controls"));
    assert_eq!(taken.holder.as_ref().map(|it| it.as_str()), Some(tablet.connection.as_str()));
    let begun = Instant::now();
    while begun.elapsed() < Duration::from_secs(2) {
        tablet.live.hold().await;
        tokio::time::sleep(Duration::from_millis(250)).await;
    }
    let mut phone = Person::with(&server, "the phone", Role::Operate).await;
    let answer = phone.request(&server, "take_over").await.send().await.unwrap();
    assert_eq!(answer.status(), 409);
    let error: Value = answer.json().await.unwrap();
    assert!(error["reason"].as_str().unwrap().starts_with("the tablet has the controls"), "{error}");
    tablet.live.hold().await;
    assert!(tablet.give(&server, "hand_back").await.is_autonomous());
    phone.live.next_with(|frame| frame["overview"]["control"]["state"] == "autonomous").await;
}

#[tokio::test]
async fn a_holder_whose_page_falls_silent_is_lost_whoever_else_is_heard() {
    let server = TestServer::start();
    let _watched = watched(&server);
    let tablet = Person::at_this_machine(&server).await;
    let mut another = Person::at_this_machine(&server).await;
    tablet.give(&server, "take_over").await;
    let silent = Instant::now();
    let port = Arc::clone(&server.port);
    let lost = tokio::spawn(async move { port.controls_are(ControlState::Paused).await });
    // Another window of the same person at the same machine is another connection.
    while !lost.is_finished() {
        assert!(silent.elapsed() < SOON, "she is not lost");
        another.live.hold().await;
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    assert!(lost.await.unwrap().because.ends_with("vanished: nothing was heard any more"));
    drop(tablet);
}

#[tokio::test]
async fn a_connection_that_is_closed_and_a_session_that_is_ended_lose_the_controls_at_once() {
    let server = TestServer::start();
    let tablet = Person::with(&server, "the tablet", Role::Operate).await;
    tablet.give(&server, "take_over").await;
    let begun = Instant::now();
    drop(tablet.live);
    let control = server.port.controls_are(ControlState::Paused).await;
    assert_eq!(control.because, "the tablet held the controls and vanished: the connection was closed");
    assert!(begun.elapsed() < Duration::from_millis(500), "{:?}", begun.elapsed());

    let phone = Person::with(&server, "the phone", Role::Operate).await;
    phone.give(&server, "take_over").await;
    let begun = Instant::now();
    server.revoke("the phone").await;
    let control = server.port.controls_are(ControlState::Paused).await;
    assert_eq!(control.because, "the phone held the controls and vanished: the session was ended");
    assert!(begun.elapsed() < Duration::from_millis(500), "{:?}", begun.elapsed());
}

#[tokio::test]
async fn the_controls_are_taken_over_a_live_connection_of_ones_own_and_by_whoever_may() {
    let server = TestServer::start();
    let tablet = Person::with(&server, "the tablet", Role::Operate).await;
    let phone = Person::with(&server, "the phone", Role::Operate).await;
    let eve = Person::with(&server, "Eve", Role::Watch).await;
    assert_eq!(refusal(eve.request(&server, "take_over").await).await, (403, "forbidden".to_owned()));
    let with_hers = Person { connection: tablet.connection.clone(), live: phone.live, token: phone.token.clone() };
    assert_eq!(refusal(with_hers.request(&server, "take_over").await).await, (412, "stale".to_owned()));
    let without = command(7, &server.seen().await, json!({"command": "take_over"}));
    let without = server.post("/api/v1/commands").json(&without);
    assert_eq!(refusal(without).await, (409, "refused".to_owned()));
    // Her connection has ended, and she sends its id all the same.
    let Person { live, connection, token } = tablet;
    drop(live);
    let mut other = Person::with(&server, "the other tablet", Role::Operate).await;
    other.live.next().await.unwrap();
    let late = Person { live: other.live, connection, token };
    let begun = Instant::now();
    while late.request(&server, "take_over").await.send().await.unwrap().status() != 412 {
        // The server had not heard of the end yet: the controls are lost again at once.
        server.port.controls_are(ControlState::Paused).await;
        assert!(begun.elapsed() < SOON);
    }
}

#[tokio::test]
async fn of_two_who_act_at_once_the_second_is_told_and_a_pause_needs_no_view() {
    let server = TestServer::start();
    let (tablet, phone) = (Person::at_this_machine(&server).await, Person::at_this_machine(&server).await);
    let before = server.seen().await;
    tablet.give(&server, "pause").await;
    let late = refusal(phone.request_with(&server, "take_over", before.clone())).await;
    assert_eq!(late, (412, "changed".to_owned()));
    assert_eq!(refusal(phone.request_with(&server, "unpause", before)).await, (412, "changed".to_owned()));
    let body = json!({"id": uuid::Uuid::new_v4(), "command": {"command": "pause"}});
    let paused = server.post("/api/v1/commands").json(&body).send().await.unwrap();
    assert_eq!(paused.status(), 200, "in doubt it may be paused");
    let paused: Value = paused.json().await.unwrap();
    assert_eq!(paused["changes"], 1, "it was paused before, and is told so");
    assert!(phone.give(&server, "unpause").await.is_autonomous());
}

#[tokio::test]
async fn a_pause_counts_however_often_its_id_was_sent() {
    let server = TestServer::start();
    let (tablet, phone) = (Person::at_this_machine(&server).await, Person::at_this_machine(&server).await);
    let pause = async || {
        let answer = tablet.request_as(&server, 7, "pause", server.seen().await).send().await.unwrap();
        assert_eq!(answer.status(), 200);
        answer.json::<Value>().await.unwrap()
    };
    assert_eq!(pause().await["changes"], 1);
    assert_eq!(pause().await["changes"], 1, "it is paused already");
    // Her page has not had the answer, and somebody else lets the robot go on before she presses again.
    assert!(phone.give(&server, "unpause").await.is_autonomous());
    assert_eq!(pause().await["state"], "paused");
    server.port.controls_are(ControlState::Paused).await;
}

#[tokio::test]
async fn nobody_is_told_that_they_have_controls_that_another_connection_of_theirs_had() {
    let server = TestServer::start();
    let before = Person::at_this_machine(&server).await;
    let seen = server.seen().await;
    assert_eq!(before.request_as(&server, 7, "take_over", seen.clone()).send().await.unwrap().status(), 200);
    // The network breaks, and the page comes back with another connection.
    drop(before.live);
    server.port.controls_are(ControlState::Paused).await;
    let after = Person::at_this_machine(&server).await;
    let again = after.request_as(&server, 7, "take_over", seen);
    assert_eq!(refusal(again).await, (409, "refused".to_owned()), "it is another command");
    assert_eq!(after.give(&server, "take_over").await.state, ControlState::Held);
}

#[tokio::test]
async fn a_live_connection_takes_two_messages_and_no_others() {
    let server = TestServer::start();
    for sent in ["{\"hold\":false}", "{\"hold\":true,\"stop\":true}", "{\"take\":true}", "{\"stop\":1}"] {
        let mut live = Live::connect(&server, None).await;
        live.send(tokio_tungstenite::tungstenite::Message::text(sent)).await;
        assert!(live.end().await.contains("{\"hold\":true}"), "{sent}");
    }
}
