//! The page in a real browser, over a real Cortex with real components: what a person reads, presses and types.

#![expect(clippy::unwrap_used, reason = "a test whose set-up fails ends here, and says why")]

use cortex_protocol::ControlState;
use cortex_protocol::overview::Overview;
use cortex_stories::{Browser, Colours, Monitored, Page, ReverseProxy, TestRobot, Viewport, model, prompts};
use cortex_testkit::{OpenAiServer, Served};
use serde_json::{Value, json};

/// Keys as WebDriver writes them.
const ENTER: &str = "\u{e007}";
const ESCAPE: &str = "\u{e00c}";

/// Cortex has a page in this test robot.
fn with_page(test_robot: &mut TestRobot) {
    test_robot.add_environment("CORTEX_WEB__LISTEN", "127.0.0.1:0".to_owned());
}

/// Where the page of the Cortex is.
async fn address_of(test_robot: &mut TestRobot) -> String {
    let line = test_robot.process("cortex").wait_for_line("page: http").await;
    line.trim_start_matches("page: ").to_owned()
}

async fn open(browser: &Browser, test_robot: &mut TestRobot) -> Page {
    let address = address_of(test_robot).await;
    browser.open(&address, Viewport::Wide, Colours::Light).await
}

/// The simulated robot, a Cortex without a model, and its page.
async fn sim(arguments: &[&str]) -> (TestRobot, Browser, Page) {
    let mut test_robot = TestRobot::empty();
    with_page(&mut test_robot);
    test_robot.start("sim", "cortex-sim", arguments).await;
    test_robot.start_cortex(&[]).await;
    let browser = Browser::start().await;
    let page = open(&browser, &mut test_robot).await;
    (test_robot, browser, page)
}

#[tokio::test]
async fn a_person_types_a_task_and_reads_its_plan_its_course_and_its_report() {
    let (mut test_robot, browser, page) = sim(&[]).await;
    page.wait_for("#strip", "Takes tasks").await;
    page.send_task("go to the kitchen and say hello").await;
    page.wait_for(".plan-panel", "go_to").await;
    let report = page.wait_for(".report", "Report").await;
    assert!(report.contains("2 steps, 1 plan") && report.contains("base.go_to"), "{report}");
    page.wait_for(".mission-head", "Succeeded").await;
    page.wait_for(".log", "step 1/2 base.go_to").await;
    page.keep_screenshot("report").await;
    page.click("nav a", "History").await;
    page.click(".recorded-open", "go to the kitchen and say hello").await;
    page.wait_for("#history .report", "base.go_to").await;
    page.click("nav a", "Tools").await;
    page.wait_for("#tools", "base.go_to").await;
    page.click("nav a", "Components").await;
    page.wait_for("#components tr", "base").await;
    assert_eq!(page.complaints().await, Vec::<String>::new());
    // Whoever opens the page later sees the same.
    let late = open(&browser, &mut test_robot).await;
    late.wait_for(".report", "base.go_to").await;
}

#[tokio::test]
async fn escape_stops_a_robot_in_mid_drive_and_a_button_lets_it_take_tasks_again() {
    let (test_robot, _browser, page) = sim(&["--ros-args", "-p", "speed_mps:=0.1"]).await;
    page.send_task("go to the kitchen").await;
    page.wait_for(".flight", "base.go_to").await;
    // The task box may have the focus: the first Escape leaves it, the second one stops.
    page.script("document.activeElement.blur()", Vec::new()).await;
    page.type_into("", ESCAPE).await;
    page.wait_for("#stop-panel", "The robot is stopped").await;
    // The answer to the STOP is shown at once; who did it comes with the next picture of the robot.
    page.wait_for("#stop-panel", "STOP by").await;
    page.wait_for("#stop-panel", "1 task was ended").await;
    page.wait_for("#stop-panel", "base.go_to").await;
    page.wait_for(".mission-head", "Cancelled").await;
    page.keep_screenshot("stopped").await;
    let overview = test_robot.status_until("a stop", |overview| overview.stop.stopped).await;
    assert!(overview.calls.is_empty() && overview.stop.not_stopped.is_empty(), "{overview:?}");
    page.send_task("say hello").await;
    page.wait_for(".task-box .answer", "stopped").await;
    page.click("#stop-panel button", "Resume").await;
    page.click("#stop-panel button", "Yes, take tasks again").await;
    page.wait_until_gone("#stop-panel", "The robot is stopped").await;
    page.send(".task-box").await;
    page.wait_for(".report", "speaker.say").await;
}

