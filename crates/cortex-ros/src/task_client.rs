//! Sends tasks to an agent over ROS, as the command line does.
//!
//! The counterpart of the [task server](crate::TaskServer), made like it of services and a topic.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use cortex_protocol::question::ApprovalScope;
use cortex_protocol::{Answer, OpenQuestion, QuestionId};
use cortex_ros_client::graph::{Graph, is_another_run};
use cortex_ros_client::text::carried;
use cortex_ros_client::{GraphWatch, QosProfile, RosError, RosNode, ServedNames, ServiceClient};
use futures::StreamExt;
use futures::stream::FuturesUnordered;
use r2r::action_msgs::msg::GoalInfo;
use r2r::action_msgs::srv::CancelGoal;
use r2r::cortex_msgs::action::VisionLanguageAction::{FeedbackMessage, GetResult, Goal, SendGoal};
use r2r::cortex_msgs::srv::{AnswerQuestion, DisputeMission, ListQuestions, ReviseTask};
use r2r::std_srvs::srv::Trigger;
use r2r::unique_identifier_msgs::msg::UUID;
use tokio::sync::{broadcast, mpsc, watch};
use uuid::Uuid;

use crate::AdapterError;
use crate::goals::{CancelCode, GoalState};
use crate::task::{ServiceReply, TaskEnding, TaskResult, TaskUpdate};

/// How long the agent may take to say that it takes a task, or that it cancels one.
const ANSWER_LIMIT: Duration = Duration::from_secs(10);
/// How long `~/stop` may take. The agent answers within half a minute, come what may.
const STOP_LIMIT: Duration = Duration::from_secs(35);
/// What a result that was sent at the last moment gets to arrive after the agent has left the graph.
const LAST_WORDS: Duration = Duration::from_millis(500);
/// How long after the last feedback the result is asked for again: requests and answers can be lost.
const ASK_AGAIN: Duration = Duration::from_secs(2);
/// How often it is asked for in all: an agent that has told the last word and never says how it ended is not waited for.
const MOST_QUESTIONS: u32 = 15;
/// Feedback that the middleware keeps while it is not taken; as many as the server keeps.
const FEEDBACK_DEPTH: usize = 100;
/// Feedback that is kept for a reader that lags.
const WAITING_FEEDBACK: usize = 1_024;

/// A connection to one agent.
pub struct TaskClient {
    agent: String,
    graph: GraphWatch,
    send_goal: ServiceClient<SendGoal::Service>,
    get_result: Arc<ServiceClient<GetResult::Service>>,
    cancel_goal: Arc<ServiceClient<CancelGoal::Service>>,
    stop: ServiceClient<Trigger::Service>,
    resume: ServiceClient<Trigger::Service>,
    revise: ServiceClient<ReviseTask::Service>,
    questions: ServiceClient<ListQuestions::Service>,
    answer: ServiceClient<AnswerQuestion::Service>,
    dispute: ServiceClient<DisputeMission::Service>,
    feedback: broadcast::Sender<FeedbackMessage>,
}

/// A task that was sent and taken.
pub struct SentTask {
    /// What happens, in order. Ends when the task client is dropped, not with the task.
    pub updates: mpsc::Receiver<TaskUpdate>,
    /// Ends the task on request.
    pub canceller: Canceller,
    agent: String,
    graph: GraphWatch,
    get_result: Arc<ServiceClient<GetResult::Service>>,
    goal: UUID,
    heard: watch::Receiver<Heard>,
}

/// What was heard of a task by its feedback.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Heard {
    /// Nothing.
    Nothing,
    /// It is under way, so it was taken.
    UnderWay,
    /// The last word.
    LastWord,
}

/// Asks the agent to cancel one task. Clones are of the same task.
#[derive(Clone)]
pub struct Canceller {
    cancel_goal: Arc<ServiceClient<CancelGoal::Service>>,
    goal: UUID,
}

impl TaskClient {
    /// Waits until the agent's node, for example `/cortex`, takes tasks. To be called within a tokio runtime.
    ///
    /// # Errors
    /// [`RosError::NoServer`] when it does not in time.
    pub async fn connect(
        node: &RosNode,
        graph: &GraphWatch,
        agent: impl Into<ServedNames>,
        limit: Duration,
    ) -> Result<Self, RosError> {
        let client = Self::create(node, graph, &agent.into()).await?;
        tokio::try_join!(
            client.send_goal.wait_for_server(limit),
            client.get_result.wait_for_server(limit),
            client.cancel_goal.wait_for_server(limit),
        )?;
        Ok(client)
    }

