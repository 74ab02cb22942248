//! Bringing a component up: process, node, lifecycle, and then its health.

use std::time::Duration;

use cortex_recipe::BuiltIn;

use super::shut_down::HALTS_WITHIN;
use super::supervised_component::{RecoveryState, StartupStep, SupervisedComponent};
use super::turn::Turn;
use super::{Effect, MonitorEvent, Transition};
use crate::evidence::not_active;
use crate::health::LifecycleState;

/// How much longer than its limits a stop of a process is waited for: it was killed by then.
pub(super) const KILL_MARGIN: Duration = Duration::from_secs(2);

impl SupervisedComponent {
    /// Begins when all that it depends on works.
    pub(super) fn wait(&mut self, turn: &mut Turn<'_>) {
        if turn.missing.is_empty() {
            self.reports.waits_for(&[]);
            self.begin_bring_up(turn);
        } else if self.reports.waits_for(&turn.missing) {
            turn.report(MonitorEvent::Waiting { component: self.name.clone(), waits_for: turn.missing.clone() });
        }
    }

    pub(super) fn begin_bring_up(&mut self, turn: &mut Turn<'_>) {
        self.lost = true;
        self.returns.wait_no_more();
        turn.not_stopped.remove(&self.name);
        self.state = RecoveryState::BringingUp {
            step: StartupStep::Begin,
            until: Self::after(turn, self.recipe.start_timeout_s),
        };
    }

    pub(super) fn bring_up(&mut self, turn: &mut Turn<'_>, step: StartupStep, until: Duration) {
        match step {
            StartupStep::Clearing if self.is_clear(turn, until) => self.restart(turn),
            // Only what is brought down is drained.
            StartupStep::Clearing | StartupStep::Draining => {}
            StartupStep::Begin if self.recipe.start.process().is_some() && self.process.is_none() => self.spawn(turn),
            StartupStep::Begin => self.state = RecoveryState::BringingUp { step: StartupStep::Appearing, until },
            StartupStep::Appearing if self.is_ready() => self.next_transition(turn, until, None),
            StartupStep::Changed { transition } => self.next_transition(turn, until, Some(transition)),
            StartupStep::Ending | StartupStep::Spawning | StartupStep::Appearing | StartupStep::Changing { .. }
                if turn.now >= until =>
            {
                let reason = match step {
                    StartupStep::Ending => "its process did not end".to_owned(),
                    StartupStep::Changing { transition, .. } => format!("it took too long to {transition}"),
                    _ if self.state() == Some(LifecycleState::Changing) => {
                        "its node stays on its way from one state to another".to_owned()
                    }
                    _ if self.is_present() => "the state of its lifecycle is not known".to_owned(),
                    _ => "its node did not appear in time".to_owned(),
                };
                self.fail_attempt(turn, &reason);
            }
            StartupStep::Ending | StartupStep::Spawning | StartupStep::Appearing | StartupStep::Changing { .. } => {}
        }
    }

    /// Whether its node is there, in a state that lasts.
    fn is_ready(&self) -> bool {
        let lasts = self.state().is_some_and(|state| state != LifecycleState::Changing);
        self.is_present() && (!self.is_managed() || lasts)
    }

    /// Starts its process. Nothing of what was known of the last one counts.
    fn spawn(&mut self, turn: &mut Turn<'_>) {
        let process = turn.next_process();
        self.process = Some(process);
        self.evidence.forget();
        turn.effect(Effect::StartProcess { component: self.name.clone(), process });
        self.state = RecoveryState::BringingUp {
            step: StartupStep::Spawning,
            until: Self::after(turn, self.recipe.start_timeout_s),
        };
    }

    /// Brings it to its beginning, as the action of its recovery says. What others build on is not taken from under them:
    /// they are told first, and halt what they have begun. What fails gets its halts, too, before its process is
    /// touched: only a component that is still there can confirm that it is at rest.
    pub(super) fn begin_restart(&mut self, turn: &mut Turn<'_>) {
        if self.is_usable() {
            let (step, until) = self.clearing(turn);
            self.lost = true;
            self.state = RecoveryState::BringingUp { step, until };
            return;
        }
        let until = turn.now.saturating_add(HALTS_WITHIN);
        if self.can_halt() && !self.is_clear(turn, until) {
            self.state = RecoveryState::BringingUp { step: StartupStep::Clearing, until };
        } else {
            self.restart(turn);
        }
    }

