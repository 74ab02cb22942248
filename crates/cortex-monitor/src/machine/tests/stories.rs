use std::time::Duration;

use cortex_recipe::ActionName;

use super::world::{Manner, START, World, at};
use crate::FailureKind;
use crate::flap_damping::HOLD;
use crate::machine::{Effect, Input, MonitorEvent};
use crate::restart_rate_limiter::BURST;

/// A driver, what stands on it, and a lamp that stands alone.
const ROBOT: &str = r#"
[components.driver]
start = { program = "driver" }
heartbeat_s = 1
[components.base]
start = { program = "base" }
depends_on = ["driver"]
heartbeat_s = 1
[components.lamp]
start = { program = "lamp" }
heartbeat_s = 1
"#;

fn robot(lines: &str) -> World {
    World::started(&format!("{ROBOT}{lines}"))
}

#[test]
fn what_others_depend_on_comes_up_first() {
    let mut world = World::new(ROBOT);
    world.input(Input::Start);
    world.run_for(10.0);
    assert_eq!(
        world.story(),
        [
            "0.0 base waits for driver",
            "0.0 start driver",
            "0.0 start lamp",
            "0.8 driver up",
            "0.8 lamp up",
            "0.8 start base",
            "1.6 base up",
        ]
    );
    assert!(world.all_work());
}

#[test]
fn a_killed_process_is_back_as_soon_as_it_starts() {
    let mut world = robot("");
    let killed = world.now;
    world.kill("lamp");
    world.run_for(5.0);
    assert_eq!(world.actions(), ["pause lamp because of lamp", "start lamp", "lamp up", "release lamp"]);
    let back = world.effects.last().unwrap().0;
    assert!(back - killed <= START + HOLD + Duration::from_millis(10), "{:?}", back - killed);
}

#[test]
fn one_that_works_is_restarted_where_somebody_wants_that() {
    let mut world = robot("");
    world.input(Input::Restart { component: "lamp".into(), action: ActionName::new("respawn") });
    world.run_for(5.0);
    assert_eq!(world.actions(), ["pause lamp because of lamp", "stop lamp", "start lamp", "lamp up", "release lamp"]);
    world.run_for(100.0);
    assert!(world.all_work(), "it is done once");
    assert_eq!(world.actions().iter().filter(|action| action.as_str() == "stop lamp").count(), 1);
}

#[test]
fn only_what_depends_on_the_lost_one_pauses_and_comes_back() {
    let mut world = robot("");
    world.kill("driver");
    assert!(world.works("lamp") && !world.works("base") && !world.works("driver"));
    world.run_for(5.0);
    assert!(world.all_work());
    assert_eq!(
        world.actions(),
        [
            "pause driver because of driver",
            "pause base because of driver",
            "start driver",
            "driver up",
            "release driver",
            "release base",
        ]
    );
}

#[test]
fn a_hang_is_seen_by_its_silence_and_the_process_started_anew() {
    let mut world = robot("");
    world.behave("lamp", Manner::Hangs);
    world.run_for(5.0);
    world.behave("lamp", Manner::Good);
    assert_eq!(world.actions(), ["pause lamp because of lamp", "stop lamp"]);
    world.run_for(10.0);
    assert_eq!(world.actions()[2..], ["start lamp", "lamp up", "release lamp"]);
}

