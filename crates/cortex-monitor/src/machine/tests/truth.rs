//! What the monitor says of a component is what is so now.

use super::world::{Manner, World, at};
use crate::machine::{Effect, Input, MonitorEvent};

const LAMP: &str = "[components.lamp]\nstart = { program = \"lamp\" }\nheartbeat_s = 1\n";

/// The symptoms that were told last.
fn told(world: &World) -> Vec<String> {
    let told = world.effects.iter().rev().find_map(|(_, effect)| match effect {
        Effect::Report {
            event: MonitorEvent::HealthChanged { symptoms, .. } | MonitorEvent::SymptomsChanged { symptoms, .. },
        } => Some(symptoms),
        _ => None,
    });
    told.into_iter().flatten().map(|symptom| symptom.message.clone()).collect()
}

/// "perhaps because there was no memory left" stood beside every failure that came after a kill, since both were a failure
/// of the component.
#[test]
fn regression_an_old_cause_was_shown_for_a_later_failure() {
    let mut world = World::started(LAMP);
    world.behave("lamp", Manner::Hangs);
    world.kill("lamp");
    world.run_for(0.1);
    assert!(told(&world)[0].contains("killed (signal 9)"), "{:?}", told(&world));
    // It is respawned, its node comes, and it says nothing.
    world.run_for(8.0);
    assert_eq!(told(&world), ["no heartbeat for more than 3.5 s"], "{:#?}", world.story());
}

/// A component that reports a reason a hundred times a second would have filled the log and every screen.
#[test]
fn other_reasons_of_one_failure_are_told_once_a_second_and_the_last_one_in_the_end() {
    let mut world = World::started("[components.lamp]\nstart = { program = \"lamp\" }\n");
    for number in 0..100 {
        let (name, message) = ("lamp: bulb".to_owned(), format!("{number} degrees"));
        let level = crate::health::DiagnosticLevel::Error;
        world.input(Input::DiagnosticHeard { component: "lamp".into(), name, level, message });
        world.run_for(0.01);
    }
    world.run_for(2.0);
    let changes = world
        .effects
        .iter()
        .filter(|(_, effect)| matches!(effect, Effect::Report { event: MonitorEvent::SymptomsChanged { .. } }));
    assert!((1..=3).contains(&changes.count()), "{:#?}", world.effects);
    assert_eq!(told(&world), ["lamp: bulb: 99 degrees"]);
}

/// A silence that began with the node before was told of the one that had just come.
#[test]
fn regression_a_node_that_something_else_started_anew_was_told_the_silence_of_the_one_before() {
    let mut world = World::started("[components.arm]\nstart = \"external\"\nheartbeat_s = 1\n");
    let seen = |present| Input::NodeSeen { component: "arm".into(), present };
    let heard = || Input::StatusHeard { component: "arm".into(), failure: None, message: String::new() };
    world.input(seen(true));
    world.input(heard());
    world.run_for(1.0);
    world.input(heard());
    world.input(seen(false));
    world.run_for(30.0);
    world.input(seen(true));
    let came = world.now;
    world.run_for(1.0);
    let silent = |world: &World| told(world).iter().any(|told| told.contains("no heartbeat"));
    assert!(!silent(&world), "it has been there for {:?}: {:?}", world.now - came, told(&world));
    world.run_for(3.0);
    assert!(silent(&world), "{:?}", told(&world));
}

/// The screen counted attempts since the component came up last, the log those that were not forgiven: "0" beside
/// "attempt 4".
#[test]
fn regression_attempts_are_counted_in_one_place_and_each_that_is_forgiven_is_told() {
    let mut world = World::started(&format!("{LAMP}[components.lamp.fallbacks]\nfailure_decay_s = 20\n"));
    world.kill("lamp");
    world.run_for(5.0);
    world.kill("lamp");
    world.run_for(5.0);
    assert!(world.works("lamp"), "{:#?}", world.story());
    assert_eq!(world.attempts(), [1, 2]);
    world.run_for(50.0);
    let forgiven: Vec<u32> = world
        .effects
        .iter()
        .filter_map(|(_, effect)| match effect {
            Effect::Report { event: MonitorEvent::AttemptsForgiven { left, .. } } => Some(*left),
            _ => None,
        })
        .collect();
    assert_eq!(forgiven, [1, 0]);
    assert!(world.now > at(40.0));
}
