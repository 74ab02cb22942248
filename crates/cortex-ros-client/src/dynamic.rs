//! Services, actions and topics of any type that is installed, without having been compiled for it.
//!
//! ```no_run
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! use std::time::Duration;
//!
//! use cortex_interfaces::{Interfaces, Message, ReadOptions, WriteOptions};
//! use cortex_ros_client::GraphWatch;
//! use cortex_ros_client::dynamic::Endpoints;
//!
//! let graph = GraphWatch::start("/me")?;
//! let endpoints = Endpoints::start(&graph)?;
//! let interface = Interfaces::from_environment().service("std_srvs/srv/SetBool")?;
//! let client = endpoints.service_client("/lamp/switch", &interface).await?;
//! client.wait_for_server(Duration::from_secs(5)).await?;
//! let request = Message::from_json_str(&interface.request, r#"{"data": true}"#, &ReadOptions::exact())?;
//! let answer = client.call(&request, Duration::from_secs(5)).await?;
//! println!("{}", answer.view().to_json(&WriteOptions::exact()).value);
//! endpoints.shut_down();
//! graph.shut_down();
//! # Ok(())
//! # }
//! ```
//!
//! [`Endpoints`] has one thread that waits for all of them at once, and looks into those that say little. Requests are sent by whoever makes them. An endpoint
//! is destroyed when its last handle is dropped.
//!
//! The name of a type does not say that a server was built from the same definition of it: see
//! [`Endpoints::check_service`].

mod action_client;
mod answers;
mod beginning;
mod cancelling;
mod definition;
mod endpoint_executor;
mod endpoints;
mod glance;
mod goal;
mod goal_tracking;
pub mod lifecycle;
mod listening;
mod orphaned_goals;
pub mod parameters;
mod polled_subscription;
mod publisher;
mod service_client;
mod service_request;
mod subscription;
mod turns;

pub use action_client::ActionClient;
pub use cancelling::Asked;
pub use endpoints::Endpoints;
pub use glance::Glance;
pub use goal::{Acceptance, CancelAnswer, Goal, GoalId, GoalResult, GoalState};
pub use listening::Listening;
pub use orphaned_goals::EarlierGoal;
pub use publisher::Publisher;
pub use service_client::Servers;
pub use service_client::ServiceClient;
pub use service_request::PreparedRequest;
pub use subscription::Subscription;
pub use turns::{Turn, Turns};
