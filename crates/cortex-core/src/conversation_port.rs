//! The port through which a task learns what was asked before it in the same conversation, and what came of that.
//!
//! What was said before is data: it is told as over and done, and approves nothing.

use std::fmt;
use std::time::Duration;

use async_trait::async_trait;
use cortex_protocol::{MissionId, MissionResult, Origin, SessionId, Turn};
use thiserror::Error;

use crate::fragment::capped;

/// Most tasks of a conversation that the next one is told of: those that a person still refers to.
pub const MOST_TURNS: usize = 8;
/// Most bytes of their words.
pub const MOST_TURN_BYTES: usize = 8_000;
/// Most characters of a task that are kept. Of a longer one the beginning is kept, and nothing is repeated by it.
const TASK_CHARACTERS: usize = 2_000;
/// Most characters of what was said in the end.
const SAID_CHARACTERS: usize = 500;
/// Most characters of what was done.
const DONE_CHARACTERS: usize = 1_000;

/// Who asks, and in which conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Speaker {
    /// By which entrance, and which client on it.
    pub origin: Origin,
    /// The conversation. None: the task continues none.
    pub session: Option<SessionId>,
}

/// The names that a [`Speaker`]'s conversation is kept under: those of two people differ, as far as their entrance tells them
/// apart, also where they name their sessions alike.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct ConversationKey {
    /// The entrance.
    pub channel: String,
    /// The client on it.
    pub client: String,
    /// What tells its users apart. May be empty.
    pub user: String,
    /// The session. Empty: tasks that continue nothing.
    pub session: String,
}

impl Speaker {
    /// The conversation of this speaker.
    #[must_use]
    pub fn conversation(&self) -> ConversationKey {
        ConversationKey {
            channel: self.origin.channel.clone(),
            client: self.origin.client.clone(),
            user: self.origin.user_id_hash.clone(),
            session: self.session.as_ref().map(|session| session.as_str().to_owned()).unwrap_or_default(),
        }
    }
}

/// Why it is not known what was said before, in words for the log.
#[derive(Debug, Error)]
#[error("{0}")]
pub struct ConversationError(pub String);

/// Keeps what was asked in conversations, and what came of it.
#[async_trait]
pub trait ConversationPort: fmt::Debug + Send + Sync + 'static {
    /// A task of a conversation begins: what was asked before it, the oldest first, in at most [`MOST_TURNS`] turns and
    /// [`MOST_TURN_BYTES`], as far as it ended within `timeout`. A task of which it is not known what came of it is among
    /// them as one that failed. Dropping the future must be safe.
    ///
    /// # Errors
    /// Why that is not known. The task is then told of nothing that was before it.
    async fn begin(
        &self,
        mission: &MissionId,
        speaker: &Speaker,
        task: &str,
        timeout: Duration,
    ) -> Result<Vec<Turn>, ConversationError>;

    /// A task has ended. Never waits; whoever [begins](Self::begin) later is told of it. Of a task that was not begun here,
    /// nothing is kept.
    fn end(&self, mission: &MissionId, result: &MissionResult);
}

/// A task and what came of it, as the next task of its conversation is told of it.
#[must_use]
pub fn turn(task: &str, result: &MissionResult) -> Turn {
    // What was done in the end is what the revisions say.
    let task = std::iter::once(task).chain(result.revisions.iter().map(String::as_str));
    let task = task.collect::<Vec<_>>().join(" Revised to: ");
    // What was done is told whatever the model said besides.
    let (said, done) = (capped(result.words(), SAID_CHARACTERS), capped(&result.account, DONE_CHARACTERS));
    let output = format!("{said}\n{done}").trim_end().to_owned();
    let (task, is_cut) = shortened(&task);
    Turn { task, is_cut, output, status: result.status }
}

/// A task as it is kept, and whether something of it was left out.
#[must_use]
pub fn shortened(task: &str) -> (String, bool) {
    (capped(task, TASK_CHARACTERS), task.chars().nth(TASK_CHARACTERS).is_some())
}

/// The last of these turns that have room.
#[must_use]
pub fn last_turns(mut turns: Vec<Turn>) -> Vec<Turn> {
    let mut bytes = 0;
    let has_room = |turn: &&Turn| {
        bytes += turn.task.len() + turn.output.len();
        bytes <= MOST_TURN_BYTES
    };
    let kept = turns.iter().rev().take(MOST_TURNS).take_while(has_room).count();
    turns.split_off(turns.len() - kept)
}

#[cfg(test)]
mod tests {
    use cortex_protocol::MissionStatus;

    use super::*;

    fn turn_of(task: &str) -> Turn {
        Turn { task: task.to_owned(), is_cut: false, output: String::new(), status: MissionStatus::Succeeded }
    }

    #[test]
    fn the_last_turns_are_kept_within_their_bounds() {
        let turns: Vec<Turn> = (0..20).map(|number| turn_of(&number.to_string())).collect();
        let kept: Vec<String> = last_turns(turns).into_iter().map(|turn| turn.task).collect();
        assert_eq!(kept, ["12", "13", "14", "15", "16", "17", "18", "19"]);
        let long = "x".repeat(MOST_TURN_BYTES / 2);
        assert_eq!(last_turns(vec![turn_of("first"), turn_of(&long), turn_of(&long)]).len(), 2);
        assert_eq!(last_turns(vec![turn_of("first"), turn_of(&"x".repeat(9_000))]), []);
    }

    #[test]
    fn a_task_that_is_too_long_is_known_to_be_cut() {
        assert_eq!(shortened("go to the kitchen"), ("go to the kitchen".to_owned(), false));
        let (kept, is_cut) = shortened(&"go ".repeat(1_000));
        assert!(is_cut && kept.ends_with("[... 1000 characters left out]"), "{kept}");
    }

    #[test]
    fn two_people_have_two_conversations_however_they_name_them() {
        let speaker = |user: &str| {
            let origin = Origin { user_id_hash: user.to_owned(), ..Origin::new("web", "the tablet") };
            Speaker { origin, session: Some("kitchen".into()) }
        };
        assert_eq!(speaker("a").conversation(), speaker("a").conversation());
        assert_ne!(speaker("a").conversation(), speaker("b").conversation());
    }
}
