//! The service of points.

use std::collections::HashMap;

use qdrant_client::qdrant as api;
use qdrant_client::qdrant::create_vector_name_request::VectorConfig;
use qdrant_client::qdrant::points_server::Points as Service;
use qdrant_client::qdrant::points_update_operation::Operation;
use qdrant_client::qdrant::with_payload_selector::SelectorOptions;
use qdrant_client::qdrant::{
    CountPoints, CountResponse, CountResult, CreateFieldIndexCollection, CreateVectorNameRequest, GetPoints,
    GetResponse, PointId, PointsOperationResponse, QueryPoints, QueryResponse, RetrievedPoint, ScoredPoint,
    ScrollPoints, ScrollResponse, UpdateBatchPoints, UpdateBatchResponse, UpdateResult, UpdateStatus, UpsertPoints,
    Value, VectorParams, WithPayloadSelector, query, vector_input,
};
use tonic::metadata::MetadataMap;
use tonic::{Request, Response, Status};

use super::collections::missing;
use super::state::{Collection, number};
use super::{Refused, Services, refused};

fn done() -> UpdateResult {
    UpdateResult { status: UpdateStatus::Completed.into(), ..UpdateResult::default() }
}

fn one_done() -> Response<PointsOperationResponse> {
    Response::new(PointsOperationResponse { result: Some(done()), ..PointsOperationResponse::default() })
}

/// As much of a payload as was asked for.
fn shown(payload: &HashMap<String, Value>, selector: Option<&WithPayloadSelector>) -> HashMap<String, Value> {
    match selector.and_then(|selector| selector.selector_options.as_ref()) {
        Some(SelectorOptions::Enable(true)) => payload.clone(),
        Some(SelectorOptions::Include(include)) => {
            let wanted = payload.iter().filter(|(field, _)| include.fields.contains(field));
            wanted.map(|(field, value)| (field.clone(), value.clone())).collect()
        }
        _ => HashMap::new(),
    }
}

impl Services {
    /// Lets a request in, and does it with its collection.
    async fn with<T>(
        &self,
        method: &'static str,
        metadata: &MetadataMap,
        collection: &str,
        work: impl FnOnce(&mut Collection) -> Result<T, Status>,
    ) -> Result<T, Status> {
        self.0.enter(method, metadata).await?;
        self.0.kept(|collections| work(collections.get_mut(collection).ok_or_else(|| missing(collection))?))
    }
}

impl Collection {
    fn change(&mut self, operation: Operation) -> Result<(), Status> {
        match operation {
            Operation::Upsert(list) => self.upsert(list.points),
            Operation::SetPayload(set) => {
                for id in self.selected(set.points_selector.as_ref())? {
                    if let Some(point) = self.points.get_mut(&id) {
                        point.payload.extend(set.payload.clone());
                    }
                }
                Ok(())
            }
            Operation::DeletePoints(delete) => {
                for id in self.selected(delete.points.as_ref())? {
                    self.points.remove(&id);
                }
                Ok(())
            }
            Operation::DeleteVectors(delete) => {
                let names = delete.vectors.map(|vectors| vectors.names).unwrap_or_default();
                for id in self.selected(delete.points_selector.as_ref())? {
                    if let Some(point) = self.points.get_mut(&id) {
                        point.dense.retain(|name, _| !names.contains(name));
                        point.sparse.retain(|name, _| !names.contains(name));
                    }
                }
                Ok(())
            }
            Operation::UpdateVectors(update) => {
                for vectors in update.points {
                    let id = number(vectors.id.as_ref())?;
                    let gone = || Status::not_found(format!("Not found: No point with id {id} found"));
                    let mut point = self.points.get(&id).cloned().ok_or_else(gone)?;
                    self.set(&mut point, vectors.vectors.unwrap_or_default())?;
                    self.points.insert(id, point);
                }
                Ok(())
            }
            _ => Err(Status::unimplemented("a change that the server of tests does not know")),
        }
    }

