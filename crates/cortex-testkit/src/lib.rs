//! For tests only: models and tools that do exactly what a story needs, the bad things included.
//!
//! - [`ScriptedModel`]: a model in process;
//! - [`OpenAiServer`]: the same script behind a real HTTP port that speaks the OpenAI form;
//! - `qdrant`, with the feature of that name: a server of documents that speaks Qdrant's protocol;
//! - [`pdf`]: documents in PDF, sound and hostile;
//! - [`FakeTools`]: tools that work, fail, hang, panic or ignore their halt;
//! - `record_mission`, with the feature `recorded`: a mission on a tape, for tests of what reads tapes;
//! - [`FakeObservations`]: what their robot shows of itself;
//! - [`Domain`]: a ROS domain of its own for each story.

mod domain;
mod observations;
mod openai_request;
mod openai_server;
pub mod pdf;
#[cfg(feature = "qdrant")]
pub mod qdrant;
#[cfg(feature = "recorded")]
mod recorded_mission;
mod scripted_model;
mod tools;

pub use domain::{Domain, discovery_range};
pub use observations::FakeObservations;
pub use openai_server::{OpenAiServer, Served};
#[cfg(feature = "recorded")]
pub use recorded_mission::{record_mission, recorded_robot};
pub use scripted_model::{Line, ScriptedModel, calls, says};
pub use tools::{Behaviour, FakeTools, tool};
