//! Components whose processes go wrong, kept alive by the monitor of a real Cortex: what is noticed, what is done about it,
//! and how it ends. A neighbour works on all the while, and nothing is left behind.

use std::io::Write as _;
use std::path::Path;
use std::time::Duration;

use cortex_protocol::overview::{ComponentHealth, ComponentOverview};
use cortex_stories::{Event, Monitored, PATIENCE, TestRobot, Told, calls, finish_send, model, python, says};
use serde_json::json;

/// The component that goes wrong.
const TRAY: &str = "tray";
/// The one that does not.
const LAMP: &str = "lamp";
/// What the tray may use where its memory is limited, in megabytes; it needs some 70.
const MEMORY: &str = "220";

/// A robot with a tray that goes wrong in one way.
struct Story {
    test_robot: TestRobot,
    robot: Monitored,
    notes: String,
}

impl Story {
    /// `options` are for the tray's program, `ladder` is its `[fallbacks]`.
    async fn with(fault: &str, options: &[&str], ladder: &str, more: &str) -> Self {
        Self::new(fault, options, more, |_| ladder.to_owned()).await
    }

    /// The same where what follows needs the path of the notes.
    async fn new(fault: &str, options: &[&str], more: &str, ladder: impl FnOnce(&str) -> String) -> Self {
        let mut test_robot = TestRobot::empty();
        test_robot.find_programs();
        let notes = test_robot.file("notes", "");
        let scripts = Path::new(env!("CARGO_MANIFEST_DIR")).join("python/bad");
        let script = |name: &str| scripts.join(name).to_string_lossy().into_owned();
        let (component, python) = (script("component.py"), python().to_string_lossy().into_owned());
        let mut arguments = vec![component.as_str(), fault, "--heartbeat", "0.4", "--notes", &notes];
        arguments.extend(options);
        let ladder = ladder(&notes);
        let limit = script("memory_limit.py");
        if fault == "eats_memory" {
            arguments.splice(0..0, [limit.as_str(), MEMORY, &python]);
        }
        // Only who never comes is waited for so long.
        let start_timeout = if fault == "comes_back_as_another" { 15 } else { 60 };
        let recipe = format!(
            "recipe = 1\n\
             [components.{LAMP}]\nheartbeat_s = 2.0\n\
             start = {{ program = \"cortex-misbehave\", arguments = [\"echo\", \"--name\", \"{LAMP}\"] }}\n\
             [components.{TRAY}]\nheartbeat_s = 2.0\nstop_timeout_s = 1.0\nstart_timeout_s = {start_timeout}\n\
             start = {{ program = {python:?}, arguments = {arguments:?} }}\n{more}\n\
             [components.{TRAY}.fallbacks]\n{ladder}\n"
        );
        let recipe = test_robot.file("robot.toml", &recipe);
        let mut robot = Monitored::start(&test_robot, &recipe, &["--model", "reflex"]);
        robot.wait_for(0, LAMP, |event| *event == Event::Works).await;
        Self { test_robot, robot, notes }
    }

    async fn hear(&mut self, wanted: impl Fn(&Event) -> bool) -> Event {
        self.robot.wait_for(0, TRAY, wanted).await.event
    }

    /// Waits until the tray works after that.
    async fn works_after(&mut self, wanted: impl Fn(&Event) -> bool) {
        let told = self.robot.wait_for(0, TRAY, wanted).await;
        let since = self.robot.told().iter().position(|other| *other == told).unwrap_or_default();
        self.robot.wait_for(since, TRAY, |event| *event == Event::Works).await;
    }

    /// How often the tray's process was really started.
    fn starts(&self) -> usize {
        self.noted("tray start")
    }

    /// How often that is in the notes of what really happened.
    fn noted(&self, noted: &str) -> usize {
        let notes = std::fs::read_to_string(&self.notes).unwrap_or_default();
        notes.lines().filter(|line| *line == noted).count()
    }

