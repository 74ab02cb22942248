//! Clients that are kept for the next call: making one takes the middleware some milliseconds.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use cortex_ros_client::RosError;
use tokio::sync::OnceCell;

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
    /// Empty while it is made; who else needs it waits for that.
    client: Arc<OnceCell<C>>,
    used: Instant,
}

impl<C> Default for Pool<C> {
    fn default() -> Self {
        Self { clients: Mutex::default() }
    }
}

impl<C: Clone> Pool<C> {
    /// The client of that name and type, made if there is none. Whoever asks meanwhile gets the same; where it could not be
    /// made, the next one tries.
    pub(super) async fn get(
        &self,
        name: &str,
        type_name: &str,
        make: impl Future<Output = Result<C, RosError>>,
    ) -> Result<C, RosError> {
        let client = self.place(name, type_name, Instant::now());
        client.get_or_try_init(|| make).await.cloned()
    }

    /// Where the client of that name and type is, or will be.
    fn place(&self, name: &str, type_name: &str, now: Instant) -> Arc<OnceCell<C>> {
        let mut unused = Vec::new();
        let mut clients = self.lock();
        let known = clients.iter().position(|kept| kept.name == name && kept.type_name == type_name);
        let known = known.and_then(|place| clients.remove(place)).map(|kept| kept.client);
        while clients.len() >= KEPT || clients.front().is_some_and(|oldest| now - oldest.used > UNUSED) {
            unused.extend(clients.pop_front());
        }
        let client = known.unwrap_or_default();
        let (name, type_name) = (name.to_owned(), type_name.to_owned());
        clients.push_back(Kept { name, type_name, client: Arc::clone(&client), used: now });
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
    use std::sync::atomic::{AtomicUsize, Ordering};

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
        assert!(pool.lock().iter().all(|kept| kept.name != "1"));
        assert_eq!(pool.lock().len(), KEPT);
    }

    #[tokio::test]
    async fn a_client_that_nobody_uses_is_given_back() {
        let pool: Pool<Arc<str>> = Pool::default();
        let unused = get(&pool, "unused").await;
        pool.place("other", "type", Instant::now() + UNUSED * 2);
        assert_eq!(Arc::strong_count(&unused), 1);
    }

    #[tokio::test]
    async fn regression_many_first_calls_at_once_make_one_client() {
        let pool: Pool<Arc<str>> = Pool::default();
        let made = AtomicUsize::new(0);
        let get = || {
            pool.get("service", "type", async {
                tokio::task::yield_now().await;
                // The first can't be made.
                match made.fetch_add(1, Ordering::Relaxed) {
                    0 => Err(RosError::ShutDown),
                    _ => Ok(Arc::from("client")),
                }
            })
        };
        let clients = futures::future::join_all((0..50).map(|_| get())).await;
        let clients: Vec<Arc<str>> = clients.into_iter().flatten().collect();
        assert_eq!((made.load(Ordering::Relaxed), clients.len()), (2, 49), "the next one tries, and all others wait");
        assert!(clients.iter().all(|client| Arc::ptr_eq(client, &clients[0])));
    }
}
