//! A recorded mission on the page, over real HTTP: what is shown, and that nothing can be asked of it.

#![expect(clippy::unwrap_used, reason = "a test that fails ends here, and says why")]

use std::io::Write as _;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use cortex_core::{ClientPort as _, OperatorPort};
use cortex_player::{PlayError, RecordedRobot, Recording, Speed};
use cortex_protocol::{CloudEvent, MissionEvent, MissionStatus};
use cortex_web::{WebServer, WebSettings};
use serde_json::{Value, json};
use tokio::time::timeout;

/// Whatever a test waits for comes within this time, or hangs.
const HANGS: Duration = Duration::from_secs(30);

fn fast() -> Speed {
    Speed::new(100.0).unwrap()
}

/// The page over a recording.
fn serve(recording: Recording, speed: Speed) -> (WebServer, String) {
    let settings = WebSettings::new("127.0.0.1:0".parse().unwrap(), recording.robot());
    let server = WebServer::start(settings, Arc::new(RecordedRobot::start(recording, speed))).unwrap();
    let address = format!("http://{}", server.address());
    (server, address)
}

async fn get(address: &str, path: &str) -> Value {
    reqwest::get(format!("{address}{path}")).await.unwrap().json().await.unwrap()
}

/// A tape of these lines.
fn tape_of(lines: &[&str]) -> tempfile::NamedTempFile {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(lines.concat().as_bytes()).unwrap();
    file
}

fn demo_lines() -> Vec<String> {
    let demo = Recording::demo().unwrap();
    let text = std::fs::read_to_string(demo.path()).unwrap();
    text.split_inclusive('\n').map(str::to_owned).collect()
}

/// The events of the recording's own mission.
async fn events_of(recording: Recording) -> Vec<Arc<CloudEvent>> {
    let mission = recording.about().mission.clone();
    let robot = RecordedRobot::start(recording, fast());
    let mut events = robot.follow(&mission);
    let mut all = Vec::new();
    while let Some(event) = timeout(HANGS, events.next()).await.unwrap() {
        all.push(event);
    }
    all
}

/// Waits for the end of a round, and returns its events.
async fn one_round(robot: &RecordedRobot) -> Vec<Arc<CloudEvent>> {
    let mut events = robot.events(None);
    let mut all = Vec::new();
    loop {
        let event = timeout(HANGS, events.next()).await.unwrap().unwrap();
        let is_last = matches!(event.data.payload, MissionEvent::Finished { .. });
        all.push(event);
        if is_last {
            return all;
        }
    }
}

#[tokio::test]
async fn the_recording_that_comes_along_is_a_good_mission_and_this_version_reads_all_of_it() {
    let demo = Recording::demo().unwrap();
    assert!(demo.about().task.contains("kitchen"), "{}", demo.about().task);
    assert!(demo.tools().iter().any(|tool| tool.name.as_str() == "base.go_to"));
    let lines = demo_lines().len();
    let told = events_of(demo).await;
    assert!(told.len() > 20 && told.len() < lines);
    assert!(told.iter().enumerate().all(|(at, event)| event.sequence == at as u64 + 1), "nothing is missing");
    let MissionEvent::Finished { result } = &told.last().unwrap().data.payload else { panic!("it has an end") };
    assert_eq!(result.status, MissionStatus::Succeeded);
    assert!(told.iter().any(|event| matches!(event.data.payload, MissionEvent::Asked { .. })), "it asks a person");
}

#[tokio::test]
async fn a_page_gets_the_robot_of_the_recording_its_tools_and_its_tape() {
    let (_server, address) = serve(Recording::demo().unwrap(), fast());
    let overview = get(&address, "/api/v1/overview").await;
    assert_eq!(overview["recording"]["speed"], 100.0);
    assert_eq!(overview["readiness"]["state"], "refusing");
    assert!(overview["components"].as_array().unwrap().iter().any(|component| component["name"] == "base"));
    assert!(get(&address, "/api/v1/tools").await.as_array().unwrap().len() > 5);
    // The recording itself is in the history, with its own times and its tape.
    let listed = get(&address, "/api/v1/missions").await;
    let mission = listed[0]["mission"].as_str().unwrap().to_owned();
    assert_eq!(listed[0]["state"], json!({"state": "ended", "status": "succeeded"}));
    let events = get(&address, &format!("/api/v1/missions/{mission}/events")).await;
    assert_eq!(events[0]["data"]["payload"]["kind"], "accepted");
    let tape = reqwest::get(format!("{address}/api/v1/missions/{mission}/tape")).await.unwrap().text().await.unwrap();
    assert_eq!(tape, demo_lines().concat());
}

#[tokio::test]
async fn each_round_is_a_mission_of_its_own_that_happens_now() {
    let demo = Recording::demo().unwrap();
    let recorded = demo.about().clone();
    let robot = RecordedRobot::start(demo, fast());
    let first = one_round(&robot).await;
    let mission = first[0].subject.clone();
    assert_ne!(mission, recorded.mission);
    assert!(first.windows(2).all(|two| two[0].id < two[1].id && two[0].time <= two[1].time));
    assert!(first[0].time > recorded.time, "it happens now");
    // Whoever comes later reads the same events of this round.
    let mut again = robot.follow(&mission);
    for event in &first {
        assert_eq!(timeout(HANGS, again.next()).await.unwrap().as_ref(), Some(event));
    }
    let overview = robot.overviews().latest();
    let shown = overview.missions.iter().find(|shown| shown.id == mission).unwrap();
    assert_eq!(shown.steps.len(), 5);
    let mut next = robot.events(Some(first.last().unwrap().id.clone()));
    let second = timeout(HANGS, next.next()).await.unwrap().unwrap();
    assert_ne!(second.subject, mission, "and then it happens again");
    assert_eq!(second.sequence, 1);
}

