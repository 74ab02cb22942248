//! Events and the parameters of actions are read, and what is wrong with them is told with its place and its fix.

#![expect(clippy::expect_used, clippy::unwrap_used, reason = "helpers of tests")]

use std::time::Duration;

use cortex_protocol::condition::{Source, Test};
use cortex_recipe::binding::bind;
use cortex_recipe::event::MAX_EVENT_ACTIONS;
use cortex_recipe::parameter::arguments_schema;
use cortex_recipe::{ActionKind, ActionName, Begins, EventAction, EventName, Problem, Recipe, schema};
use serde_json::{Value, json};

const BASE: &str = "recipe = 1\n[components.base]\nstart = { program = \"drive\" }\n";

fn problems(text: &str) -> Vec<Problem> {
    Recipe::read(text).expect_err("the recipe is wrong").iter().cloned().collect()
}

/// An event with these lines after `do` in line 5.
fn event(lines: &str) -> String {
    format!("{BASE}[events.low]\ndo = [{{ tell = \"low\" }}]\n{lines}")
}

const WHEN: &str = "when = { topic = \"/battery\", field = \"level\", less = 0.2 }";

#[test]
fn an_event_says_when_it_happens_how_often_and_what_is_done() {
    let recipe = Recipe::read(
        r#"
        recipe = 1
        [components.base]
        start = { program = "drive" }
        [components.light]
        start = "external"
        [events.battery_low]
        when = { and = [{ topic = "/battery", field = "level", less = 0.2 }, { component = "base", max_age_s = 9 }] }
        until = { topic = "/battery", field = "level", greater = 0.5 }
        for_s = 2
        max_age_s = 5
        at_most = 2
        every_s = 600
        again_s = 60
        do = [
            { tell = "The battery is low." },
            { tool = "light.switch", arguments = { on = true } },
            { action = "restart", component = "base" },
            { task = "go to the dock", begins = "now" },
        ]
        on_failure = [{ action = "notify_operator" }]
        [events.blind]
        when = { topic = "/camera" }
        silent_s = 3
        do = [{ task = "go home" }]
        "#,
    )
    .unwrap_or_else(|problems| panic!("{}", problems.show("recipe")));
    let low = &recipe.events[&EventName::new("battery_low")];
    let ages: Vec<_> = low.condition().checks().iter().map(|check| check.max_age.unwrap().as_secs()).collect();
    assert_eq!(ages, [5, 9], "the age that a comparison names itself stands");
    assert_eq!(low.until().unwrap().checks()[0].max_age, Some(Duration::from_secs(5)));
    let actions: Vec<String> = low.actions.iter().chain(&low.on_failure).map(ToString::to_string).collect();
    assert_eq!(
        actions,
        ["tell people", "light.switch", "restart of base", "the task \"go to the dock\"", "notify_operator"]
    );
    assert!(low.gives_tasks());
    let blind = &recipe.events[&EventName::new("blind")];
    assert_eq!((blind.once, blind.at_most, f64::from(blind.every_s)), (false, 6, 60.0));
    assert_eq!(blind.actions, [EventAction::Task { task: "go home".into(), begins: Begins::InTurn }]);
    let condition = blind.condition();
    assert_eq!(condition.checks()[0].source, Source::topic("/camera", ""));
    assert_eq!(
        (&condition.checks()[0].test, condition.checks()[0].max_age),
        (&Test::Present, Some(Duration::from_secs(3)))
    );
    let written = serde_json::to_value(&recipe).unwrap();
    assert_eq!(serde_json::from_value::<Recipe>(written).unwrap(), recipe, "it survives being kept");
}

