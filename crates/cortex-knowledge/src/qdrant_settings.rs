//! Which documents on which server of Qdrant.

use std::time::Duration;

use secrecy::SecretString;

/// Which documents on which server.
#[derive(Debug, Clone)]
pub struct QdrantSettings {
    /// Its address with the port of gRPC, such as `http://192.168.1.20:6334`; with `https` the system's certificates count.
    pub server: String,
    /// The collection. It is made when something is added.
    pub collection: String,
    /// Whose documents: each robot sees its own only.
    pub robot: String,
    /// The key of the server.
    pub key: Option<SecretString>,
    /// How long requests may take.
    pub timeouts: QdrantTimeouts,
}

/// How long requests may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QdrantTimeouts {
    /// One that reads. A connection must be there within this time, too.
    pub read: Duration,
    /// One that writes.
    pub write: Duration,
}

impl Default for QdrantTimeouts {
    fn default() -> Self {
        Self { read: Duration::from_secs(5), write: Duration::from_secs(30) }
    }
}
