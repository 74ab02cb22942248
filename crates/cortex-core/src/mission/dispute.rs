//! A mission that reopens another one: a person says that the other did not do what was asked.

use cortex_protocol::{MissionEvent, MissionId, MissionStatus, Origin, StepReport, Turn};
use serde::{Deserialize, Serialize};

use super::Mission;
use crate::chat::Message;
use crate::fragment::{Fragment, LEDGER_OUTPUTS};

/// Stands between a disputed task with its record and what a person says was not as it should be.
pub const DISPUTED: &str = "This task was carried out before, and a person says that it was not done as it should be. The record \
                        above is of that time; nothing of it counts as done now. Do what is still to be done, and look \
                        before you rely on anything of it.";

/// The mission that is reopened.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Reopened {
    /// Which.
    pub mission: MissionId,
    /// What was not as it should be, in the person's words.
    pub reason: String,
    /// Who says so.
    pub origin: Origin,
    /// What it said in the end.
    pub output: String,
    /// How it ended.
    pub status: MissionStatus,
    /// What it did.
    pub steps: Vec<StepReport>,
}

impl Mission {
    /// Says what is disputed, and gives the model the record and the person's words.
    pub(super) fn begin_reopened(&mut self) {
        let Some(reopened) = self.setup.reopens.clone() else { return };
        let Reopened { mission, reason, origin, output, status, steps } = reopened;
        self.report(MissionEvent::Disputed { mission, reason: reason.clone(), origin });
        let earlier = Turn { task: self.setup.task.clone(), is_cut: false, output, status };
        let fragments = vec![
            Fragment::Earlier { turns: vec![earlier] },
            Fragment::Ledger { steps, outputs: LEDGER_OUTPUTS },
            Fragment::Notice { text: DISPUTED.to_owned() },
            Fragment::Revision { text: reason.clone() },
        ];
        self.conversation.push(Message::User { fragments });
        self.revisions.add(reason, self.run.number());
        // It stands in the message above.
        self.revisions.take_new();
    }
}
