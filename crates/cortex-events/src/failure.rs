//! Why an event could not do something.

use std::time::Duration;

use cortex_ros::monitoring::actions::ActionError;
use cortex_runtime::Rejection;
use thiserror::Error;

/// Why something that an event wants was not done. In words for people.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub(crate) enum EventFailure {
    /// The robot was stopped meanwhile.
    #[error("the robot was stopped")]
    Stopped,
    /// The event names no component to restart.
    #[error("no component is named")]
    NoComponent,
    /// The recipe has no such component.
    #[error("there is no such component")]
    UnknownComponent,
    /// The action needs something that has left the robot.
    #[error("what it needs is not on the robot now")]
    NotThere,
    /// A call has failed, as its outcome says.
    #[error("{0}")]
    Call(String),
    /// A task has failed, as its result says.
    #[error("{0}")]
    Task(String),
    /// A task was not taken.
    #[error("{0}.")]
    NotTaken(Rejection),
    /// Cortex ends.
    #[error("Cortex is shutting down.")]
    ShuttingDown,
    /// A halt has failed.
    #[error("{0}")]
    NotHalted(#[from] ActionError),
    /// The monitor has given the component up.
    #[error("it does not come up: {reason}")]
    GivenUp {
        /// In the words of the monitor.
        reason: String,
    },
    /// The monitor has ended.
    #[error("the monitor has ended")]
    NoMonitor,
    /// It takes longer than the recipe gives it.
    #[error("it was not up again after {} s", .limit.as_secs())]
    NotUp {
        /// How long that is.
        limit: Duration,
    },
}
