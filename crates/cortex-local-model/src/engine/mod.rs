//! What computes: llama.cpp, or nothing where this program was built without it.

#[cfg(not(feature = "llama"))]
mod absent;
#[cfg(feature = "llama")]
mod llama;

#[cfg(not(feature = "llama"))]
pub(crate) use absent::{DESCRIPTION, Engine};
#[cfg(feature = "llama")]
pub(crate) use llama::{DESCRIPTION, Engine};
