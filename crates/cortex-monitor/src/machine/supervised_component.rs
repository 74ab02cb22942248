//! One component, and the way it takes.

use std::time::Duration;

use cortex_protocol::ComponentName;
use cortex_recipe::{ActionName, BuiltIn, ComponentRecipe, Lifecycle, Seconds};
use serde::{Deserialize, Serialize};

use super::attempts::Attempts;
use super::reports::{News, Reports};
use super::returns::Returns;
use super::turn::Turn;
use super::{ActionResult, AttemptId, Effect, MonitorEvent, ProcessNumber, Transition};
use crate::evidence::Evidence;
use crate::flap_damping::FlapDamping;
use crate::health::{Ending, FailureKind, Health, LifecycleState, Severity, Symptom};

/// One component.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct SupervisedComponent {
    pub(super) name: ComponentName,
    pub(super) recipe: ComponentRecipe,
    /// Whether it is brought up with the robot. A standby is not.
    is_regular: bool,
    pub(super) evidence: Evidence,
    /// What keeps it from being trusted.
    pub(super) damping: FlapDamping,
    pub(super) state: RecoveryState,
    /// Its process, from the wish to start it until its end is known.
    pub(super) process: Option<ProcessNumber>,
    /// What is done about its failure. None: it is brought up for the first time, or works.
    pub(super) recovery: Option<Recovery>,
    pub(super) attempts: Attempts,
    pub(super) pauses_missions: bool,
    /// Whether its standby has its place.
    pub(super) replaced: bool,
    pub(super) has_worked: bool,
    /// Whether it was brought to its beginning, or has failed itself, since it came up last: it has to come up before
    /// anything builds on it again.
    pub(super) lost: bool,
    pub(super) returns: Returns,
    pub(super) reports: Reports,
    /// How somebody wants it to be restarted although it works.
    pub(super) wanted: Option<ActionName>,
    /// Whether the monitor has heard of all calls that began before the component was kept from others last.
    pub(super) calls_are_known: bool,
}

/// Where a component is on its way.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum RecoveryState {
    /// Not in use: the robot is not up, or it is a standby that nobody needs.
    Idle,
    /// For what it depends on.
    Waiting,
    /// It is brought up.
    BringingUp { step: StartupStep, until: Duration },
    /// An action of its ladder is being done.
    Acting { attempt: AttemptId, until: Duration },
    /// The action says that it did what it should.
    Acted,
    /// The action was refused, or ended, because the robot is stopped.
    Refused,
    /// For the resume, since what is to be done next is refused until then.
    Held,
    /// Its standby is brought up.
    StartingStandby { until: Duration },
    /// An action is done; its health says whether it helped. `until` is the time that it has to be good.
    Probation { until: Duration },
    /// It works.
    Active,
    /// Until the next attempt.
    Pausing { until: Duration },
    /// Its ladder is at its end, for now; perhaps because the robot is stopped.
    GivenUp { until: Duration, while_stopped: bool },
    /// Its standby works in its place; then the ladder begins anew.
    Replaced { until: Duration },
    /// It is well again, and its standby still has something under way. `until` is when to look again.
    HandedBack { until: Duration },
    /// It is brought down.
    ShuttingDown { step: StartupStep, until: Duration },
    /// Down for good.
    Down,
    /// What was waited for has ended badly; the next step decides what follows.
    AttemptFailed { reason: String },
}

/// What is waited for while a component is brought up or down.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum StartupStep {
    /// The end of what is under way there: it has worked until now, and is in quarantine only since then.
    Clearing,
    /// The end of what is under way in a standby that nobody needs any more: it is no failure, and cuts nothing off.
    Draining,
    /// Nothing yet.
    Begin,
    /// The end of its process.
    Ending,
    /// The start of its process.
    Spawning,
    /// Its node, and the state of its lifecycle.
    Appearing,
    /// A transition.
    Changing { attempt: AttemptId, transition: Transition },
    /// The transition came to its end.
    Changed { transition: Transition },
}

