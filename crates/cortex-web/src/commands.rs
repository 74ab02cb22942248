//! What people ask the robot for: each command once, and only while the robot is as they saw it.

use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::Json;
use axum::body::Body;
use axum::extract::State;
use axum::http::HeaderMap;
use cortex_core::ControlLoss;
use cortex_protocol::{Command, CommandOutcome, ConnectionId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tokio::sync::watch;
use tokio::time::timeout;
use uuid::Uuid;

use crate::access::Caller;
use crate::callers::Acting;
use crate::error::{ApiError, ErrorKind};
use crate::known_commands::{Outcome, Turn};
use crate::request::json_body;
use crate::seen::{self, Basis, Seen};
use crate::site::Site;
use crate::{audit, stop};

/// How long a task may wait until the robot has been looked at.
const READY: Duration = Duration::from_secs(10);

/// A command and what goes with it.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct CommandRequest {
    /// Chosen by the client. The same command with the same id is carried out once, however often it is sent.
    pub(crate) id: Uuid,
    /// What its sender was looking at. Needed for everything but `stop` and `submit`.
    #[serde(default)]
    pub(crate) seen: Option<Seen>,
    /// The live connection over which it is given: what holds the controls of the robot. Needed to take over, and for what
    /// only their holder may ask for.
    #[serde(default)]
    pub(crate) connection: Option<ConnectionId>,
    /// What is asked for.
    pub(crate) command: Command,
}

/// `POST /api/v1/commands`.
pub(crate) async fn command(
    State(site): State<Arc<Site>>,
    Acting(caller): Acting,
    headers: HeaderMap,
    body: Body,
) -> Result<Json<CommandOutcome>, ApiError> {
    let request: CommandRequest = json_body(&site, &headers, body).await?;
    if request.command == Command::Stop {
        // Also with an id that is known: the robot may have been resumed since.
        return stop::begin(&site, &caller).await.map(Json);
    }
    if let Err(error) = caller.require(request.command.role()).and_then(|()| check_words(&request.command)) {
        let result = Err(error);
        audit::command(&caller, &request.command, &result);
        return result.map(Json);
    }
    if request.command == Command::Pause {
        // As a stop: somebody may have let the robot go on since.
        let (sender, outcome) = watch::channel(None);
        begin(&site, caller, request, sender);
        return answered(&site, outcome).await.map(Json);
    }
    // Who takes over by another connection wants something else, though the words are the same.
    let over = request.connection.as_ref().filter(|_| request.command == Command::TakeOver);
    let what = (&request.command, over);
    let outcome = match site.commands.take(caller.session_id(), request.id, &what, Instant::now())? {
        Turn::Again(outcome) => outcome,
        Turn::First(sender, outcome) => {
            begin(&site, caller, request, sender);
            outcome
        }
    };
    answered(&site, outcome).await.map(Json)
}

/// Begins a command. It goes on when its client is gone, so that its outcome is known when the client asks again.
fn begin(site: &Arc<Site>, caller: Caller, request: CommandRequest, sender: watch::Sender<Option<Outcome>>) {
    let site_of_task = Arc::clone(site);
    site.tasks.spawn(async move {
        let result = carry_out(&site_of_task, &caller, &request).await;
        audit::command(&caller, &request.command, &result);
        sender.send_replace(Some(result));
    });
}

/// What came of a command, as soon as that is known.
pub(crate) async fn answered(site: &Site, mut outcome: watch::Receiver<Option<Outcome>>) -> Outcome {
    let known = timeout(site.settings.limits.answer_timeout, outcome.wait_for(Option::is_some)).await.map_err(|_| {
        let reason = "Cortex has not answered in time, and may still carry the command out. Send it again with the same id to \
                      hear what came of it: it is not carried out twice.";
        ApiError::new(ErrorKind::Unavailable, reason)
    })?;
    let outcome = known.ok().and_then(|outcome| outcome.clone());
    let failed =
        || Err(ApiError::new(ErrorKind::Unavailable, "Cortex has failed at the command. Look whether it happened."));
    outcome.unwrap_or_else(failed)
}

/// Waits until a task can be planned.
pub(crate) async fn when_ready(site: &Site) -> Result<(), ApiError> {
    let ready = timeout(READY, site.port.ready()).await;
    let ready = ready.map_err(|_| {
        ApiError::new(ErrorKind::Busy, "The robot is still being looked at. Try again in some seconds.")
    })?;
    Ok(ready?)
}

/// Words that say nothing are no task: the robot would be asked to guess.
pub(crate) fn check_words(command: &Command) -> Result<(), ApiError> {
    let (what, words) = match command {
        Command::Submit { task, .. } => ("task", task),
        Command::Revise { text, .. } => ("revision", text),
        Command::Dispute { reason, .. } => ("reason", reason),
        _ => return Ok(()),
    };
    if words.trim().is_empty() {
        return Err(ApiError::invalid(format!("The {what} is blank. Nothing was done. Say in words what is meant.")));
    }
    Ok(())
}

async fn carry_out(site: &Arc<Site>, caller: &Caller, request: &CommandRequest) -> Outcome {
    let (command, seen) = (&request.command, request.seen.as_ref());
    let now = Basis::of(&site.port.overviews().latest());
    seen::check(command, seen, |frame| site.hub.age(frame), &now, &site.port.questions())?;
    if let Command::Submit { .. } = command {
        let ended = caller.ended();
        tokio::select! {
            () = ended.cancelled() => {}
            ready = when_ready(site) => ready?,
        }
    }
    caller.check_still_valid()?;
    let principal = caller.principal();
    let Some(connection) = &request.connection else { return Ok(site.port.execute(command.clone(), principal).await?) };
    site.connections.check(connection, caller)?;
    let outcome = site.port.execute(command.clone(), principal.over(connection.clone())).await;
    if !site.connections.is_live(connection) {
        // It ended while the controls were taken over it.
        site.port.lose_controls(connection, ControlLoss::Closed);
    }
    Ok(outcome?)
}
