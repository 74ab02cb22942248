//! Follows a goal from its sending to its result, whatever becomes of the server.

use std::collections::BTreeSet;
use std::future::Future;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::time::Duration;

use cortex_interfaces::Message;
use tokio::sync::{OwnedSemaphorePermit, watch};
use tokio::time::{Instant, sleep_until, timeout};

use super::cancelling::cancel;
use super::goal::{Progress, fill};
use super::{Acceptance, ActionClient, CancelAnswer, GoalResult, GoalState};
use crate::RosError;
use crate::graph::{InstanceId, SERVER_GRACE};

/// How long a goal that is not answered keeps others from being offered.
const TURN: Duration = Duration::from_secs(1);
/// How long the answer to a goal that nobody wants any more is waited for, to cancel it should it be accepted.
const LATE: Duration = Duration::from_secs(60);
/// How long the answer to that may take.
const CANCEL_LIMIT: Duration = Duration::from_secs(5);
/// When another run of a server has come, an earlier one may still answer for this long: one that was killed stays on the
/// graph for a while, so it does not show that nobody will.
const LAST_WORDS: Duration = Duration::from_secs(10);
/// The least time between two looks at the graph: one that changes all the time must not keep every goal busy.
const REST: Duration = Duration::from_millis(50);
/// A server that should have answered the question for the result is asked again after this time: requests can be lost,
/// such as when many come at once.
const ASK_AGAIN: Duration = Duration::from_secs(2);
/// How often it is asked so.
const ASK_AGAIN_TIMES: u32 = 5;

/// Why a goal has no acceptance or no result. As [`RosError`], but for everybody who waits.
#[derive(Debug, Clone)]
pub(super) enum Failure {
    ShutDown,
    ServerLost,
    Withdrawn,
    NotSent(String),
    Nonsense(String),
}

impl Failure {
    pub(super) fn error(&self, action: &str) -> RosError {
        let action = action.to_owned();
        match self {
            Self::ShutDown => RosError::ShutDown,
            Self::ServerLost => RosError::ServerLost { action },
            Self::Withdrawn => RosError::Withdrawn { action },
            Self::NotSent(problem) => RosError::Endpoint { name: action, problem: problem.clone() },
            Self::Nonsense(problem) => RosError::Nonsense { name: action, problem: problem.clone() },
        }
    }

    fn of(problem: &RosError) -> Self {
        match problem {
            RosError::ShutDown => Self::ShutDown,
            other => Self::NotSent(other.to_string()),
        }
    }
}

/// An answer on its way.
pub(super) type Answer = Pin<Box<dyn Future<Output = Result<Message, RosError>> + Send>>;

/// Carries a goal that was just sent to its end.
pub(super) async fn carry(
    client: ActionClient,
    progress: Arc<Progress>,
    answer: impl Future<Output = Result<Message, RosError>> + Send + 'static,
    turn: OwnedSemaphorePermit,
) {
    let mut server = Server::new(&client);
    let acceptance = tokio::select! {
        acceptance = acceptance(answer, &mut server, turn) => acceptance,
        // Whoever waited is gone, so nobody hears of it.
        () = abandoned(&progress) => Err(Failure::ServerLost),
    };
    let accepted = matches!(acceptance, Ok(Acceptance::Accepted));
    if accepted {
        progress.state(GoalState::Accepted);
    }
    let is_to_be_ended = progress.wish.goal_was_answered();
    progress.acceptance.send_replace(Some(acceptance));
    if !accepted {
        progress.wish.fulfilled(CancelAnswer::UnknownGoal);
        return;
    }
    if is_to_be_ended {
        match cancel(&client, &progress, false, CANCEL_LIMIT).await {
            Ok(answer) => progress.wish.fulfilled(answer),
            Err(problem) => tracing::warn!("a goal that was cancelled early may go on: {problem}"),
        }
    }
    let outcome = tokio::select! {
        outcome = follow(&client, &progress, &mut server) => outcome,
        () = progress.abandoned.cancelled() => return,
    };
    if let Ok(result) = &outcome {
        progress.state(result.state);
    }
    progress.outcome.send_replace(Some(outcome));
}

/// Waits until nobody has the goal any more, and then for an answer that may still come.
async fn abandoned(progress: &Progress) {
    progress.abandoned.cancelled().await;
    tokio::time::sleep(LATE).await;
}

async fn acceptance(
    answer: impl Future<Output = Result<Message, RosError>>,
    server: &mut Server<'_>,
    turn: OwnedSemaphorePermit,
) -> Result<Acceptance, Failure> {
    let answered = async {
        tokio::select! {
            answer = answer => match answer {
                // What is not a clear yes is a no.
                Ok(answer) if answer.view().boolean("accepted") == Some(true) => Ok(Acceptance::Accepted),
                Ok(_) => Ok(Acceptance::Rejected),
                Err(problem) => Err(Failure::of(&problem)),
            },
            failure = server.lost() => Err(failure),
        }
    };
    let mut answered = pin!(answered);
    // Others are let in when it was answered, or when that takes long: by then it is not in the server's queue.
    let prompt = timeout(TURN, &mut answered).await;
    drop(turn);
    match prompt {
        Ok(acceptance) => acceptance,
        Err(_) => answered.await,
    }
}