/// What is done about a failure.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Recovery {
    pub(super) kind: FailureKind,
    /// The action of the current attempt.
    pub(super) action: Option<ActionName>,
    /// How long the component may take after it.
    pub(super) within: Duration,
    /// Whether what is in flight at the component is halted before its process is touched.
    pub(super) halts_first: bool,
    /// Why it came to this.
    pub(super) reason: String,
}

impl SupervisedComponent {
    pub(super) fn new(name: ComponentName, recipe: ComponentRecipe, is_regular: bool) -> Self {
        let damping = FlapDamping::new(recipe.fallbacks.failure_decay_s.duration());
        Self {
            evidence: Evidence::new(&recipe),
            reports: Reports::new(damping.clone()),
            damping,
            name,
            recipe,
            is_regular,
            state: RecoveryState::Idle,
            process: None,
            recovery: None,
            attempts: Attempts::default(),
            pauses_missions: false,
            replaced: false,
            has_worked: false,
            lost: false,
            returns: Returns::default(),
            wanted: None,
            // None has begun.
            calls_are_known: true,
        }
    }

    pub(super) fn name(&self) -> &ComponentName {
        &self.name
    }

    pub(super) fn process(&self) -> Option<ProcessNumber> {
        self.process
    }

    /// Whether others can build on it, as far as it is concerned itself.
    pub(super) fn is_usable(&self) -> bool {
        match self.state {
            RecoveryState::Active
            | RecoveryState::HandedBack { .. }
            | RecoveryState::ShuttingDown { step: StartupStep::Draining, .. } => true,
            // The component itself works while one of its algorithms, or something outside, is seen to.
            RecoveryState::Acting { .. }
            | RecoveryState::Refused
            | RecoveryState::Held
            | RecoveryState::Probation { .. }
            | RecoveryState::Pausing { .. }
            | RecoveryState::GivenUp { .. } => {
                let kind = self.recovery.as_ref().map(|recovery| recovery.kind);
                self.has_worked && !self.lost && matches!(kind, Some(FailureKind::Algorithm | FailureKind::System))
            }
            _ => false,
        }
    }

    pub(super) fn is_down(&self) -> bool {
        self.state == RecoveryState::Down
    }

    pub(super) fn is_replaced(&self) -> bool {
        self.replaced
    }

    /// Whether it wants its standby to be there.
    pub(super) fn calls_standby(&self) -> bool {
        self.replaced || matches!(self.state, RecoveryState::StartingStandby { .. })
    }

    /// Whether its ladder is at its end.
    pub(super) fn is_given_up(&self) -> bool {
        matches!(self.state, RecoveryState::GivenUp { .. })
    }

    pub(super) fn has_worked(&self) -> bool {
        self.has_worked
    }

    pub(super) fn pauses_missions(&self) -> bool {
        self.pauses_missions
    }

    pub(super) fn awaits(&self, attempt: AttemptId) -> bool {
        match &self.state {
            RecoveryState::Acting { attempt: awaited, .. } => *awaited == attempt,
            RecoveryState::BringingUp { step: StartupStep::Changing { attempt: awaited, .. }, .. }
            | RecoveryState::ShuttingDown { step: StartupStep::Changing { attempt: awaited, .. }, .. } => {
                *awaited == attempt
            }
            _ => false,
        }
    }

    pub(super) fn on_process_started(&mut self) {
        if let RecoveryState::BringingUp { step: step @ StartupStep::Spawning, .. } = &mut self.state {
            *step = StartupStep::Appearing;
        }
    }

    pub(super) fn on_process_not_started(&mut self, reason: String) {
        self.process = None;
        if matches!(self.state, RecoveryState::BringingUp { .. }) {
            self.state = RecoveryState::AttemptFailed { reason };
        }
    }

