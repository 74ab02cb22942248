//! Who asks, and with which role. Somebody at this very machine needs no login; everybody else needs a session.

pub(crate) mod kept;
mod pairing;
mod peer;
mod secret;
mod sessions;
mod tries;
mod users;

use std::net::IpAddr;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use axum::http::HeaderMap;
use axum::http::header::{AUTHORIZATION, COOKIE};
use cortex_protocol::{Origin, Principal, Role};
use sha2::{Digest as _, Sha256};
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

pub(crate) use pairing::{LIFETIME, OpenPairing, PairingRefusal, Pairings};
pub(crate) use peer::{check_embedding, check_origin, is_own_origin};
pub(crate) use sessions::{IDLE_S, Session, Sessions, ShownSession};
pub(crate) use users::{ShownUser, Users};

use crate::connection::Connection;
use crate::error::{ApiError, ErrorKind};
use crate::places::counted_as;
use crate::{Login, WebError};
use tries::Tries;

/// Tries of passwords that a peer has within a time, and that a user has, whoever tries: pairing codes stay as a way in.
const PEER_TRIES: u32 = 5;
const PEER_TIME: Duration = Duration::from_secs(60);
const USER_TRIES: u32 = 20;
const USER_TIME: Duration = Duration::from_secs(900);

/// The cookie that holds the token of a session.
pub(crate) const COOKIE_NAME: &str = "cortex_session";

/// The sessions and the codes that begin them.
pub(crate) struct Access {
    login: Login,
    sessions: Arc<Sessions>,
    pairings: Mutex<Pairings>,
    users: Arc<Users>,
    /// Tries of passwords, by who tries and by whose they are.
    tries: Mutex<(Tries<IpAddr>, Tries<String>)>,
}

/// Somebody who may look on, at least.
#[derive(Debug, Clone)]
pub(crate) struct Caller {
    who: Who,
    role: Role,
    /// Whether browsers do not send by themselves what the caller is known by.
    is_program: bool,
    /// Whether the connection is: then so is the robot's own page.
    is_encrypted: bool,
}

#[derive(Debug, Clone)]
enum Who {
    ThisMachine,
    Session(Arc<Session>),
}

impl Access {
    /// Reads the sessions. Reads files.
    pub(crate) fn open(login: Login, directory: Option<&Path>) -> Result<Self, WebError> {
        let sessions = Arc::new(Sessions::open(directory)?);
        let tries = (Tries::new(PEER_TRIES, PEER_TIME), Tries::new(USER_TRIES, USER_TIME));
        let users = Arc::new(Users::open(directory)?);
        // Their file was changed by hand, or Cortex ended between the two files: who is no user any more has no session.
        sessions.end_of_others(|user, role| users.is_known(&ShownUser { name: user.to_owned(), role }))?;
        Ok(Self { login, sessions, pairings: Mutex::default(), users, tries: Mutex::new(tries) })
    }

    /// Makes a code that gives one device a session with this role.
    ///
    /// # Errors
    /// When the system has no random numbers.
    pub(crate) fn pairing_code(&self, role: Role) -> Result<(Uuid, String), WebError> {
        let code = secret::pairing_code().map_err(WebError::Random)?;
        Ok((self.pairings().open(&code, role, Instant::now()), code))
    }

    /// Who sends a request. Never waits.
    ///
    /// # Errors
    /// When nobody knows.
    pub(crate) fn identify(&self, connection: &Connection, headers: &HeaderMap) -> Result<Caller, ApiError> {
        // A token that is given counts, wherever it comes from.
        if headers.contains_key(AUTHORIZATION) {
            let token = crate::headers::one(headers, AUTHORIZATION).and_then(|value| value.strip_prefix("Bearer "));
            let session = token.and_then(|token| self.sessions.find(token.trim()));
            return session
                .map(|session| self.of_session(session, connection, true))
                .ok_or_else(ApiError::unauthenticated);
        }
        if self.login == Login::Others && peer::is_this_machine(connection.peer(), headers) {
            return Ok(Caller {
                who: Who::ThisMachine,
                role: Role::Administer,
                is_program: true,
                is_encrypted: connection.is_encrypted(),
            });
        }
        let session = cookies(headers).find_map(|token| self.sessions.find(token));
        session.map(|session| self.of_session(session, connection, false)).ok_or_else(ApiError::unauthenticated)
    }

    fn of_session(&self, session: Arc<Session>, connection: &Connection, is_program: bool) -> Caller {
        self.touch(&session);
        Caller { role: session.role, who: Who::Session(session), is_program, is_encrypted: connection.is_encrypted() }
    }

