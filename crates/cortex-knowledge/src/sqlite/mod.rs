//! The embedded store: one file of SQLite with a full-text index, so that a robot needs no server to know its documents.

mod schema;
mod search;
mod vector_block;
mod vectors;

use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use async_trait::async_trait;
use rusqlite::{Connection, ErrorCode, OptionalExtension as _, Transaction, params};

use crate::document::Document;
use crate::passages::passages;
use crate::store::{Added, DocumentEntry, DocumentStore, Found, MetadataFilter, StoreError, Unembedded, check_id};
use schema::Kind;
use vector_block::KnownState;

/// Documents in one file. Clones share it; other processes may use it at the same time. The file is opened when it is first
/// needed, and made when something is added.
#[derive(Clone)]
pub struct SqliteStore {
    file: Arc<Path>,
    /// Looking never waits for adding.
    reading: Arc<Mutex<Option<Opened>>>,
    writing: Arc<Mutex<Option<Opened>>>,
}

/// An open file, and which one: people may move it away, and another may take its place.
struct Opened {
    connection: Connection,
    identity: (u64, u64),
    /// What a connection that only reads knows of the file.
    known: KnownState,
}

/// Whether a file that is not there is made.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Missing {
    IsMade,
    IsEmpty,
}

impl SqliteStore {
    /// The store in this file, which need not be there yet.
    #[must_use]
    pub fn at(file: &Path) -> Self {
        Self { file: file.into(), reading: Arc::default(), writing: Arc::default() }
    }

    /// Looks into the file, on a thread that may block. None where there is no file.
    async fn read<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Connection) -> Result<T, StoreProblem> + Send + 'static,
    ) -> Result<Option<T>, StoreError> {
        run(&self.reading, &self.file, Missing::IsEmpty, |opened| work(&mut opened.connection)).await
    }

    /// Looks into the file, and at what is known of the state that it has: all of the work sees the same state.
    async fn read_knowing<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Connection, &mut KnownState) -> Result<T, StoreProblem> + Send + 'static,
    ) -> Result<Option<T>, StoreError> {
        let knowing = |opened: &mut Opened| {
            let Opened { connection, known, .. } = opened;
            let transaction = connection.transaction()?;
            known.renew(&transaction)?;
            work(&transaction, known)
        };
        run(&self.reading, &self.file, Missing::IsEmpty, knowing).await
    }

    /// Changes the file, on a thread that may block.
    async fn write<T: Send + 'static>(
        &self,
        missing: Missing,
        work: impl FnOnce(&mut Connection) -> Result<T, StoreProblem> + Send + 'static,
    ) -> Result<Option<T>, StoreError> {
        run(&self.writing, &self.file, missing, |opened| work(&mut opened.connection)).await
    }
}

async fn run<T: Send + 'static>(
    slot: &Arc<Mutex<Option<Opened>>>,
    file: &Arc<Path>,
    missing: Missing,
    work: impl FnOnce(&mut Opened) -> Result<T, StoreProblem> + Send + 'static,
) -> Result<Option<T>, StoreError> {
    let (slot, file) = (Arc::clone(slot), Arc::clone(file));
    let run = move || {
        let mut slot = slot.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(opened) = opened(&mut slot, &file, missing)? else { return Ok(None) };
        work(opened).map(Some).map_err(|problem| match problem {
            StoreProblem::Sqlite(error) => explained(&file, &error),
            StoreProblem::Told(error) => error,
        })
    };
    match tokio::task::spawn_blocking(run).await {
        Ok(done) => done,
        Err(problem) => Err(StoreError::Failed { problem: problem.to_string() }),
    }
}

/// The file that is there now.
fn opened<'slot>(
    slot: &'slot mut Option<Opened>,
    file: &Path,
    missing: Missing,
) -> Result<Option<&'slot mut Opened>, StoreError> {
    let identity = || std::fs::metadata(file).map(|about| (about.dev(), about.ino())).ok();
    let now = identity();
    if slot.as_ref().map(|opened| opened.identity) != now || now.is_none() {
        *slot = None;
        if now.is_none() && missing == Missing::IsEmpty {
            return Ok(None);
        }
        let connection = open(file)?;
        let gone = || StoreError::Unopened { file: file.to_owned(), problem: "it is gone again".to_owned() };
        *slot = Some(Opened { connection, identity: identity().ok_or_else(gone)?, known: KnownState::default() });
    }
    Ok(slot.as_mut())
}

/// Opens the file, and makes it where it is missing.
fn open(file: &Path) -> Result<Connection, StoreError> {
    let unopened = |problem: String| StoreError::Unopened { file: file.to_owned(), problem };
    if let Some(folder) = file.parent() {
        std::fs::create_dir_all(folder).map_err(|problem| unopened(problem.to_string()))?;
    }
    let opened = Connection::open(file).and_then(|mut connection| {
        let kind = schema::prepare(&mut connection)?;
        if matches!(kind, Kind::Ready) {
            schema::configure(&connection)?;
        }
        Ok((connection, kind))
    });
    let (connection, kind) = opened.map_err(|error| match error.sqlite_error_code() {
        Some(ErrorCode::CannotOpen | ErrorCode::PermissionDenied | ErrorCode::ReadOnly) => unopened(error.to_string()),
        _ => explained(file, &error),
    })?;
    match kind {
        Kind::Ready => Ok(connection),
        Kind::Newer(format) => Err(StoreError::Newer { file: file.to_owned(), format }),
        Kind::Foreign => {
            let problem = "another program has made it".to_owned();
            Err(StoreError::Damaged { file: file.to_owned(), problem })
        }
    }
}

