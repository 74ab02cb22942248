//! `cortex inspect NAME`: everything about one node.

use std::process::ExitCode;

use cortex_robot::Robot;

use crate::configuration::policy;

pub async fn inspect(name: &str) -> anyhow::Result<ExitCode> {
    let robot = Robot::visit(|node| policy(node, None)).await?;
    let report = robot.tools.inspect(name).await;
    robot.leave().await;
    println!("{}", serde_json::to_string_pretty(&report?)?);
    Ok(ExitCode::SUCCESS)
}
