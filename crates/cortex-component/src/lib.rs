//! What authors of Rust components for Cortex use. It stands on `cortex-ros-client`, and knows nothing of discovery or
//! missions; the client library beneath shows nowhere.
//!
//! A component is a ROS 2 node that says of itself what it can do. The author writes methods and, where something has
//! to be set up, hooks; this crate serves the contract (`docs/component-contract.md`), the standard lifecycle and
//! parameter services, and the heartbeat:
//!
//! ```no_run
//! use cortex_component::{CallContext, Component, Effect, Failure, Method, NoArguments};
//! use schemars::JsonSchema;
//! use serde::Deserialize;
//!
//! #[derive(Deserialize, JsonSchema)]
//! struct GoTo {
//!     /// Where to drive.
//!     place: String,
//! }
//!
//! fn main() -> std::process::ExitCode {
//!     Component::new("base")
//!         .summary("The wheels of the robot.")
//!         .method(
//!             Method::new("go_to", "Drives to a named room.")
//!                 .parameters::<GoTo>()
//!                 .effect(Effect::Move)
//!                 .cancelled_by("halt")
//!                 .phrase("go to {place}")
//!                 .run(|arguments, call: CallContext| async move {
//!                     call.or_cancelled(tokio::time::sleep(std::time::Duration::from_secs(3))).await?;
//!                     Ok(format!("arrived in the {}", arguments.place))
//!                 }),
//!         )
//!         .method(
//!             Method::new("halt", "Stops driving.")
//!                 .run(|_: NoArguments, _| async { Ok("at rest") }),
//!         )
//!         .run()
//! }
//! ```
//!
//! - [`component`]: the builder, and what it checks before anything starts;
//! - [`method`]: what a component can do;
//! - [`call`]: what a running method knows, and how it fails;
//! - [`context`]: what hooks get: publishers, subscriptions, services, parameters, health;
//! - [`messages`], [`QosProfile`]: the types of messages and services, and how they are delivered;
//! - [`Parameters`]: declared ROS parameters with types and ranges;
//! - [`health`]: what the component reports on `~/status`;
//! - [`lifecycle`]: the states of a managed node;
//! - [`log()`]: where what it logs goes, for programs with a `main` of their own;
//! - [`running`]: a component that was started.

pub mod call;
pub mod component;
pub mod context;
mod dispatcher;
mod error;
pub mod health;
pub mod lifecycle;
mod log;
pub mod method;
pub mod running;
mod schema;
mod slot;

pub use call::{CallContext, Failure};
pub use component::Component;
pub use context::{ComponentContext, Latest, Received};
pub use cortex_protocol::condition::{Source, Test};
pub use cortex_protocol::{Condition, Effect, ToolPhase};
/// Takes the ROS arguments out of a command line, for programs with arguments of their own.
pub use cortex_ros_client::arguments as ros_arguments;
pub use cortex_ros_client::logging::flush as flush_log;
pub use cortex_ros_client::messages;
pub use cortex_ros_client::parameters::{Parameter, ParameterValue, Parameters};
pub use cortex_ros_client::{Publisher, QosProfile, RosError, ServiceClient, TypedMessage, TypedService};
pub use cortex_ros_client::{announce_often, exit_process};
pub use error::ComponentError;
pub use health::{Health, HealthReporter};
pub use lifecycle::State;
pub use log::log;
pub use method::{Method, NoArguments};
pub use running::RunningComponent;
pub use schema::schema_of;
pub use slot::Slot;
