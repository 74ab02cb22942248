//! Sessions: which devices may do what. They outlive a restart, and end when somebody ends them or nobody uses them.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use cortex_protocol::Role;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use super::kept;
use super::secret::{SecretDigest, token};
use crate::WebError;

/// A session that nobody uses for so long ends.
pub(crate) const IDLE_S: u64 = 30 * 24 * 3_600;
/// The last use is known to the hour: it is no record of who was there when.
const COARSE_S: u64 = 3_600;
/// Most sessions at a time.
const MOST: usize = 64;
/// Most characters of a device's name.
const NAME_CHARACTERS: usize = 40;
const FILE: &str = "sessions.json";

/// A device that has logged in.
#[derive(Debug)]
pub(crate) struct Session {
    pub(crate) id: Uuid,
    pub(crate) name: String,
    /// Who has logged in with a password.
    pub(crate) user: Option<String>,
    pub(crate) role: Role,
    created_s: u64,
    last_used_s: AtomicU64,
    ended: CancellationToken,
}

impl Session {
    /// Is cancelled at the end of the session.
    pub(crate) fn ended(&self) -> &CancellationToken {
        &self.ended
    }

    fn is_idle(&self, now_s: u64) -> bool {
        now_s.saturating_sub(self.last_used_s.load(Ordering::Relaxed)) >= IDLE_S
    }
}

/// A session, as administrators see it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct ShownSession {
    /// Which, to end it.
    pub(crate) id: Uuid,
    /// The name that its device was given.
    pub(crate) name: String,
    /// The user who has logged in there with a password.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) user: Option<String>,
    /// What it may do.
    pub(crate) role: Role,
    /// When it began, in seconds since 1970.
    pub(crate) created_s: u64,
    /// When it was last used, in seconds since 1970, to the hour.
    pub(crate) last_used_s: u64,
}

/// A session in the file.
#[derive(Serialize, Deserialize)]
struct Stored {
    id: Uuid,
    token_sha256: String,
    name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    user: Option<String>,
    role: Role,
    created_s: u64,
    last_used_s: u64,
}

/// All sessions, and the file that they are kept in.
pub(crate) struct Sessions {
    file: Option<PathBuf>,
    known: Mutex<Vec<(SecretDigest, Arc<Session>)>>,
    /// Held while the file is written, so that the last state is the one that stays.
    writing: Mutex<()>,
}

impl Sessions {
    /// Reads what was kept. Reads files.
    ///
    /// # Errors
    /// When the folder can't be had. A file that can't be read is put aside: whoever was logged in logs in again.
    pub(crate) fn open(directory: Option<&Path>) -> Result<Self, WebError> {
        let Some(directory) = directory else { return Ok(Self::with(None, Vec::new())) };
        let failed = |source| WebError::Sessions { path: directory.to_owned(), source };
        kept::make_folder(directory).map_err(failed)?;
        let file = directory.join(FILE);
        let known = kept::or_put_aside(&file, read(&file), "every device has to log in again").map_err(failed)?;
        Ok(Self::with(Some(file), known))
    }

    fn with(file: Option<PathBuf>, known: Vec<(SecretDigest, Arc<Session>)>) -> Self {
        Self { file, known: Mutex::new(known), writing: Mutex::default() }
    }

    /// Begins a session and returns its token, which is known to nobody else. Writes a file.
    ///
    /// # Errors
    /// When there are too many, the system has no random numbers, or the file can't be written.
    pub(crate) fn begin(
        &self,
        name: &str,
        user: Option<String>,
        role: Role,
    ) -> Result<(String, Arc<Session>), WebError> {
        let (token, now_s) = (token().map_err(WebError::Random)?, now_s());
        let session = Arc::new(Session {
            id: Uuid::new_v4(),
            name: clean_name(name),
            user,
            role,
            created_s: now_s,
            last_used_s: AtomicU64::new(now_s / COARSE_S * COARSE_S),
            ended: CancellationToken::new(),
        });
        {
            let mut known = self.known();
            forget_idle(&mut known, now_s);
            if known.len() >= MOST {
                return Err(WebError::TooManySessions(MOST));
            }
            known.push((SecretDigest::of(&token), Arc::clone(&session)));
        }
        if let Err(error) = self.write() {
            self.known().retain(|(_, known)| known.id != session.id);
            return Err(error);
        }
        Ok((token, session))
    }

    /// The session of a token. Never waits for a file.
    pub(crate) fn find(&self, token: &str) -> Option<Arc<Session>> {
        self.find_at(token, now_s())
    }

