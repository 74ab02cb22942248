//! Climbing a ladder: one action after the other, until the component's health says that it helped.

use std::time::Duration;

use cortex_recipe::{ActionKind, ActionName, BuiltIn, Rung};

use super::supervised_component::{Recovery, RecoveryState, SupervisedComponent};
use super::turn::Turn;
use super::words::tried_again;
use super::{Effect, MonitorEvent};
use crate::health::{FailureKind, Health, LifecycleState, Symptom};
use crate::ladder;

impl SupervisedComponent {
    /// Looks after a component that works.
    pub(super) fn serve(&mut self, turn: &mut Turn<'_>, symptoms: &[Symptom]) {
        let decay = self.recipe.fallbacks.failure_decay_s.duration();
        if let Some(left) = self.attempts.forgive(turn.now, decay) {
            turn.report(MonitorEvent::AttemptsForgiven { component: self.name.clone(), left });
        }
        // While the rate is limited, it is looked again when that lets somebody through.
        if self.wanted.is_some()
            && turn.ask_storm().is_ok()
            && let Some(action) = self.wanted.take()
        {
            return self.restart_wanted(turn, action);
        }
        let Health::Failed { kind } = Health::of(symptoms) else { return };
        // It says itself that the fault is with others, and they are seen to.
        if kind == FailureKind::System && !turn.missing.is_empty() {
            return;
        }
        if self.works_on(kind) {
            return;
        }
        self.next_attempt(turn, kind, Self::words(symptoms));
    }

    /// Somebody wants it restarted; what follows is as after a failure. It is none, so no rung is used up, and it is not
    /// trusted less for it.
    fn restart_wanted(&mut self, turn: &mut Turn<'_>, action: ActionName) {
        let within = Rung::once(BuiltIn::Restart).within_s.duration();
        let reason = "a restart was wanted".to_owned();
        turn.report(MonitorEvent::RestartBegan { component: self.name.clone(), action: action.clone() });
        self.damping.begin_anew();
        let kind = FailureKind::Component;
        let (halts_first, because) = (true, reason.clone());
        self.recovery = Some(Recovery { kind, action: Some(action.clone()), within, halts_first, reason: because });
        self.begin(turn, action, within, reason);
    }

    /// While one failure is seen to, a worse one may come, of the component itself perhaps: that goes first, unless nothing
    /// would be done about it.
    pub(super) fn escalate(&mut self, turn: &mut Turn<'_>, symptoms: &[Symptom]) -> bool {
        let (Some(recovery), Health::Failed { kind }) = (&self.recovery, Health::of(symptoms)) else { return false };
        if self.state == RecoveryState::Active || kind <= recovery.kind || self.works_on(kind) {
            return false;
        }
        self.next_attempt(turn, kind, Self::words(symptoms));
        true
    }

    /// What was tried did not help.
    pub(super) fn fail_attempt(&mut self, turn: &mut Turn<'_>, reason: &str) {
        let action = self.recovery.as_ref().and_then(|recovery| recovery.action.clone());
        turn.report(MonitorEvent::AttemptFailed { component: self.name.clone(), action, reason: reason.to_owned() });
        let kind = match &self.recovery {
            Some(recovery) if self.evidence.ended.is_none() => recovery.kind,
            // Never up yet, or its process ended: nothing but the component itself is to blame.
            _ => FailureKind::Component,
        };
        self.next_attempt(turn, kind, reason.to_owned());
    }

    pub(super) fn next_attempt(&mut self, turn: &mut Turn<'_>, kind: FailureKind, reason: String) {
        // A call may have got through until now.
        if self.is_usable() {
            self.flush_calls(turn);
        }
        // What fails for a reason that is not known has to show first that it works.
        self.lost |= kind > FailureKind::System;
        self.returns.wait_no_more();
        let used = self.attempts.of(kind);
        let (rung, skipped) = self.next_rung(turn, kind, used);
        self.attempts.add(kind, skipped);
        let action = rung.as_ref().map(|rung| rung.action.clone());
        let within = rung.as_ref().map(|rung| rung.within_s.duration()).unwrap_or_default();
        let halts_first = rung.as_ref().is_none_or(|rung| rung.halt_first);
        self.recovery = Some(Recovery { kind, action, within, halts_first, reason });
        match rung {
            Some(_) => self.state = RecoveryState::Pausing { until: turn.now.saturating_add(ladder::backoff(used)) },
            None => self.give_up(turn),
        }
    }

