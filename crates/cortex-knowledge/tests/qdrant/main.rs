//! The store on a server of Qdrant: the suite of all stores, and what can go wrong with a server. The server is one of tests, or for
//! the suite the one that `CORTEX_QDRANT_URL` names, with the key in `CORTEX_QDRANT_API_KEY`.
#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    reason = "a test fails by panicking"
)]

#[path = "../conformance/mod.rs"]
mod conformance;
mod hostile_server;
mod same_ranking;
mod shared_collection;
mod troubled_server;

use cortex_knowledge::{QdrantSettings, QdrantStore, QdrantTimeouts};
use cortex_testkit::qdrant::Server;
use qdrant_client::qdrant::DeleteCollection;
use qdrant_client::qdrant::collections_client::CollectionsClient;
use secrecy::{ExposeSecret as _, SecretString};
use tonic::metadata::MetadataValue;
use tonic::transport::Endpoint;

/// Runs a test of the suite on a collection of its own.
macro_rules! conforms {
    ($($name:ident),* $(,)?) => {$(
        #[tokio::test]
        async fn $name() {
            let place = Place::new().await;
            conformance::$name(&place.store).await;
            place.clear().await;
        }
    )*};
}

conforms!(
    finds_the_passage_that_answers,
    says_how_little_a_passage_fits,
    adding_is_idempotent_by_content,
    what_is_removed_is_not_found,
    only_documents_with_the_wanted_metadata_are_found,
    all_of_a_batch_is_kept_or_nothing,
    hostile_texts_are_texts,
    as_many_are_found_as_are_wanted,
    what_has_vectors_is_found_by_them,
    vectors_of_two_models_are_not_mixed,
    a_vector_stays_with_the_words_it_was_computed_of,
    a_long_document_is_kept_whole,
    of_two_with_one_id_the_last_one_counts,
    words_and_meaning_find_together,
);

/// A collection that nobody else has.
struct Place {
    store: QdrantStore,
    settings: QdrantSettings,
    /// None: it is somebody else's.
    _server: Option<Server>,
}

impl Place {
    async fn new() -> Self {
        let (server, url, key) = match std::env::var("CORTEX_QDRANT_URL") {
            Ok(url) => (None, url, std::env::var("CORTEX_QDRANT_API_KEY").ok().map(SecretString::from)),
            Err(_) => {
                let server = Server::start(None).await.expect("a server");
                let url = server.url();
                (Some(server), url, None)
            }
        };
        let collection = format!("cortex-test-{}", uuid::Uuid::new_v4());
        let settings = QdrantSettings { key, ..settings(&url, &collection, "robbie") };
        let store = QdrantStore::open(settings.clone()).expect("a client");
        Self { store, settings, _server: server }
    }

    /// Leaves nothing behind on a server of somebody else.
    async fn clear(self) {
        let endpoint = Endpoint::from_shared(self.settings.server.clone()).expect("an address");
        let mut collections = CollectionsClient::new(endpoint.connect().await.expect("a connection"));
        let gone = DeleteCollection { collection_name: self.settings.collection, ..DeleteCollection::default() };
        let mut request = tonic::Request::new(gone);
        if let Some(key) = &self.settings.key {
            let key: MetadataValue<_> = key.expose_secret().parse().expect("a key");
            request.metadata_mut().insert("api-key", key);
        }
        collections.delete(request).await.expect("it is removed");
    }
}

fn settings(server: &str, collection: &str, robot: &str) -> QdrantSettings {
    let text = str::to_owned;
    QdrantSettings {
        server: text(server),
        collection: text(collection),
        robot: text(robot),
        key: None,
        timeouts: QdrantTimeouts::default(),
    }
}

/// The documents of a robot on a server of tests, in the collection `house`.
fn store_of(server: &Server, robot: &str) -> QdrantStore {
    QdrantStore::open(settings(&server.url(), "house", robot)).expect("a client")
}