/// SIGTERM came 10 to 18 ms after the quarantine, and what was in flight could not confirm that it was halted.
#[test]
fn regression_what_is_in_flight_at_a_component_that_fails_is_halted_before_its_process_is_touched() {
    let goals = |goals| Input::GoalsChanged { component: "lamp".into(), goals };
    let begun = |lines: &str| {
        let mut world = World::started(lines);
        world.input(goals(1));
        world.behave("lamp", Manner::Hangs);
        world.run_for(4.0);
        assert_eq!(world.actions().first().map(String::as_str), Some("pause lamp because of lamp"));
        world
    };
    let lamp = "[components.lamp]\nstart = { program = \"lamp\" }\nheartbeat_s = 1\nstop_timeout_s = 3\n";
    let mut world = begun(lamp);
    assert_eq!(world.actions().len(), 1, "it is not told to end yet: {:#?}", world.story());
    world.input(goals(0));
    assert_eq!(world.actions()[1], "stop lamp", "as soon as it is at rest");
    // What never comes to rest is not waited for any longer.
    let mut world = begun(lamp);
    world.run_for(6.1);
    assert_eq!(world.actions()[1], "stop lamp");
    // The recipe says otherwise; and one that is dead is not halted.
    let ladder = "[components.lamp.fallbacks]\non_any_fail = [{ do = \"respawn\", halt_first = false }]\n";
    assert_eq!(begun(&format!("{lamp}{ladder}")).actions()[1], "stop lamp");
    let mut world = World::started(lamp);
    world.input(goals(1));
    world.kill("lamp");
    assert_eq!(world.actions(), ["pause lamp because of lamp", "start lamp"]);
}

/// The robot waited for its end for ever, and the component counted as healthy.
#[test]
fn regression_a_call_that_hangs_is_a_failure_of_its_component_until_its_process_is_another() {
    let mut world =
        World::started("[components.lamp]\nstart = { program = \"lamp\" }\nheartbeat_s = 1\nstop_timeout_s = 3\n");
    let hung =
        |because: Option<&str>| Input::CallHung { component: "lamp".into(), because: because.map(str::to_owned) };
    world.input(hung(Some("lamp.blink did not end within 2 s")));
    assert!(!world.works("lamp"));
    world.run_for(60.0);
    assert_eq!(
        world.actions(),
        ["pause lamp because of lamp", "stop lamp", "start lamp", "lamp up", "release lamp"],
        "{:#?}",
        world.story()
    );
    assert_eq!(world.attempts(), [1], "the new process is not judged by the call of the one before");
    // One that came to its end after all is no failure any more.
    let mut world = World::new(
        "[components.lamp]\nstart = \"external\"\n[components.lamp.fallbacks]\non_any_fail = [\"notify_operator\"]\n",
    );
    world.input(Input::Start);
    world.input(Input::NodeSeen { component: "lamp".into(), present: true });
    world.run_for(2.0);
    assert!(world.works("lamp"), "{:#?}", world.story());
    world.input(hung(Some("lamp.blink did not end within 2 s")));
    world.run_for(1.0);
    assert!(!world.works("lamp"));
    world.input(hung(None));
    world.run_for(2.0);
    assert!(world.works("lamp"), "{:#?}", world.story());
}

#[test]
fn a_managed_one_that_hangs_is_not_asked_for_transitions_that_it_would_not_answer() {
    let mut world = World::started(
        "[components.arm]\nstart = { program = \"arm\" }\nlifecycle = \"managed\"\nheartbeat_s = 1\n\
         stop_timeout_s = 2\n",
    );
    world.behave("arm", Manner::Hangs);
    world.run_for(4.0);
    assert_eq!(world.actions(), ["pause arm because of arm", "stop arm"], "its process is ended at once");
    world.behave("arm", Manner::Good);
    world.run_for(10.0);
    assert_eq!(world.actions()[2..], ["start arm", "configure arm", "activate arm", "arm up", "release arm"]);
    world.behave("arm", Manner::Hangs);
    world.run_for(3.6);
    world.effects.clear();
    world.input(Input::ShutDown);
    world.run_for(5.0);
    assert!(!world.actions().iter().any(|action| action == "deactivate arm"), "{:?}", world.actions());
    assert_eq!(world.actions().last().unwrap(), "finished []");
}

