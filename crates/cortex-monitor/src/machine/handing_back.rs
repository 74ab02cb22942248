//! A place that a standby gives back: to one that is well again, and not in the midst of a call.
//!
//! The two are never used side by side: until nothing is under way in the standby, new calls go there, too. Each call has a
//! time-out of its own, so each ends.

use std::time::Duration;

use super::supervised_component::{RecoveryState, StartupStep, SupervisedComponent};
use super::turn::Turn;
use crate::health::{Health, Symptom};

/// How long nothing is under way in a standby before it gives the place back. The next step of a mission begins right after
/// the last one, and is not to find the place given away on its way there.
const QUIET: Duration = Duration::from_millis(500);

impl SupervisedComponent {
    /// When nothing will have been under way in it for a while. None while something is.
    pub(super) fn quiet_at(&self) -> Option<Duration> {
        self.evidence.idle_since().map(|since| since.saturating_add(QUIET))
    }

    /// It is well, and has its place again as soon as its standby, if that has it, is in use no more.
    pub(super) fn come_back(&mut self, turn: &mut Turn<'_>) {
        let is_in_use = turn.standby_quiet_at.is_none_or(|at| turn.now < at);
        if self.replaced && turn.standby_works && is_in_use {
            // While a call goes on, its end is waited for, and not the time.
            self.state = RecoveryState::HandedBack { until: turn.standby_quiet_at.unwrap_or_default() };
        } else {
            self.come_up(turn);
        }
    }

    /// Waits for its place, as long as it is well.
    pub(super) fn hand_back(&mut self, turn: &mut Turn<'_>, symptoms: &[Symptom]) {
        match Health::of(symptoms) {
            _ if self.is_well(symptoms) => self.come_back(turn),
            Health::Failed { kind } => self.next_attempt(turn, kind, Self::words(symptoms)),
            // It has to show for a while that it is as good as it was.
            Health::Healthy | Health::Suspect => {}
        }
    }

    /// Lets a standby finish what it does for those who called it before they knew that nobody needs it any more.
    pub(super) fn drain(&mut self, turn: &Turn<'_>, until: Duration) {
        let is_over = self.evidence.goals() == 0 && (self.calls_are_known || turn.now >= until);
        if turn.ending || is_over {
            self.state = RecoveryState::ShuttingDown { step: StartupStep::Begin, until: turn.now };
        } else if self.is_wanted(turn) {
            self.state = RecoveryState::Active;
        }
    }
}