    fn find_at(&self, token: &str, now_s: u64) -> Option<Arc<Session>> {
        let digest = SecretDigest::of(token);
        let mut known = self.known();
        forget_idle(&mut known, now_s);
        known.iter().find(|(known, _)| known.matches(&digest)).map(|(_, session)| Arc::clone(session))
    }

    /// Notes that a session is in use. Returns true if that is to be written with [`Sessions::write`].
    pub(crate) fn touch(session: &Session) -> bool {
        let hour_s = now_s() / COARSE_S * COARSE_S;
        // Never back: a robot whose clock is not yet set would end its sessions when it is.
        session.last_used_s.fetch_max(hour_s, Ordering::Relaxed) < hour_s
    }

    /// Ends a session, its streams and what it has not begun. Returns false if there is none. Writes a file.
    ///
    /// # Errors
    /// When the file can't be written: the session is ended, but would be back after a restart.
    pub(crate) fn end(&self, id: Uuid) -> Result<bool, WebError> {
        self.end_those(|session| session.id == id)
    }

    /// Ends all sessions of a user, in the same way.
    ///
    /// # Errors
    /// As [`end`](Self::end).
    pub(crate) fn end_of_user(&self, user: &str) -> Result<bool, WebError> {
        self.end_those(|session| session.user.as_deref() == Some(user))
    }

    /// Ends the sessions of users who are none, or have another role now, in the same way.
    ///
    /// # Errors
    /// As [`end`](Self::end).
    pub(crate) fn end_of_others(&self, is_user: impl Fn(&str, Role) -> bool) -> Result<bool, WebError> {
        self.end_those(|session| session.user.as_deref().is_some_and(|user| !is_user(user, session.role)))
    }

    fn end_those(&self, is_to_end: impl Fn(&Session) -> bool) -> Result<bool, WebError> {
        let mut known = self.known();
        let before = known.len();
        known.retain(|(_, session)| {
            let ends = is_to_end(session);
            if ends {
                session.ended.cancel();
            }
            !ends
        });
        let was_there = known.len() < before;
        drop(known);
        if was_there {
            self.write()?;
        }
        Ok(was_there)
    }

    pub(crate) fn list(&self) -> Vec<ShownSession> {
        let shown = |session: &Session| ShownSession {
            id: session.id,
            name: session.name.clone(),
            user: session.user.clone(),
            role: session.role,
            created_s: session.created_s,
            last_used_s: session.last_used_s.load(Ordering::Relaxed),
        };
        self.known().iter().map(|(_, session)| shown(session)).collect()
    }

    /// Writes all sessions down. Writes a file.
    ///
    /// # Errors
    /// When it can't be written. The one before is still there then.
    pub(crate) fn write(&self) -> Result<(), WebError> {
        let Some(file) = &self.file else { return Ok(()) };
        let _one_by_one = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        let stored = |(token, session): &(SecretDigest, Arc<Session>)| Stored {
            id: session.id,
            token_sha256: token.text(),
            name: session.name.clone(),
            user: session.user.clone(),
            role: session.role,
            created_s: session.created_s,
            last_used_s: session.last_used_s.load(Ordering::Relaxed),
        };
        let all: Vec<Stored> = self.known().iter().map(stored).collect();
        kept::replace(file, &all).map_err(|source| WebError::Sessions { path: file.clone(), source })
    }

    fn known(&self) -> MutexGuard<'_, Vec<(SecretDigest, Arc<Session>)>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn forget_idle(known: &mut Vec<(SecretDigest, Arc<Session>)>, now_s: u64) {
    known.retain(|(_, session)| {
        let is_idle = session.is_idle(now_s);
        if is_idle {
            session.ended.cancel();
        }
        !is_idle
    });
}

fn read(file: &Path) -> io::Result<Vec<(SecretDigest, Arc<Session>)>> {
    let stored: Vec<Stored> = kept::read(file)?;
    let session = |stored: Stored| {
        let digest = SecretDigest::read(&stored.token_sha256)
            .ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, "a digest of a token can't be read"))?;
        let session = Session {
            id: stored.id,
            name: clean_name(&stored.name),
            user: stored.user,
            role: stored.role,
            created_s: stored.created_s,
            last_used_s: AtomicU64::new(stored.last_used_s),
            ended: CancellationToken::new(),
        };
        Ok((digest, Arc::new(session)))
    };
    stored.into_iter().map(session).collect()
}

