//! Finding passages: by their words, and by their meaning.

use std::collections::BTreeMap;

use futures::future::try_join_all;
use qdrant_client::qdrant::{
    Condition, CountPoints, DenseVector, Filter, Query, QueryPoints, VectorInput, query, vector_input,
};

use super::collection::{WORDS, vector_of};
use super::points::{ReceivedPassage, key, kind, pair};
use super::{QdrantStore, is, shown, words};
use crate::store::{Found, MetadataFilter, StoreError, Unembedded};

/// Most passages that are asked for at a time.
const MOST: usize = 1_000;
/// Most bytes of a reply that is a number.
const COUNT_BYTES: usize = 16 << 10;

impl QdrantStore {
    /// See [`DocumentStore::search`](crate::DocumentStore::search).
    pub(super) async fn by_words(
        &self,
        text: &str,
        most: usize,
        filter: &MetadataFilter,
    ) -> Result<Vec<Found>, StoreError> {
        let wanted = words::wanted(text);
        if wanted.is_empty() || most == 0 {
            return Ok(Vec::new());
        }
        let passages = self.of_kind(kind::PASSAGE);
        let with = |word: &String| [passages.as_slice(), &[is(key::WORDS, word)]].concat();
        let counts = [passages.clone()].into_iter().chain(wanted.iter().map(with)).map(|filter| self.count(filter));
        let counts = try_join_all(counts).await?;
        let (all, holding) = counts.split_first().map_or((0, [].as_slice()), |(all, holding)| (*all, holding));
        let rarities: BTreeMap<&str, f64> =
            wanted.iter().zip(holding).map(|(word, holding)| (word.as_str(), words::rarity(all, *holding))).collect();
        if holding.iter().all(|holding| *holding == 0) {
            return Ok(Vec::new());
        }
        let sum: f64 = rarities.values().sum();
        let vector = words::sparse(rarities.iter().map(|(word, rarity)| (*word, *rarity)));
        let found = self.query(WORDS, vector_input::Variant::Sparse(vector), most, filter).await?;
        let found = found.into_iter().map(|ReceivedPassage { found, .. }| {
            let held = words::held(&found.document, &found.passage);
            let share: f64 = rarities.iter().filter(|(word, _)| held.contains(**word)).map(|(_, rarity)| rarity).sum();
            Found { relevance: share / sum, ..found }
        });
        Ok(found.collect())
    }

    /// See [`DocumentStore::nearest`](crate::DocumentStore::nearest).
    pub(super) async fn by_meaning(
        &self,
        model: &str,
        vector: &[f32],
        most: usize,
        filter: &MetadataFilter,
    ) -> Result<Vec<Found>, StoreError> {
        let name = vector_of(model);
        let schema = self.collection.schema().await?.ok_or_else(|| self.collection.missing())?;
        let Some(kept) = schema.dimension(&name) else { return Ok(Vec::new()) };
        if kept != vector.len() {
            return Err(StoreError::Dimension { model: model.to_owned(), kept, found: vector.len() });
        }
        if most == 0 {
            return Ok(Vec::new());
        }
        let wanted = vector_input::Variant::Dense(DenseVector { data: vector.to_vec() });
        let found = self.query(&name, wanted, most, filter).await?;
        let found = found
            .into_iter()
            .map(|ReceivedPassage { found, score, .. }| Found { likeness: f64::from(score).clamp(0.0, 1.0), ..found });
        Ok(found.collect())
    }

    /// See [`DocumentStore::unembedded`](crate::DocumentStore::unembedded).
    pub(super) async fn without_vector(&self, model: &str, most: usize) -> Result<Vec<Unembedded>, StoreError> {
        let name = vector_of(model);
        let Some(schema) = self.collection.schema().await? else { return Ok(Vec::new()) };
        let with_it = schema.dimension(&name).map(|_| Condition::has_vector(name));
        let filter =
            Filter { must: self.of_kind(kind::PASSAGE), must_not: with_it.into_iter().collect(), ..Filter::default() };
        let mut passages = self.scroll(filter, most, |point| point.passage(&self.robot)).await?;
        passages.sort_by(|one, other| one.order.cmp(&other.order));
        let unembedded = passages.into_iter().map(|ReceivedPassage { found: Found { id, passage, .. }, .. }| {
            let text =
                if passage.place.is_empty() { passage.text } else { format!("{}\n{}", passage.place, passage.text) };
            Unembedded { id, text }
        });
        Ok(unembedded.collect())
    }

    async fn count(&self, must: Vec<Condition>) -> Result<u64, StoreError> {
        let request = CountPoints {
            collection_name: self.collection.name.clone(),
            filter: Some(Filter::must(must)),
            exact: Some(true),
            ..CountPoints::default()
        };
        // Many are asked for at the same time.
        let mut points = self.collection.client.points().max_decoding_message_size(COUNT_BYTES);
        let reply = self.collection.client.read(points.count(request)).await;
        let reply = reply.map_err(|problem| self.collection.told(problem))?;
        self.collection.is_there();
        Ok(reply.result.map_or(0, |result| result.count))
    }

    /// The passages with the highest products, and these. Of equal ones, the earlier comes first.
    async fn query(
        &self,
        vector: &str,
        wanted: vector_input::Variant,
        most: usize,
        filter: &MetadataFilter,
    ) -> Result<Vec<ReceivedPassage>, StoreError> {
        let mut must = self.of_kind(kind::PASSAGE);
        must.extend(filter.iter().map(|(name, value)| is(key::PAIRS, &pair(name, value))));
        let most = most.min(MOST);
        let request = QueryPoints {
            collection_name: self.collection.name.clone(),
            query: Some(Query { variant: Some(query::Variant::Nearest(VectorInput { variant: Some(wanted) })) }),
            using: Some(vector.to_owned()),
            filter: Some(Filter::must(must)),
            limit: Some(most as u64),
            with_payload: Some(shown()),
            ..QueryPoints::default()
        };
        let mut points = self.collection.client.points();
        let reply = self.collection.client.read(points.query(request)).await;
        let reply = reply.map_err(|problem| self.collection.told(problem))?;
        let mut found = self.checked(reply.result.iter().take(most), |point| point.passage(&self.robot));
        found.sort_by(|one, other| other.score.total_cmp(&one.score).then_with(|| one.order.cmp(&other.order)));
        Ok(found)
    }
}
