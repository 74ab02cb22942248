//! What holds whatever the components, the network and the people do.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use cortex_protocol::ComponentName;
use cortex_recipe::{ActionName, Recipe};
use proptest::prelude::*;

use super::world::{Manner, World};
use crate::health::{DiagnosticLevel, Ending, FailureKind, LifecycleState};
use crate::machine::{ActionResult, AttemptId, Effect, Input, Monitor, MonitorEvent, ProcessNumber};
use crate::restart_rate_limiter::{BURST, REFILL};

const NAMES: [&str; 5] = ["a", "b", "c", "d", "e"];

/// Recipes with up to five components, each depending on earlier ones only, and perhaps a standby for the first.
fn recipe() -> impl Strategy<Value = String> {
    let component = (any::<u8>(), prop::sample::select(vec!["own", "external", "managed", "beating", "stuck"]));
    let ladder = prop::sample::select(vec![
        "",
        "on_component_fail = []\n",
        "on_any_fail = [\"notify_operator\", \"reset\"]\non_giveup = [\"reset\", \"pause_missions\"]\n",
        "on_algorithm_fail = [{ do = \"reset\", retries = 2, within_s = 5 }]\ncooldown_s = 30\n",
        "on_any_fail = [\"pause_missions\", { do = \"reset\", retries = 3 }]\nfailure_decay_s = 5\ncooldown_s = 20\n",
    ]);
    let components = prop::collection::vec((component, ladder), 1..=NAMES.len());
    (components, any::<bool>()).prop_map(|(components, has_standby)| {
        let mut text = "recipe = 1\n[actions.reset]\ncommand = { program = \"reset\" }\n".to_owned();
        for (index, ((needs, kind), ladder)) in components.into_iter().enumerate() {
            let needs: Vec<String> = (0..index)
                .filter(|other| needs >> other & 1 == 1)
                .map(|other| format!("\"{}\"", NAMES[other]))
                .collect();
            text += &format!("[components.{}]\ndepends_on = [{}]\n", NAMES[index], needs.join(", "));
            text += match kind {
                "external" => "start = \"external\"\n",
                "managed" => "start = { program = \"x\" }\nlifecycle = \"managed\"\n",
                "beating" => "start = { program = \"x\" }\nheartbeat_s = 1\n",
                "stuck" => "start = { program = \"x\" }\nprogress = [{ topic = \"/t\", within_s = 2, at_least = 2 }]\n",
                _ => "start = { program = \"x\" }\n",
            };
            let is_replaced = has_standby && index == 0;
            text += if is_replaced { "standby = \"spare\"\n" } else { "" };
            let ladder = if is_replaced { "on_any_fail = [\"standby\"]\ncooldown_s = 5\n" } else { ladder };
            text += &format!("[components.{}.fallbacks]\n{ladder}", NAMES[index]);
        }
        if has_standby {
            text += "[components.spare]\nstart = { program = \"x\" }\nlifecycle = \"managed\"\n";
        }
        text
    })
}

