//! The service of collections.

use std::collections::HashMap;

use qdrant_client::qdrant as api;
use qdrant_client::qdrant::collections_server::Collections as Service;
use qdrant_client::qdrant::{
    CollectionConfig, CollectionInfo, CollectionOperationResponse, CollectionParams, CreateCollection,
    DeleteCollection, GetCollectionInfoRequest, GetCollectionInfoResponse, PayloadSchemaInfo, SparseVectorConfig,
    SparseVectorParams, VectorParamsMap, VectorsConfig, vectors_config::Config,
};
use tonic::{Request, Response, Status};

use super::state::Collection;
use super::{Refused, Services, refused};

pub(super) fn missing(name: &str) -> Status {
    Status::not_found(format!("Not found: Collection `{name}` doesn't exist!"))
}

fn done() -> Response<CollectionOperationResponse> {
    Response::new(CollectionOperationResponse { result: true, time: 0.0 })
}

#[tonic::async_trait]
impl Service for Services {
    async fn get(
        &self,
        request: Request<GetCollectionInfoRequest>,
    ) -> Result<Response<GetCollectionInfoResponse>, Status> {
        self.0.enter("get_collection", request.metadata()).await?;
        let name = request.into_inner().collection_name;
        self.0.kept(|collections| {
            let collection = collections.get(&name).ok_or_else(|| missing(&name))?;
            let sparse = collection.sparse.iter().map(|name| (name.clone(), SparseVectorParams::default())).collect();
            let map = VectorParamsMap { map: collection.dense.clone() };
            let params = CollectionParams {
                vectors_config: Some(VectorsConfig { config: Some(Config::ParamsMap(map)) }),
                sparse_vectors_config: Some(SparseVectorConfig { map: sparse }),
                ..CollectionParams::default()
            };
            let schema: HashMap<String, PayloadSchemaInfo> =
                collection.indexed.iter().map(|field| (field.clone(), PayloadSchemaInfo::default())).collect();
            let config = CollectionConfig { params: Some(params), ..CollectionConfig::default() };
            let info = CollectionInfo { config: Some(config), payload_schema: schema, ..CollectionInfo::default() };
            Ok(Response::new(GetCollectionInfoResponse { result: Some(info), time: 0.0 }))
        })
    }

    async fn create(
        &self,
        request: Request<CreateCollection>,
    ) -> Result<Response<CollectionOperationResponse>, Status> {
        self.0.enter("create_collection", request.metadata()).await?;
        let CreateCollection { collection_name, vectors_config, sparse_vectors_config, .. } = request.into_inner();
        let dense = match vectors_config.and_then(|config| config.config) {
            Some(Config::Params(params)) => HashMap::from([(String::new(), params)]),
            Some(Config::ParamsMap(map)) => map.map,
            None => HashMap::new(),
        };
        let sparse = sparse_vectors_config.map(|config| config.map.into_keys().collect()).unwrap_or_default();
        self.0.kept(|collections| {
            if collections.contains_key(&collection_name) {
                let problem = format!("Wrong input: Collection `{collection_name}` already exists!");
                return Err(Status::already_exists(problem));
            }
            collections.insert(collection_name, Collection { dense, sparse, ..Collection::default() });
            Ok(done())
        })
    }

    async fn delete(
        &self,
        request: Request<DeleteCollection>,
    ) -> Result<Response<CollectionOperationResponse>, Status> {
        self.0.enter("delete_collection", request.metadata()).await?;
        let name = request.into_inner().collection_name;
        self.0.kept(|collections| collections.remove(&name));
        Ok(done())
    }

    refused! {
        list ListCollectionsRequest ListCollectionsResponse,
        update UpdateCollection CollectionOperationResponse,
        update_aliases ChangeAliases CollectionOperationResponse,
        list_collection_aliases ListCollectionAliasesRequest ListAliasesResponse,
        list_aliases ListAliasesRequest ListAliasesResponse,
        collection_cluster_info CollectionClusterInfoRequest CollectionClusterInfoResponse,
        collection_exists CollectionExistsRequest CollectionExistsResponse,
        update_collection_cluster_setup UpdateCollectionClusterSetupRequest UpdateCollectionClusterSetupResponse,
        create_shard_key CreateShardKeyRequest CreateShardKeyResponse,
        delete_shard_key DeleteShardKeyRequest DeleteShardKeyResponse,
        list_shard_keys ListShardKeysRequest ListShardKeysResponse,
    }
}
