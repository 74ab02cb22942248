//! Documents on a server of Qdrant, so that several robots share one place, and what is kept survives the robot's computer.
//! Written for the protocol of Qdrant 1.20. Robots may share a collection: each sees its own documents only.
//!
//! - `client`: the connection, its bounds and its key;
//! - `collection`: what a collection must be like, and how one is made;
//! - `points`: what is written of a document, and the check of what is read back;
//! - `words`: words as sparse vectors;
//! - `writing`, `finding`: what the store does.
//!
//! The rankings by words and by meaning are asked for one by one, and become one where those of the file do (`fusion`): a server's
//! own fusion goes by places, and would not say how little a passage fits.

mod client;
mod collection;
mod finding;
mod points;
mod words;
mod writing;

use async_trait::async_trait;
use qdrant_client::qdrant::{
    Condition, Filter, PayloadIncludeSelector, RepeatedStrings, ScrollPoints, WithPayloadSelector, r#match::MatchValue,
    with_payload_selector::SelectorOptions,
};

use crate::document::Document;
use crate::qdrant_settings::QdrantSettings;
use crate::store::{Added, DocumentEntry, DocumentStore, Found, MetadataFilter, StoreError, Unembedded};
use client::Client;
use collection::Collection;
use points::{PointProblem, ReceivedPoint, key, kind};

/// Points of a page that is read.
const PAGE: u32 = 256;
/// Most characters of the id of a point in the log.
const ID_CHARACTERS: usize = 80;
/// Most pages that are read: a server that sends ever more of them is not read on.
const MOST_PAGES: usize = 400;

/// The documents of one robot in a collection of a server of Qdrant. Clones share the connection, which is made when it is
/// first needed, and made again when it breaks.
///
/// What was acknowledged is on the server's disk. When the connection breaks while documents are added, it may not be known
/// whether they were: adding them again says.
#[derive(Clone)]
pub struct QdrantStore {
    collection: Collection,
    robot: String,
}

impl QdrantStore {
    /// The store on this server, which need not be there yet.
    ///
    /// # Errors
    /// When the address or the key can't be one.
    pub fn open(settings: QdrantSettings) -> Result<Self, StoreError> {
        let QdrantSettings { server, collection, robot, key, timeouts } = settings;
        let client = Client::new(&server, key, timeouts)?;
        Ok(Self { collection: Collection::new(client, collection), robot })
    }

    /// The points of this robot that are of a kind.
    fn of_kind(&self, kind: &str) -> Vec<Condition> {
        vec![is(key::ROBOT, &self.robot), is(key::KIND, kind)]
    }

    /// Reads page after page, until there are as many as are wanted. What is not as we write it is left out.
    async fn scroll<T>(
        &self,
        filter: Filter,
        most: usize,
        read: impl Fn(ReceivedPoint<'_>) -> Result<T, PointProblem>,
    ) -> Result<Vec<T>, StoreError> {
        let (mut found, mut offset) = (Vec::new(), None);
        if most == 0 {
            return Ok(found);
        }
        for _ in 0..MOST_PAGES {
            let request = ScrollPoints {
                collection_name: self.collection.name.clone(),
                filter: Some(filter.clone()),
                offset: offset.clone(),
                limit: Some(PAGE),
                with_payload: Some(shown()),
                ..ScrollPoints::default()
            };
            let mut points = self.collection.client.points();
            let reply = self.collection.client.read(points.scroll(request)).await;
            let reply = reply.map_err(|problem| self.collection.told(problem))?;
            found.extend(self.checked(reply.result.iter().take(PAGE as usize), &read));
            if found.len() >= most {
                found.truncate(most);
                return Ok(found);
            }
            if reply.next_page_offset.is_none() || reply.next_page_offset == offset {
                return Ok(found);
            }
            offset = reply.next_page_offset;
        }
        Err(StoreError::ServerRefused {
            server: self.collection.client.server().to_owned(),
            problem: format!("it sends more than {MOST_PAGES} pages of {PAGE} points"),
        })
    }

    /// What is read of points. Those that are not as we write them are left out, with one warning for all.
    fn checked<'a, Point: Into<ReceivedPoint<'a>>, T>(
        &self,
        points: impl Iterator<Item = Point>,
        read: impl Fn(ReceivedPoint<'a>) -> Result<T, PointProblem>,
    ) -> Vec<T> {
        let (mut good, mut bad, mut first) = (Vec::new(), 0, None);
        for point in points.map(Into::into) {
            let id = point.id;
            match read(point) {
                Ok(point) => good.push(point),
                Err(problem) => {
                    bad += 1;
                    first.get_or_insert((id, problem));
                }
            }
        }
        if let Some((id, problem)) = first {
            let id = cortex_core::fragment::one_line(&format!("{id:?}"), ID_CHARACTERS);
            let (collection, server) = (&self.collection.name, self.collection.client.server());
            tracing::warn!(
                "{bad} points of the collection '{collection}' of {server} are left out; of the first, {id}, {problem}"
            );
        }
        good
    }
}

/// A field has this value, or one of its values is this one. Said so: of a text with spaces the client would make a search for
/// its words.
fn is(field: &str, value: &str) -> Condition {
    Condition::matches(field, MatchValue::Keyword(value.to_owned()))
}

/// The same for any of these values.
fn is_one_of(field: &str, strings: Vec<String>) -> Condition {
    Condition::matches(field, MatchValue::Keywords(RepeatedStrings { strings }))
}

/// What of a point is sent: all but what only finds it.
fn shown() -> WithPayloadSelector {
    let fields = [
        key::ROBOT,
        key::KIND,
        key::DOCUMENT,
        key::DIGEST,
        key::ADDED_MS,
        key::NUMBER,
        key::PASSAGES,
        key::PLACE,
        key::TEXT,
        key::METADATA,
    ];
    let fields = fields.map(str::to_owned).to_vec();
    WithPayloadSelector { selector_options: Some(SelectorOptions::Include(PayloadIncludeSelector { fields })) }
}

#[async_trait]
impl DocumentStore for QdrantStore {
    async fn add(&self, documents: Vec<Document>) -> Result<Vec<Added>, StoreError> {
        self.add_all(&documents).await
    }

    async fn remove(&self, id: &str) -> Result<bool, StoreError> {
        self.forget(id).await
    }

    async fn list(&self) -> Result<Vec<DocumentEntry>, StoreError> {
        let filter = Filter::must(self.of_kind(kind::DOCUMENT));
        let read = |point: ReceivedPoint<'_>| Ok(point.document(&self.robot)?.0);
        let mut entries = match self.scroll(filter, usize::MAX, read).await {
            Err(StoreError::NoCollection { .. }) => Vec::new(),
            entries => entries?,
        };
        entries.sort_by(|one, other| one.id.cmp(&other.id));
        Ok(entries)
    }

    async fn search(&self, text: &str, most: usize, filter: &MetadataFilter) -> Result<Vec<Found>, StoreError> {
        self.collection.or_nothing_yet(self.by_words(text, most, filter).await)
    }

    async fn unembedded(&self, model: &str, most: usize) -> Result<Vec<Unembedded>, StoreError> {
        self.without_vector(model, most).await
    }

    async fn keep_vectors(&self, model: &str, vectors: Vec<(Unembedded, Vec<f32>)>) -> Result<(), StoreError> {
        self.keep(model, vectors).await
    }

    async fn nearest(
        &self,
        model: &str,
        vector: &[f32],
        most: usize,
        filter: &MetadataFilter,
    ) -> Result<Vec<Found>, StoreError> {
        self.collection.or_nothing_yet(self.by_meaning(model, vector, most, filter).await)
    }
}
