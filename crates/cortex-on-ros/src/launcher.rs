//! The process that Cortex ends with: a launch system that ends before what it has started leaves a robot that nobody looks
//! after.

use std::os::fd::OwnedFd;

use anyhow::Context as _;
use tokio::io::unix::AsyncFd;

/// A process whose end is the end of Cortex, where there is one.
pub(crate) struct Launcher(Option<(i32, AsyncFd<OwnedFd>)>);

impl Launcher {
    /// Watches the process with this id. Fails when it is gone already: nothing is started then.
    pub(crate) fn find(id: Option<i32>) -> anyhow::Result<Self> {
        let Some(id) = id else { return Ok(Self(None)) };
        let unwatched = || format!("process {id} (--exit-with-pid) can't be watched");
        let handle = cortex_process::watch_parent(id).with_context(unwatched)?;
        let handle =
            handle.with_context(|| format!("process {id} (--exit-with-pid) is gone, or did not start this one"))?;
        #[expect(
            deprecated,
            reason = "its successor is unsafe; it is unsound for types that change their descriptor only"
        )]
        let handle = AsyncFd::new(handle).with_context(unwatched)?;
        Ok(Self(Some((id, handle))))
    }

    /// Waits for its end, and gives its id. Never comes back where there is none.
    pub(crate) async fn gone(&self) -> std::io::Result<i32> {
        match &self.0 {
            Some((id, handle)) => handle.readable().await.map(|_| *id),
            None => std::future::pending().await,
        }
    }
}
