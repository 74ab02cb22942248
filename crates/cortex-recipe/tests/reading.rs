//! Recipes are read, and what is wrong with one is told with its place and its fix.

#![expect(clippy::expect_used, clippy::unwrap_used, reason = "helpers of tests")]

use cortex_protocol::ComponentName;
use cortex_recipe::{ActionKind, BuiltIn, Lifecycle, Problem, Recipe, Rung, SHORTEST_HEARTBEAT_S, Start, schema};

const BASE: &str = "recipe = 1\n[components.base]\nstart = { program = \"drive\" }\n";

fn problems(text: &str) -> Vec<Problem> {
    Recipe::read(text).expect_err("the recipe is wrong").iter().cloned().collect()
}

/// The one problem: line, message and fix.
fn problem(text: &str) -> (usize, String, String) {
    let found = problems(text);
    assert_eq!(found.len(), 1, "{found:#?}");
    let problem = found.into_iter().next().unwrap();
    (problem.place.map_or(0, |place| place.line), problem.message, problem.fix)
}

/// A recipe with two components and these lines after the second.
fn with(lines: &str) -> String {
    format!("{BASE}[components.camera]\nstart = \"external\"\n{lines}")
}

#[test]
fn a_recipe_says_how_a_robot_is_brought_up_and_kept_alive() {
    let recipe = Recipe::read(
        r#"
        recipe = 1
        world = "flat.toml"
        [cortex]
        robot = "tidy"
        [components.base]
        start = { program = "drive", arguments = ["--world", "{world}"], ros_arguments = ["-r", "odom:=/odom"] }
        lifecycle = "managed"
        parameters = { speed = 0.5 }
        heartbeat_s = 1
        progress = [{ topic = "/odom", field = "pose.x", changes_by = 0.01, within_s = 5, during = "goal" }]
        standby = "crawler"
        [components.base.fallbacks]
        on_component_fail = [
            "restart", { do = "unjam", retries = 2, within_s = 20 }, { do = "respawn", halt_first = false }, "standby"
        ]
        on_giveup = ["notify_operator"]
        [components.crawler]
        start = { program = "crawl" }
        [components."arm/gripper"]
        start = "external"
        depends_on = ["base"]
        [actions.unjam]
        timeout_s = 3
        outlives_process = true
        service = { name = "/base/unjam", type = "std_srvs/srv/Trigger" }
        "#,
    )
    .unwrap();
    let base = &recipe.components[&ComponentName::new("base")];
    assert_eq!(base.lifecycle, Lifecycle::Managed);
    assert_eq!(base.heartbeat_s.map(f64::from), Some(1.0));
    let ladder = base.fallbacks.on_component_fail.as_deref().unwrap();
    assert_eq!(ladder[0], Rung::once(BuiltIn::Restart));
    assert_eq!((ladder[1].action.as_str(), ladder[1].retries, f64::from(ladder[1].within_s)), ("unjam", 2, 20.0));
    let halts_first: Vec<bool> = ladder.iter().map(|rung| rung.halt_first).collect();
    assert_eq!(halts_first, [true, true, false, true]);
    let unjam = recipe.actions.values().next().unwrap();
    assert!(matches!(unjam.kind, ActionKind::Service(_)) && unjam.outlives_process);
    assert_eq!(recipe.components[&ComponentName::new("arm/gripper")].start, Start::External);
    let regular: Vec<&str> = recipe.regular().map(|(name, _)| name.as_str()).collect();
    assert_eq!(regular, ["arm/gripper", "base"], "the standby is not brought up with the robot");
    let written = serde_json::to_value(&recipe).unwrap();
    assert_eq!(serde_json::from_value::<Recipe>(written).unwrap(), recipe, "it survives being kept");
}

#[test]
fn an_unknown_dependency_is_shown_in_its_line_with_the_name_that_was_meant() {
    let text = with("depends_on = [\"base\", \"bsae\"]\n");
    let shown = Recipe::read(&text).unwrap_err().show("robot.toml").to_string();
    assert_eq!(
        shown,
        "robot.toml:6:23: 'camera' depends on 'bsae', which is no component\n\
         6 | depends_on = [\"base\", \"bsae\"]\n\
         \x20                         ^^^^^^\n\
         \x20 did you mean \"base\"?\n"
    );
}

#[test]
fn components_that_wait_for_each_other_are_named_round_the_circle() {
    let text = "recipe = 1\n\
                [components.c]\nstart = \"external\"\ndepends_on = [\"a\"]\n\
                [components.a]\nstart = \"external\"\ndepends_on = [\"b\"]\n\
                [components.b]\nstart = \"external\"\ndepends_on = [\"c\"]\n\
                [components.d]\nstart = \"external\"\ndepends_on = [\"d\"]\n";
    let messages: Vec<(usize, String)> =
        problems(text).into_iter().map(|problem| (problem.place.unwrap().line, problem.message)).collect();
    let round = |way: &str| format!("components depend on each other in a circle: {way}");
    assert_eq!(messages, [(7, round("a -> b -> c -> a")), (13, round("d -> d"))]);
}

