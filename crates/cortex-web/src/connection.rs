//! The connection that a request came by.

use std::net::IpAddr;
use std::sync::Arc;

use crate::places::Place;

/// The connection that a request came by.
#[derive(Debug, Clone)]
pub(crate) struct Connection {
    peer: IpAddr,
    /// Its place among the connections, for as long as anybody has use for it. None: it is one of those that are kept free
    /// for STOP.
    place: Option<Arc<Place>>,
    is_encrypted: bool,
}

impl Connection {
    pub(crate) fn new(peer: IpAddr, place: Option<Place>) -> Self {
        Self { peer, place: place.map(Arc::new), is_encrypted: false }
    }

    /// The same, encrypted.
    pub(crate) fn encrypted(self) -> Self {
        Self { is_encrypted: true, ..self }
    }

    pub(crate) fn is_encrypted(&self) -> bool {
        self.is_encrypted
    }

    pub(crate) fn peer(&self) -> IpAddr {
        self.peer
    }

    /// Whether it is one of those that are kept free for STOP.
    pub(crate) fn is_spare(&self) -> bool {
        self.place.is_none()
    }
}
