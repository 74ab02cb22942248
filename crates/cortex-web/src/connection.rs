//! The connection that a request came by.

use std::net::IpAddr;
use std::sync::Arc;

use tokio::sync::OwnedSemaphorePermit;

/// The connection that a request came by.
#[derive(Debug, Clone)]
pub(crate) struct Connection {
    peer: IpAddr,
    is_spare: bool,
    /// Its place among the connections, for as long as anybody has use for it.
    _place: Arc<OwnedSemaphorePermit>,
}

impl Connection {
    pub(crate) fn new(peer: IpAddr, is_spare: bool, place: OwnedSemaphorePermit) -> Self {
        Self { peer, is_spare, _place: Arc::new(place) }
    }

    pub(crate) fn peer(&self) -> IpAddr {
        self.peer
    }

    /// Whether it is one of those that are kept free for STOP.
    pub(crate) fn is_spare(&self) -> bool {
        self.is_spare
    }
}