    /// Waits only until the agent can be stopped and resumed: a stop must not wait for what it does not need.
    ///
    /// # Errors
    /// [`RosError::NoServer`] when it can't in time.
    pub async fn connect_for_stop(
        node: &RosNode,
        graph: &GraphWatch,
        agent: impl Into<ServedNames>,
        limit: Duration,
    ) -> Result<Self, RosError> {
        let client = Self::create(node, graph, &agent.into()).await?;
        tokio::try_join!(client.stop.wait_for_server(limit), client.resume.wait_for_server(limit))?;
        Ok(client)
    }

    async fn create(node: &RosNode, graph: &GraphWatch, agent: &ServedNames) -> Result<Self, RosError> {
        let part = |part: &str| agent.below(&format!("task/_action/{part}"));
        let topic = part("feedback");
        // Before anything else, so that it hears from the beginning.
        let quality = QosProfile::RELIABLE.keep_last(FEEDBACK_DEPTH);
        let (feedback, _) = broadcast::channel(WAITING_FEEDBACK);
        let heard = feedback.clone();
        node.subscribe_to_all::<FeedbackMessage>(&topic, quality, move |message| {
            // Nobody listens while no task is under way.
            let _ = heard.send(message);
            true
        })
        .await?;
        Ok(Self {
            agent: agent.node().to_owned(),
            graph: graph.clone(),
            send_goal: ServiceClient::create(node, &part("send_goal")).await?,
            get_result: Arc::new(ServiceClient::create(node, &part("get_result")).await?),
            cancel_goal: Arc::new(ServiceClient::create(node, &part("cancel_goal")).await?),
            stop: ServiceClient::create(node, &agent.below("stop")).await?,
            resume: ServiceClient::create(node, &agent.below("resume")).await?,
            revise: ServiceClient::create(node, &agent.below("revise")).await?,
            questions: ServiceClient::create(node, &agent.below("questions")).await?,
            answer: ServiceClient::create(node, &agent.below("answer")).await?,
            dispute: ServiceClient::create(node, &agent.below("dispute")).await?,
            feedback,
        })
    }

    /// Sends a task. An empty `session` begins a conversation of its own.
    ///
    /// # Errors
    /// [`RosError::NoAnswer`] when the agent says nothing, [`AdapterError::Refused`] when it refuses.
    pub async fn send(&self, task: &str, session: &str) -> Result<SentTask, AdapterError> {
        let goal_id = UUID { uuid: Uuid::now_v7().as_bytes().to_vec() };
        let (deliver, updates) = mpsc::channel(FEEDBACK_DEPTH);
        let (hear, heard) = watch::channel(Heard::Nothing);
        tokio::spawn(pass_on(self.feedback.subscribe(), goal_id.clone(), deliver, hear));
        let goal = Goal { task: carried(task.to_owned()), session: carried(session.to_owned()) };
        let request = SendGoal::Request { goal_id: goal_id.clone(), goal };
        let is_taken = tokio::select! {
            biased;
            answer = self.send_goal.call(&request, ANSWER_LIMIT) => answer?.accepted,
            // Answers can be lost on the way; feedback of this task says the same.
            () = reached(heard.clone(), Heard::UnderWay) => true,
        };
        if !is_taken {
            return Err(AdapterError::Refused { agent: self.agent.clone() });
        }
        Ok(SentTask {
            updates,
            heard,
            canceller: Canceller { cancel_goal: Arc::clone(&self.cancel_goal), goal: goal_id.clone() },
            agent: self.agent.clone(),
            graph: self.graph.clone(),
            get_result: Arc::clone(&self.get_result),
            goal: goal_id,
        })
    }

    /// Halts everything that the agent does; it takes no task until [`resume`](Self::resume).
    ///
    /// # Errors
    /// When the agent can't be reached.
    pub async fn stop(&self) -> Result<ServiceReply, RosError> {
        trigger(&self.stop).await
    }

