//! A node with a managed lifecycle: its state, and the way to another one.

use std::time::Duration;

use cortex_interfaces::Interfaces;

use super::Endpoints;
use super::service_request::ask;
use crate::RosError;
use crate::lifecycle::Transition;
use crate::lifecycle::state::Edge;

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

/// Takes a node through a transition. The answer comes when it is done: whether the node is in the state that it leads to.
/// A node that is in the wrong state for it, or whose transition fails, answers no and does not say why. `node` is fully
/// qualified.
///
/// # Errors
/// When the node is not there or has no lifecycle, or when it does not answer within `limit`. It may be on its way then.
pub async fn change(
    endpoints: &Endpoints,
    interfaces: &Interfaces,
    node: &str,
    transition: Transition,
    limit: Duration,
) -> Result<bool, RosError> {
    let service = format!("{node}/change_state");
    let question = (service.as_str(), "lifecycle_msgs/srv/ChangeState");
    let mut edges = transition.edges();
    let wanted = match (edges.next(), edges.next()) {
        (Some(edge), None) => serde_json::json!({"id": edge.id}),
        // From each state it has a number of its own; the label is the same.
        (edge, _) => serde_json::json!({"label": edge.map(Edge::label).unwrap_or_default()}),
    };
    let request = serde_json::json!({"transition": wanted});
    let answer = ask(endpoints, interfaces, question, &request, limit).await?;
    Ok(answer.get("success").and_then(serde_json::Value::as_bool).unwrap_or_default())
}