#[test]
fn every_slip_of_an_event_is_told_with_its_line_and_its_fix() {
    for (lines, line, message, fix) in [
        ("when = { topic = \"battery\" }", 6, "not a full name", "\"/battery\""),
        ("when = { topic = \"/b\", field = \"x\", equal = \"{place}\" }", 6, "no argument 'place'", "{{place}}"),
        (&format!("{WHEN}\nat_most = 0"), 7, "at_most is 0", "from 1"),
        (&format!("{WHEN}\nuntil = {{ topic = \"/b\", change = true }}"), 7, "asks for a change", "hold instead"),
        (&format!("{WHEN}\nonce = true\nagain_s = 5"), 8, "no meaning beside 'once'", "never happens again"),
        (&format!("{WHEN}\nsilent_s = 1\nmax_age_s = 5"), 8, "no meaning beside 'silent_s'", "how old"),
        (&format!("{WHEN}\nsilent_s = 1\nuntil = {{ topic = \"/b\" }}"), 8, "no meaning beside 'silent_s'", "is heard"),
        (&format!("{WHEN}\non_failure = [{{ action = \"dance\" }}]"), 7, "no action 'dance'", "[actions.dance]"),
        (&format!("{WHEN}\non_failure = [{{ action = \"restart\" }}]"), 7, "none is named", "component = "),
        (
            &format!("{WHEN}\non_failure = [{{ action = \"restart\", component = \"bse\" }}]"),
            7,
            "no component 'bse'",
            "\"base\"",
        ),
        (
            &format!("{WHEN}\non_failure = [{{ action = \"standby\", component = \"base\" }}]"),
            7,
            "is for what fails",
            "into a ladder",
        ),
        (&format!("{WHEN}\non_failure = [{{ task = \" \" }}]"), 7, "is empty", "plain language"),
        (&format!("{WHEN}\n[events.2x]\n{WHEN}\ndo = [{{ tell = \"x\" }}]"), 7, "can't be the name", "not a digit"),
        (&format!("{WHEN}\n[events.x]\n{WHEN}\ndo = []"), 9, "nothing is done", "do = "),
        (
            &format!(
                "{WHEN}\n[actions.x]\ncommand = {{ program = \"x\" }}\n[events.x]\n{WHEN}\ndo = [{{ action = \"x\", arguments = {{ a = 1 }} }}]"
            ),
            11,
            "takes no argument 'a'",
            "fix",
        ),
        // Those of the form.
        ("when = { topic = \"/b\", grater = 1 }", 6, "unknown field `grater`", ""),
        ("when = { }", 6, "a condition has one of", ""),
        (&format!("{WHEN}\nsilent_s = 0"), 7, "no time", ""),
        (&format!("{WHEN}\nrearm = true"), 7, "unknown field `rearm`", ""),
        (&format!("{WHEN}\non_failure = [{{ tell = \"a\", task = \"b\" }}]"), 7, "one only", ""),
        (
            &format!("{WHEN}\non_failure = [{{ tell = \"a\", begins = \"now\" }}]"),
            7,
            "'begins' belongs to a 'task'",
            "",
        ),
        (&format!("{WHEN}\non_failure = [{{ task = \"a\", arguments = {{ a = 1 }} }}]"), 7, "'arguments' belongs", ""),
        (&format!("{WHEN}\non_failure = [{{ tool = \"a.b\", component = \"base\" }}]"), 7, "'component' belongs", ""),
    ] {
        let found = problems(&event(lines));
        assert_eq!(found.len(), 1, "{lines}: {found:#?}");
        assert!(found[0].message.contains(message), "{lines}: {}", found[0].message);
        assert!(found[0].fix.contains(fix), "{lines}: {}", found[0].fix);
        assert_eq!(found[0].place.as_ref().map(|place| place.line), Some(line), "{lines}");
    }
    let many = "{ tell = \"x\" }, ".repeat(MAX_EVENT_ACTIONS + 1);
    let found = problems(&event(&format!("{WHEN}\non_failure = [{many}]")));
    assert!(found[0].message.contains("too many for one event"), "{found:#?}");
}

