//! Bringing a component down: after all that depends on it, lifecycle first, then its process.

use std::time::Duration;

use super::member::{Course, Member, Stage};
use super::raising::KILL_MARGIN;
use super::turn::Turn;
use super::{Effect, MonitorEvent, Transition};
use crate::health::LifecycleState;

/// How long the answer to [`Effect::FlushCalls`] is waited for, at most. It comes at once, unless the monitor is told more
/// than it can take.
const FLUSHED_WITHIN: Duration = Duration::from_secs(1);

/// How long the halts of what is in flight at a component that fails are waited for: as long as a call may take to halt
/// and to return, where the configuration does not give it longer.
pub(super) const HALTS_WITHIN: Duration = Duration::from_secs(6);

impl Member {
    pub(super) fn begin_lowering(&mut self, turn: &mut Turn<'_>) {
        if matches!(self.course, Course::Idle | Course::Waiting) {
            self.settle_down(turn);
        } else if self.course == Course::Serving && !turn.ending {
            self.flush_calls(turn);
            self.course = Course::Lowering { stage: Stage::Draining, until: turn.now.saturating_add(FLUSHED_WITHIN) };
        } else if self.is_usable() && !turn.ending {
            let (stage, until) = self.clearing(turn);
            self.course = Course::Lowering { stage, until };
        } else {
            self.course = Course::Lowering { stage: Stage::Begin, until: turn.now };
        }
    }

    pub(super) fn lower(&mut self, turn: &mut Turn<'_>, stage: Stage, until: Duration) {
        match stage {
            Stage::Clearing if turn.ending || self.is_clear(turn, until) => {
                self.course = Course::Lowering { stage: Stage::Begin, until };
            }
            Stage::Clearing => {}
            Stage::Draining => self.drain(turn, until),
            Stage::Begin if turn.ending && !turn.above_are_down => {}
            // One that has gone silent would not answer; its process is ended all the same.
            Stage::Begin
                if self.state() == Some(LifecycleState::Active)
                    && self.is_present()
                    && !(self.process.is_some() && self.evidence.is_silent(turn.now, &self.recipe)) =>
            {
                let (stage, until) = self.change(turn, Transition::Deactivate);
                self.course = Course::Lowering { stage, until };
            }
            Stage::Begin | Stage::Changed { .. } => self.end_process(turn),
            Stage::Changing { transition, .. } if turn.now >= until => {
                self.course = Course::Lowering { stage: Stage::Changed { transition }, until };
            }
            Stage::Ending if turn.now >= until => {
                turn.not_stopped.insert(self.name.clone());
                self.settle_down(turn);
            }
            Stage::Ending | Stage::Spawning | Stage::Appearing | Stage::Changing { .. } => {}
        }
    }

    /// What waits for the end of what is under way in it, from now on.
    pub(super) fn clearing(&mut self, turn: &mut Turn<'_>) -> (Stage, Duration) {
        self.flush_calls(turn);
        let limit = if self.is_managed() { self.recipe.transition_timeout_s } else { self.recipe.stop_timeout_s };
        (Stage::Clearing, Self::after(turn, limit))
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
                self.course = Course::Lowering { stage: Stage::Ending, until };
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
        if !matches!(self.course, Course::Idle | Course::Waiting) {
            turn.report(MonitorEvent::WentDown { component: self.name.clone() });
        }
        if turn.ending {
            self.course = Course::Down;
        } else {
            self.course = Course::Idle;
            // When it is wanted again, it begins anew.
            self.damping.begin_anew();
            self.told = None;
            self.recovery = None;
            self.used.clear();
            self.replaced = false;
            self.pauses_missions = false;
        }
    }
}
