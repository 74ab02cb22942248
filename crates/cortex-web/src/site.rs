//! What all requests share.

use std::sync::Arc;

use cortex_core::OperatorPort;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::WebSettings;
use crate::access::Access;
use crate::hub::Hub;
use crate::known_commands::KnownCommands;
use crate::live_connections::LiveConnections;
use crate::refused_logins::RefusedLogins;
use crate::tls::Tls;
use crate::views::Views;

/// What all requests share.
pub(crate) struct Site {
    pub(crate) settings: WebSettings,
    pub(crate) port: Arc<dyn OperatorPort>,
    pub(crate) access: Access,
    /// None: the page is not encrypted.
    pub(crate) tls: Option<Arc<Tls>>,
    pub(crate) hub: Arc<Hub>,
    pub(crate) commands: KnownCommands,
    /// What of the robot is looked at.
    pub(crate) views: Arc<Views>,
    pub(crate) refused_logins: RefusedLogins,
    /// Whose turn it is to save an incident.
    pub(crate) incidents: Arc<Semaphore>,
    /// When the server was started, in seconds since 1970.
    pub(crate) started_s: u64,
    pub(crate) connections: Arc<LiveConnections>,
    /// What goes on when its client is gone, and connections that last.
    pub(crate) tasks: TaskTracker,
    /// Is cancelled when the server ends.
    pub(crate) ended: CancellationToken,
}