    fn query(&self, request: &QueryPoints) -> Result<Vec<ScoredPoint>, Status> {
        let variant = request.query.as_ref().and_then(|query| query.variant.as_ref());
        let (Some(query::Variant::Nearest(nearest)), true) = (variant, request.prefetch.is_empty()) else {
            return Err(Status::unimplemented("a query that the server of tests does not know"));
        };
        let limit = request.limit.unwrap_or(10);
        if limit == 0 {
            return Err(Status::invalid_argument(
                "Validation error in body: [limit: value 0 invalid, must be 1 or larger]",
            ));
        }
        let vector = request.using.clone().unwrap_or_default();
        let mut scored: Vec<(f32, u64)> = Vec::new();
        for id in self.filtered(request.filter.as_ref())? {
            let Some(point) = self.points.get(&id) else { continue };
            match nearest.variant.as_ref() {
                Some(vector_input::Variant::Dense(dense)) => {
                    let wanted = self.normal(&vector, dense.data.clone())?;
                    let kept = point.dense.get(&vector);
                    scored
                        .extend(kept.map(|kept| (kept.iter().zip(&wanted).map(|(one, other)| one * other).sum(), id)));
                }
                Some(vector_input::Variant::Sparse(sparse)) => {
                    let wanted = self.checked_sparse(&vector, sparse.clone())?;
                    let kept = point.sparse.get(&vector).into_iter().flatten();
                    let products: Vec<f32> =
                        kept.filter_map(|(index, number)| Some(number * wanted.get(index)?)).collect();
                    // What shares nothing is not found.
                    scored.extend((!products.is_empty()).then(|| (products.iter().sum(), id)));
                }
                _ => return Err(Status::unimplemented("a vector that the server of tests does not know")),
            }
        }
        scored.sort_by(|one, other| other.0.total_cmp(&one.0).then(one.1.cmp(&other.1)));
        scored.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
        let point = |(score, id): (f32, u64)| ScoredPoint {
            id: Some(PointId::from(id)),
            payload: self
                .points
                .get(&id)
                .map(|point| shown(&point.payload, request.with_payload.as_ref()))
                .unwrap_or_default(),
            score,
            ..ScoredPoint::default()
        };
        Ok(scored.into_iter().map(point).collect())
    }

    fn retrieved(&self, id: u64, selector: Option<&WithPayloadSelector>) -> Option<RetrievedPoint> {
        let payload = shown(&self.points.get(&id)?.payload, selector);
        Some(RetrievedPoint { id: Some(PointId::from(id)), payload, ..RetrievedPoint::default() })
    }
}

#[tonic::async_trait]
impl Service for Services {
    async fn upsert(&self, request: Request<UpsertPoints>) -> Result<Response<PointsOperationResponse>, Status> {
        let (metadata, _, request) = request.into_parts();
        self.with("upsert", &metadata, &request.collection_name.clone(), |kept| kept.upsert(request.points)).await?;
        Ok(one_done())
    }

    async fn get(&self, request: Request<GetPoints>) -> Result<Response<GetResponse>, Status> {
        let (metadata, _, request) = request.into_parts();
        let get = |kept: &mut Collection| -> Result<Vec<RetrievedPoint>, Status> {
            let ids = request.ids.iter().map(|id| number(Some(id))).collect::<Result<Vec<_>, _>>()?;
            Ok(ids.into_iter().filter_map(|id| kept.retrieved(id, request.with_payload.as_ref())).collect())
        };
        let result = self.with("get", &metadata, &request.collection_name, get).await?;
        Ok(Response::new(GetResponse { result, ..GetResponse::default() }))
    }

    async fn create_field_index(
        &self,
        request: Request<CreateFieldIndexCollection>,
    ) -> Result<Response<PointsOperationResponse>, Status> {
        let (metadata, _, request) = request.into_parts();
        let index = |kept: &mut Collection| Ok(kept.indexed.insert(request.field_name));
        self.with("create_field_index", &metadata, &request.collection_name, index).await?;
        Ok(one_done())
    }

    async fn create_vector_name(
        &self,
        request: Request<CreateVectorNameRequest>,
    ) -> Result<Response<PointsOperationResponse>, Status> {
        let (metadata, _, request) = request.into_parts();
        let create = |kept: &mut Collection| {
            let Some(VectorConfig::DenseConfig(dense)) = request.vector_config else {
                return Err(Status::unimplemented("only dense vectors are added here"));
            };
            if kept.dense.contains_key(&request.vector_name) || kept.sparse.contains(&request.vector_name) {
                return Err(Status::invalid_argument("Wrong input: this vector exists already"));
            }
            let params = VectorParams { size: dense.size, distance: dense.distance, ..VectorParams::default() };
            kept.dense.insert(request.vector_name, params);
            Ok(())
        };
        self.with("create_vector_name", &metadata, &request.collection_name, create).await?;
        Ok(one_done())
    }

