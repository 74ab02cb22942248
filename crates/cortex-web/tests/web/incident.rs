//! An incident: one archive with what is needed to look into a mission elsewhere.

use std::collections::BTreeMap;
use std::io::Read as _;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use cortex_core::{
    IncidentPort, IncidentText, LeftOutTopic, OfferedQuality, RecordedMessage, RecordedTopic, TopicSlice,
};
use serde_json::{Value, json};

use crate::support::{TestServer, refusal};

/// A robot with one topic that was recorded.
struct Kept;

impl IncidentPort for Kept {
    fn topics(&self) -> TopicSlice {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
        let now_ns = u64::try_from(now.as_nanos()).unwrap();
        let message = |place: u64| RecordedMessage {
            received_ns: now_ns - 1_000 + place,
            published_ns: now_ns - 2_000 + place,
            data: Arc::from(vec![u8::try_from(place).unwrap(); 5_000]),
        };
        let odometry = RecordedTopic {
            topic: "/odom".to_owned(),
            type_name: "nav_msgs/msg/Odometry".to_owned(),
            definition: "std_msgs/Header header".to_owned(),
            type_hash: String::new(),
            offered: vec![OfferedQuality { is_reliable: true, is_transient_local: false }],
            messages: (0..200).map(message).collect(),
            dropped: 3,
        };
        let unknown = LeftOutTopic { topic: "/odd".to_owned(), reason: "its type is not installed".to_owned() };
        TopicSlice { reach: Duration::from_secs(60), topics: vec![odometry], left_out: vec![unknown] }
    }

    fn texts(&self) -> Vec<IncidentText> {
        let text = |name, text: &str| IncidentText { name, text: text.to_owned() };
        vec![text("configuration.toml", "robot = 'Robbie'"), text("recipe.toml", ""), text("cortex.log", "INFO")]
    }
}

/// The files of an archive, with what they hold.
fn unpacked(archive: &[u8]) -> BTreeMap<String, Vec<u8>> {
    let mut archive = tar::Archive::new(flate2::read::GzDecoder::new(archive));
    let read = |entry: std::io::Result<tar::Entry<'_, _>>| {
        let mut entry = entry.unwrap();
        let name = entry.path().unwrap().display().to_string();
        let mut bytes = Vec::new();
        entry.read_to_end(&mut bytes).unwrap();
        (name, bytes)
    };
    archive.entries().unwrap().map(read).collect()
}

#[tokio::test]
async fn an_incident_holds_what_is_needed_to_look_into_a_mission() {
    let server = TestServer::start();
    server.port.tell(3, "<script> and ```");
    *server.port.incident.lock().unwrap() = Some(Arc::new(Kept));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tape.jsonl");
    let tape = "{\"a\":1}\n".repeat(200_000);
    std::fs::write(&path, &tape).unwrap();
    *server.port.tape.lock().unwrap() = Some(path);
    let answer = server.get("/api/v1/missions/m/incident").send().await.unwrap();
    assert_eq!(answer.headers()["content-disposition"], "attachment; filename=\"incident-m.tar.gz\"");
    let files = unpacked(&answer.bytes().await.unwrap());
    let text = |name: &str| std::str::from_utf8(&files[&format!("incident-m/{name}")]).unwrap();
    assert!(text("tape.jsonl") == tape);
    assert!(text("report.md").contains("# Mission report"));
    let json = |name: &str| -> Value { serde_json::from_str(text(name)).unwrap() };
    assert_eq!(json("overview.json")["robot"], "Robbie");
    let versions = json("versions.json");
    assert_eq!((&versions["mission"], &versions["robot"]), (&"m".into(), &"Robbie".into()));
    assert_eq!(text("configuration.toml"), "robot = 'Robbie'");
    for named in text("README.txt").lines().filter_map(|line| line.split_once("  ")) {
        let (name, _) = named;
        let is_there = |path: &String| path.starts_with(&format!("incident-m/{name}"));
        assert!(name.is_empty() || files.keys().any(is_there), "{name}");
    }
    assert!(crate::support::log().contains("incident"), "who has kept it is in the log");
    // Without a tape there is the rest; without the mission there is nothing.
    *server.port.tape.lock().unwrap() = None;
    let answer = server.get("/api/v1/missions/m/incident").send().await.unwrap();
    assert!(!unpacked(&answer.bytes().await.unwrap()).contains_key("incident-m/tape.jsonl"));
    assert_eq!(refusal(server.get("/api/v1/missions/other/incident")).await, (404, "not_found".to_owned()));
    let watcher = server.log_in("visitor", cortex_protocol::Role::Watch).await;
    let request = server.get("/api/v1/missions/m/incident").bearer_auth(watcher);
    assert_eq!(refusal(request).await, (403, "forbidden".to_owned()));
}

#[tokio::test]
async fn the_topics_of_an_incident_are_a_bag() {
    let server = TestServer::start();
    server.port.tell(1, "hello");
    *server.port.incident.lock().unwrap() = Some(Arc::new(Kept));
    let answer = server.get("/api/v1/missions/m/incident").send().await.unwrap();
    let files = unpacked(&answer.bytes().await.unwrap());
    let bag = &files["incident-m/topics/topics_0.mcap"];
    let messages: Vec<mcap::Message<'_>> = mcap::MessageStream::new(bag).unwrap().collect::<Result<_, _>>().unwrap();
    assert_eq!(messages.len(), 200);
    assert!(messages.iter().all(|message| message.channel.topic == "/odom"));
    assert!(messages.iter().enumerate().all(|(place, message)| usize::from(message.data[0]) == place));
    let metadata = String::from_utf8_lossy(&files["incident-m/topics/metadata.yaml"]);
    assert!(metadata.contains("  message_count: 200\n"), "{metadata}");
    let topics: Value = serde_json::from_slice(&files["incident-m/topics.json"]).unwrap();
    assert_eq!(topics["recorded"][0]["dropped"], 3);
    assert_eq!(topics["left_out"], json!([{ "topic": "/odd", "reason": "its type is not installed" }]));
    // After the bag comes the rest of the archive, and it was read to its end.
    assert!(files.contains_key("incident-m/report.md"));
    // A robot that keeps no messages has no bag.
    *server.port.incident.lock().unwrap() = None;
    let answer = server.get("/api/v1/missions/m/incident").send().await.unwrap();
    let files = unpacked(&answer.bytes().await.unwrap());
    assert!(files.keys().all(|name| !name.contains("topics/")) && files.contains_key("incident-m/topics.json"));
}
