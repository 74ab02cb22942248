//! What can go wrong at the boundary to ROS.

use std::time::Duration;

use thiserror::Error;

/// An error of the ROS boundary.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum RosError {
    /// The ROS arguments of the process (`--ros-args ...`) can't be used.
    #[error("the ROS arguments can't be used: {problem}")]
    Arguments {
        /// What is wrong with them.
        problem: String,
    },
    /// ROS 2 could not be initialised.
    #[error("ROS 2 could not be initialised: {problem}")]
    Initialisation {
        /// What the client library says.
        problem: String,
    },
    /// The ROS thread has ended.
    #[error("the ROS node was shut down")]
    ShutDown,
    /// A call of the client library failed.
    #[error("ROS 2: {0}")]
    Client(#[source] ClientError),
    /// A graph query of the client library failed.
    #[error("the ROS graph can't be read: {problem}")]
    Graph {
        /// What the client library says.
        problem: String,
    },
    /// The operating system refused a thread.
    #[error("the ROS thread could not be started: {0}")]
    Thread(#[source] std::io::Error),
    /// More of something than is ever needed: a graph out of control, or one that wants to exhaust this process.
    #[error("more than {limit} {what} were asked for; no more are made")]
    TooMany {
        /// Of what.
        what: &'static str,
        /// The most that are made.
        limit: usize,
    },
    /// No node offers the service.
    #[error("nothing offers {service} (waited {:.1} s)", .waited.as_secs_f64())]
    NoServer {
        /// Its fully qualified name.
        service: String,
        /// For how long it was waited for.
        waited: Duration,
    },
    /// The service is there but does not answer.
    #[error("{service} did not answer within {:.1} s", .waited.as_secs_f64())]
    NoAnswer {
        /// Its fully qualified name.
        service: String,
        /// For how long it was waited.
        waited: Duration,
    },
    /// The client library can't make or use an endpoint.
    #[error("{name}: {problem}")]
    Endpoint {
        /// The service or topic.
        name: String,
        /// What the client library says.
        problem: String,
    },
    /// A message is of another type than what it was to be sent to.
    #[error("{name} takes {expected}, not {found}")]
    WrongType {
        /// The service, action or topic.
        name: String,
        /// The type that it takes.
        expected: String,
        /// The type of the message.
        found: String,
    },
    /// Another process was built from another definition of a type.
    #[error("on the robot, {name} has another definition of {interface} than the one that is installed here")]
    OtherDefinition {
        /// The service, action or topic.
        name: String,
        /// The type.
        interface: String,
    },
    /// An interface that the client library itself is made of can't be loaded.
    #[error(transparent)]
    Interface(#[from] cortex_interfaces::InterfaceError),
    /// Nobody reads the topic.
    #[error("nothing reads {topic} (waited {:.1} s)", .waited.as_secs_f64())]
    NoReader {
        /// Its fully qualified name.
        topic: String,
        /// For how long it was waited for one.
        waited: Duration,
    },
    /// A server answered what no server may.
    #[error("{name} answered nonsense: {problem}")]
    Nonsense {
        /// The service, action or node.
        name: String,
        /// What is wrong with it.
        problem: String,
    },
    /// An action's server refused the goal.
    #[error("{action} rejected the goal")]
    Rejected {
        /// The fully qualified name of the action.
        action: String,
    },
    /// A goal was cancelled before it was sent.
    #[error("the goal was cancelled before it was sent to {action}")]
    Withdrawn {
        /// The fully qualified name of the action.
        action: String,
    },
    /// The server of an action is gone, or another run of it came that does not know the goal.
    #[error("the server of {action} was lost before it sent a result; whether the goal goes on is not known")]
    ServerLost {
        /// The fully qualified name of the action.
        action: String,
    },
}

/// What the client library says of a call that failed.
#[derive(Debug, Error)]
#[error(transparent)]
pub struct ClientError(r2r::Error);

impl From<r2r::Error> for RosError {
    fn from(error: r2r::Error) -> Self {
        Self::Client(ClientError(error))
    }
}