#[tokio::test]
async fn a_person_pauses_takes_over_and_hands_back_and_whoever_vanishes_leaves_the_robot_at_rest() {
    let (mut test_robot, browser, page) = sim(&["--ros-args", "-p", "speed_mps:=0.4"]).await;
    page.send_task("go to the kitchen").await;
    page.wait_for(".flight", "base.go_to").await;
    let other = open(&browser, &mut test_robot).await;
    page.click(".control-row button:not([disabled])", "Take over").await;
    page.wait_for("#control", "You have the controls").await;
    let at_rest = |overview: &Overview| overview.control.state == ControlState::Held && overview.calls.is_empty();
    test_robot.status_until("everything at rest", at_rest).await;
    // The same device in another window is another connection.
    let band = other.wait_for("#control", "has the controls").await;
    assert!(!band.contains("You have the controls"), "{band}");
    page.wait_for(".mission-head", "has the controls").await;
    page.keep_screenshot("control-mine").await;
    other.keep_screenshot("control-other").await;
    other.send_task("say hello").await;
    other.wait_for(".task-box .answer", "has the controls of the robot").await;
    page.click("#control button", "Hand back").await;
    page.click("#control button", "Yes, hand back").await;
    page.wait_until_gone("#control", "You have the controls").await;
    page.wait_for(".mission-head", "Succeeded").await;
    page.wait_for(".log", "handed the controls back after").await;
    // A pause, and its end from another page.
    page.send_task("go to the bedroom").await;
    page.wait_for(".flight", "base.go_to").await;
    page.click(".control-row button:not([disabled])", "Pause").await;
    other.wait_for("#control", "The robot is paused").await;
    other.keep_screenshot("control-paused").await;
    other.click("#control button", "Take over").await;
    other.wait_for("#control", "You have the controls").await;
    // Its window is closed.
    other.close().await;
    page.wait_for("#control", "held the controls and vanished").await;
    page.keep_screenshot("control-vanished").await;
    let vanished = |overview: &Overview| overview.control.state == ControlState::Paused && overview.calls.is_empty();
    test_robot.status_until("everything at rest", vanished).await;
    page.click("#control button", "Continue").await;
    page.click("#control button", "Yes, continue").await;
    page.wait_for(".mission-head", "Succeeded").await;
    assert_eq!(page.complaints().await, Vec::<String>::new());
}

const OPEN: &str = "send_request_to_gate-open";

/// A gate of which nobody has declared what its services do, and a model that opens it as often as it is asked for a plan.
async fn gate(deadline: &str) -> (TestRobot, OpenAiServer, Browser, Page) {
    let mut test_robot = TestRobot::empty();
    with_page(&mut test_robot);
    test_robot.configure(&format!("[approval]\ndeadline_s = {deadline}\n"));
    test_robot.start_python("gate", "gate.py", &[]).await;
    let model = OpenAiServer::answering(|request| {
        let tools = request["tools"].as_array().map_or(0, Vec::len);
        let told = request["messages"].to_string();
        match tools {
            0 | 1 => Served::Text("EXECUTE".to_owned()),
            _ if told.contains("was carried out") || told.contains("denied") => Served::Text("That is all.".to_owned()),
            _ => Served::Calls(vec![(OPEN.to_owned(), json!({"data": true}))]),
        }
    });
    let model = model.await.unwrap();
    test_robot.start_cortex_with(&model).await;
    let browser = Browser::start().await;
    let page = open(&browser, &mut test_robot).await;
    (test_robot, model, browser, page)
}

/// What reached the gate.
fn reached(test_robot: &mut TestRobot) -> usize {
    let is_call = |line: &String| serde_json::from_str::<Value>(line).is_ok();
    test_robot.process("gate").stdout().iter().filter(|line| is_call(line)).count()
}