/// Waits for the result. It is asked for at once; again when another run of the server comes, which does not know the goal
/// and says so; and again when the goal has ended, but the result does not come.
async fn follow(client: &ActionClient, progress: &Progress, server: &mut Server<'_>) -> Result<GoalResult, Failure> {
    let mut answer = ask(client, progress)?;
    let mut asked_again = 0;
    let mut ask_again_at = None;
    let mut state = progress.states();
    let mut has_ended = false;
    loop {
        tokio::select! {
            answer = &mut answer => return result(answer),
            change = server.change() => match change {
                Change::Lost(failure) => return Err(failure),
                // Those who were asked before are still there, or can't answer: they hear the new question, too.
                Change::AnotherRun => {
                    answer = ask(client, progress)?;
                    (asked_again, ask_again_at) = (0, Some(Instant::now() + ASK_AGAIN));
                }
            },
            ended = state.wait_for(|state| state.is_final()), if !has_ended => {
                has_ended = ended.is_ok();
                (asked_again, ask_again_at) = (0, Some(Instant::now() + ASK_AGAIN));
            }
            () = at(ask_again_at) => {
                answer = ask(client, progress)?;
                asked_again += 1;
                ask_again_at = (asked_again < ASK_AGAIN_TIMES).then(|| Instant::now() + ASK_AGAIN);
            }
        }
    }
}

pub(super) fn ask(client: &ActionClient, progress: &Progress) -> Result<Answer, Failure> {
    let service = client.get_result();
    let mut request = Message::new(&service.interface().request);
    fill(client, &mut request, "goal_id", &progress.id.as_json()).map_err(|problem| Failure::of(&problem))?;
    Ok(Box::pin(service.send(&request).map_err(|problem| Failure::of(&problem))?))
}

fn result(answer: Result<Message, RosError>) -> Result<GoalResult, Failure> {
    let response = answer.map_err(|problem| Failure::of(&problem))?;
    let status = response.view().integer("status").unwrap_or_default();
    match GoalState::of(status) {
        Some(GoalState::Unknown) => Err(Failure::ServerLost),
        Some(state) if state.is_final() => Ok(GoalResult { state, response: Arc::new(response) }),
        _ => Err(Failure::Nonsense(format!("a goal can't have ended in state {status}"))),
    }
}

/// Sleeps until then, or for ever.
async fn at(time: Option<Instant>) {
    match time {
        Some(time) => sleep_until(time).await,
        None => std::future::pending().await,
    }
}

/// What became of a server.
enum Change {
    /// It is gone.
    Lost(Failure),
    /// There is one that was not there before.
    AnotherRun,
}

/// Watches the server of an action.
struct Server<'a> {
    client: &'a ActionClient,
    events: watch::Receiver<u64>,
    known: BTreeSet<InstanceId>,
    /// Since when none is there.
    missing_since: Option<Instant>,
    /// Whether the graph changed since the last look.
    stale: bool,
    next_look: Instant,
}

impl<'a> Server<'a> {
    fn new(client: &'a ActionClient) -> Self {
        let events = client.executor().graph_events();
        let known = client.servers().unwrap_or_default().into_iter().collect();
        Self { client, events, known, missing_since: None, stale: false, next_look: Instant::now() }
    }

    /// Waits until it is lost, or until another run has come and the earlier one had the time to answer.
    async fn lost(&mut self) -> Failure {
        let mut last_words = None;
        loop {
            tokio::select! {
                change = self.change() => match change {
                    Change::Lost(failure) => return failure,
                    Change::AnotherRun => last_words = last_words.or(Some(Instant::now() + LAST_WORDS)),
                },
                () = at(last_words) => return Failure::ServerLost,
            }
        }
    }

    /// Waits until something became of it. What was seen is kept when the wait is given up.
    async fn change(&mut self) -> Change {
        loop {
            if !self.stale {
                tokio::select! {
                    event = self.events.changed() => if event.is_err() { return Change::Lost(Failure::ShutDown) },
                    () = at(self.missing_since.map(|since| since + SERVER_GRACE)) => return Change::Lost(Failure::ServerLost),
                }
                self.stale = true;
            }
            sleep_until(self.next_look).await;
            self.stale = false;
            self.next_look = Instant::now() + REST;
            match self.look() {
                Ok(None) => {}
                Ok(Some(change)) => return change,
                Err(RosError::ShutDown) => return Change::Lost(Failure::ShutDown),
                // What was known stays known; the next event looks again.
                Err(problem) => tracing::warn!("{problem}"),
            }
        }
    }

    fn look(&mut self) -> Result<Option<Change>, RosError> {
        if !self.client.get_result().has_server()? {
            self.missing_since.get_or_insert_with(Instant::now);
            return Ok(None);
        }
        let was_missing = self.missing_since.take().is_some();
        let now: BTreeSet<InstanceId> = self.client.servers()?.into_iter().collect();
        let is_new = !now.is_subset(&self.known);
        self.known = now;
        Ok((is_new || was_missing).then_some(Change::AnotherRun))
    }
}
