//! A language model in a file (GGUF), in a process of its own: the death of the model is not the death of Cortex.
//!
//! The program `cortex-local-model` loads one file and answers one request after another. This library has what both sides
//! need, and links no engine:
//!
//! - [`protocol`]: the lines that the two processes exchange;
//! - [`shape`]: which texts are a reply, as the JSON Schema of which the engine makes a grammar;
//! - [`gguf`]: whether a file can be loaded, and what it is.

pub mod gguf;
pub mod protocol;
pub mod shape;