#[tokio::test]
async fn an_approval_is_asked_with_what_would_run_and_given_or_refused_on_the_page() {
    let (mut test_robot, model, _browser, page) = gate("60").await;
    page.send_task("open the gate").await;
    let card = page.wait_for(".card", "Approve").await;
    assert!(card.contains("gate.open") || card.contains("gate/open"), "{card}");
    assert!(card.contains("data") && card.contains("true"), "the arguments to the letter: {card}");
    page.keep_screenshot("approval").await;
    assert_eq!(reached(&mut test_robot), 0, "nothing runs while a person is asked");
    page.type_into(".deny input", "the dog is out").await;
    page.answer_deliberately(".deny button", "Deny").await;
    page.wait_until_gone(".card", "Approve").await;
    page.wait_for(".report", "Report").await;
    assert_eq!(reached(&mut test_robot), 0);
    assert!(prompts(&model).join("\n").contains("the dog is out"), "the model plans with the reason");
    page.send_task("open the gate now").await;
    page.wait_for(".card", "Approve").await;
    page.answer_deliberately(".card button", "Approve once").await;
    test_robot.process("gate").wait_for_json("the call", |_| true).await;
    page.wait_for(".mission-head", "Succeeded").await;
}

#[tokio::test]
async fn an_approval_that_nobody_gives_counts_as_no() {
    let (mut test_robot, _model, _browser, page) = gate("2").await;
    page.send_task("open the gate").await;
    page.wait_for(".card", "Approve").await;
    page.wait_until_gone(".card", "Approve").await;
    page.wait_for(".report", "Report").await;
    assert_eq!(reached(&mut test_robot), 0);
}

#[tokio::test]
async fn a_component_that_is_killed_is_seen_to_fail_and_to_come_back() {
    let mut test_robot = TestRobot::empty();
    test_robot.find_programs();
    with_page(&mut test_robot);
    let recipe = format!("{}/../recipes/agent.toml", env!("CARGO_MANIFEST_DIR"));
    let mut robot = Monitored::start(&test_robot, &recipe, &["--model", "reflex"]);
    robot.wait_until_all_work(&["base", "camera", "vision", "speaker", "light", "battery"]).await;
    let line = robot.process().wait_for_line("page: http").await;
    let browser = Browser::start().await;
    let page = browser.open(line.trim_start_matches("page: "), Viewport::Wide, Colours::Light).await;
    page.click("nav a", "Components").await;
    page.wait_for("#components", "6 of 6 healthy").await;
    assert!(robot.signal("base", "KILL"));
    page.wait_for("#components", "5 of 6 healthy").await;
    page.keep_screenshot("components").await;
    page.wait_for("#components", "6 of 6 healthy").await;
}

#[tokio::test]
async fn text_of_people_and_models_is_never_markup() {
    let hostile =
        "<img src=x onerror=document.title='taken'><script>document.title='taken'</script> \u{202e}evil \u{1f600}";
    let mut test_robot = TestRobot::empty();
    with_page(&mut test_robot);
    let words = Served::Text(format!("<b id=taken>{hostile}</b>"));
    // Words do nothing, so it is asked again.
    let model = model([words.clone(), words]).await;
    test_robot.start_cortex_with(&model).await;
    let browser = Browser::start().await;
    let page = open(&browser, &mut test_robot).await;
    let typed = "document.querySelector('#task').value = arguments[0]";
    page.wait_for("#strip", "Model").await;
    page.script(typed, vec![hostile.into()]).await;
    page.send(".task-box").await;
    let report = page.wait_for(".report", "onerror").await;
    assert!(report.contains("<b id=taken>"), "it is shown as it was said: {report}");
    page.wait_for(".mission-head", "<script>").await;
    let taken = "return [document.title, document.querySelectorAll('#taken, main img, main script').length]";
    let taken = page.script(taken, Vec::new()).await;
    assert_eq!(taken[1], 0, "{taken}");
    assert_ne!(taken[0], "taken");
    assert_eq!(page.complaints().await, Vec::<String>::new());
}

