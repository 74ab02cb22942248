//! What the robot has on record: documents, memory and skills, and what planning is told of them. No row needs ROS, and a model
//! only where it says so. What is measured by its memory, or killed, is a process of its own: this program again.

mod alone;
mod context;
mod documents;
mod facts;
mod idle_day;
mod kills;
mod memory;
mod numbers;
mod observations;
mod poisoned;
mod skills;

// What tests do, too.
#[path = "../../../crates/cortex-runtime/tests/idle_day/mod.rs"]
#[expect(clippy::expect_used, reason = "a day that can't be begun ends here, and says why")]
mod idle_day_of_tests;
#[path = "../../../crates/cortex-memory/examples/memory_bench/bench.rs"]
#[expect(clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "a bench ends by panicking")]
mod memory_bench;
#[path = "../../../crates/cortex-memory/tests/old_maps/mod.rs"]
#[expect(clippy::expect_used, reason = "a trial that can't be told ends here, and says why")]
mod old_maps;

use std::process::ExitCode;

use anyhow::bail;

use crate::table::Table;

/// Measures the rows that are wanted.
pub(crate) async fn measure(wanted: impl Fn(&str) -> bool, table: &mut Table) -> anyhow::Result<()> {
    if wanted("record-documents") {
        documents::measure(table)?;
    }
    if wanted("record-kills") {
        kills::measure(table).await?;
    }
    if wanted("record-poisoned") {
        poisoned::measure(table).await?;
    }
    if wanted("record-observations") {
        observations::measure(table)?;
    }
    if wanted("record-memory") {
        memory::measure(table).await?;
    }
    if wanted("record-facts") {
        facts::retired(table).await?;
        facts::old_maps(table).await?;
    }
    if wanted("record-idle-day") {
        idle_day::measure(table).await?;
    }
    if wanted("record-context") {
        context::measure(table).await?;
    }
    if wanted("record-skills") {
        skills::measure(table).await?;
    }
    Ok(())
}

/// Does the part of a row that is a process of its own.
pub(crate) fn part_alone(part: &str) -> ExitCode {
    let work = async {
        match part {
            documents::ADDS => documents::add().await,
            documents::ASKS => documents::ask().await,
            observations::ADDS => observations::add().await,
            observations::ASKS => observations::ask().await,
            kills::WRITES_DOCUMENTS => kills::write_documents().await,
            kills::WRITES_MEMORY => kills::write_memory().await,
            other => bail!("there is no part {other}"),
        }
    };
    let worked = tokio::runtime::Runtime::new().map_err(anyhow::Error::from).and_then(|runtime| runtime.block_on(work));
    match worked {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            eprintln!("failed: {problem:#}");
            ExitCode::FAILURE
        }
    }
}
