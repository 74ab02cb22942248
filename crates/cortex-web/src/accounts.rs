//! Requests about users: who may log in with a name and a password.

use std::sync::Arc;

use axum::Json;
use axum::body::Body;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode};
use cortex_protocol::Role;
use schemars::JsonSchema;
use serde::Deserialize;
use tokio::time::timeout;

use crate::access::{Caller, ShownUser, Users};
use crate::audit;
use crate::callers::{Acting, Reading};
use crate::error::{ApiError, ErrorKind};
use crate::request::json_body;
use crate::site::Site;

/// A user to make.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewUser {
    /// What the user types to log in: letters from a to z, digits, dots, hyphens, underscores.
    name: String,
    /// What the user may do.
    role: Role,
    /// At least 12 characters. It is not kept.
    password: String,
}

/// `GET /api/v1/users`.
pub(crate) async fn users(
    State(site): State<Arc<Site>>,
    Reading(caller): Reading,
) -> Result<Json<Vec<ShownUser>>, ApiError> {
    caller.require(Role::Administer)?;
    Ok(Json(site.access.users().list()))
}

/// `POST /api/v1/users`.
pub(crate) async fn make_user(
    State(site): State<Arc<Site>>,
    Acting(caller): Acting,
    headers: HeaderMap,
    body: Body,
) -> Result<StatusCode, ApiError> {
    require(&caller, "make a user")?;
    let NewUser { name, role, password } = json_body(&site, &headers, body).await?;
    let what = format!("{name:?} as {role:?}");
    let by = caller.clone();
    let made = in_turn(&site, move |users| {
        // Not before the turn: whoever may do nothing any more has left nobody behind who may.
        by.check_still_valid()?;
        users.add(&name, role, &password)
    })
    .await;
    match &made {
        Ok(()) => audit::acted(&caller, "make a user", &what),
        Err(error) => audit::refused(&caller, "make a user", error),
    }
    made.map(|()| StatusCode::NO_CONTENT)
}

/// `DELETE /api/v1/users/NAME`: the user's sessions end, and their streams are closed at once.
pub(crate) async fn remove_user(
    State(site): State<Arc<Site>>,
    Acting(caller): Acting,
    Path(name): Path<String>,
) -> Result<StatusCode, ApiError> {
    require(&caller, "remove a user")?;
    let (users, sessions, gone) = (site.access.users(), site.access.sessions(), name.clone());
    let removed = tokio::task::spawn_blocking(move || {
        let removed = users.remove(&gone);
        // Also where the file of the users could not be written: whoever is removed is out.
        let ended = sessions.end_of_user(&gone);
        let removed = removed?;
        ended.map_err(|error| ApiError::failed("the sessions of the user are ended, but not for good", &error))?;
        Ok(removed)
    });
    let removed: Result<bool, ApiError> =
        removed.await.map_err(|error| ApiError::failed("the user could not be removed", &error))?;
    if !removed? {
        return Err(ApiError::new(ErrorKind::NotFound, "There is no user of that name."));
    }
    audit::acted(&caller, "remove a user", &format!("{name:?}"));
    Ok(StatusCode::NO_CONTENT)
}

fn require(caller: &Caller, what: &str) -> Result<(), ApiError> {
    caller.require(Role::Administer).inspect_err(|error| audit::refused(caller, what, error))
}

/// Does what takes a core for a while, when it is its turn, where nobody waits behind it.
pub(crate) async fn in_turn<T: Send + 'static>(
    site: &Site,
    work: impl FnOnce(&Users) -> Result<T, ApiError> + Send + 'static,
) -> Result<T, ApiError> {
    let users = site.access.users();
    let busy = || ApiError::new(ErrorKind::Busy, "Too many log in at this moment. Try again in some seconds.");
    let turn = timeout(site.settings.limits.read_timeout, users.turns().acquire_owned()).await.map_err(|_| busy())?;
    let turn = turn.map_err(|_| busy())?;
    let done = tokio::task::spawn_blocking(move || {
        // Kept by who works, also where nobody waits for it any more.
        let _turn = turn;
        work(&users)
    });
    let done = done.await;
    done.map_err(|error| ApiError::failed("the password could not be tried", &error))?
}
