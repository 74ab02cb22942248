//! What a robot does by itself when something happens, and what its recipe adds to what it can do: a real Cortex, real
//! components.

use std::time::{Duration, Instant};

use cortex_stories::{Monitored, TestRobot};

const ROBOT: &str = r#"
recipe = 1
[components.base]
start = { program = "cortex-sim", arguments = ["component", "base"] }
heartbeat_s = 1.0
[components.light]
start = { program = "cortex-sim", arguments = ["component", "light"] }
heartbeat_s = 1.0
[components.battery]
start = { program = "cortex-sim", arguments = ["component", "battery"] }
depends_on = ["base"]
heartbeat_s = 1.0
"#;

/// A test robot with a robot whose recipe says more than what it consists of, and that is up.
struct Story {
    test_robot: TestRobot,
    robot: Monitored,
}

impl Story {
    async fn of(more: &str) -> Self {
        let mut test_robot = TestRobot::empty();
        test_robot.find_programs();
        test_robot.start_python("listener", "listen.py", &[]).await;
        test_robot.start_python("door", "door.py", &[]).await;
        let recipe = test_robot.file("robot.toml", &format!("{ROBOT}{more}"));
        let mut robot = Monitored::start(&test_robot, &recipe, &["--model", "reflex"]);
        robot.wait_until_all_work(&["base", "light", "battery"]).await;
        robot.process().wait_for_line("ready").await;
        let mut story = Self { test_robot, robot };
        // Not before the robot is known whole.
        story.told("the events of the recipe are watched", 1).await;
        story
    }

    /// How often this was told in the log.
    fn count(&mut self, text: &str) -> usize {
        self.robot.process().stderr().iter().filter(|line| line.contains(text)).count()
    }

    /// Waits until this was told so often in the log.
    async fn told(&mut self, text: &str, times: usize) {
        self.robot.process().wait_for_log(text, times).await;
    }

    async fn said(&mut self, text: &str) {
        self.test_robot.process("listener").wait_for_line(text).await;
    }

    async fn door(&mut self, word: &str) {
        let before = self.test_robot.process("door").stdout().iter().filter(|line| *line == word).count();
        self.test_robot.process("door").write_line(word).await;
        let answered = |lines: &[String]| (lines.iter().filter(|line| *line == word).count() > before).then_some(());
        self.test_robot.process("door").wait_for(word, answered).await;
    }

    /// Calls a tool by hand; what it printed.
    async fn call(&self, tool: &str, arguments: &str) -> String {
        let (code, told, complained) = self.test_robot.run("cortex", &["call", tool, arguments]).await;
        assert_eq!(code, Some(0), "{tool}: {told} {complained}");
        told
    }

    async fn battery(&self, percent: f64) {
        let arguments =
            format!("{{\"component\": \"battery\", \"param_name\": \"percent\", \"new_value\": {percent:?}}}");
        self.call("update_parameter", &arguments).await;
    }

    async fn end(mut self) {
        assert_eq!(self.robot.stop().await, Some(0));
    }
}

