//! Adding and forgetting documents, and keeping vectors.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::time::{SystemTime, UNIX_EPOCH};

use qdrant_client::qdrant::points_update_operation::{
    DeletePoints, DeleteVectors, Operation, PointStructList, SetPayload, UpdateVectors,
};
use qdrant_client::qdrant::{
    Condition, CountPoints, DenseVector, Filter, GetPoints, NamedVectors, PointId, PointVectors, PointsUpdateOperation,
    Range, UpdateBatchPoints, UpsertPoints, Vector, Vectors, VectorsSelector, vector, vectors::VectorsOptions,
};
use uuid::Uuid;

use super::client::RequestProblem;
use super::collection::vector_of;
use super::points::{self, Batch, document_point, key, kind};
use super::{QdrantStore, is, is_one_of, shown, words};
use crate::document::{Document, Passage};
use crate::passages::passages;
use crate::store::{Added, StoreError, Unembedded, check_id};

/// Points that are sent or asked for at a time.
const CHUNK: usize = 128;
/// What was begun so long ago, in milliseconds, and not ended, is never ended: whoever began it is gone.
const ABANDONED_MS: u64 = 3_600_000;

/// A document that is to be written.
struct Changed<'a> {
    document: &'a Document,
    digest: String,
    passages: Vec<Passage>,
}

impl QdrantStore {
    /// See [`DocumentStore::add`](crate::DocumentStore::add). The passages are sent in parts, which are not found yet; one last
    /// request lets all of them be found in the place of the earlier ones.
    pub(super) async fn add_all(&self, documents: &[Document]) -> Result<Vec<Added>, StoreError> {
        let cut: Vec<Vec<Passage>> = documents.iter().map(passages).collect();
        for (document, passages) in documents.iter().zip(&cut) {
            check_id(&document.id)?;
            points::check(document, passages)?;
        }
        self.collection.make().await?;
        let mut digests = self.digests(documents).await?;
        let (mut added, mut changed) = (Vec::new(), BTreeMap::new());
        for (document, passages) in documents.iter().zip(cut) {
            let digest: String = document.digest().iter().map(|byte| format!("{byte:02x}")).collect();
            let number = passages.len();
            let outcome = match digests.insert(document.id.clone(), digest.clone()) {
                Some(earlier) if earlier == digest => Added::Unchanged,
                Some(_) => Added::Replaced { passages: number },
                None => Added::New { passages: number },
            };
            if outcome != Added::Unchanged {
                // Of two with one id, the last one counts.
                changed.insert(document.id.as_str(), Changed { document, digest, passages });
            }
            added.push(outcome);
        }
        if changed.is_empty() {
            return Ok(added);
        }
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_millis();
        let added_ms = u64::try_from(now).unwrap_or(u64::MAX);
        let batch = Batch { robot: &self.robot, id: Uuid::new_v4().to_string(), added_ms };
        let changed: Vec<Changed<'_>> = changed.into_values().collect();
        if let Err(error) = self.send(&batch, &changed).await {
            self.discard(&batch).await;
            return Err(error);
        }
        self.show(&batch, &changed).await?;
        Ok(added)
    }

    /// What identifies the content of each of these documents that is there.
    async fn digests(&self, documents: &[Document]) -> Result<BTreeMap<String, String>, StoreError> {
        let ids: Vec<PointId> = documents.iter().map(|document| document_point(&self.robot, &document.id)).collect();
        let mut digests = BTreeMap::new();
        for ids in ids.chunks(CHUNK) {
            let request = GetPoints {
                collection_name: self.collection.name.clone(),
                ids: ids.to_vec(),
                with_payload: Some(shown()),
                ..GetPoints::default()
            };
            let mut points = self.collection.client.points();
            let reply = self.collection.client.read(points.get(request)).await;
            let reply = reply.map_err(|problem| self.collection.told(problem))?;
            let found = self.checked(reply.result.iter().take(ids.len()), |point| point.document(&self.robot));
            digests.extend(found.into_iter().map(|(entry, digest)| (entry.id, digest)));
        }
        Ok(digests)
    }

