//! Takes tasks over ROS: the action `~/task`, the service `~/revise`, the topic `~/output`, and `questions`: what people
//! answer and dispute. (`~/stop` and `~/resume` have a thread of their own: the module `stop`.)
//!
//! A ROS 2 action is three services and two topics, and that is how it is served here. The action server of `r2r` 0.9.7
//! was measured to take a whole core from ten seconds after the first result on, drops the way to cancel a goal whose
//! id is sent twice, and reads freed memory when asked for the result of an unknown goal.
//!
//! Each goal that is accepted gets exactly one result. A refusal by the agent is a result too (`ABORTED`, with the
//! reason), since a refused goal could carry none; only an id that was used before is refused.

mod controls;
mod output;
mod questions;
mod turns;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use cortex_core::mission::SpokenPiece;
use cortex_core::{ClientPort, EventStream};
use cortex_protocol::{
    Command, CommandError, CommandErrorKind, CommandOutcome, MissionEvent, MissionId, Origin, Principal, SessionId,
};
use cortex_ros_client::serving::{answer_again, respond};
use cortex_ros_client::text::carried;
use cortex_ros_client::{QosProfile, RosError, RosNode};
use futures::{Stream, StreamExt};
use r2r::action_msgs::msg::{GoalInfo, GoalStatus, GoalStatusArray};
use r2r::action_msgs::srv::CancelGoal;
use r2r::builtin_interfaces::msg::Time;
use r2r::cortex_msgs::action::VisionLanguageAction::{
    Feedback, FeedbackMessage, GetResult, Goal, Result as Outcome, SendGoal,
};
use r2r::cortex_msgs::msg::StreamingString;
use r2r::cortex_msgs::srv::ReviseTask;
use r2r::unique_identifier_msgs::msg::UUID;
use r2r::{Publisher, ServiceRequest, WrappedServiceTypeSupport};
use tokio::sync::Semaphore;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use self::output::Output;
use crate::goals::{GoalId, GoalState, Goals, ResultAnswer, Stamp, Waiting};
use crate::task::{NotSubmitted, SHUTTING_DOWN, ServiceReply, TaskEnding, TaskResult, TaskUpdate};
use turns::{Turns, until_over};

/// Feedback that is kept for a reader that lags. A mission has a few dozen events.
const FEEDBACK_DEPTH: usize = 100;
/// How long the agent may take to say whether it takes a task.
const SUBMIT_LIMIT: Duration = Duration::from_secs(10);
/// Requests to revise, to answer and to dispute that are carried out at a time.
const MOST_TRIGGERS: usize = 16;
/// How long the result of a task that is ended by a shutdown may take.
const LAST_RESULT: Duration = Duration::from_secs(1);
/// How long the goals may take to end when the server is shut down.
const END_LIMIT: Duration = Duration::from_secs(2);
/// What clients get to ask for the last results before the node goes, and what the middleware gets to send them.
const DELIVERY_LIMIT: Duration = Duration::from_millis(500);
const FLUSH: Duration = Duration::from_millis(100);
/// How long the first feedback waits for a reader.
const LISTENER_LIMIT: Duration = Duration::from_millis(300);
/// How often it is looked whether the last results were asked for, or a reader is there.
const LOOK: Duration = Duration::from_millis(10);

/// The server. Clones share it.
#[derive(Clone)]
pub struct TaskServer {
    shared: Arc<Shared>,
}

type ResultRequest = ServiceRequest<GetResult::Service>;

struct Shared {
    port: Arc<dyn ClientPort>,
    goals: Mutex<Goals<ResultRequest>>,
    // A publisher of `r2r` may be sent to another thread, but not be shared without a lock.
    feedback: Mutex<Publisher<FeedbackMessage>>,
    /// When a client that takes one message in a turn has taken the feedback.
    turns: Mutex<Turns>,
    statuses: Mutex<Publisher<GoalStatusArray>>,
    output: Mutex<Output>,
    /// The full name of the node.
    name: String,
    client: String,
    revisions: String,
    triggers: Arc<Semaphore>,
    /// What is done for goals and requests, which ends first.
    tasks: TaskTracker,
    stopping: CancellationToken,
    /// What takes requests in, which ends when the last results are out.
    serving: TaskTracker,
    closing: CancellationToken,
}