    /// The rung after `used` attempts that can help, and how many attempts are passed over: nobody asks a process that is
    /// gone for something, and a node at its end is started anew by whoever has started it.
    fn next_rung(&self, turn: &Turn<'_>, kind: FailureKind, used: u32) -> (Option<Rung>, u32) {
        let ladder = ladder::ladder(&self.recipe, kind);
        let is_gone = self.recipe.start.process().is_some() && self.process.is_none();
        let asks_it = |rung: &Rung| match turn.actions.get(&rung.action).map(|action| &action.kind) {
            Some(ActionKind::Method(call)) => call.component == self.name,
            Some(ActionKind::Parameters(parameters)) => parameters.component == self.name,
            _ => false,
        };
        let is_at_its_end = self.recipe.start.process().is_none() && self.state() == Some(LifecycleState::Finalized);
        let can_help = |rung: &Rung| match BuiltIn::named(&rung.action) {
            Some(BuiltIn::Restart | BuiltIn::Respawn) => !is_at_its_end,
            _ => !(is_gone && asks_it(rung)),
        };
        let mut skipped = 0;
        loop {
            match ladder::rung(&ladder, used.saturating_add(skipped)) {
                Some(rung) if !can_help(rung) => skipped += 1,
                rung => return (rung.cloned(), skipped),
            }
        }
    }

    /// Waits for the next attempt: for its time, for what the component depends on, and for the storm to let it through.
    pub(super) fn pause(&mut self, turn: &mut Turn<'_>, until: Duration, symptoms: &[Symptom]) {
        if self.is_well(symptoms) {
            return self.come_back(turn);
        }
        if turn.now < until || !turn.missing.is_empty() {
            return;
        }
        match turn.ask_storm() {
            Ok(()) => self.begin_attempt(turn),
            Err(until) => self.state = RecoveryState::Pausing { until },
        }
    }

    fn begin_attempt(&mut self, turn: &mut Turn<'_>) {
        let Some(Recovery { kind, action: Some(action), within, reason, .. }) = self.recovery.clone() else {
            // Not reached: only what has a rung comes here.
            return self.give_up(turn);
        };
        let attempt = self.attempts.add(kind, 1);
        turn.report(MonitorEvent::AttemptBegan { component: self.name.clone(), action: action.clone(), attempt });
        self.begin(turn, action, within, reason);
    }

    fn begin(&mut self, turn: &mut Turn<'_>, action: ActionName, within: Duration, reason: String) {
        match BuiltIn::named(&action) {
            Some(BuiltIn::Restart | BuiltIn::Respawn) => self.begin_restart(turn),
            Some(BuiltIn::Standby) => {
                self.state = RecoveryState::StartingStandby { until: turn.now.saturating_add(within) }
            }
            Some(BuiltIn::NotifyOperator) => {
                turn.effect(Effect::NotifyOperator { component: self.name.clone(), message: reason });
                self.begin_probation(turn, within);
            }
            Some(BuiltIn::PauseMissions) => {
                self.pauses_missions = true;
                self.begin_probation(turn, within);
            }
            None => self.act(turn, action),
        }
    }

    /// Begins an action of the recipe.
    fn act(&mut self, turn: &mut Turn<'_>, action: ActionName) {
        let Some(limit) = turn.actions.get(&action).map(|known| known.timeout_s.duration()) else {
            return self.fail_attempt(turn, "there is no such action");
        };
        let attempt = turn.next_attempt();
        turn.effect(Effect::Act { component: self.name.clone(), attempt, action, limit });
        self.state = RecoveryState::Acting { attempt, until: turn.now.saturating_add(limit) };
    }

