//! A memory in one file of SQLite. One process has it at a time.

mod add;
mod bulletin;
mod current;
mod episodes;
mod exchanges;
mod forget;
mod interactions;
mod lock;
mod meaning;
mod numbers;
mod on_record;
mod query;
mod restore;
mod retain;
mod rows;
mod salvage;
mod schema;
mod search;
mod terms;

use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use rusqlite::{Connection, ErrorCode};

use crate::answers::Noted;
use crate::error::MemoryError;
use crate::observation::Observation;
use crate::rules::MemoryRules;
use lock::Lock;
use schema::Kind;

pub(crate) use exchanges::ExchangeEnd;
pub use forget::Forget;
pub use query::{Span, SpatialQuery};
pub use salvage::Rebuilt;

/// The file, open. All of its methods may block.
pub(crate) struct Store {
    file: PathBuf,
    rules: MemoryRules,
    /// Looking never waits for adding.
    reading: Mutex<Connection>,
    writing: Mutex<Connection>,
    /// Names that were forgotten while episodes or tasks of conversations go on: how these end must not bring them back.
    forgotten: Mutex<Vec<String>>,
    /// Held as long as the file is in use; the system lets it go when the process dies.
    _lock: Lock,
}

/// What goes wrong while a connection is used.
enum StoreProblem {
    Sqlite(rusqlite::Error),
    Explained(MemoryError),
}

impl From<rusqlite::Error> for StoreProblem {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sqlite(error)
    }
}

impl From<MemoryError> for StoreProblem {
    fn from(error: MemoryError) -> Self {
        Self::Explained(error)
    }
}

impl Store {
    /// Opens the file, makes it where it is missing, and takes over one of an earlier format.
    pub(crate) fn open(file: &Path, rules: MemoryRules) -> Result<Self, MemoryError> {
        if let Some(folder) = file.parent() {
            std::fs::create_dir_all(folder).map_err(|problem| unopened(file, &problem))?;
        }
        let lock = Lock::take(file)?;
        Self::with_lock(file, rules, lock)
    }

    fn with_lock(file: &Path, rules: MemoryRules, lock: Lock) -> Result<Self, MemoryError> {
        let mut writing = connect(file, &rules)?;
        // Who left them open is dead, as the file is ours.
        let interrupted = episodes::interrupt(&mut writing, &rules).and_then(|()| exchanges::interrupt(&writing));
        interrupted.map_err(|error| explained(file, rules.most_bytes, &error))?;
        let reading = connect(file, &rules)?;
        Ok(Self {
            file: file.to_owned(),
            rules,
            reading: Mutex::new(reading),
            writing: Mutex::new(writing),
            forgotten: Mutex::default(),
            _lock: lock,
        })
    }

    /// Keeps observations: all of them, or none.
    pub(crate) fn add(&self, observations: &[Observation]) -> Result<Vec<Noted>, MemoryError> {
        self.write(|connection| add::add(connection, &self.rules, observations))
    }

    pub(crate) fn rules(&self) -> &MemoryRules {
        &self.rules
    }

    /// Looks into the file: all of the work sees the same state of it.
    fn read<T>(&self, work: impl FnOnce(&Connection) -> Result<T, StoreProblem>) -> Result<T, MemoryError> {
        let mut connection = guard(&self.reading);
        let done = connection.transaction().map_err(StoreProblem::from).and_then(|transaction| work(&transaction));
        done.map_err(|problem| self.explained(problem))
    }

    /// Changes the file.
    fn write<T>(&self, work: impl FnOnce(&mut Connection) -> Result<T, StoreProblem>) -> Result<T, MemoryError> {
        work(&mut guard(&self.writing)).map_err(|problem| self.explained(problem))
    }

    fn explained(&self, problem: StoreProblem) -> MemoryError {
        match problem {
            StoreProblem::Sqlite(error) => explained(&self.file, self.rules.most_bytes, &error),
            StoreProblem::Explained(error) => error,
        }
    }
}

fn guard(connection: &Mutex<Connection>) -> MutexGuard<'_, Connection> {
    // A panic can't leave half a change behind: what was not committed is undone.
    connection.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The path of a file that belongs to the memory.
fn beside(file: &Path, ending: &str) -> PathBuf {
    let mut path = file.as_os_str().to_owned();
    path.push(ending);
    path.into()
}

fn connect(file: &Path, rules: &MemoryRules) -> Result<Connection, MemoryError> {
    let opened = Connection::open(file).and_then(|mut connection| {
        let kind = schema::prepare(&mut connection)?;
        if matches!(kind, Kind::Ready) {
            schema::configure(&connection, rules.most_bytes)?;
        }
        Ok((connection, kind))
    });
    let (connection, kind) = opened.map_err(|error| match error.sqlite_error_code() {
        Some(ErrorCode::CannotOpen | ErrorCode::PermissionDenied | ErrorCode::ReadOnly) => unopened(file, &error),
        _ => explained(file, rules.most_bytes, &error),
    })?;
    match kind {
        Kind::Ready => Ok(connection),
        Kind::Newer(format) => Err(MemoryError::Newer { file: file.to_owned(), format }),
        Kind::Foreign => {
            let problem = "another program has made it".to_owned();
            Err(MemoryError::Damaged { file: file.to_owned(), problem })
        }
    }
}

fn unopened(file: &Path, problem: &impl ToString) -> MemoryError {
    MemoryError::Unopened { file: file.to_owned(), problem: problem.to_string() }
}

/// What an error of SQLite means for people.
fn explained(file: &Path, most_bytes: u64, error: &rusqlite::Error) -> MemoryError {
    let (file, problem) = (file.to_owned(), error.to_string());
    match error.sqlite_error_code() {
        Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt) => MemoryError::Damaged { file, problem },
        Some(ErrorCode::DiskFull) => MemoryError::Full { file, most_bytes },
        _ => MemoryError::Failed { problem },
    }
}
