//! Ends a goal: one that is on its way to the server, too.
//!
//! The goal and the wish to end it go separate ways. So a server may say that it does not know a goal, and accept it a
//! moment later. What was to be ended must not begin then: the wish is kept until it is known what became of the goal,
//! and is sent again when it was accepted.

use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use cortex_interfaces::{Message, MessageView};
use futures::FutureExt;
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until, timeout_at};

use super::goal::Progress;
use super::{ActionClient, CancelAnswer, GoalId};
use crate::RosError;

/// What is asked again when there is no answer: requests can be lost, such as when many come at once. Each further pause
/// is twice as long as the one before.
const ASK_AGAIN: Duration = Duration::from_millis(500);

/// How often the server was asked to end a goal, by whom ever, and the best that it said so far.
pub(super) struct Asks {
    times: AtomicU32,
    /// Requests whose answers are waited for.
    under_way: AtomicU32,
    answer: watch::Sender<Option<CancelAnswer>>,
}

impl Asks {
    pub(super) fn new() -> Self {
        Self { times: AtomicU32::new(0), under_way: AtomicU32::new(0), answer: watch::Sender::new(None) }
    }

    /// Whether somebody waits for an answer.
    pub(super) fn are_under_way(&self) -> bool {
        self.under_way.load(Ordering::SeqCst) > 0
    }

    /// A server that has accepted to end a goal says of it from then on that it can't be cancelled any more, as it does of
    /// one that has ended. So that counts only where it is the first word, or the end was seen.
    fn judge(&self, answer: CancelAnswer, has_ended: bool) -> CancelAnswer {
        let asked_before = self.times.load(Ordering::SeqCst) > 1;
        let judged = if answer == CancelAnswer::AlreadyEnded && asked_before && !has_ended {
            CancelAnswer::Accepted
        } else {
            answer
        };
        if judged == CancelAnswer::Accepted {
            self.answer.send_replace(Some(judged));
        }
        judged
    }
}

/// A request to end a goal, on its way.
pub struct Asked {
    client: ActionClient,
    progress: Arc<Progress>,
    answer: Pin<Box<dyn Future<Output = Result<Message, RosError>> + Send>>,
}

impl Asked {
    /// Asks, now. Needs no runtime and does not wait.
    ///
    /// # Errors
    /// When it can't be sent, and after the shutdown.
    pub(super) fn send(client: &ActionClient, progress: &Arc<Progress>) -> Result<Self, RosError> {
        let service = client.cancel_goal();
        progress.asks.times.fetch_add(1, Ordering::SeqCst);
        let answer = Box::pin(service.send(&progress.ending)?);
        progress.asks.under_way.fetch_add(1, Ordering::SeqCst);
        Ok(Self { client: client.clone(), progress: Arc::clone(progress), answer })
    }

    /// The answer, if it is there. Needs no runtime.
    pub fn take(&mut self) -> Option<Result<CancelAnswer, RosError>> {
        let answer = self.answer.as_mut().now_or_never()?;
        Some(answer.and_then(|answer| self.read(&answer)))
    }

    async fn answer(&mut self) -> Result<CancelAnswer, RosError> {
        let answer = self.answer.as_mut().await?;
        self.read(&answer)
    }

    fn read(&self, answer: &Message) -> Result<CancelAnswer, RosError> {
        let view = answer.view();
        // The numbers of `action_msgs/srv/CancelGoal`.
        let answer = match view.integer("return_code") {
            Some(0) if is_among(self.progress.id, view) => CancelAnswer::Accepted,
            // Some servers refuse by an empty list.
            Some(0 | 1) => CancelAnswer::Rejected,
            Some(2) => CancelAnswer::UnknownGoal,
            Some(3) => CancelAnswer::AlreadyEnded,
            code => {
                return Err(RosError::Nonsense {
                    name: self.client.cancel_goal().service().to_owned(),
                    problem: format!("{} is no code of an answer", code.unwrap_or_default()),
                });
            }
        };
        Ok(self.progress.asks.judge(answer, self.progress.has_ended()))
    }
}

