//! The log: on the page, on `/rosout`, in the folder of ROS' logs, and on standard error.

#![expect(clippy::unwrap_used, reason = "a test whose set-up fails ends here, and says why")]

use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use cortex_stories::{Browser, Colours, Page, Process, TestRobot, Viewport};
use serde_json::{Value, json};

/// A test robot whose nodes write their logs into its own folder, and who listens to `/rosout`.
async fn heard() -> (TestRobot, Process) {
    let mut test_robot = TestRobot::empty();
    let folder = test_robot.state().join("ros-log").to_string_lossy().into_owned();
    test_robot.add_environment("ROS_LOG_DIR", folder);
    let mut listener = test_robot.spawn_python("rosout.py", &[]);
    listener.wait_for_line("ready").await;
    (test_robot, listener)
}

/// A component in Rust, which works.
async fn speaker(test_robot: &TestRobot) -> Process {
    let mut speaker = test_robot.spawn("cortex-sim", &["component", "speaker"]);
    speaker.wait_for_line("up active").await;
    speaker
}

async fn line_with(listener: &mut Process, name: &str, text: &str) -> Value {
    let wanted = |line: &Value| line["name"] == name && line["msg"].as_str().is_some_and(|said| said.contains(text));
    listener.wait_for_json(&format!("'{text}' of {name}"), wanted).await
}

/// The files of a program's process, whose names are `<program>_<pid>_<milliseconds>.log`.
fn log_of(folder: &Path, program: &str, process: u32) -> String {
    let begin = format!("{program}_{process}_");
    let files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap()).collect();
    let own: Vec<_> = files.iter().filter(|file| file.file_name().to_string_lossy().starts_with(&begin)).collect();
    assert_eq!(own.len(), 1, "one file of {begin} in {files:?}");
    own.first().map(|file| std::fs::read_to_string(file.path()).unwrap()).unwrap()
}

#[tokio::test]
async fn what_cortex_and_components_log_is_on_rosout_and_in_the_folder_of_logs() {
    let (mut test_robot, mut listener) = heard().await;
    let _speaker = speaker(&test_robot).await;
    test_robot.start_cortex(&[]).await;
    let line = line_with(&mut listener, "cortex", "lifecycle: active, was inactive").await;
    assert_eq!(line["level"], 20, "{line}");
    assert!(line["file"].as_str().is_some_and(|file| file.ends_with("driver.rs")), "{line}");
    assert_eq!(line["function"], "cortex_ros_client::lifecycle::driver", "{line}");
    assert!(line["line"].as_u64().is_some_and(|line| line > 0), "{line}");
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    let age = now.as_secs().saturating_sub(line["stamp"].as_u64().unwrap());
    assert!(age < 120, "{line} is {age} s old");
    line_with(&mut listener, "speaker", "lifecycle: active, was inactive").await;

    let sent = test_robot.send("say hello 100%").await;
    let mission = sent.events[0]["subject"].as_str().expect("a mission").to_owned();
    let cortex = test_robot.process("cortex");
    let process = cortex.id();
    cortex.signal("TERM");
    assert_eq!(cortex.wait().await, Some(0));
    let last = line_with(&mut listener, "cortex", "lifecycle: finalized").await;
    assert_eq!(last["level"], 20, "what is logged last is published, too: {last}");

    let printed = test_robot.process("cortex").stderr();
    let file = log_of(&test_robot.state().join("ros-log"), "cortex", process);
    let at_percent = printed.iter().find(|line| line.contains("100%")).expect("the task is logged");
    assert!(file.lines().any(|line| line == at_percent), "{file}");
    for line in printed.iter().map(String::as_str).chain(file.lines()) {
        assert!(line.matches(&mission).count() <= 1, "the mission stands twice in: {line}");
        assert!(!line.contains('\u{1b}'), "colours in {line:?}");
    }
    let begins = |line: &&str| line.starts_with("[INFO] [") && line.contains("] [cortex]: ");
    assert!(file.lines().any(|line| begins(&line) && line.contains("lifecycle: active, was inactive")), "{file}");
    let told = test_robot.process("cortex").stdout();
    let counts = told.iter().filter(|line| line.starts_with("tools: ")).count();
    assert!((1..=3).contains(&counts), "{told:#?}");
}

#[tokio::test]
async fn a_manager_reads_in_the_log_what_became_of_its_requests() {
    let (mut test_robot, mut listener) = heard().await;
    test_robot.start_cortex(&[]).await;
    let mut manager = test_robot.spawn_python("lifecycle_manager.py", &["/cortex"]);
    manager.wait_for_line("ready").await;
    for (request, line) in [
        ("pause", "lifecycle: inactive, was active"),
        ("resume", "lifecycle: active, was inactive"),
        ("reset", "lifecycle: unconfigured, was inactive"),
        ("startup", "lifecycle: inactive, was unconfigured"),
    ] {
        manager.write_line(request).await;
        line_with(&mut listener, "cortex", line).await;
    }
}