    pub(super) fn on_process_ended(&mut self, ending: Ending) {
        self.process = None;
        self.evidence.ended = Some(ending);
        self.evidence.lifecycle = None;
        match &mut self.state {
            RecoveryState::BringingUp { step: step @ (StartupStep::Ending | StartupStep::Clearing), .. }
            | RecoveryState::ShuttingDown { step, .. } => {
                *step = StartupStep::Begin;
            }
            RecoveryState::BringingUp { .. }
            | RecoveryState::Acting { .. }
            | RecoveryState::Acted
            | RecoveryState::Probation { .. } => {
                self.state = RecoveryState::AttemptFailed { reason: ending.to_string() };
            }
            _ => {}
        }
    }

    pub(super) fn on_node_seen(&mut self, now: Duration, present: bool) {
        if self.evidence.present.is_none_or(|(before, _)| before != present) {
            let was_gone = self.evidence.is_gone(now);
            self.evidence.present = Some((present, now));
            if !present {
                self.evidence.lifecycle = None;
                return;
            }
            if was_gone && self.process.is_none() {
                self.evidence.forget_predecessor(now);
            }
            self.on_begun_anew(now);
        }
    }

    pub(super) fn on_state_seen(&mut self, now: Duration, state: LifecycleState) {
        // The graph may still show the one before, so that the next one is not seen to come.
        let before = self.evidence.lifecycle;
        self.evidence.note_state(state);
        if state == LifecycleState::Unconfigured
            && matches!(before, Some(LifecycleState::Active | LifecycleState::Finalized))
        {
            self.on_begun_anew(now);
        }
    }

    pub(super) fn on_calls_flushed(&mut self) {
        self.calls_are_known = true;
    }

    /// Has the monitor told of each call that began before what keeps others from the component.
    pub(super) fn flush_calls(&mut self, turn: &mut Turn<'_>) {
        self.calls_are_known = false;
        turn.effect(Effect::FlushCalls);
    }

    pub(super) fn on_goals_changed(&mut self, now: Duration, goals: u32) {
        self.evidence.note_goals(now, &self.recipe, goals);
    }

    pub(super) fn on_action_ended(&mut self, attempt: AttemptId, outcome: ActionResult) {
        if !self.awaits(attempt) {
            return;
        }
        match (&mut self.state, outcome) {
            (
                RecoveryState::BringingUp { step: step @ StartupStep::Changing { .. }, .. }
                | RecoveryState::ShuttingDown { step: step @ StartupStep::Changing { .. }, .. },
                ActionResult::Done,
            ) => {
                if let StartupStep::Changing { transition, .. } = *step {
                    self.evidence.lifecycle = Some(transition.target());
                    *step = StartupStep::Changed { transition };
                }
            }
            // What can't be deactivated is ended all the same.
            (RecoveryState::ShuttingDown { step, .. }, ActionResult::Failed { .. } | ActionResult::Stopped) => {
                if let StartupStep::Changing { transition, .. } = *step {
                    *step = StartupStep::Changed { transition };
                }
            }
            (
                RecoveryState::BringingUp { step: StartupStep::Changing { transition, .. }, .. },
                ActionResult::Failed { reason },
            ) => {
                self.state = RecoveryState::AttemptFailed { reason: format!("it could not {transition}: {reason}") };
            }
            // Transitions are not refused; should one be, it has failed.
            (state @ RecoveryState::BringingUp { .. }, ActionResult::Stopped) => {
                *state = RecoveryState::AttemptFailed { reason: "the robot is stopped".to_owned() };
            }
            (state @ RecoveryState::Acting { .. }, ActionResult::Failed { reason }) => {
                *state = RecoveryState::AttemptFailed { reason }
            }
            (state @ RecoveryState::Acting { .. }, ActionResult::Stopped) => *state = RecoveryState::Refused,
            (state @ RecoveryState::Acting { .. }, ActionResult::Done) => *state = RecoveryState::Acted,
            _ => {}
        }
    }

    fn on_try_again(&mut self, now: Duration) {
        if let RecoveryState::GivenUp { until, .. } | RecoveryState::Pausing { until } = &mut self.state {
            *until = now;
        }
    }

