//! What clients ask for, carried out: one vocabulary for every entrance, and one kind of error.

use cortex_core::control;
use cortex_protocol::{Command, CommandError, CommandErrorKind, CommandOutcome, Principal, Submission, ToolCall};

use crate::{AnswerRefusal, ByHandRefusal, DisputeRefusal, Rejection, RevisionRefusal, Runtime};

impl Runtime {
    /// Carries out a command of a client, if its role allows that.
    ///
    /// # Errors
    /// Why it was not carried out. Nothing has changed then; but after a stop that failed nothing is known.
    pub async fn execute(&self, command: Command, principal: Principal) -> Result<CommandOutcome, CommandError> {
        principal.may(&command)?;
        control::check(&self.control(), &command, &principal)?;
        let origin = principal.origin.clone();
        Ok(match command {
            Command::Submit { task, session } => {
                let ticket = self.submit(Submission { task, session, origin }).await?;
                CommandOutcome::Submitted { mission: ticket.id }
            }
            Command::Cancel { mission } => {
                if !self.cancel(mission.clone()).await {
                    let reason = format!("no task {mission} runs or waits.");
                    return Err(CommandError::new(CommandErrorKind::NotFound, reason));
                }
                CommandOutcome::Cancelled { mission }
            }
            Command::Revise { mission, text } => {
                CommandOutcome::Revised { mission: self.revise(mission, text, origin).await? }
            }
            Command::Answer { question, answer } => {
                self.answer(question.clone(), answer, origin).await?;
                CommandOutcome::Answered { question }
            }
            Command::Dispute { mission, reason } => {
                CommandOutcome::Reopened { mission: self.dispute(mission, reason, origin).await? }
            }
            Command::CallTool { tool, arguments } => {
                let mission = self.run_by_hand(ToolCall { tool, arguments }, &principal).await?;
                CommandOutcome::Submitted { mission }
            }
            Command::Stop => CommandOutcome::Stopped(self.stop().await.map_err(|_| {
                let reason = "NOT STOPPED: Cortex is shutting down or has failed, and can't say what still moves.";
                CommandError::new(CommandErrorKind::Unavailable, reason)
            })?),
            Command::Resume => CommandOutcome::Resumed { was_stopped: self.resume().await },
            Command::Pause | Command::Unpause | Command::TakeOver | Command::HandBack => {
                CommandOutcome::Control(self.change_control(&command, &principal)?)
            }
            other => {
                let reason = format!("this Cortex does not know the command {other:?}.");
                return Err(CommandError::new(CommandErrorKind::Invalid, reason));
            }
        })
    }
}

/// A refusal in its own words, as a sentence.
fn refused(kind: CommandErrorKind, refusal: &impl std::fmt::Display) -> CommandError {
    CommandError::new(kind, format!("{refusal}."))
}

impl From<Rejection> for CommandError {
    fn from(rejection: Rejection) -> Self {
        let kind = match rejection {
            Rejection::TooLong { .. } => CommandErrorKind::Invalid,
            Rejection::Busy | Rejection::QueueFull { .. } => CommandErrorKind::Busy,
            Rejection::Stopped
            | Rejection::StoppedEarlier { .. }
            | Rejection::Inactive { .. }
            | Rejection::MissionRuns
            | Rejection::ByHandRuns
            | Rejection::Paused { .. } => CommandErrorKind::Refused,
            Rejection::ShuttingDown => CommandErrorKind::Unavailable,
        };
        refused(kind, &rejection)
    }
}

impl From<ByHandRefusal> for CommandError {
    fn from(refusal: ByHandRefusal) -> Self {
        let kind = match refusal {
            ByHandRefusal::Unknown { .. } => CommandErrorKind::NotFound,
            ByHandRefusal::Unfit { .. } | ByHandRefusal::Placeholder => CommandErrorKind::Invalid,
            ByHandRefusal::KeptBack { .. } | ByHandRefusal::Denied { .. } => CommandErrorKind::Refused,
            ByHandRefusal::Rejected(rejection) => return rejection.into(),
        };
        refused(kind, &refusal)
    }
}

impl From<RevisionRefusal> for CommandError {
    fn from(refusal: RevisionRefusal) -> Self {
        let kind = match refusal {
            RevisionRefusal::NotRunning { .. } => CommandErrorKind::NotFound,
            RevisionRefusal::Waiting { .. } | RevisionRefusal::Refused { .. } => CommandErrorKind::Refused,
            RevisionRefusal::Busy => CommandErrorKind::Busy,
            RevisionRefusal::ShuttingDown => CommandErrorKind::Unavailable,
        };
        refused(kind, &refusal)
    }
}

impl From<AnswerRefusal> for CommandError {
    fn from(refusal: AnswerRefusal) -> Self {
        let kind = match refusal {
            AnswerRefusal::Unknown { .. } => CommandErrorKind::NotFound,
            AnswerRefusal::TooLong { .. } => CommandErrorKind::Invalid,
            AnswerRefusal::Ended { .. } | AnswerRefusal::Refused { .. } => CommandErrorKind::Refused,
            AnswerRefusal::Busy => CommandErrorKind::Busy,
        };
        refused(kind, &refusal)
    }
}

impl From<DisputeRefusal> for CommandError {
    fn from(refusal: DisputeRefusal) -> Self {
        let kind = match refusal {
            DisputeRefusal::Unknown { .. } => CommandErrorKind::NotFound,
            DisputeRefusal::Empty | DisputeRefusal::TooLong { .. } => CommandErrorKind::Invalid,
            DisputeRefusal::Running { .. } => CommandErrorKind::Refused,
            DisputeRefusal::Rejected(rejection) => {
                return Self {
                    reason: format!("{}.", DisputeRefusal::Rejected(rejection.clone())),
                    ..rejection.into()
                };
            }
            DisputeRefusal::Unrecorded { .. } => CommandErrorKind::Unavailable,
        };
        refused(kind, &refusal)
    }
}
