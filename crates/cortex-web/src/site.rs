//! What all requests share.

use std::sync::Arc;

use cortex_core::OperatorPort;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::WebSettings;
use crate::access::Access;
use crate::hub::Hub;
use crate::known_commands::KnownCommands;
use crate::live_connections::LiveConnections;

/// What all requests share.
pub(crate) struct Site {
    pub(crate) settings: WebSettings,
    pub(crate) port: Arc<dyn OperatorPort>,
    pub(crate) access: Access,
    pub(crate) hub: Arc<Hub>,
    pub(crate) commands: KnownCommands,
    pub(crate) connections: Arc<LiveConnections>,
    /// What goes on when its client is gone, and connections that last.
    pub(crate) tasks: TaskTracker,
    /// Is cancelled when the server ends.
    pub(crate) ended: CancellationToken,
}