    /// The stop has refused what was begun: it was not tried.
    pub(super) fn hold(&mut self, turn: &mut Turn<'_>) {
        let Some(Recovery { kind, action: Some(action), .. }) = &self.recovery else {
            // Not reached: only what has begun an action comes here.
            return self.give_up(turn);
        };
        self.attempts.take_back(*kind);
        if turn.stopped {
            turn.report(MonitorEvent::HeldByStop { component: self.name.clone(), action: action.clone() });
            self.state = RecoveryState::Held;
        } else {
            // Resumed since.
            self.state = RecoveryState::Pausing { until: turn.now.saturating_add(ladder::BACKOFF) };
        }
    }

    /// Waits until what comes next is not refused any more.
    pub(super) fn wait_for_resume(&mut self, turn: &mut Turn<'_>, symptoms: &[Symptom]) {
        if self.is_well(symptoms) {
            self.come_back(turn);
        } else if !turn.stopped {
            self.state = RecoveryState::Pausing { until: turn.now };
        }
    }

    /// Waits for the standby.
    pub(super) fn start_standby(&mut self, turn: &mut Turn<'_>, until: Duration) {
        if turn.standby_works {
            if !self.replaced {
                self.replaced = true;
                turn.effect(Effect::FailOver { component: self.name.clone(), by: turn.standby.clone() });
            }
            self.pauses_missions = false;
            self.state = RecoveryState::Replaced { until: Self::after(turn, self.recipe.fallbacks.cooldown_s) };
        } else if turn.now >= until {
            self.fail_attempt(turn, "its standby did not come up in time");
        }
    }

    /// Waits for its health after an attempt.
    pub(super) fn check_probation(&mut self, turn: &mut Turn<'_>, until: Duration, symptoms: &[Symptom]) {
        if self.is_well(symptoms) {
            self.come_back(turn);
        } else if self.evidence.ended.is_some() {
            self.fail_attempt(turn, &Self::words(symptoms));
        } else if turn.now >= until && self.damping.good_at().is_none() {
            // One that is good right now gets the time to show that it stays so.
            let words = Self::words(symptoms);
            let reason = if words.is_empty() { "it did not show in time that it works" } else { &words };
            self.fail_attempt(turn, reason);
        }
    }

    /// Leaves it alone for a while.
    pub(super) fn rest(&mut self, turn: &mut Turn<'_>, until: Duration, symptoms: &[Symptom]) {
        if self.is_well(symptoms) {
            return self.come_back(turn);
        }
        // A standby that is given up itself has the place for nothing.
        let stands_alone = matches!(self.state, RecoveryState::Replaced { .. }) && turn.standby_is_given_up;
        if turn.now < until && !stands_alone {
            return;
        }
        if self.returns.is_waiting() {
            return self.take_up(turn);
        }
        let (kind, reason) = self.what_fails_now(symptoms);
        self.attempts.clear();
        self.returns.forget_count();
        self.next_attempt(turn, kind, reason);
    }

    /// A managed node that comes anew is brought up at once, whatever was to be waited for; one that keeps coming anew, later
    /// each time.
    pub(super) fn on_begun_anew(&mut self, now: Duration) {
        let is_external = self.recipe.start.process().is_none();
        // While others build on it, the graph has lost sight of it, or its state will tell more.
        if !self.is_managed() || self.is_usable() {
            return;
        }
        let soon = now.saturating_add(self.returns.backoff());
        match &mut self.state {
            RecoveryState::Pausing { until } if is_external => *until = soon.min(*until),
            RecoveryState::GivenUp { until, .. } | RecoveryState::Replaced { until }
                if is_external || self.process.is_some() =>
            {
                *until = soon.min(*until);
                self.returns.wait();
            }
            _ => return,
        }
        self.returns.count();
    }

    /// Its node has begun anew while it was left alone: it is brought up, and no rung is used up by that.
    fn take_up(&mut self, turn: &mut Turn<'_>) {
        if !turn.missing.is_empty() {
            return;
        }
        if let Err(later) = turn.ask_storm() {
            if let RecoveryState::GivenUp { until, .. } | RecoveryState::Replaced { until } = &mut self.state {
                *until = later;
            }
            return;
        }
        let within = self.recipe.start_timeout_s.duration();
        if let Some(recovery) = &mut self.recovery {
            recovery.action = None;
            recovery.within = within;
        }
        self.begin_bring_up(turn);
    }

