//! `cortex correct`: says in mid mission what is to be done instead.

use std::process::ExitCode;

use crate::arguments::CorrectArguments;
use crate::connection::{Connection, Purpose};

pub async fn correct(arguments: &CorrectArguments) -> anyhow::Result<ExitCode> {
    let connection = Connection::open(&arguments.server, Purpose::Stop).await?;
    let mission = arguments.mission.as_deref().unwrap_or_default();
    let report = connection.client.correct(mission, &arguments.correction).await;
    connection.close().await;
    let report = report?;
    if report.success {
        println!("The task of {} is corrected; what moves is halted, and it is planned anew.", report.message);
        return Ok(ExitCode::SUCCESS);
    }
    eprintln!("cortex: the task is not corrected: {}", report.message);
    Ok(ExitCode::FAILURE)
}
