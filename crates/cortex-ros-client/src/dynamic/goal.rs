//! One goal of an action.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use cortex_interfaces::{Message, MessageView, ReadOptions};
use serde_json::{Value, json};
use tokio::sync::{OwnedSemaphorePermit, watch};
use tokio::task::AbortHandle;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use super::ActionClient;
use super::beginning::Begin;
use super::cancelling::{Asked, Asks, Wish, cancel};
use super::goal_tracking::{Failure, carry};
use crate::RosError;

/// The id of a goal. Shown with hyphens.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct GoalId(pub(super) Uuid);

impl GoalId {
    /// The id that is this one.
    #[must_use]
    pub fn new(id: Uuid) -> Self {
        Self(id)
    }

    pub(super) fn random() -> Self {
        Self(Uuid::new_v4())
    }

    /// The id that a `unique_identifier_msgs/msg/UUID` holds.
    pub(super) fn of(view: MessageView<'_>) -> Option<Self> {
        view.bytes("uuid").and_then(|bytes| Uuid::from_slice(bytes).ok()).map(Self)
    }

    /// As exact JSON of a `unique_identifier_msgs/msg/UUID`.
    pub(super) fn as_json(self) -> Value {
        json!({ "uuid": self.0.as_bytes() })
    }
}

impl fmt::Display for GoalId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.as_hyphenated().fmt(formatter)
    }
}

impl fmt::Debug for GoalId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, formatter)
    }
}

/// What a server says of a goal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GoalState {
    /// Nothing, so far.
    Unknown,
    /// It will be carried out.
    Accepted,
    /// It is carried out.
    Executing,
    /// It is being given up.
    Canceling,
    /// It was reached.
    Succeeded,
    /// It was given up because somebody wanted that.
    Canceled,
    /// The server gave it up.
    Aborted,
}

impl GoalState {
    /// By the numbers of `action_msgs/msg/GoalStatus`.
    pub(super) fn of(status: i128) -> Option<Self> {
        Some(match status {
            0 => Self::Unknown,
            1 => Self::Accepted,
            2 => Self::Executing,
            3 => Self::Canceling,
            4 => Self::Succeeded,
            5 => Self::Canceled,
            6 => Self::Aborted,
            _ => return None,
        })
    }

    /// Whether nothing comes after it.
    #[must_use]
    pub fn is_final(self) -> bool {
        matches!(self, Self::Succeeded | Self::Canceled | Self::Aborted)
    }
}

/// What a server says to a new goal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Acceptance {
    /// It will be carried out.
    Accepted,
    /// It will not.
    Rejected,
}

/// How a goal ended.
#[derive(Debug, Clone)]
pub struct GoalResult {
    /// A final state.
    pub state: GoalState,
    /// The answer of the server: its `status`, and the `result`.
    pub response: Arc<Message>,
}

/// What a server says to the wish to end a goal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CancelAnswer {
    /// It will end the goal. That it did is told by the result.
    Accepted,
    /// It goes on.
    Rejected,
    /// It knows no such goal.
    UnknownGoal,
    /// The goal had ended.
    AlreadyEnded,
}

/// A goal. Clones share it, and all of it may be used at the same time. When the last one is dropped it is no longer
/// followed; the server is not told.
#[derive(Clone)]
pub struct Goal {
    inner: Arc<Inner>,
}

struct Inner {
    client: ActionClient,
    progress: Arc<Progress>,
    /// The request that will send it, and then the task that follows it.
    begin: Begin<Message, AbortHandle>,
}

impl Goal {
    pub(super) fn new(client: &ActionClient, goal: Message, progress: Arc<Progress>) -> Result<Self, RosError> {
        let interface = client.interface();
        let mut request = Message::new(&interface.send_goal.request);
        let wrong = |found: Message| RosError::WrongType {
            name: client.action().to_owned(),
            expected: interface.goal.message_type().name.to_string(),
            found: found.interface().message_type().name.to_string(),
        };
        request.put("goal", goal).map_err(wrong)?;
        fill(client, &mut request, "goal_id", &progress.id.as_json())?;
        let begin = Begin::with(request);
        Ok(Self { inner: Arc::new(Inner { client: client.clone(), progress, begin }) })
    }

    /// Its id.
    #[must_use]
    pub fn id(&self) -> GoalId {
        self.inner.progress.id
    }

