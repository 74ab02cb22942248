//! A robot of made-up components that does what the monitor wants, or not, in made-up time.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use cortex_protocol::ComponentName;
use cortex_recipe::Recipe;

use crate::health::{Ending, FailureKind, LifecycleState};
use crate::machine::{ActionResult, AttemptId, Effect, Input, Monitor, MonitorEvent, ProcessNumber};

/// From the wish to start a process until its node is there.
pub(super) const START: Duration = Duration::from_millis(300);
/// How long a transition, an action and an orderly end take.
pub(super) const DEED: Duration = Duration::from_millis(100);
/// How long the host needs to pass on what has begun.
const FLUSH: Duration = Duration::from_millis(1);
const BEAT: Duration = Duration::from_secs(1);

/// How a component behaves from now on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Manner {
    Good,
    /// Its process ends before its node is there.
    CrashesAtStart,
    /// It says nothing and answers nothing.
    Hangs,
    /// It says that an algorithm fails.
    ReportsAlgorithm,
    /// It says that something outside fails.
    ReportsSystem,
    /// Its transitions fail.
    RefusesTransitions,
    /// It does not end, whatever is done.
    NeverEnds,
}

#[derive(Debug, Clone, PartialEq)]
enum Happening {
    Input(Input),
    NodeComes(ComponentName, ProcessNumber),
    Beat(ComponentName, ProcessNumber),
}

#[derive(Debug, Clone)]
struct Part {
    manner: Manner,
    process: Option<ProcessNumber>,
}

/// The robot.
#[derive(Debug)]
pub(super) struct World {
    pub(super) monitor: Monitor,
    pub(super) now: Duration,
    queue: BTreeMap<(Duration, u64), Happening>,
    queued: u64,
    parts: BTreeMap<ComponentName, Part>,
    managed: BTreeSet<ComponentName>,
    pub(super) effects: Vec<(Duration, Effect)>,
    /// What the actions of the recipe come to.
    pub(super) actions_fail: bool,
    /// Whether what is asked of the robot is refused.
    pub(super) stopped: bool,
}

pub(super) fn at(seconds: f64) -> Duration {
    Duration::from_secs_f64(seconds)
}

impl World {
    pub(super) fn new(recipe: &str) -> Self {
        let recipe = Recipe::read(&format!("recipe = 1\n{recipe}"))
            .unwrap_or_else(|problems| panic!("{}", problems.show("story")));
        let part = Part { manner: Manner::Good, process: None };
        let managed = recipe.components.iter();
        let managed = managed.filter(|(_, component)| component.lifecycle == cortex_recipe::Lifecycle::Managed);
        Self {
            monitor: Monitor::new(&recipe),
            now: Duration::ZERO,
            queue: BTreeMap::new(),
            queued: 0,
            parts: recipe.components.keys().map(|name| (name.clone(), part.clone())).collect(),
            managed: managed.map(|(name, _)| name.clone()).collect(),
            effects: Vec::new(),
            actions_fail: false,
            stopped: false,
        }
    }

    /// One that is brought up.
    pub(super) fn started(recipe: &str) -> Self {
        let mut world = Self::new(recipe);
        world.input(Input::Start);
        world.run_for(10.0);
        world.effects.clear();
        world
    }

    pub(super) fn input(&mut self, input: Input) {
        let effects = self.monitor.handle(self.now, input);
        for effect in effects {
            self.carry_out(&effect);
            self.effects.push((self.now, effect));
        }
    }

    pub(super) fn behave(&mut self, name: &str, manner: Manner) {
        self.parts.get_mut(&name.into()).unwrap().manner = manner;
    }

    /// A person stops the robot.
    pub(super) fn stop(&mut self) {
        self.stopped = true;
        self.input(Input::Stopped);
    }

    /// A person has looked.
    pub(super) fn resume(&mut self) {
        self.stopped = false;
        self.input(Input::Resumed);
    }

    /// Ends its process from outside.
    pub(super) fn kill(&mut self, name: &str) {
        let part = self.parts.get_mut(&name.into()).unwrap();
        let Some(process) = part.process.take() else { return };
        self.input(Input::ProcessEnded { process, ending: Ending::Signalled { signal: 9, by_us: false } });
    }

    pub(super) fn run_for(&mut self, seconds: f64) {
        let end = self.now + at(seconds);
        loop {
            let next = self.queue.keys().next().map(|(time, _)| *time);
            let wake = self.monitor.next_wake();
            let Some(time) = next.into_iter().chain(wake).min().filter(|time| *time <= end) else { break };
            self.now = self.now.max(time);
            match self.queue.first_entry().filter(|entry| entry.key().0 <= self.now) {
                Some(entry) => {
                    let happening = entry.remove();
                    self.happen(happening);
                }
                None => self.input(Input::Tick),
            }
        }
        self.now = end;
    }

    fn happen(&mut self, happening: Happening) {
        match happening {
            Happening::Input(input) => self.input(input),
            Happening::NodeComes(component, process) => {
                let part = self.parts.get_mut(&component).unwrap();
                if part.process != Some(process) {
                    return;
                }
                self.input(Input::NodeSeen { component: component.clone(), present: true });
                if self.managed.contains(&component) {
                    self.input(Input::LifecycleSeen {
                        component: component.clone(),
                        state: LifecycleState::Unconfigured,
                    });
                }
                self.happen(Happening::Beat(component, process));
            }
            Happening::Beat(component, process) => {
                let part = &self.parts[&component];
                if part.process != Some(process) {
                    return;
                }
                let manner = part.manner;
                self.later(BEAT, Happening::Beat(component.clone(), process));
                let failure = match manner {
                    Manner::Hangs => return,
                    Manner::ReportsAlgorithm => Some(FailureKind::Algorithm),
                    Manner::ReportsSystem => Some(FailureKind::System),
                    _ => None,
                };
                self.input(Input::StatusHeard { component, failure, message: "so it says".into() });
            }
        }
    }

