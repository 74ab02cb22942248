//! Whether the robot takes tasks: one answer for who hands in a task, and for who asks beforehand.

use std::fmt;

use cortex_protocol::ToolName;
use thiserror::Error;

/// Why a task was not taken.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Rejection {
    /// The task is longer than tasks may be. Nothing of it is kept.
    #[error("the task has {bytes} bytes; at most {most} are taken. Say it shorter, or in several tasks")]
    TooLong {
        /// How long it is.
        bytes: usize,
        /// How long it may be.
        most: usize,
    },
    /// Another task runs, and none may wait.
    #[error("another task is running, and this robot takes one at a time. Send it again later, or cancel the other")]
    Busy,
    /// The queue is full.
    #[error("{waiting} tasks are waiting already, the most that may. Send it again later")]
    QueueFull {
        /// How many wait.
        waiting: usize,
    },
    /// A person wants to run a tool beside a mission.
    #[error(
        "a mission runs or waits, and a tool is run by hand only where none does. End the mission, or wait for its end"
    )]
    MissionRuns,
    /// The person who holds the controls wants to run a tool beside another one.
    #[error("another tool still runs by hand, and one runs at a time. End it, or wait for its end")]
    ByHandRuns,
    /// A person wants to run a tool while all missions are paused.
    #[error("nothing is begun now: {because}")]
    Paused {
        /// Why.
        because: String,
    },
    /// The robot was stopped.
    #[error("the robot is stopped. When it is safe, run `cortex resume` (or call ~/resume), then send the task again")]
    Stopped,
    /// The robot was stopped, and Cortex was started again since.
    #[error(
        "the robot was stopped before it was restarted ({why}); when it is safe, run `cortex resume` (or call ~/resume), then \
         send the task again"
    )]
    StoppedEarlier {
        /// Why it was stopped.
        why: String,
    },
    /// Cortex is there, but not at work: it was deactivated, or not activated yet.
    #[error("Cortex is not active: {because}")]
    Inactive {
        /// Why, and what to do.
        because: String,
    },
    /// Cortex is going down.
    #[error("Cortex is shutting down")]
    ShuttingDown,
}

/// Whether the robot takes tasks now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Readiness {
    /// It does.
    Ready,
    /// It does, and some calls are refused.
    Limited {
        /// What did not confirm that it is at rest: nothing is called that could collide with it.
        unsettled: Vec<ToolName>,
    },
    /// It does, and they wait.
    Waiting {
        /// Why.
        because: String,
    },
    /// It does not: whoever hands in a task is refused with this.
    Refusing(Rejection),
}

impl Readiness {
    /// The same with what keeps some of the calls back, where nothing worse is known.
    pub(crate) fn limited_by(self, unsettled: Vec<ToolName>) -> Self {
        match self {
            Self::Ready if !unsettled.is_empty() => Self::Limited { unsettled },
            other => other,
        }
    }
}

impl fmt::Display for Readiness {
    /// Why it is not ready, and what to do; nothing where it is.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ready => Ok(()),
            Self::Limited { unsettled } => write!(
                formatter,
                "{} did not confirm that it is at rest, and nothing is called that could collide with it. Look at the \
                 robot; when it is safe, run `cortex resume` (or call ~/resume)",
                listed(unsettled)
            ),
            Self::Waiting { because } => formatter.write_str(because),
            Self::Refusing(rejection) => rejection.fmt(formatter),
        }
    }
}

pub(crate) fn listed(tools: &[ToolName]) -> String {
    tools.iter().map(ToolName::as_str).collect::<Vec<_>>().join(", ")
}
