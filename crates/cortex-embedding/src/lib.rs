//! Texts as vectors: what means nearly the same lies near to one another, whatever its words. [`LocalEmbedder`] computes them
//! in this process, from the files of a sentence-embedding model such as all-MiniLM-L6-v2; no network, no GPU.
//! [`EndpointEmbedder`] has them computed by a model behind an OpenAI-compatible endpoint, which is sent the texts.
//!
//! - `bert`: the network itself, after Devlin et al., "BERT" (2019);
//! - `local`: its files, the tokenizer, and the mean over the tokens, after Reimers and Gurevych, "Sentence-BERT" (2019);
//! - `endpoint`: requests to an endpoint, and `reply`: what of its replies can be used.
//!
//! Without the feature `local` no model can be opened, and without `endpoint` none can be asked.

#[cfg(feature = "local")]
mod bert;
#[cfg_attr(not(feature = "endpoint"), path = "endpoint_left_out.rs")]
mod endpoint;
mod endpoint_settings;
#[cfg_attr(not(feature = "local"), path = "local_left_out.rs")]
mod local;
#[cfg(feature = "endpoint")]
mod reply;

pub use endpoint::EndpointEmbedder;
pub use endpoint_settings::{EndpointError, EndpointSettings};
pub use local::{LocalEmbedder, OpenError};
