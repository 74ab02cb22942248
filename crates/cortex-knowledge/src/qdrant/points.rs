//! What is kept of documents on a server, and how it is read back. A document is one point without vectors and one for each
//! passage. Whatever a server sends is checked: a point that is not as we write it is left out, and the log says why.

use std::collections::{BTreeMap, HashMap};

use qdrant_client::qdrant::value::Kind;
use qdrant_client::qdrant::{
    ListValue, NamedVectors, PointId, PointStruct, RetrievedPoint, ScoredPoint, SparseVector, Struct, Value, Vector,
    Vectors, point_id::PointIdOptions, vector, vectors::VectorsOptions,
};
use sha2::{Digest as _, Sha256};
use thiserror::Error;

use super::collection::WORDS;
use crate::document::{Document, Passage};
use crate::passages::PASSAGE_CHARACTERS;
use crate::store::{DocumentEntry, Found, ID_BYTES, PassageId, StoreError, check_id};

/// The names of what is kept with a point.
pub(super) mod key {
    /// Whose the document is.
    pub(in crate::qdrant) const ROBOT: &str = "robot";
    /// What the point is, see `kind`.
    pub(in crate::qdrant) const KIND: &str = "kind";
    /// The id of the document.
    pub(in crate::qdrant) const DOCUMENT: &str = "document";
    /// What identifies the content of the document.
    pub(in crate::qdrant) const DIGEST: &str = "digest";
    /// With which others it was added.
    pub(in crate::qdrant) const BATCH: &str = "batch";
    /// When, in milliseconds since 1970.
    pub(in crate::qdrant) const ADDED_MS: &str = "added_ms";
    /// Which passage of its document, from 0.
    pub(in crate::qdrant) const NUMBER: &str = "number";
    /// How many passages the document has.
    pub(in crate::qdrant) const PASSAGES: &str = "passages";
    pub(in crate::qdrant) const PLACE: &str = "place";
    pub(in crate::qdrant) const TEXT: &str = "text";
    /// The words of the passage, as they are looked for.
    pub(in crate::qdrant) const WORDS: &str = "words";
    /// What is known of the document.
    pub(in crate::qdrant) const METADATA: &str = "metadata";
    /// The same in pairs, as filters look for it: names of fields may hold no dots and quotes.
    pub(in crate::qdrant) const PAIRS: &str = "metadata_pairs";
}

/// What a point is.
pub(super) mod kind {
    /// The document as a whole.
    pub(in crate::qdrant) const DOCUMENT: &str = "document";
    /// A passage of it.
    pub(in crate::qdrant) const PASSAGE: &str = "passage";
    /// A passage that is being added, and not to be found yet.
    pub(in crate::qdrant) const ADDING: &str = "adding";
}

/// Most bytes of the headings above a passage, and of all metadata of a document.
const PLACE_BYTES: usize = 4 << 10;
const METADATA_BYTES: usize = 4 << 10;
/// Most bytes of a passage.
const TEXT_BYTES: usize = PASSAGE_CHARACTERS * 4;
/// Hexadecimal digits of a digest.
const DIGEST_BYTES: usize = 64;

/// What is written of documents that are added together.
pub(super) struct Batch<'a> {
    pub(super) robot: &'a str,
    pub(super) id: String,
    pub(super) added_ms: u64,
}

