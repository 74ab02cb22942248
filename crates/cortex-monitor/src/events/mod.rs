//! What the robot does by itself when something happens, as decisions: `(state, input) -> effects`.
//!
//! Pure. What holds of the robot comes in as verdicts with their times; what is to be done goes out. That an event is done
//! neither too early nor too often is decided here: it must begin to hold, and hold long enough; what was done must be over;
//! it must have been known not to hold since; it may happen so often only; and all events together may do so much only.
//!
//! - `rule`: one event and when it may happen; `budget`: what all of them may do together.

mod budget;
mod exchange;
mod rule;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::time::Duration;

use cortex_recipe::{Event, EventName};
use serde::{Deserialize, Serialize};

pub use budget::{MAX_ACTIONS, WINDOW};
pub use exchange::{EventEffect, EventInput, EventReport, HeldBack};
pub use rule::REST;

use budget::Budget;
use rule::Rule;

/// All events of a recipe.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Events {
    now: Duration,
    rules: BTreeMap<EventName, Rule>,
    budget: Budget,
    stopped: bool,
}

impl Events {
    /// Of which nothing is known yet.
    #[must_use]
    pub fn new(events: &BTreeMap<EventName, Event>) -> Self {
        Self {
            now: Duration::ZERO,
            rules: events.iter().map(|(name, event)| (name.clone(), Rule::new(event))).collect(),
            budget: Budget::default(),
            stopped: false,
        }
    }

    /// Takes an input at a time since any fixed moment, and says what is to be done. Time never goes back.
    pub fn handle(&mut self, now: Duration, input: EventInput) -> Vec<EventEffect> {
        self.now = self.now.max(now);
        match input {
            EventInput::Seen { event, when, until } => {
                if let Some(rule) = self.rules.get_mut(&event) {
                    rule.see(self.now, when, until);
                }
            }
            EventInput::Ended { event } => {
                if let Some(rule) = self.rules.get_mut(&event) {
                    rule.end(self.now);
                }
            }
            EventInput::Stopped => self.stopped = true,
            EventInput::Resumed => self.stopped = false,
            EventInput::Tick => {}
        }
        self.settle()
    }

    /// When something may happen by itself, if nothing is told until then.
    #[must_use]
    pub fn next_wake(&self) -> Option<Duration> {
        let calm = self.budget.calm_at().filter(|at| *at > self.now);
        if self.stopped {
            return calm;
        }
        let later = self.rules.values().filter_map(|rule| rule.possible_at().filter(|at| *at > self.now));
        // The others wait for their share, behind who waits longest.
        let first = self.in_turn().into_iter().find_map(|name| {
            let rule = self.rules.get(&name)?;
            rule.own_bound(self.now).is_none().then(|| self.budget.room_at(self.now, rule.cost()))
        });
        later.chain(first).chain(calm).min()
    }

    /// What is due: who waits longest comes first, so that none waits for ever.
    fn in_turn(&self) -> Vec<EventName> {
        let due = self.rules.iter().filter_map(|(name, rule)| Some((rule.due_since(self.now)?, name)));
        let mut due: Vec<(Duration, &EventName)> = due.collect();
        due.sort();
        due.into_iter().map(|(_, name)| name.clone()).collect()
    }

    /// Lets happen what may.
    fn settle(&mut self) -> Vec<EventEffect> {
        let mut effects = Vec::new();
        let mut is_full = false;
        for name in self.in_turn() {
            let Some(rule) = self.rules.get_mut(&name) else { continue };
            let held_back = if self.stopped {
                Some(HeldBack::Stopped)
            } else if let Some(why) = rule.own_bound(self.now) {
                Some(why)
            } else if is_full || self.budget.room_at(self.now, rule.cost()) > self.now {
                is_full = true;
                if self.budget.rage() {
                    effects.push(EventEffect::Report { report: EventReport::RateLimitReached });
                }
                Some(HeldBack::RateLimit)
            } else {
                None
            };
            match held_back {
                None => {
                    self.budget.take(self.now, rule.cost());
                    rule.happen(self.now);
                    effects.push(EventEffect::Do { event: name });
                }
                Some(why) => {
                    if rule.tells(why) {
                        effects.push(EventEffect::Report { report: EventReport::HeldBack { event: name, why } });
                    }
                }
            }
        }
        if !is_full && self.budget.calms(self.now) {
            effects.push(EventEffect::Report { report: EventReport::RateLimitLifted });
        }
        effects
    }
}
