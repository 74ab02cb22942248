//! People with a name and a password. What is kept of a password is a digest that takes time and memory to try.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use argon2::password_hash::{PasswordHash, PasswordHasher as _, PasswordVerifier as _, SaltString};
use argon2::{Algorithm, Argon2, Params, Version};
use cortex_protocol::Role;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tokio::sync::Semaphore;

use super::kept;
use super::secret::salt;
use crate::WebError;
use crate::error::{ApiError, ErrorKind};

const FILE: &str = "users.json";
/// Most users.
const MOST: usize = 64;
/// Most characters of a name.
const NAME_CHARACTERS: usize = 32;
/// Characters of a password, at least; and bytes, at most.
const PASSWORD_CHARACTERS: usize = 12;
const PASSWORD_BYTES: usize = 256;
/// What a try costs: argon2id with the memory (in KiB), passes and lanes that OWASP asks for.
const COST: (u32, u32, u32) = (19_456, 2, 1);
/// Passwords that are tried at a time: each takes as much memory and a core. The robot needs the others.
const AT_A_TIME: usize = 2;

/// A user, as administrators see one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct ShownUser {
    /// What the user types to log in.
    pub(crate) name: String,
    /// What the user may do.
    pub(crate) role: Role,
}

#[derive(Clone, Serialize, Deserialize)]
struct User {
    name: String,
    role: Role,
    /// In the form of PHC strings.
    password: String,
}

/// All users, and the file that they are kept in.
pub(crate) struct Users {
    file: Option<PathBuf>,
    known: Mutex<Vec<User>>,
    /// Held while the file is written, so that the last state is the one that stays.
    writing: Mutex<()>,
    /// The digest that is tried where there is no such user, so that it takes as long.
    of_nobody: OnceLock<String>,
    turns: Arc<Semaphore>,
}

impl Users {
    /// Reads those that were kept. Reads files.
    ///
    /// # Errors
    /// When the folder can't be had. A file that can't be read is put aside.
    pub(crate) fn open(directory: Option<&Path>) -> Result<Self, WebError> {
        let file = directory.map(|directory| directory.join(FILE));
        let known = match &file {
            Some(file) => {
                let read =
                    kept::or_put_aside(file, kept::read(file), "nobody logs in with a password until users are made");
                read.map_err(|source| WebError::Users { path: file.clone(), source })?
            }
            None => Vec::new(),
        };
        Ok(Self {
            file,
            known: Mutex::new(known),
            writing: Mutex::default(),
            of_nobody: OnceLock::new(),
            turns: Arc::new(Semaphore::new(AT_A_TIME)),
        })
    }

    /// Whether there are any.
    pub(crate) fn are_there(&self) -> bool {
        !self.known().is_empty()
    }

    pub(crate) fn list(&self) -> Vec<ShownUser> {
        self.known().iter().map(|user| ShownUser { name: user.name.clone(), role: user.role }).collect()
    }

    /// Places for those who try a password or make one.
    pub(crate) fn turns(&self) -> Arc<Semaphore> {
        Arc::clone(&self.turns)
    }

    /// Adds a user. Takes as long as a try, and writes a file.
    ///
    /// # Errors
    /// When the name or the password is none, there is one of that name, or the file can't be written.
    pub(crate) fn add(&self, name: &str, role: Role, password: &str) -> Result<(), ApiError> {
        let name = checked_name(name)?;
        check_password(&name, password)?;
        let password = digest(password).map_err(|error| ApiError::failed("the password could not be kept", &error))?;
        {
            let mut known = self.known();
            if known.iter().any(|user| user.name == name) {
                let reason = "There is a user of this name. Remove that one first, or choose another name.";
                return Err(ApiError::new(ErrorKind::Refused, reason));
            }
            if known.len() >= MOST {
                let reason = format!("There are {MOST} users, and no more are allowed. Remove one that is not needed.");
                return Err(ApiError::new(ErrorKind::Refused, reason));
            }
            known.push(User { name: name.clone(), role, password });
        }
        self.write().inspect_err(|_| self.known().retain(|user| user.name != name))
    }

    /// Removes a user. Their sessions are for the caller to end. Returns false if there is none. Writes a file.
    ///
    /// # Errors
    /// When the file can't be written: the user is gone, but would be back after a restart.
    pub(crate) fn remove(&self, name: &str) -> Result<bool, ApiError> {
        let before = self.known().len();
        self.known().retain(|user| user.name != name);
        let was_there = self.known().len() < before;
        if was_there {
            self.write()?;
        }
        Ok(was_there)
    }

    /// The name and the role of the user with this name and password. Takes as long whether or not there is one.
    ///
    /// # Errors
    /// When the system has no random numbers.
    pub(crate) fn verify(&self, name: &str, password: &str) -> Result<Option<ShownUser>, ApiError> {
        let of_nobody = match self.of_nobody.get() {
            Some(digest) => digest,
            None => {
                let made =
                    digest("nobody").map_err(|error| ApiError::failed("the password could not be tried", &error))?;
                self.of_nobody.get_or_init(|| made)
            }
        };
        let name = name.trim().to_lowercase();
        let user = self.known().iter().find(|user| user.name == name).cloned();
        let kept = user.as_ref().map_or(of_nobody, |user| &user.password);
        let password: String = password.chars().take(PASSWORD_BYTES + 1).collect();
        let matches = PasswordHash::new(kept)
            .is_ok_and(|kept| Argon2::default().verify_password(password.as_bytes(), &kept).is_ok());
        Ok(user.filter(|_| matches).map(|user| ShownUser { name: user.name, role: user.role }))
    }

