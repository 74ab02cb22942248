//! The only crate of Cortex that links ROS.
//!
//! - [`node`]: the one ROS node of a process, on a thread of its own; [`parameters`] and [`lifecycle`]: what it declares
//!   and the states that it is driven through; [`clock`]: its time; [`serving`]: its services;
//! - [`graph`]: the ROS graph as plain data; [`graph_watch`]: keeps it up to date;
//! - [`dynamic`]: services, actions and topics of any type, parameters of any node;
//! - [`meters`]: measures the way and the energy that the robot spends;
//! - [`monitoring`]: what shows whether components work, and what can be done to them;
//! - [`Discovery`]: finds the components; [`RosTools`]: calls and inspects them;
//! - [`Instances`]: which Cortex this is, among those of its name;
//! - [`task`] and [`TaskServer`]: take tasks over ROS; [`TaskClient`]: sends them;
//! - [`stop`]: the stop, on a thread of its own.
//!
//! A process ends in this order, or the exit handlers of the middleware crash: the task server, the stop, the discovery, the
//! endpoints, the graph watch, the node, the tools.

mod announcements;
pub mod arguments;
mod beats;
mod built_in;
mod calls;
mod catalog;
pub mod clock;
mod definitions;
mod directory;
mod discovery;
pub mod dynamic;
mod error;
mod goals;
pub mod graph;
mod graph_reader;
mod graph_source;
pub mod graph_watch;
mod heartbeat;
mod inspection;
mod instance;
mod json_topic;
pub mod lifecycle;
mod look_up;
pub mod meters;
pub mod monitoring;
pub mod node;
pub mod parameters;
mod policy;
pub mod publisher;
#[expect(unsafe_code, reason = "r2r keeps these calls of the client library private")]
mod rcl;
mod service;
pub mod serving;
mod statuses;
pub mod stop;
pub mod task;
mod task_client;
mod task_server;
#[cfg(feature = "testing")]
pub mod testing;
mod text;
mod tools;
pub mod type_check;
mod type_loader;
mod watching;

pub use announcements::announce_often;
pub use beats::Beats;
pub use catalog::{Catalog, OfferKind, Uncallable};
pub use clock::RosClock;
/// How messages of a type are written, for [`PolicySettings::conventions`].
pub use cortex_interfaces::Convention;
/// The types that are installed, for [`Discovery::start`].
pub use cortex_interfaces::Interfaces;
pub use directory::{Component, ComponentState, Directory};
pub use discovery::{DiscoveredTools, Discovery};
pub use error::RosError;
pub use graph_watch::GraphWatch;
pub use heartbeat::HeardHealth;
pub use instance::{Instance, Instances, Roll};
pub use json_topic::{JsonTopic, LatchedText};
pub use node::RosNode;
pub use policy::{Policy, PolicyError, PolicySettings};
pub use publisher::Publisher;
/// The generated message types and the client library, for crates that build on this one.
pub use r2r;
pub use rcl::ending::{exit_at_once, leave};
pub use service::ServiceClient;
pub use stop::{OpenDeed, StopHandle, StopLatch, StopMemory, StopRecordError, StopServer, StopStore};
pub use task_client::{Canceller, SentTask, TaskClient};
pub use task_server::TaskServer;
pub use tools::{OpenCall, OpenCallKind, RosTools};