impl TaskServer {
    /// Starts to serve on `node`. To be called within a tokio runtime.
    ///
    /// # Errors
    /// When the node was shut down, or an endpoint can't be created.
    pub async fn start(node: &RosNode, port: Arc<dyn ClientPort>) -> Result<Self, RosError> {
        // A rule for the action as a whole counts for all its parts, of which alone the client library knows.
        let action = node.names().action("~/task")?;
        let client = action.clone();
        let (endpoints, questions, controls, publishers) = node
            .with_node(move |node| {
                let part = |part: &str| format!("{action}/_action/{part}");
                let services = r2r::QosProfile::from(QosProfile::RELIABLE);
                let feedback = QosProfile::RELIABLE.keep_last(FEEDBACK_DEPTH);
                let statuses = QosProfile::TRANSIENT_LOCAL;
                let publishers = (
                    node.create_publisher::<FeedbackMessage>(&part("feedback"), feedback.into())?,
                    node.create_publisher::<GoalStatusArray>(&part("status"), statuses.into())?,
                    node.create_publisher::<StreamingString>("~/output", QosProfile::RELIABLE.into())?,
                );
                let endpoints = (
                    node.create_service::<GetResult::Service>(&part("get_result"), services.clone())?,
                    node.create_service::<CancelGoal::Service>(&part("cancel_goal"), services.clone())?,
                    node.create_service::<ReviseTask::Service>("~/revise", services.clone())?,
                    node.create_service::<SendGoal::Service>(&part("send_goal"), services)?,
                );
                Ok::<_, r2r::Error>((endpoints, questions::endpoints(node)?, controls::endpoints(node)?, publishers))
            })
            .await??;
        let (feedback, statuses, output) = publishers;
        let shared = Arc::new(Shared {
            port,
            goals: Mutex::default(),
            feedback: Mutex::new(feedback),
            turns: Mutex::default(),
            statuses: Mutex::new(statuses),
            output: Mutex::new(Output::new(output)),
            name: node.fully_qualified_name().to_owned(),
            client,
            revisions: format!("{}/revise", node.fully_qualified_name()),
            triggers: Arc::new(Semaphore::new(MOST_TRIGGERS)),
            tasks: TaskTracker::new(),
            stopping: CancellationToken::new(),
            serving: TaskTracker::new(),
            closing: CancellationToken::new(),
        });
        let (results, cancels, revisions, goals) = endpoints;
        shared.serve(results, Shared::give_result);
        shared.serve(cancels, Shared::cancel);
        shared.serve(revisions, Shared::revise);
        let (answers, lists, disputes) = questions;
        shared.serve(answers, questions::answer);
        shared.serve(lists, questions::list);
        shared.serve(disputes, questions::dispute);
        let (pauses, unpauses) = controls;
        shared.serve(pauses, controls::pause);
        shared.serve(unpauses, controls::unpause);
        shared.serve(goals, Shared::take_goal);
        Ok(Self { shared })
    }

    /// Publishes text for people on `~/output`.
    pub fn say(&self, text: impl Into<String>) {
        locked(&self.shared.output).say(text.into());
    }

    /// Publishes a piece of a text of this mission on `~/output`.
    pub fn say_piece(&self, mission: &MissionId, text: impl Into<String>, piece: SpokenPiece) {
        locked(&self.shared.output).say_piece(mission.as_str(), text.into(), piece);
    }

    /// Takes no further goal, ends every open one (as aborted, saying that Cortex is shutting down) and gives the
    /// results a moment to get out. To be called before the node is shut down.
    pub async fn shut_down(&self) {
        let Shared { tasks, stopping, serving, closing, goals, .. } = &*self.shared;
        stopping.cancel();
        tasks.close();
        if tokio::time::timeout(END_LIMIT, tasks.wait()).await.is_err() {
            tracing::error!("the tasks did not end within {} s", END_LIMIT.as_secs());
        }
        let all_asked = async {
            while locked(goals).has_unasked() {
                tokio::time::sleep(LOOK).await;
            }
        };
        // Who does not ask for the result of a goal does not get it.
        let _ = tokio::time::timeout(DELIVERY_LIMIT, all_asked).await;
        closing.cancel();
        serving.close();
        let _ = tokio::time::timeout(END_LIMIT, serving.wait()).await;
        tokio::time::sleep(FLUSH).await;
    }
}

/// Waits for that moment; for ever, if there is none.
async fn until(moment: Option<Instant>) {
    match moment {
        Some(moment) => tokio::time::sleep_until(moment).await,
        None => std::future::pending().await,
    }
}

