//! Requests about who may do what: login and logout, pairing codes, sessions.

use std::sync::Arc;
use std::time::Instant;

use axum::body::Body;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::{IntoResponse as _, Response};
use axum::{Extension, Json};
use cortex_protocol::Role;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::access::{
    COOKIE_NAME, Caller, IDLE_S, LIFETIME, OpenPairing, PairingRefusal, Session, ShownSession, ShownUser, check_origin,
};
use crate::accounts::in_turn;
use crate::callers::{Acting, Reading};
use crate::connection::Connection;
use crate::error::{ApiError, ErrorKind};
use crate::headers::media_type;
use crate::pages::{AFTER_LOGIN, see_other};
use crate::places::counted_as;
use crate::request::{json_body, whole_body};
use crate::site::Site;
use crate::{WebError, audit, pages};

/// What a device says to get a session.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct LogIn {
    /// The pairing code, for a device.
    #[serde(default)]
    pub(crate) code: String,
    /// Or else the name of a user.
    #[serde(default)]
    pub(crate) user: String,
    /// And the user's password.
    #[serde(default)]
    pub(crate) password: String,
    /// What people are to call the device. Cut to 40 characters.
    #[serde(default)]
    pub(crate) name: String,
}

/// A session, as the program gets it that began it.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct LoggedIn {
    /// To be sent as `Authorization: Bearer TOKEN`. It is shown once.
    pub(crate) token: String,
    /// The name of the device.
    pub(crate) name: String,
    /// What it may do.
    pub(crate) role: Role,
}

/// `GET /login`.
pub(crate) async fn login_page(State(site): State<Arc<Site>>) -> Response {
    pages::login(&site, StatusCode::OK, "")
}

/// `POST /login`: a form gets a cookie, a program a token.
pub(crate) async fn log_in(
    State(site): State<Arc<Site>>,
    Extension(connection): Extension<Connection>,
    headers: HeaderMap,
    body: Body,
) -> Response {
    let is_form = media_type(&headers).as_deref() == Some("application/x-www-form-urlencoded");
    let begun = begin_session(&site, &connection, &headers, body, is_form).await;
    match begun {
        Ok((token, _)) if is_form => match cookie(&token, IDLE_S, &connection) {
            Some(cookie) => see_other(AFTER_LOGIN, Some(cookie)),
            None => {
                pages::login(&site, StatusCode::SERVICE_UNAVAILABLE, "The session could not be given to the browser.")
            }
        },
        Ok((token, session)) => {
            Json(LoggedIn { token, name: session.name.clone(), role: session.role }).into_response()
        }
        Err(error) if is_form => pages::login(&site, error.status(), &error.reason),
        Err(error) => error.into_response(),
    }
}

async fn begin_session(
    site: &Arc<Site>,
    connection: &Connection,
    headers: &HeaderMap,
    body: Body,
    is_form: bool,
) -> Result<(String, Arc<Session>), ApiError> {
    // Who logs in has nothing yet that a browser would send by itself.
    check_origin(headers, true, connection.is_encrypted())?;
    let LogIn { code, user, password, name } = if is_form {
        let body = whole_body(site, headers, body).await?;
        serde_urlencoded::from_bytes(&body)
            .map_err(|error| ApiError::invalid(format!("The form can't be read: {error}.")))?
    } else {
        json_body(site, headers, body).await?
    };
    let (role, user) = match (code.trim().is_empty(), user.trim().is_empty()) {
        (false, true) => (role_of_code(site, connection, &code)?, None),
        (true, false) => {
            let user = user_of_password(site, connection, user, password).await?;
            (user.role, Some(user))
        }
        (true, true) => return Err(ApiError::invalid("Give a pairing code, or your name and your password.")),
        (false, false) => {
            return Err(ApiError::invalid("Give either a pairing code, or your name and your password, not both."));
        }
    };
    let (sessions, users) = (site.access.sessions(), site.access.users());
    let begun = blocking(move || {
        let begun = sessions.begin(&name, user.as_ref().map(|user| user.name.clone()), role)?;
        // Whoever was removed meanwhile is not in: either this is seen here, or the session is seen there.
        if user.is_some_and(|user| !users.is_known(&user)) {
            sessions.end(begun.1.id)?;
        }
        Ok(begun)
    })
    .await?;
    let (session, user) = (&begun.1, begun.1.user.as_deref().unwrap_or_default());
    let outcome = format!("session {} of {:?} as {role:?}, user {user:?}", session.id, session.name);
    audit::login(connection.peer(), &outcome);
    Ok(begun)
}

/// What a pairing code gives, which is used up.
fn role_of_code(site: &Site, connection: &Connection, code: &str) -> Result<Role, ApiError> {
    let redeemed = site.access.pairings().redeem(code, counted_as(connection.peer()), Instant::now());
    redeemed.map_err(|refusal| {
        audit::login_refused(&site.refused_logins, connection.peer(), &format!("{refusal:?}"));
        match refusal {
            PairingRefusal::Wrong => {
                let reason =
                    "This code is wrong, was used, or is too old. Ask for a new one: it is good for ten minutes.";
                ApiError::new(ErrorKind::Forbidden, reason)
            }
            PairingRefusal::TooMany => {
                ApiError::new(ErrorKind::TooMany, "Too many tries. Wait a minute, then type the code once more.")
            }
        }
    })
}