/// Whoever hangs while it reads standard error must hold up neither a mission nor `/rosout`.
#[tokio::test]
async fn a_terminal_that_nobody_reads_holds_nothing_up() {
    let (mut test_robot, mut listener) = heard().await;
    test_robot.find_programs();
    test_robot.add_environment("RUST_LOG", "trace".to_owned());
    // Somebody has the other end of it open, and reads nothing.
    let unread = test_robot.state().join("unread").to_string_lossy().into_owned();
    let mut cortex = test_robot.spawn_shell(&format!("mkfifo '{unread}' && exec 2<>'{unread}' && exec cortex run"));
    cortex.wait_for_line("ready").await;
    line_with(&mut listener, "cortex", "lifecycle: active, was inactive").await;
    for task in 0..3 {
        let begun = std::time::Instant::now();
        test_robot.send(&format!("hello {task}")).await;
        assert!(begun.elapsed() < Duration::from_secs(15));
    }
    cortex.signal("TERM");
    assert_eq!(cortex.wait().await, Some(0));
    line_with(&mut listener, "cortex", "lifecycle: finalized").await;
}

/// A Cortex with a page, a speaker, and the page in a browser.
async fn with_page() -> (TestRobot, Process, Browser, Page) {
    let mut test_robot = TestRobot::empty();
    test_robot.add_environment("CORTEX_WEB__LISTEN", "127.0.0.1:0".to_owned());
    let speaker = speaker(&test_robot).await;
    test_robot.start_cortex(&[]).await;
    let line = test_robot.process("cortex").wait_for_line("page: http").await;
    let browser = Browser::start().await;
    let page = browser.open(line.trim_start_matches("page: "), Viewport::Wide, Colours::Light).await;
    (test_robot, speaker, browser, page)
}

/// Chooses which lines are shown, as a person does.
async fn show(page: &Page, which: &str) {
    let script = "for (const list of document.querySelectorAll('.log select')) if ([...list.options].some((one) => \
                  one.value === arguments[0])) { list.value = arguments[0]; list.dispatchEvent(new Event('change')); }";
    page.script(script, vec![json!(which)]).await;
}

#[tokio::test]
async fn what_a_node_reports_stands_on_the_page_beside_the_feedback() {
    let (mut test_robot, _speaker, _browser, page) = with_page().await;
    test_robot.start_python("gripper", "loud.py", &["gripper", "0"]).await;
    // Also where there is no mission.
    let shown = page.wait_for(".log .line", "the gripper slips").await;
    assert!(shown.contains("gripper · error") && shown.contains("<b>at</b> finger 2"), "{shown}");
    page.wait_until_gone(".log .line", "the gripper is at home").await;
    page.keep_screenshot("log-idle").await;
    page.send_task("say hello").await;
    page.wait_for(".log .line", "step 1/1 speaker.say").await;
    page.wait_for(".report", "speaker.say").await;
    test_robot.start_python("arm", "loud.py", &["arm", "0"]).await;
    let shown = page.wait_for(".log .line", "the gripper slips").await;
    assert!(shown.contains("arm · error"), "what was logged before the mission is none of it: {shown}");
    show(&page, "info").await;
    page.wait_for(".log .line", "the gripper is at home").await;
    page.keep_screenshot("log").await;
    let feedback = "return [...document.querySelectorAll('.log .line-text')].filter((line) => \
                    line.checkVisibility() && line.textContent.startsWith('step 1/1 speaker.say')).length";
    let lines = page.script(feedback, Vec::new()).await;
    show(&page, "feedback").await;
    page.wait_until_gone(".log .line", "the gripper is at home").await;
    assert_eq!(page.script(feedback, Vec::new()).await, lines, "Cortex' log of its feedback is not told again");
    show(&page, "arm").await;
    page.wait_until_gone(".log .line", "step 1/1").await;
    assert_eq!(page.complaints().await, Vec::<String>::new());
}

/// Also of one that never pauses, the list stays short, and missions and their feedback go on.
#[tokio::test]
async fn ten_thousand_lines_a_second_of_one_node_hold_nobody_up() {
    let (mut test_robot, _speaker, _browser, page) = with_page().await;
    test_robot.start_python("camera", "loud.py", &["camera", "10000"]).await;
    test_robot.start_python("gripper", "loud.py", &["gripper", "0"]).await;
    page.wait_for(".log .line", "the gripper slips").await;
    show(&page, "info").await;
    page.wait_for(".log .line", "more lines of camera in this second").await;
    page.keep_screenshot("log-flood").await;
    for task in 0..5 {
        let begun = std::time::Instant::now();
        let sent = test_robot.send(&format!("say number {task}")).await;
        assert_eq!(sent.status(), "succeeded", "{sent:#?}");
        page.wait_for(".report", "speaker.say").await;
        assert!(begun.elapsed() < Duration::from_secs(10), "mission {task} took {:?}", begun.elapsed());
    }
    let lines = page.script("return document.querySelectorAll('.log .line').length", Vec::new()).await;
    assert!(lines.as_u64().is_some_and(|lines| lines <= 4_000), "two lists of 2,000 lines at most: {lines}");
    let frozen = page.script("return document.body.classList.contains('is-frozen')", Vec::new()).await;
    assert_eq!(frozen, false, "the page is live all the while");
    assert_eq!(page.complaints().await, Vec::<String>::new());
}
