//! Many times, in two figures.

use std::fmt;
use std::time::Duration;

/// Times of the same thing.
#[derive(Debug, Clone, Default)]
pub struct Times(Vec<Duration>);

impl Times {
    /// Adds one.
    pub fn add(&mut self, time: Duration) {
        let place = self.0.partition_point(|known| *known <= time);
        self.0.insert(place, time);
    }

    /// How many there are.
    #[must_use]
    pub fn count(&self) -> usize {
        self.0.len()
    }

    /// The time that this part of them does not exceed: 0.5 for the median, 0.99, 1 for the longest.
    #[must_use]
    pub fn at(&self, part: f64) -> Duration {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            clippy::cast_precision_loss,
            reason = "an index of a short list"
        )]
        let index = (self.0.len().saturating_sub(1) as f64 * part).round() as usize;
        self.0.get(index).copied().unwrap_or_default()
    }
}

impl fmt::Display for Times {
    /// Median and 99th percentile.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() {
            return formatter.write_str("-");
        }
        write!(formatter, "{} / {}", shown(self.at(0.5)), shown(self.at(0.99)))
    }
}

fn shown(time: Duration) -> String {
    let milliseconds = time.as_secs_f64() * 1e3;
    if milliseconds >= 1_000.0 { format!("{:.2} s", milliseconds / 1e3) } else { format!("{milliseconds:.0} ms") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_middle_and_the_end_are_told() {
        let mut times = Times::default();
        assert_eq!(times.to_string(), "-");
        for milliseconds in [1500, 10, 30] {
            times.add(Duration::from_millis(milliseconds));
        }
        assert_eq!((times.to_string().as_str(), times.count()), ("30 ms / 1.50 s", 3));
    }
}
