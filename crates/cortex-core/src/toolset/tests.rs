use std::time::Duration;

use cortex_protocol::{CancelMode, Dispatch, Effect};
use serde_json::json;

use super::*;

fn tool(name: &str, parameters: Value) -> ToolSpec {
    ToolSpec::new(name.into(), "Does it.".into())
        .with_parameters(parameters)
        .with_phase(cortex_protocol::ToolPhase::Execution)
        .with_effect(Effect::Move)
        .with_effect_source(cortex_protocol::EffectSource::Declared)
        .with_timeout(Duration::from_secs(1))
        .with_dispatch(Dispatch::Wait)
        .with_cancel(CancelMode::Halt)
}

fn go_to() -> ToolSpec {
    let schema = json!({
        "type": "object",
        "properties": {"place": {"enum": ["kitchen", "bedroom"]}, "speed": {"type": "number", "maximum": 2}},
        "required": ["place"],
        "additionalProperties": false
    });
    tool("base.go_to", schema)
}

#[test]
fn wire_names_fit_every_provider_and_lead_back() {
    let long = "x".repeat(80);
    let names =
        ["base.go_to", "base/go_to", "left/arm.reach", "größe.ändern", &format!("{long}.a"), &format!("{long}.b")];
    let (set, problems) = ToolSet::new(names.iter().map(|name| tool(name, json!({"type": "object"}))));
    assert_eq!(problems, []);
    let mut seen = BTreeSet::new();
    for name in names {
        let wire = set.wire_name(&name.into()).unwrap();
        assert!(
            wire.len() <= 64 && wire.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-'),
            "{wire}"
        );
        assert!(seen.insert(wire.to_owned()), "{wire} twice");
        assert_eq!(set.resolve(wire).map(|spec| spec.name.as_str()), Some(name));
        assert_eq!(set.resolve(name).map(|spec| spec.name.as_str()), Some(name));
    }
    let (alone, _) = ToolSet::new([go_to()]);
    assert_eq!(alone.wire_name(&"base.go_to".into()), Some("base-go_to"));
}

#[test]
fn a_bad_schema_and_a_second_tool_of_one_name_are_left_out_with_the_reason() {
    let (set, problems) =
        ToolSet::new([go_to(), go_to(), tool("arm.bend", json!({"type": "objekt"})), tool("arm.lift", json!(true))]);
    assert_eq!(set.iter().map(|spec| spec.name.as_str()).collect::<Vec<_>>(), ["arm.lift", "base.go_to"]);
    assert_eq!(problems.len(), 2, "{problems:?}");
    assert_eq!(problems[0], ToolSetError::Duplicate { tool: "base.go_to".into() });
    assert!(matches!(&problems[1], ToolSetError::BadSchema { tool, .. } if tool.as_str() == "arm.bend"));
}

#[test]
fn the_version_of_a_tool_follows_what_it_is_in_a_set_made_of_an_older_one() {
    let (old, _) = ToolSet::new([go_to(), tool("arm.lift", json!(true))]);
    let moves_alone = go_to().with_dispatch(Dispatch::Background);
    let (new, _) = old.rebuilt([moves_alone.clone(), tool("arm.lift", json!(true))]);
    assert_eq!(new.fingerprint(&"arm.lift".into()), old.fingerprint(&"arm.lift".into()));
    assert_eq!(new.fingerprint(&"base.go_to".into()), Some(moves_alone.fingerprint()));
    assert_ne!(new.fingerprint(&"base.go_to".into()), old.fingerprint(&"base.go_to".into()));
    assert_eq!(new.fingerprint(&"arm.bend".into()), None);
}

#[test]
fn a_schema_may_not_reach_out_of_its_document() {
    for reference in ["file:///etc/passwd", "http://127.0.0.1:9/schema.json"] {
        let schema = json!({"type": "object", "properties": {"a": {"$ref": reference}}});
        let (set, problems) = ToolSet::new([tool("a.b", schema)]);
        assert!(set.is_empty(), "{reference}");
        assert_eq!(problems.len(), 1);
    }
}

#[test]
fn every_problem_of_the_arguments_is_named_with_its_place() {
    let (set, _) = ToolSet::new([go_to()]);
    let check = |arguments: Value| set.check(&"base.go_to".into(), arguments.as_object().unwrap());
    assert_eq!(check(json!({"place": "kitchen"})), Ok(()));
    let problems = check(json!({"place": "moon", "speed": 3, "colour": 1})).unwrap_err().to_string();
    for expected in ["place: \"moon\"", "speed: 3", "'colour'"] {
        assert!(problems.contains(expected), "{problems}");
    }
    assert!(check(json!({})).unwrap_err().to_string().contains("\"place\" is a required property"));
    let flood = check(json!({"place": "x".repeat(10_000)})).unwrap_err().to_string();
    assert!(flood.len() < 400 && flood.contains("is not one of"), "{flood}");
    let missing = set.check(&"base.fly".into(), &Map::new()).unwrap_err();
    assert_eq!(missing.to_string(), "there is no tool 'base.fly' now");
}

#[test]
fn a_set_survives_the_tape() {
    let (set, _) = ToolSet::new([go_to(), tool("a.b", json!({"type": "object"}))]);
    let stored = serde_json::to_string(&set).unwrap();
    assert_eq!(serde_json::from_str::<ToolSet>(&stored).unwrap(), set);
}
