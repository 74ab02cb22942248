//! Clients that are kept for the next call: making one takes the middleware some milliseconds.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::RosError;

/// Clients that are kept. A mission uses a few; each costs the middleware memory, and every server a match.
const KEPT: usize = 32;
/// A client that was not used for this long is dropped when the next one is asked for.
const UNUSED: Duration = Duration::from_secs(300);

/// Clients by name and type, the latest used last. One that is in use lives on when it is dropped here.
pub(super) struct Pool<C> {
    clients: Mutex<VecDeque<Kept<C>>>,
}

struct Kept<C> {
    name: String,
    type_name: String,
    client: C,
    used: Instant,
}

impl<C> Default for Pool<C> {
    fn default() -> Self {
        Self { clients: Mutex::default() }
    }
}

impl<C: Clone> Pool<C> {
    /// The client of that name and type, made if there is none.
    pub(super) async fn get(
        &self,
        name: &str,
        type_name: &str,
        make: impl Future<Output = Result<C, RosError>>,
    ) -> Result<C, RosError> {
        if let Some(client) = self.take(name, type_name) {
            return Ok(self.keep(name, type_name, client, Instant::now()));
        }
        let client = make.await?;
        Ok(self.keep(name, type_name, client, Instant::now()))
    }

    fn take(&self, name: &str, type_name: &str) -> Option<C> {
        let mut clients = self.lock();
        let place = clients.iter().position(|kept| kept.name == name && kept.type_name == type_name)?;
        clients.remove(place).map(|kept| kept.client)
    }

    fn keep(&self, name: &str, type_name: &str, client: C, now: Instant) -> C {
        let mut unused = Vec::new();
        let mut clients = self.lock();
        while clients.len() >= KEPT || clients.front().is_some_and(|oldest| now - oldest.used > UNUSED) {
            unused.extend(clients.pop_front());
        }
        let (name, type_name) = (name.to_owned(), type_name.to_owned());
        clients.push_back(Kept { name, type_name, client: client.clone(), used: now });
        // Giving clients back takes a while: not under the lock.
        drop(clients);
        drop(unused);
        client
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<Kept<C>>> {
        self.clients.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    async fn get(pool: &Pool<Arc<str>>, name: &str) -> Arc<str> {
        pool.get(name, "type", async { Ok(Arc::from(name)) }).await.unwrap()
    }

    #[tokio::test]
    async fn a_client_is_made_once_and_the_least_used_goes_when_there_are_too_many() {
        let pool = Pool::default();
        let first = get(&pool, "first").await;
        for number in 1..KEPT {
            get(&pool, &number.to_string()).await;
        }
        assert!(Arc::ptr_eq(&first, &get(&pool, "first").await));
        // Now the second is the least used.
        get(&pool, "one more").await;
        assert!(Arc::ptr_eq(&first, &get(&pool, "first").await));
        assert!(pool.take("1", "type").is_none());
        assert_eq!(pool.lock().len(), KEPT);
    }

    #[test]
    fn a_client_that_nobody_uses_is_given_back() {
        let pool = Pool::default();
        let begun = Instant::now();
        let unused = pool.keep("unused", "type", Arc::new(()), begun);
        pool.keep("other", "type", Arc::new(()), begun + UNUSED * 2);
        assert_eq!(Arc::strong_count(&unused), 1);
    }
}
