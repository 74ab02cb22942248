//! The commands of the last minutes, so that each is carried out once.

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use cortex_protocol::CommandOutcome;
use serde::Serialize;
use sha2::{Digest as _, Sha256};
use tokio::sync::watch;
use uuid::Uuid;

use crate::error::{ApiError, ErrorKind};
use crate::hub::json;

/// How long the outcome of an id is known.
const KNOWN: Duration = Duration::from_secs(600);
/// Commands that one client may give in one go. One more comes each second, so that within [`KNOWN`] fewer than 1,000 ids
/// of a client have to be known.
const BURST: u32 = 60;
/// Most clients whose commands are known.
const CLIENTS: usize = 128;
/// What came of a command.
pub(crate) type Outcome = Result<CommandOutcome, ApiError>;

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
pub(crate) enum Turn {
    /// Carry it out, and tell the outcome.
    First(watch::Sender<Option<Outcome>>, watch::Receiver<Option<Outcome>>),
    /// Wait for the outcome of the first time.
    Again(watch::Receiver<Option<Outcome>>),
}

impl KnownCommands {
    /// What is to be done with a command. `command`: all of what makes it the same command.
    ///
    /// # Errors
    /// When the id was given to another one, or there are too many.
    pub(crate) fn take(
        &self,
        client: Uuid,
        id: Uuid,
        command: &impl Serialize,
        now: Instant,
    ) -> Result<Turn, ApiError> {
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

    /// Forgets a command that was not carried out, so that it may be sent again with its id.
    pub(crate) fn forget(&self, client: Uuid, id: Uuid) {
        if let Some(client) = self.clients().get_mut(&client) {
            client.known.remove(&id);
            client.times.retain(|(_, known)| *known != id);
        }
    }

    fn clients(&self) -> MutexGuard<'_, HashMap<Uuid, Client>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Client {
    fn new(now: Instant) -> Self {
        Self { allowed: u128::from(BURST) * 1_000, allowed_at: now, known: HashMap::new(), times: VecDeque::new() }
    }

    fn take(&mut self, id: Uuid, command: &impl Serialize, now: Instant) -> Result<Turn, ApiError> {
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

#[cfg(test)]
mod tests {
    use cortex_protocol::Command;

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
