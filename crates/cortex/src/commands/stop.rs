//! `cortex stop` and `cortex resume`.

use std::process::ExitCode;

use cortex_ros::RosError;
use cortex_ros::task::StopReport;

use crate::arguments::ServerArguments;
use crate::connection::{Connection, Purpose};

pub(crate) async fn stop(arguments: &ServerArguments) -> anyhow::Result<ExitCode> {
    let connection = Connection::open(arguments, Purpose::Stop).await?;
    let report = connection.client.stop().await;
    connection.close().await;
    tell(report)
}

pub(crate) async fn resume(arguments: &ServerArguments) -> anyhow::Result<ExitCode> {
    let connection = Connection::open(arguments, Purpose::Stop).await?;
    let report = connection.client.resume().await;
    connection.close().await;
    tell(report)
}

fn tell(report: Result<StopReport, RosError>) -> anyhow::Result<ExitCode> {
    let report = report?;
    println!("{}", report.message);
    Ok(if report.success { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
