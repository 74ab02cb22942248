//! One mistake is one message, with its line and its remedy.

#![expect(clippy::expect_used, clippy::panic, clippy::unwrap_used, reason = "helpers of tests")]

use cortex_recipe::{Mistake, Problem, Recipe};

/// Seven lines, and an event in line 8 whose condition and action follow.
const ROBOT: &str = "recipe = 1
[components.base]
start = { program = \"drive\" }
[components.battery]
start = { program = \"battery\" }
publishes = { \"/charge\" = \"sensor_msgs/msg/BatteryState\" }
[actions.beep]
topic = { name = \"/horn\", type = \"std_msgs/msg/Bool\" }
tool = { description = \"Beeps.\" }
[events.low]
";
const WHEN: &str = "when = { topic = \"/charge\", field = \"percentage\", less = 0.15 }\n";
const DO: &str = "do = [{ tell = \"low\" }]\n";

fn problems(text: &str) -> Vec<Problem> {
    Recipe::read(text).expect_err("the recipe is wrong").iter().cloned().collect()
}

/// The one problem of a text: its line, its message and its remedy.
fn problem(text: &str) -> (usize, String, String) {
    let found = problems(text);
    assert_eq!(found.len(), 1, "{text}\n{found:#?}");
    let problem = found.into_iter().next().unwrap();
    (problem.place.map_or(0, |place| place.line), problem.message, problem.fix)
}

fn right(text: &str) -> Recipe {
    Recipe::read(text).unwrap_or_else(|problems| panic!("{text}\n{}", problems.show("recipe")))
}

#[test]
fn a_tool_of_an_event_must_exist_as_far_as_the_recipe_knows() {
    for (tool, message, remedy) in [
        ("{ tool = \"bse.halt\" }", "there is no component 'bse'", "did you mean \"base\"?"),
        ("{ tool = \"lift.raise\" }", "there is no component 'lift'", "[components.\"lift\"]"),
        ("{ tool = \"base.\" }", "'base.' names no method", "base.METHOD"),
        ("{ tool = \"bep\" }", "there is no tool 'bep'", "did you mean \"beep\"?"),
        ("{ tool = \"beep\", arguments = { loud = true } }", "takes no argument 'loud'", "arguments"),
        ("{ tool = \"read_topic\" }", "needs the argument 'topic'", "arguments"),
    ] {
        let (line, found, fix) = problem(&format!("{ROBOT}{WHEN}do = [{tool}]\n"));
        assert_eq!(line, 12, "{tool}");
        assert!(found.contains(message), "{tool}: {found}");
        assert!(fix.contains(remedy), "{tool}: {fix}");
    }
    for tool in [
        "{ tool = \"base.halt\" }",
        "{ tool = \"beep\" }",
        "{ tool = \"send_request_to_lift/raise\" }",
        "{ tool = \"send_goal_to_works\", arguments = { order = 7 } }",
        "{ tool = \"update_parameter\", arguments = { component = \"x\", param_name = \"y\", new_value = 1 } }",
    ] {
        right(&format!("{ROBOT}{WHEN}do = [{tool}]\n"));
    }
}

#[test]
fn a_number_outside_of_the_range_of_its_field_is_told_with_the_range() {
    for (when, message, remedy) in [
        ("{ topic = \"/charge\", field = \"percentage\", less = 15 }", "from 0 to 1", "0.15"),
        ("{ topic = \"/battery_state\", field = \"percentage\", less = 15 }", "from 0 to 1", "publishes"),
        ("{ not = { topic = \"/charge\", field = \"percentage\", at_least = 101 } }", "from 0 to 1", ""),
        ("{ topic = \"/odom\", field = \"pose.pose.orientation.z\", greater = 90 }", "from -1 to 1", "quaternion"),
    ] {
        let (line, found, fix) = problem(&format!("{ROBOT}when = {when}\n{DO}"));
        assert_eq!(line, 11, "{when}");
        assert!(found.contains(message), "{when}: {found}");
        assert!(fix.contains(remedy), "{when}: {fix}");
    }
    // Another message may be published under that name, if the recipe says so.
    right(&format!(
        "{}when = {{ topic = \"/battery_state\", field = \"percentage\", less = 15 }}\n{DO}",
        ROBOT.replace("/charge\" = \"sensor_msgs/msg/BatteryState", "/battery_state\" = \"acme_msgs/msg/Charge")
    ));
    right(&format!("{ROBOT}when = {{ topic = \"/charge\", field = \"percentage\", equal = 1.0 }}\n{DO}"));
    right(&format!("{ROBOT}when = {{ topic = \"/charge\", field = \"voltage\", less = 15 }}\n{DO}"));
}

#[test]
fn a_hysteresis_on_the_wrong_side_is_told() {
    let text = |when: &str, until: &str| {
        let of = |test: &str| format!("{{ topic = \"/charge\", field = \"voltage\", {test} }}");
        format!("{ROBOT}when = {}\nuntil = {}\n{DO}", of(when), of(until))
    };
    for (when, until) in [
        ("less = 11.0", "greater = 10.0"),
        ("less = 11.0", "less = 12.0"),
        ("greater = 12", "at_most = 13"),
        ("equal = 3", "at_least = 2"),
        ("near = { value = 3, tolerance = 1.0 }", "greater = 3.5"),
    ] {
        let (line, found, fix) = problem(&text(when, until));
        assert_eq!(line, 12, "{when} {until}");
        assert!(found.contains("'until' holds where 'when' still holds"), "{when} {until}: {found}");
        assert!(fix.contains("other side"), "{fix}");
    }
    for (when, until) in
        [("less = 11.0", "greater = 12.0"), ("less = 11", "at_least = 11"), ("at_most = 11", "at_least = 11")]
    {
        right(&text(when, until));
    }
    let and =
        text("less = 11.0", "greater = 10.0").replacen("when = {", "when = { and = [{ component = \"base\" }, {", 1);
    let and = and.replacen("less = 11.0 }", "less = 11.0 }] }", 1);
    assert!(problem(&and).1.contains("'until' holds where"), "{and}");
}

#[test]
fn a_topic_that_nothing_of_the_recipe_offers_is_a_warning() {
    let warnings = |lines: &str| -> Vec<Mistake> { right(&format!("{ROBOT}{lines}{DO}")).warnings() };
    let when = |topic: &str| format!("when = {{ topic = \"{topic}\", field = \"data\" }}\n");
    let found = warnings(&when("/chrage"));
    assert_eq!(found.len(), 1, "{found:#?}");
    assert_eq!(found[0].path, ["events", "low", "when"]);
    assert!(found[0].message.contains("nothing in the recipe says who publishes '/chrage'"), "{}", found[0].message);
    assert!(found[0].fix.contains("did you mean \"/charge\"?"), "{}", found[0].fix);
    let found = warnings(&when("/door"));
    assert!(found[0].fix.contains("publishes = { \"/door\" = "), "{}", found[0].fix);
    assert!(found[0].fix.contains("--live"), "{}", found[0].fix);
    assert_eq!(warnings(WHEN), []);
    assert_eq!(warnings(&when("/base/bumper")), [], "below a component's name");
    assert_eq!(warnings(&when("/diagnostics")), [], "published by whoever has something to tell");
}

#[test]
fn what_a_component_publishes_must_be_named_fully() {
    for (publishes, message) in [
        ("\"charge\" = \"sensor_msgs/msg/BatteryState\"", "not the full name of a topic"),
        ("\"/charge\" = \"sensor_msgs/BatteryState\"", "not a type of messages"),
    ] {
        let text = ROBOT.replace("\"/charge\" = \"sensor_msgs/msg/BatteryState\"", publishes);
        let (line, found, _) = problem(&format!("{text}when = {{ component = \"base\" }}\n{DO}"));
        assert_eq!(line, 6);
        assert!(found.contains(message), "{found}");
    }
}

#[test]
fn a_bracket_that_is_missing_is_told_once_where_it_is_missing() {
    let long = format!("{ROBOT}{WHEN}do = [\n  {{ tell = \"a ] }} in a text\" }}, # and a ] in a comment\n");
    let rest = "[events.next]\nwhen = { component = \"base\" }\ndo = [{ tell = \"x\" }]\n";
    let many: String = (0..100)
        .map(|index| format!("[components.c{index}]\nstart = {{ program = \"x\", arguments = [\"y\"] }}\n"))
        .collect();
    for (text, line, message) in [
        (format!("{long}{rest}{many}"), 12, "'[' is never closed"),
        (format!("{ROBOT}{WHEN}do = [{{ tell = \"low\" ]\n{rest}{many}"), 12, "'{' is never closed"),
        (format!("{ROBOT}{WHEN}do = [{{ tell = \"low\" }}\non_failure = []\n{rest}{many}"), 12, "'[' is never closed"),
        (format!("{ROBOT}{WHEN}do = {{ tell = \"low\" }}]\n{rest}{many}"), 12, "']' closes nothing"),
        (
            format!("{}{WHEN}{DO}{rest}{many}", ROBOT.replace("[components.battery]", "[components.battery")),
            4,
            "'[' is never closed",
        ),
        (format!("{}{WHEN}{DO}{rest}{many}", ROBOT.replace("drive\" }", "drive\"")), 3, "'{' is never closed"),
        (format!("{ROBOT}{WHEN}do = [{{ tell = \"low }}]\n{rest}{many}"), 12, "text is never closed"),
        (format!("{many}{ROBOT}{WHEN}do = ["), 212, "'[' is never closed"),
        (format!("{ROBOT}{WHEN}do [{{ tell = \"low\" }}]\n{rest}"), 12, ""),
    ] {
        let (found, told, remedy) = problem(&text);
        assert_eq!(found, line, "{told}");
        assert!(told.contains(message), "{told}");
        assert!(message.is_empty() || !remedy.is_empty(), "{told}");
    }
}

#[test]
fn a_value_of_another_kind_is_told_with_one_that_is_right() {
    let with = |lines: &str| format!("recipe = 1\n[components.base]\nstart = {{ program = \"drive\" }}\n{lines}\n");
    for (lines, message, remedy) in [
        ("heartbeat_s = \"1s\"", "\"1s\" is no number of seconds", "write a number such as 1.0"),
        ("heartbeat_s = \"500 ms\"", "\"500 ms\" is no number of seconds", "write a number such as 0.5"),
        ("heartbeat_s = \"soon\"", "\"soon\" is no number of seconds", "write a number such as 1.0"),
        ("stop_timeout_s = true", "true is no number of seconds", "write a number such as 1.0"),
        (
            "progress = [{ topic = \"/o\", within_s = 1, at_least = \"3\" }]",
            "\"3\" is no whole number",
            "without quotes",
        ),
        ("progress = [{ topic = \"/o\", within_s = 1, field = 3 }]", "3 is no text", "quotes"),
        ("depends_on = \"battery\"", "\"battery\" is no list", "[\"battery\"]"),
        ("heartbeet_s = 1.0", "unknown field `heartbeet_s`", "did you mean `heartbeat_s`?"),
        ("zzz = 1.0", "unknown field `zzz`", "the keys here are"),
        ("lifecycle = \"mangaed\"", "unknown variant `mangaed`", "did you mean `managed`?"),
        ("[components.arm]\n", "missing field `start`", "add start = "),
    ] {
        let (_, found, fix) = problem(&with(lines));
        assert!(found.contains(message), "{lines}: {found}");
        assert!(fix.contains(remedy), "{lines}: {fix}");
        assert!(!found.contains("f64") && !found.contains("u32"), "{lines}: {found}");
    }
}