#[tokio::test]
async fn a_low_battery_is_seen_to_by_cortex_itself_and_once_only() {
    let mut story = Story::of(
        r#"
        [events.battery_low]
        when = { topic = "/battery_state", field = "percentage", less = 0.15 }
        until = { topic = "/battery_state", field = "percentage", greater = 0.5 }
        max_age_s = 5
        do = [
            { tell = "The battery is low." },
            { tool = "light.turn_on", arguments = { room = "kitchen" } },
            { task = "go to the office", begins = "now" },
        ]
        "#,
    )
    .await;
    story.battery(10.0).await;
    story.said("The battery is low.").await;
    story.said("The event battery_low gives me a task: \"go to the office\".").await;
    story.told("done: the task \"go to the office\"", 1).await;
    let place = story.call("base.where_am_i", "{}").await;
    assert!(place.contains("office"), "{place}");
    let light = story.call("light.is_on", r#"{"room": "kitchen"}"#).await;
    assert!(light.contains("is on"), "{light}");
    // Low is low: it stays one event until the battery was well again.
    story.battery(14.0).await;
    story.battery(30.0).await;
    story.battery(10.0).await;
    story.battery(80.0).await;
    assert_eq!(story.count("it happens"), 1);
    // What is told of the battery comes twice a second.
    tokio::time::sleep(Duration::from_secs(2)).await;
    story.battery(5.0).await;
    story.told("done: the task \"go to the office\"", 2).await;
    assert_eq!(story.count("it happens"), 2);
    story.end().await;
}

#[tokio::test]
async fn a_flapping_door_switches_the_light_within_bounds() {
    let mut story = Story::of(
        r#"
        [events.door_open]
        when = { topic = "/door", field = "data", equal = true }
        at_most = 3
        every_s = 600
        do = [{ tool = "light.turn_on", arguments = { room = "hallway" } }]
        [events.door_changed]
        when = { topic = "/door", field = "data", change = true }
        at_most = 1
        every_s = 600
        do = [{ tell = "The door!" }]
        [events.door_left_open]
        when = { topic = "/door", field = "data", equal = true }
        for_s = 1.0
        do = [{ tell = "Somebody left the door open." }]
        "#,
    )
    .await;
    story.door("shut").await;
    story.door("flap").await;
    story.told("event=door_open", 7).await;
    assert_eq!(story.count("it happens: /door data is true"), 3, "no more than it may");
    assert_eq!(story.count("done: light.turn_on"), 3);
    assert_eq!(story.count("the event door_open waits"), 1, "told once");
    assert_eq!(story.count("it happens: /door data has changed"), 1);
    let light = story.call("light.is_on", r#"{"room": "hallway"}"#).await;
    assert!(light.contains("is on"), "{light}");
    story.door("open").await;
    story.said("Somebody left the door open.").await;
    story.end().await;
}

#[tokio::test]
async fn nothing_happens_by_itself_while_the_robot_is_stopped() {
    let mut story = Story::of(
        r#"
        [events.door_open]
        when = { topic = "/door", field = "data", equal = true }
        do = [{ tool = "light.turn_on", arguments = { room = "bathroom" } }, { task = "go to the bathroom" }]
        "#,
    )
    .await;
    story.door("shut").await;
    let (code, told, _) = story.test_robot.run("cortex", &["stop"]).await;
    assert_eq!(code, Some(0), "{told}");
    story.door("open").await;
    story.said("The event door_open would do something").await;
    assert_eq!(story.count("it happens"), 0);
    let (code, told, _) = story.test_robot.run("cortex", &["resume"]).await;
    assert_eq!(code, Some(0), "{told}");
    // The door is still open.
    story.told("done: light.turn_on", 1).await;
    story.told("done: the task", 1).await;
    // What a stop ends is not begun again: the door was never shut.
    let (code, told, _) = story.test_robot.run("cortex", &["stop"]).await;
    assert_eq!(code, Some(0), "{told}");
    story.test_robot.run("cortex", &["resume"]).await;
    story.door("open").await;
    assert_eq!(story.count("it happens"), 1);
    story.end().await;
}

#[tokio::test]
async fn a_stop_ends_what_an_event_has_begun() {
    let mut story = Story::of(
        r#"
        [components.base.parameters]
        speed_mps = 0.1
        [events.door_open]
        when = { topic = "/door", field = "data", equal = true }
        do = [{ tool = "base.go_to", arguments = { place = "office" } }, { tell = "I have arrived." }]
        "#,
    )
    .await;
    story.door("open").await;
    story.told("it happens", 1).await;
    tokio::time::sleep(Duration::from_secs(1)).await;
    let (code, told, complained) = story.test_robot.run("cortex", &["stop"]).await;
    assert_eq!(code, Some(0), "{told} {complained}");
    assert!(told.contains("at rest"), "{told}");
    story.told("this was ended, and what follows is left out: base.go_to", 1).await;
    assert!(!story.test_robot.process("listener").stdout().iter().any(|line| line.contains("arrived")));
    story.end().await;
}

#[tokio::test]
async fn a_stop_does_not_wait_for_a_restart_that_an_event_wants() {
    let mut story = Story::of(
        r#"
        [components.slow]
        start = { program = "/bin/sh", arguments = ["-c", 'test -e {recipe}/started && sleep 600; touch {recipe}/started; exec cortex-misbehave echo --name slow'] }
        start_timeout_s = 60.0
        [events.door_open]
        when = { topic = "/door", field = "data", equal = true }
        do = [{ action = "respawn", component = "slow" }, { tell = "It was started anew." }]
        "#,
    )
    .await;
    story.robot.wait_until_all_work(&["slow"]).await;
    story.door("open").await;
    story.told("slow is restarted (respawn), since that is wanted", 1).await;
    let asked = Instant::now();
    let (code, told, complained) = story.test_robot.run("cortex", &["stop"]).await;
    assert_eq!(code, Some(0), "{told} {complained}");
    assert!(asked.elapsed() < Duration::from_secs(5), "{:?}", asked.elapsed());
    story.told("this was ended, and what follows is left out", 1).await;
    story.end().await;
}

#[tokio::test]
async fn an_event_waits_for_what_a_task_holds_and_one_that_halts_waits_for_nobody() {
    let mut story = Story::of(
        r#"
        [components.base.parameters]
        speed_mps = 0.1
        [actions.stand]
        method = { component = "base", name = "halt" }
        [events.door_open]
        when = { topic = "/door", field = "data", equal = true }
        do = [{ tool = "base.go_to", arguments = { place = "kitchen" } }]
        on_failure = [{ action = "stand" }, { tell = "I stand." }]
        "#,
    )
    .await;
    let mut driving = story.test_robot.begin_send("go to the office");
    driving.wait_for_json("progress of the drive", |event| event["type"] == "cortex.step.progressed").await;
    story.door("open").await;
    story.said("'base' is held by the task \"go to the office\" (base.go_to), and was not free within 10 s").await;
    story.said("I stand.").await;
    // What drove was halted under it, and says so.
    assert_ne!(driving.wait().await, Some(0));
    story.end().await;
}

#[tokio::test]
async fn silence_is_an_event_and_a_component_is_started_anew_for_it() {
    let mut story = Story::of(
        r#"
        [events.door_silent]
        when = { topic = "/door", field = "data" }
        silent_s = 1.0
        do = [{ action = "respawn", component = "light" }, { tell = "The light was started anew." }]
        "#,
    )
    .await;
    story.door("shut").await;
    story.door("silent").await;
    story.said("The light was started anew.").await;
    story.told("light works", 2).await;
    assert_eq!(story.count("it happens"), 1);
    story.end().await;
}

#[tokio::test]
async fn an_action_of_the_recipe_is_carried_out_by_its_phrase_and_by_an_event() {
    let mut story = Story::of(
        r#"
        [actions.greet]
        command = { program = "/bin/sh", arguments = ["-c", 'printf "%s\n" "$1" >> "$XDG_STATE_HOME/greeted"', "sh", "{who}"] }
        [actions.greet.tool]
        description = "Greets somebody with a friendly sentence."
        effect = "act"
        phrases = ["greet {who}"]
        [actions.greet.tool.parameters]
        who = { type = "string", description = "Whom to greet." }
        [actions.lamp_off]
        method = { component = "light", name = "turn_off", arguments = { room = "{room}" } }
        [actions.lamp_off.tool]
        description = "Puts a lamp out."
        effect = "act"
        phrases = ["put out the lamp in the {room}"]
        [actions.lamp_off.tool.parameters]
        room = { type = "string", enum = ["kitchen", "office"] }
        [actions.hang]
        timeout_s = 1.0
        command = { program = "sleep", arguments = ["1000"] }
        [events.door_open]
        when = { topic = "/door", field = "data", equal = true }
        do = [{ action = "greet", arguments = { who = "the door" } }, { action = "hang" }, { tell = "never" }]
        on_failure = [{ action = "greet", arguments = { who = "nobody" } }, { action = "notify_operator" }]
        "#,
    )
    .await;
    let sent = story.test_robot.send("greet everyone").await;
    assert_eq!((sent.status(), sent.started()), ("succeeded", vec!["greet"]), "{}", sent.output());
    story.call("light.turn_on", r#"{"room": "kitchen"}"#).await;
    let sent = story.test_robot.send("put out the lamp in the kitchen").await;
    assert_eq!((sent.status(), sent.started()), ("succeeded", vec!["lamp_off"]), "{}", sent.output());
    let light = story.call("light.is_on", r#"{"room": "kitchen"}"#).await;
    assert!(light.contains("is off"), "{light}");
    story.door("open").await;
    story.said("a person is needed (door_open): /door data is true").await;
    let greeted = std::fs::read_to_string(story.test_robot.state().join("greeted")).unwrap();
    assert_eq!(greeted, "everyone\nthe door\nnobody\n");
    story.told("hang failed: it did not end within 1 s; it was halted", 1).await;
    story.end().await;
}