const SAY: &str = r#"
[actions.announce]
command = { program = "speak", arguments = ["--voice=calm", "--times", "{times}", "--", "Dear {name}:", "{text}"] }
[actions.announce.tool]
description = "Says something in a room."
effect = "act"
phrases = ["announce {text} to {name}"]
[actions.announce.tool.parameters]
text = { type = "string", maxLength = 30, description = "What to say." }
name = { type = "string", enum = ["all", "guests"] }
times = { type = "integer", minimum = 1, maximum = 3, default = 1 }
"#;

fn arguments(values: Value) -> serde_json::Map<String, Value> {
    values.as_object().unwrap().clone()
}

#[test]
fn the_parameters_of_an_action_are_a_schema_and_their_values_stay_values() {
    let recipe = Recipe::read(&format!("{BASE}{SAY}")).unwrap_or_else(|problems| panic!("{}", problems.show("recipe")));
    let announce = &recipe.actions[&ActionName::new("announce")];
    let parameters = &announce.tool.as_ref().unwrap().parameters;
    assert_eq!(
        arguments_schema(parameters),
        json!({
            "type": "object",
            "properties": {
                "name": {"type": "string", "enum": ["all", "guests"]},
                "text": {"type": "string", "description": "What to say.", "maxLength": 30},
                "times": {"type": "integer", "minimum": 1, "maximum": 3, "default": 1},
            },
            "required": ["name", "text"],
            "additionalProperties": false,
        })
    );
    let said = |values: Value| match bind(announce, &arguments(values)) {
        Ok(ActionKind::Command(command)) => Ok(command.arguments.join("|")),
        Ok(other) => panic!("{other:?}"),
        Err(problem) => Err(problem),
    };
    assert_eq!(
        said(json!({"name": "all", "text": "-x; $(reboot) {times}"})).unwrap(),
        "--voice=calm|--times|1|--|Dear all:|-x; $(reboot) {times}",
        "one argument stays one, after `--` a dash is none, and what a value holds is not looked at again"
    );
    for (values, problem) in [
        (json!({"text": "a"}), "'name' is missing"),
        (json!({"name": "you", "text": "a"}), "'name' can't be \"you\""),
        (json!({"name": "all", "text": 7}), "'text' can't be 7"),
        (json!({"name": "all", "text": "a".repeat(31)}), "'text' can't be"),
        (json!({"name": "all", "text": "a\0b"}), "'text' can't be"),
        (json!({"name": "all", "text": "a", "times": 4}), "'times' can't be 4"),
        (json!({"name": "all", "text": "a", "times": 1.5}), "'times' can't be 1.5"),
        (json!({"name": "all", "text": "a", "volume": 1}), "no argument 'volume'"),
    ] {
        let said = said(values.clone()).unwrap_err();
        assert!(said.to_string().contains(problem), "{values}: {said}");
    }
}

#[test]
fn a_value_never_becomes_an_option() {
    let text = format!(
        "{BASE}[actions.x]\ncommand = {{ program = \"x\", arguments = [\"{{file}}\", \"--by={{by}}\"] }}\n\
         tool = {{ description = \"x\", parameters = {{ file = {{ type = \"string\" }}, by = {{ type = \"number\" }} }} }}"
    );
    let recipe = Recipe::read(&text).unwrap_or_else(|problems| panic!("{}", problems.show("recipe")));
    let bound = |file: &str| bind(&recipe.actions[&ActionName::new("x")], &arguments(json!({"file": file, "by": -1})));
    assert!(bound("--output=/etc/passwd").unwrap_err().to_string().contains("begins with a dash"));
    match bound("a-b").unwrap() {
        ActionKind::Command(command) => assert_eq!(command.arguments, ["a-b", "--by=-1"]),
        other => panic!("{other:?}"),
    }
}

