//! What a mission is asked to do: when it begins, and by revisions while it runs.

use cortex_core::mission::{Reopened, RevisionProblem};
use cortex_protocol::{Control, MissionId, Origin, SessionId, ToolCall, Turn};
use thiserror::Error;
use tokio::sync::oneshot;

/// What kind of work a mission does.
pub(crate) enum Work {
    /// A task, which the model plans.
    Task,
    /// A task anew whose mission a person disputes.
    Reopened(Box<Reopened>),
    /// One call that a person makes.
    ByHand {
        /// Which.
        call: Box<ToolCall>,
        /// The controls, where the person holds them: it runs beside the missions, as long as they stay as they are.
        held: Option<Control>,
    },
}

impl Work {
    /// The controls under which it runs beside the missions, if it does.
    pub(crate) fn held(&self) -> Option<&Control> {
        match self {
            Self::ByHand { held, .. } => held.as_ref(),
            Self::Task | Self::Reopened(_) => None,
        }
    }
}

/// What a mission is for.
pub(crate) struct Request {
    pub(crate) id: MissionId,
    pub(crate) task: String,
    pub(crate) session: Option<SessionId>,
    /// The earlier tasks of the same conversation.
    pub(crate) earlier: Vec<Turn>,
    pub(crate) work: Work,
}

/// What a person says to the mission that runs, and who waits for the answer.
pub(crate) struct Revision {
    pub(crate) text: String,
    pub(crate) origin: Origin,
    pub(crate) reply: oneshot::Sender<Result<MissionId, RevisionRefusal>>,
}

/// Why a revision was not taken.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum RevisionRefusal {
    /// No mission runs, or not this one.
    #[error("{}", not_running(.mission.as_ref()))]
    NotRunning {
        /// The one that was meant. None: the one that runs.
        mission: Option<MissionId>,
    },
    /// It waits for others.
    #[error("the task {mission} has not begun; cancel it and send another")]
    Waiting {
        /// Which.
        mission: MissionId,
    },
    /// Revisions come faster than they can be taken.
    #[error("many revisions are under way; wait for their answers")]
    Busy,
    /// The mission does not take it.
    #[error("{reason}")]
    Refused {
        /// Why.
        reason: RevisionProblem,
    },
    /// Cortex is going down.
    #[error("Cortex is shutting down")]
    ShuttingDown,
}

fn not_running(mission: Option<&MissionId>) -> String {
    match mission {
        Some(mission) => format!("no task {mission} runs"),
        None => "no task runs".to_owned(),
    }
}

impl Revision {
    pub(crate) fn refuse(self, refusal: RevisionRefusal) {
        // Whoever asked may have left.
        let _ = self.reply.send(Err(refusal));
    }
}
