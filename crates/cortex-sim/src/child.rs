//! The side of a started part: runs the component, tells the parent when it is up, and ends with the parent.

use std::io::{Read, Write};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use cortex_component::{ComponentError, State};
use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

use crate::components::Part;
use crate::world::World;

/// How long a part may take to end after its parent is gone; then it is ended hard, so that none is left behind.
const ORPHAN_TIMEOUT: Duration = Duration::from_secs(3);

/// Who started the part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StartedBy {
    /// A person or a launch file.
    Hand,
    /// `cortex-sim`: the standard input is a pipe that ends when the parent does, however it ends.
    Parent,
}

/// What a part writes on its standard output when it is up, before its state.
pub const UP: &str = "up";

/// Runs one part until SIGINT, SIGTERM or the end of its parent.
///
/// # Errors
/// When the component or the runtime can't be started.
pub fn run(part: Part, world: World, started_by: StartedBy) -> Result<ExitCode, ComponentError> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .map_err(ComponentError::Runtime)?;
    runtime.block_on(serve(part, world, started_by))
}

async fn serve(part: Part, world: World, started_by: StartedBy) -> Result<ExitCode, ComponentError> {
    // Before ROS starts: a signal that comes meanwhile must not be lost.
    let mut interrupt = signal(SignalKind::interrupt()).map_err(ComponentError::Runtime)?;
    let mut terminate = signal(SignalKind::terminate()).map_err(ComponentError::Runtime)?;
    let orphaned = CancellationToken::new();
    if started_by == StartedBy::Parent {
        watch_parent(orphaned.clone()).map_err(ComponentError::Runtime)?;
    }
    let running = part.component(Arc::new(world)).start().await?;
    if running.starts_itself() && running.state() != State::Active {
        // The hook that failed has told why.
        running.stop().await;
        return Ok(ExitCode::FAILURE);
    }
    // A closed output is nobody's loss.
    let _ = writeln!(std::io::stdout(), "{UP} {}", running.state());
    tokio::select! {
        biased;
        _ = interrupt.recv() => {}
        _ = terminate.recv() => {}
        () = orphaned.cancelled() => tracing::warn!("the parent is gone; {} ends", running.name()),
        () = running.broken() => {
            running.stop().await;
            return Err(ComponentError::Broken);
        }
    }
    running.stop().await;
    Ok(ExitCode::SUCCESS)
}

/// Cancels the token when the standard input ends. On a thread of its own, since reading blocks.
fn watch_parent(orphaned: CancellationToken) -> std::io::Result<()> {
    std::thread::Builder::new().name("parent".to_owned()).spawn(move || {
        let mut byte = [0_u8];
        // The parent writes nothing; whatever comes is read past.
        while matches!(std::io::stdin().read(&mut byte), Ok(1)) {}
        orphaned.cancel();
        std::thread::sleep(ORPHAN_TIMEOUT);
        std::process::abort();
    })?;
    Ok(())
}