    /// Waits until that is so often in the notes.
    async fn notes(&self, noted: &str, times: usize) {
        let waited = tokio::time::timeout(PATIENCE, async {
            while self.noted(noted) < times {
                // Nothing tells of a line in a file.
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        });
        assert!(waited.await.is_ok(), "'{noted}' was not noted {times} times, but {}", self.noted(noted));
    }

    /// Stops the robot, or lets it be used again; the words of the answer.
    async fn cortex(&self, command: &str) -> String {
        let (code, told, complained) = self.test_robot.run("cortex", &[command]).await;
        assert_eq!(code, Some(0), "{told} {complained}");
        told
    }

    /// The neighbour was well all the time; Cortex ends in order, and nothing is left.
    async fn end(mut self) {
        let is_about_lamp =
            |told: &&Told| told.component == LAMP && matches!(told.event, Event::Fails(_) | Event::Ended(_));
        let complaints: Vec<Told> = self.robot.told().iter().filter(is_about_lamp).cloned().collect();
        assert_eq!(complaints, [], "the neighbour has nothing to do with it");
        assert_eq!(self.robot.stop().await, Some(0));
        assert_eq!(self.test_robot.left_behind().await, Vec::<String>::new());
    }
}

fn fails(words: &str) -> impl Fn(&Event) -> bool {
    move |event| matches!(event, Event::Fails(why) if why.contains(words))
}

fn did_not_help(words: &str) -> impl Fn(&Event) -> bool {
    move |event| matches!(event, Event::DidNotHelp(why) if why.contains(words))
}

#[tokio::test]
async fn who_crashes_at_start_is_started_again_until_it_works() {
    let mut story = Story::with("crashes_at_start", &["--times", "2"], "", "").await;
    story.hear(did_not_help("its process ended with status 3")).await;
    story.hear(|event| *event == Event::Works).await;
    assert_eq!(story.starts(), 3);
    story.end().await;
}

#[tokio::test]
async fn who_always_crashes_at_start_is_given_up_and_the_rest_of_the_robot_goes_on() {
    let ladder = "on_component_fail = [{ do = \"restart\", retries = 1 }]\ncooldown_s = 3600.0";
    let mut story = Story::with("crashes_at_start", &[], ladder, "").await;
    let given_up = story.hear(|event| matches!(event, Event::GivenUp(_))).await;
    let why = "its process ended with status 3; its ladder begins anew in 3600 s (cooldown_s)";
    assert_eq!(given_up, Event::GivenUp(why.to_owned()));
    assert_eq!(story.starts(), 3, "once, and two attempts");
    let sent = story.test_robot.send("echo \"still here\"").await;
    assert_eq!(sent.status(), "succeeded", "{sent:#?}");
    story.end().await;
}

#[tokio::test]
async fn who_crashes_at_random_moments_is_brought_back_each_time() {
    let options = ["--after", "1.5", "--times", "2", "--seed", "3"];
    let ladder = "on_component_fail = [{ do = \"respawn\", retries = 5 }]";
    let mut story = Story::with("crashes_at_random", &options, ladder, "").await;
    story.works_after(|event| matches!(event, Event::Attempt(what) if what.starts_with("2, "))).await;
    let told = story.robot.told();
    let ended = told.iter().filter(|told| matches!(&told.event, Event::Ended(how) if how.contains("signal 11")));
    assert_eq!(ended.count(), 2, "{told:#?}");
    assert_eq!(story.starts(), 3);
    story.end().await;
}

#[tokio::test]
async fn who_hangs_after_its_start_is_suspected_and_then_started_anew_by_force() {
    let mut story = Story::with("hangs", &["--times", "1", "--after", "2"], "", "").await;
    story.hear(|event| matches!(event, Event::Suspected(why) if why.contains("no heartbeat"))).await;
    story.hear(fails("no heartbeat")).await;
    // It is deaf to SIGTERM, too.
    story.works_after(|event| *event == Event::Ended("signal 9, sent by Cortex".to_owned())).await;
    assert_eq!(story.starts(), 2);
    story.end().await;
}

/// The screen showed "healthy up" beside "can't be used", no attempts beside "attempt 1", the time since a silence as of the
/// moment that it was noticed, and did not say whether a task can be sent.
#[tokio::test]
async fn regression_the_status_of_a_robot_that_fails_was_not_what_the_monitor_knew() {
    let rack = "[components.rack]\nheartbeat_s = 2.0\ndepends_on = [\"tray\"]\n\
                start = { program = \"cortex-misbehave\", arguments = [\"echo\", \"--name\", \"rack\"] }\n";
    let ladder = "on_component_fail = [\"notify_operator\"]\ncooldown_s = 3600.0";
    let mut story = Story::with("goes_silent", &["--after", "12"], ladder, rack).await;
    story.robot.wait_for(0, "rack", |event| *event == Event::Works).await;
    story.hear(|event| matches!(event, Event::GivenUp(_))).await;
    let is_failed = |part: &ComponentOverview| part.name.as_str() == TRAY && part.health == ComponentHealth::Failed;
    story.test_robot.status_until("a tray that fails", |status| status.components.iter().any(is_failed)).await;
    let told = story.cortex("status").await;
    let line = |of: &str| told.lines().find(|line| line.starts_with(of)).unwrap_or_default().to_owned();
    assert_eq!(told.lines().next(), Some("takes tasks, with limits: nothing is called of rack, tray now"), "{told}");
    assert_eq!(line("rack ").split_whitespace().take(3).collect::<Vec<_>>(), ["rack", "healthy", "quarantined"]);
    assert!(told.contains("can't be used while tray does not work"), "{told}");
    let tray: Vec<String> = line("tray ").split_whitespace().map(str::to_owned).collect();
    assert_eq!((tray[1].as_str(), tray.last().map(String::as_str)), ("failed", Some("1")), "{told}");
    assert!(told.contains("no heartbeat for more than 7.0 s"), "{told}");
    story.end().await;
}

#[tokio::test]
async fn who_ignores_sigterm_is_killed() {
    let mut story = Story::with("ignores_sigterm", &["--times", "1", "--after", "2"], "", "").await;
    story.works_after(|event| *event == Event::Ended("signal 9, sent by Cortex".to_owned())).await;
    story.end().await;
}

#[tokio::test]
async fn who_ignores_sigterm_does_not_hold_up_the_end() {
    let ladder = "on_component_fail = [\"notify_operator\"]\ncooldown_s = 3600.0";
    let mut story = Story::with("ignores_sigterm", &["--after", "2"], ladder, "").await;
    story.hear(fails("no heartbeat")).await;
    story.end().await;
}

#[tokio::test]
async fn who_is_killed_for_its_memory_is_respawned() {
    let mut story = Story::with("eats_memory", &["--times", "1", "--after", "2"], "", "").await;
    story.works_after(fails("its process was killed (signal 9), perhaps because there was no memory left")).await;
    assert_eq!(story.starts(), 2);
    story.end().await;
}

#[tokio::test]
async fn who_goes_silent_while_process_and_node_stay_is_started_anew() {
    let mut story = Story::with("goes_silent", &["--times", "1", "--after", "2"], "", "").await;
    story.hear(|event| matches!(event, Event::Suspected(why) if why.contains("no heartbeat"))).await;
    story.works_after(fails("no heartbeat")).await;
    assert_eq!(story.starts(), 2);
    story.end().await;
}

#[tokio::test]
async fn health_that_is_nonsense_is_no_health_and_does_not_reach_the_log_as_it_is() {
    let mut story = Story::with("publishes_garbage", &["--times", "1", "--after", "2"], "", "").await;
    story.works_after(|event| matches!(event, Event::Fails(_))).await;
    for (_, line) in story.robot.process().log_after(0) {
        assert!(line.chars().count() < 2_000, "a line of the log is a flood");
        assert!(!line.contains(['\x1b', '\0', '\u{202e}']), "{line:?}");
    }
    assert_eq!(story.starts(), 2);
    story.end().await;
}

#[tokio::test]
async fn who_answers_describe_but_no_call_is_found_out_by_a_call_that_does_not_get_on() {
    let progress = "progress = [{ within_s = 2.0, during = \"goal\" }]";
    let mut story = Story::with("does_not_execute", &["--times", "1", "--after", "1"], "", progress).await;
    story.hear(|event| *event == Event::Works).await;
    story.notes("tray fault does_not_execute", 1).await;
    let sent = story.test_robot.send("shake the tray for visitors").await;
    assert_eq!(sent.status(), "failed", "{sent:#?}");
    story.works_after(fails("it does not get on")).await;
    let _ = story.test_robot.run("cortex", &["resume"]).await;
    let sent = story.test_robot.send("shake the tray for visitors").await;
    assert_eq!(sent.status(), "succeeded", "{sent:#?}");
    story.end().await;
}

/// The call that the life before had hung in went on for its caller, and the next life was judged by it: it failed while
/// nothing was asked of it, and a second attempt was spent.
#[tokio::test]
async fn regression_a_new_life_was_judged_by_the_call_of_the_one_before() {
    let mut test_robot = TestRobot::empty();
    test_robot.find_programs();
    test_robot.allow_undeclared();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("python/bad/managed.py");
    let (script, python) = (script.to_string_lossy().into_owned(), python().to_string_lossy().into_owned());
    let recipe = test_robot.file(
        "robot.toml",
        &format!(
            "recipe = 1\n[components.shelf]\nlifecycle = \"managed\"\nstop_timeout_s = 1.0\ntransition_timeout_s = 1.0\n\
             start = {{ program = {python:?}, arguments = [{script:?}, \"shelf\", \"--folds\"] }}\n\
             progress = [{{ within_s = 1.0, during = \"goal\" }}]\n\
             [components.shelf.fallbacks]\non_component_fail = [{{ do = \"restart\", retries = 5 }}]\n"
        ),
    );
    let call = ("send_goal_to_fold", json!({"order": 7}));
    let model = model([calls([call]), says("EXECUTE"), says("That is all.")]).await;
    let mut robot = Monitored::start(&test_robot, &recipe, &["--model", &format!("openai:scripted@{}", model.url())]);
    robot.wait_until_all_work(&["shelf"]).await;
    robot.process().wait_for_line("ready").await;
    let sent = test_robot.send("fold").await;
    assert_eq!((sent.status(), sent.started()), ("failed", vec!["send_goal_to_fold"]), "{sent:#?}");
    let is_stuck = |event: &Event| matches!(event, Event::Fails(why) if why.contains("it does not get on"));
    robot.wait_for(0, "shelf", is_stuck).await;
    let since = robot.told().iter().position(|told| is_stuck(&told.event)).unwrap_or_default();
    robot.wait_for(since, "shelf", |event| *event == Event::Works).await;
    // Before its mission gave the call up, the next life had gone without progress for longer than it may.
    let events = robot.told().to_vec();
    assert_eq!(events.iter().filter(|told| is_stuck(&told.event)).count(), 1, "{events:#?}");
    assert_eq!(events.iter().filter(|told| matches!(told.event, Event::Attempt(_))).count(), 1, "{events:#?}");
    assert_eq!(robot.stop().await, Some(0));
}

/// The standby was put into quarantine in the midst of its call, because the tray was well again.
#[tokio::test]
async fn regression_a_standby_was_cut_off_when_the_other_was_well_again() {
    // Something else starts the standby, so that its methods are known long before it is needed.
    let ladder = "on_component_fail = [\"respawn\", \"standby\"]\ncooldown_s = 8.0\n\
                  [components.spare_tray]\nheartbeat_s = 2.0\nstart_timeout_s = 60\nstart = \"external\"\n";
    let options = ["--times", "2", "--after", "5"];
    let mut story = Story::with("crashes", &options, ladder, "standby = \"spare_tray\"\n").await;
    let notes = story.notes.clone();
    let spare = ["works", "--name", "spare_tray", "--work", "15", "--notes", &notes];
    story.test_robot.start_python("spare", "bad/component.py", &spare).await;
    story.robot.wait_for(0, "spare_tray", |event| *event == Event::Works).await;
    // Up is not yet known: it has to describe what it offers.
    story.robot.process().wait_for_log("the component 'spare_tray' was found", 1).await;
    let before = story.robot.count();
    let task = story.test_robot.begin_send("shake the tray for visitors");
    story.notes("spare_tray began visitors", 1).await;
    story.robot.wait_for(before, TRAY, |event| *event == Event::Healthy).await;
    assert_eq!(story.noted("spare_tray did visitors"), 0, "the standby is still at it");
    let sent = finish_send(task).await;
    assert_eq!(sent.status(), "succeeded", "{sent:#?}");
    assert_eq!(story.noted("spare_tray did visitors"), 1);
    // Then the place is given back.
    story.robot.wait_for(before, TRAY, |event| *event == Event::Works).await;
    story.robot.wait_for(before, "spare_tray", |event| *event == Event::Down).await;
    let sent = story.test_robot.send("shake the tray for guests").await;
    assert_eq!(sent.status(), "succeeded", "{sent:#?}");
    assert_eq!((story.noted("tray did guests"), story.noted("tray did visitors")), (1, 0));
    story.test_robot.end("spare");
    story.end().await;
}

#[tokio::test]
async fn who_comes_back_under_another_name_is_not_taken_for_the_one_that_left() {
    let mut story = Story::with("comes_back_as_another", &["--times", "2", "--after", "2"], "", "").await;
    story.hear(|event| *event == Event::Works).await;
    story.hear(fails("signal 11")).await;
    story.works_after(did_not_help("its node did not appear in time")).await;
    assert_eq!(story.starts(), 3);
    story.end().await;
}

#[tokio::test]
async fn who_fails_and_works_by_turns_is_not_trusted() {
    let ladder = "on_component_fail = [{ do = \"restart\", retries = 1, within_s = 3.0 }]\ncooldown_s = 3600.0";
    let mut story = Story::with("flaps", &["--after", "2"], ladder, "").await;
    story.hear(fails("a loose contact")).await;
    story.hear(|event| matches!(event, Event::GivenUp(_))).await;
    // That it is healthy for a moment is no news; that it works would be.
    let given_up = story.robot.count();
    let works = |told: &Told| told.component == TRAY && told.event == Event::Works;
    assert_eq!(story.robot.hear(given_up, Duration::from_secs(3), works).await, None);
    story.end().await;
}

/// The tray shakes itself when it fails, which takes longer than any story.
const SHAKES_ITSELF: &str = "on_component_fail = [{ do = \"shake_it\", retries = 1 }]\ncooldown_s = 3600.0\n\
                             [actions.shake_it]\ntimeout_s = 300.0\n\
                             method = { component = \"tray\", name = \"shake\", arguments = { token = \"x\", seconds = 60 } }";

#[tokio::test]
async fn what_a_fallback_has_begun_is_halted_by_a_stop_and_done_again_after_the_resume() {
    let mut story = Story::with("fails", &["--after", "2"], SHAKES_ITSELF, "").await;
    story.hear(|event| matches!(event, Event::Attempt(what) if what == "1, shake_it")).await;
    story.notes("tray began x", 1).await;
    let told = story.cortex("stop").await;
    assert!(told.contains("Everything that Cortex began is at rest."), "{told}");
    story.robot.process().wait_for_log("shake_it is not done while the robot is stopped", 1).await;
    assert_eq!((story.noted("tray began x"), story.noted("tray did x")), (1, 0), "it was halted, and not begun again");
    story.cortex("resume").await;
    story.notes("tray began x", 2).await;
    let attempts = story.robot.told().iter().filter(|told| matches!(told.event, Event::Attempt(_)));
    let attempts: Vec<Event> = attempts.map(|told| told.event.clone()).collect();
    assert_eq!(
        attempts,
        [(); 2].map(|()| Event::Attempt("1, shake_it".to_owned())),
        "what a stop ended was no attempt"
    );
    story.cortex("stop").await;
    story.end().await;
}

#[tokio::test]
async fn to_halt_is_allowed_to_a_fallback_while_the_robot_is_stopped() {
    let ladder = "on_component_fail = [{ do = \"calm_down\", within_s = 3.0 }]\ncooldown_s = 3600.0\n\
                  [actions.calm_down]\nmethod = { component = \"tray\", name = \"halt\" }";
    let mut story = Story::with("fails", &["--after", "8"], ladder, "").await;
    story.hear(|event| *event == Event::Works).await;
    story.cortex("stop").await;
    story.hear(|event| matches!(event, Event::Attempt(what) if what == "1, calm_down")).await;
    // It was done, and it is the health that stays bad.
    story.hear(did_not_help("the tray is jammed")).await;
    story.end().await;
}

#[tokio::test]
async fn a_managed_one_without_a_heartbeat_that_answers_no_more_is_suspected_and_then_started_anew() {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("python/bad/managed.py");
    let (script, python) = (script.to_string_lossy().into_owned(), python().to_string_lossy().into_owned());
    let part = format!(
        "[components.shelf]\nlifecycle = \"managed\"\nstop_timeout_s = 1.0\nstart_timeout_s = 20.0\n\
         start = {{ program = {python:?}, arguments = [{script:?}, \"shelf\"] }}\n"
    );
    let mut story = Story::with("works", &[], "", &part).await;
    story.robot.wait_until_all_work(&["shelf"]).await;
    let before = story.robot.count();
    assert!(story.robot.signal("shelf", "STOP"));
    let says = |words: &'static str| move |event: &Event| matches!(event, Event::Suspected(why) | Event::Fails(why) if why.contains(words));
    story.robot.wait_for(before, "shelf", says("it does not answer any more: asked 4 times for its state")).await;
    story.robot.wait_for(before, "shelf", says("it does not answer any more: asked 8 times for its state")).await;
    story.robot.wait_for(before, "shelf", |event| matches!(event, Event::Ended(how) if how.contains("signal 9"))).await;
    story.robot.wait_for(before, "shelf", |event| *event == Event::Works).await;
    story.end().await;
}

#[tokio::test]
async fn who_says_error_once_and_then_nothing_is_not_taken_for_healthy() {
    let ladder = "on_any_fail = [{ do = \"notify_operator\", within_s = 3.0 }]\ncooldown_s = 3600.0";
    let mut story = Story::with("errs_once", &["--after", "2"], ladder, "").await;
    story.hear(fails("tray: motor: too hot")).await;
    let failed = story.robot.count();
    // Longer than what is said on /diagnostics counts where it is no error.
    let works = |told: &Told| told.component == TRAY && matches!(told.event, Event::Works | Event::Healthy);
    assert_eq!(story.robot.hear(failed, Duration::from_secs(8), works).await, None);
    story.end().await;
}

/// A second tray that works, in the recipe; each piece of its work takes that long.
fn spare(notes: &str, seconds: &str) -> String {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("python/bad/component.py");
    let arguments = [&*script.to_string_lossy(), "works", "--name", "spare", "--work", seconds, "--notes", notes];
    format!("[components.spare]\nstart = {{ program = {:?}, arguments = {arguments:?} }}", python())
}

#[tokio::test]
async fn regression_an_action_that_is_a_method_of_what_is_lost_is_done_by_its_standby() {
    let actions = r#"
        [actions.serve]
        method = { component = "tray", name = "shake", arguments = { token = "{whom}" } }
        [actions.serve.tool]
        description = "Serves somebody."
        phrases = ["serve {whom}"]
        parameters = { whom = { type = "string" } }
        [actions.ring]
        method = { component = "tray", name = "shake", arguments = { token = "bell" } }
        [events.door_open]
        when = { topic = "/door", field = "data", equal = true }
        do = [{ action = "ring" }]
    "#;
    let mut story = Story::new("works", &[], "standby = \"spare\"", |notes| {
        format!("on_component_fail = [\"standby\"]\ncooldown_s = 3600.0\n{}\n{actions}", spare(notes, "0.3"))
    })
    .await;
    story.hear(|event| *event == Event::Works).await;
    let sent = story.test_robot.send("serve visitors").await;
    assert_eq!(sent.status(), "succeeded", "{}", sent.output());
    assert_eq!(story.noted("tray did visitors"), 1);
    assert!(story.robot.signal(TRAY, "KILL"));
    story.robot.wait_for(0, "spare", |event| *event == Event::Works).await;
    // Up is not yet known: it has to describe what it offers.
    story.robot.process().wait_for_log("the component 'spare' was found", 1).await;
    let sent = story.test_robot.send("serve guests").await;
    assert_eq!(sent.status(), "succeeded", "{}", sent.output());
    assert_eq!((story.noted("tray began guests"), story.noted("spare did guests")), (0, 1));
    story.test_robot.start_python("door", "door.py", &[]).await;
    story.test_robot.process("door").write_line("open").await;
    story.robot.process().wait_for_log("done: ring", 1).await;
    assert_eq!(story.noted("spare did bell"), 1);
    story.test_robot.end("door");
    story.end().await;
}

#[tokio::test]
async fn regression_an_event_halts_what_is_in_quarantine_and_nothing_happens_while_the_robot_is_stopped() {
    let more = r#"
        [actions.stand]
        method = { component = "tray", name = "halt" }
        [events.door_open]
        when = { topic = "/door", field = "data", equal = true }
        do = [{ action = "stand" }, { tool = "tray.halt" }, { tool = "tray.shake", arguments = { token = "door" } }]
        [events.door_shut]
        when = { topic = "/door", field = "data", equal = false }
        do = [{ action = "stand" }, { tool = "tray.shake", arguments = { token = "door" } }, { tool = "tray.halt" }]
    "#;
    let ladder = "on_any_fail = [{ do = \"notify_operator\", within_s = 3.0 }]\ncooldown_s = 3600.0";
    let mut story = Story::with("fails", &["--after", "2"], &format!("{ladder}\n{more}"), "").await;
    story.test_robot.start_python("door", "door.py", &[]).await;
    story.hear(fails("the tray is jammed")).await;
    story.robot.process().wait_for_log("the events of the recipe are watched", 1).await;
    story.test_robot.process("door").write_line("open").await;
    story.robot.process().wait_for_log("done: stand", 1).await;
    story.robot.process().wait_for_log("done: tray.halt", 1).await;
    story.robot.process().wait_for_log("tray.shake failed: it was not called: tray is in quarantine", 1).await;
    assert_eq!(story.noted("tray was told to halt"), 2);
    story.cortex("stop").await;
    story.test_robot.process("door").write_line("shut").await;
    story.robot.process().wait_for_log("the event door_shut waits: the robot is stopped", 1).await;
    assert_eq!(story.noted("tray was told to halt"), 2);
    assert_eq!(story.noted("tray began door"), 0, "nothing else is let through");
    story.test_robot.end("door");
    story.end().await;
}

/// The standby was halted when the tray could come up. Nobody had seen the tray yet, so the standby was called by its own
/// name, which did not count as what the task asked for once the tray was there.
#[tokio::test]
async fn a_standby_is_not_ended_in_the_midst_of_what_it_does() {
    let ladder = "on_component_fail = [\"respawn\", \"standby\"]\ncooldown_s = 1.0";
    let mut story = Story::new("crashes_at_start", &["--times", "100"], "standby = \"spare\"", |notes| {
        format!("{ladder}\n{}", spare(notes, "20"))
    })
    .await;
    story.robot.wait_for(0, "spare", |event| *event == Event::Works).await;
    // Up is not yet known: it has to describe what it offers.
    story.robot.process().wait_for_log("the component 'spare' was found", 1).await;
    let task = story.test_robot.begin_send("shake the tray for visitors");
    story.notes("spare began visitors", 1).await;
    // From now on the tray itself can come up.
    let many = "tray start\n".repeat(100);
    std::fs::OpenOptions::new().append(true).open(&story.notes).unwrap().write_all(many.as_bytes()).unwrap();
    story.hear(|event| *event == Event::Healthy).await;
    assert_eq!(story.noted("spare did visitors"), 0, "the standby is still at it");
    let sent = finish_send(task).await;
    assert_eq!(sent.status(), "succeeded", "{sent:#?}");
    story.hear(|event| *event == Event::Works).await;
    story.robot.wait_for(0, "spare", |event| *event == Event::Down).await;
    assert_eq!((story.noted("spare did visitors"), story.noted("spare halted visitors")), (1, 0));
    story.end().await;
}

/// The horn of the robot, and a bell that can be rung beside it.
const HORN: &str = r#"
    [actions.horn]
    timeout_s = 3.0
    topic = { name = "/horn", type = "std_msgs/msg/Bool", message = { data = true } }
    [actions.horn.tool]
    description = "Sounds the horn."
    effect = "act"
    phrases = ["sound the horn"]
"#;

#[tokio::test]
async fn regression_a_message_that_nobody_reads_left_the_robot_refusing_every_task() {
    let mut story = Story::with("works", &[], HORN, "").await;
    story.hear(|event| *event == Event::Works).await;
    let sent = story.test_robot.send("sound the horn").await;
    assert_eq!(sent.status(), "failed", "{sent:#?}");
    assert!(!sent.output().contains("did not confirm"), "what was not sent is at rest: {}", sent.output());
    assert!(sent.output().contains("/horn"), "{}", sent.output());
    let sent = story.test_robot.send("shake the tray for visitors").await;
    assert_eq!(sent.status(), "succeeded", "{}", sent.output());
    let told = story.cortex("stop").await;
    assert!(told.contains("Everything that Cortex began is at rest."), "{told}");
    story.end().await;
}

#[tokio::test]
async fn regression_a_call_that_hung_was_no_failure_of_its_component_and_outlived_its_process() {
    let mut story = Story::with("does_not_execute", &["--times", "1", "--after", "1"], "", "").await;
    story.hear(|event| *event == Event::Works).await;
    story.notes("tray fault does_not_execute", 1).await;
    let sent = story.test_robot.send("announce dinner").await;
    assert_eq!(sent.status(), "failed", "{sent:#?}");
    story.works_after(fails("tray.announce did not end within 2 s")).await;
    assert_eq!(story.starts(), 2);
    // Nobody has to look: the process that would have said it is gone.
    let sent = story.test_robot.send("announce dinner").await;
    assert_eq!(sent.status(), "succeeded", "{}", sent.output());
    let told = story.cortex("stop").await;
    assert!(told.contains("Everything that Cortex began is at rest."), "{told}");
    story.end().await;
}

#[tokio::test]
async fn regression_what_is_in_flight_at_a_component_that_fails_was_not_halted_before_its_process_was_ended() {
    let options = ["--times", "1", "--after", "6", "--work", "30", "--brake", "1"];
    let mut story = Story::with("fails", &options, "", "").await;
    story.hear(|event| *event == Event::Works).await;
    let task = story.test_robot.begin_send("shake the tray for visitors");
    story.notes("tray began visitors", 1).await;
    story.works_after(fails("the tray is jammed")).await;
    assert_eq!(story.noted("tray halted visitors"), 1, "it stood before its process was ended");
    let sent = cortex_stories::finish_send(task).await;
    assert!(!sent.output().contains("did not confirm"), "{}", sent.output());
    let sent = story.test_robot.send("announce dinner").await;
    assert_eq!(sent.status(), "succeeded", "{}", sent.output());
    story.end().await;
}

#[tokio::test]
async fn what_outlives_its_process_keeps_back_what_it_can_collide_with_until_somebody_has_looked() {
    let mut story = Story::with("does_not_execute", &["--times", "1", "--after", "1"], "", "").await;
    story.hear(|event| *event == Event::Works).await;
    story.notes("tray fault does_not_execute", 1).await;
    let sent = story.test_robot.send("wind the tray").await;
    assert!(sent.output().contains("WARNING: tray.wind did not confirm that it is at rest"), "{}", sent.output());
    story.works_after(fails("tray.wind did not end within 2 s")).await;
    let refused = story.test_robot.send("shake the tray for visitors").await;
    let reason = "it was not called: tray.wind did not confirm that it is at rest. Look at the robot";
    assert!(refused.output().contains(reason), "{}", refused.output());
    let sent = story.test_robot.send("echo \"still here\"").await;
    assert_eq!(sent.status(), "succeeded", "{}", sent.output());
    story.cortex("resume").await;
    let sent = story.test_robot.send("shake the tray for visitors").await;
    assert_eq!(sent.status(), "succeeded", "{}", sent.output());
    assert_eq!(story.starts(), 2, "the new process is not judged by the call of the one before");
    story.end().await;
}

#[tokio::test]
async fn regression_what_was_cancelled_and_ends_by_itself_kept_the_robot_back_for_ever() {
    let mut story = Story::with("works", &["--work", "6"], "", "").await;
    story.hear(|event| *event == Event::Works).await;
    let task = story.test_robot.begin_send("announce dinner");
    story.notes("tray began announce", 1).await;
    task.signal("INT");
    let sent = cortex_stories::finish_send(task).await;
    assert!(sent.output().contains("WARNING: tray.announce did not confirm that it is at rest"), "{}", sent.output());
    let refused = story.test_robot.send("shake the tray for visitors").await;
    assert!(refused.output().contains("it was not called: tray.announce did not confirm"), "{}", refused.output());
    story.robot.process().wait_for_log("tray.announce has ended after all, and is at rest", 1).await;
    assert_eq!(story.noted("tray did announce"), 1);
    let sent = story.test_robot.send("shake the tray for visitors").await;
    assert_eq!(sent.status(), "succeeded", "{}", sent.output());
    assert_eq!(story.starts(), 1, "a call that is cancelled is no failure of its component");
    story.end().await;
}