/// A device's name for people and logs: one line, without characters that change how others are shown.
fn clean_name(name: &str) -> String {
    let shown = name.chars().map(|letter| if letter.is_whitespace() { ' ' } else { letter });
    let shown: String = shown.filter(|letter| !letter.is_control() && !changes_direction(*letter)).collect();
    let name: String = shown.split(' ').filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ");
    let name: String = name.chars().take(NAME_CHARACTERS).collect();
    if name.is_empty() { "a device".to_owned() } else { name }
}

fn changes_direction(letter: char) -> bool {
    matches!(letter, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
}

fn now_s() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |now| now.as_secs())
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn a_session_outlives_a_restart_and_its_token_is_not_in_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let state = folder.path().join("state/web");
        let sessions = Sessions::open(Some(&state)).unwrap();
        let (token, begun) = sessions.begin("the hall's phone", None, Role::Operate).unwrap();
        drop(sessions);
        let text = fs::read_to_string(state.join(FILE)).unwrap();
        assert!(!text.contains(&token), "{text}");
        assert_eq!(fs::metadata(state.join(FILE)).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(fs::metadata(&state).unwrap().permissions().mode() & 0o777, 0o700);
        let again = Sessions::open(Some(&state)).unwrap();
        let found = again.find(&token).unwrap();
        assert_eq!((found.id, found.name.as_str(), found.role), (begun.id, "the hall's phone", Role::Operate));
        assert!(again.find("another").is_none());
        assert!(again.end(begun.id).unwrap());
        assert!(found.ended().is_cancelled());
        assert!(Sessions::open(Some(&state)).unwrap().find(&token).is_none(), "its end outlives one, too");
    }

    #[test]
    fn nobody_for_thirty_days_ends_a_session() {
        let sessions = Sessions::open(None).unwrap();
        let (token, session) = sessions.begin("a", None, Role::Watch).unwrap();
        let begun_s = session.last_used_s.load(Ordering::Relaxed);
        assert!(sessions.find_at(&token, begun_s + IDLE_S - 1).is_some());
        assert!(sessions.find_at(&token, begun_s + IDLE_S).is_none());
        assert!(session.ended().is_cancelled());
    }

    #[test]
    fn a_clock_that_was_set_back_for_a_while_ends_no_session() {
        let sessions = Sessions::open(None).unwrap();
        let (_, session) = sessions.begin("a", None, Role::Watch).unwrap();
        let later_s = now_s() + IDLE_S;
        session.last_used_s.store(later_s, Ordering::Relaxed);
        assert!(!Sessions::touch(&session), "what was known already is not written again");
        assert_eq!(session.last_used_s.load(Ordering::Relaxed), later_s);
    }

    #[test]
    fn a_file_that_is_damaged_lets_nobody_in_and_holds_nothing_up() {
        let folder = tempfile::tempdir().unwrap();
        for text in ["", "{", "[{\"id\": 1}]", "\u{0}"] {
            fs::write(folder.path().join(FILE), text).unwrap();
            let sessions = Sessions::open(Some(folder.path())).unwrap();
            assert!(sessions.list().is_empty());
            assert_eq!(fs::read_to_string(folder.path().join("sessions.unreadable")).unwrap(), text);
            sessions.begin("a", None, Role::Watch).unwrap();
            assert_eq!(Sessions::open(Some(folder.path())).unwrap().list().len(), 1);
        }
    }

    #[test]
    fn a_folder_that_can_not_be_had_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        fs::write(&file, "").unwrap();
        let error = Sessions::open(Some(&file.join("state"))).err().unwrap().to_string();
        assert!(error.contains("file/state") && error.contains("may write"), "{error}");
    }

    #[test]
    fn the_number_of_sessions_is_bounded() {
        let sessions = Sessions::open(None).unwrap();
        for _ in 0..MOST {
            sessions.begin("a", None, Role::Watch).unwrap();
        }
        assert!(matches!(sessions.begin("a", None, Role::Watch), Err(WebError::TooManySessions(MOST))));
    }

    #[test]
    fn a_name_is_one_short_line_that_changes_nothing_around_it() {
        for (given, name) in [
            ("the hall's phone", "the hall's phone"),
            ("  \n\t ", "a device"),
            ("", "a device"),
            ("a\nWARN b\u{1b}[31m", "a WARN b[31m"),
            ("\u{202e}evil\u{2066}", "evil"),
            ("<script>🤖", "<script>🤖"),
        ] {
            assert_eq!(clean_name(given), name);
        }
        assert_eq!(clean_name(&"ä".repeat(10_000)), "ä".repeat(40));
    }
}
