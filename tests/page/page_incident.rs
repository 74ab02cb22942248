//! An incident, saved by a person at the page and by one at a terminal: what is in the file.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test whose set-up fails ends here, and says why")]

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read as _;
use std::path::Path;

use cortex_interfaces::{Interfaces, Message};
use cortex_stories::{Browser, Colours, TestRobot, Viewport};
use flate2::read::GzDecoder;
use serde_json::Value;

/// The files of an archive without its folder, which is read to its end.
fn unpacked(path: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut archive = tar::Archive::new(GzDecoder::new(std::fs::File::open(path).unwrap()));
    let mut files = BTreeMap::new();
    for entry in archive.entries().unwrap() {
        let mut entry = entry.unwrap();
        let name = entry.path().unwrap().display().to_string();
        let mut bytes = Vec::new();
        entry.read_to_end(&mut bytes).unwrap();
        files.insert(name.split_once('/').unwrap().1.to_owned(), bytes);
    }
    assert_eq!(std::io::copy(&mut archive.into_inner(), &mut std::io::sink()).unwrap() % 512, 0);
    files
}

fn text<'a>(files: &'a BTreeMap<String, Vec<u8>>, name: &str) -> &'a str {
    std::str::from_utf8(files.get(name).unwrap_or_else(|| panic!("{name} in {:?}", files.keys()))).unwrap()
}

#[tokio::test]
async fn one_key_saves_a_file_whose_bag_holds_what_the_robot_published() {
    let mut test_robot = TestRobot::empty();
    test_robot.add_environment("CORTEX_WEB__LISTEN", "127.0.0.1:0".to_owned());
    let topics = r#"["/odom", "/rosout", "/not_there", "/**/scan_nowhere"]"#;
    test_robot.add_environment("CORTEX_INCIDENT__TOPICS", topics.to_owned());
    test_robot.start("sim", "cortex-sim", &[]).await;
    test_robot.start_cortex(&[]).await;
    let browser = Browser::start().await;
    let line = test_robot.process("cortex").wait_for_line("page: http").await;
    let address = line.trim_start_matches("page: ").to_owned();
    let page = browser.open(&address, Viewport::Wide, Colours::Light).await;
    page.send_task("go to the kitchen and say hello").await;
    page.wait_for(".mission-head", "Succeeded").await;
    page.script("document.activeElement.blur()", Vec::new()).await;
    page.type_into("", "i").await;
    let file = browser.downloaded("incident-").await;
    assert_eq!(page.complaints().await, Vec::<String>::new());
    let files = unpacked(&file);

    // The mission, and how Cortex was set up.
    assert!(text(&files, "report.md").contains("base.go_to"));
    assert!(text(&files, "tape.jsonl").lines().last().unwrap().contains("cortex."));
    assert!(text(&files, "configuration.toml").contains("/not_there"));
    // The client library writes the lines of the log into its file every few seconds.
    assert!(files.contains_key("cortex.log") && !text(&files, "log.jsonl").is_empty());
    let overview: Value = serde_json::from_str(text(&files, "overview.json")).unwrap();
    assert!(overview["components"].as_array().is_some_and(|components| !components.is_empty()));

    // The topics: each message is one of its type, and the robot has moved.
    let bag = &files["topics/topics_0.mcap"];
    let interfaces = Interfaces::from_environment();
    let odometry = interfaces.message("nav_msgs/msg/Odometry").unwrap();
    let (mut places, mut said, mut times) = (BTreeSet::new(), Vec::new(), Vec::new());
    for message in mcap::MessageStream::new(bag).unwrap() {
        let message = message.unwrap();
        times.push(message.log_time);
        let schema = message.channel.schema.as_ref().unwrap();
        assert_eq!(schema.encoding, "ros2msg");
        match message.channel.topic.as_str() {
            "/odom" => {
                assert!(std::str::from_utf8(&schema.data).unwrap().contains("MSG: geometry_msgs/PoseWithCovariance\n"));
                let read = Message::from_serialized(&odometry, &message.data).unwrap();
                let pose = read.view().nested("pose").unwrap().nested("pose").unwrap();
                let x = pose.nested("position").unwrap().number("x").unwrap();
                places.insert(format!("{x:.1}"));
            }
            "/rosout" => {
                let log = interfaces.message(&schema.name).unwrap();
                let read = Message::from_serialized(&log, &message.data).unwrap();
                said.push(read.view().text("msg").unwrap().into_owned());
            }
            other => panic!("{other} was not chosen"),
        }
    }
    assert!(places.len() > 3, "the robot was at {places:?}");
    assert!(said.iter().any(|line| line.contains("step 1/2 base.go_to")), "{said:?}");
    assert!(times.is_sorted());
    let metadata = text(&files, "topics/metadata.yaml");
    assert!(metadata.contains(&format!("  message_count: {}\n", times.len())), "{metadata}");
    let topics: Value = serde_json::from_str(text(&files, "topics.json")).unwrap();
    let left_out = topics["left_out"].as_array().unwrap();
    let left_out: Vec<&str> = left_out.iter().map(|topic| topic["topic"].as_str().unwrap()).collect();
    assert_eq!(left_out, ["/**/scan_nowhere", "/not_there"]);

    // The same from a terminal.
    let folder = tempfile::tempdir().unwrap();
    let saved = folder.path().join("saved.tar.gz");
    let place = saved.to_str().unwrap();
    let command = ["incident", "--address", &address, "-o", place];
    let (code, printed, complained) = test_robot.run("cortex", &command).await;
    assert_eq!(code, Some(0), "{complained}");
    assert!(printed.starts_with(place) && printed.contains("topics/topics_0.mcap"), "{printed}");
    assert_eq!(unpacked(&saved).keys().collect::<Vec<_>>(), files.keys().collect::<Vec<_>>());
    let (code, _, complained) = test_robot.run("cortex", &command).await;
    assert_eq!(code, Some(2), "{complained}");
    assert!(complained.contains("exists already"), "{complained}");
}
