//! What once went wrong.

use cortex_recipe::ActionName;

use super::world::{Manner, START, World, at};
use crate::flap_damping::HOLD;
use crate::health::DiagnosticLevel;
use crate::machine::{Effect, Input};
use crate::{FailureKind, LifecycleState};

const LAMP: &str = "[components.lamp]\nstart = { program = \"lamp\" }\nheartbeat_s = 1\nstop_timeout_s = 3\n";
const MANAGED: &str = "[components.nav]\nstart = { program = \"nav\" }\nlifecycle = \"managed\"\nheartbeat_s = 1\n";
const EXTERNAL: &str = "[components.arm]\nstart = \"external\"\nlifecycle = \"managed\"\nstart_timeout_s = 2\n";
/// A camera that is respawned once before its standby has its place.
const CAMERA: &str = "[components.camera]\nstart = { program = \"a\" }\nstandby = \"spare\"\nheartbeat_s = 1\n\
                      [components.camera.fallbacks]\non_component_fail = [\"respawn\", \"standby\"]\n\
                      [components.spare]\nstart = { program = \"b\" }\nstop_timeout_s = 3\n";

/// Runs until that was done.
fn run_until(world: &mut World, action: &str) {
    for _ in 0..1000 {
        if world.actions().iter().any(|done| done == action) {
            return;
        }
        world.run_for(0.02);
    }
    panic!("no '{action}' in {:#?}", world.story());
}

/// Whether nothing but this was done, in this order.
fn did(world: &World, actions: &[&str]) {
    assert_eq!(world.actions(), actions, "{:#?}", world.story());
}

fn restart(world: &mut World, component: &str) {
    world.input(Input::Restart { component: component.into(), action: ActionName::new("respawn") });
}

fn goals(world: &mut World, component: &str, goals: u32) {
    world.input(Input::GoalsChanged { component: component.into(), goals });
}

fn state(world: &mut World, component: &str, state: LifecycleState) {
    world.input(Input::LifecycleSeen { component: component.into(), state });
}

fn diagnostic(world: &mut World, component: &str, level: DiagnosticLevel) {
    let (name, message) = (format!("{component}: motor"), "hot".to_owned());
    world.input(Input::DiagnosticHeard { component: component.into(), name, level, message });
}

#[test]
fn a_process_that_was_respawned_for_an_algorithm_is_not_released_before_it_works() {
    let mut world = World::started(&format!("{LAMP}[components.lamp.fallbacks]\non_algorithm_fail = [\"respawn\"]\n"));
    world.behave("lamp", Manner::ReportsAlgorithm);
    run_until(&mut world, "start lamp");
    // Its node comes, and says nothing.
    world.behave("lamp", Manner::Hangs);
    world.run_for(3.0);
    did(&world, &["pause lamp because of lamp", "stop lamp", "start lamp"]);
    assert!(!world.works("lamp"));
}

#[test]
fn one_that_was_restarted_for_an_algorithm_and_does_not_come_up_is_not_released_while_it_waits() {
    let mut world = World::started(&format!(
        "{MANAGED}[components.nav.fallbacks]\non_algorithm_fail = [{{ do = \"restart\", retries = 5 }}]\n"
    ));
    world.behave("nav", Manner::ReportsAlgorithm);
    run_until(&mut world, "deactivate nav");
    world.behave("nav", Manner::RefusesTransitions);
    for _ in 0..300 {
        world.run_for(0.1);
        assert!(!world.works("nav"), "{:#?}", world.story());
    }
    assert!(world.attempts().len() > 1);
}

/// Seen as one that was used although it said that an algorithm fails, and after a crash was respawned in vain and given up.
#[test]
fn what_nothing_is_done_about_kept_a_killed_one_from_coming_back() {
    for manner in [Manner::ReportsAlgorithm, Manner::ReportsSystem] {
        let mut world = World::started(LAMP);
        world.behave("lamp", manner);
        world.run_for(100.0);
        did(&world, &[]);
        assert!(world.works("lamp"), "the component itself works");
        for _ in 0..20 {
            world.effects.clear();
            let killed = world.now;
            world.kill("lamp");
            assert!(!world.works("lamp"));
            world.run_for(100.0);
            did(&world, &["pause lamp because of lamp", "start lamp", "lamp up", "release lamp"]);
            let (released, _) =
                world.effects.iter().rfind(|(_, effect)| matches!(effect, Effect::Release { .. })).unwrap();
            assert!(*released - killed <= START + HOLD + at(0.01), "trusted as soon as any other");
        }
    }
}