    /// Sends the passages, which are not found yet.
    async fn send(&self, batch: &Batch<'_>, changed: &[Changed<'_>]) -> Result<(), StoreError> {
        let all: Vec<(usize, usize)> = changed
            .iter()
            .enumerate()
            .flat_map(|(at, changed)| (0..changed.passages.len()).map(move |number| (at, number)))
            .collect();
        for chunk in all.chunks(CHUNK) {
            let point = |(at, number): &(usize, usize)| {
                let Changed { document, passages, .. } = changed.get(*at)?;
                let passage = passages.get(*number)?;
                Some(batch.passage(document, *number, passage, words::of_passage(&document.id, passage)))
            };
            let request = UpsertPoints {
                collection_name: self.collection.name.clone(),
                wait: Some(true),
                points: chunk.iter().filter_map(point).collect(),
                ..UpsertPoints::default()
            };
            let mut points = self.collection.client.points();
            let sent = self.collection.client.write(points.upsert(request)).await;
            self.collection.done(sent.map_err(|problem| self.collection.told(problem))?.result.as_slice())?;
        }
        Ok(())
    }

    /// Lets what was sent be found, and nothing else of these documents.
    async fn show(&self, batch: &Batch<'_>, changed: &[Changed<'_>]) -> Result<(), StoreError> {
        let of_batch = || is(key::BATCH, &batch.id);
        let mut sent = self.of_kind(kind::ADDING);
        sent.push(of_batch());
        let passages = HashMap::from([(key::KIND.to_owned(), kind::PASSAGE.into())]);
        let documents =
            changed.iter().map(|changed| batch.document(changed.document, &changed.digest, changed.passages.len()));
        let ids: Vec<String> = changed.iter().map(|changed| changed.document.id.clone()).collect();
        let mut earlier = self.of_kind(kind::PASSAGE);
        earlier.push(is_one_of(key::DOCUMENT, ids));
        let earlier = Filter { must: earlier, must_not: vec![of_batch()], ..Filter::default() };
        #[allow(clippy::cast_precision_loss, reason = "milliseconds since 1970 are whole numbers of f64, too")]
        let long_ago = Range { lt: Some(batch.added_ms.saturating_sub(ABANDONED_MS) as f64), ..Range::default() };
        let mut abandoned = self.of_kind(kind::ADDING);
        abandoned.push(Condition::range(key::ADDED_MS, long_ago));
        let show =
            SetPayload { payload: passages, points_selector: Some(Filter::must(sent).into()), ..SetPayload::default() };
        // The digest comes last: where the server breaks off in the middle, the document counts as changed still, and the next
        // add repairs it.
        let operations = vec![
            Operation::SetPayload(show),
            delete(earlier),
            delete(Filter::must(abandoned)),
            Operation::Upsert(PointStructList { points: documents.collect(), ..PointStructList::default() }),
        ];
        self.change(operations).await
    }

    /// Takes back what was sent. Where that fails, too, it is never found, and a later batch takes it back.
    async fn discard(&self, batch: &Batch<'_>) {
        let mut sent = self.of_kind(kind::ADDING);
        sent.push(is(key::BATCH, &batch.id));
        if let Err(problem) = self.change(vec![delete(Filter::must(sent))]).await {
            tracing::debug!("parts of documents stay on the server for now: {problem}");
        }
    }

    /// See [`DocumentStore::remove`](crate::DocumentStore::remove).
    pub(super) async fn forget(&self, id: &str) -> Result<bool, StoreError> {
        let mut of_document = vec![is(key::ROBOT, &self.robot), is(key::DOCUMENT, id)];
        // What is being added is not there yet.
        let kinds = vec![kind::DOCUMENT.to_owned(), kind::PASSAGE.to_owned()];
        of_document.push(is_one_of(key::KIND, kinds));
        let filter = Filter::must(of_document);
        let request = CountPoints {
            collection_name: self.collection.name.clone(),
            filter: Some(filter.clone()),
            exact: Some(true),
            ..CountPoints::default()
        };
        let mut points = self.collection.client.points();
        match self.collection.client.read(points.count(request)).await {
            Err(RequestProblem::NotFound) => return Ok(false),
            Err(problem) => return Err(self.collection.told(problem)),
            Ok(reply) if reply.result.is_none_or(|result| result.count == 0) => return Ok(false),
            Ok(_) => {}
        }
        self.change(vec![delete(filter)]).await?;
        Ok(true)
    }

    /// See [`DocumentStore::keep_vectors`](crate::DocumentStore::keep_vectors).
    pub(super) async fn keep(&self, model: &str, vectors: Vec<(Unembedded, Vec<f32>)>) -> Result<(), StoreError> {
        let Some((_, first)) = vectors.first() else { return Ok(()) };
        let name = vector_of(model);
        let Some(schema) = self.collection.schema().await? else { return Ok(()) };
        let fits = |kept: usize| match vectors.iter().find(|(_, vector)| vector.len() != kept) {
            Some((_, vector)) => Err(StoreError::Dimension { model: model.to_owned(), kept, found: vector.len() }),
            None => Ok(()),
        };
        // All, before anything is written.
        fits(schema.dimension(&name).unwrap_or(first.len()))?;
        if schema.dimension(&name).is_none() {
            let kept = self.collection.make_room(&name, first.len()).await?;
            fits(kept.unwrap_or(first.len()))?;
        }
        let there = self.still_there(&vectors).await?;
        let points: Vec<PointVectors> = vectors
            .into_iter()
            .filter(|(passage, _)| there.contains(&passage.id.0))
            .map(|(passage, vector)| {
                let vector = vector::Vector::Dense(DenseVector { data: vector });
                let vector = Vector { vector: Some(vector), ..Vector::default() };
                let named = NamedVectors { vectors: HashMap::from([(name.clone(), vector)]) };
                let vectors = Vectors { vectors_options: Some(VectorsOptions::Vectors(named)) };
                PointVectors { id: Some(PointId::from(passage.id.0)), vectors: Some(vectors) }
            })
            .collect();
        let mut operations = Vec::new();
        let others = schema.others(&name);
        if !others.is_empty() {
            operations.push(Operation::DeleteVectors(DeleteVectors {
                points_selector: Some(Filter::must([is(key::ROBOT, &self.robot)]).into()),
                vectors: Some(VectorsSelector { names: others }),
                ..DeleteVectors::default()
            }));
        }
        if !points.is_empty() {
            operations.push(Operation::UpdateVectors(UpdateVectors { points, ..UpdateVectors::default() }));
        }
        if operations.is_empty() {
            return Ok(());
        }
        self.change(operations).await.map_err(|error| match error {
            StoreError::NoCollection { .. } => {
                StoreError::Failed { problem: "a passage was removed while its vector was computed".to_owned() }
            }
            error => error,
        })
    }

    /// Which of these passages are there, with the words that they had: others have other points.
    async fn still_there(&self, vectors: &[(Unembedded, Vec<f32>)]) -> Result<BTreeSet<u64>, StoreError> {
        let mut there = BTreeSet::new();
        for chunk in vectors.chunks(CHUNK) {
            let ids = chunk.iter().map(|(passage, _)| PointId::from(passage.id.0));
            let mut must = self.of_kind(kind::PASSAGE);
            must.push(Condition::has_id(ids));
            let found = self.scroll(Filter::must(must), chunk.len(), |point| point.passage(&self.robot)).await?;
            there.extend(found.into_iter().map(|passage| passage.found.id.0));
        }
        Ok(there)
    }

    /// Changes the collection, one after the other, and waits for it.
    async fn change(&self, operations: Vec<Operation>) -> Result<(), StoreError> {
        let operations = operations.into_iter().map(|operation| PointsUpdateOperation { operation: Some(operation) });
        let request = UpdateBatchPoints {
            collection_name: self.collection.name.clone(),
            wait: Some(true),
            operations: operations.collect(),
            ..UpdateBatchPoints::default()
        };
        let mut points = self.collection.client.points();
        let changed = self.collection.client.write(points.update_batch(request)).await;
        self.collection.done(&changed.map_err(|problem| self.collection.told(problem))?.result)
    }
}

fn delete(filter: Filter) -> Operation {
    Operation::DeletePoints(DeletePoints { points: Some(filter.into()), ..DeletePoints::default() })
}