fn input() -> impl Strategy<Value = Input> {
    let component =
        || prop::sample::select(vec!["a", "b", "c", "d", "e", "spare", "nobody"]).prop_map(ComponentName::from);
    let process = || (0..12_u64).prop_map(ProcessNumber);
    let outcome = prop_oneof![
        Just(ActionResult::Done),
        Just(ActionResult::Failed { reason: "no".into() }),
        Just(ActionResult::Stopped)
    ];
    let state = prop::sample::select(vec![
        LifecycleState::Unconfigured,
        LifecycleState::Inactive,
        LifecycleState::Active,
        LifecycleState::Finalized,
        LifecycleState::Changing,
    ]);
    let failure = prop::option::weighted(
        0.3,
        prop::sample::select(vec![
            FailureKind::Algorithm,
            FailureKind::System,
            FailureKind::General,
            FailureKind::Component,
        ]),
    );
    let level = prop::sample::select(vec![DiagnosticLevel::Ok, DiagnosticLevel::Warning, DiagnosticLevel::Error]);
    prop_oneof![
        5 => process().prop_map(|process| Input::ProcessStarted { process }),
        1 => process().prop_map(|process| Input::ProcessNotStarted { process, reason: "no memory".into() }),
        2 => process().prop_map(|process| Input::ProcessEnded { process, ending: Ending::Exited { status: 1 } }),
        6 => (component(), prop::bool::weighted(0.8)).prop_map(|(component, present)| Input::NodeSeen { component, present }),
        4 => (component(), state).prop_map(|(component, state)| Input::LifecycleSeen { component, state }),
        6 => (component(), failure)
            .prop_map(|(component, failure)| Input::StatusHeard { component, failure, message: "so".into() }),
        1 => (component(), level)
            .prop_map(|(component, level)| Input::DiagnosticHeard { component, name: "so".into(), level, message: "so".into() }),
        4 => (component(), 0..2_usize, 0..3_u32)
            .prop_map(|(component, watch, count)| Input::Progressed { component, watch, count }),
        1 => (component(), 0..2_u32).prop_map(|(component, goals)| Input::GoalsChanged { component, goals }),
        1 => (component(), any::<bool>()).prop_map(|(component, hangs)| Input::CallHung {
            component,
            because: hangs.then(|| "a call hung".to_owned()),
        }),
        6 => (0..30_u64, outcome)
            .prop_map(|(attempt, outcome)| Input::ActionEnded { attempt: AttemptId(attempt), outcome }),
        2 => component().prop_map(|component| Input::StateUnanswered { component }),
        1 => Just(Input::CallsFlushed),
        1 => Just(Input::Stopped),
        1 => Just(Input::Resumed),
        2 => (component(), prop::sample::select(vec!["restart", "respawn", "reset", "standby"]))
            .prop_map(|(component, action)| Input::Restart { component, action: ActionName::new(action) }),
        1 => Just(Input::Start),
    ]
}

fn state() -> impl Strategy<Value = Vec<(u32, Input)>> {
    prop::collection::vec((0..3000_u32, input()), 0..80)
}

/// That nothing is used which does not work, as far as can be seen from outside.
#[derive(Default)]
struct Trust {
    quarantine: BTreeSet<ComponentName>,
    /// What works, as far as was told.
    up: BTreeSet<ComponentName>,
    /// What was up and is brought to its beginning since.
    taken_down: BTreeSet<ComponentName>,
    /// Who has a standby now.
    replaced: BTreeSet<ComponentName>,
    ending: bool,
}

impl Trust {
    fn effect(&mut self, effect: &Effect) {
        match effect {
            Effect::Quarantine { component, .. } => {
                self.quarantine.insert(component.clone());
            }
            Effect::Release { component } => {
                assert!(self.quarantine.remove(component), "{component} was not in quarantine");
                let works = self.replaced.contains(component) || !self.taken_down.contains(component);
                assert!(works, "{component} is released and has not come up");
            }
            Effect::StartProcess { component, .. }
            | Effect::StopProcess { component, .. }
            | Effect::Change { component, .. } => {
                let is_kept_from_all = self.quarantine.contains(component) || self.replaced.contains(component);
                let may_be_used = self.up.contains(component) && !is_kept_from_all;
                assert!(self.ending || !may_be_used, "{component} is taken down while it may be used");
                self.taken_down.insert(component.clone());
            }
            Effect::FailOver { component, by } => {
                match by {
                    Some(_) => self.replaced.insert(component.clone()),
                    None => self.replaced.remove(component),
                };
            }
            Effect::Report { event: MonitorEvent::CameUp { component } } => {
                self.up.insert(component.clone());
                self.taken_down.remove(component);
            }
            _ => {}
        }
    }
}

/// Everything that must hold, watched from outside.
#[derive(Default)]
struct Watch {
    trust: Trust,
    processes: BTreeMap<ComponentName, ProcessNumber>,
    paused: bool,
    attempts: Vec<Duration>,
    finished: bool,
}

impl Watch {
    fn input(&mut self, input: &Input) {
        self.trust.ending |= *input == Input::ShutDown;
        if let Input::ProcessEnded { process, .. } | Input::ProcessNotStarted { process, .. } = input {
            self.processes.retain(|_, running| running != process);
        }
    }