#[test]
fn nobody_asks_a_process_that_is_gone_for_its_own_fallback() {
    let mut world = World::started(
        "[components.arm]\nstart = { program = \"arm\" }\nheartbeat_s = 1\n\
         [components.arm.fallbacks]\non_component_fail = [{ do = \"rest\", retries = 2 }, { do = \"respawn\", retries = 3 }]\n\
         [actions.rest]\nmethod = { component = \"arm\", name = \"rest\" }\n",
    );
    let killed = world.now;
    world.kill("arm");
    world.run_for(5.0);
    assert_eq!(world.actions(), ["pause arm because of arm", "start arm", "arm up", "release arm"]);
    let back = world.effects.last().unwrap().0 - killed;
    assert!(back <= START + HOLD + Duration::from_millis(10), "without a wait: {back:?}");
    world.behave("arm", Manner::Hangs);
    world.effects.clear();
    world.run_for(7.0);
    assert_eq!(world.actions(), ["pause arm because of arm", "stop arm"], "what was passed over counts as tried");
}

#[test]
fn heartbeats_that_come_late_on_a_slow_network_bring_nothing_down() {
    let mut world = robot("");
    for _ in 0..100 {
        world.behave("driver", Manner::Hangs);
        world.run_for(2.0);
        world.behave("driver", Manner::Good);
        world.run_for(1.0);
    }
    assert_eq!(world.actions(), Vec::<String>::new());
    let told = |(_, effect): &&(Duration, Effect)| {
        matches!(effect, Effect::Report { event: MonitorEvent::HealthChanged { .. } })
    };
    assert!(world.effects.iter().filter(told).count() > 50, "it is told, though");
}

#[test]
fn crashes_long_apart_are_forgiven_for_years() {
    let mut world = robot("");
    for _ in 0..40 {
        world.kill("lamp");
        world.run_for(300.0);
        assert!(world.works("lamp"));
    }
    assert!(!world.actions().iter().any(|action| action.contains("given up")), "never given up");
}

#[test]
fn what_crashes_at_every_start_is_given_up_told_and_tried_again_after_a_rest() {
    let mut world = robot("[components.lamp.fallbacks]\ncooldown_s = 100\n");
    world.behave("lamp", Manner::CrashesAtStart);
    world.kill("lamp");
    world.run_for(50.0);
    let starts = world.actions().iter().filter(|action| *action == "start lamp").count();
    assert_eq!(starts, 4, "one attempt and three more");
    assert_eq!(world.actions().last().unwrap(), "tell of lamp");
    assert!(world.works("base"), "the rest goes on");
    world.behave("lamp", Manner::Good);
    world.run_for(100.0);
    assert!(world.works("lamp"), "it is never given up for good");
}

#[test]
fn what_was_given_up_while_the_robot_is_stopped_is_tried_again_after_the_resume() {
    let mut world = robot("");
    world.stop();
    world.behave("lamp", Manner::CrashesAtStart);
    world.kill("lamp");
    world.run_for(50.0);
    assert!(world.actions().contains(&"lamp given up".to_owned()), "processes are started all the same");
    world.behave("lamp", Manner::Good);
    world.resume();
    world.run_for(2.0);
    assert!(world.works("lamp"));
}

#[test]
fn what_was_given_up_before_the_stop_goes_on_resting_after_it() {
    let mut world = robot("");
    world.behave("lamp", Manner::CrashesAtStart);
    world.kill("lamp");
    world.run_for(50.0);
    world.effects.clear();
    world.stop();
    world.resume();
    world.run_for(2.0);
    assert_eq!(world.actions(), Vec::<String>::new());
}

/// A lamp that is reset once before it is respawned.
const LADDER: &str = "[components.lamp.fallbacks]\non_algorithm_fail = [\"reset\", \"respawn\"]\n\
                      [actions.reset]\ncommand = { program = \"reset\" }\n";

#[test]
fn a_rung_that_a_stop_refuses_is_not_used_up_and_is_tried_after_the_resume() {
    let mut world = robot(LADDER);
    world.stop();
    world.behave("lamp", Manner::ReportsAlgorithm);
    world.run_for(100.0);
    assert_eq!(world.actions(), ["reset for lamp", "lamp waits for the resume: reset"], "once, and nothing after it");
    assert!(world.works("lamp"), "the component itself works meanwhile");
    world.effects.clear();
    world.resume();
    world.run_for(1.0);
    assert_eq!(world.actions(), ["reset for lamp"], "the same rung, not the next");
    world.behave("lamp", Manner::Good);
    world.run_for(20.0);
    assert_eq!(world.attempts(), [1]);
}