    /// Whether it may bring to rest what is in flight: it has worked, and is not known to be gone.
    fn can_halt(&self) -> bool {
        let is_there = match self.recipe.start.process() {
            Some(_) => self.process.is_some(),
            None => self.is_present(),
        };
        let wants_it = self.recovery.as_ref().is_none_or(|recovery| recovery.halts_first);
        self.has_worked && is_there && wants_it
    }

    fn restart(&mut self, turn: &mut Turn<'_>) {
        self.lost = true;
        let action = self.recovery.as_ref().and_then(|recovery| recovery.action.as_ref());
        let by_lifecycle = self.is_managed() && action.and_then(BuiltIn::named) == Some(BuiltIn::Restart);
        // One that has gone silent does not answer to transitions either, and one at its end has none. Of one that
        // something else started, there is no other way.
        let is_deaf =
            self.evidence.is_silent(turn.now, &self.recipe) || self.state() == Some(LifecycleState::Finalized);
        let is_there = self.process.is_some() && !is_deaf || self.recipe.start.process().is_none();
        if by_lifecycle && is_there { self.restart_lifecycle(turn) } else { self.respawn(turn) }
    }

    /// Ends its process in order to start it anew.
    fn respawn(&mut self, turn: &mut Turn<'_>) {
        match self.process {
            None => self.begin_bring_up(turn),
            Some(process) => {
                let grace = self.recipe.stop_timeout_s.duration();
                turn.effect(Effect::StopProcess { component: self.name.clone(), process, grace });
                let until = turn.now.saturating_add(grace).saturating_add(KILL_MARGIN);
                self.state = RecoveryState::BringingUp { step: StartupStep::Ending, until };
            }
        }
    }

    /// Goes through its lifecycle anew, without ending its process.
    fn restart_lifecycle(&mut self, turn: &mut Turn<'_>) {
        let transition = match self.state() {
            Some(LifecycleState::Active) => Transition::Deactivate,
            Some(LifecycleState::Inactive) => Transition::CleanUp,
            _ => return self.begin_bring_up(turn),
        };
        let (step, until) = self.change(turn, transition);
        self.state = RecoveryState::BringingUp { step, until };
    }

    /// The next transition on the way up, or the proof that it works.
    fn next_transition(&mut self, turn: &mut Turn<'_>, until: Duration, came_by: Option<Transition>) {
        let transition = match (self.state(), came_by) {
            // On the way down, in order to come up anew.
            (Some(LifecycleState::Inactive), Some(Transition::Deactivate)) => Transition::CleanUp,
            (Some(LifecycleState::Unconfigured), _) => {
                // What was said, and asked of it, was before it began anew.
                self.evidence.forget_diagnostics();
                self.evidence.forget_calls();
                Transition::Configure
            }
            (Some(LifecycleState::Inactive), _) => Transition::Activate,
            (Some(state @ LifecycleState::Finalized), _) => {
                return self.fail_attempt(turn, &not_active(state, &self.recipe));
            }
            // Someone else changes it; the state comes when it is known.
            (Some(LifecycleState::Changing), _) => {
                self.state = RecoveryState::BringingUp { step: StartupStep::Appearing, until };
                return;
            }
            (Some(LifecycleState::Active) | None, _) => {
                let within = self.recovery.as_ref().map_or_else(|| self.first_proof(), |recovery| recovery.within);
                self.evidence.begin(turn.now, &self.recipe);
                return self.begin_probation(turn, within);
            }
        };
        let (step, until) = self.change(turn, transition);
        self.state = RecoveryState::BringingUp { step, until };
    }

    /// How long it may take, when it is brought up for the first time, until it is healthy.
    fn first_proof(&self) -> Duration {
        self.recipe.start_timeout_s.duration()
    }
}