    fn touch(&self, session: &Session) {
        if Sessions::touch(session) {
            let sessions = Arc::clone(&self.sessions);
            tokio::task::spawn_blocking(move || {
                if let Err(error) = sessions.write() {
                    tracing::warn!(%error, "the last use of a session was not written down");
                }
            });
        }
    }

    /// Notes that the caller is still there, on a connection that lasts.
    pub(crate) fn still_there(&self, caller: &Caller) {
        if let Who::Session(session) = &caller.who {
            self.touch(session);
        }
    }

    /// Counts a try of a password. False where it is one too many.
    pub(crate) fn may_try(&self, peer: IpAddr, user: &str, now: Instant) -> bool {
        let mut tries = self.tries.lock().unwrap_or_else(PoisonError::into_inner);
        let (by_peer, by_user) = &mut *tries;
        let user = user.trim().to_lowercase().chars().take(64).collect();
        by_peer.count(counted_as(peer), now) && by_user.count(user, now)
    }

    pub(crate) fn users(&self) -> Arc<Users> {
        Arc::clone(&self.users)
    }

    pub(crate) fn sessions(&self) -> Arc<Sessions> {
        Arc::clone(&self.sessions)
    }

    pub(crate) fn pairings(&self) -> MutexGuard<'_, Pairings> {
        self.pairings.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The name of whoever is at the robot's own machine, in records and for people.
const THIS_MACHINE: &str = "the robot's own computer";

impl Caller {
    pub(crate) fn role(&self) -> Role {
        self.role
    }

    /// The name of the user, or else of the device, for people.
    pub(crate) fn name(&self) -> &str {
        match &self.who {
            Who::ThisMachine => THIS_MACHINE,
            Who::Session(session) => session.user.as_deref().unwrap_or(&session.name),
        }
    }

    /// The session's id; nil for this machine.
    pub(crate) fn session_id(&self) -> Uuid {
        match &self.who {
            Who::ThisMachine => Uuid::nil(),
            Who::Session(session) => session.id,
        }
    }

    /// Is cancelled when the caller may do nothing any more.
    pub(crate) fn ended(&self) -> CancellationToken {
        match &self.who {
            Who::ThisMachine => CancellationToken::new(),
            Who::Session(session) => session.ended().clone(),
        }
    }

    /// Checks that the session has not ended since the request came.
    ///
    /// # Errors
    /// When it has.
    pub(crate) fn check_still_valid(&self) -> Result<(), ApiError> {
        match &self.who {
            Who::Session(session) if session.ended().is_cancelled() => {
                let reason = "Your session was ended before this began: nothing was done. Log in again.";
                Err(ApiError::new(ErrorKind::Unauthenticated, reason))
            }
            Who::Session(_) | Who::ThisMachine => Ok(()),
        }
    }

    /// Checks that the robot's own page asks, or no browser.
    ///
    /// # Errors
    /// When another site's page may have asked.
    pub(crate) fn check_origin(&self, headers: &HeaderMap) -> Result<(), ApiError> {
        check_origin(headers, self.is_program, self.is_encrypted)
    }

    /// Checks the role.
    ///
    /// # Errors
    /// When it takes another one.
    pub(crate) fn require(&self, role: Role) -> Result<(), ApiError> {
        if self.role >= role {
            return Ok(());
        }
        let reason =
            format!("This takes the role {role:?}, and you have the role {:?}. Ask somebody who may.", self.role);
        Err(ApiError::new(ErrorKind::Forbidden, reason))
    }

    /// Who asks, for the robot's record.
    pub(crate) fn principal(&self) -> Principal {
        let mut origin = Origin::new("web", self.name());
        if let Who::Session(session) = &self.who {
            let hash = Sha256::digest(session.id.as_bytes());
            origin.user_id_hash = hash.iter().map(|byte| format!("{byte:02x}")).collect();
        }
        Principal { origin, role: self.role, connection: None }
    }
}

/// The tokens in the cookies of our name. Programs on other ports of this host share them, and may have set some of that name.
fn cookies(headers: &HeaderMap) -> impl Iterator<Item = &str> {
    let cookies =
        headers.get_all(COOKIE).iter().filter_map(|value| value.to_str().ok()).flat_map(|value| value.split(';'));
    let named = cookies.filter_map(|cookie| cookie.trim().split_once('='));
    named.filter(|(name, _)| *name == COOKIE_NAME).map(|(_, token)| token)
}