#[test]
fn who_gets_well_while_the_robot_is_stopped_works_again_without_its_rung() {
    let mut world = robot(LADDER);
    world.stop();
    world.behave("lamp", Manner::ReportsAlgorithm);
    world.run_for(5.0);
    world.behave("lamp", Manner::Good);
    world.run_for(5.0);
    assert_eq!(world.actions().last().unwrap(), "lamp up");
}

#[test]
fn a_refusal_that_is_told_after_the_resume_is_no_attempt_either() {
    let mut world = robot(LADDER);
    world.stopped = true;
    world.behave("lamp", Manner::ReportsAlgorithm);
    world.run_for(0.6);
    world.stopped = false;
    world.run_for(3.0);
    assert_eq!(world.actions(), ["reset for lamp", "reset for lamp"]);
    assert_eq!(world.attempts(), [1, 1]);
}

#[test]
fn restarts_that_are_wanted_use_up_no_rung() {
    let mut world = robot("[components.lamp.fallbacks]\non_component_fail = [{ do = \"respawn\", retries = 1 }]\n");
    for _ in 0..3 {
        world.input(Input::Restart { component: "lamp".into(), action: ActionName::new("respawn") });
        world.run_for(2.0);
        assert!(world.works("lamp"), "each time it is trusted as soon");
    }
    world.effects.clear();
    world.kill("lamp");
    world.run_for(5.0);
    assert_eq!(world.actions(), ["pause lamp because of lamp", "start lamp", "lamp up", "release lamp"]);
}

#[test]
fn an_action_that_returns_is_no_success_as_long_as_the_health_is_bad() {
    let mut world = robot(
        "[components.lamp.fallbacks]\non_algorithm_fail = [{ do = \"reset\", retries = 1, within_s = 3 }, \"respawn\"]\n\
         [actions.reset]\ncommand = { program = \"reset\" }\n",
    );
    world.behave("lamp", Manner::ReportsAlgorithm);
    world.run_for(6.0);
    assert_eq!(world.actions(), ["reset for lamp", "reset for lamp"]);
    assert!(world.works("lamp"), "the component itself works while an algorithm is seen to");
    world.run_for(2.1);
    assert_eq!(world.actions()[2..4], ["pause lamp because of lamp", "stop lamp"]);
    world.behave("lamp", Manner::Good);
    world.run_for(5.0);
    assert!(world.works("lamp"));
}

#[test]
fn an_action_that_fails_makes_way_for_the_next_at_once() {
    let mut world = robot(
        "[components.lamp.fallbacks]\non_algorithm_fail = [\"reset\", \"notify_operator\"]\n\
         [actions.reset]\ncommand = { program = \"reset\" }\n",
    );
    world.actions_fail = true;
    world.behave("lamp", Manner::ReportsAlgorithm);
    world.run_for(3.0);
    assert_eq!(world.actions(), ["reset for lamp", "tell of lamp"]);
}

#[test]
fn who_says_that_the_fault_is_with_a_part_that_is_down_waits_for_it() {
    let mut world = robot("[components.base.fallbacks]\non_system_fail = [\"respawn\"]\n");
    world.behave("driver", Manner::CrashesAtStart);
    world.behave("base", Manner::ReportsSystem);
    world.kill("driver");
    world.run_for(20.0);
    assert!(!world.actions().iter().any(|action| action == "stop base"), "{:?}", world.actions());
}

#[test]
fn missions_pause_while_the_recipe_says_so() {
    let mut world = robot("[components.lamp.fallbacks]\non_component_fail = [\"pause_missions\", \"respawn\"]\n");
    world.kill("lamp");
    world.run_for(20.0);
    assert_eq!(
        world.actions(),
        [
            "pause lamp because of lamp",
            "pause missions because of lamp",
            "start lamp",
            "lamp up",
            "release lamp",
            "resume missions",
        ]
    );
}

