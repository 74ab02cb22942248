//! Who holds what now: the resources of every call under way, of missions and of clients alike. Two calls that need the same
//! thing never run at the same time.
//!
//! A mission arranges its own steps; this is for what it can't know: what others hold.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use cortex_core::collide;
use cortex_protocol::{ResourceName, ToolName};
use tokio::sync::watch;
use tokio::time::Instant;

/// What is held.
#[derive(Default)]
pub(crate) struct ResourceLocks {
    held: watch::Sender<Vec<Held>>,
    /// Tells claims apart.
    numbers: AtomicU64,
}

struct Held {
    number: u64,
    wanted: Wanted,
}

/// What is to be held, for which call, and who wants it, in words for people.
#[derive(Debug, Clone)]
pub(crate) struct Wanted {
    pub(crate) resources: Vec<ResourceName>,
    pub(crate) tool: ToolName,
    pub(crate) by: String,
}

/// Somebody else holds it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Conflict {
    resource: ResourceName,
    tool: ToolName,
    by: String,
}

impl fmt::Display for Conflict {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { resource, tool, by } = self;
        write!(formatter, "'{resource}' is held by {by} ({tool})")
    }
}

/// Holds until it is dropped.
pub(crate) struct ResourceLock {
    resource_locks: Arc<ResourceLocks>,
    number: u64,
}

impl Drop for ResourceLock {
    fn drop(&mut self) {
        self.resource_locks.held.send_modify(|held| held.retain(|one| one.number != self.number));
    }
}

impl ResourceLocks {
    /// Holds what is wanted as soon as nobody else does, at most after `patience`. Says once what it waits for, if it waits.
    /// Dropping the future wants nothing any more.
    ///
    /// # Errors
    /// Who holds it still.
    pub(crate) async fn acquire(
        self: &Arc<Self>,
        wanted: Wanted,
        patience: Duration,
        waits: impl FnOnce(&Conflict) + Send,
    ) -> Result<ResourceLock, Conflict> {
        let mut changes = self.held.subscribe();
        let end = Instant::now() + patience;
        let mut conflict = match self.take(&wanted) {
            Ok(claim) => return Ok(claim),
            Err(conflict) => conflict,
        };
        waits(&conflict);
        loop {
            tokio::select! {
                biased;
                () = tokio::time::sleep_until(end) => return Err(conflict),
                // The sender is this.
                _ = changes.changed() => {}
            }
            conflict = match self.take(&wanted) {
                Ok(claim) => return Ok(claim),
                Err(conflict) => conflict,
            };
        }
    }

    fn take(self: &Arc<Self>, wanted: &Wanted) -> Result<ResourceLock, Conflict> {
        let number = self.numbers.fetch_add(1, Ordering::Relaxed);
        let mut found = None;
        self.held.send_if_modified(|held| {
            found = held.iter().find_map(|other| conflict(wanted, &other.wanted));
            if found.is_none() {
                held.push(Held { number, wanted: wanted.clone() });
            }
            // What is newly held is no news for who waits.
            false
        });
        match found {
            Some(conflict) => Err(conflict),
            None => Ok(ResourceLock { resource_locks: Arc::clone(self), number }),
        }
    }
}

fn conflict(wanted: &Wanted, other: &Wanted) -> Option<Conflict> {
    let collides = |needed: &&ResourceName| other.resources.iter().any(|held| collide(needed, held));
    let resource = wanted.resources.iter().find(collides)?.clone();
    Some(Conflict { resource, tool: other.tool.clone(), by: other.by.clone() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wanted(resources: &[&str], by: &str) -> Wanted {
        let resources = resources.iter().map(|name| (*name).into()).collect();
        Wanted { resources, tool: "base.go_to".into(), by: by.to_owned() }
    }

    #[tokio::test(start_paused = true)]
    async fn what_is_held_is_had_when_it_is_given_back_or_not_at_all_after_a_while() {
        let resource_locks = Arc::new(ResourceLocks::default());
        let patience = Duration::from_secs(10);
        let base =
            resource_locks.acquire(wanted(&["base"], "the task"), patience, |_| unreachable!()).await.ok().unwrap();
        let nothing = resource_locks.acquire(wanted(&[], "the event a"), patience, |_| unreachable!()).await;
        assert!(nothing.is_ok(), "what holds nothing waits for nobody");
        let began = Instant::now();
        let mut told = String::new();
        let refused =
            resource_locks.acquire(wanted(&["arm", "base"], "the event a"), patience, |held| told = held.to_string());
        assert_eq!(refused.await.err().unwrap().to_string(), "'base' is held by the task (base.go_to)");
        assert_eq!((told.as_str(), began.elapsed()), ("'base' is held by the task (base.go_to)", patience));
        let waiting = tokio::spawn({
            let resource_locks = Arc::clone(&resource_locks);
            async move { resource_locks.acquire(wanted(&["base"], "the event b"), patience, |_| ()).await.is_ok() }
        });
        tokio::time::sleep(Duration::from_secs(1)).await;
        drop(base);
        assert!(waiting.await.unwrap());
        assert_eq!(began.elapsed(), Duration::from_secs(11), "at once");
        assert!(
            resource_locks.held.borrow().iter().all(|held| held.wanted.resources.is_empty()),
            "and given back again"
        );
    }

    #[tokio::test]
    async fn those_that_only_read_hold_it_together() {
        let resource_locks = Arc::new(ResourceLocks::default());
        let first = resource_locks.take(&wanted(&["camera:read"], "a"));
        assert!(first.is_ok() && resource_locks.take(&wanted(&["camera:read"], "b")).is_ok());
        assert!(resource_locks.take(&wanted(&["camera"], "c")).is_err());
    }
}
