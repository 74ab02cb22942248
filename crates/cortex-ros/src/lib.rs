//! The adapter between Cortex and a robot on ROS 2: finds what the robot can do, does it, and takes tasks over ROS.
//!
//! It implements the ports of `cortex-core` on top of `cortex-ros-client`, which owns nodes, endpoints and the graph. It
//! decides nothing about missions.
//!
//! - Begin with [`Discovery`], which finds the components, and [`RosTools`], which calls and inspects them;
//! - [`Catalog`] and [`Policy`]: what of a robot becomes a tool;
//! - [`monitoring`]: what shows whether components work, and what can be done to them;
//! - [`RobotViews`]: what people look at, as long as they look; [`TopicHistory`]: the latest messages of chosen topics;
//! - [`TopicFeed`]: every message of chosen topics, of any type, as JSON;
//! - [`meters`]: measures the way and the energy that the robot spends;
//! - [`task`] and [`TaskServer`]: take tasks over ROS; [`TaskClient`]: sends them;
//! - [`stop`]: the stop, on a thread of its own.
//!
//! A process ends in this order, or the exit handlers of the middleware crash: the task server, the stop, the discovery, the
//! endpoints, the graph watch, the node, the tools.

mod built_in;
mod calls;
mod catalog;
mod definitions;
mod directory;
mod discovery;
mod error;
mod following;
mod goals;
mod heartbeat;
mod inspection;
mod message_age;
pub mod meters;
pub mod monitoring;
mod node_log;
mod own_names;
pub mod robot_body;
mod robot_views;
mod shown_nodes;
mod statuses;
pub mod stop;
pub mod task;
mod task_client;
mod task_server;
mod tools;
mod topic_feed;
mod topic_history;
pub mod type_check;
mod type_loader;
mod watching;

pub use catalog::{Catalog, OfferKind, Uncallable};
pub use cortex_discovery_policy::{Policy, PolicyError, PolicySettings};
pub use directory::{Component, ComponentState, Directory};
pub use discovery::{DiscoveredTools, Discovery};
pub use error::AdapterError;
pub use heartbeat::HeardHealth;
pub use inspection::in_words as conditions_in_words;
pub use node_log::NodeLog;
pub use own_names::OWN_NAMES;
pub use robot_views::RobotViews;
pub use stop::{LatestStop, StopHandle, StopLatch, StopMemory, StopRecordError, StopServer, StopState, StopStore};
pub use task_client::{Canceller, SentTask, TaskClient};
pub use task_server::TaskServer;
pub use tools::{OpenCall, OpenCallKind, OpenCommand, RosTools};
pub use topic_feed::{HeardMessage, TopicFeed};
pub use topic_history::TopicHistory;
