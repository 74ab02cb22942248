//! The monitor: `(state, input) -> effects`.
//!
//! - `exchange`: inputs and effects; `supervised_component`: one component, and the way it takes;
//! - `bring_up`: bringing one up; `recovery`: climbing its ladder; `shut_down`: bringing it down; `handing_back`: a place that
//!   a standby gives back;
//! - `turn`: what a component sees of the others; `words`: what happened, for people.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use cortex_protocol::ComponentName;
use cortex_recipe::{Action, ActionName, Recipe};
use serde::{Deserialize, Serialize};

use crate::clock::Clock;
use crate::dependencies::Dependencies;
use crate::restart_rate_limiter::{RateLimitChange, RestartRateLimiter};
use supervised_component::SupervisedComponent;
use turn::{Counters, Turn};

mod attempts;
mod bring_up;
mod exchange;
mod handing_back;
mod recovery;
mod reports;
mod returns;
mod shut_down;
mod supervised_component;
#[cfg(test)]
mod tests;
mod turn;
mod words;

pub use exchange::{ActionResult, AttemptId, Effect, Input, MonitorEvent, ProcessNumber, Transition};

/// How often each component is looked at after one input, at most. What is left then comes with the next look.
const MAX_PASSES: usize = 64;

/// How soon a look follows that had to be cut short.
const SOON: Duration = Duration::from_millis(10);

/// Keeps the components of one recipe alive.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Monitor {
    phase: Phase,
    clock: Clock,
    dependencies: Dependencies,
    actions: BTreeMap<ActionName, Action>,
    members: BTreeMap<ComponentName, SupervisedComponent>,
    /// Who takes whose place.
    standbys: BTreeMap<ComponentName, ComponentName>,
    counters: Counters,
    restart_limiter: RestartRateLimiter,
    /// What is in quarantine, and because of whom.
    quarantine: BTreeMap<ComponentName, ComponentName>,
    /// Whether missions are paused.
    missions_paused: bool,
    /// Whether a person has stopped the robot.
    stopped: bool,
    not_stopped: BTreeSet<ComponentName>,
    /// Whether the last look was cut short.
    unsettled: bool,
    /// When it is to be looked again, as of the last input: asked for far more often than it changes.
    wake: Option<Duration>,
    #[serde(skip)]
    effects: Vec<Effect>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Phase {
    New,
    Running,
    Ending,
    Finished,
}

/// What an input is to a component.
type Note = Box<dyn FnOnce(&mut SupervisedComponent)>;

impl Monitor {
    /// One that waits for [`Input::Start`].
    #[must_use]
    pub fn new(recipe: &Recipe) -> Self {
        let members = recipe.components.iter().map(|(name, component)| {
            (name.clone(), SupervisedComponent::new(name.clone(), component.clone(), !recipe.stands_in(name)))
        });
        let standbys = recipe.components.iter().filter_map(|(name, component)| {
            let other = component.standby.clone()?;
            recipe.components.contains_key(&other).then(|| (name.clone(), other))
        });
        Self {
            phase: Phase::New,
            clock: Clock::default(),
            dependencies: Dependencies::of(recipe),
            actions: recipe.actions.clone(),
            members: members.collect(),
            standbys: standbys.collect(),
            counters: Counters::default(),
            restart_limiter: RestartRateLimiter::default(),
            quarantine: BTreeMap::new(),
            missions_paused: false,
            stopped: false,
            not_stopped: BTreeSet::new(),
            unsettled: false,
            wake: None,
            effects: Vec::new(),
        }
    }

    /// Takes one input at time `now` (since any fixed moment, never going back) and returns what is to be done, in
    /// order.
    #[must_use]
    pub fn handle(&mut self, now: Duration, input: Input) -> Vec<Effect> {
        let wake = self.wake;
        self.clock.advance(now, wake);
        if self.phase != Phase::Finished {
            let touched = self.take(input);
            // What was due by time is not to be passed over because something else came at the same moment.
            let is_due = wake.is_some_and(|wake| wake <= self.clock.now());
            self.settle(touched.as_ref(), is_due);
        }
        self.wake = self.find_wake();
        std::mem::take(&mut self.effects)
    }

