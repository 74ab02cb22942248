//! Whether a model that failed is asked again: a circuit breaker, as Nygard, "Release It!", describes it.

use std::time::Duration;

use tokio::time::Instant;

/// Longest time without a request, however often the model failed.
const MAX_PAUSE: Duration = Duration::from_secs(300);

/// The breaker of one model. It opens with the first request that fails, since a request has had its retries by then.
#[derive(Debug)]
pub(crate) struct Breaker {
    /// How long the model is left alone after its first failure; twice as long after each further one.
    pause: Duration,
    state: State,
    failures: u32,
}

/// Whether a request may pass.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Admission {
    /// It may; what came of it must be told.
    Passes,
    /// The model is left alone, because of this.
    LeftAlone(String),
}

#[derive(Debug, Clone, PartialEq)]
enum State {
    /// It answers, as far as anybody knows.
    Closed,
    /// It is not asked before this moment, and then once.
    Open { until: Instant, because: String },
    /// The one request that shows whether it is back is under way.
    HalfOpen { because: String },
}

impl Breaker {
    pub(crate) fn new(pause: Duration) -> Self {
        Self { pause, state: State::Closed, failures: 0 }
    }

    /// Whether the model is asked now.
    pub(crate) fn admit(&mut self, now: Instant) -> Admission {
        match &self.state {
            State::Closed => Admission::Passes,
            State::Open { until, because } if *until <= now => {
                self.state = State::HalfOpen { because: because.clone() };
                Admission::Passes
            }
            State::Open { because, .. } | State::HalfOpen { because } => Admission::LeftAlone(because.clone()),
        }
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.state == State::Closed
    }

    pub(crate) fn succeeded(&mut self) {
        (self.state, self.failures) = (State::Closed, 0);
    }

    /// `wait` is how long the other side asks to be left alone.
    pub(crate) fn failed(&mut self, now: Instant, because: String, wait: Option<Duration>) {
        let pause = self.pause.saturating_mul(2_u32.saturating_pow(self.failures)).min(MAX_PAUSE);
        self.failures = self.failures.saturating_add(1);
        let pause = pause.max(wait.unwrap_or_default().min(MAX_PAUSE));
        self.state = State::Open { until: now + pause, because };
    }

    /// The request was given up before its end, so it shows nothing.
    pub(crate) fn gave_up(&mut self, now: Instant) {
        if let State::HalfOpen { because } = &self.state {
            self.state = State::Open { until: now, because: because.clone() };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAUSE: Duration = Duration::from_secs(30);

    #[test]
    fn a_model_that_failed_is_left_alone_and_then_asked_once() {
        let (start, mut breaker) = (Instant::now(), Breaker::new(PAUSE));
        assert_eq!(breaker.admit(start), Admission::Passes);
        breaker.failed(start, "it is down".to_owned(), None);
        assert_eq!(breaker.admit(start + PAUSE / 2), Admission::LeftAlone("it is down".to_owned()));
        assert_eq!(breaker.admit(start + PAUSE), Admission::Passes);
        assert_eq!(
            breaker.admit(start + PAUSE),
            Admission::LeftAlone("it is down".to_owned()),
            "one request shows whether it is back"
        );
        breaker.succeeded();
        assert_eq!(breaker.admit(start + PAUSE), Admission::Passes);
        assert_eq!(breaker.admit(start + PAUSE), Admission::Passes);
    }

    #[test]
    fn the_pause_doubles_up_to_a_bound_and_begins_anew_after_an_answer() {
        let (mut now, mut breaker) = (Instant::now(), Breaker::new(PAUSE));
        for seconds in [30, 60, 120, 240, 300, 300] {
            breaker.failed(now, String::new(), None);
            assert_ne!(breaker.admit(now + Duration::from_secs(seconds - 1)), Admission::Passes, "{seconds}");
            now += Duration::from_secs(seconds);
            assert_eq!(breaker.admit(now), Admission::Passes, "{seconds}");
        }
        breaker.succeeded();
        breaker.failed(now, String::new(), None);
        assert_eq!(breaker.admit(now + PAUSE), Admission::Passes);
    }

    #[test]
    fn the_other_side_may_ask_for_a_longer_pause_and_not_for_an_endless_one() {
        for (asked, seconds) in [(1, 30), (90, 90), (1_000_000, 300)] {
            let (start, mut breaker) = (Instant::now(), Breaker::new(PAUSE));
            breaker.failed(start, String::new(), Some(Duration::from_secs(asked)));
            assert_ne!(breaker.admit(start + Duration::from_secs(seconds - 1)), Admission::Passes, "{asked}");
            assert_eq!(breaker.admit(start + Duration::from_secs(seconds)), Admission::Passes, "{asked}");
        }
    }

    #[test]
    fn a_request_that_was_given_up_leaves_the_next_one_to_show_it() {
        let (start, mut breaker) = (Instant::now(), Breaker::new(PAUSE));
        breaker.failed(start, String::new(), None);
        assert_eq!(breaker.admit(start + PAUSE), Admission::Passes);
        breaker.gave_up(start + PAUSE);
        assert_eq!(breaker.admit(start + PAUSE), Admission::Passes);
    }
}
