//! What people ask the robot for: each command once, and only while the robot is as they saw it.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use axum::Json;
use axum::body::Body;
use axum::extract::State;
use axum::http::HeaderMap;
use cortex_protocol::{Command, CommandOutcome};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use tokio::sync::watch;
use tokio::time::timeout;
use uuid::Uuid;

use crate::access::{Acting, Caller};
use crate::error::{ApiError, ErrorKind};
use crate::live::json;
use crate::router::{Site, json_body};
use crate::seen::{self, Basis, Seen};
use crate::{audit, stop};

/// How long the outcome of an id is known.
const KNOWN: Duration = Duration::from_secs(600);
/// Commands that one client may give in one go. One more comes each second, so that within [`KNOWN`] fewer than 1,000 ids
/// of a client have to be known.
const BURST: u32 = 60;
/// Most clients whose commands are known.
const CLIENTS: usize = 128;
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
    /// What is asked for.
    pub(crate) command: Command,
}

type Outcome = Result<CommandOutcome, ApiError>;

/// The commands of the last minutes, by client.
#[derive(Default)]
pub(crate) struct KnownCommands(Mutex<HashMap<Uuid, Client>>);

struct Client {
    /// Commands that it may give now, in thousandths.
    allowed: u128,
    allowed_at: Instant,
    known: HashMap<Uuid, Known>,
    /// In the order of their times.
    times: VecDeque<(Instant, Uuid)>,
}

struct Known {
    command: [u8; 32],
    outcome: watch::Receiver<Option<Outcome>>,
}

/// What is to be done with a command.
enum Turn {
    /// Carry it out, and tell the outcome.
    First(watch::Sender<Option<Outcome>>, watch::Receiver<Option<Outcome>>),
    /// Wait for the outcome of the first time.
    Again(watch::Receiver<Option<Outcome>>),
}

impl KnownCommands {
    fn take(&self, client: Uuid, id: Uuid, command: &Command, now: Instant) -> Result<Turn, ApiError> {
        let mut clients = self.clients();
        if clients.len() >= CLIENTS && !clients.contains_key(&client) {
            clients.retain(|_, client| {
                client.forget_old(now);
                !client.known.is_empty()
            });
            if clients.len() >= CLIENTS {
                return Err(ApiError::new(
                    ErrorKind::Busy,
                    "Too many clients give commands. Try again in some minutes.",
                ));
            }
        }
        clients.entry(client).or_insert_with(|| Client::new(now)).take(id, command, now)
    }

    fn clients(&self) -> MutexGuard<'_, HashMap<Uuid, Client>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Client {
    fn new(now: Instant) -> Self {
        Self { allowed: u128::from(BURST) * 1_000, allowed_at: now, known: HashMap::new(), times: VecDeque::new() }
    }

    fn take(&mut self, id: Uuid, command: &Command, now: Instant) -> Result<Turn, ApiError> {
        let since = now.saturating_duration_since(self.allowed_at).as_millis();
        self.allowed = (self.allowed + since).min(u128::from(BURST) * 1_000);
        self.allowed_at = now;
        self.allowed = self.allowed.checked_sub(1_000).ok_or_else(|| {
            ApiError::new(ErrorKind::TooMany, "Too many commands within a minute. Wait a second. STOP is always taken.")
        })?;
        self.forget_old(now);
        let command = Sha256::digest(json(command)).into();
        if let Some(known) = self.known.get(&id) {
            if known.command != command {
                let reason = "This id was given to another command before. Nothing was done. Choose a new id.";
                return Err(ApiError::new(ErrorKind::Refused, reason));
            }
            return Ok(Turn::Again(known.outcome.clone()));
        }
        let (sender, outcome) = watch::channel(None);
        self.known.insert(id, Known { command, outcome: outcome.clone() });
        self.times.push_back((now, id));
        Ok(Turn::First(sender, outcome))
    }