impl Batch<'_> {
    /// The point of a document as a whole.
    pub(super) fn document(&self, document: &Document, digest: &str, passages: usize) -> PointStruct {
        let mut payload = self.payload(kind::DOCUMENT, document);
        payload.insert(key::DIGEST.to_owned(), digest.into());
        payload.insert(key::PASSAGES.to_owned(), whole(passages as u64));
        let empty = VectorsOptions::Vectors(NamedVectors::default());
        let id = document_point(self.robot, &document.id);
        PointStruct { id: Some(id), payload, vectors: Some(Vectors { vectors_options: Some(empty) }) }
    }

    /// The point of a passage, which is not found before the whole batch is there.
    pub(super) fn passage(
        &self,
        document: &Document,
        number: usize,
        passage: &Passage,
        (words, sparse): (Vec<String>, SparseVector),
    ) -> PointStruct {
        let mut payload = self.payload(kind::ADDING, document);
        payload.insert(key::NUMBER.to_owned(), whole(number as u64));
        payload.insert(key::PLACE.to_owned(), passage.place.as_str().into());
        payload.insert(key::TEXT.to_owned(), passage.text.as_str().into());
        payload.insert(key::WORDS.to_owned(), texts(words));
        let vector = Vector { vector: Some(vector::Vector::Sparse(sparse)), ..Vector::default() };
        let named = NamedVectors { vectors: HashMap::from([(WORDS.to_owned(), vector)]) };
        let id = point(["passage", self.robot, &document.id, &self.id, &number.to_string()]);
        PointStruct {
            id: Some(id),
            payload,
            vectors: Some(Vectors { vectors_options: Some(VectorsOptions::Vectors(named)) }),
        }
    }

    fn payload(&self, kind: &str, document: &Document) -> HashMap<String, Value> {
        let fields = document.metadata.iter().map(|(name, value)| (name.clone(), value.as_str().into())).collect();
        let metadata = Value { kind: Some(Kind::StructValue(Struct { fields })) };
        let pairs = document.metadata.iter().map(|(name, value)| pair(name, value)).collect();
        let payload = [
            (key::ROBOT, self.robot.into()),
            (key::KIND, kind.into()),
            (key::DOCUMENT, document.id.as_str().into()),
            (key::BATCH, self.id.as_str().into()),
            (key::ADDED_MS, whole(self.added_ms)),
            (key::METADATA, metadata),
            (key::PAIRS, texts(pairs)),
        ];
        payload.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
    }
}

/// A name and a value of metadata as one text.
pub(super) fn pair(name: &str, value: &str) -> String {
    serde_json::json!([name, value]).to_string()
}

fn whole(number: u64) -> Value {
    i64::try_from(number).unwrap_or(i64::MAX).into()
}

fn texts(texts: Vec<String>) -> Value {
    Value { kind: Some(Kind::ListValue(ListValue { values: texts.into_iter().map(Value::from).collect() })) }
}

/// The point of a document as a whole.
pub(super) fn document_point(robot: &str, document: &str) -> PointId {
    point(["document", robot, document])
}

/// The same for the same texts, and another for others.
fn point<const TEXTS: usize>(texts: [&str; TEXTS]) -> PointId {
    let mut hash = Sha256::new();
    for text in texts {
        hash.update(text.len().to_le_bytes());
        hash.update(text);
    }
    let digest: [u8; 32] = hash.finalize().into();
    let [a, b, c, d, e, f, g, h, ..] = digest;
    PointId::from(u64::from_le_bytes([a, b, c, d, e, f, g, h]))
}

/// Whether a document can be read back.
///
/// # Errors
/// When it holds more than that.
pub(super) fn check(document: &Document, passages: &[Passage]) -> Result<(), StoreError> {
    let too_long = |what: &'static str, most| StoreError::TooLong { id: document.id.clone(), what, most };
    let metadata: usize = document.metadata.iter().map(|(name, value)| name.len() + value.len()).sum();
    if metadata > METADATA_BYTES {
        return Err(too_long("metadata", METADATA_BYTES));
    }
    if passages.iter().any(|passage| passage.place.len() > PLACE_BYTES) {
        return Err(too_long("headings", PLACE_BYTES));
    }
    Ok(())
}

