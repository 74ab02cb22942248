//! The parameters of nodes: for those who may operate, since they may hold secrets such as the password of a camera. Set
//! only by who sees the robot as it is.

use std::sync::Arc;

use axum::Json;
use axum::body::Body;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use axum::http::{HeaderMap, StatusCode};
use cortex_protocol::robot_view::NodeParameter;
use cortex_protocol::{ConnectionId, Role};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::port;
use crate::access::Caller;
use crate::audit;
use crate::callers::{Acting, Reading};
use crate::error::{ApiError, ErrorKind};
use crate::request::json_body;
use crate::seen::{self, Seen};
use crate::site::Site;

/// Characters of a value that are noted of who set it.
const NOTED: usize = 200;

/// Whose parameters are looked at.
#[derive(Debug, Deserialize)]
pub(crate) struct OfNode {
    node: String,
}

/// A parameter that is to be set.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewValue {
    /// What its sender was looking at.
    pub(crate) seen: Seen,
    /// The live connection over which it is set. Needed while somebody has the controls of the robot.
    #[serde(default)]
    pub(crate) connection: Option<ConnectionId>,
    /// The full name of the node.
    pub(crate) node: String,
    /// The parameter within it.
    pub(crate) name: String,
    /// Its new value.
    pub(crate) value: Value,
}

/// `GET /api/v1/robot/parameters`.
pub(crate) async fn parameters(
    State(site): State<Arc<Site>>,
    Reading(caller): Reading,
    of: Result<Query<OfNode>, QueryRejection>,
) -> Result<Json<Vec<NodeParameter>>, ApiError> {
    caller.require(Role::Operate)?;
    Ok(Json(port(&site)?.parameters(&of?.0.node).await?))
}

/// `POST /api/v1/robot/parameters`.
pub(crate) async fn set_parameter(
    State(site): State<Arc<Site>>,
    Acting(caller): Acting,
    headers: HeaderMap,
    body: Body,
) -> Result<StatusCode, ApiError> {
    let wanted: NewValue = json_body(&site, &headers, body).await?;
    // It goes on when its client is gone, so that what came of it is noted.
    let setting = site.tasks.spawn(set(Arc::clone(&site), caller, wanted));
    let failed = |_| ApiError::new(ErrorKind::Unavailable, "Cortex has failed at it. Look whether it happened.");
    setting.await.map_err(failed)?
}

/// While somebody has the controls, nobody else changes the robot.
fn check_controls(site: &Site, caller: &Caller, connection: Option<&ConnectionId>) -> Result<(), ApiError> {
    if let Some(connection) = connection {
        site.connections.check(connection, caller)?;
    }
    let holder = site.port.overviews().latest().control.holder.clone();
    if holder.is_none() || holder.as_ref() == connection {
        return Ok(());
    }
    let reason = "Somebody else has the controls of the robot. Ask them to hand back. STOP works for everybody.";
    Err(ApiError::new(ErrorKind::Refused, reason))
}

async fn set(site: Arc<Site>, caller: Caller, wanted: NewValue) -> Result<StatusCode, ApiError> {
    let NewValue { seen, connection, node, name, value } = &wanted;
    let cut = |text: &str| -> String { text.chars().take(NOTED).collect() };
    let what = format!("set the parameter {:?} of {:?} to {}", cut(name), cut(node), cut(&value.to_string()));
    let set = async {
        caller.require(Role::Operate)?;
        seen::check_fresh(seen, |frame| site.hub.age(frame))?;
        check_controls(&site, &caller, connection.as_ref())?;
        let robot = port(&site)?;
        caller.check_still_valid()?;
        Ok(robot.set_parameter(node, name, value).await?)
    };
    let result: Result<(), ApiError> = set.await;
    match &result {
        Ok(()) => audit::acted(&caller, &what, "set"),
        Err(error) => audit::refused(&caller, &what, error),
    }
    result.map(|()| StatusCode::NO_CONTENT)
}
