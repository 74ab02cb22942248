//! One event: whether it holds, and when it may happen.

use std::collections::VecDeque;
use std::time::Duration;

use cortex_core::condition::Verdict;
use cortex_recipe::Event;
use serde::{Deserialize, Serialize};

use super::HeldBack;

/// How long an event that hands Cortex tasks is left alone after its task, at least: the end of a task must not be what
/// makes it happen again without end. Each time that it comes back soon after, this doubles.
pub const REST: Duration = Duration::from_secs(10);

/// How often the rest is doubled at most: about 11 minutes.
const MAX_DOUBLINGS: u32 = 6;

/// See the module.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Rule {
    // What the recipe says.
    held_for: Duration,
    silence: Option<Duration>,
    has_until: bool,
    once: bool,
    at_most: usize,
    every: Duration,
    again: Option<Duration>,
    gives_tasks: bool,
    cost: usize,

    // What is known.
    /// Since when it holds without a break.
    holds_since: Option<Duration>,
    /// Whether what ends it holds.
    is_over: bool,
    /// Whether anything was ever heard of what it is about.
    heard: bool,
    /// Whether it was known not to hold since it last happened.
    ready: bool,
    /// Whether what it does goes on.
    doing: bool,
    /// When that last ended.
    ended: Option<Duration>,
    /// When it happened, as far as that counts; at most `at_most`.
    times: VecDeque<Duration>,
    /// How often it came back soon after its own task.
    returns: u32,
    told: bool,
}

impl Rule {
    pub(super) fn new(event: &Event) -> Self {
        Self {
            held_for: event.for_s.map(cortex_recipe::Seconds::duration).unwrap_or_default(),
            silence: event.silent_s.map(cortex_recipe::Seconds::duration),
            has_until: event.until.is_some(),
            once: event.once,
            at_most: usize::try_from(event.at_most).unwrap_or(usize::MAX).max(1),
            every: event.every_s.duration(),
            again: event.again_s.map(cortex_recipe::Seconds::duration),
            gives_tasks: event.gives_tasks(),
            cost: (event.actions.len() + event.on_failure.len()).max(1),
            holds_since: None,
            is_over: false,
            heard: false,
            ready: true,
            doing: false,
            ended: None,
            times: VecDeque::new(),
            returns: 0,
            told: false,
        }
    }

    /// How many things it does, at most.
    pub(super) fn cost(&self) -> usize {
        self.cost
    }

    /// Takes what is known of its conditions now.
    pub(super) fn see(&mut self, now: Duration, when: Verdict, until: Verdict) {
        let is_known = when != Verdict::Unknown;
        self.heard |= is_known;
        let holds = if self.silence.is_some() { !is_known } else { when == Verdict::Holds };
        self.is_over = match (self.silence, self.has_until) {
            (Some(_), _) => is_known,
            (None, true) => until == Verdict::Holds,
            (None, false) => when == Verdict::Broken,
        };
        if holds {
            self.holds_since.get_or_insert(now);
        } else {
            self.holds_since = None;
        }
        // What changes while it does something may come of that.
        self.ready |= self.is_over && !self.doing;
    }

    /// What it does has ended.
    pub(super) fn end(&mut self, now: Duration) {
        if self.doing {
            self.doing = false;
            self.ended = Some(now);
            self.ready |= self.is_over;
        }
    }

    /// Since when it is due, were it not for the bounds. None: it is not.
    pub(super) fn due_since(&self, now: Duration) -> Option<Duration> {
        self.due_at().filter(|at| *at <= now)
    }

    /// When it is due, if it holds until then.
    fn due_at(&self) -> Option<Duration> {
        if self.doing || (self.once && !self.times.is_empty()) {
            return None;
        }
        // Who was never heard is given the time of silence from the beginning; otherwise that is over when it is unknown.
        let patience = self.silence.filter(|_| !self.heard).unwrap_or_default();
        let held = self.holds_since?.saturating_add(self.held_for).saturating_add(patience);
        if self.ready {
            return Some(held);
        }
        Some(held.max(self.ended?.saturating_add(self.again?)))
    }

    /// When it may happen as far as only it is concerned.
    pub(super) fn possible_at(&self) -> Option<Duration> {
        let due = self.due_at()?;
        let bounds = [self.allowed_at(), self.rested_at()];
        Some(bounds.into_iter().flatten().fold(due, Duration::max))
    }

    /// Why it must wait although it is due.
    pub(super) fn own_bound(&self, now: Duration) -> Option<HeldBack> {
        if self.allowed_at().is_some_and(|at| at > now) {
            return Some(HeldBack::TooOften);
        }
        self.rested_at().filter(|at| *at > now).map(|_| HeldBack::ComesBack { rest: self.rest() })
    }

    /// When it has not happened too often any more.
    fn allowed_at(&self) -> Option<Duration> {
        let first = self.times.front().filter(|_| self.times.len() >= self.at_most)?;
        Some(first.saturating_add(self.every))
    }

    /// When its own task is long enough ago.
    fn rested_at(&self) -> Option<Duration> {
        self.ended.filter(|_| self.gives_tasks).map(|ended| ended.saturating_add(self.rest()))
    }

    fn rest(&self) -> Duration {
        REST.saturating_mul(1 << self.returns.min(MAX_DOUBLINGS))
    }

    /// It happens now.
    pub(super) fn happen(&mut self, now: Duration) {
        if let (Some(due), Some(ended)) = (self.due_at(), self.ended) {
            let is_soon = due < ended.saturating_add(self.rest().saturating_mul(2));
            self.returns = if is_soon { (self.returns + 1).min(MAX_DOUBLINGS) } else { 0 };
        }
        if self.times.len() >= self.at_most {
            self.times.pop_front();
        }
        self.times.push_back(now);
        self.ready = false;
        self.doing = true;
        self.told = false;
    }

    /// Whether it is to be told that it waits: once until it happens, so that what flaps does not fill the log. The first
    /// short rest is nothing to tell.
    pub(super) fn tells(&mut self, why: HeldBack) -> bool {
        let is_worth_it = why != (HeldBack::ComesBack { rest: REST });
        is_worth_it && !std::mem::replace(&mut self.told, true)
    }
}
