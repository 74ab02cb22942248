//! How a model behind an endpoint is reached.

use std::time::Duration;

use secrecy::SecretString;
use thiserror::Error;

/// Which model, and where.
#[derive(Debug, Clone)]
pub struct EndpointSettings {
    /// The base of the endpoint, such as `http://localhost:11434/v1`, without a slash at the end.
    pub base_url: String,
    /// The model's name there.
    pub model: String,
    /// Numbers of its vectors. What is read of a reply is bounded by it.
    pub dimension: usize,
    /// The key, where the endpoint wants one.
    pub key: Option<SecretString>,
    /// For one request, from the connection to the last byte of the reply.
    pub timeout: Duration,
}

/// Why a model behind an endpoint can't be used.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum EndpointError {
    /// No header can carry the key.
    #[error(
        "the key of {base_url} holds something that no header can carry; look at the place that [keys] names for it"
    )]
    UnusableKey {
        /// The endpoint.
        base_url: String,
    },
    /// There is no client for HTTP.
    #[error("no connection to {base_url} can be prepared: {problem}")]
    HttpClient {
        /// The endpoint.
        base_url: String,
        /// Why.
        problem: String,
    },
    /// This program has none.
    #[error(
        "{base_url} can't be asked: this Cortex was built without models behind endpoints; build it with the feature `openai`, \
         or use embedding.folder"
    )]
    LeftOut {
        /// The endpoint.
        base_url: String,
    },
}
