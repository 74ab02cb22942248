//! Tasks from other systems. Whoever signs with the secret of a webhook may give tasks, and nothing else.

use std::sync::Arc;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use axum::body::Body;
use axum::extract::{Path, State};
use axum::http::HeaderMap;
use axum::{Extension, Json};
use cortex_protocol::{Command, CommandOutcome, Origin, Principal, SessionId, strict_json};
use schemars::JsonSchema;
use serde::Deserialize;
use sha2::{Digest as _, Sha256};
use uuid::Uuid;

use super::{ID, IncomingWebhook, SIGNATURE, TIMESTAMP};
use crate::audit;
use crate::commands::{answered, check_words, when_ready};
use crate::connection::Connection;
use crate::error::{ApiError, ErrorKind};
use crate::headers::{media_type, one};
use crate::known_commands::Turn;
use crate::request::whole_body;
use crate::site::Site;

/// How far the time of a message may be from now, in seconds. Less than half of the time for which ids are known, so that no
/// message counts twice.
const TOLERANCE_S: u64 = 300;
/// Longest id of a message, in bytes.
const ID_BYTES: usize = 256;

/// A task from another system.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct GivenTask {
    /// In plain language.
    task: String,
    /// The conversation that it belongs to.
    #[serde(default)]
    session: Option<SessionId>,
}

/// `POST /api/v1/webhooks/NAME`.
pub(crate) async fn receive(
    State(site): State<Arc<Site>>,
    Extension(connection): Extension<Connection>,
    Path(name): Path<String>,
    headers: HeaderMap,
    body: Body,
) -> Result<Json<CommandOutcome>, ApiError> {
    if media_type(&headers).as_deref() != Some("application/json") {
        let reason = "The body must be JSON, and say so: 'Content-Type: application/json'.";
        return Err(ApiError::new(ErrorKind::UnsupportedType, reason));
    }
    let body = whole_body(&site, &headers, body).await?;
    let (hook, id) = verified(&site, &name, &headers, &body).inspect_err(|_| {
        audit::login_refused(&site.refused_logins, connection.peer(), "a webhook that is not signed as it should be");
    })?;
    let GivenTask { task, session } = strict_json::read_bytes(&body)
        .map_err(|error| ApiError::invalid(format!("The body can't be read: {error}.")))?;
    let command = Command::Submit { task, session };
    check_words(&command)?;
    let (sender_id, message_id) = (uuid_of("webhook", &hook.name), uuid_of(&hook.name, &id));
    let outcome = match site.commands.take(sender_id, message_id, &command, Instant::now())? {
        Turn::Again(outcome) => outcome,
        Turn::First(sender, outcome) => {
            let (site, name) = (Arc::clone(&site), hook.name.clone());
            let tracker = site.tasks.clone();
            // It goes on when its sender is gone, so that its outcome is known when the sender asks again.
            tracker.spawn(async move {
                let principal = Principal::operator(Origin::new("webhook", &name));
                let result = match when_ready(&site).await {
                    Ok(()) => site.port.execute(command, principal).await.map_err(ApiError::from),
                    Err(error) => Err(error),
                };
                audit::webhook(&name, &result);
                // Who sends webhooks sends them again, with the same id, until they are taken. Nothing was done: there was too
                // much to do, the robot was stopped, or somebody had its controls.
                if result.as_ref().is_err_and(|error| matches!(error.kind, ErrorKind::Busy | ErrorKind::Refused)) {
                    site.commands.forget(sender_id, message_id);
                }
                sender.send_replace(Some(result));
            });
            outcome
        }
    };
    answered(&site, outcome).await.map(Json)
}

/// The webhook that has signed a message, and the message's id.
fn verified<'a>(
    site: &'a Site,
    name: &str,
    headers: &HeaderMap,
    body: &[u8],
) -> Result<(&'a IncomingWebhook, String), ApiError> {
    let missing = || {
        let reason = "A message to a webhook has the headers 'webhook-id', 'webhook-timestamp' and 'webhook-signature', as \
                      Standard Webhooks have them.";
        ApiError::new(ErrorKind::Unauthenticated, reason)
    };
    let header = |name| one(headers, name).filter(|value| !value.is_empty()).ok_or_else(missing);
    let (id, timestamp, signature) = (header(ID)?, header(TIMESTAMP)?, header(SIGNATURE)?);
    if id.len() > ID_BYTES {
        return Err(missing());
    }
    // Which names there are is for nobody to know.
    let hook = site.settings.incoming.iter().find(|hook| hook.name == name);
    let hook = hook.filter(|hook| hook.secret.verifies(signature, id, timestamp, body)).ok_or_else(|| {
        let reason = "There is no webhook of this name, or the message is not signed with its secret.";
        ApiError::new(ErrorKind::Unauthenticated, reason)
    })?;
    let now_s = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |now| now.as_secs());
    let sent_s: u64 = timestamp.parse().map_err(|_| missing())?;
    // What an earlier life of Cortex was sent is not known to this one.
    if sent_s.abs_diff(now_s) >= TOLERANCE_S || sent_s < site.started_s {
        let reason = "The time of the message is more than 5 minutes from that of the robot, or before Cortex was started. Send \
                      it again with a new time; look at the clocks of both.";
        return Err(ApiError::new(ErrorKind::Unauthenticated, reason));
    }
    Ok((hook, id.to_owned()))
}

/// One that stands for this text.
fn uuid_of(kind: &str, text: &str) -> Uuid {
    let digest = Sha256::new().chain_update(kind).chain_update([0]).chain_update(text).finalize();
    let mut bytes = [0; 16];
    bytes.iter_mut().zip(digest).for_each(|(byte, of_digest)| *byte = of_digest);
    Uuid::from_bytes(bytes)
}
