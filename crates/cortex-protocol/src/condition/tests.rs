use super::*;
use serde_json::json;

fn condition(value: Value) -> Condition {
    serde_json::from_value(value).unwrap()
}

#[test]
fn what_is_written_reads_back_and_is_said_in_words() {
    for (written, words) in [
        (
            json!({"topic": "/battery_state", "field": "percentage", "greater": 0.05, "max_age_s": 5.0}),
            "/battery_state percentage is above 0.05, seen within 5 s",
        ),
        (json!({"topic": "~/place", "field": "data", "equal": "{place}"}), "~/place data is \"{place}\""),
        (json!({"parameter": "/base/speed_mps", "at_most": 0.5}), "the parameter /base/speed_mps is at most 0.5"),
        (json!({"component": "battery"}), "the component battery is there"),
        (json!({"topic": "/gripper", "change": true}), "/gripper has changed"),
        (
            json!({"topic": "/odom", "field": "x", "near": {"value": "{x}", "tolerance": 0.2, "unit": "m"}}),
            "/odom x is \"{x}\", give or take 0.2 m",
        ),
        (
            json!({"or": [
                {"and": [{"component": "a", "different": "general"}, {"component": "b", "in": ["healthy", "present"]}]},
                {"not": {"topic": "/t", "field": "f.0", "contains": "x"}},
            ]}),
            "((the component a is not \"general\") and (the component b is one of [\"healthy\",\"present\"])) or \
             (not (/t f.0 contains \"x\"))",
        ),
    ] {
        let read = condition(written.clone());
        assert_eq!(serde_json::to_value(&read).unwrap(), written);
        assert_eq!(read.to_string(), words);
    }
}

#[test]
fn what_is_malformed_is_refused_with_what_would_be_right() {
    for (written, expected) in [
        (json!({}), "has none of them"),
        (json!({"topic": "/a", "component": "b"}), "this one has topic and component"),
        (json!({"topic": "/a", "equals": 1}), "unknown field `equals`"),
        (json!({"topic": "/a", "equal": 1, "less": 2}), "in several ways (equal, less); join conditions with 'and'"),
        (json!({"component": "a", "field": "x"}), "'field' belongs to a 'topic'"),
        (json!({"topic": "/a", "greater": "much"}), "'greater' takes a number"),
        (json!({"topic": "/a", "in": []}), "'in' takes a list"),
        (json!({"topic": "/a", "change": false}), "write 'not'"),
        (json!({"topic": "/a", "max_age_s": 0}), "'max_age_s' is 0"),
        (json!({"topic": "a b"}), "'a b' is no name of a topic"),
        (json!({"topic": ""}), "'' is no name of a topic"),
        (json!({"component": ""}), "'' is no name of a component"),
        (json!({"topic": "/a", "field": "x..y"}), "'x..y' is no field"),
        (json!({"parameter": "speed"}), "write the node before it"),
        (json!({"and": []}), "'and' holds no condition"),
        (json!({"not": {"component": "a"}, "max_age_s": 1.0}), "not beside 'not'"),
        (json!({"topic": "/a", "near": {"value": 1, "tolerance": -1.0}}), "the tolerance of 'near' is -1"),
        (json!({"topic": "/a", "equal": "x".repeat(2_000)}), "at most 1024 are taken"),
        (json!(7), "invalid type"),
    ] {
        let problem = serde_json::from_value::<Condition>(written.clone()).unwrap_err().to_string();
        assert!(problem.contains(expected), "{written}: {problem}");
    }
}

#[test]
fn what_is_too_deep_or_too_long_is_refused() {
    let mut deep = json!({"component": "a"});
    for _ in 0..MAX_DEPTH {
        deep = json!({"not": deep});
    }
    assert!(serde_json::from_value::<Condition>(deep).unwrap_err().to_string().contains("9 deep"));
    let many = vec![json!({"component": "a"}); MAX_CHECKS + 1];
    assert!(serde_json::from_value::<Condition>(json!({"or": many})).unwrap_err().to_string().contains("33 checks"));
    let bottomless = format!("{}{}", "{\"not\":".repeat(100_000), "}".repeat(100_000));
    assert!(serde_json::from_str::<Condition>(&bottomless).is_err());
}

#[test]
fn evidence_has_a_bound_and_reads_as_a_condition() {
    let evidence: Evidence = serde_json::from_value(json!({"topic": "/p", "equal": 1, "within_s": 2.5})).unwrap();
    assert_eq!(evidence.within, Duration::from_millis(2_500));
    assert_eq!(evidence.condition, condition(json!({"topic": "/p", "equal": 1})));
    let again = serde_json::to_value(&evidence).unwrap();
    assert_eq!(again, json!({"topic": "/p", "equal": 1, "within_s": 2.5}));
    let without: Evidence = serde_json::from_value(json!({"component": "a"})).unwrap();
    assert_eq!(without.within, DEFAULT_EVIDENCE_WITHIN);
    for wrong in
        [json!({"topic": "/p", "within_s": -1}), json!({"topic": "/p", "within_s": "1"}), json!({"within_s": 1})]
    {
        assert!(serde_json::from_value::<Evidence>(wrong).is_err());
    }
}

#[test]
fn a_text_in_braces_is_an_argument_and_in_two_it_is_itself() {
    for (text, means) in [
        ("{place}", Reference::Argument("place")),
        ("{pose.x}", Reference::Argument("pose.x")),
        ("{{place}}", Reference::Literal("{place}")),
        ("kitchen", Reference::Literal("kitchen")),
        ("{}", Reference::Literal("{}")),
        ("{a b}", Reference::Literal("{a b}")),
        ("to {place}", Reference::Literal("to {place}")),
    ] {
        assert_eq!(reference(text), means);
    }
}

#[test]
fn names_are_those_of_the_component_that_writes_them() {
    let named = |topic: &str| condition(json!({"topic": topic}));
    for (component, written, means) in [
        ("base", "~/place", "/base/place"),
        ("left/base", "~/place", "/left/base/place"),
        ("base", "odom", "/odom"),
        ("left/base", "odom", "/left/odom"),
        ("left/base", "/odom", "/odom"),
    ] {
        let component = ComponentName::from(component);
        let resolved = named(written).with_sources(&|source| source.resolved_for(&component));
        assert_eq!(resolved, named(means));
    }
}

#[test]
fn conditions_that_ask_for_what_the_tool_does_not_take_are_refused() {
    let parameters = json!({"type": "object", "properties": {"place": {"type": "string"}}});
    let problem = |conditions: Value| {
        let conditions: Conditions = serde_json::from_value(conditions).unwrap();
        conditions.check(&parameters).map_err(|error| error.problem)
    };
    assert_eq!(problem(json!({"after": [{"topic": "/p", "equal": "{place}"}]})), Ok(()));
    let unknown = problem(json!({"after": [{"topic": "/p", "in": ["a", "{room}"]}]})).unwrap_err();
    assert!(unknown.contains("the argument 'room', which it does not take"), "{unknown}");
    let changed = problem(json!({"before": [{"topic": "/p", "change": true}]})).unwrap_err();
    assert!(changed.contains("nothing can have changed"), "{changed}");
    let many = vec![json!({"component": "a"}); MAX_CONDITIONS + 1];
    assert!(problem(json!({"during": many})).unwrap_err().contains("17 conditions in 'during'"));
}