#[test]
fn one_that_says_from_the_start_that_an_algorithm_fails_is_not_started_again_and_again() {
    let mut world = World::new(LAMP);
    world.behave("lamp", Manner::ReportsAlgorithm);
    world.input(Input::Start);
    world.run_for(100.0);
    did(&world, &["start lamp", "lamp up"]);
    assert!(world.works("lamp"));
}

#[test]
fn one_that_is_new_and_well_is_let_back_whatever_the_run_before_it_said() {
    for ladder in ["", "[components.lamp.fallbacks]\non_algorithm_fail = [\"notify_operator\"]\n"] {
        let mut world = World::started(&format!("{LAMP}{ladder}"));
        world.behave("lamp", Manner::ReportsAlgorithm);
        world.run_for(100.0);
        world.behave("lamp", Manner::Good);
        world.effects.clear();
        world.kill("lamp");
        world.run_for(2.0);
        did(&world, &["pause lamp because of lamp", "start lamp", "lamp up", "release lamp"]);
    }
}

#[test]
fn what_a_ladder_is_named_for_keeps_a_killed_one_from_being_used_until_it_is_over() {
    let mut world =
        World::started(&format!("{LAMP}[components.lamp.fallbacks]\non_algorithm_fail = [\"notify_operator\"]\n"));
    world.behave("lamp", Manner::ReportsAlgorithm);
    world.run_for(100.0);
    assert!(world.works("lamp"), "the component itself works");
    world.kill("lamp");
    world.run_for(100.0);
    assert!(!world.works("lamp") && world.actions().contains(&"lamp given up".to_owned()), "{:#?}", world.story());
    world.behave("lamp", Manner::Good);
    world.run_for(3.0);
    assert!(world.works("lamp"));
}

#[test]
fn one_that_is_restarted_for_an_algorithm_is_not_used_because_it_names_something_outside_instead() {
    let mut world = World::started(&format!("{LAMP}[components.lamp.fallbacks]\non_algorithm_fail = [\"respawn\"]\n"));
    world.behave("lamp", Manner::ReportsAlgorithm);
    run_until(&mut world, "start lamp");
    world.behave("lamp", Manner::ReportsSystem);
    for _ in 0..300 {
        world.run_for(0.1);
        assert!(!world.works("lamp"), "{:#?}", world.story());
    }
}

#[test]
fn what_nothing_is_done_about_had_a_restart_for_an_algorithm_given_up_at_once() {
    let mut world = World::started(&format!("{LAMP}[components.lamp.fallbacks]\non_algorithm_fail = [\"respawn\"]\n"));
    world.behave("lamp", Manner::ReportsAlgorithm);
    run_until(&mut world, "start lamp");
    world.behave("lamp", Manner::ReportsSystem);
    world.run_for(START.as_secs_f64() + 0.5);
    assert!(!world.actions().contains(&"lamp given up".to_owned()), "{:#?}", world.story());
    world.behave("lamp", Manner::Good);
    world.run_for(5.0);
    assert!(world.works("lamp"), "{:#?}", world.story());
}

#[test]
fn a_standby_that_is_well_does_not_make_room_for_one_that_says_that_it_fails() {
    let mut world = replaced();
    world.behave("camera", Manner::ReportsAlgorithm);
    restart(&mut world, "camera");
    world.run_for(60.0);
    did(&world, &["start camera"]);
    assert!(world.works("camera"), "the spare one still does its work");
}

#[test]
fn an_error_of_diagnostics_while_an_algorithm_is_seen_to_goes_first() {
    for seconds in [3.0, 30.0] {
        let mut world =
            World::started(&format!("{LAMP}[components.lamp.fallbacks]\non_algorithm_fail = [\"notify_operator\"]\n"));
        world.behave("lamp", Manner::ReportsAlgorithm);
        world.run_for(seconds);
        assert!(world.works("lamp"), "the component itself works");
        world.effects.clear();
        diagnostic(&mut world, "lamp", DiagnosticLevel::Error);
        // A call may have got through until then.
        did(&world, &["pause lamp because of lamp"]);
        world.run_for(0.01);
        did(&world, &["pause lamp because of lamp", "stop lamp"]);
        world.behave("lamp", Manner::Good);
        world.run_for(3.0);
        assert!(world.works("lamp"), "after {seconds} s: {:#?}", world.story());
    }
}