    fn later(&mut self, time: Duration, happening: Happening) {
        self.queued += 1;
        self.queue.insert((self.now + time, self.queued), happening);
    }

    fn carry_out(&mut self, effect: &Effect) {
        match effect {
            Effect::StartProcess { component, process } => {
                let part = self.parts.get_mut(component).unwrap();
                assert_eq!(part.process, None, "{component} is started twice");
                part.process = Some(*process);
                let manner = part.manner;
                self.later(Duration::ZERO, Happening::Input(Input::ProcessStarted { process: *process }));
                if manner == Manner::CrashesAtStart {
                    self.later(
                        DEED,
                        Happening::Input(Input::ProcessEnded {
                            process: *process,
                            ending: Ending::Exited { status: 1 },
                        }),
                    );
                    self.parts.get_mut(component).unwrap().process = None;
                } else {
                    self.later(START, Happening::NodeComes(component.clone(), *process));
                }
            }
            Effect::StopProcess { component, process, grace } => {
                let part = self.parts.get_mut(component).unwrap();
                let (after, signal) = match part.manner {
                    Manner::NeverEnds => return,
                    Manner::Hangs => (*grace, 9),
                    _ => (DEED, 15),
                };
                if part.process == Some(*process) {
                    part.process = None;
                    let ending = Ending::Signalled { signal, by_us: true };
                    self.later(after, Happening::Input(Input::ProcessEnded { process: *process, ending }));
                }
            }
            Effect::Change { component, attempt, .. } => {
                let answer = match self.parts[component].manner {
                    Manner::Hangs => return,
                    Manner::RefusesTransitions => ActionResult::Failed { reason: "no".into() },
                    _ => ActionResult::Done,
                };
                self.answer(*attempt, answer);
            }
            Effect::Act { attempt, .. } => {
                let failed = ActionResult::Failed { reason: "it does not work".into() };
                let outcome = match (self.stopped, self.actions_fail) {
                    (true, _) => ActionResult::Stopped,
                    (false, true) => failed,
                    (false, false) => ActionResult::Done,
                };
                self.answer(*attempt, outcome);
            }
            Effect::FlushCalls => self.later(FLUSH, Happening::Input(Input::CallsFlushed)),
            _ => {}
        }
    }

    fn answer(&mut self, attempt: AttemptId, outcome: ActionResult) {
        self.later(DEED, Happening::Input(Input::ActionEnded { attempt, outcome }));
    }

    pub(super) fn works(&self, name: &str) -> bool {
        self.monitor.works(&name.into())
    }

    pub(super) fn all_work(&self) -> bool {
        self.parts.keys().all(|name| self.monitor.works(name))
    }

    /// The numbers of the attempts.
    pub(super) fn attempts(&self) -> Vec<u32> {
        let number = |(_, effect): &(Duration, Effect)| match effect {
            Effect::Report { event: MonitorEvent::AttemptBegan { attempt, .. } } => Some(*attempt),
            _ => None,
        };
        self.effects.iter().filter_map(number).collect()
    }

    /// What was done and told since the story began, one line each, without the changes of health.
    pub(super) fn story(&self) -> Vec<String> {
        self.effects
            .iter()
            .filter_map(|(time, effect)| Some(format!("{:.1} {}", time.as_secs_f64(), line(effect)?)))
            .collect()
    }

    /// The same without the times.
    pub(super) fn actions(&self) -> Vec<String> {
        self.effects.iter().filter_map(|(_, effect)| line(effect)).collect()
    }
}

fn line(effect: &Effect) -> Option<String> {
    Some(match effect {
        Effect::StartProcess { component, .. } => format!("start {component}"),
        Effect::StopProcess { component, .. } => format!("stop {component}"),
        Effect::Change { component, transition, .. } => format!("{transition} {component}"),
        Effect::Act { component, action, .. } => format!("{action} for {component}"),
        Effect::NotifyOperator { component, .. } => format!("tell of {component}"),
        Effect::Quarantine { component, cause } => format!("pause {component} because of {cause}"),
        Effect::EndCalls { .. } | Effect::FlushCalls => return None,
        Effect::Release { component } => format!("release {component}"),
        Effect::FailOver { component, by: Some(by) } => format!("{by} for {component}"),
        Effect::FailOver { component, by: None } => format!("{component} itself"),
        Effect::PauseMissions { cause } => format!("pause missions because of {cause}"),
        Effect::ResumeMissions => "resume missions".into(),
        Effect::Finished { not_stopped } => format!("finished {not_stopped:?}"),
        Effect::Report { event } => match event {
            MonitorEvent::Waiting { component, waits_for } => {
                let names: Vec<&str> = waits_for.iter().map(ComponentName::as_str).collect();
                format!("{component} waits for {}", names.join(" "))
            }
            MonitorEvent::CameUp { component } => format!("{component} up"),
            MonitorEvent::WentDown { component } => format!("{component} down"),
            MonitorEvent::GaveUp { component, .. } => format!("{component} given up"),
            MonitorEvent::RateLimitReached => "storm".into(),
            MonitorEvent::RateLimitLifted => "calm".into(),
            MonitorEvent::HealthChanged { .. }
            | MonitorEvent::SymptomsChanged { .. }
            | MonitorEvent::AttemptsForgiven { .. }
            | MonitorEvent::AttemptBegan { .. }
            | MonitorEvent::RestartBegan { .. }
            | MonitorEvent::AttemptFailed { .. } => return None,
            MonitorEvent::HeldByStop { component, action } => format!("{component} waits for the resume: {action}"),
        },
    })
}
