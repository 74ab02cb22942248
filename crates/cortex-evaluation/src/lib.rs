//! The questions of recorded missions, asked anew of another model, with other rules or other settings.
//!
//! A tape holds each request to the model, and all that the mission machine was given between them. The machine is run again on
//! it ([`cortex_runtime::tape::Rerun`]); where it got a reply, the other model is asked the same, and a clone of the machine
//! shows what would have followed ([`Consequence`]): that is compared with what followed then. The machine itself gets the
//! recorded reply, so that each question is one that came up. What a clone wants done is read and dropped: nothing acts, and no
//! robot is needed.
//!
//! - [`tapes`]: which recordings are meant by a path or the beginning of an id;
//! - [`Candidate`]: a model to be tried, and [`Variation`]: what is asked otherwise than recorded;
//! - [`evaluate`]: all recordings, one candidate; [`MissionScore`] and [`ModelScore`]: what came of it;
//! - [`table`]: scores for people.
//!
//! `docs/evaluation.md` says what each figure means.

mod candidate;
mod consequence;
mod evaluate;
mod mission_score;
mod model_score;
pub mod table;
pub mod tapes;

pub use candidate::{Candidate, Variation};
pub use consequence::{Consequence, RefusedReply, consequence};
pub use evaluate::evaluate;
pub use mission_score::{Divergence, MissionScore, RecordedMission, Refusal};
pub use model_score::ModelScore;
pub use tapes::{Recording, TapesError, recordings, replay_model};
