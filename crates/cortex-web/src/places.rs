//! How many connections there may be: of all peers together, and of each.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// The places for connections. Clones share them.
#[derive(Clone)]
pub(crate) struct Places {
    all: Arc<Semaphore>,
    of_one_peer: usize,
    taken: Arc<Taken>,
}

/// How many places each peer has. This machine is not counted: a proxy on it speaks for many.
type Taken = Mutex<HashMap<IpAddr, usize>>;

/// A place, until it is dropped.
#[derive(Debug)]
pub(crate) struct Place {
    _permit: OwnedSemaphorePermit,
    counted: Option<(IpAddr, Arc<Taken>)>,
}

impl Places {
    pub(crate) fn new(all: usize, of_one_peer: usize) -> Self {
        Self { all: Arc::new(Semaphore::new(all)), of_one_peer, taken: Arc::default() }
    }

    /// A place, unless this peer has enough, or nobody can have one.
    pub(crate) fn take(&self, peer: IpAddr) -> Option<Place> {
        let permit = Arc::clone(&self.all).try_acquire_owned().ok()?;
        if peer.to_canonical().is_loopback() {
            return Some(Place { _permit: permit, counted: None });
        }
        let peer = counted_as(peer);
        let mut taken = locked(&self.taken);
        let count = taken.entry(peer).or_default();
        if *count >= self.of_one_peer {
            return None;
        }
        *count += 1;
        Some(Place { _permit: permit, counted: Some((peer, Arc::clone(&self.taken))) })
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let Some((peer, taken)) = &self.counted else { return };
        let mut taken = locked(taken);
        if let Some(count) = taken.get_mut(peer) {
            *count = count.saturating_sub(1);
            if *count == 0 {
                taken.remove(peer);
            }
        }
    }
}

/// The address by which a peer is counted, with its connections and its tries: of IPv6, the network that one household has.
pub(crate) fn counted_as(peer: IpAddr) -> IpAddr {
    match peer.to_canonical() {
        IpAddr::V4(address) => IpAddr::V4(address),
        IpAddr::V6(address) => {
            let [a, b, c, d, ..] = address.segments();
            IpAddr::from([a, b, c, d, 0, 0, 0, 0])
        }
    }
}

fn locked(taken: &Taken) -> MutexGuard<'_, HashMap<IpAddr, usize>> {
    taken.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_peer_leaves_places_for_others_and_this_machine_is_not_counted() {
        let places = Places::new(5, 2);
        let take = |peer: &str| places.take(peer.parse().unwrap());
        let mut greedy = vec![take("192.168.0.7").unwrap(), take("::ffff:192.168.0.7").unwrap()];
        assert!(take("192.168.0.7").is_none(), "it has two");
        let _household = [take("2001:db8::1").unwrap(), take("2001:db8::2").unwrap()];
        assert!(take("2001:db8::3").is_none(), "one household is one peer");
        greedy.pop();
        let again = take("192.168.0.7").unwrap();
        drop((again, greedy));
        let _mine = [take("127.0.0.1").unwrap(), take("::1").unwrap(), take("127.0.0.1").unwrap()];
        assert!(take("127.0.0.1").is_none(), "all are taken");
        assert_eq!(locked(&places.taken).len(), 1, "whoever has none is forgotten");
    }
}
