//! The vectors of a file in one block of memory, as long as nobody changes the file. Read from the file for each question, they
//! would be copied page by page.

use cortex_core::RoundedVector;
use rusqlite::Connection;

/// Most bytes of a block, some 340,000 vectors of 384 numbers. More are read from the file for each question.
const MOST_BYTES: usize = 128 << 20;

/// What is known of a state of the file.
#[derive(Default)]
pub(super) struct KnownState {
    /// Which state: it changes with each change by another connection, and this one only reads.
    version: i64,
    /// None: not read yet. None within: they are too many.
    vectors: Option<Option<VectorBlock>>,
    /// The model of which no vector is missing.
    complete: Option<String>,
}

impl KnownState {
    /// Forgets all where the file has changed. To be called within the transaction that the answer comes from.
    pub(super) fn renew(&mut self, connection: &Connection) -> rusqlite::Result<()> {
        let version = connection.pragma_query_value(None, "data_version", |row| row.get(0))?;
        if self.version != version {
            *self = Self { version, ..Self::default() };
        }
        Ok(())
    }

    /// Whether no vector of this model is missing.
    pub(super) fn is_complete(&self, model: &str) -> bool {
        self.complete.as_deref() == Some(model)
    }

    /// No vector of this model is missing.
    pub(super) fn set_complete(&mut self, model: &str) {
        self.complete = Some(model.to_owned());
    }

    /// All vectors, each of so many bytes. None where they are too many.
    pub(super) fn vectors(&mut self, connection: &Connection, each: usize) -> rusqlite::Result<Option<&VectorBlock>> {
        let known = match self.vectors.take() {
            Some(known) => known,
            None => VectorBlock::read(connection, each)?,
        };
        Ok(self.vectors.insert(known).as_ref())
    }
}

/// Vectors as they are kept, one after the other.
pub(super) struct VectorBlock {
    passages: Vec<i64>,
    bytes: Vec<u8>,
    /// Bytes of each.
    each: usize,
}

impl VectorBlock {
    fn read(connection: &Connection, each: usize) -> rusqlite::Result<Option<Self>> {
        let mut block = Self { passages: Vec::new(), bytes: Vec::new(), each };
        let mut statement = connection.prepare_cached("SELECT passage, numbers FROM vectors")?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            let bytes = row.get_ref(1)?.as_blob().map_err(rusqlite::Error::from)?;
            // One of another length is near to nothing.
            if bytes.len() != each {
                continue;
            }
            if block.bytes.len() + each > MOST_BYTES {
                return Ok(None);
            }
            block.passages.push(row.get(0)?);
            block.bytes.extend_from_slice(bytes);
        }
        block.bytes.shrink_to_fit();
        Ok(Some(block))
    }

    /// How near each passage is to a vector.
    pub(super) fn likeness(&self, wanted: &RoundedVector) -> Vec<(f64, i64)> {
        let kept = self.bytes.chunks_exact(self.each);
        kept.zip(&self.passages).map(|(kept, passage)| (wanted.likeness(kept), *passage)).collect()
    }
}
