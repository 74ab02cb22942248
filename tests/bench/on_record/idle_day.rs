//! A day of the paused clock without a task, with all that a robot has on record.

use anyhow::Context as _;

use super::context;
use super::idle_day_of_tests::{Requests, run};
use crate::table::Table;

pub(crate) async fn measure(table: &mut Table) -> anyhow::Result<()> {
    // The runtime with the paused clock is one of its own.
    let requests = tokio::task::spawn_blocking(day).await.context("the day could not be told to its end")??;
    table.add(
        "requests to a model in 24 simulated hours without a task",
        "0",
        requests.meanwhile.to_string(),
        format!("{} for the task before, {} for the one after", requests.before, requests.after),
    );
    Ok(())
}

fn day() -> anyhow::Result<Requests> {
    let folder = tempfile::tempdir()?;
    let clock = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build()?;
    clock.block_on(async { Ok(run(context::sources(folder.path()).await?).await) })
}
