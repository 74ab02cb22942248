use super::*;
use cortex_protocol::{Effect, EffectSource, ToolPhase};
use serde_json::{Value, json};

fn spec(name: &str, effect: Effect, source: EffectSource) -> ToolSpec {
    ToolSpec::new(name.into(), "Does something.".to_owned())
        .with_parameters(json!({
            "type": "object",
            "properties": {
                "place": {"type": "string"},
                "speed": {"type": "number", "default": 0.5},
                "pose": {"type": "object", "properties": {"x": {"type": "number", "default": 1}}}
            },
            "required": ["place"]
        }))
        .with_phase(ToolPhase::Execution)
        .with_effect(effect)
        .with_effect_source(source)
        .with_timeout(std::time::Duration::from_secs(5))
        .with_dispatch(cortex_protocol::Dispatch::Wait)
        .with_cancel(cortex_protocol::CancelMode::Halt)
}

fn rules(written: Value) -> Policy {
    Policy::new(PolicySettings { rules: serde_json::from_value(written).unwrap(), ..PolicySettings::default() })
        .unwrap()
}

fn call(tool: &str, arguments: Value) -> ToolCall {
    ToolCall { tool: tool.into(), arguments: arguments.as_object().cloned().unwrap() }
}

fn judged_in(policy: &Policy, spec: &ToolSpec, arguments: Value, state: &RobotState) -> PolicyVerdict {
    let origin = Origin::new("ros", "/cortex/task");
    let context = PolicyContext { origin: &origin, state };
    policy.judge(&call(spec.name.as_str(), arguments), spec, &context).verdict
}

fn judged(policy: &Policy, spec: &ToolSpec, arguments: Value) -> PolicyVerdict {
    judged_in(policy, spec, arguments, &RobotState::default())
}

fn moving(name: &str, source: EffectSource) -> ToolSpec {
    spec(name, Effect::Move, source)
}

#[test]
fn looks_are_free_what_is_declared_is_allowed_and_the_rest_asks() {
    let policy = Policy::default();
    for source in [EffectSource::Declared, EffectSource::WellKnown] {
        for effect in [Effect::Observe, Effect::Act, Effect::Move] {
            let spec = spec("base.go_to", effect, source);
            assert_eq!(judged(&policy, &spec, json!({"place": "hall"})), PolicyVerdict::Allow);
        }
    }
    let unknown = moving("send_request_to_start_cleaning", EffectSource::Assumed);
    assert_eq!(judged(&policy, &unknown, json!({"place": "x"})), PolicyVerdict::Ask);
    let clears_costmap = spec("send_request_to_clear", Effect::Act, EffectSource::TypeOnly);
    assert_eq!(judged(&policy, &clears_costmap, json!({})), PolicyVerdict::Ask, "well known, but nothing halts it");
    for (undeclared, then) in [(PolicyVerdict::Allow, PolicyVerdict::Allow), (PolicyVerdict::Deny, PolicyVerdict::Deny)]
    {
        let policy = Policy::new(PolicySettings { undeclared, ..PolicySettings::default() }).unwrap();
        assert_eq!(judged(&policy, &unknown, json!({"place": "x"})), then);
    }
}

#[test]
fn every_parameter_asks_and_one_of_a_hazardous_name_is_denied_until_a_rule_names_it() {
    let parameter = spec(PARAMETER_TOOL, Effect::Act, EffectSource::Assumed);
    let change = |component: &str, name: &str| json!({"component": component, "param_name": name, "new_value": 1});
    let open = Policy::new(PolicySettings { undeclared: PolicyVerdict::Allow, ..PolicySettings::default() }).unwrap();
    assert_eq!(judged(&open, &parameter, change("base", "speed_mps")), PolicyVerdict::Ask);
    assert_eq!(judged(&open, &parameter, change("safety_node", "speed_mps")), PolicyVerdict::Deny);
    assert_eq!(judged(&open, &parameter, change("base", "brake_release")), PolicyVerdict::Deny);
    let all = rules(json!([{"then": "allow", "tools": ["update_parameter"]}]));
    assert_eq!(judged(&all, &parameter, change("base", "speed_mps")), PolicyVerdict::Allow);
    assert_eq!(judged(&all, &parameter, change("base", "brake_release")), PolicyVerdict::Deny);
    let named = rules(json!([{"then": "allow", "tools": ["update_parameter"],
        "arguments": {"param_name": {"one_of": ["brake_release"]}}}]));
    assert_eq!(judged(&named, &parameter, change("base", "brake_release")), PolicyVerdict::Allow);
}