#[test]
fn a_standby_takes_the_place_and_gives_it_back() {
    let mut world = World::started(
        "[components.camera]\nstart = { program = \"a\" }\nstandby = \"spare\"\nheartbeat_s = 1\n\
         [components.camera.fallbacks]\non_component_fail = [\"respawn\", \"standby\"]\ncooldown_s = 60\n\
         [components.spare]\nstart = { program = \"b\" }\n\
         [components.eyes]\nstart = { program = \"c\" }\ndepends_on = [\"camera\"]\n",
    );
    assert!(!world.actions().contains(&"start spare".to_owned()), "not before it is needed");
    world.behave("camera", Manner::CrashesAtStart);
    world.kill("camera");
    world.run_for(10.0);
    assert_eq!(
        world.actions(),
        [
            "pause camera because of camera",
            "pause eyes because of camera",
            "start camera",
            "start spare",
            "spare up",
            "spare for camera",
            "release camera",
            "release eyes",
        ]
    );
    assert!(world.works("eyes"));
    world.behave("camera", Manner::Good);
    world.effects.clear();
    world.run_for(60.0);
    assert_eq!(
        world.actions(),
        ["start camera", "camera itself", "camera up", "pause spare because of spare", "stop spare", "spare down"],
        "what depends on it was never paused meanwhile"
    );
}

#[test]
fn everything_dies_at_once_and_all_comes_back_in_bounds() {
    let names: Vec<String> = (0..100).map(|number| format!("c{number:02}")).collect();
    let recipe: String = names
        .iter()
        .map(|name| format!("[components.{name}]\nstart = {{ program = \"x\" }}\nheartbeat_s = 1\n"))
        .collect();
    let mut world = World::started(&recipe);
    assert!(world.all_work());
    for name in &names {
        world.kill(name);
    }
    world.run_for(0.1);
    let starts = world.actions().iter().filter(|action| action.starts_with("start")).count();
    assert_eq!(starts, BURST as usize);
    world.run_for(60.0);
    assert!(world.all_work());
    let told = |word: &str| world.actions().iter().filter(|action| *action == word).count();
    assert_eq!((told("storm"), told("calm")), (1, 1), "told once");
}

const MANAGED: &str = "[components.nav]\nstart = { program = \"nav\" }\nlifecycle = \"managed\"\n\
                       transition_timeout_s = 2\nheartbeat_s = 1\n";

#[test]
fn a_managed_node_is_configured_and_activated_and_restarted_through_its_lifecycle() {
    let mut world = World::new(MANAGED);
    world.input(Input::Start);
    world.run_for(5.0);
    assert_eq!(world.actions(), ["start nav", "configure nav", "activate nav", "nav up"]);
    world.effects.clear();
    world.behave("nav", Manner::Hangs);
    world.run_for(6.0);
    world.behave("nav", Manner::Good);
    world.run_for(10.0);
    assert_eq!(
        world.actions(),
        ["pause nav because of nav", "stop nav", "start nav", "configure nav", "activate nav", "nav up", "release nav",],
        "one that is silent is not asked to deactivate"
    );
}

#[test]
fn someone_deactivates_a_node_and_it_is_brought_up_again_in_its_process() {
    let mut world = World::started(MANAGED);
    world.input(Input::LifecycleSeen { component: "nav".into(), state: crate::LifecycleState::Inactive });
    world.run_for(5.0);
    assert_eq!(
        world.actions(),
        ["pause nav because of nav", "clean up nav", "configure nav", "activate nav", "nav up", "release nav"]
    );
}

