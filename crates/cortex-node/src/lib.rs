//! Cortex as a running node: the side of it that clients, lifecycle managers and the process that started it deal with.
//!
//! This crate owns the port for clients with what the robot can do at that moment ([`Agent`]), the port for those that show
//! the robot to people, on whichever runtime they are ([`Operators`]), the managed lifecycle and the
//! parameters that may change while Cortex runs ([`management`]), the watchdog over the loops of the process, its log, and
//! what is kept for an incident ([`IncidentKeeper`]), what feeds the robot's memory ([`OpenMemory`]), and what counts
//! how well its skills work, and learns new ones ([`SkillKeeper`]).
//! It does not own missions (`cortex-core`, `cortex-runtime`), services and topics (`cortex-ros`), nor the order in which
//! all is started and ended (`crates/cortex-on-ros/src/run.rs`).
//!
//! Begin with [`Management`](management::Management), then [`Agent`]; [`SelfWatch`] has the watchdog, the overview and the
//! metrics together.

mod agent;
mod identity;
mod incident;
pub mod logging;
pub mod management;
mod operators;
mod remembering;
mod self_watch;
mod skill_keeper;
mod watchdog;

pub use agent::Agent;
pub use identity::IdentitySource;
pub use incident::IncidentKeeper;
pub use operators::Operators;
pub use remembering::{OpenMemory, Remembering};
pub use self_watch::{SelfWatch, Watched};
pub use skill_keeper::SkillKeeper;