    /// Whether there still is this user, in this role.
    pub(crate) fn is_known(&self, user: &ShownUser) -> bool {
        self.known().iter().any(|known| known.name == user.name && known.role == user.role)
    }

    fn write(&self) -> Result<(), ApiError> {
        let Some(file) = &self.file else { return Ok(()) };
        let _one_by_one = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        let all = self.known().clone();
        kept::replace(file, &all).map_err(|source| {
            ApiError::failed("the users could not be kept", &WebError::Users { path: file.clone(), source })
        })
    }

    fn known(&self) -> MutexGuard<'_, Vec<User>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn checked_name(name: &str) -> Result<String, ApiError> {
    let name = name.trim().to_lowercase();
    let is_plain =
        |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit() || matches!(letter, '.' | '-' | '_');
    if name.is_empty() || name.len() > NAME_CHARACTERS || !name.chars().all(is_plain) {
        let reason = format!(
            "The name of a user has 1 to {NAME_CHARACTERS} letters from a to z, digits, dots, hyphens and underscores."
        );
        return Err(ApiError::invalid(reason));
    }
    Ok(name)
}

fn check_password(name: &str, password: &str) -> Result<(), ApiError> {
    let letters = password.chars().count();
    let is_one_letter = password.chars().all(|letter| password.starts_with(letter));
    if letters < PASSWORD_CHARACTERS || password.len() > PASSWORD_BYTES || is_one_letter {
        let reason = format!(
            "A password has at least {PASSWORD_CHARACTERS} characters, not all of them the same, and at most \
             {PASSWORD_BYTES} bytes. Four words that have nothing to do with each other make a good one."
        );
        return Err(ApiError::invalid(reason));
    }
    if name.len() >= 4 && password.to_lowercase().contains(name) {
        return Err(ApiError::invalid("The password holds the name of the user. Choose another one."));
    }
    Ok(())
}

/// What is kept of a password. Takes as long as a try.
fn digest(password: &str) -> io::Result<String> {
    let (memory, passes, lanes) = COST;
    let params = Params::new(memory, passes, lanes, None).map_err(io::Error::other)?;
    let salt = SaltString::encode_b64(&salt()?).map_err(io::Error::other)?;
    let made = Argon2::new(Algorithm::Argon2id, Version::V0x13, params).hash_password(password.as_bytes(), &salt);
    Ok(made.map_err(io::Error::other)?.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    const PASSWORD: &str = "correct horse battery";

    #[test]
    fn a_user_outlives_a_restart_and_the_password_is_not_in_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let users = Users::open(Some(folder.path())).unwrap();
        users.add(" Ada ", Role::Operate, PASSWORD).unwrap();
        let text = std::fs::read_to_string(folder.path().join(FILE)).unwrap();
        assert!(!text.contains("horse") && text.contains("$argon2id$v=19$m=19456,t=2,p=1$"), "{text}");
        let again = Users::open(Some(folder.path())).unwrap();
        let ada = again.verify("ADA", PASSWORD).unwrap().unwrap();
        assert_eq!((ada.name.as_str(), ada.role), ("ada", Role::Operate));
        for (name, password) in [("ada", "correct horse battery "), ("eve", PASSWORD), ("ada", ""), ("", "")] {
            assert_eq!(again.verify(name, password).unwrap(), None, "{name} {password}");
        }
        assert!(again.remove("ada").unwrap() && !again.remove("ada").unwrap());
        assert!(!again.is_known(&ada));
        assert!(!Users::open(Some(folder.path())).unwrap().are_there());
    }

    #[test]
    fn names_and_passwords_that_are_none_are_refused_before_anything_is_done() {
        let users = Users::open(None).unwrap();
        for (name, password) in [
            ("", PASSWORD),
            ("a b", PASSWORD),
            ("<script>", PASSWORD),
            (&"n".repeat(33), PASSWORD),
            ("ada", "short"),
            ("ada", "aaaaaaaaaaaaaaaa"),
            ("ada", &"x y ".repeat(100)),
            ("alan", "my name is alan"),
        ] {
            let problem = users.add(name, Role::Watch, password).unwrap_err();
            assert_eq!(problem.kind, ErrorKind::Invalid, "{name} {password}");
            assert!(!problem.reason.contains(password), "{}", problem.reason);
        }
        users.add("ada", Role::Watch, PASSWORD).unwrap();
        assert_eq!(users.add("Ada", Role::Administer, PASSWORD).unwrap_err().kind, ErrorKind::Refused);
        assert_eq!(users.list().len(), 1);
    }

    #[test]
    fn a_file_that_is_damaged_lets_nobody_in() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join(FILE), "[{\"name\": \"ada\"").unwrap();
        assert!(!Users::open(Some(folder.path())).unwrap().are_there());
        assert!(folder.path().join("users.unreadable").exists());
        let stored = "[{\"name\": \"ada\", \"role\": \"administer\", \"password\": \"plain\"}]";
        std::fs::write(folder.path().join(FILE), stored).unwrap();
        let users = Users::open(Some(folder.path())).unwrap();
        assert_eq!(users.verify("ada", "plain").unwrap(), None, "what is no digest matches nothing");
    }
}