    fn forget_old(&mut self, now: Instant) {
        while self.times.front().is_some_and(|(at, _)| now.saturating_duration_since(*at) >= KNOWN) {
            if let Some((_, id)) = self.times.pop_front() {
                self.known.remove(&id);
            }
        }
    }
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
    if let Err(error) = caller.require(request.command.role()) {
        let result = Err(error);
        audit::command(&caller, &request.command, &result);
        return result.map(Json);
    }
    let mut outcome = match site.commands.take(caller.session_id(), request.id, &request.command, Instant::now())? {
        Turn::Again(outcome) => outcome,
        Turn::First(sender, outcome) => {
            let site_of_task = Arc::clone(&site);
            // It goes on when its client is gone, so that its outcome is known when the client asks again.
            site.tasks.spawn(async move {
                let result = carry_out(&site_of_task, &caller, &request).await;
                audit::command(&caller, &request.command, &result);
                sender.send_replace(Some(result));
            });
            outcome
        }
    };
    let outcome = outcome.wait_for(Option::is_some).await.ok().and_then(|outcome| outcome.clone());
    let failed =
        || Err(ApiError::new(ErrorKind::Unavailable, "Cortex has failed at the command. Look whether it happened."));
    outcome.unwrap_or_else(failed).map(Json)
}

async fn carry_out(site: &Arc<Site>, caller: &Caller, request: &CommandRequest) -> Outcome {
    let (command, seen) = (&request.command, request.seen.as_ref());
    let now = Basis::of(&site.port.overviews().latest());
    seen::check(command, seen, |frame| site.hub.age(frame), &now, &site.port.questions())?;
    if let Command::Submit { .. } = command {
        let ended = caller.ended();
        tokio::select! {
            () = ended.cancelled() => {}
            ready = timeout(READY, site.port.ready()) => ready.map_err(|_| {
                ApiError::new(ErrorKind::Busy, "The robot is still being looked at. Try again in some seconds.")
            })??,
        }
    }
    caller.check_still_valid()?;
    Ok(site.port.execute(command.clone(), caller.principal()).await?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn client(number: u128) -> Uuid {
        Uuid::from_u128(number)
    }

    fn is_first(known: &KnownCommands, by: u128, id: u128, command: &Command, at: Instant) -> Result<bool, ErrorKind> {
        let turn = known.take(client(by), client(id), command, at);
        turn.map(|turn| matches!(turn, Turn::First(..))).map_err(|error| error.kind)
    }

    #[test]
    fn an_id_stands_for_one_command_of_one_client() {
        let (known, now) = (KnownCommands::default(), Instant::now());
        let cancel = Command::Cancel { mission: "a".into() };
        assert_eq!(is_first(&known, 1, 7, &Command::Resume, now), Ok(true));
        assert_eq!(is_first(&known, 1, 7, &Command::Resume, now), Ok(false));
        assert_eq!(is_first(&known, 1, 7, &cancel, now), Err(ErrorKind::Refused));
        assert_eq!(is_first(&known, 2, 7, &cancel, now), Ok(true));
        assert_eq!(is_first(&known, 1, 7, &Command::Resume, now + KNOWN), Ok(true));
    }

    #[test]
    fn commands_are_limited_so_that_what_is_known_stays_small() {
        let (known, now) = (KnownCommands::default(), Instant::now());
        let mut at = now;
        let mut taken = 0;
        for id in 0..20_000 {
            at = now + Duration::from_millis(100 * u64::try_from(id).unwrap());
            match is_first(&known, 1, id, &Command::Resume, at) {
                Ok(first) => taken += u32::from(first),
                Err(kind) => assert_eq!(kind, ErrorKind::TooMany),
            }
        }
        assert_eq!(taken, 60 + 1_999);
        assert!(known.clients()[&client(1)].known.len() <= 661);
        for by in 2..=128 {
            assert_eq!(is_first(&known, by, 1, &Command::Resume, at), Ok(true));
        }
        assert_eq!(is_first(&known, 129, 1, &Command::Resume, at), Err(ErrorKind::Busy));
        assert_eq!(is_first(&known, 129, 1, &Command::Resume, at + KNOWN), Ok(true));
    }
}