    /// Revises the task of a mission; an empty id is the one that runs. Does not wait for what comes of it.
    ///
    /// # Errors
    /// When the agent can't be reached.
    pub async fn revise(&self, mission: &str, revision: &str) -> Result<ServiceReply, RosError> {
        self.revise.wait_for_server(ANSWER_LIMIT).await?;
        let request =
            ReviseTask::Request { mission: carried(mission.to_owned()), revision: carried(revision.to_owned()) };
        // The server answers within its own time, or a moment later.
        let ReviseTask::Response { success, message } = self.revise.call(&request, STOP_LIMIT).await?;
        Ok(ServiceReply { success, message })
    }

    /// The open questions to people, oldest first.
    ///
    /// # Errors
    /// When the agent can't be reached, or its answer can't be read.
    pub async fn questions(&self) -> Result<Vec<OpenQuestion>, RosError> {
        self.questions.wait_for_server(ANSWER_LIMIT).await?;
        let answer = self.questions.call(&ListQuestions::Request {}, ANSWER_LIMIT).await?;
        serde_json::from_str(&answer.questions_json).map_err(|problem| {
            let service = format!("{}/questions", self.agent);
            RosError::Endpoint { name: service, problem: format!("its answer can't be read: {problem}") }
        })
    }

    /// Answers a question.
    ///
    /// # Errors
    /// When the agent can't be reached.
    pub async fn answer(&self, question: &QuestionId, answer: &Answer) -> Result<ServiceReply, RosError> {
        self.answer.wait_for_server(ANSWER_LIMIT).await?;
        let (answer, scope, reason) = match answer {
            Answer::Approve { scope: ApprovalScope::Once } => ("approve", "once", ""),
            Answer::Approve { scope: ApprovalScope::Mission } => ("approve", "mission", ""),
            Answer::Deny { reason } => ("deny", "", reason.as_str()),
            Answer::Choose { choice } => (choice.as_str(), "", ""),
        };
        let request = AnswerQuestion::Request {
            question: carried(question.to_string()),
            answer: carried(answer.to_owned()),
            scope: scope.to_owned(),
            reason: carried(reason.to_owned()),
        };
        let AnswerQuestion::Response { success, message } = self.answer.call(&request, STOP_LIMIT).await?;
        Ok(ServiceReply { success, message })
    }

    /// Says that a mission which has ended did not do what was asked. Does not wait for what comes of that.
    ///
    /// # Errors
    /// When the agent can't be reached.
    pub async fn dispute(&self, mission: &str, reason: &str) -> Result<ServiceReply, RosError> {
        self.dispute.wait_for_server(ANSWER_LIMIT).await?;
        let request =
            DisputeMission::Request { mission: carried(mission.to_owned()), reason: carried(reason.to_owned()) };
        let DisputeMission::Response { success, message } = self.dispute.call(&request, STOP_LIMIT).await?;
        Ok(ServiceReply { success, message })
    }

    /// Lets the agent take tasks again.
    ///
    /// # Errors
    /// When the agent can't be reached.
    pub async fn resume(&self) -> Result<ServiceReply, RosError> {
        trigger(&self.resume).await
    }
}

impl SentTask {
    /// Waits for the one result, for as long as the agent is there.
    ///
    /// # Errors
    /// [`AdapterError::Vanished`] when the agent has left the graph, or was started anew, or no longer knows the task. One that was killed is
    /// seen to have left only when its lease ends, some 20 s later. [`RosError::NoAnswer`] when it has told the last word and does
    /// not say how the task ended.
    pub async fn result(&self) -> Result<TaskResult, AdapterError> {
        let question = GetResult::Request { goal_id: self.goal.clone() };
        let mut asked = 1;
        let mut answers = FuturesUnordered::new();
        answers.push(self.get_result.send(&question)?);
        let response = {
            let mut left = std::pin::pin!(self.agent_left());
            loop {
                tokio::select! {
                    biased;
                    Some(response) = answers.next() => break response?,
                    () = &mut left => match tokio::time::timeout(LAST_WORDS, answers.next()).await {
                        Ok(Some(response)) => break response?,
                        Ok(None) | Err(_) => return Err(AdapterError::Vanished { agent: self.agent.clone() }),
                    },
                    // Whoever asks after the last word is answered at once; what was asked before follows later.
                    () = reached(self.heard.clone(), Heard::LastWord), if asked == 1 => {
                        asked += 1;
                        answers.push(self.get_result.send(&question)?);
                    }
                    // The task is over, so the answer should be here: it, or the question, was lost on the way.
                    () = self.overdue() => {
                        if asked == MOST_QUESTIONS {
                            let service = format!("{}/task/_action/get_result", self.agent);
                            return Err(RosError::NoAnswer { service, waited: ASK_AGAIN * MOST_QUESTIONS }.into());
                        }
                        asked += 1;
                        answers.push(self.get_result.send(&question)?);
                    }
                }
            }
        };
        let ending = match response.status {
            status if status == GoalState::Succeeded.code() => TaskEnding::Succeeded,
            status if status == GoalState::Canceled.code() => TaskEnding::Cancelled,
            status if status == GoalState::Aborted.code() => TaskEnding::Failed,
            _ => return Err(AdapterError::Vanished { agent: self.agent.clone() }),
        };
        let ending = if response.result.success { ending } else { ending.at_most_failed() };
        Ok(TaskResult { ending, output: response.result.output, mission: response.result.mission.as_str().into() })
    }