    /// When [`Input::Tick`] is wanted, on the clock of `handle`. None: not before another input.
    #[must_use]
    pub fn next_wake(&self) -> Option<Duration> {
        self.wake.map(|wake| self.clock.outer(wake))
    }

    /// Whether a component works, and so does all that it depends on. False for one that is not in the recipe.
    #[must_use]
    pub fn works(&self, component: &ComponentName) -> bool {
        self.members.contains_key(component) && !self.blame().contains_key(component)
    }

    /// Whether everything is down for good.
    #[must_use]
    pub fn is_finished(&self) -> bool {
        self.phase == Phase::Finished
    }

    /// How long it takes at most to bring everything down, by the time-outs of the recipe: one after the other where one
    /// depends on another.
    #[must_use]
    pub fn down_within(&self) -> Duration {
        let mut limits: BTreeMap<&ComponentName, Duration> = BTreeMap::new();
        for name in self.dependencies.order().iter().rev() {
            let own = self.members.get(name).map(SupervisedComponent::down_within).unwrap_or_default();
            let above = self.dependencies.needed_by(name).filter_map(|other| limits.get(other)).max();
            limits.insert(name, own.saturating_add(above.copied().unwrap_or_default()));
        }
        limits.into_values().max().unwrap_or_default()
    }

    fn find_wake(&self) -> Option<Duration> {
        if self.phase == Phase::Finished {
            return None;
        }
        let now = self.clock.now();
        let members = self.members.values().filter_map(|member| member.next_look(now));
        let soon = self.unsettled.then(|| now.saturating_add(SOON));
        members.chain(self.restart_limiter.next_look()).chain(soon).min()
    }

    /// Notes an input. Some: only this component can be affected by it at first.
    fn take(&mut self, input: Input) -> Option<ComponentName> {
        let now = self.clock.now();
        let (component, note): (ComponentName, Note) = match input {
            Input::Start => {
                if self.phase == Phase::New {
                    self.phase = Phase::Running;
                }
                return None;
            }
            Input::ShutDown => {
                self.phase = Phase::Ending;
                return None;
            }
            Input::Stopped => {
                self.stopped = true;
                return None;
            }
            Input::Resumed => {
                if std::mem::take(&mut self.stopped) {
                    self.members.values_mut().for_each(|member| member.on_resumed(now));
                }
                return None;
            }
            Input::Tick => return None,
            Input::CallsFlushed => {
                self.members.values_mut().for_each(SupervisedComponent::on_calls_flushed);
                return None;
            }
            Input::ProcessStarted { process } => {
                (self.owner(process)?, Box::new(move |member| member.on_process_started()))
            }
            Input::ProcessNotStarted { process, reason } => {
                (self.owner(process)?, Box::new(move |member| member.on_process_not_started(reason)))
            }
            Input::ProcessEnded { process, ending } => {
                let owner = self.owner(process)?;
                // It may have been late.
                self.not_stopped.remove(&owner);
                // First: what is halted because of this failure need not be waited for.
                self.effects.push(Effect::EndCalls { component: owner.clone() });
                (owner, Box::new(move |member| member.on_process_ended(ending)))
            }
            Input::NodeSeen { component, present } => {
                (component, Box::new(move |member| member.on_node_seen(now, present)))
            }
            Input::LifecycleSeen { component, state } => {
                (component, Box::new(move |member| member.on_state_seen(now, state)))
            }
            Input::StateUnanswered { component } => {
                (component, Box::new(move |member| member.evidence.note_unanswered()))
            }
            Input::StatusHeard { component, failure, message } => (
                component,
                Box::new(move |member| {
                    member.on_node_seen(now, true);
                    member.evidence.note_status(now, failure.map(|kind| (kind, message)));
                }),
            ),
            Input::DiagnosticHeard { component, name, level, message } => {
                (component, Box::new(move |member| member.evidence.note_diagnostic(now, &name, level, &message)))
            }
            Input::Progressed { component, watch, count } => {
                (component, Box::new(move |member| member.evidence.note_progress(now, watch, count)))
            }
            Input::GoalsChanged { component, goals } => {
                self.members.get_mut(&component)?.on_goals_changed(now, goals);
                // Who waits for its place back is concerned by what its standby does.
                return Some(component).filter(|component| !self.standbys.values().any(|other| other == component));
            }
            Input::CallHung { component, because } => {
                (component, Box::new(move |member| member.evidence.note_hung_call(because)))
            }
            Input::ActionEnded { attempt, outcome } => {
                let owner = self.members.values().find(|member| member.awaits(attempt))?.name().clone();
                (owner, Box::new(move |member| member.on_action_ended(attempt, outcome)))
            }
            Input::Restart { component, action } => (component, Box::new(move |member| member.on_restart(now, action))),
        };
        note(self.members.get_mut(&component)?);
        Some(component)
    }

