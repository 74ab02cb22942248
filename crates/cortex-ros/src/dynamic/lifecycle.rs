//! A node with a managed lifecycle: its state, and the way to another one.

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

/// A transition that one can ask for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Transition {
    /// From `unconfigured` to `inactive`.
    Configure,
    /// From `inactive` to `unconfigured`.
    CleanUp,
    /// From `inactive` to `active`.
    Activate,
    /// From `active` to `inactive`.
    Deactivate,
}

impl Transition {
    /// Its number in `lifecycle_msgs/msg/Transition`.
    fn id(self) -> u8 {
        match self {
            Self::Configure => 1,
            Self::CleanUp => 2,
            Self::Activate => 3,
            Self::Deactivate => 4,
        }
    }

    /// The label of the state that it leads to.
    #[must_use]
    pub fn target(self) -> &'static str {
        match self {
            Self::Configure | Self::Deactivate => "inactive",
            Self::Activate => "active",
            Self::CleanUp => "unconfigured",
        }
    }

    /// Whether a node in the state of this label is on its way through the transition.
    #[must_use]
    pub fn is_on_its_way(self, label: &str) -> bool {
        label
            == match self {
                Self::Configure => "configuring",
                Self::CleanUp => "cleaningup",
                Self::Activate => "activating",
                Self::Deactivate => "deactivating",
            }
    }
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
    let request = serde_json::json!({"transition": {"id": transition.id()}});
    let answer = ask(endpoints, interfaces, question, &request, limit).await?;
    Ok(answer.get("success").and_then(serde_json::Value::as_bool).unwrap_or_default())
}