#[tokio::test]
async fn what_a_person_was_asked_is_open_until_it_was_answered() {
    let robot = RecordedRobot::start(Recording::demo().unwrap(), Speed::new(10.0).unwrap());
    let mut events = robot.events(None);
    let asked = timeout(HANGS, async {
        loop {
            let event = events.next().await.unwrap();
            if matches!(event.data.payload, MissionEvent::Asked { .. }) {
                return event;
            }
        }
    });
    let asked = asked.await.unwrap();
    let open = robot.questions();
    assert_eq!(open.len(), 1);
    assert_eq!(open[0].id.mission, asked.subject);
    assert!(open[0].left <= open[0].question.patience);
    let ended = timeout(HANGS, async {
        while !matches!(events.next().await.unwrap().data.payload, MissionEvent::QuestionEnded { .. }) {}
    });
    ended.await.unwrap();
    assert!(robot.questions().is_empty());
}

#[tokio::test]
async fn nothing_can_be_asked_of_it_and_stop_says_that_nothing_moves() {
    let (_server, address) = serve(Recording::demo().unwrap(), Speed::default());
    let http = reqwest::Client::new();
    let seen = get(&address, "/api/v1/seen").await;
    let commands = [
        json!({"command": "submit", "task": "go", "session": null}),
        json!({"command": "resume"}),
        json!({"command": "cancel", "mission": "m"}),
        json!({"command": "dispute", "mission": "m", "reason": "no"}),
        json!({"command": "stop"}),
    ];
    for (number, command) in commands.into_iter().enumerate() {
        let body = json!({"id": format!("{number:032x}"), "seen": seen, "command": command});
        let answer = http.post(format!("{address}/api/v1/commands")).json(&body).send().await.unwrap();
        assert_eq!(answer.status(), 409, "{command}");
        let answer: Value = answer.json().await.unwrap();
        assert!(answer["reason"].as_str().unwrap().contains("recording"), "{answer}");
    }
    let stop = http.post(format!("{address}/stop")).header("Accept", "application/json").send().await.unwrap();
    assert_eq!(stop.status(), 409);
    let reason = stop.json::<Value>().await.unwrap()["reason"].as_str().unwrap().to_owned();
    assert!(reason.contains("nothing moves") && reason.contains("emergency stop of that robot"), "{reason}");
    assert_eq!(get(&address, "/api/v1/overview").await["stop"]["stopped"], false);
}

#[tokio::test]
async fn a_tape_that_breaks_off_is_shown_as_far_as_it_goes_and_says_so() {
    let lines = demo_lines();
    let half = lines.len() / 2;
    let torn = &lines[half][..lines[half].len() / 2];
    let beginning: Vec<&str> = lines[..half].iter().map(String::as_str).collect();
    for (rest, says) in [
        (torn, "breaks off within a line"),
        ("no line of a tape\n", "can't be read"),
        ("{\"a\": [[[[1]]]]}\n", "can't be read"),
        ("\u{0}\u{1}\n", "can't be read"),
    ] {
        let mut with_rest = beginning.clone();
        with_rest.push(rest);
        let file = tape_of(&with_rest);
        let recording = Recording::open(file.path()).unwrap();
        let robot = RecordedRobot::start(recording, fast());
        let mut overviews = robot.overviews();
        let cut = timeout(HANGS, async {
            loop {
                let overview = overviews.next().await.unwrap();
                let cut = overview.recording.as_ref().unwrap().cut.clone();
                if !cut.is_empty() {
                    return (cut, overview.missions.len());
                }
            }
        });
        let (cut, missions) = cut.await.unwrap();
        assert!(cut.contains(says), "{cut}");
        assert_eq!(missions, 1, "what was before it is shown");
    }
}

#[tokio::test]
async fn what_is_no_tape_is_refused_with_the_reason() {
    let lines = demo_lines();
    let of = |lines: &[&str]| Recording::open(tape_of(lines).path()).unwrap_err().to_string();
    assert!(of(&["hello\n"]).contains("is not a tape"));
    assert!(of(&["{}\n", "{}\n"]).contains("is not a tape"));
    assert!(of(&[&lines[0]]).contains("holds nothing to show"));
    assert!(of(&[""]).contains("holds nothing to show"));
    let missing = Recording::find("no/such/file", None).unwrap_err();
    assert!(matches!(missing, PlayError::NoSuchFile { .. }), "{missing}");
    assert!(Recording::open(Path::new("/")).is_err());
    for speed in ["0", "-1", "nan", "inf", "1e9", "fast", ""] {
        assert!(speed.parse::<Speed>().is_err(), "{speed}");
    }
}

#[tokio::test]
async fn a_mission_is_found_by_the_beginning_of_its_id() {
    let folder = tempfile::tempdir().unwrap();
    let demo = Recording::demo().unwrap();
    let mission = demo.about().mission.clone();
    std::fs::copy(demo.path(), folder.path().join(format!("{mission}.jsonl"))).unwrap();
    let tapes = cortex_runtime::tape::Folder::new(folder.path().to_owned());
    let found = Recording::find(&mission.as_str()[..8], Some(&tapes)).unwrap();
    assert_eq!(found.about().mission, mission);
    assert!(Recording::find("ffffffff", Some(&tapes)).is_err());
}