#[test]
fn after_the_rest_the_failure_that_is_seen_now_is_seen_to() {
    let mut world = World::started(&format!(
        "{LAMP}[components.lamp.fallbacks]\non_component_fail = [\"reset\"]\non_any_fail = [\"notify_operator\"]\n\
         on_algorithm_fail = [\"dim\"]\ncooldown_s = 20\n\
         [actions.reset]\ncommand = {{ program = \"reset\" }}\n[actions.dim]\ncommand = {{ program = \"dim\" }}\n"
    ));
    world.behave("lamp", Manner::Hangs);
    run_until(&mut world, "lamp given up");
    world.behave("lamp", Manner::ReportsAlgorithm);
    world.effects.clear();
    world.run_for(20.0);
    did(&world, &["dim for lamp"]);
    assert!(!world.works("lamp"), "it has not come up since");
}

#[test]
fn an_error_of_diagnostics_that_is_followed_by_silence_is_no_recovery() {
    let mut world = World::new("[components.arm]\nstart = \"external\"\n");
    world.input(Input::Start);
    world.input(Input::NodeSeen { component: "arm".into(), present: true });
    world.run_for(2.0);
    diagnostic(&mut world, "arm", DiagnosticLevel::Error);
    world.effects.clear();
    world.run_for(2000.0);
    assert!(!world.works("arm") && !world.actions().contains(&"arm up".to_owned()), "{:#?}", world.story());
    diagnostic(&mut world, "arm", DiagnosticLevel::Ok);
    world.run_for(2.0);
    assert!(world.works("arm"));
}

#[test]
fn an_error_of_diagnostics_is_forgotten_with_the_process_that_it_was_about() {
    let mut world = World::started(LAMP);
    diagnostic(&mut world, "lamp", DiagnosticLevel::Error);
    world.run_for(3.0);
    did(&world, &["pause lamp because of lamp", "stop lamp", "start lamp", "lamp up", "release lamp"]);
}

#[test]
fn an_error_of_diagnostics_is_forgotten_with_the_node_that_something_else_has_started_anew() {
    let mut world = World::new("[components.arm]\nstart = \"external\"\n");
    world.input(Input::Start);
    let seen = |world: &mut World, present| world.input(Input::NodeSeen { component: "arm".into(), present });
    seen(&mut world, true);
    world.run_for(2.0);
    diagnostic(&mut world, "arm", DiagnosticLevel::Error);
    for (away, works) in [(1.0, false), (3.0, true)] {
        seen(&mut world, false);
        world.run_for(away);
        seen(&mut world, true);
        world.run_for(3.0);
        assert_eq!(world.works("arm"), works, "after {away} s out of sight");
    }
}

#[test]
fn a_node_that_stays_on_its_way_between_two_states_is_not_waited_for_without_end() {
    let mut world = World::started(MANAGED);
    state(&mut world, "nav", LifecycleState::Changing);
    world.run_for(20.0);
    assert!(world.actions().contains(&"stop nav".to_owned()), "{:#?}", world.story());
    assert!(world.works("nav"));
}

#[test]
fn a_node_at_its_end_is_started_anew_where_only_a_restart_is_named() {
    let mut world =
        World::started(&format!("{MANAGED}[components.nav.fallbacks]\non_component_fail = [\"restart\"]\n"));
    state(&mut world, "nav", LifecycleState::Finalized);
    world.run_for(5.0);
    did(
        &world,
        &[
            "pause nav because of nav",
            "stop nav",
            "start nav",
            "configure nav",
            "activate nav",
            "nav up",
            "release nav",
        ],
    );
}

/// An arm that something else has started, at work.
fn arm() -> World {
    let mut world = World::new(EXTERNAL);
    world.input(Input::Start);
    world.input(Input::NodeSeen { component: "arm".into(), present: true });
    state(&mut world, "arm", LifecycleState::Unconfigured);
    world.run_for(2.0);
    assert!(world.works("arm"), "{:#?}", world.story());
    world.effects.clear();
    world
}

