//! When a result may follow the feedback before it.
//!
//! Feedback and result travel by different endpoints. A client of rclpy, and so `ros2 action send_goal`, takes one message of
//! each kind in a turn of its executor, and leaves with the result: of feedback that has come in a burst, as at the end of a
//! mission, it never takes the rest. Neither DDS nor ROS tells when a message was taken; what the middleware confirms is only
//! that it has come. So the first question for a result is answered when a client which takes one message in a turn has taken
//! all, and in bounded time; it may come after the end, from a client that is busy with the feedback. Whoever asks again after
//! the last word, as our own client does, gets it as soon as there is one.

use std::time::Duration;

use tokio::time::Instant;

/// How long a turn of such a client takes, with a message written as YAML, on a busy machine.
const TURN: Duration = Duration::from_millis(20);
/// How long a result is held back at most.
const MOST: Duration = Duration::from_millis(400);

/// The turns of a client that takes one message in each.
#[derive(Debug, Default)]
pub(super) struct Turns {
    /// When it has taken all.
    taken_at: Option<Instant>,
}

impl Turns {
    /// A message goes out now.
    pub(super) fn note(&mut self, now: Instant) {
        self.taken_at = Some(self.taken_at.map_or(now, |at| at.max(now)) + TURN);
    }

    /// When a result may follow; none where it may at once.
    pub(super) fn over_at(&self, now: Instant) -> Option<Instant> {
        self.taken_at.filter(|at| *at > now).map(|at| at.min(now + MOST))
    }
}

/// Waits for that moment; not at all, if there is none.
pub(super) async fn until_over(moment: Option<Instant>) {
    if let Some(moment) = moment {
        tokio::time::sleep_until(moment).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_result_follows_a_burst_after_a_turn_for_each_message_and_single_ones_after_one() {
        let (mut turns, begun) = (Turns::default(), Instant::now());
        assert_eq!(turns.over_at(begun), None);
        for message in 0..5 {
            turns.note(begun + Duration::from_millis(message));
        }
        let last = begun + Duration::from_millis(4);
        assert_eq!(turns.over_at(last), Some(begun + TURN * 5));
        assert_eq!(turns.over_at(begun + Duration::from_secs(1)), None, "long ago");
        turns.note(begun + Duration::from_secs(2));
        assert_eq!(turns.over_at(begun + Duration::from_secs(2)), Some(begun + Duration::from_secs(2) + TURN));
        for _ in 0..1_000 {
            turns.note(begun + Duration::from_secs(3));
        }
        assert_eq!(turns.over_at(begun + Duration::from_secs(3)), Some(begun + Duration::from_secs(3) + MOST));
    }
}
