use std::time::Duration;

use cortex_protocol::{CancelMode, Conditions, Dispatch, ToolPhase};
use serde_json::{Value, json};

use super::*;

fn method(component: &str, method: &str) -> ToolSpec {
    let component = ComponentName::from(component);
    ToolSpec {
        name: ToolName::of_method(&component, method),
        description: format!("{method} with the {component}."),
        parameters: json!({"type": "object", "properties": {"what": {"type": "string"}}}),
        phase: ToolPhase::Execution,
        effect: Effect::Move,
        effect_source: cortex_protocol::EffectSource::Declared,
        resources: vec![component.as_str().into()],
        timeout: Duration::from_secs(30),
        dispatch: Dispatch::Wait,
        cancel: CancelMode::Halt,
        component: Some(component),
        phrases: Vec::new(),
        conditions: Conditions::default(),
        serves: None,
        outlives_process: false,
    }
}

fn robot() -> ToolSet {
    let mut wave = method("spare_arm", "wave");
    wave.parameters = json!({"type": "object"});
    ToolSet::new([
        method("arm", "grasp"),
        method("arm", "wave"),
        method("spare_arm", "grasp"),
        wave,
        method("base", "go"),
    ])
    .0
}

fn names(tools: &ToolSet) -> Vec<&str> {
    tools.iter().map(|spec| spec.name.as_str()).collect()
}

fn quarantined(component: &str) -> Containment {
    let mut containment = Containment::default();
    assert!(containment.quarantine(component.into(), "it crashed."));
    containment
}

fn call(tool: &str, arguments: Value) -> ToolCall {
    ToolCall { tool: tool.into(), arguments: arguments.as_object().cloned().unwrap_or_default() }
}

#[test]
fn what_is_in_quarantine_is_kept_back_with_the_reason_and_the_rest_stays() {
    let confined = quarantined("/arm").confine(&robot(), &Departed::default());
    assert_eq!(names(&confined.tools), ["base.go", "spare_arm.grasp", "spare_arm.wave"]);
    let kept: Vec<(&str, &str)> =
        confined.kept_back.iter().map(|(name, because)| (name.as_str(), because.as_str())).collect();
    let because = "arm is in quarantine: it crashed";
    assert_eq!(kept, [("arm.grasp", because), ("arm.wave", because)]);
}

#[test]
fn a_stand_in_serves_what_it_can_do_in_the_same_way_and_nothing_else() {
    let mut containment = quarantined("arm");
    assert!(containment.substitute(&"arm".into(), Some(&"spare_arm".into())));
    let confined = containment.confine(&robot(), &Departed::default());
    assert_eq!(confined.served_by, BTreeMap::from([("arm.grasp".into(), "spare_arm.grasp".into())]));
    let grasp = confined.tools.get(&"arm.grasp".into()).unwrap();
    assert_eq!(grasp.resources, ["spare_arm".into()], "it holds what the stand-in holds");
    assert_eq!(grasp.fingerprint(), method("arm", "grasp").fingerprint(), "a plan that was made for it stands");
    assert_eq!(
        confined.kept_back.get(&"arm.wave".into()).map(String::as_str),
        Some("spare_arm has the place of arm, and offers no method like it")
    );
}

#[test]
fn a_stand_in_also_serves_a_component_that_has_left_the_robot() {
    let mut containment = Containment::default();
    containment.substitute(&"arm".into(), Some(&"spare_arm".into()));
    let there = ToolSet::new([method("spare_arm", "grasp")]).0;
    let before = ToolSet::new([method("spare_arm", "grasp"), method("arm", "grasp")]).0;
    let mut departed = Departed::default();
    departed.note(&before, &there);
    let confined = containment.confine(&there, &departed);
    assert_eq!(names(&confined.tools), ["arm.grasp"], "the thing has one name");
    assert_eq!(
        confined.kept_back.get(&"spare_arm.grasp".into()).map(String::as_str),
        Some("it serves arm.grasp; call that")
    );
    assert_eq!(names(&Containment::default().confine(&there, &departed).tools), ["spare_arm.grasp"]);
    departed.note(&there, &before);
    assert_eq!(departed, Departed::default(), "what has come back has not left");
}

#[test]
fn a_stand_in_in_quarantine_serves_nothing() {
    let mut containment = quarantined("spare_arm");
    containment.substitute(&"arm".into(), Some(&"spare_arm".into()));
    let confined = containment.confine(&robot(), &Departed::default());
    assert_eq!(names(&confined.tools), ["base.go"]);
}