/// What goes wrong while a connection is used.
enum StoreProblem {
    Sqlite(rusqlite::Error),
    Told(StoreError),
}

impl From<rusqlite::Error> for StoreProblem {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sqlite(error)
    }
}

/// What an error of SQLite means for people.
fn explained(file: &Path, error: &rusqlite::Error) -> StoreError {
    let (file, problem) = (PathBuf::from(file), error.to_string());
    match error.sqlite_error_code() {
        Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt) => StoreError::Damaged { file, problem },
        Some(ErrorCode::DiskFull) => StoreError::Full { file },
        _ => StoreError::Failed { problem },
    }
}

#[async_trait]
impl DocumentStore for SqliteStore {
    fn is_there(&self) -> bool {
        self.file.exists()
    }

    async fn add(&self, documents: Vec<Document>) -> Result<Vec<Added>, StoreError> {
        let add_all = move |connection: &mut Connection| {
            let transaction = connection.transaction()?;
            let added = documents
                .iter()
                .map(|document| add(&transaction, document))
                .collect::<Result<Vec<_>, StoreProblem>>()?;
            transaction.commit()?;
            Ok(added)
        };
        Ok(self.write(Missing::IsMade, add_all).await?.unwrap_or_default())
    }

    async fn remove(&self, id: &str) -> Result<bool, StoreError> {
        let id = id.to_owned();
        let remove = move |connection: &mut Connection| {
            let removed = connection.execute("DELETE FROM documents WHERE id = ?1", [&id])?;
            // What was removed is not to stay in the log of writes either.
            connection.pragma_update_and_check(None, "wal_checkpoint", "TRUNCATE", |_| Ok(()))?;
            Ok(removed > 0)
        };
        Ok(self.write(Missing::IsEmpty, remove).await?.unwrap_or_default())
    }

    async fn list(&self) -> Result<Vec<DocumentEntry>, StoreError> {
        let list = |connection: &mut Connection| {
            let mut statement = connection.prepare_cached(
                "SELECT id, (SELECT count(*) FROM passages WHERE document = documents.number), added_ms, metadata
                 FROM documents ORDER BY id",
            )?;
            let entries = statement.query_map([], |row| {
                Ok(DocumentEntry {
                    id: row.get(0)?,
                    passages: row.get(1)?,
                    added_ms: row.get(2)?,
                    metadata: search::metadata(row, 3)?,
                })
            })?;
            Ok(entries.collect::<rusqlite::Result<Vec<_>>>()?)
        };
        Ok(self.read(list).await?.unwrap_or_default())
    }

    async fn search(&self, text: &str, most: usize, filter: &MetadataFilter) -> Result<Vec<Found>, StoreError> {
        let (words, filter) = (crate::words::telling(text), filter.clone());
        let found = self.read(move |connection| Ok(search::search(connection, &words, most, &filter)?)).await?;
        Ok(found.unwrap_or_default())
    }

    async fn unembedded(&self, model: &str, most: usize) -> Result<Vec<Unembedded>, StoreError> {
        let model = model.to_owned();
        let looked =
            self.read_knowing(move |connection, known| Ok(vectors::unembedded(connection, known, &model, most)?));
        let found = looked.await?;
        Ok(found.unwrap_or_default())
    }

    async fn keep_vectors(&self, model: &str, vectors: Vec<(Unembedded, Vec<f32>)>) -> Result<(), StoreError> {
        let model = model.to_owned();
        let keep = move |connection: &mut Connection| {
            let transaction = connection.transaction()?;
            vectors::keep(&transaction, &model, &vectors)?;
            Ok(transaction.commit()?)
        };
        self.write(Missing::IsEmpty, keep).await.map(Option::unwrap_or_default)
    }

    async fn nearest(
        &self,
        model: &str,
        vector: &[f32],
        most: usize,
        filter: &MetadataFilter,
    ) -> Result<Vec<Found>, StoreError> {
        let (model, vector, filter) = (model.to_owned(), vector.to_owned(), filter.clone());
        let looked = self
            .read_knowing(move |connection, known| vectors::nearest(connection, known, &model, &vector, most, &filter));
        let found = looked.await?;
        Ok(found.unwrap_or_default())
    }
}

fn add(transaction: &Transaction<'_>, document: &Document) -> Result<Added, StoreProblem> {
    let id = document.id.as_str();
    check_id(id).map_err(StoreProblem::Told)?;
    let digest = document.digest();
    let earlier: Option<Vec<u8>> = transaction
        .prepare_cached("SELECT digest FROM documents WHERE id = ?1")?
        .query_row([id], |row| row.get(0))
        .optional()?;
    if earlier.as_deref() == Some(&digest[..]) {
        return Ok(Added::Unchanged);
    }
    transaction.prepare_cached("DELETE FROM documents WHERE id = ?1")?.execute([id])?;
    let metadata = serde_json::to_string(&document.metadata)
        .map_err(|problem| StoreProblem::Told(StoreError::Failed { problem: problem.to_string() }))?;
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_millis();
    transaction
        .prepare_cached("INSERT INTO documents (id, digest, metadata, added_ms) VALUES (?1, ?2, ?3, ?4)")?
        .execute(params![id, digest, metadata, i64::try_from(now).unwrap_or(i64::MAX)])?;
    let number = transaction.last_insert_rowid();
    let passages = passages(document);
    let mut insert =
        transaction.prepare_cached("INSERT INTO passages (document, id, place, text) VALUES (?1, ?2, ?3, ?4)")?;
    for passage in &passages {
        insert.execute(params![number, id, passage.place, passage.text])?;
    }
    let passages = passages.len();
    Ok(if earlier.is_some() { Added::Replaced { passages } } else { Added::New { passages } })
}