    pub(super) fn on_resumed(&mut self, now: Duration) {
        // What was given up before the stop has nothing to do with it.
        if !matches!(self.state, RecoveryState::GivenUp { while_stopped: false, .. }) {
            self.on_try_again(now);
        }
    }

    pub(super) fn on_restart(&mut self, now: Duration, action: ActionName) {
        let restarts = matches!(BuiltIn::named(&action), Some(BuiltIn::Restart | BuiltIn::Respawn));
        if self.state == RecoveryState::Active && restarts {
            self.wanted = Some(action);
        } else if let RecoveryState::Replaced { until } = &mut self.state {
            *until = now;
        } else {
            self.on_try_again(now);
        }
    }

    /// Takes the next step, if there is one; says whether it did.
    pub(super) fn step(&mut self, turn: &mut Turn<'_>) -> bool {
        let before = (self.state.clone(), self.replaced, self.pauses_missions);
        let is_on_its_way_down = matches!(self.state, RecoveryState::ShuttingDown { .. } | RecoveryState::Down);
        let is_idle = self.state == RecoveryState::Idle;
        if !is_on_its_way_down && (turn.ending || !(is_idle || self.is_wanted(turn))) {
            self.begin_shut_down(turn);
        }
        let symptoms = self.judge(turn);
        if self.escalate(turn, &symptoms) {
            return true;
        }
        match self.state.clone() {
            RecoveryState::Idle if turn.running && self.is_wanted(turn) => self.state = RecoveryState::Waiting,
            RecoveryState::Waiting => self.wait(turn),
            RecoveryState::BringingUp { step, until } => self.bring_up(turn, step, until),
            RecoveryState::Acting { until, .. } if turn.now >= until => {
                self.fail_attempt(turn, "the action took too long");
            }
            RecoveryState::Acted => self.begin_probation(turn, self.within()),
            RecoveryState::Refused => self.hold(turn),
            RecoveryState::Held => self.wait_for_resume(turn, &symptoms),
            RecoveryState::StartingStandby { until } => self.start_standby(turn, until),
            RecoveryState::Probation { until } => self.check_probation(turn, until, &symptoms),
            RecoveryState::Active => self.serve(turn, &symptoms),
            RecoveryState::Pausing { until } => self.pause(turn, until, &symptoms),
            RecoveryState::GivenUp { until, .. } | RecoveryState::Replaced { until } => {
                self.rest(turn, until, &symptoms);
            }
            RecoveryState::HandedBack { .. } => self.hand_back(turn, &symptoms),
            RecoveryState::AttemptFailed { reason } => self.fail_attempt(turn, &reason),
            RecoveryState::ShuttingDown { step, until } => self.shut_down(turn, step, until),
            RecoveryState::Idle | RecoveryState::Acting { .. } | RecoveryState::Down => {}
        }
        before != (self.state.clone(), self.replaced, self.pauses_missions)
    }

    /// When time alone makes it take a step.
    pub(super) fn next_look(&self, now: Duration) -> Option<Duration> {
        let until = match &self.state {
            RecoveryState::BringingUp { until, .. }
            | RecoveryState::Acting { until, .. }
            | RecoveryState::StartingStandby { until }
            | RecoveryState::Probation { until }
            | RecoveryState::Pausing { until }
            | RecoveryState::GivenUp { until, .. }
            | RecoveryState::Replaced { until }
            | RecoveryState::HandedBack { until }
            | RecoveryState::ShuttingDown { until, .. } => Some(*until),
            RecoveryState::Active => self.attempts.next_forgiven(self.recipe.fallbacks.failure_decay_s.duration()),
            RecoveryState::Idle
            | RecoveryState::Waiting
            | RecoveryState::Acted
            | RecoveryState::Refused
            | RecoveryState::Held
            | RecoveryState::Down
            | RecoveryState::AttemptFailed { .. } => None,
        };
        let judged = self.is_judged();
        let evidence = judged.then(|| self.evidence.next_look(now, &self.recipe)).flatten();
        let symptoms = judged.then(|| self.evidence.symptoms(now, &self.recipe));
        let told = symptoms.and_then(|symptoms| self.reports.symptoms_at(&symptoms));
        let good = [self.damping.good_at(), self.reports.good_at()].into_iter().flatten().filter(|_| judged);
        // What is over, and did not lead to a step, waits for something else.
        until.into_iter().chain(evidence).chain(told).chain(good).filter(|at| *at > now).min()
    }