#[test]
fn a_hazard_is_denied_until_a_rule_names_it_in_full() {
    let mut switch = moving("send_request_to_controller_manager_x", EffectSource::Assumed);
    switch.description = "Sends a request to the service /controller_manager/x of cm \
                          (controller_manager_msgs/srv/SwitchController)."
        .to_owned();
    let reset = moving("send_request_to_reset_estop", EffectSource::Assumed);
    for spec in [&switch, &reset] {
        let judged_by = |written: Value| judged(&rules(written), spec, json!({"place": "x"}));
        assert_eq!(judged_by(json!([])), PolicyVerdict::Deny);
        assert_eq!(judged_by(json!([{"then": "allow", "tools": ["*"]}])), PolicyVerdict::Deny);
        assert_eq!(judged_by(json!([{"then": "ask", "effects": ["move"]}])), PolicyVerdict::Deny);
        assert_eq!(judged_by(json!([{"then": "ask", "tools": [spec.name]}])), PolicyVerdict::Ask);
    }
    let by = |source| judged(&Policy::default(), &moving("base.reset_estop", source), json!({"place": "x"}));
    assert_eq!(by(EffectSource::Declared), PolicyVerdict::Allow);
    assert_eq!(by(EffectSource::Pattern), PolicyVerdict::Deny, "`/base/**` need not have meant it");
}

#[test]
fn the_strictest_rule_that_matches_counts_with_all_its_reasons() {
    let policy = rules(json!([
        {"then": "allow", "tools": ["base.*"]},
        {"then": "ask", "tools": ["base.go_to"], "because": "First"},
        {"then": "ask", "effects": ["move"], "because": "Second."},
        {"then": "deny", "arguments": {"place": {"one_of": ["street"]}}, "because": "Traffic."},
    ]));
    let spec = moving("base.go_to", EffectSource::Declared);
    let origin = Origin::new("ros", "x");
    let state = RobotState::default();
    let context = PolicyContext { origin: &origin, state: &state };
    let asks = policy.judge(&call("base.go_to", json!({"place": "hall"})), &spec, &context);
    assert_eq!((asks.verdict, asks.told().as_str()), (PolicyVerdict::Ask, "First. Second."));
    let denied = policy.judge(&call("base.go_to", json!({"place": " STREET "})), &spec, &context);
    assert_eq!((denied.verdict, denied.told().as_str()), (PolicyVerdict::Deny, "Traffic."));
}

#[test]
fn a_rule_about_an_effect_is_about_no_other_one() {
    let policy = rules(json!([{"then": "deny", "effects": ["move"]}]));
    let of = |effect| judged(&policy, &spec("lamp.switch", effect, EffectSource::Declared), json!({"place": "hall"}));
    assert_eq!((of(Effect::Move), of(Effect::Act)), (PolicyVerdict::Deny, PolicyVerdict::Allow));
}

#[test]
fn what_is_not_known_never_lets_a_call_through() {
    let spec = moving("base.go_to", EffectSource::Declared);
    let tested = |then: &str, arguments: Value, given: Value| {
        judged(&rules(json!([{"then": then, "tools": ["base.*"], "arguments": arguments}])), &spec, given)
    };
    let undeclared = moving("base.go_to", EffectSource::Assumed);
    let allowed = |arguments: Value, given: Value| {
        judged(&rules(json!([{"then": "allow", "arguments": arguments}])), &undeclared, given) == PolicyVerdict::Allow
    };
    let denied = |arguments: Value, given: Value| tested("deny", arguments, given) == PolicyVerdict::Deny;
    // Still open, of another kind, beyond what can be read.
    for place in [json!("<output of step 1>"), json!(3), json!(null), json!({"x": 1}), json!(true)] {
        assert!(denied(json!({"place": {"one_of": ["street"]}}), json!({"place": place})), "{place}");
        assert!(!allowed(json!({"place": {"one_of": ["street"]}}), json!({"place": place})), "{place}");
        assert!(!allowed(json!({"place": {"none_of": ["street"]}}), json!({"place": place})), "{place}");
    }
    assert!(denied(json!({"speed": {"above": 1}}), json!({"place": "x", "speed": "fast"})));
    assert!(denied(json!({"pose.x": {"above": 1}}), json!({"place": "x", "pose": "there"})));
    // Left out: its default, or known to be absent.
    assert!(!denied(json!({"speed": {"above": 1}}), json!({"place": "x"})));
    assert!(denied(json!({"speed": {"above": 0.4}}), json!({"place": "x"})));
    assert!(denied(json!({"pose.x": {"above": 0.5}}), json!({"place": "x", "pose": {}})));
    assert!(!denied(json!({"note": {"contains": ["bad"]}}), json!({"place": "x"})));
    assert!(denied(json!({"note": {"none_of": ["good"]}}), json!({"place": "x"})));
    assert!(!allowed(json!({"note": {"none_of": ["bad"]}}), json!({"place": "x"})));
    assert!(denied(json!({"place": {"one_of": ["street"]}}), json!({})), "a required argument that is not there");
}