    async fn scroll(&self, request: Request<ScrollPoints>) -> Result<Response<ScrollResponse>, Status> {
        let (metadata, _, request) = request.into_parts();
        let scroll = |kept: &mut Collection| -> Result<ScrollResponse, Status> {
            if request.order_by.is_some() {
                return Err(Status::unimplemented("order_by is not known to the server of tests"));
            }
            let from = request.offset.as_ref().map(|offset| number(Some(offset))).transpose()?.unwrap_or(0);
            let mut ids = kept.filtered(request.filter.as_ref())?.into_iter().filter(|id| *id >= from);
            let page: Vec<u64> = ids.by_ref().take(request.limit.unwrap_or(10) as usize).collect();
            let shown = page.into_iter().filter_map(|id| kept.retrieved(id, request.with_payload.as_ref()));
            let result = shown.collect();
            Ok(ScrollResponse { result, next_page_offset: ids.next().map(PointId::from), ..ScrollResponse::default() })
        };
        Ok(Response::new(self.with("scroll", &metadata, &request.collection_name, scroll).await?))
    }

    async fn count(&self, request: Request<CountPoints>) -> Result<Response<CountResponse>, Status> {
        let (metadata, _, request) = request.into_parts();
        let count = |kept: &mut Collection| Ok(kept.filtered(request.filter.as_ref())?.len() as u64);
        let count = self.with("count", &metadata, &request.collection_name, count).await?;
        Ok(Response::new(CountResponse { result: Some(CountResult { count }), ..CountResponse::default() }))
    }

    async fn update_batch(&self, request: Request<UpdateBatchPoints>) -> Result<Response<UpdateBatchResponse>, Status> {
        let (metadata, _, request) = request.into_parts();
        let change = |kept: &mut Collection| -> Result<Vec<UpdateResult>, Status> {
            let operations = request.operations.into_iter().filter_map(|operation| operation.operation);
            operations.map(|operation| kept.change(operation).map(|()| done())).collect()
        };
        let result = self.with("update_batch", &metadata, &request.collection_name, change).await?;
        Ok(Response::new(UpdateBatchResponse { result, ..UpdateBatchResponse::default() }))
    }

    async fn query(&self, request: Request<QueryPoints>) -> Result<Response<QueryResponse>, Status> {
        let (metadata, _, request) = request.into_parts();
        let result = self.with("query", &metadata, &request.collection_name, |kept| kept.query(&request)).await?;
        Ok(Response::new(QueryResponse { result, ..QueryResponse::default() }))
    }

    refused! {
        delete DeletePoints PointsOperationResponse,
        update_vectors UpdatePointVectors PointsOperationResponse,
        delete_vectors DeletePointVectors PointsOperationResponse,
        set_payload SetPayloadPoints PointsOperationResponse,
        overwrite_payload SetPayloadPoints PointsOperationResponse,
        delete_payload DeletePayloadPoints PointsOperationResponse,
        clear_payload ClearPayloadPoints PointsOperationResponse,
        delete_field_index DeleteFieldIndexCollection PointsOperationResponse,
        delete_vector_name DeleteVectorNameRequest PointsOperationResponse,
        search SearchPoints SearchResponse,
        search_batch SearchBatchPoints SearchBatchResponse,
        search_groups SearchPointGroups SearchGroupsResponse,
        recommend RecommendPoints RecommendResponse,
        recommend_batch RecommendBatchPoints RecommendBatchResponse,
        recommend_groups RecommendPointGroups RecommendGroupsResponse,
        discover DiscoverPoints DiscoverResponse,
        discover_batch DiscoverBatchPoints DiscoverBatchResponse,
        query_batch QueryBatchPoints QueryBatchResponse,
        query_groups QueryPointGroups QueryGroupsResponse,
        facet FacetCounts FacetResponse,
        search_matrix_pairs SearchMatrixPoints SearchMatrixPairsResponse,
        search_matrix_offsets SearchMatrixPoints SearchMatrixOffsetsResponse,
    }
}