    pub(super) fn is_wanted(&self, turn: &Turn<'_>) -> bool {
        self.is_regular || turn.is_called
    }

    /// Whether its health counts: not while it is on its way up or down.
    fn is_judged(&self) -> bool {
        matches!(
            self.state,
            RecoveryState::Acting { .. }
                | RecoveryState::Held
                | RecoveryState::Probation { .. }
                | RecoveryState::Active
                | RecoveryState::Pausing { .. }
                | RecoveryState::GivenUp { .. }
                | RecoveryState::Replaced { .. }
                | RecoveryState::HandedBack { .. }
                | RecoveryState::StartingStandby { .. }
        )
    }

    /// What is wrong with it. Nothing, where its health does not count now.
    fn judge(&mut self, turn: &mut Turn<'_>) -> Vec<Symptom> {
        if !self.is_judged() {
            return Vec::new();
        }
        let symptoms = self.evidence.symptoms(turn.now, &self.recipe);
        let health = Health::of(&symptoms);
        let is_proven = self.state == RecoveryState::Active || self.evidence.is_proof(turn.now, &self.recipe);
        self.damping.judge(turn.now, self.is_hindered(health) || !is_proven);
        if let Some(news) = self.reports.judge(turn.now, &symptoms, is_proven) {
            let (component, symptoms) = (self.name.clone(), symptoms.clone());
            turn.report(match news {
                News::Health => MonitorEvent::HealthChanged { component, health, symptoms },
                News::Symptoms => MonitorEvent::SymptomsChanged { component, symptoms },
            });
        }
        symptoms
    }

    /// From now on it has to show that it works.
    pub(super) fn begin_probation(&mut self, turn: &mut Turn<'_>, within: Duration) {
        self.damping.judge(turn.now, true);
        self.state = RecoveryState::Probation { until: turn.now.saturating_add(within) };
    }

    /// How long it may take after an attempt.
    fn within(&self) -> Duration {
        self.recovery.as_ref().map(|recovery| recovery.within).unwrap_or_default()
    }

    pub(super) fn is_managed(&self) -> bool {
        self.recipe.lifecycle == Lifecycle::Managed
    }

    pub(super) fn is_present(&self) -> bool {
        matches!(self.evidence.present, Some((true, _)))
    }

    /// The state of its lifecycle, where it counts.
    pub(super) fn state(&self) -> Option<LifecycleState> {
        self.evidence.lifecycle.filter(|_| self.is_managed())
    }

    pub(super) fn after(turn: &Turn<'_>, time: Seconds) -> Duration {
        turn.now.saturating_add(time.duration())
    }

    /// Begins a transition.
    pub(super) fn change(&self, turn: &mut Turn<'_>, transition: Transition) -> (StartupStep, Duration) {
        let attempt = turn.next_attempt();
        let limit = self.recipe.transition_timeout_s.duration();
        turn.effect(Effect::Change { component: self.name.clone(), attempt, transition, limit });
        (StartupStep::Changing { attempt, transition }, turn.now.saturating_add(limit))
    }

    /// The failures among the symptoms, in words.
    pub(super) fn words(symptoms: &[Symptom]) -> String {
        let failures = symptoms.iter().filter(|symptom| symptom.severity == Severity::Failure);
        failures.map(|symptom| symptom.message.as_str()).collect::<Vec<_>>().join("; ")
    }
}