#[test]
fn arguments_are_compared_by_path_whatever_the_case_and_in_every_element() {
    let spec = moving("base.go_to", EffectSource::Declared);
    let denied = |arguments: Value, given: Value| {
        judged(&rules(json!([{"then": "deny", "arguments": arguments}])), &spec, given) == PolicyVerdict::Deny
    };
    let places = json!({"place": {"one_of": ["Straße"]}});
    assert!(denied(places.clone(), json!({"place": " STRASSE"})));
    assert!(denied(places.clone(), json!({"place": ["hall", "straße"]})));
    assert!(!denied(places.clone(), json!({"place": ["hall", "kitchen"]})));
    assert!(!denied(places, json!({"place": []})));
    assert!(denied(json!({"place": {"contains": ["knife"]}}), json!({"place": "the big KNIFE"})));
    assert!(denied(
        json!({"stops.place": {"one_of": ["pit"]}}),
        json!({"place": "x", "stops": [{"place": "a"}, {"place": "pit"}]})
    ));
    assert!(denied(
        json!({"stops.1.place": {"one_of": ["pit"]}}),
        json!({"place": "x", "stops": [{"place": "a"}, {"place": "pit"}]})
    ));
    assert!(denied(json!({"pose.x": {"above": 1, "below": 3}}), json!({"place": "x", "pose": {"x": 2}})));
    assert!(!denied(json!({"pose.x": {"above": 1, "below": 3}}), json!({"place": "x", "pose": {"x": 3}})));
    let undeclared = moving("base.go_to", EffectSource::Assumed);
    let allowed = |given: Value| {
        let policy = rules(json!([{"then": "allow", "arguments": {"place": {"one_of": ["hall", "kitchen"]}}}]));
        judged(&policy, &undeclared, given) == PolicyVerdict::Allow
    };
    assert!(allowed(json!({"place": ["hall", "kitchen"]})));
    assert!(!allowed(json!({"place": ["hall", "street"]})), "a rule that allows holds of every element");
    assert!(!allowed(json!({"place": []})));
}

#[test]
fn the_state_of_the_robot_and_the_time_count_once_they_are_known() {
    let spec = moving("base.go_to", EffectSource::Declared);
    let by_state = rules(
        json!([{"then": "ask", "tools": ["base.*"], "when": {"topic": "/battery", "field": "percentage", "less": 0.2}}]),
    );
    let at_night = rules(json!([{"then": "ask", "tools": ["base.*"], "hours": "22:00-06:00"}]));
    let state = |verdict| RobotState { conditions: vec![verdict], minute: None };
    let given = || json!({"place": "hall"});
    assert_eq!(judged(&by_state, &spec, given()), PolicyVerdict::Ask, "nothing was told yet");
    assert_eq!(judged_in(&by_state, &spec, given(), &state(Verdict::Unknown)), PolicyVerdict::Ask);
    assert_eq!(judged_in(&by_state, &spec, given(), &state(Verdict::Holds)), PolicyVerdict::Ask);
    assert_eq!(judged_in(&by_state, &spec, given(), &state(Verdict::Broken)), PolicyVerdict::Allow);
    let at = |minute| RobotState { conditions: Vec::new(), minute: Some(minute) };
    for (minute, then) in [
        (22 * 60, PolicyVerdict::Ask),
        (0, PolicyVerdict::Ask),
        (5 * 60 + 59, PolicyVerdict::Ask),
        (6 * 60, PolicyVerdict::Allow),
        (21 * 60 + 59, PolicyVerdict::Allow),
    ] {
        assert_eq!(judged_in(&at_night, &spec, given(), &at(minute)), then, "{minute}");
    }
    assert_eq!(judged(&at_night, &spec, given()), PolicyVerdict::Ask);
}

