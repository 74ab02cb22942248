//! The models that Cortex can ask: implementations of [`cortex_core::ChatModel`].
//!
//! - `OpenAiModel` (feature `openai`): any OpenAI-compatible endpoint (OpenAI, Ollama, vLLM, llama.cpp), with bounded time,
//!   retries and reply size;
//! - [`LocalModel`]: a model in a file on the robot, in a process of its own;
//! - [`Reflex`]: the embedded command reader; no model, no network, and no more than it says; [`CommandReader`]: what it makes of
//!   sentences;
//! - [`Wordings`]: what people have told the command reader that their words mean, in a [`WordingFile`];
//! - [`ReplayModel`]: what was replied to the same request in a recording;
//! - [`ModelChoice`]: how a person names one of them, and [`build`]: the model of that name;
//! - [`trial`]: what a model can do of what Cortex needs, and [`offered`]: which models an endpoint has;
//! - [`ShadowChoice`]: a second model that plans along without acting;
//! - [`ModelSet`]: several of them, and [`build_set`]: the chain of these, each asked when those before it can't be.
//!
//! The environment is read in one place only, [`api_key_from_environment`]; everything else comes in as values.

mod build;
mod chain;
mod choice;
mod local;
mod local_settings;
#[cfg(feature = "openai")]
mod openai;
mod reflex;
mod repetition_loop;
mod replay;
mod settings;
mod shadow;
mod shadow_planner;
mod trial;
mod wordings;

pub use build::{ModelSet, ShadowChoice, build, build_set, offered, read_along};
pub use chain::ChainBounds;
pub use choice::{ChoiceError, ModelChoice, OPENAI_BASE_URL};
pub use local::LocalModel;
pub use local_settings::LocalSettings;
#[cfg(feature = "openai")]
pub use openai::OpenAiModel;
pub use reflex::{CommandReader, Reflex};
pub use replay::{RecordedReply, ReplayModel};
pub use settings::{
    API_KEY_VARIABLE, ApiKey, BuildError, ModelSettings, Streaming, Structured, api_key_from_environment,
};
pub use shadow_planner::ShadowBounds;
pub use trial::{CallsTools, SeesPictures, Trial, trial};
pub use wordings::{BadLine, Lesson, MAX_WORDINGS, Wording, WordingFile, Wordings, WordingsError};