    /// Sends it, and waits for the answer. A second call sends nothing and waits for the same answer. An acceptance that
    /// comes after `limit` counts for [`result`](Self::result) all the same: whoever does not want the goal any more then
    /// should [`cancel`](Self::cancel) it.
    ///
    /// # Errors
    /// [`RosError::NoAnswer`] when none comes within `limit`, [`RosError::ServerLost`] when the server leaves before,
    /// [`RosError::Withdrawn`] when it was cancelled before it was sent, [`RosError::ShutDown`] after the shutdown, and when
    /// it can't be sent.
    pub async fn send(&self, limit: Duration) -> Result<Acceptance, RosError> {
        let accepted = async {
            if self.inner.begin.is_to_come() {
                // What waits here when the time is up is not sent.
                let turn = self.inner.client.turn().await?;
                self.begin(turn)?;
            }
            let mut acceptance = self.inner.progress.acceptance.subscribe();
            let answer = acceptance.wait_for(Option::is_some).await.map_err(|_| RosError::ShutDown)?.clone();
            answer.unwrap_or(Err(Failure::ShutDown)).map_err(|failure| failure.error(self.inner.client.action()))
        };
        match tokio::time::timeout(limit, accepted).await {
            Ok(accepted) => accepted,
            Err(_) => {
                Err(RosError::NoAnswer { service: self.inner.client.send_goal().service().to_owned(), waited: limit })
            }
        }
    }

    /// Sends it, unless that was done. Nothing is locked meanwhile: who wants it to end must not wait for that.
    fn begin(&self, turn: OwnedSemaphorePermit) -> Result<(), RosError> {
        self.inner.begin.send(|request| {
            let client = &self.inner.client;
            let answer = client.send_goal().send(&request).inspect_err(|problem| {
                self.inner.progress.acceptance.send_replace(Some(Err(Failure::NotSent(problem.to_string()))));
            })?;
            // Holds what the goal shares, not the goal: its end ends the task.
            let task = tokio::spawn(carry(client.clone(), Arc::clone(&self.inner.progress), answer, turn));
            Ok(task.abort_handle())
        })
    }

    /// The latest feedback: the whole message, with the `goal_id` and the `feedback`. A slow reader sees the latest only.
    #[must_use]
    pub fn feedback(&self) -> watch::Receiver<Option<Arc<Message>>> {
        self.inner.progress.feedback.subscribe()
    }

    /// What the server says of it. A slow reader sees the latest only.
    #[must_use]
    pub fn state(&self) -> watch::Receiver<GoalState> {
        self.inner.progress.states()
    }

    /// Waits until it has ended, which has no bound. Before it was sent, waits for that, too.
    ///
    /// # Errors
    /// [`RosError::Rejected`] or [`RosError::Withdrawn`] when it was; [`RosError::ServerLost`] when its server left, or when another run of the
    /// server came that does not know the goal; [`RosError::Nonsense`] when the answer is no result;
    /// [`RosError::ShutDown`] after the shutdown.
    pub async fn result(&self) -> Result<GoalResult, RosError> {
        let action = self.inner.client.action();
        let mut acceptance = self.inner.progress.acceptance.subscribe();
        match acceptance.wait_for(Option::is_some).await.map_err(|_| RosError::ShutDown)?.as_ref() {
            Some(Ok(Acceptance::Rejected)) => return Err(RosError::Rejected { action: action.to_owned() }),
            Some(Err(failure)) => return Err(failure.error(action)),
            _ => {}
        }
        let mut outcome = self.inner.progress.outcome.subscribe();
        let ended = outcome.wait_for(Option::is_some).await.map_err(|_| RosError::ShutDown)?.clone();
        ended.unwrap_or(Err(Failure::ShutDown)).map_err(|failure| failure.error(action))
    }

    /// Asks the server to end it, and waits for the answer. May be asked more than once; that it is to be ended counts also
    /// when the wait is given up. A goal that was not sent yet never
    /// will be. One that is on its way is ended as soon as it is accepted, even when that is after `limit`; until it is
    /// known what became of it, the answer is [`CancelAnswer::UnknownGoal`].
    ///
    /// # Errors
    /// [`RosError::NoAnswer`] when none comes within `limit`; [`RosError::Nonsense`] when it is none;
    /// [`RosError::ShutDown`] after the shutdown, and when it can't be sent.
    pub async fn cancel(&self, limit: Duration) -> Result<CancelAnswer, RosError> {
        if self.withdraw() {
            return Ok(CancelAnswer::UnknownGoal);
        }
        let end = Instant::now() + limit;
        let (client, progress) = (&self.inner.client, &self.inner.progress);
        let wish = &progress.wish;
        // First: whoever asks may lose patience before there is an answer, and the wish must not be lost with that.
        let is_on_its_way = wish.wish();
        match cancel(client, progress, progress.asks.are_under_way(), limit).await {
            Ok(CancelAnswer::UnknownGoal) if is_on_its_way => {
                Ok(wish.outcome(end).await.unwrap_or(CancelAnswer::UnknownGoal))
            }
            answer => answer,
        }
    }

