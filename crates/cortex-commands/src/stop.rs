//! `cortex stop` and `cortex resume`.

use std::process::ExitCode;

use cortex_ros::task::ServiceReply;
use cortex_ros_client::RosError;

use crate::arguments::ServerArguments;
use crate::connection::{Connection, Purpose};

/// `cortex stop`: stops the robot, and says what is at rest.
///
/// # Errors
/// When no Cortex can be asked.
pub async fn stop(arguments: &ServerArguments) -> anyhow::Result<ExitCode> {
    let connection = Connection::open(arguments, Purpose::Stop).await?;
    // Each of one name gets it, and the first answer is that of one of them.
    let report = connection.client.stop().await;
    let duplicates = connection.duplicates().await;
    connection.close().await;
    let code = tell(report)?;
    let Some(duplicates) = duplicates else { return Ok(code) };
    eprintln!(
        "cortex: {duplicates}; each was told to stop, and this is the answer of one. What the others move is not known"
    );
    Ok(ExitCode::FAILURE)
}

/// `cortex resume`: lifts the stop.
///
/// # Errors
/// When no Cortex can be asked.
pub async fn resume(arguments: &ServerArguments) -> anyhow::Result<ExitCode> {
    let connection = Connection::open(arguments, Purpose::Stop).await?;
    if let Some(duplicates) = connection.duplicates().await {
        connection.close().await;
        anyhow::bail!("{duplicates}; nothing was resumed");
    }
    let report = connection.client.resume().await;
    connection.close().await;
    tell(report)
}

fn tell(report: Result<ServiceReply, RosError>) -> anyhow::Result<ExitCode> {
    let report = report?;
    println!("{}", for_terminal(&report.message));
    Ok(if report.success { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// What a service answers, in the words of the command line.
fn for_terminal(message: &str) -> String {
    message.replace("until ~/resume", "until `cortex resume`").replace("call ~/resume", "run `cortex resume`")
}
