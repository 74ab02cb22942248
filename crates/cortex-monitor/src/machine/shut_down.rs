//! Bringing a component down: after all that depends on it, lifecycle first, then its process.

use std::time::Duration;

use super::bring_up::KILL_MARGIN;
use super::supervised_component::{RecoveryState, StartupStep, SupervisedComponent};
use super::turn::Turn;
use super::{Effect, MonitorEvent, Transition};
use crate::health::LifecycleState;

/// How long the answer to [`Effect::FlushCalls`] is waited for, at most. It comes at once, unless the monitor is told more
/// than it can take.
const FLUSHED_WITHIN: Duration = Duration::from_secs(1);

/// How long the halts of what is in flight at a component that fails are waited for: as long as a call may take to halt
/// and to return, where the configuration does not give it longer.
pub(super) const HALTS_WITHIN: Duration = Duration::from_secs(6);

impl SupervisedComponent {
    pub(super) fn begin_shut_down(&mut self, turn: &mut Turn<'_>) {
        if matches!(self.state, RecoveryState::Idle | RecoveryState::Waiting) {
            self.settle_down(turn);
        } else if self.state == RecoveryState::Active && !turn.ending {
            self.flush_calls(turn);
            self.state = RecoveryState::ShuttingDown {
                step: StartupStep::Draining,
                until: turn.now.saturating_add(FLUSHED_WITHIN),
            };
        } else if self.is_usable() && !turn.ending {
            let (step, until) = self.clearing(turn);
            self.state = RecoveryState::ShuttingDown { step, until };
        } else {
            self.state = RecoveryState::ShuttingDown { step: StartupStep::Begin, until: turn.now };
        }
    }

    pub(super) fn shut_down(&mut self, turn: &mut Turn<'_>, step: StartupStep, until: Duration) {
        match step {
            StartupStep::Clearing if turn.ending || self.is_clear(turn, until) => {
                self.state = RecoveryState::ShuttingDown { step: StartupStep::Begin, until };
            }
            StartupStep::Clearing => {}
            StartupStep::Draining => self.drain(turn, until),
            StartupStep::Begin if turn.ending && !turn.above_are_down => {}
            // One that has gone silent would not answer; its process is ended all the same.
            StartupStep::Begin
                if self.state() == Some(LifecycleState::Active)
                    && self.is_present()
                    && !(self.process.is_some() && self.evidence.is_silent(turn.now, &self.recipe)) =>
            {
                let (step, until) = self.change(turn, Transition::Deactivate);
                self.state = RecoveryState::ShuttingDown { step, until };
            }
            StartupStep::Begin | StartupStep::Changed { .. } => self.end_process(turn),
            StartupStep::Changing { transition, .. } if turn.now >= until => {
                self.state = RecoveryState::ShuttingDown { step: StartupStep::Changed { transition }, until };
            }
            StartupStep::Ending if turn.now >= until => {
                turn.not_stopped.insert(self.name.clone());
                self.settle_down(turn);
            }
            StartupStep::Ending | StartupStep::Spawning | StartupStep::Appearing | StartupStep::Changing { .. } => {}
        }
    }

    /// What waits for the end of what is under way in it, from now on.
    pub(super) fn clearing(&mut self, turn: &mut Turn<'_>) -> (StartupStep, Duration) {
        self.flush_calls(turn);
        let limit = if self.is_managed() { self.recipe.transition_timeout_s } else { self.recipe.stop_timeout_s };
        (StartupStep::Clearing, Self::after(turn, limit))
    }

    /// Whether nothing is under way in it any more, or that has taken too long. Missions have heard of its quarantine
    /// meanwhile and halt what they have begun.
    pub(super) fn is_clear(&self, turn: &Turn<'_>, until: Duration) -> bool {
        self.calls_are_known && self.evidence.goals() == 0 || turn.now >= until
    }

    /// How long it takes at most.
    pub(super) fn down_within(&self) -> Duration {
        let transition = if self.is_managed() { self.recipe.transition_timeout_s.duration() } else { Duration::ZERO };
        transition.saturating_add(self.recipe.stop_timeout_s.duration()).saturating_add(KILL_MARGIN)
    }

    fn end_process(&mut self, turn: &mut Turn<'_>) {
        match self.process {
            Some(process) => {
                let grace = self.recipe.stop_timeout_s.duration();
                turn.effect(Effect::StopProcess { component: self.name.clone(), process, grace });
                let until = turn.now.saturating_add(grace).saturating_add(KILL_MARGIN);
                self.state = RecoveryState::ShuttingDown { step: StartupStep::Ending, until };
            }
            None => {
                // Of one that something else started, nothing more can be done than to deactivate it.
                if self.state() == Some(LifecycleState::Active) && self.is_present() {
                    turn.not_stopped.insert(self.name.clone());
                }
                self.settle_down(turn);
            }
        }
    }

    fn settle_down(&mut self, turn: &mut Turn<'_>) {
        if !matches!(self.state, RecoveryState::Idle | RecoveryState::Waiting) {
            turn.report(MonitorEvent::WentDown { component: self.name.clone() });
        }
        if turn.ending {
            self.state = RecoveryState::Down;
        } else {
            self.state = RecoveryState::Idle;
            // When it is wanted again, it begins anew.
            self.damping.begin_anew();
            self.reports.forget_health();
            self.recovery = None;
            self.attempts.clear();
            self.replaced = false;
            self.pauses_missions = false;
        }
    }
}