/// What is wrong with a point.
#[derive(Debug, Error)]
pub(super) enum PointProblem {
    #[error("there is no '{0}'")]
    Missing(&'static str),
    #[error("'{0}' is of another kind")]
    Kind(&'static str),
    #[error("'{0}' is longer than {1} bytes")]
    Long(&'static str, usize),
    #[error("'{0}' is another one than was asked for")]
    Other(&'static str),
    #[error("the id is no number")]
    Number,
}

/// A point as a server sends it.
pub(super) struct ReceivedPoint<'a> {
    pub(super) id: Option<&'a PointId>,
    payload: &'a HashMap<String, Value>,
    /// 0 where nothing was compared.
    score: f32,
}

impl<'a> From<&'a RetrievedPoint> for ReceivedPoint<'a> {
    fn from(point: &'a RetrievedPoint) -> Self {
        Self { id: point.id.as_ref(), payload: &point.payload, score: 0.0 }
    }
}

impl<'a> From<&'a ScoredPoint> for ReceivedPoint<'a> {
    fn from(point: &'a ScoredPoint) -> Self {
        let score = if point.score.is_finite() { point.score } else { 0.0 };
        Self { id: point.id.as_ref(), payload: &point.payload, score }
    }
}

/// A passage that was found, and where it comes among equal ones.
pub(super) struct ReceivedPassage {
    pub(super) found: Found,
    pub(super) score: f32,
    pub(super) order: (u64, String, u64),
}

impl ReceivedPoint<'_> {
    /// The document of this point, whose robot must be this one.
    pub(super) fn document(&self, robot: &str) -> Result<(DocumentEntry, String), PointProblem> {
        self.expect(robot, kind::DOCUMENT)?;
        let entry = DocumentEntry {
            id: self.document_id()?,
            passages: self.whole(key::PASSAGES)?,
            added_ms: self.whole(key::ADDED_MS)?,
            metadata: self.metadata()?,
        };
        Ok((entry, self.text(key::DIGEST, DIGEST_BYTES)?))
    }

    /// The passage of this point, whose robot must be this one. How well it fits is still to be said.
    pub(super) fn passage(&self, robot: &str) -> Result<ReceivedPassage, PointProblem> {
        self.expect(robot, kind::PASSAGE)?;
        let Some(PointIdOptions::Num(id)) = self.id.and_then(|id| id.point_id_options.as_ref()) else {
            return Err(PointProblem::Number);
        };
        let document = self.document_id()?;
        let order = (self.whole(key::ADDED_MS)?, document.clone(), self.whole(key::NUMBER)?);
        let found = Found {
            id: PassageId(*id),
            document,
            passage: Passage { place: self.text(key::PLACE, PLACE_BYTES)?, text: self.text(key::TEXT, TEXT_BYTES)? },
            metadata: self.metadata()?,
            relevance: 0.0,
            likeness: 0.0,
        };
        Ok(ReceivedPassage { found, score: self.score, order })
    }

    fn expect(&self, robot: &str, kind: &str) -> Result<(), PointProblem> {
        let is = |name, wanted: &str| match self.value(name)? {
            Kind::StringValue(found) if found == wanted => Ok(()),
            _ => Err(PointProblem::Other(name)),
        };
        is(key::ROBOT, robot)?;
        is(key::KIND, kind)
    }

    /// An id as it may be written: it is shown on terminals.
    fn document_id(&self) -> Result<String, PointProblem> {
        let id = self.text(key::DOCUMENT, ID_BYTES)?;
        check_id(&id).map_err(|_| PointProblem::Kind(key::DOCUMENT))?;
        Ok(id)
    }

    fn value(&self, name: &'static str) -> Result<&Kind, PointProblem> {
        self.payload.get(name).and_then(|value| value.kind.as_ref()).ok_or(PointProblem::Missing(name))
    }

    fn text(&self, name: &'static str, most: usize) -> Result<String, PointProblem> {
        match self.value(name)? {
            Kind::StringValue(text) if text.len() > most => Err(PointProblem::Long(name, most)),
            Kind::StringValue(text) => Ok(text.clone()),
            _ => Err(PointProblem::Kind(name)),
        }
    }

    fn whole(&self, name: &'static str) -> Result<u64, PointProblem> {
        match self.value(name)? {
            Kind::IntegerValue(number) => u64::try_from(*number).map_err(|_| PointProblem::Kind(name)),
            _ => Err(PointProblem::Kind(name)),
        }
    }

    fn metadata(&self) -> Result<BTreeMap<String, String>, PointProblem> {
        let Kind::StructValue(fields) = self.value(key::METADATA)? else {
            return Err(PointProblem::Kind(key::METADATA));
        };
        let (mut metadata, mut bytes) = (BTreeMap::new(), 0_usize);
        for (name, value) in &fields.fields {
            let Some(Kind::StringValue(text)) = &value.kind else { return Err(PointProblem::Kind(key::METADATA)) };
            bytes = bytes.saturating_add(name.len()).saturating_add(text.len());
            if bytes > METADATA_BYTES {
                return Err(PointProblem::Long(key::METADATA, METADATA_BYTES));
            }
            metadata.insert(name.clone(), text.clone());
        }
        Ok(metadata)
    }
}