impl Shared {
    /// Hands every request to `answer` until the server or the node ends.
    fn serve<T: WrappedServiceTypeSupport + 'static>(
        self: &Arc<Self>,
        mut requests: impl Stream<Item = ServiceRequest<T>> + Unpin + Send + 'static,
        answer: fn(&Arc<Self>, ServiceRequest<T>),
    ) where
        T::Request: Send,
    {
        let shared = Arc::clone(self);
        self.serving.spawn(async move {
            while let Some(Some(request)) = shared.closing.run_until_cancelled(requests.next()).await {
                answer(&shared, request);
            }
        });
    }

    fn take_goal(self: &Arc<Self>, request: ServiceRequest<SendGoal::Service>) {
        let SendGoal::Request { goal_id, goal } = request.message.clone();
        let now = now();
        let accepted = id_of(&goal_id).filter(|_| !self.stopping.is_cancelled()).and_then(|id| {
            let taken = locked(&self.goals).accept(id, now);
            taken
                .inspect_err(|refusal| tracing::warn!("a goal is refused: {refusal:?}"))
                .ok()
                .map(|cancel| (id, cancel))
        });
        let response = SendGoal::Response { accepted: accepted.is_some(), stamp: time(now) };
        let Some((id, cancel)) = accepted else {
            return respond(request, response);
        };
        match request.clone().respond(response.clone()) {
            Ok(()) => self.begin(id, goal, cancel),
            Err(_) => {
                let shared = Arc::clone(self);
                self.tasks.spawn(async move {
                    match answer_again(request, response).await {
                        Ok(()) => shared.begin(id, goal, cancel),
                        // Whoever sent it does not know that it was taken and could not end it.
                        Err(problem) => shared.finish(
                            id,
                            GoalState::Aborted,
                            failed(format!("nobody was told that it was taken: {problem}")),
                        ),
                    }
                });
            }
        }
    }

    fn begin(self: &Arc<Self>, id: GoalId, goal: Goal, cancel: CancellationToken) {
        self.publish_states();
        let shared = Arc::clone(self);
        self.tasks.spawn(async move { shared.carry_out(id, goal, cancel).await });
    }

    async fn carry_out(self: Arc<Self>, id: GoalId, goal: Goal, cancel: CancellationToken) {
        let session = Some(goal.session).filter(|session| !session.is_empty()).map(SessionId::new);
        let submission = Command::Submit { task: goal.task, session };
        let result = match self.until_ready(&cancel).await {
            Err(result) => result,
            Ok(()) => match self.submit(submission).await {
                Ok(mission) => self.accompany(id, mission, cancel).await,
                Err(problem) => failed(problem.to_string()),
            },
        };
        let state = match result.ending {
            TaskEnding::Succeeded => GoalState::Succeeded,
            TaskEnding::Cancelled if locked(&self.goals).is_canceling(id) => GoalState::Canceled,
            TaskEnding::Cancelled | TaskEnding::Failed => GoalState::Aborted,
        };
        self.finish(id, state, result);
    }

    /// Waits until the task can be handed in. A task that is cancelled before is never begun.
    async fn until_ready(&self, cancel: &CancellationToken) -> Result<(), TaskResult> {
        let ready = async { tokio::join!(self.port.ready(), self.wait_for_listener()).0 };
        let reason = tokio::select! {
            biased;
            () = self.stopping.cancelled() => SHUTTING_DOWN.to_owned(),
            () = cancel.cancelled() => {
                let output = "The task was cancelled before it began.".to_owned();
                return Err(TaskResult { ending: TaskEnding::Cancelled, ..failed(output) });
            }
            () = tokio::time::sleep(SUBMIT_LIMIT) => "the agent was not ready for the task in time".to_owned(),
            ready = ready => match ready {
                Ok(()) => return Ok(()),
                Err(refusal) => refusal.reason,
            },
        };
        Err(failed(reason))
    }

    async fn submit(&self, submission: Command) -> Result<MissionId, NotSubmitted> {
        let (port, by) = (Arc::clone(&self.port), principal(&self.client));
        let mut submitted = self.tasks.spawn(async move { mission_of(port.execute(submission, by).await) });
        let problem = tokio::select! {
            taken = &mut submitted => match taken {
                Ok(Ok(mission)) => return Ok(mission),
                Ok(Err(refusal)) => return Err(NotSubmitted::Refused(refusal)),
                Err(_) => return Err(NotSubmitted::Flaw),
            },
            () = self.stopping.cancelled() => NotSubmitted::ShuttingDown,
            () = tokio::time::sleep(SUBMIT_LIMIT) => NotSubmitted::TimedOut,
        };
        // Should it be taken after all, nobody is there to follow it: it must not run.
        let (port, by) = (Arc::clone(&self.port), principal(&self.client));
        self.tasks.spawn(async move {
            if let Ok(Ok(mission)) = submitted.await {
                // It may have ended by itself.
                let _ = port.execute(Command::Cancel { mission }, by).await;
            }
        });
        Err(problem)
    }

    /// Tells the mission to end; its last event says how it did.
    fn end(&self, mission: &MissionId) {
        let (port, by) = (Arc::clone(&self.port), principal(&self.client));
        let command = Command::Cancel { mission: mission.clone() };
        self.tasks.spawn(async move {
            if let Err(refusal) = port.execute(command, by).await {
                tracing::debug!("{refusal}");
            }
        });
    }

    /// Gives the reader of whoever sent a first goal a moment to be seen here: what is published before is lost.
    async fn wait_for_listener(&self) {
        let heard = || locked(&self.feedback).get_inter_process_subscription_count().is_ok_and(|readers| readers > 0);
        let waiting = async {
            while !heard() {
                tokio::time::sleep(LOOK).await;
            }
        };
        // One who does not want feedback does not read it.
        let _ = tokio::time::timeout(LISTENER_LIMIT, waiting).await;
    }

    /// Passes on what happens until the result comes.
    async fn accompany(&self, id: GoalId, mission: MissionId, cancel: CancellationToken) -> TaskResult {
        let mut events: Box<dyn EventStream> = self.port.follow(&mission);
        let (mut is_told_to_end, mut last_moment, mut ended) = (false, None, None);
        loop {
            tokio::select! {
                biased;
                event = events.next() => {
                    let Some(event) = event else {
                        let flaw = "the mission ended without a result; this is a flaw of Cortex";
                        return ended.unwrap_or_else(|| TaskResult { mission, ..failed(flaw.to_owned()) });
                    };
                    self.publish_feedback(id, TaskUpdate::of(&event));
                    if matches!(event.data.payload, MissionEvent::Finished { .. }) {
                        locked(&self.goals).tell_last_word(id);
                    }
                    if let MissionEvent::Finished { result } = &event.data.payload {
                        // Once nothing more comes, the next task finds its place free.
                        ended = Some(TaskResult::of(mission.clone(), result));
                    }
                }
                () = cancel.cancelled(), if !is_told_to_end => {
                    is_told_to_end = true;
                    self.end(&mission);
                }
                // The task's own result says what is at rest; it is on its way.
                () = self.stopping.cancelled(), if last_moment.is_none() => {
                    if !is_told_to_end {
                        is_told_to_end = true;
                        self.end(&mission);
                    }
                    last_moment = Some(Instant::now() + LAST_RESULT);
                }
                () = until(last_moment), if last_moment.is_some() => {
                    return ended.unwrap_or_else(|| TaskResult { mission, ..failed(SHUTTING_DOWN.to_owned()) });
                }
            }
        }
    }

    fn finish(&self, id: GoalId, state: GoalState, result: TaskResult) {
        let Waiting { beforehand, after_last_word } = locked(&self.goals).finish(id, state, result.clone());
        self.publish_states();
        for request in after_last_word {
            answer_result(request, state, result.clone());
        }
        self.answer_after_feedback(beforehand, state, result);
    }

    /// Answers once a client that takes one message in a turn has taken the feedback.
    fn answer_after_feedback(&self, requests: Vec<ResultRequest>, state: GoalState, result: TaskResult) {
        if requests.is_empty() {
            return;
        }
        let over_at = locked(&self.turns).over_at(Instant::now());
        self.tasks.spawn(async move {
            until_over(over_at).await;
            for request in requests {
                answer_result(request, state, result.clone());
            }
        });
    }

    fn give_result(self: &Arc<Self>, request: ResultRequest) {
        let Some(id) = id_of(&request.message.goal_id) else {
            return;
        };
        let answer = locked(&self.goals).ask_result(id, request);
        match answer {
            ResultAnswer::Now(request, state, result) => answer_result(request, state, result),
            ResultAnswer::AfterFeedback(request, state, result) => {
                self.answer_after_feedback(vec![request], state, result);
            }
            ResultAnswer::Later => {}
            ResultAnswer::Unknown(request) => {
                // A status of zero is how ROS says that there is no such goal.
                respond(request, GetResult::Response::default());
            }
        }
    }

    fn cancel(self: &Arc<Self>, request: ServiceRequest<CancelGoal::Service>) {
        let GoalInfo { goal_id, stamp } = request.message.goal_info.clone();
        let Some(id) = id_of(&goal_id) else {
            return;
        };
        let (code, ending) = locked(&self.goals).cancel(id, (stamp.sec, stamp.nanosec));
        let goals_canceling = ending.into_iter().map(|(id, accepted)| goal_info(id, accepted)).collect();
        respond(request, CancelGoal::Response { return_code: code.code(), goals_canceling });
        self.publish_states();
    }

    fn revise(self: &Arc<Self>, request: ServiceRequest<ReviseTask::Service>) {
        let Ok(permit) = Arc::clone(&self.triggers).try_acquire_owned() else {
            let refusal = ServiceReply::refusal("many such requests are under way; wait for their answers");
            return respond_revision(request, refusal);
        };
        let ReviseTask::Request { mission, revision } = request.message.clone();
        let mission = Some(mission).filter(|mission| !mission.is_empty()).map(|mission| mission.as_str().into());
        let (port, by) = (Arc::clone(&self.port), principal(&self.revisions));
        self.tasks.spawn(async move {
            let _permit = permit;
            let revised = port.execute(Command::Revise { mission, text: revision }, by);
            let reply = tokio::time::timeout(SUBMIT_LIMIT, revised).await.map(ServiceReply::of);
            respond_revision(
                request,
                reply.unwrap_or_else(|_| ServiceReply::refusal("the agent did not answer in time")),
            );
        });
    }

    fn publish_feedback(&self, id: GoalId, update: TaskUpdate) {
        let TaskUpdate { timestep, completed, feedback, event } = update;
        let feedback = Feedback { timestep, completed, feedback: carried(feedback), event: carried(event) };
        let message = FeedbackMessage { goal_id: uuid(id), feedback };
        let publisher = locked(&self.feedback);
        if let Err(problem) = publisher.publish(&message) {
            tracing::warn!("feedback could not be published: {problem}");
        }
        if publisher.get_inter_process_subscription_count().is_ok_and(|readers| readers > 0) {
            locked(&self.turns).note(Instant::now());
        }
    }

    fn publish_states(&self) {
        // The lock of the publisher is taken first, so that an older list never follows a newer one.
        let publisher = locked(&self.statuses);
        let status = |(id, accepted, state): (GoalId, Stamp, GoalState)| GoalStatus {
            goal_info: goal_info(id, accepted),
            status: state.code(),
        };
        let status_list = locked(&self.goals).states().map(status).collect();
        if let Err(problem) = publisher.publish(&GoalStatusArray { status_list }) {
            tracing::warn!("the states of the goals could not be published: {problem}");
        }
    }
}

