use std::time::Duration;

use cortex_protocol::{CancelMode, Dispatch, ToolPhase};
use serde_json::{Value, json};

use super::*;

fn method(component: &str, method: &str) -> ToolSpec {
    let component = ComponentName::from(component);
    ToolSpec::new(ToolName::of_method(&component, method), format!("{method} with the {component}."))
        .with_parameters(json!({"type": "object", "properties": {"what": {"type": "string"}}}))
        .with_phase(ToolPhase::Execution)
        .with_effect(Effect::Move)
        .with_effect_source(cortex_protocol::EffectSource::Declared)
        .with_resources(vec![component.as_str().into()])
        .with_timeout(Duration::from_secs(30))
        .with_dispatch(Dispatch::Wait)
        .with_cancel(CancelMode::Halt)
        .with_component(Some(component))
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

fn quarantined(component: &str) -> Availability {
    let mut availability = Availability::default();
    assert!(availability.quarantine(component.into(), "it crashed."));
    availability
}

fn call(tool: &str, arguments: Value) -> ToolCall {
    ToolCall { tool: tool.into(), arguments: arguments.as_object().cloned().unwrap_or_default() }
}

#[test]
fn what_is_in_quarantine_is_kept_back_with_the_reason_and_the_rest_stays() {
    let available = quarantined("/arm").available(&robot(), &RemovedTools::default());
    assert_eq!(names(&available.tools), ["base.go", "spare_arm.grasp", "spare_arm.wave"]);
    let kept: Vec<(&str, &str)> =
        available.kept_back.iter().map(|(name, because)| (name.as_str(), because.as_str())).collect();
    let because = "arm is in quarantine: it crashed";
    assert_eq!(kept, [("arm.grasp", because), ("arm.wave", because)]);
}

#[test]
fn a_standby_serves_what_it_can_do_in_the_same_way_and_nothing_else() {
    let mut availability = quarantined("arm");
    assert!(availability.fail_over(&"arm".into(), Some(&"spare_arm".into())));
    let available = availability.available(&robot(), &RemovedTools::default());
    assert_eq!(available.served_by, BTreeMap::from([("arm.grasp".into(), "spare_arm.grasp".into())]));
    let grasp = available.tools.get(&"arm.grasp".into()).unwrap();
    assert_eq!(grasp.resources, ["spare_arm".into()], "it holds what the standby holds");
    assert_eq!(grasp.fingerprint(), method("arm", "grasp").fingerprint(), "a plan that was made for it stands");
    assert_eq!(
        available.kept_back.get(&"arm.wave".into()).map(String::as_str),
        Some("spare_arm has the place of arm, and offers no method like it")
    );
}

#[test]
fn a_standby_also_serves_a_component_that_has_left_the_robot() {
    let mut availability = Availability::default();
    availability.fail_over(&"arm".into(), Some(&"spare_arm".into()));
    let there = ToolSet::new([method("spare_arm", "grasp")]).0;
    let before = ToolSet::new([method("spare_arm", "grasp"), method("arm", "grasp")]).0;
    let mut removed = RemovedTools::default();
    removed.note(&before, &there);
    let available = availability.available(&there, &removed);
    assert_eq!(names(&available.tools), ["arm.grasp"], "the thing has one name");
    assert_eq!(
        available.kept_back.get(&"spare_arm.grasp".into()).map(String::as_str),
        Some("it serves arm.grasp; call that")
    );
    assert_eq!(names(&Availability::default().available(&there, &removed).tools), ["spare_arm.grasp"]);
    removed.note(&there, &before);
    assert_eq!(removed, RemovedTools::default(), "what has come back has not left");
}

#[test]
fn a_standby_in_quarantine_serves_nothing() {
    let mut availability = quarantined("spare_arm");
    availability.fail_over(&"arm".into(), Some(&"spare_arm".into()));
    let available = availability.available(&robot(), &RemovedTools::default());
    assert_eq!(names(&available.tools), ["base.go"]);
}

/// An action that is a method of the arm under a name of its own, and the same action as the spare arm does it.
fn robot_with_an_action(effect: Effect) -> ToolSet {
    let action = method("arm", "grasp").with_name("serve".into());
    let by_spare = method("spare_arm", "grasp")
        .with_name("spare_arm:serve".into())
        .with_serves(Some("serve".into()))
        .with_effect(effect);
    robot().rebuilt(robot().iter().cloned().chain([action, by_spare])).0
}

#[test]
fn a_tool_that_only_serves_another_is_never_on_offer_and_serves_that_one() {
    let robot = robot_with_an_action(Effect::Move);
    let all_but_it = ["arm.grasp", "arm.wave", "base.go", "serve", "spare_arm.grasp", "spare_arm.wave"];
    let nothing = RemovedTools::default();
    assert_eq!(names(&Availability::default().available(&robot, &nothing).tools), all_but_it);
    assert_eq!(names(&quarantined("base").available(&robot, &nothing).tools).len(), all_but_it.len() - 1);

    let mut availability = quarantined("arm");
    availability.fail_over(&"arm".into(), Some(&"spare_arm".into()));
    let available = availability.available(&robot, &nothing);
    assert_eq!(available.served_by.get(&"serve".into()), Some(&"spare_arm:serve".into()));
    assert_eq!(names(&available.tools), ["arm.grasp", "base.go", "serve", "spare_arm.wave"]);
    let serve = available.tools.get(&"serve".into()).unwrap();
    assert_eq!(serve.resources, ["spare_arm".into()], "it holds what the standby holds");

    availability.quarantine("spare_arm".into(), "it fell");
    let available = availability.available(&robot, &nothing);
    assert_eq!(
        available.kept_back.get(&"serve".into()).map(String::as_str),
        Some("spare_arm has the place of arm, and spare_arm is in quarantine: it fell")
    );

    let mut removed = RemovedTools::default();
    removed.note(&robot, &ToolSet::default());
    assert_eq!(names(&Availability::default().available(&ToolSet::default(), &removed).tools), Vec::<&str>::new());
}

#[test]
fn an_action_that_the_standby_does_not_offer_or_does_otherwise_is_refused_with_the_reason() {
    for robot in [robot_with_an_action(Effect::Observe), {
        let robot = robot_with_an_action(Effect::Move);
        robot.rebuilt(robot.iter().filter(|spec| spec.serves.is_none()).cloned()).0
    }] {
        let mut availability = quarantined("arm");
        availability.fail_over(&"arm".into(), Some(&"spare_arm".into()));
        let available = availability.available(&robot, &RemovedTools::default());
        assert_eq!(
            available.kept_back.get(&"serve".into()).map(String::as_str),
            Some("spare_arm has the place of arm, and offers no method like it")
        );
    }
}

#[test]
fn a_call_that_names_what_is_in_quarantine_is_refused_unless_it_only_looks() {
    let availability = quarantined("arm");
    let set = method("any", "update_parameter").with_component(None).with_effect(Effect::Act);
    let look = set.clone().with_effect(Effect::Observe);
    let at = |component: &str| call("any.update_parameter", json!({"component": component}));
    assert_eq!(availability.refusal(&set, &at("/arm")).as_deref(), Some("arm is in quarantine: it crashed"));
    assert_eq!(availability.refusal(&set, &at("base")), None);
    assert_eq!(availability.refusal(&look, &at("arm")), None);
}

#[test]
fn the_same_again_is_no_news_and_a_release_undoes_a_quarantine() {
    let mut availability = quarantined("arm");
    assert!(!availability.quarantine("arm".into(), "it crashed"));
    assert!(availability.quarantine("arm".into(), "it hangs"));
    assert!(availability.release(&"/arm".into()));
    assert!(!availability.release(&"arm".into()));
    assert!(!availability.fail_over(&"arm".into(), Some(&"/arm".into())), "nobody stands in for itself");
    assert!(availability.pause("") && availability.unpause() && !availability.unpause());
    assert!(availability.is_empty());
}

#[test]
fn a_reason_is_one_short_line_whatever_a_component_says() {
    let mut availability = Availability::default();
    availability.quarantine("arm".into(), &format!("it said:\n\u{1b}[2Jnow {}", "x".repeat(10_000)));
    let because = availability.reason_against(&"arm".into()).unwrap();
    assert!(because.starts_with("it said: [2Jnow xxx") && because.chars().count() < 260, "{because}");
}