#[test]
fn a_standby_that_needs_what_it_stands_in_for_is_told_with_the_way_there() {
    let text = |needs: &str| {
        format!(
            "recipe = 1\n\
             [components.camera]\nstart = \"external\"\nstandby = \"spare\"\n\
             [components.spare]\nstart = \"external\"\ndepends_on = [{needs}]\n\
             [components.mount]\nstart = \"external\"\ndepends_on = [\"camera\"]\n\
             [components.base]\nstart = \"external\"\n"
        )
    };
    for (needs, way) in [("\"camera\"", "spare -> camera"), ("\"base\", \"mount\"", "spare -> mount -> camera")] {
        let problems = problems(&text(needs));
        let problem = &problems[0];
        assert_eq!((problems.len(), problem.place.as_ref().map(|place| place.line)), (1, Some(4)));
        assert_eq!(problem.message, format!("'spare' stands in for 'camera' and depends on it: {way}"));
        assert!(problem.fix.contains("take one of these dependencies out"), "{}", problem.fix);
    }
    assert!(Recipe::read(&text("\"base\"")).is_ok());
}

#[test]
fn every_kind_of_slip_is_told_with_its_line_and_its_fix() {
    for (lines, line, message, fix) in [
        ("standby = \"basee\"", 6, "no component 'basee' to stand in", "\"base\""),
        ("standby = \"camera\"", 6, "can't stand in for itself", "another"),
        ("fallbacks.on_any_fail = [\"tel_operator\"]", 6, "no action 'tel_operator'", "\"notify_operator\""),
        ("fallbacks.on_any_fail = [\"dance\"]", 6, "no action 'dance'", "[actions.dance]"),
        ("fallbacks.on_any_fail = [\"respawn\"]", 6, "something else starts it", "in start"),
        ("fallbacks.on_any_fail = [\"restart\"]", 6, "lifecycle is not managed", "lifecycle = \"managed\""),
        ("fallbacks.on_any_fail = [\"standby\"]", 6, "has no standby", "standby = "),
        ("fallbacks.on_any_fail = [{ do = \"notify_operator\", retries = 9999 }]", 6, "never come to an end", "1000"),
        ("lifecycle = \"managed\"\nfallbacks.on_giveup = [\"restart\"]", 7, "what was given up", "into the ladder"),
        (
            "heartbeat_s = 5\nfallbacks.on_any_fail = [{ do = \"notify_operator\", within_s = 2 }]",
            7,
            "within_s is 2 s",
            "longer than heartbeat_s",
        ),
        ("heartbeat_s = 0.099", 6, "heartbeat_s is 0.099 s", "write at least 0.1"),
        ("progress = [{ topic = \"odom\", within_s = 1 }]", 6, "not the full name of a topic", "slash"),
        ("progress = [{ within_s = 1 }]", 6, "only feedback while a goal", "during = \"goal\""),
        ("progress = [{ topic = \"/o\", within_s = 1, at_least = 0 }]", 6, "at_least is 0", "from 1"),
        ("progress = [{ topic = \"/o\", within_s = 1, changes_by = 1.0 }]", 6, "without a field", "name the field"),
        (
            "progress = [{ topic = \"/o\", within_s = 1, field = \"x\", changes_by = nan }]",
            6,
            "changes_by is NaN",
            "above 0",
        ),
        ("depends_on = [\"base\", \"base\"]", 6, "named twice", "take one"),
        ("[components.\"/arm\"]\nstart = \"external\"", 6, "can't be the name of a node", "without the leading slash"),
        ("[components.arm]\nstart = { program = \" \" }", 7, "no program", "name or its path"),
        ("[components.arm]\nstart = { program = \"a\", arguments = [\"{world}\"] }", 7, "has no world", "world = "),
        ("[actions.restart]\ncommand = { program = \"x\" }", 6, "'restart' is built in", "another name"),
        ("[actions.2x]\ncommand = { program = \"x\" }", 6, "can't be the name of an action", "not a digit"),
        ("[actions.x.method]\ncomponent = \"cam\"\nname = \"f\"", 7, "no component 'cam'", "[components.\"cam\"]"),
        ("[actions.x.service]\nname = \"/a\"\ntype = \"std_srvs/Trigger\"", 8, "not a type of services", "srv"),
        ("[actions.x.parameters]\ncomponent = \"base\"\nvalues = {}", 8, "no parameter is set", "values"),
        ("[actions.x]\ncommand = { program = \"x\" }\ntool = { description = \"\" }", 8, "no description", "model"),
    ] {
        let (found_line, found_message, found_fix) = problem(&with(lines));
        assert!(found_message.contains(message), "{lines}: {found_message}");
        assert!(found_fix.contains(fix), "{lines}: {found_fix}");
        assert_eq!(found_line, line, "{lines}");
    }
}