fn answer_result(request: ResultRequest, state: GoalState, result: TaskResult) {
    let TaskResult { ending, output, mission } = result;
    let outcome = Outcome {
        success: ending == TaskEnding::Succeeded,
        output: carried(output),
        mission: carried(mission.as_str().to_owned()),
    };
    respond(request, GetResult::Response { status: state.code(), result: outcome });
}

fn respond_revision(request: ServiceRequest<ReviseTask::Service>, reply: ServiceReply) {
    respond(request, ReviseTask::Response { success: reply.success, message: carried(reply.message) });
}

fn failed(output: String) -> TaskResult {
    TaskResult { ending: TaskEnding::Failed, output, mission: "".into() }
}

/// Who hands something in at this endpoint. Whoever reaches the graph may do everything there already.
fn principal(endpoint: &str) -> Principal {
    Principal::operator(Origin::new("ros", endpoint))
}

/// The mission of a task that was taken.
fn mission_of(outcome: Result<CommandOutcome, CommandError>) -> Result<MissionId, CommandError> {
    match outcome? {
        CommandOutcome::Submitted { mission } => Ok(mission),
        other => Err(CommandError::new(CommandErrorKind::Unavailable, format!("it was answered with: {other}"))),
    }
}

fn id_of(message: &UUID) -> Option<GoalId> {
    message.uuid.as_slice().try_into().ok().map(GoalId)
}

fn uuid(id: GoalId) -> UUID {
    UUID { uuid: id.0.to_vec() }
}

fn goal_info(id: GoalId, accepted: Stamp) -> GoalInfo {
    GoalInfo { goal_id: uuid(id), stamp: time(accepted) }
}

fn time((sec, nanosec): Stamp) -> Time {
    Time { sec, nanosec }
}

fn now() -> Stamp {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    (i32::try_from(since.as_secs()).unwrap_or(i32::MAX), since.subsec_nanos())
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
