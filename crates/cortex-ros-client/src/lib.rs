//! A ROS 2 client library for tokio, on top of `r2r`: nodes, the graph, typed endpoints, and endpoints of any type.
//!
//! It owns every thread and every unsafe call that ROS needs, and [`RosError`]. It knows nothing of missions, tools or
//! components: those are in `cortex-ros`.
//!
//! - Begin with [`node`], the one ROS node of a process, on a thread of its own, and [`dynamic`], services, actions and
//!   topics of any type, and parameters of any node;
//! - [`parameters`] and [`lifecycle`]: what a node declares, and the states that it is driven through; [`clock`]: its time;
//! - [`Names`]: what the remap rules of the process make of the names of its node;
//! - [`Publisher`], [`ServiceClient`], [`serving`]: endpoints of types that were compiled in, such as [`messages`];
//! - [`logging`]: the log of the process, on standard error, on `/rosout` and in the folder of ROS' logs;
//! - [`rosout`]: the log of all nodes; [`raw_topics`]: messages as they are on the wire;
//! - [`graph`] and [`graph_watch`]: the ROS graph as plain data, kept up to date;
//! - [`Instances`]: which process this is, among those whose nodes have one name;
//! - `leave`: the last thing that a `main` does, which ends its endpoints, then the graph watch, then the node, or the
//!   exit handlers of the middleware crash.

pub mod clock;
mod dds_discovery_profile;
pub mod dynamic;
mod error;
pub mod graph;
mod graph_reader;
mod graph_source;
pub mod graph_watch;
mod hung_threads;
mod instance;
mod json_topic;
pub mod lifecycle;
mod liveness_counter;
pub mod load_interface;
pub mod logging;
pub mod messages;
mod names;
pub mod node;
pub mod parameters;
pub mod publisher;
pub mod qos;
pub mod raw_topics;
#[expect(unsafe_code, reason = "r2r keeps these calls of the client library private")]
pub mod rcl;
pub mod rosout;
mod service;
pub mod serving;
#[cfg(feature = "testing")]
pub mod testing;
pub mod text;
mod typed;

pub use clock::RosClock;
pub use cortex_ros_syntax::arguments;
pub use dds_discovery_profile::{announce_often, are_frequent as announces_often};
pub use error::{ClientError, RosError};
pub use graph_watch::GraphWatch;
pub use instance::{Instance, Instances, Roll, ServedNames};
pub use json_topic::{JsonTopic, LatchedText};
pub use liveness_counter::LivenessCounter;
pub use names::{Names, OwnName, Renamed};
pub use node::RosNode;
pub use publisher::Publisher;
pub use qos::QosProfile;
/// The client library beneath, for what this crate does not cover.
pub use r2r;
pub use rcl::ending::{exit_at_once, exit_process};
pub use service::ServiceClient;
pub use typed::{TypedMessage, TypedService};
