//! The conversations of a robot with a memory: they go on after a restart, and people can ask for them.
//!
//! Ends are written down in the order in which they came, before the next task of any conversation begins. Nobody who must
//! not wait waits for the disk.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use cortex_core::conversation_port::{ConversationError, ConversationKey, ConversationPort, Speaker, turn};
use cortex_protocol::{MissionId, MissionResult, Turn};
use tokio::task::JoinSet;

use crate::error::MemoryError;
use crate::exchange::{Exchange, ExchangeQuery};
use crate::interaction::is_person;
use crate::memory::Memory;
use crate::sqlite::{ExchangeEnd, Store};
use crate::time::wall_ms;

/// Most ends that wait for the disk. Of one that finds no room it stays unknown what came of the task.
const MOST_WAITING: usize = 64;
/// Most conversations of which it is known that something is missing.
const MOST_GAPS: usize = 1_000;

/// Keeps conversations in a memory. Clones share what goes on.
#[derive(Clone)]
pub struct Conversations {
    memory: Memory,
    under_way: Arc<UnderWay>,
}

impl fmt::Debug for Conversations {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Conversations").finish_non_exhaustive()
    }
}

#[derive(Default)]
struct UnderWay {
    /// The tasks that were begun: the number of the exchange, and whose it is.
    open: Mutex<BTreeMap<MissionId, (u64, ConversationKey)>>,
    /// What has ended and is not written down.
    ended: Mutex<VecDeque<(MissionId, ExchangeEnd, u64)>>,
    /// Conversations whose last task could not be written down: nobody goes on with the one before it.
    gaps: Mutex<BTreeSet<ConversationKey>>,
    /// Held while something is written down.
    order: Mutex<()>,
    /// What writes it down.
    writers: Mutex<JoinSet<()>>,
}

impl Conversations {
    /// The conversations of this memory.
    #[must_use]
    pub fn new(memory: Memory) -> Self {
        Self { memory, under_way: Arc::default() }
    }

    /// Waits until all that has ended is written down.
    ///
    /// # Errors
    /// When the file can't be written.
    pub async fn settle(&self) -> Result<(), MemoryError> {
        let mut writers = std::mem::take(&mut *locked(&self.under_way.writers));
        while writers.join_next().await.is_some() {}
        self.write_down().await
    }

    async fn write_down(&self) -> Result<(), MemoryError> {
        let under_way = Arc::clone(&self.under_way);
        self.memory
            .ask(move |store| {
                let _order = locked(&under_way.order);
                under_way.write_down(store)
            })
            .await
    }

    /// What was asked in the conversation of a task under way, before it, between two times in milliseconds since 1970; the
    /// last first, at most so many. None: nothing is kept of the task.
    ///
    /// # Errors
    /// When the file can't be read.
    pub(crate) async fn before(
        &self,
        mission: &MissionId,
        (from_ms, until_ms): (u64, Option<u64>),
        most: usize,
    ) -> Result<Option<Vec<Exchange>>, MemoryError> {
        let Some((number, conversation)) = locked(&self.under_way.open).get(mission).cloned() else { return Ok(None) };
        let query = ExchangeQuery { conversation: Some(conversation), session: None, from_ms, until_ms };
        let mut kept = self.memory.exchanges(query, most + 1).await?;
        kept.retain(|exchange| exchange.began.sequence < number);
        kept.truncate(most);
        Ok(Some(kept))
    }
}

impl UnderWay {
    fn write_down(&self, store: &Store) -> Result<(), MemoryError> {
        loop {
            // Not held while it is written.
            let next = locked(&self.ended).pop_front();
            let Some((mission, end, ended_ms)) = next else { return Ok(()) };
            let Some((number, _)) = locked(&self.open).remove(&mission) else { continue };
            store.end_exchange(number, &end, ended_ms)?;
        }
    }

    /// Begins an exchange, and tells what was before it.
    fn begin(
        &self,
        store: &Store,
        mission: MissionId,
        conversation: ConversationKey,
        task: &str,
        timeout: Duration,
    ) -> Result<Vec<Turn>, MemoryError> {
        let _order = locked(&self.order);
        // The task whose end can't be written down stays one of which it is not known what came of it.
        self.write_down(store).unwrap_or_else(|problem| unwritten(&problem));
        let now_ms = wall_ms();
        let number = match store.begin_exchange(&conversation, task, now_ms) {
            Ok(number) => number,
            // Nothing is ever kept under such a name.
            Err(problem @ MemoryError::BadRequest(_)) => return Err(problem),
            Err(problem) => {
                let mut gaps = locked(&self.gaps);
                if gaps.len() < MOST_GAPS {
                    gaps.insert(conversation);
                }
                return Err(problem);
            }
        };
        let mut open = locked(&self.open);
        // Of a task that was given up before it was written down, the end has come already.
        if open.len() >= MOST_WAITING {
            open.pop_first();
        }
        open.insert(mission, (number, conversation.clone()));
        drop(open);
        // The one that is missing was the last one.
        if conversation.session.is_empty() || locked(&self.gaps).remove(&conversation) {
            return Ok(Vec::new());
        }
        store.turns_before(&conversation, number, timeout, now_ms)
    }
}

#[async_trait]
impl ConversationPort for Conversations {
    async fn begin(
        &self,
        mission: &MissionId,
        speaker: &Speaker,
        task: &str,
        timeout: Duration,
    ) -> Result<Vec<Turn>, ConversationError> {
        // What events and other systems ask by themselves is no conversation.
        if speaker.session.is_none() && !is_person(&speaker.origin) {
            return Ok(Vec::new());
        }
        let (under_way, mission) = (Arc::clone(&self.under_way), mission.clone());
        let (conversation, task) = (speaker.conversation(), task.to_owned());
        let begun = self.memory.ask(move |store| under_way.begin(store, mission, conversation, &task, timeout)).await;
        begun.map_err(|problem| ConversationError(problem.to_string()))
    }

    fn end(&self, mission: &MissionId, result: &MissionResult) {
        let Turn { output, status, .. } = turn("", result);
        let end = ExchangeEnd { revisions: result.revisions.clone(), output, status };
        let mut ended = locked(&self.under_way.ended);
        if ended.len() >= MOST_WAITING
            && let Some((lost, ..)) = ended.pop_front()
        {
            locked(&self.under_way.open).remove(&lost);
        }
        ended.push_back((mission.clone(), end, wall_ms()));
        drop(ended);
        let conversations = self.clone();
        let mut writers = locked(&self.under_way.writers);
        while writers.try_join_next().is_some() {}
        writers.spawn(async move {
            conversations.write_down().await.unwrap_or_else(|problem| unwritten(&problem));
        });
    }
}

fn unwritten(problem: &MemoryError) {
    tracing::warn!("what came of a task is not kept in its conversation: {problem}");
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