#[test]
fn who_has_to_start_a_node_at_its_end_that_cortex_has_not_started_is_told() {
    let mut world = arm();
    state(&mut world, "arm", LifecycleState::Finalized);
    world.run_for(1.0);
    did(&world, &["pause arm because of arm", "arm given up", "tell of arm"]);
    let words = world.effects.iter().find_map(|(_, effect)| match effect {
        Effect::NotifyOperator { message, .. } => Some(message.as_str()),
        _ => None,
    });
    assert!(words.is_some_and(|words| words.contains("a person has to start it anew")), "{words:?}");
    // A person does, while the graph still shows the old one.
    world.effects.clear();
    state(&mut world, "arm", LifecycleState::Unconfigured);
    world.run_for(2.0);
    did(&world, &["configure arm", "activate arm", "arm up", "release arm"]);
}

#[test]
fn a_node_that_comes_after_it_was_given_up_is_not_left_unconfigured_for_the_rest() {
    let mut world = World::new(EXTERNAL);
    world.input(Input::Start);
    run_until(&mut world, "arm given up");
    world.effects.clear();
    world.input(Input::NodeSeen { component: "arm".into(), present: true });
    state(&mut world, "arm", LifecycleState::Unconfigured);
    world.run_for(2.0);
    did(&world, &["configure arm", "activate arm", "arm up"]);
}

#[test]
fn a_node_that_comes_again_and_again_and_never_works_is_taken_up_less_and_less_often() {
    let mut world = World::new(EXTERNAL);
    world.input(Input::Start);
    run_until(&mut world, "arm given up");
    world.behave("arm", Manner::RefusesTransitions);
    world.effects.clear();
    for _ in 0..300 {
        world.input(Input::NodeSeen { component: "arm".into(), present: true });
        state(&mut world, "arm", LifecycleState::Unconfigured);
        world.run_for(0.15);
        world.input(Input::NodeSeen { component: "arm".into(), present: false });
        world.run_for(0.05);
    }
    let tries = world.actions().iter().filter(|action| *action == "configure arm").count();
    assert!((2..=10).contains(&tries), "{tries} within a minute");
}

/// A camera whose standby has its place.
fn replaced() -> World {
    let mut world = World::started(CAMERA);
    world.behave("camera", Manner::CrashesAtStart);
    world.kill("camera");
    run_until(&mut world, "release camera");
    world.effects.clear();
    world
}

/// What is done when a standby gives the place back.
const GIVES_BACK: [&str; 5] =
    ["camera itself", "camera up", "pause spare because of spare", "stop spare", "spare down"];

/// The standby was put into quarantine in mid call, and the call was lost.
#[test]
fn regression_a_standby_lost_its_call_when_the_other_was_well_again() {
    let mut world = replaced();
    goals(&mut world, "spare", 1);
    world.behave("camera", Manner::Good);
    restart(&mut world, "camera");
    world.run_for(100.0);
    did(&world, &["start camera"]);
    assert!(world.works("camera") && world.works("spare"), "the standby serves");
    goals(&mut world, "spare", 0);
    world.run_for(0.1);
    did(&world, &["start camera"]);
    // The next step of the mission comes right after the last.
    goals(&mut world, "spare", 1);
    world.run_for(100.0);
    did(&world, &["start camera"]);
    goals(&mut world, "spare", 0);
    world.run_for(1.0);
    did(&world, &[&["start camera"][..], &GIVES_BACK].concat());
}

#[test]
fn a_standby_that_serves_gives_the_place_back_at_once_when_it_fails_itself() {
    let mut world = replaced();
    goals(&mut world, "spare", 1);
    world.behave("camera", Manner::Good);
    restart(&mut world, "camera");
    world.run_for(10.0);
    did(&world, &["start camera"]);
    world.kill("spare");
    assert_eq!(world.actions()[1..4], ["pause spare because of spare", "camera itself", "camera up"]);
    assert!(world.works("camera"));
}

#[test]
fn one_that_fails_again_before_it_has_its_place_back_is_seen_to_and_its_standby_serves_on() {
    let mut world = replaced();
    goals(&mut world, "spare", 1);
    world.behave("camera", Manner::Good);
    restart(&mut world, "camera");
    world.run_for(10.0);
    world.effects.clear();
    world.kill("camera");
    world.run_for(3.0);
    goals(&mut world, "spare", 0);
    world.run_for(60.0);
    did(&world, &[]);
    assert!(world.works("camera") && world.works("spare"), "its ladder is at its last rung, which is the standby");
    restart(&mut world, "camera");
    world.run_for(3.0);
    did(&world, &[&["start camera"][..], &GIVES_BACK].concat());
}