    fn owner(&self, process: ProcessNumber) -> Option<ComponentName> {
        self.members.values().find(|member| member.process() == Some(process)).map(|member| member.name().clone())
    }

    /// Lets every component take its next steps until none has any. The one that was `touched` goes first: what others do
    /// depends on whether it still works. Unless something else is due, they are looked at only if that one changed.
    fn settle(&mut self, touched: Option<&ComponentName>, is_due: bool) {
        if let Some(RateLimitChange::Ended) = self.restart_limiter.refill(self.clock.now()) {
            self.effects.push(Effect::Report { event: MonitorEvent::RateLimitLifted });
        }
        self.unsettled = false;
        if let Some(name) = touched {
            // Most depend on nothing, and almost every input is a heartbeat: then nobody has to be judged for it.
            let depends = !self.dependencies.needs(name).is_empty();
            let blame = if depends { self.blame() } else { BTreeMap::new() };
            if !self.step(name, &blame) && !is_due {
                return;
            }
        }
        let order = self.stepping_order();
        let mut passes = 0;
        loop {
            let mut changed = false;
            let mut blame = self.blame();
            self.contain(&blame);
            self.release(&blame);
            for name in &order {
                if self.step(name, &blame) {
                    changed = true;
                    blame = self.blame();
                }
            }
            passes += 1;
            if !changed || passes >= MAX_PASSES {
                self.unsettled = changed;
                break;
            }
        }
        self.finish();
    }

    /// Every component after all that it depends on, and after its standby: while that has its place, whether it is kept from
    /// missions is decided there.
    fn stepping_order(&self) -> Vec<ComponentName> {
        let mut order = Vec::with_capacity(self.members.len());
        let mut seen = BTreeSet::new();
        for name in self.dependencies.order() {
            self.add_in_order(name, &mut seen, &mut order);
        }
        order
    }

