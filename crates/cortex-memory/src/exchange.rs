//! What people asked in conversations, and what came of it.

use cortex_core::conversation_port::ConversationKey;
use cortex_core::fragment::quoted;
use cortex_protocol::{MissionStatus, Turn};

use crate::time::{Stamp, rfc3339};

/// Most characters of a text in a sentence.
const SHOWN_CHARACTERS: usize = 300;
/// What is told of a task whose end nobody wrote down.
const UNKNOWN_END: &str = "What came of it is not known: Cortex ended meanwhile, or could not write it down.";

/// A task of a conversation, and what came of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exchange {
    /// Whose.
    pub conversation: ConversationKey,
    /// The task, as people revised it.
    pub task: String,
    /// Whether some of its words are missing: it was long, or something in it was forgotten.
    pub is_cut: bool,
    /// What was said and done in the end.
    pub output: String,
    /// How it ended. None: it goes on, or nobody wrote down how it ended.
    pub status: Option<MissionStatus>,
    /// When it began.
    pub began: Stamp,
    /// When it ended, in milliseconds since 1970. None: it did not, or nobody wrote it down.
    pub ended_ms: Option<u64>,
}

impl Exchange {
    /// As the next task of the conversation is told of it. One of which nobody knows how it ended counts as failed: nothing is
    /// repeated by it.
    pub(crate) fn turn(self) -> Turn {
        let (status, output) = match self.status {
            Some(status) => (status, self.output),
            None => (MissionStatus::Failed, UNKNOWN_END.to_owned()),
        };
        Turn { task: self.task, is_cut: self.is_cut, output, status }
    }

    /// A line that says when what was asked, and what came of it. What people and models said stands between quotation marks.
    #[must_use]
    pub fn line(&self) -> String {
        let asked = format!("{} {}", rfc3339(self.began.wall_ms), quoted(&self.task, SHOWN_CHARACTERS));
        match self.status {
            Some(status) => format!("{asked}: {status}: {}", quoted(&self.output, SHOWN_CHARACTERS)),
            None => format!("{asked}: {UNKNOWN_END}"),
        }
    }
}

/// Which exchanges are wanted, the last first.
#[derive(Debug, Clone, Default)]
pub struct ExchangeQuery {
    /// Of which conversation. None: of all.
    pub conversation: Option<ConversationKey>,
    /// Of sessions with this name, whoever's. None: of all.
    pub session: Option<String>,
    /// Not before this time, in milliseconds since 1970.
    pub from_ms: u64,
    /// Before this time. None: without an end.
    pub until_ms: Option<u64>,
}