/// It had passed the gate when the place was given back.
#[test]
fn a_call_that_began_just_before_the_place_was_given_back_comes_to_its_end() {
    let mut world = replaced();
    world.behave("camera", Manner::Good);
    restart(&mut world, "camera");
    run_until(&mut world, "camera itself");
    let before = world.actions();
    goals(&mut world, "spare", 1);
    world.run_for(60.0);
    assert_eq!(world.actions(), before, "{:#?}", world.story());
    goals(&mut world, "spare", 0);
    world.run_for(1.0);
    did(&world, &[&["start camera"][..], &GIVES_BACK].concat());
}

#[test]
fn a_restart_that_is_wanted_waits_until_what_is_under_way_has_come_to_rest() {
    for rests in [true, false] {
        let mut world = World::started(LAMP);
        goals(&mut world, "lamp", 2);
        restart(&mut world, "lamp");
        world.run_for(2.0);
        did(&world, &["pause lamp because of lamp"]);
        if rests {
            goals(&mut world, "lamp", 0);
        } else {
            world.run_for(1.0);
        }
        did(&world, &["pause lamp because of lamp", "stop lamp"]);
    }
}

#[test]
fn a_call_that_began_just_before_the_quarantine_is_waited_for_too() {
    let mut world = World::started(LAMP);
    restart(&mut world, "lamp");
    // It passed the gate before the quarantine, and the monitor hears of it only now.
    goals(&mut world, "lamp", 1);
    world.run_for(1.0);
    did(&world, &["pause lamp because of lamp"]);
}

#[test]
fn a_standby_that_is_given_up_does_not_keep_the_place_for_the_rest() {
    let mut world = replaced();
    world.behave("camera", Manner::Good);
    world.behave("spare", Manner::CrashesAtStart);
    world.kill("spare");
    run_until(&mut world, "spare given up");
    world.run_for(2.0);
    assert!(world.works("camera"), "{:#?}", world.story());
}

#[test]
fn two_that_can_not_come_up_do_not_call_each_other_without_end() {
    let mut world = replaced();
    world.behave("spare", Manner::CrashesAtStart);
    world.kill("spare");
    world.run_for(500.0);
    let starts = |name: &str| world.actions().iter().filter(|action| **action == format!("start {name}")).count();
    assert!((1..=2).contains(&starts("camera")), "{:#?}", world.story());
    assert!((1..=10).contains(&starts("spare")), "{:#?}", world.story());
}

#[test]
fn one_that_is_replaced_is_tried_again_where_somebody_wants_that() {
    let mut world = replaced();
    world.behave("camera", Manner::Good);
    restart(&mut world, "camera");
    world.run_for(1.0);
    assert_eq!(world.actions()[..3], ["start camera", "camera itself", "camera up"]);
}

#[test]
fn a_standby_that_ended_late_is_not_named_as_one_that_did_not_end() {
    let mut world = replaced();
    world.behave("spare", Manner::NeverEnds);
    world.behave("camera", Manner::Good);
    restart(&mut world, "camera");
    run_until(&mut world, "spare down");
    world.kill("spare");
    world.input(Input::ShutDown);
    world.run_for(20.0);
    assert_eq!(world.actions().last().map(String::as_str), Some("finished []"));
}

#[test]
fn a_component_that_works_on_is_not_taken_up_because_the_graph_lost_sight_of_it() {
    let mut world =
        World::new(&format!("{EXTERNAL}[components.arm.fallbacks]\non_algorithm_fail = [\"notify_operator\"]\n"));
    world.input(Input::Start);
    let speak = |world: &mut World, failure, times| {
        for _ in 0..times {
            let (component, message) = ("arm".into(), "no grasp".to_owned());
            world.input(Input::StatusHeard { component, failure, message });
            world.run_for(0.5);
        }
    };
    state(&mut world, "arm", LifecycleState::Active);
    speak(&mut world, None, 4);
    speak(&mut world, Some(FailureKind::Algorithm), 30);
    assert!(world.works("arm") && world.actions().contains(&"arm given up".to_owned()), "{:#?}", world.story());
    world.effects.clear();
    world.input(Input::NodeSeen { component: "arm".into(), present: false });
    world.run_for(0.3);
    world.input(Input::NodeSeen { component: "arm".into(), present: true });
    state(&mut world, "arm", LifecycleState::Active);
    speak(&mut world, Some(FailureKind::Algorithm), 10);
    did(&world, &[]);
    assert!(world.works("arm"));
}
