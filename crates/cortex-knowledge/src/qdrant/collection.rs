//! The collection of the documents: how it is made, and whether one that is there can be used.
//!
//! It has a sparse vector for the words of a passage, and for each model that has computed any a dense one for its meaning, which
//! is added when that model's first vectors come: so robots with different models may share a collection, and a robot may get
//! another model.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use qdrant_client::qdrant::{
    CollectionInfo, CreateCollection, CreateFieldIndexCollection, CreateVectorNameRequest, DenseVectorCreationConfig,
    Distance, FieldType, GetCollectionInfoRequest, IntegerIndexParams, KeywordIndexParams, PayloadIndexParams,
    SparseVectorConfig, SparseVectorParams, UpdateResult, UpdateStatus, VectorParams,
    create_vector_name_request::VectorConfig, payload_index_params::IndexParams, vectors_config::Config,
};
use sha2::{Digest as _, Sha256};

use super::client::{Client, RequestProblem};
use super::points::key;
use crate::store::StoreError;

/// The sparse vector: a number for each word.
pub(super) const WORDS: &str = "words";
/// How the names of dense vectors begin.
const MEANING: &str = "meaning-";

/// The fields that filters name. A server may refuse to filter by others.
const KEYWORDS: [&str; 6] = [key::ROBOT, key::KIND, key::DOCUMENT, key::BATCH, key::WORDS, key::PAIRS];

/// A collection on a server.
#[derive(Clone)]
pub(super) struct Collection {
    pub(super) client: Client,
    pub(super) name: String,
    /// Whether it was ever there.
    was_there: Arc<AtomicBool>,
}

/// The dense vectors of a collection that are ours: how many numbers each has.
pub(super) struct Schema {
    dense: BTreeMap<String, usize>,
}

impl Schema {
    /// How many numbers the vectors of a model have. None: the collection has no room for any.
    pub(super) fn dimension(&self, vector: &str) -> Option<usize> {
        self.dense.get(vector).copied()
    }

    /// The dense vectors of other models.
    pub(super) fn others(&self, vector: &str) -> Vec<String> {
        self.dense.keys().filter(|name| *name != vector).cloned().collect()
    }
}

/// The name of the dense vector of a model.
pub(super) fn vector_of(model: &str) -> String {
    let digest = Sha256::digest(model);
    let short: String = digest.iter().take(6).map(|byte| format!("{byte:02x}")).collect();
    format!("{MEANING}{short}")
}

impl Collection {
    /// The collection of this name, which need not be there yet.
    pub(super) fn new(client: Client, name: String) -> Self {
        Self { client, name, was_there: Arc::default() }
    }

    /// It is not there.
    pub(super) fn missing(&self) -> StoreError {
        StoreError::NoCollection { server: self.client.server().to_owned(), collection: self.name.clone() }
    }

    /// What was found. Before anything was ever added there is no collection, and nothing to find; but one that was there and is
    /// gone is an error.
    pub(super) fn or_nothing_yet<T: Default>(&self, found: Result<T, StoreError>) -> Result<T, StoreError> {
        match found {
            Err(error @ StoreError::NoCollection { .. }) if !self.was_there.load(Ordering::Acquire) => {
                tracing::warn!("no documents are known: {error}");
                Ok(T::default())
            }
            found => found,
        }
    }

    /// The server has said something of it.
    pub(super) fn is_there(&self) {
        self.was_there.store(true, Ordering::Release);
    }

    /// What a problem of a request to this collection is for people.
    pub(super) fn told(&self, problem: RequestProblem) -> StoreError {
        match problem {
            RequestProblem::NotFound => self.missing(),
            RequestProblem::Told(error) => error,
        }
    }

    /// What the collection holds. None: there is none.
    ///
    /// # Errors
    /// Also when it is not one of ours.
    pub(super) async fn schema(&self) -> Result<Option<Schema>, StoreError> {
        let mut collections = self.client.collections();
        let request = GetCollectionInfoRequest { collection_name: self.name.clone() };
        match self.client.read(collections.get(request)).await {
            Ok(reply) => {
                self.is_there();
                self.checked(reply.result.as_ref()).map(|(schema, _)| Some(schema))
            }
            Err(RequestProblem::NotFound) => Ok(None),
            Err(problem) => Err(self.told(problem)),
        }
    }

