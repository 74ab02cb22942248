//! The live connections that there are now, and whose they are. What holds the controls of the robot is one of them.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cortex_core::{ControlLoss, OperatorPort};
use cortex_protocol::ConnectionId;
use uuid::Uuid;

use crate::access::Caller;
use crate::error::{ApiError, ErrorKind};

/// The live connections and the session of each.
#[derive(Debug, Default)]
pub(crate) struct LiveConnections(Mutex<HashMap<ConnectionId, Uuid>>);

/// A live connection, until this is dropped: however it ends, the controls that it holds are lost then.
pub(crate) struct LiveConnection {
    pub(crate) id: ConnectionId,
    connections: Arc<LiveConnections>,
    port: Arc<dyn OperatorPort>,
    pub(crate) loss: ControlLoss,
}

impl LiveConnections {
    /// A connection of this caller begins.
    pub(crate) fn begin(self: &Arc<Self>, caller: &Caller, port: &Arc<dyn OperatorPort>) -> LiveConnection {
        let id = ConnectionId::new(Uuid::new_v4().to_string());
        self.lock().insert(id.clone(), caller.session_id());
        let (connections, port) = (Arc::clone(self), Arc::clone(port));
        LiveConnection { id, connections, port, loss: ControlLoss::Closed }
    }

    /// Checks that this is a live connection of the caller's own session.
    ///
    /// # Errors
    /// When it has ended, or is another's.
    pub(crate) fn check(&self, connection: &ConnectionId, caller: &Caller) -> Result<(), ApiError> {
        if self.lock().get(connection) == Some(&caller.session_id()) {
            return Ok(());
        }
        let reason =
            "The live connection that the command names has ended, or is not yours. Nothing was done. Reload the page.";
        Err(ApiError::new(ErrorKind::Stale, reason))
    }

    pub(crate) fn is_live(&self, connection: &ConnectionId) -> bool {
        self.lock().contains_key(connection)
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<ConnectionId, Uuid>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl LiveConnection {
    /// The page says that its person is still there.
    pub(crate) fn keep_controls(&self) {
        self.port.keep_controls(&self.id);
    }
}

impl Drop for LiveConnection {
    fn drop(&mut self) {
        // First of all, so that who takes over meanwhile finds it gone.
        self.connections.lock().remove(&self.id);
        self.port.lose_controls(&self.id, self.loss);
    }
}