    fn add_in_order<'a>(
        &'a self,
        name: &'a ComponentName,
        seen: &mut BTreeSet<&'a ComponentName>,
        order: &mut Vec<ComponentName>,
    ) {
        // Its recursion is bounded: no component is visited twice.
        if !seen.insert(name) {
            return;
        }
        for before in self.dependencies.needs(name).iter().chain(self.standbys.get(name)) {
            self.add_in_order(before, seen, order);
        }
        order.push(name.clone());
    }

    /// Lets one component take a step; says whether it did. Containment comes before whatever the step does: an action that
    /// is to help must not begin while the failed component still takes calls.
    fn step(&mut self, name: &ComponentName, blame: &BTreeMap<ComponentName, ComponentName>) -> bool {
        let earlier = self.effects.len();
        if !self.take_step(name, blame) {
            return false;
        }
        let reports = self.effects.iter().skip(earlier).take_while(|effect| matches!(effect, Effect::Report { .. }));
        let acts = self.effects.split_off(earlier + reports.count());
        self.contain(&self.blame());
        self.effects.extend(acts);
        true
    }

    fn take_step(&mut self, name: &ComponentName, blame: &BTreeMap<ComponentName, ComponentName>) -> bool {
        let missing: Vec<ComponentName> =
            self.dependencies.needs(name).iter().filter(|other| blame.contains_key(*other)).cloned().collect();
        let standby = self.standbys.get(name).and_then(|other| self.members.get(other));
        let standby_works = standby.is_some_and(SupervisedComponent::is_usable);
        let standby_quiet_at = standby.and_then(SupervisedComponent::quiet_at);
        let standby_is_given_up = standby.is_some_and(SupervisedComponent::is_given_up);
        let stands_in_for = self.standbys.iter().filter(|(_, other)| *other == name).map(|(lost, _)| lost);
        let is_called = stands_in_for
            .into_iter()
            .any(|lost| self.members.get(lost).is_some_and(SupervisedComponent::calls_standby));
        let above_are_down = self
            .dependencies
            .needed_by(name)
            .all(|other| self.members.get(other).is_none_or(SupervisedComponent::is_down));
        let mut turn = Turn {
            now: self.clock.now(),
            ending: self.phase == Phase::Ending,
            running: self.phase == Phase::Running,
            stopped: self.stopped,
            missing,
            standby: self.standbys.get(name).cloned(),
            standby_works,
            standby_quiet_at,
            standby_is_given_up,
            is_called,
            above_are_down,
            actions: &self.actions,
            counters: &mut self.counters,
            restart_limiter: &mut self.restart_limiter,
            effects: &mut self.effects,
            not_stopped: &mut self.not_stopped,
        };
        self.members.get_mut(name).is_some_and(|member| member.step(&mut turn))
    }

    /// Who does not work, and who is to blame.
    fn blame(&self) -> BTreeMap<ComponentName, ComponentName> {
        self.dependencies.blame(|name| {
            let standby = self.standbys.get(name).and_then(|other| self.members.get(other));
            let works = |member: &SupervisedComponent| {
                member.is_usable() || member.is_replaced() && standby.is_some_and(SupervisedComponent::is_usable)
            };
            !self.members.get(name).is_some_and(works)
        })
    }

    /// Puts into quarantine what does not work, and pauses missions.
    fn contain(&mut self, blame: &BTreeMap<ComponentName, ComponentName>) {
        if self.phase != Phase::Running {
            return;
        }
        for name in self.dependencies.order() {
            let Some(culprit) = self.culprit(name, blame) else { continue };
            if self.quarantine.get(name) != Some(culprit) {
                self.quarantine.insert(name.clone(), culprit.clone());
                self.effects.push(Effect::Quarantine { component: name.clone(), cause: culprit.clone() });
            }
        }
        if !self.missions_paused
            && let Some(member) = self.members.values().find(|member| member.pauses_missions())
        {
            self.effects.push(Effect::PauseMissions { cause: member.name().clone() });
            self.missions_paused = true;
        }
    }

    /// Takes what works out of quarantine, and lets missions go on.
    fn release(&mut self, blame: &BTreeMap<ComponentName, ComponentName>) {
        if self.phase != Phase::Running {
            return;
        }
        for name in self.dependencies.order() {
            if self.culprit(name, blame).is_none() && self.quarantine.remove(name).is_some() {
                self.effects.push(Effect::Release { component: name.clone() });
            }
        }
        if self.missions_paused && !self.members.values().any(SupervisedComponent::pauses_missions) {
            self.effects.push(Effect::ResumeMissions);
            self.missions_paused = false;
        }
    }

    /// Because of whom a component belongs into quarantine. One that was never up has offered nothing yet.
    fn culprit<'a>(
        &self,
        name: &ComponentName,
        blame: &'a BTreeMap<ComponentName, ComponentName>,
    ) -> Option<&'a ComponentName> {
        let has_worked = self.members.get(name).is_some_and(SupervisedComponent::has_worked);
        blame.get(name).filter(|_| has_worked)
    }

    fn finish(&mut self) {
        if self.phase == Phase::Ending && self.members.values().all(SupervisedComponent::is_down) {
            self.phase = Phase::Finished;
            let not_stopped = std::mem::take(&mut self.not_stopped).into_iter().collect();
            self.effects.push(Effect::Finished { not_stopped });
        }
    }
}
