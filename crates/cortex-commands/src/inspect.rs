//! `cortex inspect NAME`: everything about one node.

use std::process::ExitCode;

use crate::configuration::policy;
use crate::visit::visit;

pub async fn inspect(name: &str) -> anyhow::Result<ExitCode> {
    let robot = visit(|node| policy(node, None)).await?;
    let report = robot.tools.inspect(name).await;
    robot.leave().await;
    println!("{}", serde_json::to_string_pretty(&report?)?);
    Ok(ExitCode::SUCCESS)
}