    fn effects(&mut self, now: Duration, effects: &[Effect]) {
        let mut tended = BTreeSet::new();
        for effect in effects {
            match effect {
                Effect::Act { component, .. } | Effect::NotifyOperator { component, .. } => {
                    tended.insert(component);
                }
                Effect::Quarantine { component, .. } => {
                    assert!(!tended.contains(component), "{component} is tended to before it is kept from missions");
                }
                _ => {}
            }
            assert!(!self.finished, "nothing follows the end");
            self.trust.effect(effect);
            match effect {
                Effect::StartProcess { component, process } => {
                    let before = self.processes.insert(component.clone(), *process);
                    assert_eq!(before, None, "{component} has two processes");
                }
                Effect::StopProcess { component, process, .. } => {
                    assert_eq!(self.processes.get(component), Some(process), "only what runs is stopped");
                }
                Effect::PauseMissions { .. } => assert!(!std::mem::replace(&mut self.paused, true)),
                Effect::ResumeMissions => assert!(std::mem::replace(&mut self.paused, false)),
                Effect::Report { event: MonitorEvent::AttemptBegan { .. } | MonitorEvent::RestartBegan { .. } } => {
                    self.attempts.push(now);
                    let window = self.attempts.iter().filter(|at| now - **at < REFILL * BURST).count();
                    assert!(window <= 2 * BURST as usize, "a storm of {window} actions");
                }
                Effect::Finished { .. } => self.finished = true,
                _ => {}
            }
        }
    }
}

