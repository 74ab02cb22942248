//! The skills of the robot, and who it is: looked at by everybody who may watch. Whether a skill that the robot has learned is used
//! is said by who administers: it changes what the robot does from then on, for everybody.

use std::sync::Arc;

use axum::Json;
use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use cortex_core::SkillPort;
use cortex_protocol::Role;
use cortex_protocol::skill_view::{SkillDecision, SkillsView};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::audit;
use crate::callers::{Acting, Reading};
use crate::error::{ApiError, ErrorKind};
use crate::request::json_body;
use crate::seen::{self, Seen};
use crate::site::Site;

/// Characters of a name that are noted.
const NOTED: usize = 64;

/// What a person says of a skill that the robot has learned.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Deciding {
    /// What its sender was looking at.
    pub(crate) seen: Seen,
    /// The name of the skill.
    pub(crate) name: String,
    /// Whether it is to be used.
    pub(crate) decision: SkillDecision,
}

/// Who the robot is.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Identity {
    /// Its name, its body, its sensors and its places, in sentences. Empty: nothing is known.
    pub(crate) about: String,
}

/// `GET /api/v1/identity`.
pub(crate) async fn identity(State(site): State<Arc<Site>>, Reading(_): Reading) -> Json<Identity> {
    Json(Identity { about: site.port.identity() })
}

/// `GET /api/v1/skills`.
pub(crate) async fn skills(State(site): State<Arc<Site>>, Reading(_): Reading) -> Result<Json<SkillsView>, ApiError> {
    Ok(Json(port(&site)?.skills().await?))
}

/// `POST /api/v1/skills/decide`.
pub(crate) async fn decide(
    State(site): State<Arc<Site>>,
    Acting(caller): Acting,
    headers: HeaderMap,
    body: Body,
) -> Result<StatusCode, ApiError> {
    let Deciding { seen, name, decision } = json_body(&site, &headers, body).await?;
    let word = match decision {
        SkillDecision::Accept => "accept",
        SkillDecision::Reject => "reject",
    };
    let what = format!("{word} the learned skill {:?}", name.chars().take(NOTED).collect::<String>());
    // It goes on when its client is gone, so that what came of it is noted.
    let deciding = {
        let site = Arc::clone(&site);
        async move {
            let decided = async {
                caller.require(Role::Administer)?;
                seen::check_fresh(&seen, |frame| site.hub.age(frame))?;
                caller.check_still_valid()?;
                Ok(port(&site)?.decide(&name, decision).await?)
            };
            let decided: Result<(), ApiError> = decided.await;
            match &decided {
                Ok(()) => audit::acted(&caller, &what, "done"),
                Err(error) => audit::refused(&caller, &what, error),
            }
            decided
        }
    };
    let failed = || ApiError::new(ErrorKind::Unavailable, "Cortex has failed at it. Look whether it happened.");
    site.tasks.spawn(deciding).await.map_err(|_| failed())??;
    Ok(StatusCode::NO_CONTENT)
}

fn port(site: &Site) -> Result<Arc<dyn SkillPort>, ApiError> {
    let reason = "This robot uses no skills: its configuration has skills.enable_skills = false.";
    site.port.skills().ok_or_else(|| ApiError::new(ErrorKind::NotFound, reason))
}