    /// Asks the server to end it, now: needs no runtime and waits for nothing. As [`cancel`](Self::cancel), it counts also
    /// for a goal that is on its way. None for one that was not sent yet and never will be.
    ///
    /// # Errors
    /// When it can't be sent, and after the shutdown.
    pub fn ask_to_end(&self) -> Result<Option<Asked>, RosError> {
        if self.withdraw() {
            return Ok(None);
        }
        self.inner.progress.wish.wish();
        Asked::send(&self.inner.client, &self.inner.progress).map(Some)
    }

    /// The fully qualified name of its action.
    pub fn action(&self) -> &str {
        self.inner.client.action()
    }

    /// Whether its server has said that it has ended.
    pub fn has_ended(&self) -> bool {
        self.inner.progress.has_ended()
    }

    /// Whether its server has not answered yet whether it takes it.
    pub fn is_on_its_way(&self) -> bool {
        self.inner.progress.acceptance.borrow().is_none()
    }

    /// Takes it back, if it was not sent. One that is being sent in this moment counts as sent.
    fn withdraw(&self) -> bool {
        let is_withdrawn = self.inner.begin.withdraw();
        if is_withdrawn {
            self.inner.progress.acceptance.send_replace(Some(Err(Failure::Withdrawn)));
        }
        is_withdrawn
    }
}

impl fmt::Debug for Goal {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Goal {} of {}", self.id(), self.inner.client.action())
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        self.client.forget(self.progress.id);
        if let Some(task) = self.begin.task() {
            if self.progress.wish.is_open() {
                // It ends by itself: what was to be ended must not begin because nobody looks any more.
                self.progress.abandoned.cancel();
            } else {
                task.abort();
            }
        }
    }
}

/// What is known of a goal. Filled by the server's messages and by the task that follows the goal.
pub(super) struct Progress {
    pub(super) id: GoalId,
    /// The request to end it. Made before it is needed: then every moment counts.
    pub(super) ending: Message,
    feedback: watch::Sender<Option<Arc<Message>>>,
    state: watch::Sender<GoalState>,
    pub(super) acceptance: watch::Sender<Option<Result<Acceptance, Failure>>>,
    pub(super) outcome: watch::Sender<Option<Result<GoalResult, Failure>>>,
    pub(super) wish: Wish,
    pub(super) asks: Asks,
    /// Nobody has the goal any more.
    pub(super) abandoned: CancellationToken,
}

impl Progress {
    /// # Errors
    /// When the interface of the service that cancels is none.
    pub(super) fn new(client: &ActionClient, id: GoalId) -> Result<Self, RosError> {
        let mut ending = Message::new(&client.cancel_goal().interface().request);
        // Without a time stamp it is this goal alone that is meant.
        fill(client, &mut ending, "goal_info", &json!({ "goal_id": id.as_json() }))?;
        Ok(Self {
            id,
            ending,
            feedback: watch::Sender::new(None),
            state: watch::Sender::new(GoalState::Unknown),
            acceptance: watch::Sender::new(None),
            outcome: watch::Sender::new(None),
            wish: Wish::new(),
            asks: Asks::new(),
            abandoned: CancellationToken::new(),
        })
    }

    pub(super) fn has_ended(&self) -> bool {
        self.state.borrow().is_final() || matches!(&*self.outcome.borrow(), Some(Ok(_)))
    }

    pub(super) fn feedback(&self, message: Message) {
        self.feedback.send_replace(Some(Arc::new(message)));
    }

    pub(super) fn states(&self) -> watch::Receiver<GoalState> {
        self.state.subscribe()
    }

    /// A final state stays, whatever comes late.
    pub(super) fn state(&self, state: GoalState) {
        self.state.send_if_modified(|current| {
            let changed = !current.is_final() && *current != state && state != GoalState::Unknown;
            if changed {
                *current = state;
            }
            changed
        });
    }
}

/// Fills a field of one of the action protocol's own messages.
pub(super) fn fill(client: &ActionClient, message: &mut Message, field: &str, value: &Value) -> Result<(), RosError> {
    message.fill(field, value, &ReadOptions::exact()).map_err(|problem| RosError::Nonsense {
        name: client.action().to_owned(),
        problem: format!("its interface is no action: {problem}"),
    })
}