#[test]
fn a_refused_transition_is_told_and_tried_anew() {
    let mut world = World::new(MANAGED);
    world.behave("nav", Manner::RefusesTransitions);
    world.input(Input::Start);
    world.run_for(2.0);
    let reasons: Vec<&str> = world
        .effects
        .iter()
        .filter_map(|(_, effect)| match effect {
            Effect::Report { event: MonitorEvent::AttemptFailed { reason, .. } } => Some(reason.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(reasons[0], "it could not configure: no");
    world.behave("nav", Manner::Good);
    world.run_for(20.0);
    assert!(world.works("nav"));
}

#[test]
fn the_robot_goes_down_in_reverse_order_and_who_does_not_is_named() {
    let mut world = robot("");
    world.behave("base", Manner::NeverEnds);
    world.input(Input::ShutDown);
    world.run_for(0.5);
    assert_eq!(world.actions(), ["stop base", "stop lamp", "lamp down"], "the driver waits for what stands on it");
    world.run_for(20.0);
    assert_eq!(world.actions()[3..], ["base down", "stop driver", "driver down", "finished [ComponentName(\"base\")]"]);
    assert!(world.monitor.is_finished());
    world.effects.clear();
    world.input(Input::Start);
    world.run_for(100.0);
    assert_eq!(world.effects, []);
}

#[test]
fn a_managed_node_is_deactivated_before_its_process_ends() {
    let mut world = World::started(MANAGED);
    world.input(Input::ShutDown);
    world.run_for(5.0);
    assert_eq!(world.actions(), ["deactivate nav", "stop nav", "nav down", "finished []"]);
}

#[test]
fn a_robot_that_is_on_its_way_up_can_be_brought_down() {
    for tenths in 0..30 {
        let mut world = World::new(&format!("{ROBOT}{MANAGED}"));
        world.input(Input::Start);
        world.run_for(f64::from(tenths) / 10.0);
        world.input(Input::ShutDown);
        world.run_for(30.0);
        assert_eq!(world.actions().last().unwrap(), "finished []", "after {tenths} tenths");
    }
}

#[test]
fn a_laptop_that_was_closed_finds_everything_well() {
    let mut world = robot("");
    world.now += at(3600.0);
    world.input(Input::Tick);
    world.run_for(10.0);
    assert_eq!(world.actions(), Vec::<String>::new());
    assert!(world.all_work());
}

#[test]
fn what_something_else_starts_is_waited_for_and_taken_as_it_comes() {
    let mut world = World::new("[components.arm]\nstart = \"external\"\n");
    world.input(Input::Start);
    world.run_for(30.0);
    assert!(world.actions().contains(&"tell of arm".to_owned()), "{:?}", world.actions());
    world.input(Input::NodeSeen { component: "arm".into(), present: true });
    world.run_for(1.0);
    assert!(world.works("arm"), "although it was given up");
}

#[test]
fn a_node_that_speaks_is_there_although_the_graph_does_not_show_it_anew() {
    // A killed node stays on the graph for a while, so that the one that follows it is no change there.
    let mut world = World::new("[components.arm]\nstart = \"external\"\nheartbeat_s = 1\n");
    world.input(Input::Start);
    for _ in 0..3 {
        world.input(Input::StatusHeard { component: "arm".into(), failure: None, message: String::new() });
        world.run_for(0.5);
    }
    assert!(world.works("arm"));
}

#[test]
fn one_that_comes_and_goes_many_times_a_second_is_told_of_once() {
    // Whether something is done about it or not.
    for kind in [FailureKind::Component, FailureKind::Algorithm] {
        let mut world =
            robot("[components.lamp.fallbacks]\non_component_fail = [{ do = \"notify_operator\", within_s = 60 }]\n");
        for turn in 0..50 {
            let failure = (turn % 2 == 0).then_some(kind);
            let message = "a loose contact".to_owned();
            world.input(Input::StatusHeard { component: "lamp".into(), failure, message });
            world.run_for(0.1);
        }
        let told: Vec<String> = world
            .effects
            .iter()
            .filter_map(|(_, effect)| match effect {
                Effect::Report { event: event @ MonitorEvent::HealthChanged { .. } } => Some(event.to_string()),
                _ => None,
            })
            .collect();
        assert_eq!(told, ["lamp fails: a loose contact"]);
    }
}
