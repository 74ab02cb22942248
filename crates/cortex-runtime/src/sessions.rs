//! Conversations: what was asked before and what came of it, so that "and now the other room" can be understood.
//!
//! Kept in memory, for as long as Cortex runs.

use std::collections::{BTreeMap, VecDeque};

use cortex_core::fragment::capped;
use cortex_protocol::{MissionResult, SessionId, Turn};

/// Conversations that are kept; the one that was silent for longest makes room.
const SESSIONS: usize = 64;
/// Tasks of one conversation that are kept: what a person still refers to.
const TURNS: usize = 8;
/// Most characters of what was said in the end.
const SAID: usize = 500;

/// The conversations.
#[derive(Debug, Default)]
pub(crate) struct Sessions {
    turns: BTreeMap<SessionId, VecDeque<Turn>>,
    /// The latest at the end.
    order: VecDeque<SessionId>,
}

impl Sessions {
    /// The earlier tasks of a conversation, oldest first.
    pub(crate) fn earlier(&self, session: &SessionId) -> Vec<Turn> {
        self.turns.get(session).into_iter().flatten().cloned().collect()
    }

    /// A task of a conversation has ended.
    pub(crate) fn ended(&mut self, session: &SessionId, task: String, result: &MissionResult) {
        // What was done in the end is what the revisions say.
        let task = std::iter::once(task.as_str()).chain(result.revisions.iter().map(String::as_str));
        let task = task.collect::<Vec<_>>().join(" Revised to: ");
        let turns = self.turns.entry(session.clone()).or_default();
        // What was done is told whatever the model said besides.
        let output = format!("{}\n{}", capped(result.words(), SAID), result.account);
        turns.push_back(Turn { task, output: output.trim_end().to_owned(), status: result.status });
        if turns.len() > TURNS {
            turns.pop_front();
        }
        self.order.retain(|known| known != session);
        self.order.push_back(session.clone());
        if self.order.len() > SESSIONS
            && let Some(oldest) = self.order.pop_front()
        {
            self.turns.remove(&oldest);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cortex_protocol::{MissionStatus, TaskClass, Usage};
    use std::time::Duration;

    fn result(output: &str) -> MissionResult {
        MissionResult {
            status: MissionStatus::Answered,
            class: TaskClass::QuestionAboutWorld,
            output: output.to_owned(),
            account: String::new(),
            words_alone: false,
            steps: Vec::new(),
            execution: cortex_protocol::execution::ExecutionReport::default(),
            revisions: Vec::new(),
            not_stopped: Vec::new(),
            usage: Usage::default(),
            duration: Duration::ZERO,
        }
    }

    #[test]
    fn a_conversation_remembers_its_last_tasks_and_no_other_ones() {
        let mut sessions = Sessions::default();
        for number in 0..20 {
            sessions.ended(&"mine".into(), format!("task {number}"), &result("done"));
        }
        sessions.ended(&"yours".into(), "another".to_owned(), &result("done"));
        let tasks: Vec<String> = sessions.earlier(&"mine".into()).into_iter().map(|turn| turn.task).collect();
        assert_eq!(tasks.len(), TURNS);
        assert_eq!(tasks.last().map(String::as_str), Some("task 19"));
        assert_eq!(sessions.earlier(&"nobody".into()), []);
    }

    #[test]
    fn a_task_is_remembered_as_people_revised_it() {
        let mut sessions = Sessions::default();
        let revised = MissionResult { revisions: vec!["the other room".to_owned()], ..result("done") };
        sessions.ended(&"mine".into(), "go to the kitchen".to_owned(), &revised);
        let turns = sessions.earlier(&"mine".into());
        assert_eq!(turns[0].task, "go to the kitchen Revised to: the other room");
    }

    #[test]
    fn the_conversation_that_was_silent_for_longest_makes_room() {
        let mut sessions = Sessions::default();
        for number in 0..SESSIONS {
            sessions.ended(&format!("{number}").as_str().into(), "task".to_owned(), &result("done"));
        }
        sessions.ended(&"0".into(), "again".to_owned(), &result("done"));
        sessions.ended(&"new".into(), "task".to_owned(), &result("done"));
        assert_eq!(sessions.earlier(&"0".into()).len(), 2);
        assert_eq!(sessions.earlier(&"1".into()), []);
        assert_eq!(sessions.turns.len(), SESSIONS);
    }
}
