//! Whether something comes often enough: so many messages in each time span.

use std::collections::VecDeque;
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// Parts of the time span that are counted apart. A shortage is seen after the span and one part more, at the latest.
const PARTS: u32 = 4;

/// Counts what came lately. It is judged from one span after its beginning on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Window {
    span: Duration,
    at_least: u32,
    /// Since when something is expected. None while nothing is.
    began: Option<Duration>,
    /// Counts by part of time, oldest first; at most `PARTS + 1`.
    counts: VecDeque<(u64, u32)>,
}

impl Window {
    /// One in which nothing is expected yet.
    #[must_use]
    pub fn new(span: Duration, at_least: u32) -> Self {
        Self { span: span.max(Duration::from_millis(1)), at_least, began: None, counts: VecDeque::new() }
    }

    /// From now on something is expected, as if nothing had come before.
    pub fn begin(&mut self, now: Duration) {
        self.began = Some(now);
        self.counts.clear();
    }

    /// Nothing is expected any more.
    pub fn end(&mut self) {
        self.began = None;
        self.counts.clear();
    }

    /// Whether something is expected.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.began.is_some()
    }

    /// So many came.
    pub fn note(&mut self, now: Duration, count: u32) {
        if self.began.is_none() {
            return;
        }
        let part = self.part(now);
        match self.counts.back_mut() {
            Some((last, counted)) if *last >= part => *counted = counted.saturating_add(count),
            _ => self.counts.push_back((part, count)),
        }
        while self.counts.front().is_some_and(|(oldest, _)| *oldest + u64::from(PARTS) < part) {
            self.counts.pop_front();
        }
    }

    /// How many came lately.
    #[must_use]
    pub fn count(&self, now: Duration) -> u32 {
        let part = self.part(now);
        let fresh = self.counts.iter().filter(|(counted, _)| *counted + u64::from(PARTS) >= part);
        fresh.fold(0, |sum, (_, count)| sum.saturating_add(*count))
    }

    /// Whether enough came lately, however short the time was.
    #[must_use]
    pub fn is_met(&self, now: Duration) -> bool {
        self.count(now) >= self.at_least
    }

    /// Whether too little came although there was time enough.
    #[must_use]
    pub fn falls_short(&self, now: Duration) -> bool {
        self.began.is_some_and(|began| now >= began.saturating_add(self.span)) && !self.is_met(now)
    }

    /// When it falls short if nothing more comes.
    #[must_use]
    pub fn next_look(&self, now: Duration) -> Option<Duration> {
        let ripe = self.began?.saturating_add(self.span);
        let mut left = self.count(now);
        let mut at = now;
        let fresh = self.counts.iter().filter(|(counted, _)| *counted + u64::from(PARTS) >= self.part(now));
        for (part, count) in fresh {
            if left < self.at_least {
                break;
            }
            left = left.saturating_sub(*count);
            at = self.end_of(part.saturating_add(u64::from(PARTS)));
        }
        Some(at.max(ripe)).filter(|at| *at > now)
    }

    fn part_nanos(&self) -> u128 {
        (self.span.as_nanos() / u128::from(PARTS)).max(1)
    }

    fn part(&self, now: Duration) -> u64 {
        u64::try_from(now.as_nanos() / self.part_nanos()).unwrap_or(u64::MAX - u64::from(PARTS) - 1)
    }

    /// When that part of time is over.
    fn end_of(&self, part: u64) -> Duration {
        let nanos = (u128::from(part) + 1).saturating_mul(self.part_nanos());
        let second = u128::from(1_000_000_000_u32);
        let whole = u64::try_from(nanos / second).unwrap_or(u64::MAX);
        Duration::new(whole, u32::try_from(nanos % second).unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: f64) -> Duration {
        Duration::from_secs_f64(seconds)
    }

    #[test]
    fn too_few_messages_are_noticed_within_the_span_and_a_part() {
        let mut window = Window::new(at(2.0), 4);
        assert!(!window.falls_short(at(100.0)), "nothing is expected yet");
        window.begin(at(10.0));
        assert!(!window.falls_short(at(11.9)), "it has the whole span for the first ones");
        assert!(window.falls_short(at(12.0)));
        for tenth in 100..200_u32 {
            window.note(at(f64::from(tenth) / 10.0), 1);
        }
        assert!(!window.falls_short(at(20.0)));
        let look = window.next_look(at(20.0)).unwrap();
        assert!(look > at(20.0) && look <= at(22.5), "{look:?}");
        assert!(window.falls_short(look));
        assert!(!window.falls_short(look - Duration::from_nanos(1)));
    }

    #[test]
    fn exactly_enough_is_enough_at_every_moment() {
        let mut window = Window::new(at(1.0), 2);
        window.begin(at(0.0));
        for half in 0..40_u32 {
            window.note(at(f64::from(half) / 2.0), 1);
            for part in 0..10_u32 {
                let now = at(f64::from(half) / 2.0 + f64::from(part) / 20.0);
                assert!(!window.falls_short(now), "{now:?}");
            }
        }
    }

    #[test]
    fn counts_are_bounded() {
        let mut window = Window::new(at(1.0), 1);
        window.begin(at(0.0));
        for step in 0..1000_u32 {
            window.note(at(f64::from(step) / 10.0), u32::MAX);
        }
        assert!(window.counts.len() <= 5);
    }
}
