//! Certainty about the graph: discovery alone can't know that nothing is missing, but a Cortex that has looked for long can say
//! what it sees.

use tokio::sync::watch;

use super::Discovery;

/// What a Cortex sees of the graph.
#[derive(Debug, Clone)]
pub(super) struct SeenBy {
    /// The full name of its node.
    pub(super) cortex: String,
    pub(super) digest: String,
}

impl Discovery {
    /// Tells what the Cortex of this full name sees, which has looked at this robot for long: [`seen`](Self::seen) as it has
    /// it. Where the same is seen here, nothing is missing, and no time has to pass to be sure of that.
    pub fn confirm_graph(&self, cortex: String, digest: String) {
        self.confirmed.send_replace(Some(SeenBy { cortex, digest }));
    }

    /// The robot's nodes with what they offer, as a digest; now and later. It says nothing of whether that is all:
    /// [`is_settled`](Self::is_settled) does.
    #[must_use]
    pub fn seen(&self) -> watch::Receiver<String> {
        self.seen.clone()
    }

    /// Whether everything is known, and a Cortex that has looked for long sees the same.
    #[must_use]
    pub fn is_confirmed(&self) -> bool {
        *self.certain.borrow()
    }

    /// Waits until everything is known and a Cortex that has looked for long sees the same. It never comes back where none
    /// tells what it sees.
    pub async fn confirmed(&self) {
        if self.certain.clone().wait_for(|certain| *certain).await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}
