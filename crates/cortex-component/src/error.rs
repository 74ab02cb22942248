//! Why a component could not be started.

use cortex_ros_client::RosError;
use thiserror::Error;

/// Why a component could not be started.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ComponentError {
    /// The author's description breaks the contract.
    #[error("the component '{component}' describes itself wrongly: {problem}")]
    Description {
        /// Which component.
        component: String,
        /// What is wrong and where.
        problem: String,
    },
    /// A parameter given on the command line or in a file does not fit its declaration.
    #[error("parameter '{name}' of the component '{component}': {problem}")]
    Parameter {
        /// Which component.
        component: String,
        /// Which parameter.
        name: String,
        /// What is wrong.
        problem: String,
    },
    /// ROS refuses.
    #[error(transparent)]
    Ros(#[from] RosError),
    /// The client library broke while the component was running.
    #[error("the ROS node of the component is gone")]
    Broken,
    /// The async runtime could not be started.
    #[error("the runtime could not be started: {0}")]
    Runtime(#[source] std::io::Error),
}
