//! Conversations without a memory: what was asked before and what came of it, so that "and now the other room" can be
//! understood. Kept for as long as Cortex runs.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use cortex_core::conversation_port::{ConversationError, ConversationKey, ConversationPort, MOST_TURNS, Speaker};
use cortex_core::conversation_port::{last_turns, turn};
use cortex_protocol::{MissionId, MissionResult, Turn};
use tokio::time::Instant;

/// Conversations that are kept; the one that was silent for longest makes room.
const CONVERSATIONS: usize = 64;

/// The conversations of this life of Cortex.
#[derive(Debug, Default)]
pub(crate) struct RecentConversations(Mutex<Recent>);

#[derive(Debug, Default)]
struct Recent {
    turns: BTreeMap<ConversationKey, VecDeque<(Turn, Instant)>>,
    /// The latest at the end.
    order: VecDeque<ConversationKey>,
    /// The tasks that have not ended.
    open: BTreeMap<MissionId, (ConversationKey, String)>,
}

impl RecentConversations {
    fn recent(&self) -> MutexGuard<'_, Recent> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl ConversationPort for RecentConversations {
    async fn begin(
        &self,
        mission: &MissionId,
        speaker: &Speaker,
        task: &str,
        timeout: Duration,
    ) -> Result<Vec<Turn>, ConversationError> {
        if speaker.session.is_none() {
            return Ok(Vec::new());
        }
        let key = speaker.conversation();
        let mut recent = self.recent();
        let turns = recent.turns.get(&key).into_iter().flatten();
        let in_time = turns.filter(|(_, ended)| ended.elapsed() <= timeout).map(|(turn, _)| turn.clone());
        let earlier = last_turns(in_time.collect());
        recent.open.insert(mission.clone(), (key, task.to_owned()));
        Ok(earlier)
    }

    fn end(&self, mission: &MissionId, result: &MissionResult) {
        let mut recent = self.recent();
        let Some((key, task)) = recent.open.remove(mission) else { return };
        let turns = recent.turns.entry(key.clone()).or_default();
        turns.push_back((turn(&task, result), Instant::now()));
        if turns.len() > MOST_TURNS {
            turns.pop_front();
        }
        recent.order.retain(|known| *known != key);
        recent.order.push_back(key);
        if recent.order.len() > CONVERSATIONS
            && let Some(oldest) = recent.order.pop_front()
        {
            recent.turns.remove(&oldest);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cortex_protocol::{MissionStatus, Origin, TaskClass, Usage};

    const HOUR: Duration = Duration::from_secs(3_600);

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

    fn speaker(session: &str) -> Speaker {
        Speaker { origin: Origin::new("ros", "task"), session: Some(session.into()) }
    }

    /// Asks, and says what was known of before.
    async fn ask(conversations: &RecentConversations, session: &str, task: &str, ends: &MissionResult) -> Vec<String> {
        let mission = MissionId::new(task);
        let earlier = conversations.begin(&mission, &speaker(session), task, HOUR).await.unwrap();
        conversations.end(&mission, ends);
        earlier.into_iter().map(|turn| turn.task).collect()
    }

    #[tokio::test(start_paused = true)]
    async fn a_conversation_remembers_its_last_tasks_and_no_other_ones() {
        let conversations = RecentConversations::default();
        for number in 0..20 {
            ask(&conversations, "mine", &format!("task {number}"), &result("done")).await;
        }
        assert_eq!(ask(&conversations, "yours", "another", &result("done")).await, Vec::<String>::new());
        let tasks = ask(&conversations, "mine", "and now", &result("done")).await;
        assert_eq!(tasks.len(), MOST_TURNS);
        assert_eq!(tasks.last().map(String::as_str), Some("task 19"));
    }

    #[tokio::test(start_paused = true)]
    async fn a_task_is_remembered_as_people_revised_it_and_for_so_long() {
        let conversations = RecentConversations::default();
        let revised = MissionResult { revisions: vec!["the other room".to_owned()], ..result("done") };
        ask(&conversations, "mine", "go to the kitchen", &revised).await;
        tokio::time::advance(HOUR).await;
        let tasks = ask(&conversations, "mine", "hello", &result("done")).await;
        assert_eq!(tasks, ["go to the kitchen Revised to: the other room"]);
        tokio::time::advance(Duration::from_secs(1)).await;
        assert_eq!(ask(&conversations, "mine", "again", &result("done")).await, ["hello"]);
    }

    #[tokio::test(start_paused = true)]
    async fn the_conversation_that_was_silent_for_longest_makes_room() {
        let conversations = RecentConversations::default();
        for number in 0..CONVERSATIONS {
            ask(&conversations, &number.to_string(), "task", &result("done")).await;
        }
        ask(&conversations, "0", "again", &result("done")).await;
        ask(&conversations, "new", "task", &result("done")).await;
        assert_eq!(ask(&conversations, "0", "and now", &result("done")).await.len(), 2);
        assert_eq!(ask(&conversations, "1", "and now", &result("done")).await, Vec::<String>::new());
        assert_eq!(conversations.recent().turns.len(), CONVERSATIONS);
    }
}
