//! The state of a node with a managed lifecycle.

use std::time::Duration;

use cortex_interfaces::Interfaces;

use super::Endpoints;
use super::question::ask;
use crate::RosError;

/// The label of the state, such as `active`. `node` is fully qualified.
///
/// # Errors
/// When the node is not there or has no lifecycle, or when it does not answer within `limit`.
pub async fn state(
    endpoints: &Endpoints,
    interfaces: &Interfaces,
    node: &str,
    limit: Duration,
) -> Result<String, RosError> {
    let service = format!("{node}/get_state");
    let question = (service.as_str(), "lifecycle_msgs/srv/GetState");
    let answer = ask(endpoints, interfaces, question, &serde_json::json!({}), limit).await?;
    let label = answer.pointer("/current_state/label").and_then(serde_json::Value::as_str);
    Ok(label.unwrap_or_default().to_owned())
}