impl Drop for Asked {
    fn drop(&mut self) {
        self.progress.asks.under_way.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Asks the server to end a goal, and waits for the answer. Asks again when none comes, with growing pauses; also where it
/// was `asked` before, and the answer to that is on its way.
pub(super) async fn cancel(
    client: &ActionClient,
    progress: &Arc<Progress>,
    asked: bool,
    limit: Duration,
) -> Result<CancelAnswer, RosError> {
    let end = Instant::now() + limit;
    let mut known = progress.asks.answer.subscribe();
    let mut pause = ASK_AGAIN;
    let mut asked = if asked { None } else { Some(Asked::send(client, progress)?) };
    loop {
        let until = end.min(Instant::now() + pause);
        let answered = async {
            match &mut asked {
                Some(asked) => asked.answer().await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            biased;
            answer = answered => return answer,
            _ = known.wait_for(Option::is_some) => return Ok(CancelAnswer::Accepted),
            () = sleep_until(until) => {
                if Instant::now() >= end {
                    let service = client.cancel_goal().service().to_owned();
                    return Err(RosError::NoAnswer { service, waited: limit });
                }
                pause *= 2;
                asked = Some(Asked::send(client, progress)?);
            }
        }
    }
}

/// Whether it is among the goals that the server says it will end.
fn is_among(id: GoalId, answer: MessageView<'_>) -> bool {
    let mut ids = answer.list("goals_canceling").into_iter().flatten().filter_map(|goal| goal.nested("goal_id"));
    ids.any(|found| GoalId::of(found) == Some(id))
}

/// The wish to end a goal that was sent, but not answered yet. It is sent at once, and again when the goal was accepted:
/// the server may have heard the first before the goal.
pub(super) struct Wish {
    known: Mutex<Known>,
    answer: watch::Sender<Option<CancelAnswer>>,
}

#[derive(Default)]
struct Known {
    answered: bool,
    wished: bool,
}

impl Wish {
    pub(super) fn new() -> Self {
        Self { known: Mutex::default(), answer: watch::Sender::new(None) }
    }

    /// The goal was answered. Returns whether it is to be ended now.
    pub(super) fn goal_was_answered(&self) -> bool {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.answered = true;
        known.wished
    }

    /// Wishes that the goal is ended once it was answered. False when it was.
    pub(super) fn wish(&self) -> bool {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.wished |= !known.answered;
        !known.answered
    }

    /// Whether the wish is kept for a goal that was not answered yet.
    pub(super) fn is_open(&self) -> bool {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.wished && !known.answered
    }

    /// What became of it.
    pub(super) fn fulfilled(&self, answer: CancelAnswer) {
        self.answer.send_replace(Some(answer));
    }

    /// Waits for what becomes of it. None when the time is up before.
    pub(super) async fn outcome(&self, end: Instant) -> Option<CancelAnswer> {
        let mut answer = self.answer.subscribe();
        let answer = timeout_at(end, answer.wait_for(Option::is_some)).await.ok()?.ok()?;
        *answer
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_goal_that_is_being_ended_is_not_taken_for_one_that_has_ended() {
        let asks = Asks::new();
        asks.times.store(1, Ordering::SeqCst);
        assert_eq!(asks.judge(CancelAnswer::AlreadyEnded, false), CancelAnswer::AlreadyEnded);
        assert_eq!(asks.judge(CancelAnswer::Rejected, false), CancelAnswer::Rejected);
        assert_eq!(*asks.answer.borrow(), None, "what is not an acceptance is asked again");
        asks.times.store(2, Ordering::SeqCst);
        assert_eq!(asks.judge(CancelAnswer::AlreadyEnded, false), CancelAnswer::Accepted);
        assert_eq!(asks.judge(CancelAnswer::AlreadyEnded, true), CancelAnswer::AlreadyEnded);
        assert_eq!(*asks.answer.borrow(), Some(CancelAnswer::Accepted));
    }
}
