//! Texts as vectors: what means nearly the same lies near to one another.
//!
//! - `rounded`: vectors as they are kept;
//! - `fusion`: what was found by its words and what was found by its meaning, as one ranking.

mod fusion;
mod rounded;

use async_trait::async_trait;
use thiserror::Error;

pub use fusion::{Ranked, fused};
pub use rounded::RoundedVector;

/// Why there are no vectors, for people.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{0}")]
pub struct EmbedError(pub String);

/// Computes vectors of texts.
#[async_trait]
pub trait Embedder: Send + Sync + 'static {
    /// Which model: vectors of two models can't be compared. Another one where its weights are others.
    fn model(&self) -> &str;

    /// A vector of length 1 for each text, in their order; all have the same dimension. Dropping the future must be safe.
    ///
    /// # Errors
    /// Why there are none.
    async fn embed(&self, texts: Vec<String>) -> Result<Vec<Vec<f32>>, EmbedError>;
}

/// How alike two texts are of which these are the vectors: their cosine, from -1 to 1. 0 where they are of different models.
#[must_use]
pub fn likeness(one: &[f32], other: &[f32]) -> f64 {
    if one.len() != other.len() {
        return 0.0;
    }
    one.iter().zip(other).map(|(one, other)| f64::from(*one) * f64::from(*other)).sum()
}
