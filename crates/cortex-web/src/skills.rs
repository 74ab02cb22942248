//! The skills of the robot, and who it is: looked at by everybody who may watch. Whether a skill that the robot has learned is used
//! is said by who administers, and so is what is forgotten of how well they work: it changes what the robot does from then on, for
//! everybody.

use std::future::Future;
use std::sync::Arc;

use axum::Json;
use axum::body::Body;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use axum::http::{HeaderMap, StatusCode};
use cortex_core::SkillPort;
use cortex_protocol::skill_view::{SkillDecision, SkillDigest, SkillsView};
use cortex_protocol::{CommandError, Role};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::access::Caller;
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
    /// The digest of the text that its sender has read. The decision counts for no other.
    pub(crate) digest: SkillDigest,
    /// Whether it is to be used.
    pub(crate) decision: SkillDecision,
}

/// What is to be forgotten of how well skills work.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct CountsToForget {
    /// What its sender was looking at.
    pub(crate) seen: Seen,
    /// Of which skills. The skills themselves stay.
    pub(crate) counts: CountsOf,
}

/// Of which skills counts are.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub(crate) enum CountsOf {
    /// Of the one of this name.
    Skill(String),
    /// Of all, also of those that are gone.
    All,
}

/// Which text is wanted.
#[derive(Debug, Deserialize)]
pub(crate) struct WantedText {
    name: String,
    digest: SkillDigest,
}

/// The file of a skill.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub(crate) struct WholeText {
    /// All of it, as it stands there.
    pub(crate) text: String,
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

/// `GET /api/v1/skills/text`.
pub(crate) async fn text(
    State(site): State<Arc<Site>>,
    Reading(_): Reading,
    wanted: Result<Query<WantedText>, QueryRejection>,
) -> Result<Json<WholeText>, ApiError> {
    let Query(WantedText { name, digest }) = wanted?;
    Ok(Json(WholeText { text: port(&site)?.text(&name, digest).await? }))
}

/// `POST /api/v1/skills/decide`.
pub(crate) async fn decide(
    State(site): State<Arc<Site>>,
    Acting(caller): Acting,
    headers: HeaderMap,
    body: Body,
) -> Result<StatusCode, ApiError> {
    let Deciding { seen, name, digest, decision } = json_body(&site, &headers, body).await?;
    let word = match decision {
        SkillDecision::Accept => "accept",
        SkillDecision::Reject => "reject",
    };
    let what = format!("{word} the learned skill {:?} with the digest {digest}", noted(&name));
    let act = move |skills: Arc<dyn SkillPort>| async move { skills.decide(&name, digest, decision).await };
    carried_out(site, caller, seen, what, act).await
}

/// `POST /api/v1/skills/forget`.
pub(crate) async fn forget(
    State(site): State<Arc<Site>>,
    Acting(caller): Acting,
    headers: HeaderMap,
    body: Body,
) -> Result<StatusCode, ApiError> {
    let CountsToForget { seen, counts } = json_body(&site, &headers, body).await?;
    let name = match counts {
        CountsOf::Skill(name) => Some(name),
        CountsOf::All => None,
    };
    let of_what = name.as_ref().map_or_else(|| "all skills".to_owned(), |name| format!("the skill {:?}", noted(name)));
    let what = format!("forget what is counted of {of_what}");
    let act = move |skills: Arc<dyn SkillPort>| async move { skills.forget_counts(name.as_deref()).await };
    carried_out(site, caller, seen, what, act).await
}

/// Does something with the skills, for who administers and sees the robot as it is, and notes what came of it.
async fn carried_out<F: Future<Output = Result<(), CommandError>> + Send>(
    site: Arc<Site>,
    caller: Caller,
    seen: Seen,
    what: String,
    act: impl FnOnce(Arc<dyn SkillPort>) -> F + Send + 'static,
) -> Result<StatusCode, ApiError> {
    // It goes on when its client is gone, so that what came of it is noted.
    let acting = {
        let site = Arc::clone(&site);
        async move {
            let acted = async {
                caller.require(Role::Administer)?;
                seen::check_fresh(&seen, |frame| site.hub.age(frame))?;
                caller.check_still_valid()?;
                Ok(act(port(&site)?).await?)
            };
            let acted: Result<(), ApiError> = acted.await;
            match &acted {
                Ok(()) => audit::acted(&caller, &what, "done"),
                Err(error) => audit::refused(&caller, &what, error),
            }
            acted
        }
    };
    let failed = || ApiError::new(ErrorKind::Unavailable, "Cortex has failed at it. Look whether it happened.");
    site.tasks.spawn(acting).await.map_err(|_| failed())??;
    Ok(StatusCode::NO_CONTENT)
}

fn noted(name: &str) -> String {
    name.chars().take(NOTED).collect()
}

fn port(site: &Site) -> Result<Arc<dyn SkillPort>, ApiError> {
    let reason = "This robot uses no skills: its configuration has skills.enable_skills = false.";
    site.port.skills().ok_or_else(|| ApiError::new(ErrorKind::NotFound, reason))
}