fn advance(monitor: &mut Monitor, watch: &mut Watch, now: &mut Duration, until: Duration) {
    // Time alone brings a bounded number of looks.
    for _ in 0..100_000 {
        let Some(wake) = monitor.next_wake().filter(|wake| *wake <= until) else {
            *now = until;
            return;
        };
        assert!(wake >= *now, "a look in the past");
        *now = wake;
        watch.effects(*now, &monitor.handle(*now, Input::Tick));
        assert!(monitor.next_wake().is_none_or(|next| next > wake), "the same look twice");
    }
    panic!("the monitor never rests");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn the_monitor_never_loses_its_head(recipe in recipe(), state in state()) {
        let recipe = Recipe::read(&recipe).unwrap_or_else(|problems| panic!("{}", problems.show("recipe")));
        let mut monitor = Monitor::new(&recipe);
        let mut watch = Watch::default();
        let mut now = Duration::ZERO;
        watch.effects(now, &monitor.handle(now, Input::Start));
        for (wait, input) in state {
            let until = now + Duration::from_millis(wait.into());
            advance(&mut monitor, &mut watch, &mut now, until);
            watch.input(&input);
            watch.effects(now, &monitor.handle(now, input));
        }
        // Nobody answers any more, and still everything comes to an end.
        watch.input(&Input::ShutDown);
        watch.effects(now, &monitor.handle(now, Input::ShutDown));
        let until = now + Duration::from_secs(600);
        advance(&mut monitor, &mut watch, &mut now, until);
        prop_assert!(watch.finished);
        prop_assert!(monitor.handle(now, Input::Start).is_empty());
    }

    #[test]
    fn a_monitor_that_was_kept_decides_the_same(recipe in recipe(), state in state(), cut in 0..80_usize) {
        let recipe = Recipe::read(&recipe).unwrap_or_else(|problems| panic!("{}", problems.show("recipe")));
        let mut monitor = Monitor::new(&recipe);
        let mut now = Duration::ZERO;
        let _ = monitor.handle(now, Input::Start);
        let mut kept: Option<Monitor> = None;
        for (index, (wait, input)) in state.into_iter().enumerate() {
            if index == cut {
                let text = serde_json::to_string(&monitor).unwrap();
                kept = Some(serde_json::from_str(&text).unwrap());
            }
            now += Duration::from_millis(wait.into());
            let effects = monitor.handle(now, input.clone());
            if let Some(kept) = &mut kept {
                prop_assert_eq!(kept.handle(now, input), effects);
                prop_assert_eq!(kept.next_wake(), monitor.next_wake());
            }
        }
    }

    #[test]
    fn nothing_is_used_from_its_beginning_until_it_came_up(
        happenings in prop::collection::vec((0..4_usize, 0..11_usize, 1..60_u32), 1..40)
    ) {
        let ladder = "on_algorithm_fail = [{ do = \"restart\", retries = 3 }]\n\
                      on_system_fail = [{ do = \"respawn\", retries = 2, within_s = 2 }]\n\
                      on_component_fail = [\"restart\", \"respawn\"]\ncooldown_s = 10\n";
        let component = |name: &str, lines: &str, rungs: &str| {
            format!(
                "[components.{name}]\nstart = {{ program = \"x\" }}\nheartbeat_s = 1\nstop_timeout_s = 1\n{lines}\n\
                 [components.{name}.fallbacks]\n{ladder}{rungs}"
            )
        };
        let mut world = World::started(&[
            component("a", "lifecycle = \"managed\"\ntransition_timeout_s = 2\nstandby = \"d\"", "")
                .replace("\"respawn\"]", "\"respawn\", \"standby\"]"),
            component("b", "depends_on = [\"a\"]", ""),
            component("c", "lifecycle = \"managed\"", "on_any_fail = [\"restart\"]\n"),
            component("d", "", ""),
        ].concat());
        let up = ["a", "b", "c"].map(ComponentName::from);
        let mut trust = Trust { up: up.into(), ..Trust::default() };
        let manners = [
            Manner::Good,
            Manner::Good,
            Manner::CrashesAtStart,
            Manner::Hangs,
            Manner::ReportsAlgorithm,
            Manner::ReportsSystem,
            Manner::RefusesTransitions,
        ];
        for (index, what, tenths) in happenings {
            let name = ComponentName::from(NAMES[index]);
            let entry = |level| Input::DiagnosticHeard { component: name.clone(), name: "x".into(), level, message: "so".into() };
            match (manners.get(what), what) {
                (Some(manner), _) => world.behave(NAMES[index], *manner),
                (None, 7) => world.kill(NAMES[index]),
                (None, 8) => world.input(entry(DiagnosticLevel::Error)),
                (None, 9) => world.input(entry(DiagnosticLevel::Ok)),
                (None, _) => world.input(Input::Restart { component: name, action: ActionName::new("restart") }),
            }
            world.run_for(f64::from(tenths) / 10.0);
        }
        for (_, effect) in &world.effects {
            trust.effect(effect);
        }
    }

    #[test]
    fn nothing_is_left_down_when_the_faults_are_over(
        faults in prop::collection::vec((0..4_usize, 0..7_usize, 1..40_u32), 1..12)
    ) {
        let component = |name: &str, lines: &str| {
            format!(
                "[components.{name}]\nstart = {{ program = \"x\" }}\nheartbeat_s = 1\n{lines}\n\
                 [components.{name}.fallbacks]\ncooldown_s = 20\n"
            )
        };
        let mut world = World::started(&[
            component("a", ""),
            component("b", "depends_on = [\"a\"]\nlifecycle = \"managed\""),
            component("c", "depends_on = [\"b\"]") + "on_any_fail = [\"respawn\"]\n",
            component("d", ""),
        ].concat());
        for (name, manner, tenths) in faults {
            let name = NAMES[name];
            let manners = [
                None,
                Some(Manner::Good),
                Some(Manner::CrashesAtStart),
                Some(Manner::Hangs),
                Some(Manner::ReportsAlgorithm),
                Some(Manner::ReportsSystem),
                Some(Manner::RefusesTransitions),
            ];
            match manners[manner] {
                None => world.kill(name),
                Some(manner) => world.behave(name, manner),
            }
            world.run_for(f64::from(tenths) / 10.0);
        }
        for name in ["a", "b", "c", "d"] {
            world.behave(name, Manner::Good);
        }
        // The rest after a ladder came to its end, and time for all that waits for each other.
        world.run_for(20.0 + 100.0);
        prop_assert!(world.all_work(), "{:#?}", world.story());
        world.input(Input::ShutDown);
        world.run_for(60.0);
        let ends = matches!(world.effects.last(), Some((_, Effect::Finished { not_stopped })) if not_stopped.is_empty());
        prop_assert!(ends);
    }
}