#[test]
fn who_asked_is_matched_by_channel_and_client() {
    let spec = moving("base.go_to", EffectSource::Declared);
    for (who, then) in [
        ("ros", PolicyVerdict::Ask),
        ("ros:/cortex/*", PolicyVerdict::Ask),
        ("event", PolicyVerdict::Allow),
        ("ros:/other", PolicyVerdict::Allow),
    ] {
        let policy = rules(json!([{"then": "ask", "who": [who]}]));
        assert_eq!(judged(&policy, &spec, json!({"place": "x"})), then, "{who}");
    }
}

#[test]
fn a_rule_that_cannot_mean_what_it_says_is_refused_with_what_to_do() {
    for (rule, told) in [
        (json!({"then": "deny"}), "names nothing"),
        (json!({"then": "deny", "tools": [""]}), "empty pattern"),
        (json!({"then": "deny", "tools": ["base go"]}), "no spaces"),
        (json!({"then": "deny", "tools": ["base.[ab]"]}), "only * is a wildcard"),
        (json!({"then": "deny", "hours": "22-06"}), "no span of the day"),
        (json!({"then": "deny", "hours": "06:00-06:00"}), "no span of the day"),
        (json!({"then": "deny", "hours": "25:00-06:00"}), "no span of the day"),
        (json!({"then": "deny", "arguments": {"speed": {}}}), "compares with nothing"),
        (json!({"then": "deny", "arguments": {"speed": {"above": 2, "below": 1}}}), "no number is above 2 and below 1"),
        (json!({"then": "deny", "arguments": {"place": {"one_of": []}}}), "one_of is empty"),
        (json!({"then": "deny", "arguments": {"place": {"contains": [" "]}}}), "every text holds an empty one"),
        (json!({"then": "deny", "arguments": {"pose..x": {"above": 1}}}), "the path is none"),
        (json!({"then": "deny", "when": {"topic": "~/place", "equal": "x"}}), "not a full name"),
        (json!({"then": "deny", "when": {"topic": "/place", "equal": "{place}"}}), "can't refer to an argument"),
    ] {
        let settings = PolicySettings {
            rules: vec![
                serde_json::from_value(json!({"then": "ask", "tools": ["*"]})).unwrap(),
                serde_json::from_value(rule.clone()).unwrap(),
            ],
            ..PolicySettings::default()
        };
        let error = Policy::new(settings).expect_err(&rule.to_string());
        assert_eq!(error.rule, Some(2));
        assert!(error.to_string().contains(told), "{error}");
    }
}

#[test]
fn a_policy_is_read_as_it_was_written_and_checked_again() {
    let policy = rules(json!([{"then": "ask", "tools": ["base.*"], "when": {"component": "arm", "equal": "healthy"}}]));
    for policy in [policy, Policy::default(), Policy::unrestricted()] {
        let written = serde_json::to_value(&policy).unwrap();
        assert_eq!(serde_json::from_value::<Policy>(written).unwrap(), policy);
    }
    assert!(serde_json::from_value::<Policy>(json!({"rules": [{"then": "ask"}], "undeclared": "ask"})).is_err());
    let hazard = moving("reset_estop", EffectSource::Assumed);
    assert_eq!(judged(&Policy::unrestricted(), &hazard, json!({"place": "x"})), PolicyVerdict::Allow);
}

#[test]
fn what_happens_to_a_tool_is_told_in_one_line() {
    let policy = rules(json!([
        {"then": "ask", "tools": ["base.*"], "arguments": {"place": {"one_of": ["street", "yard"]}}, "because": "The street has traffic."},
        {"then": "deny", "tools": ["arm.*"], "hours": "22:00-06:00"},
        {"then": "deny", "tools": ["saw.*"], "because": "Nobody may saw."},
        {"then": "allow", "tools": ["saw.*"], "who": ["cli"]},
    ]));
    for (name, source, told) in [
        (
            "base.go_to",
            EffectSource::Declared,
            "allowed; asks when place is one of street, yard: The street has traffic.",
        ),
        ("arm.wave", EffectSource::Declared, "allowed; denied when the time is 22:00-06:00"),
        ("saw.cut", EffectSource::Declared, "denied: Nobody may saw."),
        ("lamp.on", EffectSource::Declared, "allowed"),
        ("lamp.on", EffectSource::Assumed, "asks: Nobody has declared what lamp.on does."),
        (
            "reset_estop",
            EffectSource::Assumed,
            "denied: reset_estop is denied until a rule names it: it is about an emergency stop, and nobody has declared what \
             it does by its full name.",
        ),
    ] {
        assert_eq!(policy.judge_tool(&moving(name, source)).to_string(), told);
    }
}