#[tokio::test]
async fn another_device_needs_a_code_and_is_put_out_when_its_session_is_revoked() {
    let (mut test_robot, browser, page) = sim(&[]).await;
    let address = address_of(&mut test_robot).await;
    let proxy = ReverseProxy::start(&address).await;
    // Through a proxy nobody is at the robot's own machine.
    let tablet = browser.open(proxy.address(), Viewport::Tablet, Colours::Dark).await;
    tablet.wait_for("form", "Pairing code").await;
    tablet.keep_screenshot("login").await;
    page.click("nav a", "Access").await;
    page.wait_for("#access button", "Make a pairing code").await;
    page.script("document.querySelector('#pairing-role').value = 'operate'", Vec::new()).await;
    page.click("#access button", "Make a pairing code").await;
    let code = page.wait_for(".pairing-code strong", "-").await;
    tablet.type_into("#code", "AAAA-AAAA").await;
    tablet.type_into("#code", ENTER).await;
    tablet.wait_for("[role=alert]", "code").await;
    tablet.type_into("#code", code.trim()).await;
    tablet.type_into("#name", "Tablet in the hall").await;
    tablet.click("button", "Log in").await;
    tablet.wait_for("#strip", "Takes tasks").await;
    tablet.keep_screenshot("tablet").await;
    // It may act.
    tablet.send_task("say hello").await;
    tablet.wait_for(".report", "speaker.say").await;
    page.click("nav a", "Mission").await;
    page.wait_for(".mission-head", "Tablet in the hall").await;
    page.click("nav a", "Access").await;
    page.click("#access button", "End the session").await;
    tablet.wait_for("#frozen", "not logged in").await;
}

#[tokio::test]
async fn a_person_logs_in_with_a_password_and_is_out_when_removed() {
    let (mut test_robot, browser, page) = sim(&[]).await;
    let proxy = ReverseProxy::start(&address_of(&mut test_robot).await).await;
    page.click("nav a", "Access").await;
    page.wait_for("#access", "Nobody has a password").await;
    page.type_into("#user-name", "ada").await;
    page.type_into("#user-password", "correct horse battery").await;
    page.click("#access button", "Add the person").await;
    page.wait_for("#access", "Remove the person").await;
    let phone = browser.open(proxy.address(), Viewport::Phone, Colours::Light).await;
    phone.wait_for("form", "Your name").await;
    phone.keep_screenshot("login-with-password").await;
    phone.type_into("#user", "ada").await;
    phone.type_into("#password", "wrong").await;
    phone.type_into("#password", ENTER).await;
    phone.wait_for("[role=alert]", "password is wrong").await;
    phone.type_into("#user", "ada").await;
    phone.type_into("#password", "correct horse battery").await;
    phone.type_into("#password", ENTER).await;
    phone.wait_for("#you", "ada").await;
    page.click("nav a", "Mission").await;
    page.click("nav a", "Access").await;
    page.wait_for("#access", "by ada").await;
    page.keep_screenshot("access-people").await;
    page.click("#access button", "Remove the person").await;
    phone.wait_for("#frozen", "not logged in").await;
    page.wait_for("#access", "Nobody has a password").await;
}

/// The views on every device, in both colours, for people to look at: `target/screenshots`.
#[tokio::test]
async fn every_view_fits_every_screen_in_both_colours() {
    let (mut test_robot, browser, page) = sim(&[]).await;
    page.send_task("go to the kitchen, look around and say what you see").await;
    page.wait_for(".report", "Report").await;
    let address = address_of(&mut test_robot).await;
    for (viewport, device) in [(Viewport::Wide, "wide"), (Viewport::Tablet, "tablet"), (Viewport::Phone, "phone")] {
        for (colours, name) in [(Colours::Light, "light"), (Colours::Dark, "dark")] {
            let page = browser.open(&address, viewport, colours).await;
            page.wait_for(".report", "Report").await;
            for view in ["Mission", "Components", "Tools", "History"] {
                page.click("nav a", view).await;
                let scrolls = "return document.documentElement.scrollWidth - innerWidth";
                let beyond = page.script(scrolls, Vec::new()).await;
                assert_eq!(beyond, 0, "{view} on a {device} screen is wider than that");
                page.wait_for("#stop", "STOP").await;
                page.keep_screenshot(&format!("{}-{device}-{name}", view.to_lowercase())).await;
            }
            page.close().await;
        }
    }
}
