//! `cortex revise`: says in mid mission what is to be done instead.

use std::process::ExitCode;

use crate::arguments::ReviseArguments;
use crate::connection::{Connection, Purpose};

/// `cortex revise`: corrects a task that is under way.
///
/// # Errors
/// When no Cortex can be asked.
pub async fn revise(arguments: &ReviseArguments) -> anyhow::Result<ExitCode> {
    let connection = Connection::open(&arguments.server, Purpose::Stop).await?;
    let mission = arguments.mission.as_deref().unwrap_or_default();
    let report = connection.client.revise(mission, &arguments.revision).await;
    connection.close().await;
    let report = report?;
    if report.success {
        println!("The task of {} is revised; what moves is halted, and it is planned anew.", report.message);
        return Ok(ExitCode::SUCCESS);
    }
    eprintln!("cortex: the task is not revised: {}", report.message);
    Ok(ExitCode::FAILURE)
}
