//! What a mission is asked to do: when it begins, and by revisions while it runs.

use std::time::Duration;

use cortex_core::Speaker;
use cortex_core::mission::{Reopened, RevisionProblem};
use cortex_protocol::{Control, MissionId, Origin, SessionId, ToolCall, Turn};
use thiserror::Error;
use tokio::sync::oneshot;

use crate::config::RuntimeConfig;

/// How long a task waits for what was asked before it. Of a disk that does not hang it takes milliseconds.
const EARLIER_LIMIT: Duration = Duration::from_secs(10);

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
        held: Option<Box<Control>>,
    },
}

impl Work {
    /// The controls under which it runs beside the missions, if it does.
    pub(crate) fn held(&self) -> Option<&Control> {
        match self {
            Self::ByHand { held, .. } => held.as_deref(),
            Self::Task | Self::Reopened(_) => None,
        }
    }
}

/// What a mission is for.
pub(crate) struct Request {
    pub(crate) id: MissionId,
    pub(crate) task: String,
    pub(crate) session: Option<SessionId>,
    pub(crate) work: Work,
}

impl Request {
    /// What was asked before in its conversation, and notes that it begins. Where that can't be known in time, it begins
    /// without.
    pub(crate) async fn earlier(&self, config: &RuntimeConfig, origin: &Origin) -> Vec<Turn> {
        if !matches!(self.work, Work::Task) {
            // A call is no part of a conversation; a task that is done anew knows what it was, and may be that of somebody else.
            return Vec::new();
        }
        let speaker = Speaker { origin: origin.clone(), session: self.session.clone() };
        let begins = config.conversations.begin(&self.id, &speaker, &self.task, config.session_timeout);
        let why = match tokio::time::timeout(EARLIER_LIMIT, begins).await {
            Ok(Ok(earlier)) => return earlier,
            Ok(Err(problem)) => problem.to_string(),
            Err(_) => format!("no answer within {} s", EARLIER_LIMIT.as_secs()),
        };
        tracing::warn!("{} begins without what was asked before in its conversation: {why}", self.id);
        Vec::new()
    }
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
