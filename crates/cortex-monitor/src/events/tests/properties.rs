//! What holds of events whatever the robot, the network and the people do.

use std::collections::BTreeMap;
use std::time::Duration;

use cortex_core::condition::Verdict;
use cortex_recipe::{Event, EventName, Recipe};
use proptest::prelude::*;

use crate::events::{EventEffect, EventInput, Events, MAX_ACTIONS, WINDOW};

const NAMES: [&str; 6] = ["a", "b", "c", "d", "e", "f"];

/// Up to six events of all kinds.
fn recipe() -> impl Strategy<Value = BTreeMap<EventName, Event>> {
    let kind = prop::sample::select(vec![
        "",
        "for_s = 2",
        "silent_s = 3",
        "silent_s = 1\nfor_s = 1",
        "once = true",
        "until = { topic = \"/y\" }",
        "again_s = 4\nfor_s = 1",
    ]);
    let bound = prop::sample::select(vec!["", "at_most = 1\nevery_s = 7", "at_most = 3\nevery_s = 2", "at_most = 500"]);
    let actions = (1..=16_usize, 0..=16_usize, any::<bool>());
    prop::collection::vec((kind, bound, actions), 1..=NAMES.len()).prop_map(|events| {
        let mut text = "recipe = 1\n".to_owned();
        for ((kind, bound, (actions, on_failure, is_task)), name) in events.into_iter().zip(NAMES) {
            let action = if is_task { "{ task = \"x\" }, " } else { "{ tell = \"x\" }, " };
            text += &format!(
                "[events.{name}]\nwhen = {{ topic = \"/x\" }}\n{kind}\n{bound}\ndo = [{}]\non_failure = [{}]\n",
                action.repeat(actions),
                action.repeat(on_failure)
            );
        }
        let recipe = Recipe::read(&text).unwrap_or_else(|problems| panic!("{text}\n{}", problems.show("recipe")));
        recipe.events
    })
}

fn input() -> impl Strategy<Value = EventInput> {
    let name = || prop::sample::select(vec!["a", "b", "c", "d", "e", "f", "nobody"]).prop_map(EventName::new);
    let verdict = || prop::sample::select(vec![Verdict::Holds, Verdict::Broken, Verdict::Unknown]);
    prop_oneof![
        12 => (name(), verdict(), verdict()).prop_map(|(event, when, until)| EventInput::Seen { event, when, until }),
        8 => name().prop_map(|event| EventInput::Ended { event }),
        1 => Just(EventInput::Stopped),
        2 => Just(EventInput::Resumed),
        2 => Just(EventInput::Tick),
    ]
}

/// What is known from outside of one event.
#[derive(Default)]
struct Known {
    /// Since when it holds as the recipe means it.
    since: Option<Duration>,
    /// Whether anything was heard of it.
    heard: bool,
    going_on: bool,
    times: Vec<Duration>,
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn events_keep_to_their_bounds(
        recipe in recipe(),
        inputs in prop::collection::vec((0..4_000_u64, input()), 1..300),
    ) {
        let mut events = Events::new(&recipe);
        let mut known: BTreeMap<EventName, Known> = recipe.keys().map(|name| (name.clone(), Known::default())).collect();
        let mut actions: Vec<(Duration, usize)> = Vec::new();
        let mut stopped = false;
        let mut now = Duration::ZERO;
        let mut coming = inputs.into_iter();
        let mut next = coming.next().map(|(pause, input)| (now + Duration::from_millis(pause), input));
        while let Some((at, input)) = next.clone() {
            let (at, input) = match events.next_wake().filter(|wake| *wake <= at) {
                Some(wake) => {
                    prop_assert!(wake > now, "it does not spin");
                    (wake, EventInput::Tick)
                }
                None => {
                    next = coming.next().map(|(pause, input)| (at + Duration::from_millis(pause), input));
                    (at, input)
                }
            };
            now = at;
            let kept: Events = serde_json::from_str(&serde_json::to_string(&events).unwrap()).unwrap();
            let effects = events.handle(now, input.clone());
            prop_assert_eq!(kept.clone().handle(now, input.clone()), effects.clone(), "the same from what was kept");
            match &input {
                EventInput::Seen { event, when, .. } => {
                    if let (Some(known), Some(recipe)) = (known.get_mut(event), recipe.get(event)) {
                        let wanted = if recipe.silent_s.is_some() { Verdict::Unknown } else { Verdict::Holds };
                        known.heard |= *when != Verdict::Unknown;
                        known.since = (*when == wanted).then(|| known.since.unwrap_or(now));
                    }
                }
                EventInput::Ended { event } => {
                    if let Some(known) = known.get_mut(event) {
                        known.going_on = false;
                    }
                }
                EventInput::Stopped => stopped = true,
                EventInput::Resumed => stopped = false,
                EventInput::Tick => {}
            }
            for effect in effects {
                let EventEffect::Do { event } = effect else { continue };
                let (known, recipe) = (known.get_mut(&event).unwrap(), &recipe[&event]);
                prop_assert!(!stopped, "nothing happens while the robot is stopped");
                prop_assert!(!known.going_on, "it does not happen on top of itself");
                let since = known.since;
                prop_assert!(since.is_some(), "only what is known to hold happens, or what is silent");
                let mut held = recipe.for_s.map(|held| held.duration()).unwrap_or_default();
                if !known.heard {
                    held += recipe.silent_s.map(|silent| silent.duration()).unwrap_or_default();
                }
                prop_assert!(since.unwrap_or_default() + held <= now, "it held long enough");
                prop_assert!(!recipe.once || known.times.is_empty(), "once is once");
                let most = usize::try_from(recipe.at_most).unwrap();
                let lately = known.times.iter().filter(|time| **time + recipe.every_s.duration() > now).count();
                prop_assert!(lately < most, "not more often than it may");
                known.times.push(now);
                known.going_on = true;
                actions.push((now, recipe.actions.len() + recipe.on_failure.len()));
                let all: usize =
                    actions.iter().filter(|(time, _)| *time + WINDOW > now).map(|(_, count)| count).sum();
                prop_assert!(all <= MAX_ACTIONS, "not more of all events together than may be");
            }
        }
    }
}
