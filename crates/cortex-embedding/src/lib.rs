//! Texts as vectors: what means nearly the same lies near to one another, whatever its words. [`LocalEmbedder`] computes them
//! in this process, from the files of a sentence-embedding model such as all-MiniLM-L6-v2; no network, no GPU.
//!
//! - `bert`: the network itself, after Devlin et al., "BERT" (2019);
//! - `local`: its files, the tokenizer, and the mean over the tokens, after Reimers and Gurevych, "Sentence-BERT" (2019).
//!
//! Without the feature `local` nothing of it is built, and no model can be opened.

#[cfg(feature = "local")]
mod bert;
#[cfg_attr(not(feature = "local"), path = "local_left_out.rs")]
mod local;

pub use local::{LocalEmbedder, OpenError};