    /// Resolves a while after the task's last feedback.
    async fn overdue(&self) {
        reached(self.heard.clone(), Heard::LastWord).await;
        tokio::time::sleep(ASK_AGAIN).await;
    }

    /// Resolves when the agent has left or was started anew.
    async fn agent_left(&self) {
        let mut graph = self.graph.subscribe();
        // The agent answered, so it is there, even where the graph does not show it yet.
        let mut known = BTreeSet::new();
        let is_gone = |graph: &Arc<Graph>| match graph.node(&self.agent) {
            None => true,
            Some(agent) => {
                let restarted = is_another_run(&known, &agent.instances);
                known.clone_from(&agent.instances);
                restarted
            }
        };
        let _ = graph.wait_for(|graph| graph.node(&self.agent).is_some()).await;
        if graph.wait_for(is_gone).await.is_err() {
            // The watch has ended; it will not say.
            std::future::pending::<()>().await;
        }
    }
}

impl Canceller {
    /// Asks for the task to be cancelled. Its result comes as always, when everything is at rest. Returns whether the
    /// agent does so; it does not when the task has already ended.
    ///
    /// # Errors
    /// When the agent can't be reached.
    pub async fn cancel(&self) -> Result<bool, RosError> {
        let goal_info = GoalInfo { goal_id: self.goal.clone(), ..GoalInfo::default() };
        let answer = self.cancel_goal.call(&CancelGoal::Request { goal_info }, ANSWER_LIMIT).await?;
        Ok(answer.return_code == CancelCode::Accepted.code())
    }
}

impl TaskEnding {
    /// A result that says it did not succeed never counts as a success.
    fn at_most_failed(self) -> Self {
        match self {
            Self::Succeeded | Self::Failed => Self::Failed,
            Self::Cancelled => Self::Cancelled,
        }
    }
}

async fn trigger(client: &ServiceClient<Trigger::Service>) -> Result<ServiceReply, RosError> {
    client.wait_for_server(ANSWER_LIMIT).await?;
    let Trigger::Response { success, message } = client.call(&Trigger::Request {}, STOP_LIMIT).await?;
    Ok(ServiceReply { success, message })
}

/// Resolves once this much was heard; never, if nobody reads the feedback any more.
async fn reached(mut heard: watch::Receiver<Heard>, enough: Heard) {
    if heard.wait_for(|heard| *heard >= enough).await.is_err() {
        std::future::pending::<()>().await;
    }
}

/// Hands on what is about this goal, until nobody reads it.
async fn pass_on(
    mut all: broadcast::Receiver<FeedbackMessage>,
    goal: UUID,
    deliver: mpsc::Sender<TaskUpdate>,
    hear: watch::Sender<Heard>,
) {
    loop {
        let message = tokio::select! {
            message = all.recv() => message,
            () = deliver.closed() => return,
        };
        match message {
            Ok(FeedbackMessage { goal_id, feedback }) if goal_id == goal => {
                let update = TaskUpdate {
                    timestep: feedback.timestep,
                    completed: feedback.completed,
                    feedback: feedback.feedback,
                    event: feedback.event,
                };
                hear.send_replace(if update.completed { Heard::LastWord } else { Heard::UnderWay });
                if deliver.send(update).await.is_err() {
                    return;
                }
            }
            Ok(_) => {}
            Err(broadcast::error::RecvError::Lagged(lost)) => tracing::warn!("{lost} lines of feedback were lost"),
            Err(broadcast::error::RecvError::Closed) => return,
        }
    }
}