/// An action that is a method of the arm under a name of its own, and the same action as the spare arm does it.
fn robot_with_an_action(effect: Effect) -> ToolSet {
    let action = ToolSpec { name: "serve".into(), ..method("arm", "grasp") };
    let by_spare = ToolSpec {
        name: "spare_arm:serve".into(),
        serves: Some("serve".into()),
        effect,
        ..method("spare_arm", "grasp")
    };
    robot().rebuilt(robot().iter().cloned().chain([action, by_spare])).0
}

#[test]
fn a_tool_that_only_serves_another_is_never_on_offer_and_serves_that_one() {
    let robot = robot_with_an_action(Effect::Move);
    let all_but_it = ["arm.grasp", "arm.wave", "base.go", "serve", "spare_arm.grasp", "spare_arm.wave"];
    let nothing = Departed::default();
    assert_eq!(names(&Containment::default().confine(&robot, &nothing).tools), all_but_it);
    assert_eq!(names(&quarantined("base").confine(&robot, &nothing).tools).len(), all_but_it.len() - 1);

    let mut containment = quarantined("arm");
    containment.substitute(&"arm".into(), Some(&"spare_arm".into()));
    let confined = containment.confine(&robot, &nothing);
    assert_eq!(confined.served_by.get(&"serve".into()), Some(&"spare_arm:serve".into()));
    assert_eq!(names(&confined.tools), ["arm.grasp", "base.go", "serve", "spare_arm.wave"]);
    let serve = confined.tools.get(&"serve".into()).unwrap();
    assert_eq!(serve.resources, ["spare_arm".into()], "it holds what the stand-in holds");

    containment.quarantine("spare_arm".into(), "it fell");
    let confined = containment.confine(&robot, &nothing);
    assert_eq!(
        confined.kept_back.get(&"serve".into()).map(String::as_str),
        Some("spare_arm has the place of arm, and spare_arm is in quarantine: it fell")
    );

    let mut departed = Departed::default();
    departed.note(&robot, &ToolSet::default());
    assert_eq!(names(&Containment::default().confine(&ToolSet::default(), &departed).tools), Vec::<&str>::new());
}

#[test]
fn an_action_that_the_stand_in_does_not_offer_or_does_otherwise_is_refused_with_the_reason() {
    for robot in [robot_with_an_action(Effect::Observe), {
        let robot = robot_with_an_action(Effect::Move);
        robot.rebuilt(robot.iter().filter(|spec| spec.serves.is_none()).cloned()).0
    }] {
        let mut containment = quarantined("arm");
        containment.substitute(&"arm".into(), Some(&"spare_arm".into()));
        let confined = containment.confine(&robot, &Departed::default());
        assert_eq!(
            confined.kept_back.get(&"serve".into()).map(String::as_str),
            Some("spare_arm has the place of arm, and offers no method like it")
        );
    }
}

#[test]
fn a_call_that_names_what_is_in_quarantine_is_refused_unless_it_only_looks() {
    let containment = quarantined("arm");
    let set = ToolSpec { component: None, effect: Effect::Act, ..method("any", "update_parameter") };
    let look = ToolSpec { effect: Effect::Observe, ..set.clone() };
    let at = |component: &str| call("any.update_parameter", json!({"component": component}));
    assert_eq!(containment.refusal(&set, &at("/arm")).as_deref(), Some("arm is in quarantine: it crashed"));
    assert_eq!(containment.refusal(&set, &at("base")), None);
    assert_eq!(containment.refusal(&look, &at("arm")), None);
}

#[test]
fn the_same_again_is_no_news_and_a_release_undoes_a_quarantine() {
    let mut containment = quarantined("arm");
    assert!(!containment.quarantine("arm".into(), "it crashed"));
    assert!(containment.quarantine("arm".into(), "it hangs"));
    assert!(containment.release(&"/arm".into()));
    assert!(!containment.release(&"arm".into()));
    assert!(!containment.substitute(&"arm".into(), Some(&"/arm".into())), "nobody stands in for itself");
    assert!(containment.pause("") && containment.unpause() && !containment.unpause());
    assert!(containment.is_empty());
}

#[test]
fn a_reason_is_one_short_line_whatever_a_component_says() {
    let mut containment = Containment::default();
    containment.quarantine("arm".into(), &format!("it said:\n\u{1b}[2Jnow {}", "x".repeat(10_000)));
    let because = containment.reason_against(&"arm".into()).unwrap();
    assert!(because.starts_with("it said: [2Jnow xxx") && because.chars().count() < 260, "{because}");
}
