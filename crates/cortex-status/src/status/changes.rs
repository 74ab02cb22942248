//! When it is time to look anew: at once after something has changed, but at most so often.

use std::time::Duration;

use tokio::sync::{Notify, watch};
use tokio::time::{Instant, sleep_until};

/// The shortest time between two looks because of changes: a frame of a screen.
pub(super) const FRAME: Duration = Duration::from_millis(20);

/// Told of each change by whoever sees one; one waits for it.
#[derive(Debug, Default)]
pub(super) struct Changes(Notify);

impl Changes {
    /// Something has changed. Never waits.
    pub(super) fn note(&self) {
        self.0.notify_one();
    }

    /// Notes each change of a value until its owner is gone.
    pub(super) async fn follow<T>(&self, mut value: watch::Receiver<T>) {
        while value.changed().await.is_ok() {
            self.note();
        }
    }

    /// Waits for a change, and until a frame is over since the latest look. Many changes within a frame are one. Who drops
    /// the future looks at once: the change may have been taken note of already.
    pub(super) async fn next(&self, latest: Instant) {
        self.0.notified().await;
        sleep_until(latest + FRAME).await;
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_change_after_a_quiet_time_is_looked_at_at_once_and_many_are_one_look_a_frame() {
        let changes = Arc::new(Changes::default());
        let begun = Instant::now();
        tokio::time::advance(Duration::from_secs(1)).await;
        changes.note();
        changes.next(begun).await;
        assert_eq!(begun.elapsed(), Duration::from_secs(1));
        // Ten thousand changes in a second.
        let noting = Arc::clone(&changes);
        let flood = tokio::spawn(async move {
            for _ in 0..10_000 {
                noting.note();
                tokio::time::sleep(Duration::from_micros(100)).await;
            }
        });
        let (first, mut looks) = (Instant::now(), 0_u32);
        while first.elapsed() < Duration::from_secs(1) {
            let latest = Instant::now();
            changes.next(latest).await;
            looks += 1;
        }
        flood.abort();
        assert!((20..=50).contains(&looks), "{looks} looks in a second");
    }

    #[tokio::test(start_paused = true)]
    async fn a_value_is_followed_until_its_owner_is_gone() {
        let (changes, value) = (Arc::new(Changes::default()), watch::Sender::new(0));
        let follower = Arc::clone(&changes);
        let seen = value.subscribe();
        let following = tokio::spawn(async move { follower.follow(seen).await });
        value.send_replace(1);
        changes.next(Instant::now()).await;
        let quiet = tokio::time::timeout(Duration::from_secs(60), changes.next(Instant::now())).await;
        assert!(quiet.is_err(), "nothing has changed since");
        drop(value);
        following.await.unwrap();
    }
}
