//! Goals of actions of any type.

use std::sync::Arc;
use std::time::Duration;

use cortex_core::{CallObserver, Invocation};
use cortex_interfaces::{Conventions, Message};
use cortex_protocol::{CancelMode, Effect, FailureKind, HaltState, ToolOutcome};
use cortex_ros_client::RosError;
use cortex_ros_client::dynamic::{Acceptance, ActionClient, CancelAnswer, EarlierGoal, Goal, GoalResult, GoalState};
use futures::FutureExt;
use tokio::sync::{oneshot, watch};

use super::goal_id;
use super::messages::{line, message_of, outcome_of, readable, reason};
use super::pool::Pool;
use super::progress::FEEDBACK_PAUSE;
use super::sent::Sent;
use super::{Surroundings, late_response};
use crate::calls::{ends_with, halted_before_it_was_sent, key};
use crate::catalog::Entry;

/// How long a server that is on the graph may take to be connected with.
const SERVER_LIMIT: Duration = Duration::from_secs(2);
/// How long a server may take to accept a goal or to reject it.
const ACCEPTANCE_LIMIT: Duration = Duration::from_secs(10);
/// How long a server may take to answer that it will cancel a goal.
const CANCEL_LIMIT: Duration = Duration::from_secs(10);
/// How long a goal may take to end once that was promised. The caller bounds it closer.
const END_LIMIT: Duration = Duration::from_secs(60);

/// Sends goals and follows them. Several may run on one server at a time.
pub(super) struct Goals {
    around: Arc<Surroundings>,
    clients: Pool<ActionClient>,
}

impl Goals {
    pub(super) fn new(around: &Arc<Surroundings>) -> Self {
        Self { around: Arc::clone(around), clients: Pool::default() }
    }

    /// Carries out a call to the goal's end.
    pub(super) async fn invoke(
        &self,
        invocation: &Invocation,
        entry: &Entry,
        observer: &dyn CallObserver,
    ) -> ToolOutcome {
        let conventions = &self.around.shared().conventions;
        let goal = match self.prepare(invocation, entry).await {
            Ok(goal) => goal,
            Err(outcome) => return outcome,
        };
        // A halt takes it back from here on, until it is sent.
        let calls = &self.around.calls;
        if let Err(unsent) = calls.send(invocation, ends_with(&entry.spec), Sent::Goal(goal.clone()), || ()) {
            return unsent.outcome();
        }
        let feedback = goal.feedback();
        // Whatever becomes of this call, the goal's end is wanted: only then is it known to be at rest.
        let (deliver, result) = oneshot::channel();
        let end = {
            let goal = goal.clone();
            async move { ended(goal.result().await) }
        };
        let waiting = late_response::wait(end, Arc::clone(calls), key(invocation), invocation.timeout, deliver);
        self.around.waiting.spawn(waiting);
        match goal.send(ACCEPTANCE_LIMIT).await {
            Ok(Acceptance::Accepted) => observer.accepted(),
            // Its end tells it, too.
            Ok(Acceptance::Rejected) => {}
            Err(RosError::Withdrawn { .. }) => {
                return halted_before_it_was_sent();
            }
            Err(problem) => {
                let kind = match problem {
                    RosError::ServerLost { .. } => FailureKind::ComponentLost,
                    RosError::NoAnswer { .. } => FailureKind::Timeout,
                    _ => FailureKind::Unavailable,
                };
                let problem = format!("whether the goal was accepted is not known: {problem}");
                return ToolOutcome::failure(kind, problem).with_halt(unknown(entry));
            }
        }
        tokio::select! {
            // A result that is there counts more than what was said before.
            biased;
            result = result => match result {
                Ok(Ok(End::Result(result))) => outcome(entry, &result, conventions),
                Ok(Ok(End::Rejected)) => {
                    ToolOutcome::failure(FailureKind::Reported, format!("{} rejected the goal", entry.name))
                }
                Ok(Err(problem)) => lost(entry, &problem),
                Err(_) => ToolOutcome::failure(FailureKind::Timeout, format!("{} has not ended", entry.name))
                    .with_halt(unknown(entry)),
            },
            () = tell(feedback, conventions, observer) => {
                // Feedback ends with the goal only, whose result then is there, or never will be.
                lost(entry, &RosError::ShutDown)
            }
        }
    }

    /// Has the goal cancelled, and waits until it has ended.
    pub(super) async fn halt(&self, goal: &Goal) -> HaltState {
        // By its id, and so also where nobody has said that it was accepted.
        let answer = goal.cancel(CANCEL_LIMIT).await;
        match answer {
            Ok(CancelAnswer::Accepted) => match tokio::time::timeout(END_LIMIT, goal.result()).await {
                Ok(Ok(_)) => HaltState::Halted,
                Ok(Err(_)) | Err(_) => HaltState::Unconfirmed,
            },
            Ok(CancelAnswer::AlreadyEnded) => HaltState::AtRest,
            Ok(CancelAnswer::Rejected) if goal.state().borrow().is_final() => HaltState::AtRest,
            Ok(CancelAnswer::Rejected) => HaltState::Refused,
            Ok(CancelAnswer::UnknownGoal) => match goal.result().now_or_never() {
                // It was cancelled before it was sent, was never accepted, or has ended.
                Some(Ok(_) | Err(RosError::Withdrawn { .. } | RosError::Rejected { .. })) => HaltState::AtRest,
                // Another run of the server, one that has forgotten it, or one that has not read the request yet.
                Some(Err(_)) | None => HaltState::Unconfirmed,
            },
            Err(problem) => {
                tracing::warn!("{goal:?} was not cancelled: {problem}");
                HaltState::Unconfirmed
            }
        }
    }

