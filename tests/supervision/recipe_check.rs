//! `cortex recipe check`, without the robot and against it.

use cortex_stories::TestRobot;

/// A recipe for the parts of the simulated robot that are started by something else.
const ROBOT: &str = r#"recipe = 1
[components.base]
start = "external"
publishes = { "/odom" = "nav_msgs/msg/Odometry" }
[components.battery]
start = "external"
publishes = { "/battery_state" = "sensor_msgs/msg/BatteryState" }
[components.light]
start = "external"
"#;

/// What `check` said of a recipe, and its exit status.
async fn check(test_robot: &TestRobot, more: &str, live: bool) -> (Option<i32>, String) {
    let file = test_robot.file("robot.toml", &format!("{ROBOT}{more}"));
    let arguments = ["recipe", "check", &file, "--live"];
    let arguments = if live { &arguments[..] } else { &arguments[..3] };
    let (code, _, errors) = test_robot.run("cortex", arguments).await;
    (code, errors)
}

/// A missing bracket before a hundred components.
fn without_bracket() -> String {
    let many = (0..100).map(|index| format!("[components.c{index}]\nstart = \"external\"\ndepends_on = [\"base\"]\n"));
    format!("depends_on = [\"base\"\n{}", many.collect::<String>())
}

#[tokio::test]
async fn a_missing_bracket_is_one_message_on_its_line() {
    let test_robot = TestRobot::empty();
    let (code, errors) = check(&test_robot, &without_bracket(), false).await;
    assert_eq!(code, Some(1));
    assert_eq!(errors.matches("robot.toml:").count(), 1, "{errors}");
    assert!(errors.contains("robot.toml:10:14: this '[' is never closed"), "{errors}");
    let (_, errors) = check(&test_robot, "heartbeat_s = \"1s\"\n", false).await;
    assert!(errors.contains("\"1s\" is no number of seconds") && errors.contains("such as 1.0"), "{errors}");
}

#[tokio::test]
async fn a_command_that_nobody_reads_ends_quietly() {
    let mut test_robot = TestRobot::empty();
    test_robot.start("sim", "cortex-sim", &[]).await;
    let bad = test_robot.file("bad.toml", &format!("{ROBOT}{}", without_bracket()));
    let good = test_robot.file("good.toml", ROBOT);
    for (arguments, expected) in [
        (vec!["--help"], 0),
        (vec!["completion", "bash"], 0),
        (vec!["recipe", "check", &bad], 1),
        (vec!["recipe", "check", &good], 0),
        (vec!["recipe", "schema"], 0),
        (vec!["tools"], 0),
        (vec!["tools", "--json"], 0),
        (vec!["inspect", "base"], 0),
        (vec!["doctor"], 0),
        (vec!["tape", "list"], 0),
        (vec!["send", "hello", "--wait", "0.1"], 2),
        (vec!["fly"], 2),
    ] {
        assert_eq!(test_robot.run_unread("cortex", &arguments).await, Some(expected), "{arguments:?}");
    }
}

#[tokio::test]
async fn a_field_that_an_installed_message_has_not_is_told_without_the_robot() {
    let test_robot = TestRobot::empty();
    for (more, told) in [
        (
            "[events.low]\nwhen = { topic = \"/battery_state\", field = \"percentge\", less = 0.1 }\n\
             do = [{ tell = \"low\" }]\n",
            "robot.toml:11:1: sensor_msgs/msg/BatteryState has no field 'percentge'",
        ),
        (
            "[actions.horn]\ntopic = { name = \"/horn\", type = \"std_msgs/msg/Bool\", message = { dat = true } }\n",
            "robot.toml:11:55: dat: there is no such field",
        ),
        (
            "[actions.open]\nservice = { name = \"/door/open\", type = \"std_srvs/srv/SetBol\" }\n",
            "did you mean \"std_srvs/srv/SetBool\"?",
        ),
    ] {
        let (code, errors) = check(&test_robot, more, false).await;
        assert_eq!(code, Some(1), "{more}");
        assert!(errors.contains(told), "{told}: {errors}");
    }
}

#[tokio::test]
async fn the_robot_tells_what_the_recipe_alone_can_not() {
    let mut test_robot = TestRobot::empty();
    test_robot.start("sim", "cortex-sim", &[]).await;
    let event = |when: &str, action: &str| format!("[events.low]\nwhen = {{ {when} }}\ndo = [{{ {action} }}]\n");
    const LOW: &str = "topic = \"/battery_state\", field = \"percentage\", less = 0.1";
    for (more, told) in [
        (event(LOW, "tool = \"light.turn_onn\""), "robot.toml:12:7: 'light' has no method 'turn_onn'"),
        (event(LOW, "tool = \"light.turn_on\", arguments = { rom = \"hall\" }"), "'light.turn_on' can't be called so"),
        (event(LOW, "tool = \"base.go_to\", arguments = { place = \"moon\" }"), "'base.go_to' can't be called so"),
        (event("topic = \"/battery_sate\"", "tell = \"x\""), "no part of the robot publishes '/battery_sate'"),
        (event("component = \"bse\"", "tell = \"x\""), "there is no node 'bse' on the robot"),
        (
            "[actions.stand]\nmethod = { component = \"base\", name = \"hlt\" }\n".to_owned(),
            "'base' has no method 'hlt'",
        ),
        (
            "[actions.open]\nservice = { name = \"/door/open\", type = \"std_srvs/srv/SetBool\" }\n".to_owned(),
            "no part of the robot offers the service '/door/open'",
        ),
        (
            event("topic = \"/battery_state\", field = \"percentage\", less = 15", "tell = \"x\"")
                .replace("[events", "[components.spare]\nstart = \"external\"\n[events")
                .replace("less = 15", "less = 0.1, max_age_s = 5"),
            "warning: 'spare' is not on the robot's graph",
        ),
    ] {
        let (without, said) = check(&test_robot, &more, false).await;
        assert_eq!(without, Some(0), "{more}: {said}");
        let (code, errors) = check(&test_robot, &more, true).await;
        assert_eq!(code, Some(if told.starts_with("warning") { 0 } else { 1 }), "{more}: {errors}");
        assert!(errors.contains(told), "{told}: {errors}");
    }
    let right = event(LOW, "tool = \"light.turn_on\", arguments = { room = \"kitchen\" }");
    assert_eq!(check(&test_robot, &right, true).await, (Some(0), String::new()));
    // A type that the robot has otherwise than the recipe says.
    let wrong = ROBOT.replace("nav_msgs/msg/Odometry", "geometry_msgs/msg/Twist");
    let file = test_robot.file("wrong.toml", &wrong);
    let (code, _, errors) = test_robot.run("cortex", &["recipe", "check", &file, "--live"]).await;
    assert_eq!(code, Some(1));
    assert!(errors.contains("wrong.toml:4:25: '/odom' is published as nav_msgs/msg/Odometry"), "{errors}");
}