    /// Makes the collection where it is missing, and the indexes that it lacks. Two robots may do so at the same time.
    pub(super) async fn make(&self) -> Result<(), StoreError> {
        let mut collections = self.client.collections();
        let info = || GetCollectionInfoRequest { collection_name: self.name.clone() };
        let found = match self.client.read(collections.get(info())).await {
            Err(RequestProblem::NotFound) => {
                let made = self.client.write(collections.create(self.new_collection())).await;
                // Another robot may have made it meanwhile.
                match (made, self.client.read(collections.get(info())).await) {
                    (Err(problem), Err(RequestProblem::NotFound)) => return Err(self.told(problem)),
                    (_, found) => found,
                }
            }
            found => found,
        };
        let found = found.map_err(|problem| self.told(problem))?;
        let (_, indexed) = self.checked(found.result.as_ref())?;
        self.is_there();
        for field in KEYWORDS.into_iter().filter(|field| !indexed.contains(&(*field).to_owned())) {
            let params = KeywordIndexParams { is_tenant: Some(field == key::ROBOT), ..KeywordIndexParams::default() };
            self.index(field, FieldType::Keyword, IndexParams::KeywordIndexParams(params)).await?;
        }
        if !indexed.contains(&key::ADDED_MS.to_owned()) {
            let params = IntegerIndexParams { range: Some(true), lookup: Some(false), ..IntegerIndexParams::default() };
            self.index(key::ADDED_MS, FieldType::Integer, IndexParams::IntegerIndexParams(params)).await?;
        }
        Ok(())
    }

    fn new_collection(&self) -> CreateCollection {
        let words = HashMap::from([(WORDS.to_owned(), SparseVectorParams::default())]);
        CreateCollection {
            collection_name: self.name.clone(),
            sparse_vectors_config: Some(SparseVectorConfig { map: words }),
            ..CreateCollection::default()
        }
    }

    async fn index(&self, field: &str, kind: FieldType, params: IndexParams) -> Result<(), StoreError> {
        let request = CreateFieldIndexCollection {
            collection_name: self.name.clone(),
            wait: Some(true),
            field_name: field.to_owned(),
            field_type: Some(kind.into()),
            field_index_params: Some(PayloadIndexParams { index_params: Some(params) }),
            ..CreateFieldIndexCollection::default()
        };
        let mut points = self.client.points();
        let made = self.client.write(points.create_field_index(request)).await;
        self.done(made.map_err(|problem| self.told(problem))?.result.as_slice())
    }

    /// Makes room for the vectors of a model, with so many numbers each. Whoever else has done so at the same time has chosen.
    pub(super) async fn make_room(&self, vector: &str, dimension: usize) -> Result<Option<usize>, StoreError> {
        let config = DenseVectorCreationConfig {
            size: dimension as u64,
            distance: Distance::Cosine.into(),
            ..DenseVectorCreationConfig::default()
        };
        let request = CreateVectorNameRequest {
            collection_name: self.name.clone(),
            wait: Some(true),
            vector_name: vector.to_owned(),
            vector_config: Some(VectorConfig::DenseConfig(config)),
            ..CreateVectorNameRequest::default()
        };
        let mut points = self.client.points();
        let made = self.client.write(points.create_vector_name(request)).await;
        let now = self.schema().await?.and_then(|schema| schema.dimension(vector));
        match made {
            Err(problem) if now.is_none() => Err(self.told(problem)),
            _ => Ok(now),
        }
    }

    /// Whether the server has done what it was asked to do and to wait for.
    pub(super) fn done(&self, results: &[UpdateResult]) -> Result<(), StoreError> {
        match results.iter().find(|result| result.status() != UpdateStatus::Completed) {
            Some(result) => Err(StoreError::ServerRefused {
                server: self.client.server().to_owned(),
                problem: format!("a change is not done yet, or never ({})", result.status().as_str_name()),
            }),
            None => Ok(()),
        }
    }

    /// What is ours of a collection, and its fields with an index.
    fn checked(&self, info: Option<&CollectionInfo>) -> Result<(Schema, Vec<String>), StoreError> {
        let foreign = |problem: &str| StoreError::ForeignCollection {
            server: self.client.server().to_owned(),
            collection: self.name.clone(),
            problem: problem.to_owned(),
        };
        let params = info.and_then(|info| info.config.as_ref()).and_then(|config| config.params.as_ref());
        let params = params.ok_or_else(|| foreign("the server does not say what vectors it has"))?;
        let has_words = params.sparse_vectors_config.as_ref().and_then(|sparse| sparse.map.get(WORDS));
        let words = has_words.ok_or_else(|| foreign("it has no sparse vector 'words'"))?;
        if words.modifier.is_some_and(|modifier| modifier != 0) {
            return Err(foreign("the server changes the numbers of its sparse vector 'words' (modifier)"));
        }
        let dense = match params.vectors_config.as_ref().and_then(|vectors| vectors.config.as_ref()) {
            Some(Config::ParamsMap(vectors)) => {
                vectors.map.iter().filter(|(name, _)| name.starts_with(MEANING)).collect()
            }
            _ => Vec::new(),
        };
        let is_cosine =
            |vector: &VectorParams| vector.distance() == Distance::Cosine && vector.multivector_config.is_none();
        if let Some((name, _)) = dense.iter().find(|(_, vector)| !is_cosine(vector)) {
            return Err(foreign(&format!("its vector '{name}' is compared by something else than the cosine")));
        }
        let size = |vector: &VectorParams| usize::try_from(vector.size).unwrap_or(usize::MAX);
        let dense = dense.into_iter().map(|(name, vector)| (name.clone(), size(vector))).collect();
        let indexed = info.map(|info| info.payload_schema.keys().cloned().collect()).unwrap_or_default();
        Ok((Schema { dense }, indexed))
    }
}