#[test]
fn values_keep_their_kind_in_requests() {
    let text = format!(
        "{BASE}[actions.dim.method]\ncomponent = \"base\"\nname = \"dim\"\n\
         arguments = {{ level = \"{{level}}\", note = \"to {{level}}\", plain = \"{{{{level}}}}\", deep = [{{ on = \"{{on}}\" }}] }}\n\
         [actions.dim.tool]\ndescription = \"x\"\n[actions.dim.tool.parameters]\n\
         level = {{ type = \"number\" }}\non = {{ type = \"boolean\", default = true }}"
    );
    let recipe = Recipe::read(&text).unwrap_or_else(|problems| panic!("{}", problems.show("recipe")));
    match bind(&recipe.actions[&ActionName::new("dim")], &arguments(json!({"level": 0.5}))).unwrap() {
        ActionKind::Method(method) => assert_eq!(
            Value::Object(method.arguments),
            json!({"level": 0.5, "note": "to 0.5", "plain": "{level}", "deep": [{"on": true}]})
        ),
        other => panic!("{other:?}"),
    }
}

#[test]
fn every_slip_of_a_parameter_is_told() {
    let action = |command: &str, parameters: &str| {
        format!(
            "{BASE}[actions.x]\ncommand = {command}\ntool = {{ description = \"x\", phrases = [\"do x\"], parameters = {parameters} }}"
        )
    };
    for (command, parameters, message) in [
        (
            "{ program = \"x\", arguments = [\"{a}\"] }",
            "{ b = { type = \"string\", default = \"\" } }",
            "no parameter 'a'",
        ),
        ("{ program = \"x\" }", "{ a = { type = \"string\" } }", "'a' is used nowhere"),
        (
            "{ program = \"/bin/sh\", arguments = [\"-c\", \"echo {a}\"] }",
            "{ a = { type = \"string\" } }",
            "as commands",
        ),
        ("{ program = \"bash\", arguments = [\"-ec\", \"{a}\"] }", "{ a = { type = \"string\" } }", "as commands"),
        (
            "{ program = \"sudo\", arguments = [\"bash\", \"-ce\", \"say {a}\"] }",
            "{ a = { type = \"string\" } }",
            "as commands: \"say {a}\" follows -ce",
        ),
        (
            "{ program = \"x\", arguments = [\"say '{a}'\"] }",
            "{ a = { type = \"string\" } }",
            "a text that may be anything stands beside '\\'', as commands are written",
        ),
        (
            "{ program = \"ssh\", arguments = [\"host\", \"{a}\"] }",
            "{ a = { type = \"string\" } }",
            "ssh would read the text",
        ),
        ("{ program = \"x\", arguments = [\"--{a}\"] }", "{ a = { type = \"string\" } }", "choose an option"),
        (
            "{ program = \"x\", arguments = [\"{a}\"] }",
            "{ a = { type = \"number\", minimum = 2, maximum = 1 } }",
            "no number is above 2",
        ),
        ("{ program = \"x\", arguments = [\"{a}\"] }", "{ a = { type = \"string\", default = 7 } }", "7 does not fit"),
        (
            "{ program = \"x\", arguments = [\"{a}\"] }",
            "{ a = { type = \"string\", enum = [true] } }",
            "true does not fit",
        ),
        ("{ program = \"x\", arguments = [\"{a}\"] }", "{ a = { type = \"text\" } }", "unknown variant `text`"),
    ] {
        let found = problems(&action(command, parameters));
        assert!(found[0].message.contains(message), "{command} {parameters}: {found:#?}");
        assert_eq!(found[0].place.as_ref().map(|place| (5..=6).contains(&place.line)), Some(true), "{found:#?}");
    }
    let fallback = format!("{BASE}fallbacks.on_any_fail = [\"announce\"]\n{SAY}");
    assert!(problems(&fallback)[0].message.contains("needs the argument 'name'"));
}

#[test]
fn the_schema_knows_events() {
    let schema = schema();
    let event = schema.pointer("/$defs/Event").unwrap();
    assert_eq!(event.pointer("/required"), Some(&json!(["when", "do"])));
    assert_eq!(event.pointer("/additionalProperties"), Some(&false.into()));
}