    /// The worst failure that is seen now, if something can be done about that; or else what it was given up for.
    fn what_fails_now(&self, symptoms: &[Symptom]) -> (FailureKind, String) {
        match (Health::of(symptoms), &self.recovery) {
            (Health::Failed { kind }, _) if !ladder::ladder(&self.recipe, kind).is_empty() => {
                (kind, Self::words(symptoms))
            }
            (_, Some(recovery)) => (recovery.kind, recovery.reason.clone()),
            (_, None) => (FailureKind::Component, Self::words(symptoms)),
        }
    }

    /// Whether such a failure is only told: the component itself works, and nothing is named that would help.
    fn works_on(&self, kind: FailureKind) -> bool {
        matches!(kind, FailureKind::Algorithm | FailureKind::System) && ladder::ladder(&self.recipe, kind).is_empty()
    }

    /// Whether its health keeps it from coming up. What is only told does not, since it did not keep it from being used
    /// either, and bringing it up again and again would not fix it. But what is seen to is over only when nothing as bad
    /// is left, and a standby makes room only for one that does not fail at all.
    pub(super) fn is_hindered(&self, health: Health) -> bool {
        let Health::Failed { kind } = health else { return false };
        let seen_to = self.recovery.as_ref().map_or(FailureKind::Component, |recovery| recovery.kind);
        self.replaced || kind >= seen_to || !self.works_on(kind)
    }

    /// Whether it has been good for long enough.
    pub(super) fn is_well(&self, symptoms: &[Symptom]) -> bool {
        !self.damping.is_bad() && !self.is_hindered(Health::of(symptoms))
    }

    pub(super) fn come_up(&mut self, turn: &mut Turn<'_>) {
        if self.replaced {
            self.replaced = false;
            turn.effect(Effect::FailOver { component: self.name.clone(), by: None });
        }
        self.recovery = None;
        self.lost = false;
        self.returns.wait_no_more();
        self.returns.forget_count();
        // Whatever it was that brought it up, it is as new.
        self.wanted = None;
        self.pauses_missions = false;
        self.has_worked = true;
        self.attempts.begin_forgiving(turn.now);
        self.state = RecoveryState::Active;
        turn.report(MonitorEvent::CameUp { component: self.name.clone() });
    }

    fn give_up(&mut self, turn: &mut Turn<'_>) {
        let reason = self.recovery.as_ref().map(|recovery| recovery.reason.clone()).unwrap_or_default();
        let rest = self.recipe.fallbacks.cooldown_s.duration();
        turn.report(MonitorEvent::GaveUp { component: self.name.clone(), reason: reason.clone(), rest });
        let tell = |turn: &mut Turn<'_>| {
            let message = format!("{reason}; {}", tried_again(rest));
            turn.effect(Effect::NotifyOperator { component: self.name.clone(), message });
        };
        let mut pauses = false;
        for rung in &self.recipe.fallbacks.on_giveup {
            match BuiltIn::named(&rung.action) {
                Some(BuiltIn::NotifyOperator) => tell(turn),
                Some(BuiltIn::PauseMissions) => pauses = true,
                // Refused by the check of recipes: the ladder is over.
                Some(BuiltIn::Restart | BuiltIn::Respawn | BuiltIn::Standby) => {}
                None => {
                    let limit = turn.actions.get(&rung.action).map(|action| action.timeout_s.duration());
                    if let Some(limit) = limit {
                        // Nothing waits for its end.
                        let (component, action) = (self.name.clone(), rung.action.clone());
                        let attempt = turn.next_attempt();
                        turn.effect(Effect::Act { component, attempt, action, limit });
                    }
                }
            }
        }
        // Nobody should find a robot standing still without a word.
        if self.recipe.fallbacks.on_giveup.is_empty() {
            tell(turn);
        }
        self.pauses_missions |= pauses;
        let until = Self::after(turn, self.recipe.fallbacks.cooldown_s);
        self.state = RecoveryState::GivenUp { until, while_stopped: turn.stopped };
    }
}