#[test]
fn what_has_not_the_form_of_a_recipe_is_told_with_its_line() {
    for (lines, line, message) in [
        ("lifecyle = \"managed\"", 6, "unknown field `lifecyle`"),
        ("heartbeat_s = -1", 6, "-1 is no time"),
        ("heartbeat_s = nan", 6, "NaN is no time"),
        ("stop_timeout_s = 1e9", 6, "is no time"),
        ("fallbacks.on_any_fail = [7]", 6, "the name of an action, or a table with `do`"),
        ("fallbacks.on_any_fail = [{ retries = 7 }]", 6, "missing field `do`"),
        ("[components.arm]\nstart = \"externl\"", 7, "\"external\", or a table with the program"),
        ("[components.arm]\nstart = { programme = \"x\" }", 7, "unknown field `programme`"),
        ("[components.arm]\n", 6, "missing field `start`"),
        ("[components.base]\nstart = \"external\"", 6, "duplicate key"),
        ("[actions.x]\ntimeout_s = 1", 6, "this does none"),
        (
            "[actions.x]\ntopic = { name = \"/a\", type = \"a/msg/B\" }\ncommand = { program = \"x\" }",
            6,
            "this does several",
        ),
        ("start = [", 6, ""),
    ] {
        let found = problems(&with(lines));
        let first = &found[0];
        assert!(first.message.contains(message), "{lines}: {}", first.message);
        assert_eq!(first.place.as_ref().map(|place| place.line), Some(line), "{lines}: {found:#?}");
    }
    let (line, message, fix) = problem(&BASE.replace("recipe = 1", "recipe = 2"));
    assert_eq!((line, fix.as_str()), (1, "write recipe = 1"));
    assert!(message.contains("format 2"), "{message}");
    let (_, message, _) = problem(&"#".repeat((1 << 20) + 1));
    assert!(message.contains("at most 1048576"), "{message}");
}

#[test]
fn several_problems_are_told_at_once_in_the_order_of_the_lines() {
    let text = with("depends_on = [\"x\"]\nstandby = \"y\"\n[actions.respawn]\ncommand = { program = \"\" }\n");
    let lines: Vec<usize> = problems(&text).into_iter().map(|problem| problem.place.unwrap().line).collect();
    assert_eq!(lines, [6, 7, 8, 9]);
}

#[test]
fn the_schema_knows_both_forms_of_a_start_and_of_a_rung() {
    let schema = schema();
    let forms = |name: &str| schema.pointer(&format!("/$defs/{name}")).unwrap().to_string();
    assert!(forms("Start").contains("external"), "{}", forms("Start"));
    assert!(forms("Rung").contains("anyOf"), "{}", forms("Rung"));
    assert_eq!(schema.pointer("/additionalProperties"), Some(&false.into()));
}

#[test]
fn the_shortest_heartbeat_is_in_the_schema_and_may_be_asked_for() {
    let minimum = "/$defs/ComponentRecipe/properties/heartbeat_s/minimum";
    assert_eq!(schema().pointer(minimum), Some(&SHORTEST_HEARTBEAT_S.into()));
    assert!(Recipe::read(&with("heartbeat_s = 0.1")).is_ok());
}

#[test]
fn an_action_belongs_to_the_component_below_whose_node_it_reaches() {
    let service = |name: &str, more: &str| {
        let text = format!(
            "recipe = 1\n[components.base]\nstart = \"external\"\n[components.\"base/arm\"]\nstart = \"external\"\n\
             [actions.x]\n{more}service = {{ name = \"{name}\", type = \"std_srvs/srv/Trigger\" }}\n"
        );
        let recipe = Recipe::read(&text).unwrap_or_else(|problems| panic!("{}", problems.show("recipe")));
        recipe.actions.values().next().and_then(|action| recipe.component_of(action)).map(|name| name.to_string())
    };
    for (name, more, expected) in [
        ("/base/dock", "", Some("base")),
        ("/base/arm/fold", "", Some("base/arm")),
        ("/base/army/fold", "", Some("base")),
        ("/base", "", None),
        ("/basement/dock", "", None),
        ("/dock", "", None),
        ("/dock", "component = \"base\"\n", Some("base")),
        ("/base/dock", "component = \"\"\n", None),
    ] {
        assert_eq!(service(name, more).as_deref(), expected, "{name} {more}");
    }
}

#[test]
fn whose_an_action_is_must_be_right_where_it_is_written() {
    let action = |component: &str, kind: &str| with(&format!("[actions.x]\ncomponent = \"{component}\"\n{kind}\n"));
    let slip = action("bas", "command = { program = \"x\" }");
    assert_eq!(problem(&slip), (7, "there is no component 'bas'".into(), "did you mean \"base\"?".into()));
    let twice = action("base", "method = { component = \"base\", name = \"halt\" }");
    assert_eq!(problem(&twice).1, "the action names its component already");
}