    /// Has a goal cancelled that an earlier life of this process has sent, and waits until it has ended.
    pub(super) async fn end_earlier(&self, invocation: &Invocation, entry: &Entry) -> HaltState {
        let Some(id) = goal_id::of_call(&invocation.mission, invocation.id) else { return HaltState::Unconfirmed };
        let ended = async {
            let client = self.client(entry).await?;
            client.wait_for_server(SERVER_LIMIT).await?;
            Ok(match client.end_earlier(id, END_LIMIT).await? {
                EarlierGoal::Ended => HaltState::Halted,
                EarlierGoal::Unconfirmed => HaltState::Unconfirmed,
                EarlierGoal::AtRest => HaltState::AtRest,
                EarlierGoal::Refused => HaltState::Refused,
            })
        };
        ended.await.unwrap_or_else(|problem: RosError| {
            tracing::warn!("goal {id} of {} was not cancelled: {problem}", entry.name);
            HaltState::Unconfirmed
        })
    }

    /// The goal, ready to be sent to a server that is there.
    async fn prepare(&self, invocation: &Invocation, entry: &Entry) -> Result<Goal, ToolOutcome> {
        let unavailable = |problem: RosError| ToolOutcome::failure(FailureKind::Unavailable, problem.to_string());
        let client = self.client(entry).await.map_err(unavailable)?;
        let goal: Message = message_of(invocation, &client.interface().goal, self.around.shared())?;
        client.wait_for_server(SERVER_LIMIT).await.map_err(unavailable)?;
        self.around.endpoints.check_action(&entry.name, client.interface()).map_err(unavailable)?;
        // A later life of this process must know it, should this one be killed.
        let id = goal_id::of_call(&invocation.mission, invocation.id);
        client.goal_named(goal, id).map_err(unavailable)
    }

    async fn client(&self, entry: &Entry) -> Result<ActionClient, RosError> {
        let make = async {
            let type_name = entry.type_name.clone();
            let interface = self.around.interface(move |interfaces| interfaces.action(&type_name)).await?;
            self.around.endpoints.action_client(&entry.name, &interface).await
        };
        self.clients.get(&entry.name, &entry.type_name, make).await
    }
}

/// How a goal ended, as far as its server said so.
enum End {
    Result(GoalResult),
    Rejected,
}

/// A rejection is an end, too; an error says that the end is not known.
fn ended(result: Result<GoalResult, RosError>) -> Result<End, RosError> {
    match result {
        Ok(result) => Ok(End::Result(result)),
        Err(RosError::Rejected { .. }) => Ok(End::Rejected),
        Err(problem) => Err(problem),
    }
}

fn outcome(entry: &Entry, result: &GoalResult, conventions: &Conventions) -> ToolOutcome {
    let who = &entry.name;
    let Some(content) = result.response.view().nested("result") else {
        return ToolOutcome::failure(FailureKind::BadResponse, format!("the result of {who} has no content"));
    };
    match result.state {
        GoalState::Succeeded => outcome_of(who, content, conventions),
        GoalState::Canceled => {
            let said = reason(who, &readable(content, conventions));
            ToolOutcome::cancelled(HaltState::Halted, format!("the goal was cancelled: {said}"))
        }
        GoalState::Aborted => {
            let said = reason(who, &readable(content, conventions));
            ToolOutcome::failure(FailureKind::Reported, format!("the goal was aborted: {said}"))
        }
        state => ToolOutcome::failure(FailureKind::BadResponse, format!("{who} ended the goal as {state:?}"))
            .with_halt(unknown(entry)),
    }
}

fn lost(entry: &Entry, problem: &RosError) -> ToolOutcome {
    let kind = match problem {
        RosError::ServerLost { .. } => FailureKind::ComponentLost,
        RosError::Nonsense { .. } => FailureKind::BadResponse,
        _ => FailureKind::Unavailable,
    };
    ToolOutcome::failure(kind, problem.to_string()).with_halt(unknown(entry))
}

/// What is known of rest when nothing is: what only looks may be left alone.
fn unknown(entry: &Entry) -> HaltState {
    match (entry.spec.effect, entry.spec.cancel) {
        (Effect::Observe, _) | (_, CancelMode::Drop) => HaltState::AtRest,
        (Effect::Act | Effect::Move, CancelMode::Halt) => HaltState::Unconfirmed,
    }
}

/// Tells the feedback, until no more can come.
async fn tell(
    mut feedback: watch::Receiver<Option<Arc<Message>>>,
    conventions: &Conventions,
    observer: &dyn CallObserver,
) {
    while feedback.changed().await.is_ok() {
        let latest = feedback.borrow_and_update().clone();
        if let Some(content) = latest.as_ref().and_then(|message| message.view().nested("feedback")) {
            observer.progressed(line(content, conventions));
        }
        tokio::time::sleep(FEEDBACK_PAUSE).await;
    }
}
