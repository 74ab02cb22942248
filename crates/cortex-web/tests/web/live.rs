//! The live stream and its sister for programs: nothing is lost, nothing comes twice.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use cortex_protocol::Role;
use serde_json::json;
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::Message;

use crate::support::{HANGS, Live, TestServer, ids};

/// Numbers that look random, the same in every run.
struct Seeded(u64);

impl Seeded {
    fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % end
    }
}

fn expected(numbers: std::ops::Range<usize>) -> Vec<String> {
    numbers.map(|number| format!("{number:08}")).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whoever_is_cut_off_hundreds_of_times_has_every_event_once() {
    let server = TestServer::start();
    let mut random = Seeded(0x5EED);
    server.port.tell(1, "first");
    let (mut had, mut told) = (vec!["00000000".to_owned()], 1);
    for cut in 0..300 {
        // Now and then more than the hub keeps, while nobody is there.
        let is_long = cut % 60 == 30;
        let burst = usize::try_from(if is_long { 5_000 } else { random.below(40) }).unwrap();
        if is_long || random.below(2) == 0 {
            let mut other = Live::connect(&server, None).await;
            other.next().await.unwrap();
            server.port.tell(burst, "before");
            told += burst;
            // What is told has reached the pages that are there.
            let newest = format!("{:08}", told - 1);
            while is_long && !ids(&other.next().await.unwrap()).contains(&newest) {}
        }
        let last = had.last().unwrap().clone();
        let mut page = Live::connect(&server, Some(&last)).await;
        let more = usize::try_from(random.below(30)).unwrap();
        server.port.tell(more, "while it is there");
        told += more;
        for _ in 0..=random.below(2) {
            let frame = page.next().await.unwrap();
            assert!(frame.get("missed").is_none(), "{frame}");
            had.extend(ids(&frame));
        }
    }
    let mut page = Live::connect(&server, Some(had.last().unwrap())).await;
    while had.len() < told {
        had.extend(ids(&page.next().await.unwrap()));
    }
    assert_eq!(had, expected(0..told));
    assert!(server.port.refills.load(Ordering::SeqCst) >= 5, "after each of the long ones the port was read");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whoever_takes_nothing_for_long_gets_all_of_it_later() {
    let server = TestServer::start();
    let mut slow = Live::connect(&server, None).await;
    let mut quick = Live::connect(&server, None).await;
    slow.next().await.unwrap();
    let mut quick_had = Vec::new();
    for _ in 0..20 {
        server.port.tell(1_000, &"x".repeat(1_000));
        let target = quick_had.len() + 1_000;
        while quick_had.len() < target {
            quick_had.extend(ids(&quick.next().await.unwrap()));
        }
    }
    assert_eq!(quick_had, expected(0..20_000), "nobody waits for the slow one");
    let mut had = Vec::new();
    while had.len() < 20_000 {
        let frame = slow.next().await.unwrap();
        assert!(frame.get("missed").is_none(), "{}", frame["missed"]);
        had.extend(ids(&frame));
    }
    assert_eq!(had, expected(0..20_000));
}

/// What a page shows up to the event of this id: the ids, and each gap where it is. Events may come in any number of frames.
async fn shown_until(page: &mut Live, last: &str) -> Vec<String> {
    let mut shown = Vec::new();
    while shown.last().is_none_or(|id| id != last) {
        let frame = page.next().await.unwrap();
        shown.extend(frame.get("missed").map(|missed| format!("{missed} missed")));
        shown.extend(ids(&frame));
    }
    shown
}

#[tokio::test]
async fn a_gap_is_shown_where_it_is() {
    let server = TestServer::start();
    // First: the hub may have read what is told before the next line is reached.
    server.port.lose(3..7);
    server.port.tell(10, "a");
    let gap = |before, missed: &str, after| [expected(before), vec![missed.to_owned()], expected(after)].concat();
    let mut page = Live::connect(&server, Some("00000000")).await;
    assert_eq!(shown_until(&mut page, "00000009").await, gap(1..3, "4 missed", 7..10));
    // And one that the hub itself has, for all pages alike.
    server.port.lose(12..14);
    let mut other = Live::connect(&server, Some("00000009")).await;
    server.port.tell(6, "b");
    for page in [&mut page, &mut other] {
        assert_eq!(shown_until(page, "00000015").await, gap(10..12, "2 missed", 14..16));
    }
}

#[tokio::test]
async fn the_first_frame_holds_all_and_the_others_what_has_changed() {
    let server = TestServer::start();
    let token = server.log_in("the hall's phone", Role::Operate).await;
    let bearer = [("authorization", format!("Bearer {token}"))];
    let mut page = Live::connect_as(server.address(), None, &bearer).await.unwrap();
    let first = page.next().await.unwrap();
    assert_eq!(first["overview"]["robot"], "Robbie");
    assert_eq!(first["basis"], json!({"stops": 0, "stopped": false, "mission": null, "plan": 0, "control": 0}));
    assert_eq!(first["questions"], json!([]));
    let connection = first["you"]["connection"].clone();
    assert!(connection.as_str().is_some_and(|id| id.len() > 30), "{connection}");
    let you = json!({
        "name": "the hall's phone", "role": "operate", "session": true, "has_memory": false, "has_skills": false, "connection": connection,
    });
    assert_eq!(first["you"], you);
    let mut number = first["frame"].as_u64().unwrap();
    for _ in 0..3 {
        let pulse = page.next().await.unwrap();
        let fields: Vec<&String> = pulse.as_object().unwrap().keys().collect();
        assert_eq!(fields, ["at_ms", "frame"], "nothing has changed");
        assert!(pulse["frame"].as_u64().unwrap() > number);
        number = pulse["frame"].as_u64().unwrap();
    }
    server.port.change(|overview| overview.stop.stops = 1);
    let changed = page.next_with(|frame| frame.get("overview").is_some()).await;
    assert_eq!((&changed["basis"]["stops"], changed.get("questions")), (&json!(1), None));
}

#[tokio::test]
async fn a_page_says_stop_or_that_its_person_is_there_or_nothing() {
    let server = TestServer::start();
    for message in [
        Message::text("{\"stop\":false}"),
        Message::text("{\"stop\":true,\"more\":1}"),
        Message::text("{\"stop\":true,\"stop\":true}"),
        Message::text("resume"),
        Message::binary(vec![1, 2, 3]),
    ] {
        let mut page = Live::connect(&server, None).await;
        page.send(message.clone()).await;
        let reason = page.end().await;
        assert!(reason.contains("This connection takes"), "{message}: {reason}");
    }
    let mut page = Live::connect(&server, None).await;
    page.send(Message::text("x".repeat(100_000))).await;
    page.end().await;
    assert!(server.port.executed().is_empty());
}

#[tokio::test]
async fn programs_follow_from_where_they_were() {
    let server = TestServer::start();
    server.port.tell(5, "a\nb");
    server.port.lose(2..4);
    let request = server.get("/api/v1/events?after=00000003").header("Last-Event-ID", "00000000");
    let mut answer = request.send().await.unwrap();
    assert_eq!(answer.headers()["content-type"], "text/event-stream");
    let mut text = String::new();
    while !text.contains("00000004") || !text.ends_with("\n\n") {
        let chunk = timeout(HANGS, answer.chunk()).await.expect("events").unwrap().expect("more");
        text.push_str(std::str::from_utf8(&chunk).unwrap());
    }
    let lines: Vec<&str> = text.lines().filter(|line| !line.starts_with("data: {\"spec")).collect();
    assert_eq!(lines, ["id: 00000001", "", "event: missed", "data: {\"missed\":2}", "", "id: 00000004", ""]);
    let refused = server.get("/api/v1/events").header("Last-Event-ID", "x".repeat(200)).send().await.unwrap();
    assert_eq!(refused.status(), 400);
}

#[tokio::test]
async fn the_end_of_the_server_is_told() {
    let server = TestServer::start();
    let mut page = Live::connect(&server, None).await;
    page.next().await.unwrap();
    let TestServer { server, .. } = server;
    let ending = tokio::spawn(server.shut_down());
    assert!(page.end().await.contains("going down"));
    timeout(HANGS, ending).await.expect("it ends").unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ten_thousand_events_in_a_second_reach_a_page() {
    let server = TestServer::start();
    let mut page = Live::connect(&server, None).await;
    let port = Arc::clone(&server.port);
    let telling = std::thread::spawn(move || {
        for _ in 0..100 {
            port.tell(100, "a");
            std::thread::sleep(Duration::from_millis(10));
        }
    });
    let mut had = Vec::new();
    while had.len() < 10_000 {
        had.extend(ids(&page.next().await.unwrap()));
    }
    telling.join().unwrap();
    assert_eq!(had, expected(0..10_000));
}
