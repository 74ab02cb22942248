//! What keeps the controls of the robot with whoever holds them.

use cortex_protocol::ConnectionId;

use crate::control::ControlLoss;

/// The lease of the controls. Whoever keeps live connections of people says of each when it is heard and when it is lost; the
/// connections that hold nothing are said, too. Neither waits. The commands themselves go through
/// [`ClientPort::execute`](crate::ClientPort::execute), with the connection in their principal.
pub trait ControlPort: Send + Sync + 'static {
    /// A person's client has said over this connection that the person is still there. Without that, the controls are lost
    /// after [`CONTROL_LEASE`](crate::CONTROL_LEASE).
    fn keep_controls(&self, connection: &ConnectionId);

    /// The connection is lost. Where it holds the controls, everything in motion is halted, and the robot stays paused.
    fn lose_controls(&self, connection: &ConnectionId, loss: ControlLoss);
}
