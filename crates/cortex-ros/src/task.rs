//! What the task server needs of the agent behind it, and what it hands on. No ROS here.

use std::fmt;

use async_trait::async_trait;
use cortex_protocol::{Answer, MissionId, OpenQuestion, Origin, QuestionId, Submission, ToolName};
use tokio::sync::{mpsc, oneshot};

/// Carries out what comes in over ROS. The `cortex` binary implements it over the runtime.
#[async_trait]
pub trait TaskHandler: Send + Sync + 'static {
    /// Waits until a task can be planned: the robot has been looked at. A task that is cancelled meanwhile is never
    /// submitted. Dropping the future must be safe.
    ///
    /// # Errors
    /// With the reason, when no task is to be submitted after all.
    async fn ready(&self) -> Result<(), Refusal>;

    /// Takes a task, or says why not: the queue is full, the agent was stopped, the text is not acceptable. Answers at
    /// once; the task itself goes on behind the returned handle.
    ///
    /// # Errors
    /// With the reason, in words for the person who sent the task.
    async fn submit(&self, submission: Submission) -> Result<RunningTask, Refusal>;

    /// Halts everything and takes no task until [`resume`](Self::resume). Returns when everything is at rest or known
    /// not to be.
    ///
    /// # Errors
    /// In words for a person, when nobody is there to stop anything: then nothing is known.
    async fn stop(&self) -> Result<Stopped, String>;

    /// Corrects the task of a mission in mid course; `None` is the one that runs. Answers at once; what comes of it is
    /// told by the task itself.
    async fn correct(&self, mission: Option<MissionId>, text: String, origin: Origin) -> StopReport;

    /// The open questions to people, oldest first. Answers at once.
    fn questions(&self) -> Vec<OpenQuestion>;

    /// Answers a question. The report says whether the answer counts, and why not.
    async fn answer(&self, question: QuestionId, answer: Answer, origin: Origin) -> StopReport;

    /// Reopens a mission that has ended, because a person says that it did not do what was asked. The report names the
    /// mission that reopens it, or says why none does.
    async fn dispute(&self, mission: MissionId, reason: String, origin: Origin) -> StopReport;

    /// Takes tasks again.
    async fn resume(&self) -> StopReport;
}

/// Why a task is not taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// In words for the person who sent it.
    pub reason: String,
}

/// A task under way.
pub struct RunningTask {
    /// Its mission.
    pub mission: MissionId,
    /// What happens, in order. May end before the result comes; what is in it then is still sent.
    pub updates: mpsc::Receiver<TaskUpdate>,
    /// The one result. Dropping the sender counts as a flaw of the agent.
    pub result: oneshot::Receiver<TaskResult>,
    /// Asks the task to end. It ends with a result as always. Must not block.
    pub cancel: Box<dyn FnOnce() + Send>,
}

impl fmt::Debug for RunningTask {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("RunningTask").field("mission", &self.mission).finish_non_exhaustive()
    }
}

/// One feedback message.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TaskUpdate {
    /// Counts the messages of the mission, from 1.
    pub timestep: i32,
    /// Whether it is the last.
    pub completed: bool,
    /// One readable line.
    pub feedback: String,
    /// The same as a CloudEvent in JSON.
    pub event: String,
}

/// How a task ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskResult {
    /// In which way.
    pub ending: TaskEnding,
    /// The answer, or the reason, in words for a person.
    pub output: String,
    /// The mission, or an empty id where none was begun.
    pub mission: MissionId,
}

/// In which way a task ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TaskEnding {
    /// As it should.
    Succeeded,
    /// Otherwise.
    Failed,
    /// Someone ended it.
    Cancelled,
}

/// What a stop came to, as far as the agent knows.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Stopped {
    /// How many tasks were ended.
    pub tasks_ended: usize,
    /// What did not confirm that it is at rest.
    pub not_stopped: Vec<ToolName>,
}

/// What came of `~/stop`, `~/resume`, `~/correct`, `~/answer` or `~/dispute`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StopReport {
    /// Whether what was asked for is the case now.
    pub success: bool,
    /// In words for a person; after a stop, what is not confirmed to be at rest; after a correction or a dispute,
    /// the mission.
    pub message: String,
}