/// The user of this name and password.
async fn user_of_password(
    site: &Arc<Site>,
    connection: &Connection,
    user: String,
    password: String,
) -> Result<ShownUser, ApiError> {
    if !site.access.may_try(connection.peer(), &user, Instant::now()) {
        audit::login_refused(&site.refused_logins, connection.peer(), "too many passwords");
        let reason = "Too many tries. Wait a minute, or up to a quarter of an hour, or ask for a pairing code.";
        return Err(ApiError::new(ErrorKind::TooMany, reason));
    }
    let verified = in_turn(site, move |users| users.verify(&user, &password)).await?;
    verified.ok_or_else(|| {
        audit::login_refused(&site.refused_logins, connection.peer(), "wrong name or password");
        let reason = "The name or the password is wrong. Try again, or ask who administers this robot.";
        ApiError::new(ErrorKind::Forbidden, reason)
    })
}

/// `POST /logout`.
pub(crate) async fn log_out(
    State(site): State<Arc<Site>>,
    Extension(connection): Extension<Connection>,
    Acting(caller): Acting,
) -> Result<Response, ApiError> {
    let (sessions, id) = (site.access.sessions(), caller.session_id());
    blocking(move || sessions.end(id)).await?;
    audit::acted(&caller, "logout", "the session is ended");
    Ok(see_other("/login", cookie("", 0, &connection)))
}

/// A role to give.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewPairing {
    /// Which.
    pub(crate) role: Role,
}

/// A code that was made.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct PairingCode {
    /// Which, to end it.
    pub(crate) id: Uuid,
    /// What is typed into the login page. It is shown once.
    pub(crate) code: String,
    /// The role that it gives.
    pub(crate) role: Role,
    /// How long it is good, in seconds.
    pub(crate) left_s: u64,
}

/// `GET /api/v1/pairings`.
pub(crate) async fn pairings(
    State(site): State<Arc<Site>>,
    Reading(caller): Reading,
) -> Result<Json<Vec<OpenPairing>>, ApiError> {
    caller.require(Role::Administer)?;
    Ok(Json(site.access.pairings().list(Instant::now())))
}

/// `POST /api/v1/pairings`.
pub(crate) async fn make_pairing(
    State(site): State<Arc<Site>>,
    Acting(caller): Acting,
    headers: HeaderMap,
    body: Body,
) -> Result<Json<PairingCode>, ApiError> {
    require(&caller, "make a pairing code")?;
    let NewPairing { role } = json_body(&site, &headers, body).await?;
    caller.check_still_valid()?;
    let (id, code) = site.access.pairing_code(role).map_err(|error| ApiError::failed("there is no code", &error))?;
    audit::acted(&caller, "make a pairing code", &format!("{id} for {role:?}"));
    Ok(Json(PairingCode { id, code, role, left_s: LIFETIME.as_secs() }))
}

/// `DELETE /api/v1/pairings/ID`.
pub(crate) async fn end_pairing(
    State(site): State<Arc<Site>>,
    Acting(caller): Acting,
    Path(id): Path<String>,
) -> Result<StatusCode, ApiError> {
    require(&caller, "end a pairing code")?;
    let is_ended = id.parse().is_ok_and(|id| site.access.pairings().end(id));
    ended(&caller, "end a pairing code", &id, is_ended)
}

/// `GET /api/v1/sessions`.
pub(crate) async fn sessions(
    State(site): State<Arc<Site>>,
    Reading(caller): Reading,
) -> Result<Json<Vec<ShownSession>>, ApiError> {
    caller.require(Role::Administer)?;
    Ok(Json(site.access.sessions().list()))
}

/// `DELETE /api/v1/sessions/ID`: its streams are closed at once.
pub(crate) async fn end_session(
    State(site): State<Arc<Site>>,
    Acting(caller): Acting,
    Path(id): Path<String>,
) -> Result<StatusCode, ApiError> {
    require(&caller, "end a session")?;
    let sessions = site.access.sessions();
    let is_ended = match id.parse() {
        Ok(id) => blocking(move || sessions.end(id)).await?,
        Err(_) => false,
    };
    ended(&caller, "end a session", &id, is_ended)
}

fn require(caller: &Caller, what: &str) -> Result<(), ApiError> {
    caller.require(Role::Administer).inspect_err(|error| audit::refused(caller, what, error))
}

fn ended(caller: &Caller, what: &str, id: &str, is_ended: bool) -> Result<StatusCode, ApiError> {
    if !is_ended {
        return Err(ApiError::new(ErrorKind::NotFound, "There is none of that id. It may have ended by itself."));
    }
    audit::acted(caller, what, id);
    Ok(StatusCode::NO_CONTENT)
}

/// Runs what reads or writes files where nobody waits behind it.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, WebError> + Send + 'static,
) -> Result<T, ApiError> {
    match tokio::task::spawn_blocking(work).await {
        Ok(Ok(done)) => Ok(done),
        Ok(Err(error @ WebError::TooManySessions(_))) => Err(ApiError::new(ErrorKind::Refused, error.to_string())),
        Ok(Err(error)) => Err(ApiError::failed("the sessions could not be kept", &error)),
        Err(error) => Err(ApiError::failed("the sessions could not be kept", &error)),
    }
}

fn cookie(token: &str, lifetime_s: u64, connection: &Connection) -> Option<HeaderValue> {
    let secure = if connection.is_encrypted() { "; Secure" } else { "" };
    let cookie = format!("{COOKIE_NAME}={token}; HttpOnly; SameSite=Strict; Path=/; Max-Age={lifetime_s}{secure}");
    HeaderValue::from_str(&cookie).ok()
}
